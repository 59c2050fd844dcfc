"""Small graphs, by Graphviz `dot`.

Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs"
(1993): ranks by network simplex, crossings by weighted medians, edges as
splines around the nodes. It runs in this process through pygraphviz, whose
wheel carries Graphviz, so nothing has to be installed. Labels are empty
tables of a given size: the scene measures its own fonts.
"""

from __future__ import annotations

from typing import Any

import pygraphviz

from app.graph.layout import EdgeKey, LayoutRequest, Placement, Point

_POINTS_PER_INCH = 72.0
_ENTRY = "entry"


def place_by_dot(request: LayoutRequest) -> Placement:
    """Lay a graph out with `dot`, from left to right."""
    graph = _described(request)
    graph.layout(prog="dot")
    positions = {node: _point(graph.get_node(node).attr["pos"]) for node, _, _ in request.nodes}
    curves: dict[EdgeKey, tuple[Point, ...]] = {}
    labels: dict[EdgeKey, Point] = {}
    for source, target, _, _ in request.edges:
        drawn = graph.get_edge(source, target)
        curves[source, target] = _curve(drawn.attr["pos"])
        if drawn.attr["lp"]:
            labels[source, target] = _point(drawn.attr["lp"])
    return Placement(positions, curves, labels)


def _described(request: LayoutRequest) -> Any:
    graph = pygraphviz.AGraph(directed=True, strict=True)
    graph.graph_attr.update(rankdir="LR", nodesep="0.32", ranksep="0.28", splines="true")
    # An arrowhead of Graphviz makes the last stretch straight, which is what the scene draws its own head on.
    graph.edge_attr.update(arrowhead="normal", arrowsize="0.8", label="")
    # An invisible node before the start keeps room for the entry arrow.
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
        label = _blank(width, height) if width > 0 and height > 0 else ""
        graph.add_edge(source, target, label=label)
    return graph


def _blank(width: float, height: float) -> str:
    table = 'border="0" cellborder="0" cellpadding="0" cellspacing="0" fixedsize="true"'
    return f'<<table {table} width="{width:.0f}" height="{height:.0f}"><tr><td></td></tr></table>>'


def _point(text: str) -> Point:
    x, y = text.split(",")
    return float(x), -float(y)


def _curve(text: str) -> tuple[Point, ...]:
    """A `splineType`: an optional arrow tip (`e,x,y`), then the control points."""
    tip: Point | None = None
    points: list[Point] = []
    for part in text.replace("\\\n", "").split():
        if part.startswith("e,"):
            tip = _point(part[2:])
        else:
            points.append(_point(part))
    if tip is not None:
        (x, y), (tip_x, tip_y) = points[-1], tip
        points += [(x + (tip_x - x) / 3, y + (tip_y - y) / 3), (x + (tip_x - x) * 2 / 3, y + (tip_y - y) * 2 / 3), tip]
    return tuple(points)
