"""Layout of graphs of some hundreds of nodes with `fast-sugiyama`.

The library (the method of Sugiyama, Tagawa and Toda 1981, in Rust) returns the positions of nodes and bends, in layers
of equal distance; it supports neither sizes nor cycles, and ends the process on a cycle. So cycles are opened first
(`ranks`), and `layered` makes space for sizes and labels afterwards.

A layout in ranks puts a bend wherever an edge crosses a rank, so its time grows with the sum of the ranks that the
edges span: 40 nodes with 160 edges take `dot` 0.1 s along a chain and 2 s at random. The sum is known before the
layout begins, in linear time, and the choice of a method by it is the same on every machine. Rejected: a limit of time.
Neither library can be interrupted, and on a busy machine the same graph would be drawn in another way.
"""

from __future__ import annotations

from fast_sugiyama import from_edges

from app.graph.layout.layered import ColumnRows, assemble, row_distance
from app.graph.layout.ranks import acyclic_edges
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
