"""Curves between boxes, for layouts that compute box positions only.

A box is a pill: a rectangle whose ends are half circles, a circle if its width equals its height. Curves are cubic
Bezier chains, `1 + 3n` points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.graph.layout.types import Point

HEAD_LENGTH, HEAD_WIDTH = 8.5, 7.0
"""The size of an arrowhead."""
_LOOP_HEIGHT = 24.0
LOOP_ROOM = 0.75 * _LOOP_HEIGHT
"""By how much a loop rises above its node; its label is above it."""


@dataclass(frozen=True, slots=True)
class Box:
    """A node's centre and size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> Point:
        """Return the middle of the left border."""
        return self.x - self.width / 2, self.y

    @property
    def right(self) -> Point:
        """Return the middle of the right border."""
        return self.x + self.width / 2, self.y


def through(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return a chain through `points` that leaves and arrives horizontally at each of them.

    A point on a level line between its neighbours is left out.
    """
    kept = [points[0]]
    for point, after in zip(points[1:], [*points[2:], points[-1]], strict=True):
        if point != kept[-1] and (point is points[-1] or not kept[-1][1] == point[1] == after[1]):
            kept.append(point)
    chain = [kept[0]]
    for (x0, y0), (x1, y1) in pairwise(kept):
        bend = (x1 - x0) / 2
        chain += [(x0 + bend, y0), (x1 - bend, y1), (x1, y1)]
    return tuple(chain)


def loop(box: Box) -> tuple[Point, ...]:
    """Return a loop above a box, from slightly left of its top to slightly right of it."""
    angle = math.radians(60)
    radius = min(box.width, box.height) / 2
    dx, dy = radius * math.cos(angle), radius * math.sin(angle)
    top = box.y - dy
    return (
        (box.x - dx, top),
        (box.x - dx * 1.9, top - _LOOP_HEIGHT),
        (box.x + dx * 1.9, top - _LOOP_HEIGHT),
        (box.x + dx, top),
    )


def loop_label(box: Box, label_height: float) -> Point:
    """Return the position of the label of a box's loop: at the top of the loop."""
    top = box.y - box.height / 2 * math.sin(math.radians(60)) - _LOOP_HEIGHT * 0.75
    return box.x, top - label_height / 2 - 1


def point_at(chain: Sequence[Point], t: float) -> Point:
    """Return the point at `t` in 0..1 of a chain, in which each segment has an equal share."""
    segments = (len(chain) - 1) // 3
    scaled = min(max(t, 0.0), 1.0) * segments
    index = min(int(scaled), segments - 1)
    u = scaled - index
    p0, p1, p2, p3 = chain[3 * index : 3 * index + 4]
    v = 1 - u
    a, b, c, d = v**3, 3 * v * v * u, 3 * v * u * u, u**3
    return (
        a * p0[0] + b * p1[0] + c * p2[0] + d * p3[0],
        a * p0[1] + b * p1[1] + c * p2[1] + d * p3[1],
    )


def direction_at_end(chain: Sequence[Point]) -> Point:
    """Return the unit vector of a chain's direction at its end."""
    x, y = chain[-1]
    for before in reversed(chain[:-1]):
        length = math.hypot(x - before[0], y - before[1])
        if length > 1e-6:
            return (x - before[0]) / length, (y - before[1]) / length
    return 1.0, 0.0


def head_corners(chain: Sequence[Point], scale: float = 1.0) -> tuple[Point, Point, Point]:
    """Return the corners of the arrowhead at the end of a chain, its tip first."""
    (x, y), (dx, dy) = chain[-1], direction_at_end(chain)
    half = HEAD_WIDTH * scale / 2
    back_x, back_y = x - dx * HEAD_LENGTH * scale, y - dy * HEAD_LENGTH * scale
    return (x, y), (back_x - dy * half, back_y + dx * half), (back_x + dy * half, back_y - dx * half)
