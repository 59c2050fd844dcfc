"""The input and the result of a layout: sizes in, positions out.

These are plain values, without Qt and without a layout library, so that the window and the layout process share them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import median_low
from typing import TypeAlias

from engine.source import InvariantError

Point: TypeAlias = tuple[float, float]
EdgeKey: TypeAlias = tuple[int, int]
Rect: TypeAlias = tuple[float, float, float, float]

METHODS = ("dot", "sugiyama", "layered")
"""The layouts that a user can choose."""


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
            raise InvariantError("errors.invariant.layout.node_twice")
        if self.nodes and self.start not in ids:
            raise InvariantError("errors.invariant.layout.start", start=self.start)
        pairs = {(source, target) for source, target, _, _ in self.edges}
        if len(pairs) != len(self.edges):
            raise InvariantError("errors.invariant.layout.edge_twice")
        if not {end for pair in pairs for end in pair} <= ids:
            raise InvariantError("errors.invariant.layout.edge_node")
        if self.groups:
            group_of = {node: number for number, group in enumerate(self.groups) for node in group.nodes}
            if group_of.keys() != ids or sum(len(group.nodes) for group in self.groups) != len(ids):
                raise InvariantError("errors.invariant.layout.group")
            if any(group_of[source] != group_of[target] for source, target in pairs):
                raise InvariantError("errors.invariant.layout.group_edge")


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
        is_simpler: whether a part is too large for the method that the user chose, and a simpler one was used.
    """

    revision: int
    positions: dict[int, Point]
    curves: dict[EdgeKey, tuple[Point, ...]]
    label_positions: dict[EdgeKey, Point]
    method: str
    elapsed_ms: float
    boxes: tuple[Rect, ...] = ()
    marks: dict[EdgeKey, Point] = field(default_factory=dict)
    is_simpler: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """The result of a layout method: a `LayoutAnswer` without revision and duration.

    Attributes:
        certain: the labels that the method put where nothing else is.
    """

    positions: dict[int, Point]
    curves: dict[EdgeKey, tuple[Point, ...]]
    label_positions: dict[EdgeKey, Point]
    boxes: tuple[Rect, ...] = ()
    marks: dict[EdgeKey, Point] = field(default_factory=dict)
    certain: frozenset[EdgeKey] = frozenset()


def stabilise_layout(answer: LayoutAnswer, before: Mapping[int, Point], *, downwards: bool = False) -> LayoutAnswer:
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
