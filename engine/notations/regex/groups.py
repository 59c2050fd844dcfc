"""Opening parentheses: a group, a lookaround, flags, a comment, or an error.

A capture does not change which strings match, so named and numbered groups are only counted and checked. A refused
construct still opens a plain group if it has a body, so that its closing parenthesis is not reported as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from engine.notations.regex.dialect import Dialect, Flags
from engine.notations.regex.flags import read_flags
from engine.notations.regex.reader import RegexReader
from engine.source import Span


@dataclass(frozen=True, slots=True)
class LookaroundOpening:
    """The kind of a lookaround."""

    ahead: bool
    negated: bool


@dataclass(frozen=True, slots=True)
class Opening:
    """A group whose body follows.

    Attributes:
        span: the opening itself, such as `(?:`.
        flags: the active flags in the body.
        look: set for a lookaround.
        atomic: whether only the first match of the body counts.
    """

    span: Span
    flags: Flags
    look: LookaroundOpening | None = None
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class GlobalFlags:
    """`(?i)`: flags for the whole pattern."""

    flags: Flags


@dataclass(frozen=True, slots=True)
class Comment:
    """`(?#…)`: no effect."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A reported construct without a body, which matches no string."""


Start: TypeAlias = Opening | GlobalFlags | Comment | Refused

_LOOKS: Final = {
    "?=": LookaroundOpening(ahead=True, negated=False),
    "?!": LookaroundOpening(ahead=True, negated=True),
    "?<=": LookaroundOpening(ahead=False, negated=False),
    "?<!": LookaroundOpening(ahead=False, negated=True),
}
# As in `re`, a backslash pair is one character here too: `\)` does not end a comment.
_COMMENT_END: Final = re.compile(r"(?:[^\\)]|\\.)*+\)", re.DOTALL)
_RECURSION: Final = re.compile(r"\?(?:R|0|[+-]?[0-9]+|&\w+|P>\w+)\)")
_NAME_ADVICE: Final = {
    Dialect.PYTHON: "Write `(?P<name>…)` for a named group, or `(?:…)`",
    Dialect.ECMA: "Write `(?<name>…)` for a named group, or `(?:…)`",
}


def read_opening(reader: RegexReader, flags: Flags, *, at_start: bool) -> Start:
    """Read what a parenthesis opens; the `(` comes next.

    Args:
        reader: the reader of the pattern.
        flags: the active flags around the group.
        at_start: whether only flags and comments precede it.
    """
    start = reader.position
    reader.take()
    if reader.peek() != "?":
        reader.groups_opened += 1
        return Opening(reader.since(start), flags)
    for mark, look in _LOOKS.items():
        if reader.accept(mark):
            return Opening(reader.since(start), flags, look)
    if reader.accept("?:"):
        return Opening(reader.since(start), flags)
    refused = _read_irregular(reader, start, flags)
    if refused is not None:
        return refused
    if reader.dialect is Dialect.ECMA:
        return _read_ecma(reader, start, flags)
    return _read_python(reader, start, flags, at_start=at_start)


def _read_irregular(reader: RegexReader, start: int, flags: Flags) -> Start | None:
    """Read a construct that no dialect supports, because it is not regular or does not define a language."""
    if reader.accept("?>"):
        if reader.dialect is Dialect.ECMA:
            reader.report("regex-atomic", start)
        return Opening(reader.since(start), flags, atomic=reader.dialect is Dialect.PYTHON)
    recursion = _RECURSION.match(reader.text, reader.position)
    if recursion:
        reader.position = recursion.end()
        reader.report("regex-recursion", start, opening=reader.text_since(start))
        return Refused()
    if reader.accept("?("):
        reader.take_until(")")
        reader.report("regex-conditional", start, opening=reader.text_since(start))
        return Opening(reader.since(start), flags)
    return None


def _read_python(reader: RegexReader, start: int, flags: Flags, *, at_start: bool) -> Start:
    if reader.accept("?P<"):
        return _read_name(reader, start, flags)
    if reader.accept("?P="):
        name = reader.take_until(")")
        if name is None:
            reader.report("regex-unclosed-group-name", start, closing=")")
            return Opening(reader.since(start), flags)
        code = "regex-backreference" if name in reader.group_names else "regex-bad-reference"
        reader.report(code, start, reference=reader.text_since(start))
        return Refused()
    if reader.peek(1) == "#":
        end = _COMMENT_END.match(reader.text, reader.position)
        if end is None:
            reader.position += 2
            reader.report("regex-unclosed-comment", start)
            reader.abandon()
        else:
            reader.position = end.end()
        return Comment()
    return _read_flags(reader, start, flags, at_start=at_start)


def _read_ecma(reader: RegexReader, start: int, flags: Flags) -> Start:
    if reader.accept("?<"):
        return _read_name(reader, start, flags)
    return _read_flags(reader, start, flags, at_start=False)


def _read_flags(reader: RegexReader, start: int, flags: Flags, *, at_start: bool) -> Start:
    reader.accept("?")
    if not (reader.peek() == "-" or (reader.peek().isalpha() and reader.peek() != "P")):
        return _unknown(reader, start, flags)
    change = read_flags(reader, start, flags)
    if change is None:
        # Invalid flags still open a group, or are an item without a body.
        is_unit = reader.text[reader.position - 1] == ")"
        return Comment() if is_unit else Opening(reader.since(start), flags)
    if change.is_scoped:
        return Opening(reader.since(start), change.flags)
    if not at_start:
        reader.report("regex-flags-not-at-start", start, flags=reader.text_since(start)[2:-1])
        return Comment()
    return GlobalFlags(change.flags)


def _unknown(reader: RegexReader, start: int, flags: Flags) -> Opening:
    mark = reader.take()
    advice = "Write `(?:…)` for a group without a capture"
    if mark in {"P", "<", "'"}:
        reader.accept("<")
        advice = _NAME_ADVICE[reader.dialect]
    elif mark == "#":
        advice = "ECMAScript has no comments in patterns; leave it out"
    elif mark == "":
        advice = r"Write `\(\?` for the text"
    reader.report("regex-unknown-group", start, opening=reader.text_since(start), advice=advice)
    return Opening(reader.since(start), flags)


def _read_name(reader: RegexReader, start: int, flags: Flags) -> Opening:
    reader.groups_opened += 1
    name_start = reader.position
    name = reader.take_until(">")
    if name is None:
        reader.report("regex-unclosed-group-name", start, closing=">")
        return Opening(reader.since(start), flags)
    span = Span(name_start, name_start + len(name))
    is_ecma = reader.dialect is Dialect.ECMA
    if not (name.replace("$", "_") if is_ecma else name).isidentifier():
        reader.findings.add("regex-bad-group-name", span, name=name)
    elif name in reader.group_names:
        # Since ES2025 another alternative may repeat a name; names do not change the language.
        reader.findings.add("regex-repeated-group-name" if is_ecma else "regex-duplicate-group-name", span, name=name)
    reader.group_names.add(name)
    return Opening(reader.since(start), flags)
