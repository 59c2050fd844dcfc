"""Computes layouts: chooses a method by the work that it takes, places the labels, and puts groups into boxes.

There are three methods. Graphviz `dot` draws best and is slow beyond a few dozen nodes; `fast-sugiyama` (the same idea
after Sugiyama, Tagawa and Toda 1981, in Rust, without splines) is used for hundreds; a plain layered layout by distance
from the start handles larger graphs in linear time, and those of more than 60 nodes that the others draw much longer.
Each is a pure function of the request, so that the same automaton is always drawn the same way. This module
loads the libraries and is imported by the layout process only: in a thread, Graphviz holds the interpreter lock for
seconds. Rejected: force-directed layouts. They have no direction, and an automaton is read from its start.

Each group is laid out by itself, so an edit to one leaves the others unchanged. The boxes keep their order, like words
in lines; the width of the rows is chosen so that the total comes near to a window's proportions. Rejected: Graphviz
clusters. It stacks unconnected parts into one column, and lays everything out again when a part changes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from math import sqrt
from typing import TypeAlias

from app.graph.layout.graphviz import place_by_dot
from app.graph.layout.labelling import place_labels
from app.graph.layout.layered import place_by_layers
from app.graph.layout.ranks import rank_spans
from app.graph.layout.sugiyama import place_by_sugiyama
from app.graph.layout.types import METHODS, EdgeKey, LayoutAnswer, LayoutGroup, LayoutRequest, Placement, Point, Rect

_PADDING = 18.0
_ENTRY_SPACE = 26.0  # the arrow at a part's start comes from the left of it
_TITLE_SPACE = 10.0
_GAP = 22.0
_PROPORTION = 0.9  # width to height, of the pane between the other two

# Neither library can be interrupted, so what a method is given takes it a second at most, by `rank_spans`: `dot` takes
# 0.05 s for 200 spans, the most that it gets unasked, 0.6 s for 1,000 and 1.4 s for 1,300; fast-sugiyama takes 0.3 s
# for 8,000 and 1.1 s for 15,000.
_DOT_NODES = 60
_DOT_EDGES = 160
DOT_IF_ASKED = 200  # nodes
_DOT_SPANS, _DOT_SPANS_IF_ASKED = 200, 1_000
_DOT_WORK = 4_000  # nodes, edges and spans of all groups together: 1 s
_SUGIYAMA_NODES = 500
_SUGIYAMA_EDGES = 3_000
_SUGIYAMA_WORK = 8_000

# Gaps are widened until at most this share of the labels has no room; not in larger graphs, whose method leaves room.
_SPREADS = (1.5, 2.25, 3.4, 5.0)
_WIDENED = 600  # edges; tall columns of a larger graph are folded by one estimate, not two
_SMALL_WINDOW, _MUCH_LARGER = 800.0, 1.5
_LEAST_FOLDED, _SMALLER = 6, 1.1  # the nodes of a column that is folded, and by how much a drawing must shrink
_SMALL, _HIDDEN_OF_SMALL, _HIDDEN = 60, 0.05, 0.25

_Place: TypeAlias = Callable[[LayoutRequest, float], Placement]
_METHODS: Mapping[str, _Place] = {
    "dot": place_by_dot,
    "sugiyama": place_by_sugiyama,
    "layered": place_by_layers,
}


def lay_out(request: LayoutRequest, *, plainly: bool = False) -> LayoutAnswer:
    """Lay a graph out.

    Args:
        request: the graph.
        plainly: whether to use the method whose time is linear, instead of the best one that the size allows.
    """
    started = time.perf_counter()
    method, placement = "none", Placement({}, {}, {})
    methods: list[str] = []
    if request.groups:
        parts = [
            replace(part_of(request, group), method=request.method, downwards=request.downwards)
            for group in request.groups
        ]
        found = [_best(part, name) for part, name in zip(parts, methods_for(parts, plainly=plainly), strict=True)]
        methods = [name for name, _ in found]
        method, placement = "boxes", place_in_boxes(request, parts, [placed for _, placed in found])
    elif request.nodes:
        (method,) = methods_for([request], plainly=plainly)
        method, placement = _best(request, method)
        methods = [method]
    return LayoutAnswer(
        revision=request.revision,
        positions=placement.positions,
        curves=placement.curves,
        label_positions=placement.label_positions,
        method=method,
        elapsed_ms=(time.perf_counter() - started) * 1000,
        boxes=placement.boxes,
        marks=placement.marks,
        is_simpler=any(used != request.method for used in methods) if request.method else False,
    )


def _best(request: LayoutRequest, method: str) -> tuple[str, Placement]:
    """Return a method and its placement.

    If the user chose none, a method gives way to a simpler one whose drawing is much smaller, and `dot` where too many
    labels have no room; in small graphs not to the distance from the start, so their edges lead forward in ranks. Tall
    columns are folded.
    """
    if request.method:
        return method, _laid_out(request, *_first(request, method)[:2])
    is_small = len(request.nodes) <= _SMALL
    names = [name for name in METHODS[METHODS.index(method) :] if name in (method, "sugiyama") or not is_small]
    found: dict[str, tuple[_Place, Placement, float]] = {}
    for name in names:
        found[name] = _first(request, name)
        if found[method][2] <= _SMALL_WINDOW:
            break
    smallest = min(size for _, _, size in found.values())
    used = next(name for name, (_, _, size) in found.items() if size <= _MUCH_LARGER * smallest)
    if used == "dot":
        widenings = max(0, _DOT_SPANS // max(1, rank_spans(request)) - 1)
        placed = _laid_out(request, *found[used][:2], _SPREADS[:widenings])
        if not _hides_many(request, placed):
            return used, placed
        used = "sugiyama"
        found.setdefault(used, _first(request, used))
    return used, _laid_out(request, *found[used][:2])


def _first(request: LayoutRequest, method: str) -> tuple[_Place, Placement, float]:
    """Return how a method places a graph, and its placement without wider gaps; layers are folded if they are tall.

    Returns:
        how it places, the placement, and the height of the window that it needs.
    """
    place = _METHODS[method]
    placed = _placed(request, place, 1.0)
    bounds = _bounds(request, placed)
    best = place, placed, _window(bounds)
    is_small = len(request.nodes) <= _SMALL or best[2] <= _SMALL_WINDOW
    if method != "layered" or is_small or (most := _full_column(request, placed, bounds)) is None:
        return best
    for estimate in (most, most // 2)[: 2 if len(request.edges) <= _WIDENED else 1]:
        folding = partial(place_by_layers, most=estimate)
        folded = _placed(request, folding, 1.0)
        size = _window(_bounds(request, folded))
        if size * _SMALLER <= best[2]:
            best = folding, folded, size
    return best


def _full_column(request: LayoutRequest, placed: Placement, bounds: Rect) -> int | None:
    """Return how many nodes a column may have so that the drawing needs the smallest window, by an estimate.

    With shorter columns there are more of them. Their height falls more slowly than their number of nodes, since long
    edges pass between these.

    Returns:
        the number of nodes; None if there is no column with more.
    """
    columns = [*Counter(point[1 if request.downwards else 0] for point in placed.positions.values()).values()]
    _, _, width, height = bounds
    along, across = (height, width / _PROPORTION) if request.downwards else (width / _PROPORTION, height)
    tallest = max(columns)

    def window(most: int) -> float:
        count = sum(max(1.0, size / most) for size in columns)
        return max(along * count / len(columns), across * sqrt(most / tallest))

    return min(range(_LEAST_FOLDED, tallest), key=window, default=None)


def _window(bounds: Rect) -> float:
    """Return the height of the window that a drawing needs."""
    return max(bounds[2] / _PROPORTION, bounds[3])


def _laid_out(
    request: LayoutRequest, place: _Place, placed: Placement, spreads: Sequence[float] = _SPREADS
) -> Placement:
    """Place the labels of a graph; if it is not large, the gaps are widened while too many labels have no room."""
    best = place_labels(request, placed)
    for spread in spreads if len(request.edges) <= _WIDENED else ():
        if not _hides_many(request, best):
            break
        wider = place_labels(request, _placed(request, place, spread))
        best = max(best, wider, key=lambda placement: len(placement.label_positions))
    return best


def _hides_many(request: LayoutRequest, placed: Placement) -> bool:
    """Return whether too many labels have no room."""
    labels = sum(width > 0 for _, _, width, _ in request.edges)
    share = _HIDDEN_OF_SMALL if len(request.nodes) <= _SMALL else _HIDDEN
    return labels - len(placed.label_positions) > share * labels


def _placed(request: LayoutRequest, place: _Place, spread: float) -> Placement:
    """Place by a method that supports one direction only."""
    if not request.downwards:
        return place(request, spread)
    turned = place(
        replace(
            request,
            nodes=tuple((node, height, width) for node, width, height in request.nodes),
            edges=tuple((source, target, height, width) for source, target, width, height in request.edges),
        ),
        spread,
    )
    return Placement(
        {node: (y, x) for node, (x, y) in turned.positions.items()},
        {key: tuple((y, x) for x, y in curve) for key, curve in turned.curves.items()},
        {key: (y, x) for key, (x, y) in turned.label_positions.items()},
        certain=turned.certain,
    )


def methods_for(parts: Sequence[LayoutRequest], *, plainly: bool) -> list[str]:
    """Return the method of each part of a drawing: the best one, if all parts that it lays out take it a second."""
    if plainly:
        return ["layered"] * len(parts)
    work = []
    methods = []
    for part in parts:
        nodes, edges = len(part.nodes), len(part.edges)
        is_small = nodes <= DOT_IF_ASKED if part.method == "dot" else nodes <= _DOT_NODES and edges <= _DOT_EDGES
        is_medium = nodes <= _SUGIYAMA_NODES and edges <= _SUGIYAMA_EDGES
        spans = rank_spans(part) if is_small or is_medium else 0
        work.append(nodes + edges + spans)
        most_spans = _DOT_SPANS_IF_ASKED if part.method == "dot" else _DOT_SPANS
        if is_small and spans <= most_spans and part.method in ("", "dot"):
            methods.append("dot")
        else:
            methods.append("sugiyama" if is_medium and part.method != "layered" else "layered")
    for method, limit, simpler in (("dot", _DOT_WORK, "sugiyama"), ("sugiyama", _SUGIYAMA_WORK, "layered")):
        if sum(one for one, chosen in zip(work, methods, strict=True) if chosen == method) > limit:
            methods = [simpler if chosen == method else chosen for chosen in methods]
    return methods


def place_in_boxes(request: LayoutRequest, graphs: Sequence[LayoutRequest], parts: Sequence[Placement]) -> Placement:
    """Put the boxes of groups side by side.

    Args:
        request: all of the graph.
        graphs: each group by itself, as `part_of` returns it.
        parts: the layout of each.
    """
    inner = [_bounds(graph, part) for graph, part in zip(graphs, parts, strict=True)]
    sizes = [
        (
            max(bounds[2] + _ENTRY_SPACE, group.width) + 2 * _PADDING,
            bounds[3] + group.height + _TITLE_SPACE + 2 * _PADDING,
        )
        for group, bounds in zip(request.groups, inner, strict=True)
    ]
    corners = _rows(sizes)
    tallest: dict[float, float] = {}  # by the top of the row: all boxes of a row have the same height
    for (_, height), (_, top) in zip(sizes, corners, strict=True):
        tallest[top] = max(tallest.get(top, 0.0), height)
    positions: dict[int, Point] = {}
    curves: dict[EdgeKey, tuple[Point, ...]] = {}
    labels: dict[EdgeKey, Point] = {}
    marks: dict[EdgeKey, Point] = {}
    boxes: list[Rect] = []
    for group, part, bounds, size, (left, top) in zip(request.groups, parts, inner, sizes, corners, strict=True):
        dx = left + _PADDING + _ENTRY_SPACE - bounds[0]
        dy = top + _PADDING + group.height + _TITLE_SPACE - bounds[1]
        positions |= {node: (x + dx, y + dy) for node, (x, y) in part.positions.items()}
        curves |= {key: tuple((x + dx, y + dy) for x, y in curve) for key, curve in part.curves.items()}
        labels |= {key: (x + dx, y + dy) for key, (x, y) in part.label_positions.items()}
        marks |= {key: (x + dx, y + dy) for key, (x, y) in part.marks.items()}
        boxes.append((left, top, size[0], tallest[top]))
    return Placement(positions, curves, labels, tuple(boxes), marks)


def part_of(request: LayoutRequest, group: LayoutGroup) -> LayoutRequest:
    """Return one group as a graph of its own."""
    members = frozenset(group.nodes)
    return LayoutRequest(
        request.revision,
        tuple(node for node in request.nodes if node[0] in members),
        tuple(edge for edge in request.edges if edge[0] in members),
        group.start,
        texts={key: size for key, size in request.texts.items() if key[0] in members},
    )


def _bounds(part: LayoutRequest, placed: Placement) -> Rect:
    """Return the bounding rectangle of nodes, labels and curves."""
    rects = [(*placed.positions[node], width, height) for node, width, height in part.nodes]
    for source, target, width, height in part.edges:
        if (source, target) in placed.label_positions:
            rects.append((*placed.label_positions[source, target], width, height))
    points = [*chain.from_iterable(placed.curves.values())]
    points += [(x - width / 2, y - height / 2) for x, y, width, height in rects]
    points += [(x + width / 2, y + height / 2) for x, y, width, height in rects]
    xs, ys = zip(*points, strict=True)
    left, top = min(xs), min(ys)
    return left, top, max(xs) - left, max(ys) - top


def _rows(sizes: Sequence[tuple[float, float]]) -> list[Point]:
    """Return the upper left corners of boxes in rows, of the width that fits best."""
    widest = max(width for width, _ in sizes)
    total = sum(width + _GAP for width, _ in sizes)
    candidates = [widest + (total - widest) * step / 24 for step in range(25)]
    return min((_in_rows(sizes, width) for width in candidates), key=lambda found: found[0])[1]


def _in_rows(sizes: Sequence[tuple[float, float]], most: float) -> tuple[float, list[Point]]:
    """Return the required window size and the corners, for rows of at most `most` width."""
    corners: list[Point] = []
    x = y = tallest = widest = 0.0
    for width, height in sizes:
        if x > 0 and x + width > most:
            x, y, tallest = 0.0, y + tallest + _GAP, 0.0
        corners.append((x, y))
        x += width + _GAP
        tallest = max(tallest, height)
        widest = max(widest, x - _GAP)
    return max(widest / _PROPORTION, y + tallest), corners
