"""Layout of independent parts of a graph: each in a box, the boxes in rows.

Each part is laid out by itself, so an edit to one leaves the others unchanged. The boxes keep their order, like words
in lines; the width of the rows is chosen so that the total comes near to a window's proportions.

Rejected: Graphviz clusters. It stacks unconnected parts into one column, and lays everything out again when a part
changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.graph.layout.types import EdgeKey, LayoutGroup, LayoutRequest, Placement, Point, Rect

_PADDING = 18.0
_ENTRY_SPACE = 26.0  # the arrow at a part's start comes from the left of it
_TITLE_SPACE = 10.0
_GAP = 22.0
_PROPORTION = 0.9  # width to height, of the pane between the other two


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
        curves |= {key: tuple((x + dx, y + dy) for x, y in chain) for key, chain in part.curves.items()}
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
    sizes = {(node, node): (width, height) for node, width, height in part.nodes}
    positions = {(node, node): point for node, point in placed.positions.items()}
    rects = [(*positions[key], *size) for key, size in sizes.items()]
    for source, target, width, height in part.edges:
        if (source, target) in placed.label_positions:
            rects.append((*placed.label_positions[source, target], width, height))
    points = [point for chain in placed.curves.values() for point in chain]
    left = min(*(x - width / 2 for x, _, width, _ in rects), *(x for x, _ in points), float("inf"))
    right = max(*(x + width / 2 for x, _, width, _ in rects), *(x for x, _ in points), float("-inf"))
    top = min(*(y - height / 2 for _, y, _, height in rects), *(y for _, y in points), float("inf"))
    bottom = max(*(y + height / 2 for _, y, _, height in rects), *(y for _, y in points), float("-inf"))
    return left, top, right - left, bottom - top


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
