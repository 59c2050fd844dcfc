"""Layout of graphs of some hundreds of nodes with `fast-sugiyama`.

The library (the method of Sugiyama, Tagawa and Toda 1981, in Rust) returns the positions of nodes and bends, in layers
of equal distance; it supports neither sizes nor cycles, and ends the process on a cycle. So cycles are opened here
first, at the back edges of a depth-first search from the start, and `layered` makes space for sizes and labels
afterwards.

A layout in ranks puts a bend wherever an edge crosses a rank, so its time grows with the sum of the ranks that the
edges span: 40 nodes with 160 edges take `dot` 0.1 s along a chain and 2 s at random. The sum is known before the
layout begins, in linear time, and the choice of a method by it is the same on every machine. Rejected: a limit of time.
Neither library can be interrupted, and on a busy machine the same graph would be drawn in another way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fast_sugiyama import from_edges

from app.graph.layout.layered import ColumnRows, assemble, row_distance
from app.graph.layout.types import EdgeKey, LayoutRequest, Placement


def place_by_sugiyama(request: LayoutRequest, spread: float = 1.0) -> Placement:
    """Lay a graph out in layers, with bends where an edge crosses one; `spread` widens the gaps."""
    if len(request.nodes) == 1:
        return assemble(request, ColumnRows({request.start: 0}, {request.start: 0.0}, {}), spread)
    index = {node: place for place, (node, _, _) in enumerate(request.nodes)}
    forward = acyclic_edges(request)
    distance = row_distance(request)
    # The library takes its nodes from the edges, and returns one layout for each connected part: here, one.
    ((placed, _, _, pieces),) = from_edges(
        sorted({(index[source], index[target]) for source, target in forward.values()}),
        vertex_spacing=distance,
        dummy_vertices=True,
        dummy_size=distance / 2,
        check_layout=False,
    )
    names = [node for node, _, _ in request.nodes]
    # The library numbers bends after the nodes; negative here, so that they never equal a node's id.
    lowest = min(0, *names)

    def name(position: int) -> int:
        return names[position] if position < len(names) else lowest - 1 - (position - len(names))

    top = max(y for _, (_, y) in placed)
    column = {name(int(position)): round((top - y) / distance) for position, (_, y) in placed}
    height = {name(int(position)): x for position, (x, _) in placed}
    routes = _routes([(name(int(a)), name(int(b))) for a, b in pieces or ()], set(names))
    bends = {}
    for key, (source, target) in forward.items():
        route = routes.get((source, target), ())
        bends[key] = route if key == (source, target) else route[::-1]
    return assemble(request, ColumnRows(column, height, bends), spread)


def _routes(pieces: list[EdgeKey], nodes: set[int]) -> dict[EdgeKey, tuple[int, ...]]:
    """Return the bends of each edge by following the pieces from each node: a bend has one piece in and one out."""
    following = {source: target for source, target in pieces if source not in nodes}
    routes: dict[EdgeKey, tuple[int, ...]] = {}
    for source, target in pieces:
        if source not in nodes:
            continue
        bends, end = [], target
        while end not in nodes:
            bends.append(end)
            end = following[end]
        routes[source, end] = tuple(bends)
    return routes


def rank_spans(request: LayoutRequest) -> int:
    """Return the sum of the ranks that the edges of a graph span, by longest paths (its cycles opened)."""
    forward = {edge for edge in acyclic_edges(request).values() if edge[0] != edge[1]}
    successors: defaultdict[int, list[int]] = defaultdict(list)
    entering = {node: 0 for node, _, _ in request.nodes}
    for source, target in forward:
        successors[source].append(target)
        entering[target] += 1
    rank = dict.fromkeys(entering, 0)
    pending = [node for node, edges in entering.items() if not edges]
    while pending:
        node = pending.pop()
        for target in successors[node]:
            rank[target] = max(rank[target], rank[node] + 1)
            entering[target] -= 1
            if not entering[target]:
                pending.append(target)
    return sum(rank[target] - rank[source] for source, target in forward)


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
    for root in (request.start, *(node for node, _, _ in request.nodes)):
        if root in seen:
            continue
        before = set(seen)
        _search(root, successors, seen, forward)
        # A part with an edge to an earlier one is connected to it; an edge from the start could close a cycle.
        if before and not any(target in before for node in seen - before for target in successors[node]):
            forward[request.start, root] = (request.start, root)
    return forward


def _search(
    root: int, successors: defaultdict[int, list[int]], seen: set[int], forward: dict[EdgeKey, EdgeKey]
) -> None:
    """Search depth-first; an edge to a node on the current path closes a cycle, and is reversed."""
    seen.add(root)
    path: list[tuple[int, Iterator[int]]] = [(root, iter(successors[root]))]
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
                path.append((target, iter(successors[target])))
