"""Positions of the values of a JSON text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)')


@dataclass(frozen=True)
class ValueSpan:
    """A value, or the name of a property, in a JSON text.

    Attributes:
        path: the property names (as the text writes them) and indices from the root.
        start, end: offsets in the text.
        is_name: it is a name; `path` is that of its value.
    """

    path: tuple[str | int, ...]
    start: int
    end: int
    is_name: bool = False


def value_spans(text: str) -> tuple[ValueSpan, ...]:
    """Return the spans of all names and values of a valid JSON text; containers come after what they contain."""
    found: list[ValueSpan] = []
    _read(text, 0, (), found)
    return tuple(found)


def structural_offsets(text: str) -> list[int]:
    """Return the offsets after each brace, bracket, comma and colon except the last one: there JSON allows blanks."""
    return [token.end() for token in _TOKEN.finditer(text) if token[1] in "{}[],:"][:-1]


def _read(text: str, offset: int, path: tuple[str | int, ...], found: list[ValueSpan]) -> int:
    """Read one value; return the offset after it."""
    token = _TOKEN.match(text, offset)
    assert token is not None
    start, end = token.span(1)
    if token[1] in "{[":
        is_object, count = token[1] == "{", 0
        while True:
            following = _TOKEN.match(text, end)
            assert following is not None
            if following[1] in "}]":
                end = following.end()
                break
            if following[1] == ",":
                end = following.end()
                continue
            name: str | int = count
            if is_object:
                name = following[1][1:-1]
                found.append(ValueSpan((*path, name), *following.span(1), is_name=True))
                colon = _TOKEN.match(text, following.end())
                assert colon is not None
                end = colon.end()
            end = _read(text, end, (*path, name), found)
            count += 1
    found.append(ValueSpan(path, start, end))
    return end
