"""Label placement: moves the labels of edges so that each is unambiguous.

A layout puts each label at its own edge without regard to the others. Here a label is moved along its edge, or beside
it, until it covers no node, no arrowhead and no other label, no other edge runs through it, and its own edge is the
nearest. A label without a free position is replaced by a small mark (`Placement.marks`), since a label at a wrong
position would be a false statement.

This is point-feature label placement by candidate positions, greedy as in Christensen, Marks and Shieber, "An empirical
study of algorithms for point-feature label placement" (1995). Curves are looked up as straight pieces in a grid, so the
work grows linearly with the drawing, and it is bounded. Rejected: moving nodes apart, which is the task of the layout.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TypeAlias

from app.graph.layout.curves import head_corners
from app.graph.layout.types import EdgeKey, LayoutRequest, Placement, Point, Rect

MARK = (14.0, 14.0)
"""The size of a mark."""

_Piece: TypeAlias = tuple[Point, Point]

_CELL = 48.0
_FLATNESS = 1.0  # the maximum distance of straight pieces from their curve
_CLEARANCE = 4.0  # how much nearer the own edge must be than any other
_MARGIN = 1.5  # margin around a label
_MOST_LOOKUPS = 500_000  # at pieces of curves; the labels left then become marks
_MANY = 1_000  # labels, from which only every second share is tried


def _shares(step: int) -> tuple[float, ...]:
    """Return shares of a curve, from its middle outwards, in 24ths."""
    return (0.5, *(0.5 + side * part / 24 for part in range(step, 11, step) for side in (-1, 1)))


_ALL_SHARES, _FEW_SHARES = _shares(1), _shares(2)


def place_labels(request: LayoutRequest, placed: Placement) -> Placement:
    """Move labels to unambiguous positions; those without one become marks."""
    if placed.label_positions.keys() <= placed.certain:
        return placed
    return _Labelling(request, placed).position()


class _Labelling:
    """The label placement of one graph."""

    def __init__(self, request: LayoutRequest, placed: Placement) -> None:
        self._placed = placed
        self._sizes = {
            (source, target): request.texts.get((source, target), (width, height))
            for source, target, width, height in request.edges
            if (source, target) in placed.label_positions
        }
        self._shares = _ALL_SHARES if len(self._sizes) <= _MANY else _FEW_SHARES
        self._curves = _Curves(placed.curves)
        self._taken = Rects()
        for node, width, height in request.nodes:
            self._taken.add(around(placed.positions[node], (width, height)))
        for chain in placed.curves.values():
            xs, ys = zip(*head_corners(chain), strict=True)
            self._taken.add((min(xs), min(ys), max(xs), max(ys)))

    def position(self) -> Placement:
        given = self._placed.label_positions
        labels: dict[EdgeKey, Point] = {}
        for key in self._placed.certain:
            self._take(labels, key, given[key])
        for key in sorted(self._sizes.keys() - labels.keys()):
            if self._fits(key, given[key], self._curves.distance(key, given[key]), self._sizes[key]):
                self._take(labels, key, given[key])
        # Short edges have the fewest candidate positions.
        others = sorted(self._sizes.keys() - labels.keys(), key=lambda key: (self._curves.length(key), key))
        marks: dict[EdgeKey, Point] = {}
        for key in others:
            size = self._sizes[key]
            fitting = (at for at, own in self._candidates(key, size) if self._fits(key, at, own, size))
            if (position := next(fitting, None)) is not None:
                self._take(labels, key, position)
        for key in others:
            if key not in labels:
                free = (at for at, _ in self._candidates(key, MARK) if self._taken.is_free(around(at, MARK)))
                if (position := next(free, None)) is not None:
                    self._taken.add(around(position, MARK))
                    marks[key] = position
        return replace(self._placed, label_positions=labels, marks=marks)

    def _take(self, labels: dict[EdgeKey, Point], key: EdgeKey, position: Point) -> None:
        labels[key] = position
        self._taken.add(around(position, self._sizes[key]))

    def _fits(self, key: EdgeKey, position: Point, own: float, size: Point) -> bool:
        box = around(position, size)
        return self._taken.is_free(box) and self._curves.is_nearest(key, position, own, box)

    def _candidates(self, key: EdgeKey, size: Point) -> Iterator[tuple[Point, float]]:
        """Yield positions on the curve, from its middle outwards, then beside it, each with its maximum distance."""
        places = [self._curves.at(key, share) for share in self._shares]
        for position, _ in places:
            yield position, 0.0
        for (x, y), (dx, dy) in places:
            # At this distance the line just passes the box, whatever its direction.
            reach = abs(dy) * size[0] / 2 + abs(dx) * size[1] / 2 + _MARGIN
            yield (x - dy * reach, y + dx * reach), reach
            yield (x + dy * reach, y - dx * reach), reach


class Rects:
    """A set of occupied rectangles."""

    def __init__(self) -> None:
        self._cells: defaultdict[tuple[int, int], list[Rect]] = defaultdict(list)

    def add(self, rect: Rect) -> None:
        """Add a rectangle."""
        for cell in _cells(rect):
            self._cells[cell].append(rect)

    def is_free(self, rect: Rect) -> bool:
        """Return whether a rectangle overlaps no occupied one."""
        left, top, right, bottom = rect
        for cell in _cells(rect):
            for other in self._cells.get(cell, ()):
                if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom:
                    return False
        return True


class _Curves:
    """All curves as short straight pieces, indexed by position."""

    def __init__(self, curves: Mapping[EdgeKey, Sequence[Point]]) -> None:
        self._cells: defaultdict[tuple[int, int], list[tuple[_Piece, EdgeKey]]] = defaultdict(list)
        self._own: dict[EdgeKey, list[_Piece]] = {}
        self._ends: dict[EdgeKey, list[float]] = {}  # the length of the curve up to the end of each piece
        self._lookups_left = _MOST_LOOKUPS
        for key, chain in curves.items():
            self._own[key] = pieces = list(_pieces(chain))
            self._ends[key] = list(accumulate(math.dist(*piece) for piece in pieces))
            for piece in pieces:
                (x0, y0), (x1, y1) = piece
                for cell in _cells((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))):
                    self._cells[cell].append((piece, key))

    def length(self, key: EdgeKey) -> float:
        """Return the length of a curve."""
        return self._ends[key][-1]

    def at(self, key: EdgeKey, share: float) -> tuple[Point, Point]:
        """Return the point after a share of the length of a curve, and the direction there."""
        pieces, ends = self._own[key], self._ends[key]
        index = min(bisect_left(ends, share * ends[-1]), len(pieces) - 1)
        (x0, y0), (x1, y1) = pieces[index]
        length = math.hypot(x1 - x0, y1 - y0)
        if length == 0:
            return (x1, y1), (1.0, 0.0)
        part = 1 - (ends[index] - share * ends[-1]) / length
        return (x0 + part * (x1 - x0), y0 + part * (y1 - y0)), ((x1 - x0) / length, (y1 - y0) / length)

    def distance(self, key: EdgeKey, position: Point) -> float:
        """Return the distance of a position from its own curve."""
        return min(_distance(position, piece) for piece in self._own[key])

    def is_nearest(self, key: EdgeKey, position: Point, own: float, box: Rect) -> bool:
        """Return whether no other curve runs through a box, and none is as near to its middle as its own.

        Returns False when the budget of look-ups is used up.

        Args:
            key: the curve.
            position: the middle of the box.
            own: the distance from the middle to the curve itself.
            box: the box of the label.
        """
        x, y = position
        reach = own + _CLEARANCE
        left, top, right, bottom = box
        reached = min(left, x - reach), min(top, y - reach), max(right, x + reach), max(bottom, y + reach)
        for cell in _cells(reached):
            pieces = self._cells.get(cell, ())
            self._lookups_left -= len(pieces)
            if self._lookups_left <= 0:
                return False
            for piece, other in pieces:
                if other != key and (_crosses(piece, box) or _distance(position, piece) < reach):
                    return False
        return True


def _pieces(chain: Sequence[Point]) -> Iterator[_Piece]:
    """Flatten a Bezier chain into pieces that deviate at most `_FLATNESS` from the curve."""
    x, y = chain[0]
    for index in range(0, len(chain) - 3, 3):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = chain[index : index + 4]
        if y0 == y1 == y2 == y3:
            yield (x, y), (x3, y3)
            x, y = x3, y3
            continue
        bend = max(math.hypot(x0 - 2 * x1 + x2, y0 - 2 * y1 + y2), math.hypot(x1 - 2 * x2 + x3, y1 - 2 * y2 + y3))
        count = max(1, math.ceil(math.sqrt(6 * bend / (8 * _FLATNESS))))
        for step in range(1, count + 1):
            u = step / count
            v = 1 - u
            a, b, c, d = v * v * v, 3 * v * v * u, 3 * v * u * u, u * u * u
            after = a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3
            yield (x, y), after
            x, y = after


def _distance(position: Point, piece: _Piece) -> float:
    (x, y), ((x0, y0), (x1, y1)) = position, piece
    dx, dy = x1 - x0, y1 - y0
    square = dx * dx + dy * dy
    share = 0.0 if square == 0 else min(1.0, max(0.0, ((x - x0) * dx + (y - y0) * dy) / square))
    return math.hypot(x0 + share * dx - x, y0 + share * dy - y)


def _crosses(piece: _Piece, box: Rect) -> bool:
    """Return whether a piece has a point in a box: Liang and Barsky's clipping (1984)."""
    (x0, y0), (x1, y1) = piece
    left, top, right, bottom = box
    if max(x0, x1) < left or min(x0, x1) > right or max(y0, y1) < top or min(y0, y1) > bottom:
        return False
    dx, dy = x1 - x0, y1 - y0
    first, last = 0.0, 1.0
    for step, distance in ((-dx, x0 - left), (dx, right - x0), (-dy, y0 - top), (dy, bottom - y0)):
        if step == 0:
            if distance < 0:
                return False
        elif step < 0:
            first = max(first, distance / step)
        else:
            last = min(last, distance / step)
    return first <= last


def around(position: Point, size: Point) -> Rect:
    """Return left, top, right and bottom of a box with a margin."""
    (x, y), (width, height) = position, size
    return x - width / 2 - _MARGIN, y - height / 2 - _MARGIN, x + width / 2 + _MARGIN, y + height / 2 + _MARGIN


def _cells(rect: Rect) -> Iterator[tuple[int, int]]:
    columns = range(math.floor(rect[0] / _CELL), math.floor(rect[2] / _CELL) + 1)
    rows = range(math.floor(rect[1] / _CELL), math.floor(rect[3] / _CELL) + 1)
    return ((column, row) for column in columns for row in rows)
