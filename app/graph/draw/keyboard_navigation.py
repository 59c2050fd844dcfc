"""From state to state by the arrow keys: to where the arrow points, along an edge if one leads there."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from PySide6.QtCore import QPointF, QRectF

_WIDEST = math.cos(math.radians(70))  # beyond, a state does not lie in the arrow's direction
_DETOUR = 1.6  # how much farther a joined state may be than one that only lies near


def towards(boxes: Mapping[int, QRectF], joined: Collection[int], state: int, direction: tuple[int, int]) -> int | None:
    """The state to go to from another; None where nothing lies there.

    Args:
        boxes: where the states are drawn; stubs are no states.
        joined: those that an edge joins to it.
        state: where one is.
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


def _cost(way: QPointF, direction: tuple[int, int]) -> float | None:
    """How far, and how much to the side; None where it lies elsewhere."""
    length = math.hypot(way.x(), way.y())
    along = (way.x() * direction[0] + way.y() * direction[1]) / length if length else 0.0
    return length / along if along >= _WIDEST else None
