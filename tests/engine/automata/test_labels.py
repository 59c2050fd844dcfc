"""How byte sets are written on edges."""

from __future__ import annotations

import pytest

from engine.automata.labels import class_label, label


@pytest.mark.parametrize(
    ("ranges", "text"),
    [
        (((0x61, 0x7A),), "a-z"),
        (((0x0A, 0x0A),), "\\n"),
        (((0x20, 0x20),), "␣"),
        (((0x41, 0x42), (0x5F, 0x5F)), "A B _"),
        (((0x31, 0x32),), "1 2"),
        (((0x20, 0x20), (0x29, 0x39)), "␣ ) * + , - . / 0-9"),
        (((0x20, 0x21), (0x58, 0x61)), "␣ ! X-Z [ \\ ] ^ _ ` a"),
        (((0x41, 0x46), (0x61, 0x66)), "A-F a-f"),
        (((0x21, 0x7E),), "!-~"),
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


@pytest.mark.parametrize(
    ("ranges", "text"),
    [
        (((0x31, 0x32),), "[12]"),
        (((0x30, 0x39), (0x61, 0x7A)), "[0-9a-z]"),
        (((0x00, 0x21), (0x23, 0x5B), (0x5D, 0x7F)), '[^"\\]'),
        (((0x00, 0xFF),), "[any byte]"),
    ],
)
def test_within_a_text_a_set_is_written_as_a_regex_has_it(ranges: tuple[tuple[int, int], ...], text: str) -> None:
    assert class_label(ranges) == text
