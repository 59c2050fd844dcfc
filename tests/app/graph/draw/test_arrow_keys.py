"""From state to state by the arrow keys."""

from __future__ import annotations

from PySide6.QtCore import QRectF

from app.graph.draw.view import state_towards


def boxes(**places: tuple[float, float]) -> dict[int, QRectF]:
    """Boxes by the letter after their name: `s3=(x, y)`; `m1` is the stub of state 0."""
    numbers = {name: int(name[1:]) if name[0] == "s" else -int(name[1:]) for name in places}
    return {numbers[name]: QRectF(x - 16, y - 16, 32, 32) for name, (x, y) in places.items()}


RIGHT, LEFT, UP, DOWN = (1, 0), (-1, 0), (0, -1), (0, 1)


def test_an_arrow_goes_to_the_nearest_state_there() -> None:
    drawn = boxes(s0=(0, 0), s1=(100, 0), s2=(200, 0), s3=(0, 90))
    assert state_towards(drawn, (), 0, RIGHT) == 1
    assert state_towards(drawn, (), 2, LEFT) == 1
    assert state_towards(drawn, (), 0, DOWN) == 3
    assert state_towards(drawn, (), 0, UP) is None


def test_an_edge_outweighs_a_little_distance() -> None:
    drawn = boxes(s0=(0, 0), s1=(90, 30), s2=(110, -30))
    assert state_towards(drawn, (), 0, RIGHT) == 1
    assert state_towards(drawn, {2}, 0, RIGHT) == 2


def test_a_stub_is_no_state() -> None:
    assert state_towards(boxes(s0=(0, 0), m1=(50, 0)), (), 0, RIGHT) is None
