"""Layout of small graphs with Graphviz `dot`.

Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs" (1993): ranks by network simplex, crossings
by weighted medians, edges as splines around the nodes. It runs in this process through pygraphviz, whose wheel contains
Graphviz, so nothing has to be installed. Labels are empty tables of a given size: the scene measures its own fonts.
Cycles are opened by `ranks`, as for the other layouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pygraphviz

from app.graph.layout.ranks import acyclic_edges
from app.graph.layout.types import EdgeKey, LayoutRequest, Placement, Point

_POINTS_PER_INCH = 72.0
_ENTRY = "entry"


def place_by_dot(request: LayoutRequest, spread: float = 1.0) -> Placement:
    """Lay a graph out with `dot`, from left to right; `spread` widens the gaps."""
    forward = acyclic_edges(request)
    graph = _graph_of(request, forward, spread)
    graph.layout(prog="dot")
    positions = {node: _point(graph.get_node(node).attr["pos"]) for node, _, _ in request.nodes}
    curves: dict[EdgeKey, tuple[Point, ...]] = {}
    labels: dict[EdgeKey, Point] = {}
    for source, target, _, _ in request.edges:
        drawn = graph.get_edge(*forward.get((source, target), (source, target)), _key(source, target))
        curves[source, target] = _curve(drawn.attr["pos"])
        if drawn.attr["lp"]:
            labels[source, target] = _point(drawn.attr["lp"])
    return Placement(positions, curves, _lift_loop_labels(labels, request))


def _lift_loop_labels(labels: dict[EdgeKey, Point], request: LayoutRequest) -> dict[EdgeKey, Point]:
    """Move the labels of loops up, off those of the edges beside them.

    From left to right, `dot` reserves only the height of a loop's label: a wide one covers its neighbours.
    """
    sizes = {(source, target): (width, height) for source, target, width, height in request.edges}
    others = [key for key in labels if key[0] != key[1]]
    found = dict(labels)
    for loop in labels.keys() - set(others):
        (x, y), (width, height) = labels[loop], sizes[loop]
        for other in sorted(
            others, key=lambda key: -labels[key][1]
        ):  # from the bottom upwards, the direction in which the loop's label moves
            (its_x, its_y), (its_width, its_height) = labels[other], sizes[other]
            beside = abs(x - its_x) >= (width + its_width) / 2
            if not beside and abs(y - its_y) < (height + its_height) / 2:
                y = its_y - (height + its_height) / 2
        found[loop] = x, y
    return found


def _graph_of(request: LayoutRequest, forward: Mapping[EdgeKey, EdgeKey], spread: float) -> Any:
    graph = pygraphviz.AGraph(directed=True, strict=False)
    has_labels = any(width > 0 < height for _, _, width, height in request.edges)
    # Labels separate ranks by themselves; without any, an arrow would consist of its head only.
    ranks, nodes = spread * (0.28 if has_labels else 0.55), spread * 0.32
    graph.graph_attr.update(rankdir="LR", nodesep=f"{nodes:.3f}", ranksep=f"{ranks:.3f}", splines="true")
    # An arrowhead of Graphviz makes the last part of an edge straight, on which the scene draws its own head.
    graph.edge_attr.update(arrowhead="normal", arrowsize="0.8", label="")
    # An invisible node before the start reserves space for the entry arrow.
    graph.add_node(_ENTRY, shape="point", width="0.02", style="invis")
    for node, width, height in request.nodes:
        graph.add_node(
            node,
            label="",
            fixedsize="true",
            shape="ellipse" if width == height else "box",
            width=f"{width / _POINTS_PER_INCH:.4f}",
            height=f"{height / _POINTS_PER_INCH:.4f}",
        )
    graph.add_edge(_ENTRY, request.start, style="invis", weight="8")
    for source, target, width, height in request.edges:
        label = _empty_table(width, height) if width > 0 and height > 0 else ""
        tail, head = forward.get((source, target), (source, target))
        direction = "forward" if tail == source else "back"
        graph.add_edge(tail, head, _key(source, target), label=label, dir=direction)
    return graph


def _key(source: int, target: int) -> str:
    """Return the key of an edge: two that are opposite may be drawn in the same direction."""
    return f"{source} {target}"


def _empty_table(width: float, height: float) -> str:
    table = 'border="0" cellborder="0" cellpadding="0" cellspacing="0" fixedsize="true"'
    return f'<<table {table} width="{width:.0f}" height="{height:.0f}"><tr><td></td></tr></table>>'


def _point(text: str) -> Point:
    x, y = text.split(",")
    return float(x), -float(y)


def _curve(text: str) -> tuple[Point, ...]:
    """Parse a `splineType`: an arrow tip at the end or the start (`e,x,y`, `s,x,y`), then the control points."""
    tip: Point | None = None
    points: list[Point] = []
    for part in text.replace("\\\n", "").split():
        if part.startswith(("e,", "s,")):
            tip = _point(part[2:])
        else:
            points.append(_point(part))
    if "s," in text:
        points.reverse()
    if tip is not None:
        (x, y), (tip_x, tip_y) = points[-1], tip
        points += [(x + (tip_x - x) / 3, y + (tip_y - y) / 3), (x + (tip_x - x) * 2 / 3, y + (tip_y - y) * 2 / 3), tip]
    return tuple(points)
