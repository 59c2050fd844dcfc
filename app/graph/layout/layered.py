"""Layout of large graphs, by distance from the start.

A node's column is its distance from the start in edges, so no edge runs forward over more than one column, and none
needs a bend, which is what dot and Sugiyama spend their time on. Within a column, nodes are sorted by the mean position
of their neighbours (Sugiyama, Tagawa and Toda 1981), in a few sweeps to and fro. Linear in nodes and edges, except for
the sorting.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import networkx as nx

from app.graph.layout.columns import ColumnRows, assemble, row_distance
from app.graph.layout.types import LayoutRequest, Placement

_SWEEPS = 6


def place_by_layers(request: LayoutRequest) -> Placement:
    """Lay a graph out in columns by distance from its start."""
    column = _distances(request)
    columns: list[list[int]] = [[] for _ in range(1 + max(column.values()))]
    for node in column:
        columns[column[node]].append(node)
    _sort_columns(columns, request, column)
    distance = row_distance(request)
    height = {
        node: (position - (len(members) - 1) / 2) * distance
        for members in columns
        for position, node in enumerate(members)
    }
    return assemble(request, ColumnRows(column, height, {}))


def _distances(request: LayoutRequest) -> dict[int, int]:
    """Return each node's distance from the start; an unreachable node begins a search of its own."""
    graph = nx.DiGraph((source, target) for source, target, _, _ in request.edges)
    graph.add_nodes_from(node for node, _, _ in request.nodes)
    distance: dict[int, int] = {}
    for root in (request.start, *graph):
        if root not in distance:
            distance = nx.single_source_shortest_path_length(graph, root) | distance
    return distance


def _sort_columns(columns: Sequence[list[int]], request: LayoutRequest, column: Mapping[int, int]) -> None:
    before: defaultdict[int, list[int]] = defaultdict(list)
    after: defaultdict[int, list[int]] = defaultdict(list)
    for source, target, _, _ in request.edges:
        left, right = sorted((source, target), key=column.__getitem__)
        if column[left] + 1 == column[right]:
            before[right].append(left)
            after[left].append(right)
    position = {node: _centred_position(index, members) for members in columns for index, node in enumerate(members)}
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        neighbours = before if forward else after
        for members in columns if forward else reversed(columns):
            mean = {node: _mean([position[other] for other in neighbours[node]], position[node]) for node in members}
            members.sort(key=mean.__getitem__)
            position.update((node, _centred_position(index, members)) for index, node in enumerate(members))


def _centred_position(index: int, members: Sequence[int]) -> float:
    """Return a position within a column, relative to its middle, since columns are centred."""
    return index - (len(members) - 1) / 2


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
