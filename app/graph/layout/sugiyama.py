"""Graphs of some hundreds of nodes, by `fast-sugiyama`.

The library (the method of Sugiyama, Tagawa and Toda 1981, in Rust) answers
where nodes and bends go, in layers of equal distance; it takes neither sizes
nor cycles, and ends the process on a cycle. So cycles are opened here first,
at the edges that a depth-first search from the start finds to lead back, and
`columns` makes room for sizes and labels afterwards.
"""

from __future__ import annotations

from fast_sugiyama import from_edges

from app.graph.layout.acyclic import acyclic_edges
from app.graph.layout.columns import ColumnRows, assemble, row_distance
from app.graph.layout.types import EdgeKey, LayoutRequest, Placement


def place_by_sugiyama(request: LayoutRequest) -> Placement:
    """Lay a graph out in layers, with bends where an edge crosses one."""
    if len(request.nodes) == 1:
        return assemble(request, ColumnRows({request.start: 0}, {request.start: 0.0}, {}))
    index = {node: place for place, (node, _, _) in enumerate(request.nodes)}
    forward = acyclic_edges(request)
    distance = row_distance(request)
    # The library takes its nodes from the edges, and answers one layout for each connected part: here, one.
    ((placed, _, _, pieces),) = from_edges(
        sorted({(index[source], index[target]) for source, target in forward.values()}),
        vertex_spacing=distance,
        dummy_vertices=True,
        dummy_size=distance / 2,
        check_layout=False,
    )
    names = [node for node, _, _ in request.nodes]
    # Bends are numbered after the nodes by the library; negative here, so that they never meet a node's id.
    lowest = min(0, *names)

    def name(place: int) -> int:
        return names[place] if place < len(names) else lowest - 1 - (place - len(names))

    top = max(y for _, (_, y) in placed)
    column = {name(int(place)): round((top - y) / distance) for place, (_, y) in placed}
    height = {name(int(place)): x for place, (x, _) in placed}
    routes = _routes([(name(int(a)), name(int(b))) for a, b in pieces or ()], set(names))
    bends = {}
    for key, (source, target) in forward.items():
        route = routes.get((source, target), ())
        bends[key] = route if key == (source, target) else route[::-1]
    return assemble(request, ColumnRows(column, height, bends))


def _routes(pieces: list[EdgeKey], nodes: set[int]) -> dict[EdgeKey, tuple[int, ...]]:
    """The bends of each edge: a bend has one piece in and one out, so a walk from each node's pieces finds them."""
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
