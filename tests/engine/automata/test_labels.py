"""How byte sets are written on edges."""

from __future__ import annotations

import pytest

from engine.automata.labels import label


@pytest.mark.parametrize(
    ("ranges", "text"),
    [
        (((0x61, 0x7A),), "a-z"),
        (((0x0A, 0x0A),), "\\n"),
        (((0x20, 0x20),), "␣"),
        (((0x41, 0x42), (0x5F, 0x5F)), "AB _"),
        (((0x00, 0xFF),), "any byte"),
        (((0x00, 0x09), (0x0B, 0x7F)), "not \\n"),
        (((0x80, 0xBF),), "80-BF"),
    ],
)
def test_labels(ranges: tuple[tuple[int, int], ...], text: str) -> None:
    assert label(ranges) == text


def test_a_long_label_is_cut() -> None:
    ranges = tuple((b, b) for b in range(0x21, 0x7F, 2))
    assert len(label(ranges, width=10)) == 10
    assert label(ranges, width=10).endswith("…")
