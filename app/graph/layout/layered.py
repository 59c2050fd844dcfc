"""Layout of large graphs, by distance from the start.

A node's column is its distance from the start in edges, so no edge runs forward over more than one column, and none
needs a bend, which is what dot and Sugiyama spend their time on. Within a column, nodes are sorted by the mean position
of their neighbours (Sugiyama, Tagawa and Toda 1981), in a few sweeps to and fro. Linear in nodes and edges, except for
the sorting.

Coordinates and curves are computed from columns and rows in the same way for `sugiyama`: the columns get widths that
leave space for the labels between them. An edge against the reading direction is drawn slightly below one in the
reading direction, so that a pair of opposite edges stays two lines.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from app.graph.layout.curves import Box, bow, loop, loop_label, point_at, through
from app.graph.layout.types import EdgeKey, LayoutRequest, Placement, Point

_SWEEPS = 6
_COLUMN_GAP = 46.0
_LABEL_MARGIN = 34.0
_ROW_GAP = 18.0
_LOOP_SPACE = 22.0
_BACK_OFFSET = 9.0


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


@dataclass(frozen=True, slots=True)
class ColumnRows:
    """The result of a layered method.

    Attributes:
        column: the column of each node and each bend, from 0 at the left.
        height: the y of each node and each bend.
        bends: for an edge that crosses columns, the ids of its bends, from source to target; absent for none.
    """

    column: Mapping[int, int]
    height: Mapping[int, float]
    bends: Mapping[EdgeKey, tuple[int, ...]]


def row_distance(request: LayoutRequest) -> float:
    """Return the minimum distance between the centres of two neighbours in a column."""
    tallest = max(height for _, _, height in request.nodes)
    has_loop = any(source == target for source, target, _, _ in request.edges)
    return tallest + _ROW_GAP + (_LOOP_SPACE if has_loop else 0.0)


def assemble(request: LayoutRequest, rows: ColumnRows) -> Placement:
    """Compute the placement of a graph whose columns and heights are known."""
    centre = _column_centres(request, rows)
    boxes = {
        node: Box(centre[rows.column[node]], rows.height[node], width, height) for node, width, height in request.nodes
    }
    curves: dict[EdgeKey, tuple[Point, ...]] = {}
    labels: dict[EdgeKey, Point] = {}
    for source, target, label_width, label_height in request.edges:
        key = source, target
        if source == target:
            curves[key] = loop(boxes[source])
            label = loop_label(boxes[source], label_height)
        else:
            bends = [(centre[rows.column[bend]], rows.height[bend]) for bend in rows.bends.get(key, ())]
            curves[key] = _curve(boxes[source], boxes[target], bends)
            label = point_at(curves[key], _middle(len(bends) + 1))
        if label_width > 0:
            labels[key] = label
    return Placement({node: (box.x, box.y) for node, box in boxes.items()}, curves, labels)


def _column_centres(request: LayoutRequest, rows: ColumnRows) -> list[float]:
    count = 1 + max(rows.column.values())
    width = [0.0] * count
    gap = [_COLUMN_GAP] * count
    for node, node_width, _ in request.nodes:
        column = rows.column[node]
        width[column] = max(width[column], node_width)
    for source, target, label_width, _ in request.edges:
        if label_width > 0 and source != target:
            column = _label_column(source, target, rows)
            gap[column] = max(gap[column], label_width + _LABEL_MARGIN)
    centres, x = [], 0.0
    for column in range(count):
        centres.append(x + width[column] / 2)
        x += width[column] + gap[column]
    return centres


def _label_column(source: int, target: int, rows: ColumnRows) -> int:
    """Return the column to the right of which an edge's label is placed."""
    points = [source, *rows.bends.get((source, target), ()), target]
    first = (len(points) - 1) // 2
    return min(rows.column[points[first]], rows.column[points[min(first + 1, len(points) - 1)]])


def _middle(segments: int) -> float:
    return (segments // 2 + 0.5) / segments


def _curve(source: Box, target: Box, bends: Sequence[Point]) -> tuple[Point, ...]:
    if source.x == target.x:
        return bow(source, target)
    if source.x < target.x:
        return through([source.right, *bends, target.left])
    lowered = [(x, y + _BACK_OFFSET) for x, y in bends]
    return through([_lower(source, -1), *lowered, _lower(target, 1)])


def _lower(box: Box, side: int) -> Point:
    """Return the attachment point of a back edge: slightly below the middle of the left (-1) or right (1) end."""
    radius = box.height / 2
    inset = radius - math.sqrt(max(radius * radius - _BACK_OFFSET * _BACK_OFFSET, 0.0))
    return box.x + side * (box.width / 2 - inset), box.y + _BACK_OFFSET
