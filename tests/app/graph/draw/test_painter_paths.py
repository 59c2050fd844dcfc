"""Shapes as painter paths."""

import random
from itertools import pairwise

import pytest
from PySide6.QtCore import QPointF

from app.graph.draw import shapes


def chain(drawn: random.Random, curves: int, size: float):
    return tuple((drawn.uniform(0, size), drawn.uniform(0, size)) for _ in range(1 + 3 * curves))


@pytest.mark.parametrize(("size", "pieces"), [(100.0, 6), (40_000.0, 16)])
@pytest.mark.parametrize("curves", [1, 2, 5])
def test_straight_pieces_follow_their_curves(curves: int, size: float, pieces: int) -> None:
    drawn = random.Random(curves)
    for _ in range(20):
        one = chain(drawn, curves, size)
        curve, line = shapes.curves([one]), shapes.polylines([shapes.straightened(one)])
        assert line.elementAt(0).x == pytest.approx(curve.elementAt(0).x)
        ends = curve.currentPosition(), line.currentPosition()
        assert (ends[0] - ends[1]).manhattanLength() < 1e-6
        count = pieces * curves
        assert line.elementCount() == 1 + count
        points = [QPointF(*_point(one, curve, n / count)) for n in range(count + 1)]
        for point, at in zip(points, range(line.elementCount()), strict=True):
            element = line.elementAt(at)
            assert (point - QPointF(element.x, element.y)).manhattanLength() < 1e-6


def _point(one, curve, share):
    """Where the curve is after a share of its cubics, reckoned from its own elements."""
    elements = [(curve.elementAt(i).x, curve.elementAt(i).y) for i in range(curve.elementCount())]
    number = min(int(share * ((len(one) - 1) // 3)), (len(one) - 1) // 3 - 1)
    t = share * ((len(one) - 1) // 3) - number
    points = elements[3 * number : 3 * number + 4]
    while len(points) > 1:  # de Casteljau
        points = [((1 - t) * a[0] + t * b[0], (1 - t) * a[1] + t * b[1]) for a, b in pairwise(points)]
    return points[0]


def test_no_chain_is_an_empty_path() -> None:
    assert shapes.polylines([]).isEmpty()
