"""Layouts of graphs: sizes in, positions out.

There are three methods, by size. Graphviz `dot` draws best and is slow beyond a few dozen nodes; `fast-sugiyama` (the
same idea after Sugiyama, Tagawa and Toda 1981, in Rust, without splines) is used for hundreds; a plain layered layout
by distance from the start handles larger ones in linear time. Each is a pure function of the request, so that the same
automaton is always drawn the same way, and runs in the layout process: in a thread, Graphviz holds the interpreter lock
for seconds. Hence nothing here imports Qt, and a method's library is imported on its first use.

Rejected: force-directed layouts. They have no direction, and an automaton is read from its start.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median_low
from typing import TypeAlias

from engine.source import InvariantError

Point: TypeAlias = tuple[float, float]
EdgeKey: TypeAlias = tuple[int, int]
Rect: TypeAlias = tuple[float, float, float, float]

# Neither library can be interrupted, so what a method is given takes it a second at most, by `rank_spans`: `dot` takes
# 0.6 s for 1,000 spans and 1.4 s for 1,300, fast-sugiyama and the labels 1.6 s for 15,000.
DOT_NODES = 40
DOT_EDGES = 160
DOT_IF_ASKED = 200  # nodes
DOT_SPANS = 1_000
DOT_WORK = 4_000  # nodes, edges and spans of all groups together: 1 s
SUGIYAMA_NODES = 500
SUGIYAMA_EDGES = 3_000
SUGIYAMA_WORK = 15_000
METHODS = ("dot", "sugiyama", "layered")


@dataclass(frozen=True, slots=True)
class LayoutGroup:
    """A part of a graph that is laid out by itself, in a box with a title.

    Attributes:
        nodes: the ids of its nodes; no edge leads out of it.
        start: its first node.
        width: of the title.
        height: of the title.
    """

    nodes: tuple[int, ...]
    start: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """A graph, as sizes.

    Attributes:
        revision: repeated by the answer, so that a late one can be dropped.
        nodes: `(id, width, height)` in scene units (pixels at zoom 1).
        edges: `(source, target, label width, label height)`, at most one for each pair; zero sizes for no label.
        start: the id of the leftmost node.
        groups: the parts that are drawn in boxes of their own; all nodes belong to one, or there are no groups.
        method: the layout that the user chose, one of `METHODS`; empty for the best one that the size allows.
        downwards: whether the drawing runs from top to bottom instead of from left to right.
        texts: the width and height of the text of each label, for which `edges` reserves more space; by default the
            reserved size.
    """

    revision: int
    nodes: tuple[tuple[int, float, float], ...]
    edges: tuple[tuple[int, int, float, float], ...]
    start: int
    groups: tuple[LayoutGroup, ...] = ()
    method: str = ""
    downwards: bool = False
    texts: Mapping[EdgeKey, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ids = {node for node, _, _ in self.nodes}
        if len(ids) != len(self.nodes):
            raise InvariantError("a layout request names a node twice")
        if self.nodes and self.start not in ids:
            raise InvariantError(f"the start {self.start} is not among the nodes")
        pairs = {(source, target) for source, target, _, _ in self.edges}
        if len(pairs) != len(self.edges):
            raise InvariantError("a layout request has two edges between the same nodes")
        if not {end for pair in pairs for end in pair} <= ids:
            raise InvariantError("an edge refers to a node that does not exist")
        if self.groups:
            group_of = {node: number for number, group in enumerate(self.groups) for node in group.nodes}
            if group_of.keys() != ids or sum(len(group.nodes) for group in self.groups) != len(ids):
                raise InvariantError("every node of a layout in groups belongs to one of them")
            if any(group_of[source] != group_of[target] for source, target in pairs):
                raise InvariantError("an edge leads out of its group")


@dataclass(frozen=True, slots=True)
class LayoutAnswer:
    """The positions of all elements; x grows to the right, y downwards.

    Attributes:
        revision: the request's.
        positions: the centre of each node.
        curves: for each edge, a cubic Bezier chain from border to border: `1 + 3n` points.
        label_positions: the centre of each label with an unambiguous position.
        method: `dot`, `sugiyama` or `layered`; `boxes` if each group has its own.
        elapsed_ms: the duration of the layout.
        boxes: left, top, width and height of each group.
        marks: the centre of a mark for each label without a free position.
    """

    revision: int
    positions: dict[int, Point]
    curves: dict[EdgeKey, tuple[Point, ...]]
    label_positions: dict[EdgeKey, Point]
    method: str
    elapsed_ms: float
    boxes: tuple[Rect, ...] = ()
    marks: dict[EdgeKey, Point] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placement:
    """The result of a layout method: a `LayoutAnswer` without revision and duration."""

    positions: dict[int, Point]
    curves: dict[EdgeKey, tuple[Point, ...]]
    label_positions: dict[EdgeKey, Point]
    boxes: tuple[Rect, ...] = ()
    marks: dict[EdgeKey, Point] = field(default_factory=dict)


def steadied(answer: LayoutAnswer, before: Mapping[int, Point], *, downwards: bool = False) -> LayoutAnswer:
    """Transform a layout so that the nodes of the previous drawing keep their positions, most of them exactly.

    A slightly different graph is often laid out upside down; then it is mirrored across its direction.

    Args:
        answer: the layout.
        before: the previous positions. If it has less than half of the nodes, nothing is moved.
        downwards: whether the drawing runs from top to bottom.
    """
    shared = sorted(answer.positions.keys() & before.keys())
    if not shared or 2 * len(shared) < len(answer.positions):
        return answer

    def moved(scale: tuple[float, float]) -> tuple[float, LayoutAnswer]:
        there = answer if scale == (1.0, 1.0) else _transformed(answer, scale, (0.0, 0.0))
        gaps = [tuple(before[node][axis] - there.positions[node][axis] for axis in (0, 1)) for node in shared]
        dx, dy = (median_low(gap[axis] for gap in gaps) for axis in (0, 1))
        return sum(abs(x - dx) + abs(y - dy) for x, y in gaps), _transformed(there, (1.0, 1.0), (dx, dy))

    scales = [(1.0, 1.0)]
    if not answer.boxes:  # titles are above their boxes
        scales.append((-1.0, 1.0) if downwards else (1.0, -1.0))
    return min(map(moved, scales), key=lambda found: found[0])[1]


def _transformed(answer: LayoutAnswer, scale: tuple[float, float], by: Point) -> LayoutAnswer:
    (sx, sy), (dx, dy) = scale, by
    return replace(
        answer,
        positions={node: (sx * x + dx, sy * y + dy) for node, (x, y) in answer.positions.items()},
        curves={key: tuple((sx * x + dx, sy * y + dy) for x, y in chain) for key, chain in answer.curves.items()},
        label_positions={key: (sx * x + dx, sy * y + dy) for key, (x, y) in answer.label_positions.items()},
        marks={key: (sx * x + dx, sy * y + dy) for key, (x, y) in answer.marks.items()},
        boxes=tuple((left + dx, top + dy, width, height) for left, top, width, height in answer.boxes),
    )


Place: TypeAlias = Callable[[LayoutRequest], Placement]


def lay_out(request: LayoutRequest, *, plainly: bool = False) -> LayoutAnswer:
    """Lay a graph out by the best method that its size allows, or by the one whose time is linear."""
    started = time.perf_counter()
    method, placement = "none", Placement({}, {}, {})
    if request.groups:
        from app.graph.layout.packing import part_of, place_in_boxes

        parts = [
            replace(part_of(request, group), method=request.method, downwards=request.downwards)
            for group in request.groups
        ]
        methods = _methods_for(parts, plainly=plainly)
        placed = [_laid_out(part, name) for part, name in zip(parts, methods, strict=True)]
        method, placement = "boxes", place_in_boxes(request, parts, placed)
    elif request.nodes:
        (method,) = _methods_for([request], plainly=plainly)
        placement = _laid_out(request, method)
    return LayoutAnswer(
        revision=request.revision,
        positions=placement.positions,
        curves=placement.curves,
        label_positions=placement.label_positions,
        method=method,
        elapsed_ms=(time.perf_counter() - started) * 1000,
        boxes=placement.boxes,
        marks=placement.marks,
    )


def _laid_out(request: LayoutRequest, method: str) -> Placement:
    return _labelled(request, _placed(request, _function_of(method)))


def _labelled(request: LayoutRequest, placed: Placement) -> Placement:
    from app.graph.labelling import place_labels

    return place_labels(request, placed)


def _placed(request: LayoutRequest, place: Place) -> Placement:
    """Place by a method that supports one direction only."""
    if not request.downwards:
        return place(request)
    turned = place(
        replace(
            request,
            nodes=tuple((node, height, width) for node, width, height in request.nodes),
            edges=tuple((source, target, height, width) for source, target, width, height in request.edges),
        )
    )
    return Placement(
        {node: (y, x) for node, (x, y) in turned.positions.items()},
        {key: tuple((y, x) for x, y in chain) for key, chain in turned.curves.items()},
        {key: (y, x) for key, (x, y) in turned.label_positions.items()},
    )


def _methods_for(parts: Sequence[LayoutRequest], *, plainly: bool) -> list[str]:
    """Return the method of each part of a drawing: the best one, if all parts that it lays out take it a second."""
    from app.graph.layout.acyclic import rank_spans

    if plainly:
        return ["layered"] * len(parts)
    work = []
    methods = []
    for part in parts:
        nodes, edges = len(part.nodes), len(part.edges)
        is_small = nodes <= DOT_IF_ASKED if part.method == "dot" else nodes <= DOT_NODES and edges <= DOT_EDGES
        is_medium = nodes <= SUGIYAMA_NODES and edges <= SUGIYAMA_EDGES
        spans = rank_spans(part) if is_small or is_medium else 0
        work.append(nodes + edges + spans)
        if is_small and spans <= DOT_SPANS and part.method in ("", "dot"):
            methods.append("dot")
        else:
            methods.append("sugiyama" if is_medium and part.method != "layered" else "layered")
    for method, limit, simpler in (("dot", DOT_WORK, "sugiyama"), ("sugiyama", SUGIYAMA_WORK, "layered")):
        if sum(one for one, chosen in zip(work, methods, strict=True) if chosen == method) > limit:
            methods = [simpler if chosen == method else chosen for chosen in methods]
    return methods


def _function_of(method: str) -> Place:
    # The libraries stay out of whatever only speaks of layouts (the GUI process), hence the local imports.
    match method:
        case "dot":
            from app.graph.layout.graphviz import place_by_dot

            return place_by_dot
        case "sugiyama":
            from app.graph.layout.sugiyama import place_by_sugiyama

            return place_by_sugiyama
    from app.graph.layout.layered import place_by_layers

    return place_by_layers
