"""Sets of bytes in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.matching.byte_descriptions import byte_prose

BEYOND_ASCII = (0xC2, 0xF4)


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ((), "nothing"),
        (((0, 255),), "any byte"),
        (((65, 90),), "`A-Z`"),
        (((32, 32), (58, 58), (65, 90), (97, 122)), "`A-Z`, `a-z`, `:` or a space"),
        (((97, 98),), "`a` or `b`"),
        (((41, 57),), "`0-9`, `)`, `*`, `+`, `,`, `-`, `.` or `/`"),
        (((32, 34), (88, 97)), '`X-Z`, `!`, `"`, `[`, `\\`, `]`, `^`, `_`, `a` or 2 others'),
        (((32, 126),), "any visible ASCII character or a space"),
        (((33, 126),), "any visible ASCII character"),
        (((32, 127), BEYOND_ASCII), "any character except control characters"),
        (((32, 33), (35, 91), (93, 127), BEYOND_ASCII), 'any character except `"`, `\\` and control characters'),
        (((33, 33), (35, 91), (93, 126)), 'any visible ASCII character except `"` and `\\`'),
        (((34, 34), (125, 125)), '`"` or `}`'),
        (((10, 10),), "a line feed"),
        (((96, 96),), "a backtick"),
        (((0, 8),), "the bytes 00 to 08"),
        (((0, 9), (11, 127)), "any ASCII character except a line feed"),
        (((0, 9), (11, 127), BEYOND_ASCII), "any character except a line feed"),
        (((0, 33), (35, 91), (93, 127), BEYOND_ASCII), 'any character except `"` and `\\`'),
        (((0, 127), BEYOND_ASCII), "any character"),
        (((48, 57), BEYOND_ASCII), "`0-9` or any character beyond ASCII"),
        (((0xC3, 0xC3),), "a character from U+00C0 to U+00FF"),
        (((0xE0, 0xE2),), "a character from U+0800 to U+2FFF"),
        (((0xF0, 0xF4),), "a character from U+10000 to U+10FFFF"),
        (((0x80, 0xBF),), "the rest of a character (byte 80 to BF)"),
        (((0xFF, 0xFF),), "the byte FF"),
    ],
)
def test_ranges_in_words(ranges, words):
    assert byte_prose(ranges) == words


def test_a_long_list_is_cut_with_a_count():
    ranges = tuple((byte, byte) for byte in range(0x21, 0x7E, 4))
    assert byte_prose(ranges).endswith(f"or {len(ranges) - 9} others")


@given(st.sets(st.integers(0, 255)))
def test_any_set_has_short_words_without_control_characters(members):
    words = byte_prose(tuple((byte, byte) for byte in sorted(members)))
    assert words.isprintable()
    assert len(words) < 400
