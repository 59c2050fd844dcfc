"""Navigation between states by the arrow keys: to a state in the arrow's direction, preferably along an edge."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from PySide6.QtCore import QPointF, QRectF

_WIDEST = math.cos(math.radians(70))  # with a larger angle, a state is not in the arrow's direction
_DETOUR = 1.6  # how much farther a connected state may be than one that is only near


def towards(boxes: Mapping[int, QRectF], joined: Collection[int], state: int, direction: tuple[int, int]) -> int | None:
    """Return the next state in a direction; None if there is none.

    Args:
        boxes: the boxes of the states; stubs are ignored.
        joined: the states that an edge connects to the current one.
        state: the current state.
        direction: the arrow, such as `(1, 0)` to the right.
    """
    here = boxes[state].center()
    best: tuple[float, int] | None = None
    for other, box in boxes.items():
        if other < 0 or other == state:
            continue
        cost = _cost(box.center() - here, direction)
        if cost is None:
            continue
        cost *= 1.0 if other in joined else _DETOUR
        if best is None or (cost, other) < best:
            best = cost, other
    return None if best is None else best[1]


def _cost(offset: QPointF, direction: tuple[int, int]) -> float | None:
    """Return a cost of distance and deviation; None if it is in another direction."""
    length = math.hypot(offset.x(), offset.y())
    along = (offset.x() * direction[0] + offset.y() * direction[1]) / length if length else 0.0
    return length / along if along >= _WIDEST else None
