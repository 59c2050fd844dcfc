"""Bracketed classes: `[…]` to a set of characters.

Case folding widens literals and ranges before the class is negated, so that `(?i)[^k]` contains neither `K` nor the
Kelvin sign. Shorthands and properties are complete already.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from engine.grammar import CharSet
from engine.notations.regex.case import close
from engine.notations.regex.dialect import Dialect, Flags, fold_of
from engine.notations.regex.reader import RegexReader
from engine.source import Span, checkpoint

Member = int | CharSet | None
ReadMember = Callable[[], Member]

_POSIX: Final = re.compile(r"\[:\^?([a-z]+):\]")
_INSTEAD_OF_POSIX: Final = {
    "alnum": r"[\p{L}\p{Nd}]",
    "alpha": r"\p{L}",
    "ascii": r"[\x00-\x7f]",
    "blank": r"[ \t]",
    "cntrl": r"\p{Cc}",
    "digit": r"\d",
    "graph": r"[^\s\p{C}]",
    "lower": r"\p{Ll}",
    "print": r"[^\p{C}]",
    "punct": r"\p{P}",
    "space": r"\s",
    "upper": r"\p{Lu}",
    "word": r"\w",
    "xdigit": r"[0-9A-Fa-f]",
}
_OPERATOR: Final = re.compile(r"(--)\[|(&&)(?!&)")
_OPERATOR_ADVICE: Final = {
    "--": "Put a lookahead before the class, such as `(?![aeiou])[a-z]`",
    "&&": "Put a lookahead before the class, such as `(?=[a-f])[aeiou]`",
}
_DASH: Final = ord("-")


class _Members:
    """The members of a class: code points that case folding widens, and sets that it does not."""

    def __init__(self) -> None:
        self._foldable: list[tuple[int, int]] = []
        self._complete: list[tuple[int, int]] = []

    def add(self, member: Member) -> None:
        if isinstance(member, int):
            self._foldable.append((member, member))
        elif member is not None:
            self._complete.extend(member.ranges)

    def add_range(self, low: int, high: int) -> None:
        self._foldable.append((low, high))

    def closed(self, dialect: Dialect, flags: Flags) -> CharSet:
        fold = fold_of(dialect, flags)
        if fold is None:
            return CharSet.of((*self._foldable, *self._complete))
        return CharSet.of((*close(CharSet.of(self._foldable), fold).ranges, *self._complete))


def read_class(reader: RegexReader, flags: Flags, read_escape: ReadMember) -> CharSet | None:
    """Read a class; its `[` comes next.

    Args:
        reader: the reader of the pattern.
        flags: the active flags.
        read_escape: reads an escape inside a class.

    Returns:
        The set, or `None` if the class is not closed, which is reported.
    """
    start = reader.position
    _warn_of_posix(reader)
    reader.take()
    negated = reader.accept("^")
    opening = reader.since(start)
    members = _Members()
    # A leading `]` is a member in Python; in ECMAScript it makes an empty or a full class.
    first = reader.dialect is Dialect.PYTHON
    while first or not reader.accept("]"):
        checkpoint()
        if reader.at_end:
            reader.findings.add("regex-unclosed-class", opening, opening=reader.text[opening.start : opening.end])
            reader.abandon()
            return None
        _warn_of_operators(reader, first=first)
        _read_item(reader, members, read_escape)
        first = False
    characters = members.closed(reader.dialect, flags)
    return ~characters if negated else characters


def _read_item(reader: RegexReader, members: _Members, read_escape: ReadMember) -> None:
    start = reader.position
    low = _read_member(reader, read_escape)
    if reader.peek() != "-" or reader.peek(1) in {"]", ""}:
        members.add(low)
        return
    reader.take()
    high = _read_member(reader, read_escape)
    text = reader.text_since(start)
    if isinstance(low, int) and isinstance(high, int):
        if low <= high:
            members.add_range(low, high)
            _warn_of_letter_range(reader, start, text)
        else:
            reader.report("regex-reversed-range", start, range=text)
    elif low is not None and high is not None:
        # ECMAScript's annex B reads a dash beside a set as a literal; `re` refuses it.
        is_ecma = reader.dialect is Dialect.ECMA
        reader.report("regex-dash-after-set" if is_ecma else "regex-bad-range", start, range=text)
        for member in (low, _DASH, high):
            members.add(member)


def _read_member(reader: RegexReader, read_escape: ReadMember) -> Member:
    if reader.peek() == "\\":
        return read_escape()
    _warn_of_posix(reader)
    return ord(reader.take())


def _warn_of_posix(reader: RegexReader) -> None:
    match = _POSIX.match(reader.text, reader.position) if reader.peek() == "[" else None
    if match and match[1] in _INSTEAD_OF_POSIX:
        reader.findings.add(
            "regex-posix-class", Span(*match.span()), text=match[0], instead=_INSTEAD_OF_POSIX[match[1]]
        )


def _warn_of_operators(reader: RegexReader, *, first: bool) -> None:
    if first or reader.peek() not in {"-", "&"}:
        return
    match = _OPERATOR.match(reader.text, reader.position)
    if match:
        operator = match[1] or match[2]
        span = Span(match.start(), match.start() + len(operator))
        reader.findings.add("regex-class-operator", span, operator=operator, advice=_OPERATOR_ADVICE[operator])


def _warn_of_letter_range(reader: RegexReader, start: int, text: str) -> None:
    if len(text) == 3 and "A" <= text[0] <= "Z" and "a" <= text[2] <= "z":
        reader.report("regex-letter-range", start, range=text, instead=f"{text[0]}-Za-{text[2]}")
