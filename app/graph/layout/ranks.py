"""The direction of each edge in a drawing in ranks, and how many ranks the edges span.

A drawing in ranks reads from its start, so cycles are opened: some edges are drawn backwards. Which ones decides how it
reads. Two orders are tried: that of a depth-first search, whose edges back to its own path are reversed; and, between
states that reach each other, that of the distance from the start. The second is used if the number of reversed edges
times that of ranks is much lower: a depth-first search through a complete automaton is one long path. Rejected: the
distance alone, which reverses edges where nothing is a cycle, if a part is optional (`-?[0-9]`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import networkx as nx

from app.graph.layout.types import EdgeKey, LayoutRequest

_MUCH_CHEAPER = 2 / 3


def acyclic_edges(request: LayoutRequest) -> dict[EdgeKey, EdgeKey]:
    """Return the direction of each edge in a graph without cycles.

    Loops are left out. Parts that are not connected get an edge from the start.
    """
    successors: defaultdict[int, list[int]] = defaultdict(list)
    for source, target, _, _ in request.edges:
        if source != target:
            successors[source].append(target)
    forward: dict[EdgeKey, EdgeKey] = {}
    seen: set[int] = set()
    parts: dict[EdgeKey, EdgeKey] = {}
    for root in (request.start, *(node for node, _, _ in request.nodes)):
        if root in seen:
            continue
        before = set(seen)
        _search(root, successors, seen, forward)
        # A part with an edge to an earlier one is connected to it; an edge from the start could close a cycle.
        if before and not any(target in before for node in seen - before for target in successors[node]):
            parts[request.start, root] = (request.start, root)
    if parts or not _reversed(forward):
        return forward | parts
    nearer = _by_distance(request.start, forward)
    return nearer if _cost(nearer) <= _MUCH_CHEAPER * _cost(forward) else forward


def _search(root: int, successors: Mapping[int, list[int]], seen: set[int], forward: dict[EdgeKey, EdgeKey]) -> None:
    """Search depth-first; an edge to a node on the current path closes a cycle, and is reversed."""
    seen.add(root)
    path: list[tuple[int, Iterator[int]]] = [(root, iter(successors.get(root, ())))]
    on_path = {root}
    while path:
        node, targets = path[-1]
        target = next(targets, None)
        if target is None:
            path.pop()
            on_path.remove(node)
        elif target in on_path:
            forward[node, target] = (target, node)
        else:
            forward[node, target] = (node, target)
            if target not in seen:
                seen.add(target)
                on_path.add(target)
                path.append((target, iter(successors.get(target, ()))))


def _by_distance(start: int, forward: Mapping[EdgeKey, EdgeKey]) -> dict[EdgeKey, EdgeKey]:
    """Return the edges, reversed between nodes that reach each other where they lead nearer to the start.

    Edges between nodes of the same distance have their direction in `forward`.
    """
    graph = nx.DiGraph([*forward])
    component = {node: number for number, nodes in enumerate(nx.strongly_connected_components(graph)) for node in nodes}
    distance = nx.single_source_shortest_path_length(graph, start)
    rank = _ranks(forward)
    order = {node: (distance.get(node, len(component)), rank[node], node) for node in component}
    return {
        (source, target): (source, target)
        if component[source] != component[target] or order[source] < order[target]
        else (target, source)
        for source, target in forward
    }


def _reversed(edges: Mapping[EdgeKey, EdgeKey]) -> int:
    return sum(key != edge for key, edge in edges.items())


def _cost(edges: Mapping[EdgeKey, EdgeKey]) -> int:
    return _reversed(edges) * (1 + max(_ranks(edges).values()))


def rank_spans(request: LayoutRequest) -> int:
    """Return the sum of the ranks that the edges of a graph span, by longest paths (its cycles opened)."""
    edges = acyclic_edges(request)
    rank = _ranks(edges)
    return sum(rank[target] - rank[source] for source, target in set(edges.values()))


def _ranks(edges: Mapping[EdgeKey, EdgeKey]) -> dict[int, int]:
    """Return the length of the longest path to each node with an edge, by directed edges without a cycle."""
    successors: defaultdict[int, list[int]] = defaultdict(list)
    entering: defaultdict[int, int] = defaultdict(int)
    for source, target in set(edges.values()):
        successors[source].append(target)
        entering[target] += 1
    rank = dict.fromkeys(successors, 0)
    pending = [node for node in successors if node not in entering]
    while pending:
        node = pending.pop()
        for target in successors.get(node, ()):
            rank[target] = max(rank.get(target, 0), rank[node] + 1)
            entering[target] -= 1
            if not entering[target]:
                pending.append(target)
    return rank
