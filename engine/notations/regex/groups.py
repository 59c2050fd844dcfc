"""Opening parentheses: a group, a lookaround, inline flags, a comment, or an error.

A capture does not change which strings match, so named and numbered groups are only counted and checked. A refused
construct still opens a plain group if it has a body, so that its closing parenthesis is not reported as well.

Python has the flags `a i m s u x`, for the whole pattern at its start or for a group; `L` depends on the machine's
locale and is refused. ECMAScript has `i m s`, for a group only (its modifiers, ES2025).
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from engine.notations.regex.dialect import Dialect, Flags
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
    key = "regex-unknown-group"
    if mark in {"P", "<", "'"}:
        reader.accept("<")
        key = f"regex-unknown-group.{reader.dialect}-name"
    elif mark == "#":
        key = "regex-unknown-group.comment"
    elif mark == "":
        key = "regex-unknown-group.text"
    reader.report(key, start, opening=reader.text_since(start))
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


_LIST: Final = re.compile(r"([^\W\d_]*)(?:(-)([^\W\d_]*))?([:)])")
_LETTERS_AND_DASH: Final = frozenset(string.ascii_letters + "-")
_KNOWN: Final = {Dialect.PYTHON: frozenset("aimsux"), Dialect.ECMA: frozenset("ims")}


@dataclass(frozen=True, slots=True)
class FlagChange:
    """The flags after an inline flag list, and whether they apply only to the group that it opens."""

    flags: Flags
    is_scoped: bool


@dataclass(frozen=True, slots=True)
class _FlagList:
    added: str
    dash: bool
    removed: str
    is_scoped: bool


def read_flags(reader: RegexReader, start: int, flags: Flags) -> FlagChange | None:
    """Read a list of flags after `(?`, with its closing `:` or `)`.

    Args:
        reader: the reader of the pattern.
        start: the offset of the parenthesis.
        flags: the active flags.

    Returns:
        `None` if the list is invalid, which is reported.
    """
    match = _LIST.match(reader.text, reader.position)
    if match is None:
        reader.take_while(_LETTERS_AND_DASH, len(reader.text))
        reader.report("regex-bad-flags.unfinished", start, flags=reader.text_since(start))
        return None
    reader.position = match.end()
    written = _FlagList(match[1], match[2] is not None, match[3] or "", match[4] == ":")
    if "L" in written.added + written.removed:
        reader.report("regex-locale-flag", start)
        return None
    problem = next(_problems(written, reader.dialect, flags), None)
    if problem is not None:
        key, fields = problem
        reader.report(key, start, flags=reader.text_since(start), **fields)
        return None
    changed = flags
    for letter in written.added:
        changed = _switched(changed, letter, on=True)
    for letter in written.removed:
        changed = _switched(changed, letter, on=False)
    return FlagChange(changed, written.is_scoped)


def _problems(written: _FlagList, dialect: Dialect, flags: Flags) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the errors of a list, each as the key of a diagnostic and its fields, the most helpful first."""
    letters = written.added + written.removed
    unknown = [letter for letter in letters if letter not in _KNOWN[dialect]]
    if unknown:
        yield f"regex-bad-flags.{dialect}-unknown", {"letter": unknown[0]}
    if set(written.added) & set(written.removed):
        yield "regex-bad-flags.on-and-off", {}
    if dialect is Dialect.ECMA:
        yield from _ecma_problems(written)
        return
    if written.dash and not written.removed:
        yield "regex-bad-flags.nothing-off", {}
    if written.dash and not written.is_scoped:
        yield "regex-bad-flags.off-for-all", {}
    if set(written.removed) & set("au"):
        yield "regex-bad-flags.always-on", {}
    # A scoped `a` replaces the `u` around it; two lists for the whole pattern contradict each other.
    has_ascii = "a" in written.added or (not written.is_scoped and flags.ascii)
    has_unicode = "u" in written.added or (not written.is_scoped and flags.unicode)
    if has_ascii and has_unicode:
        yield "regex-bad-flags.exclusive", {}


def _ecma_problems(written: _FlagList) -> Iterator[tuple[str, dict[str, str]]]:
    letters = written.added + written.removed
    if not written.is_scoped:
        yield "regex-bad-flags.ecma-for-all", {"added": written.added or "i"}
    if not letters:
        yield "regex-bad-flags.empty", {}
    if len(set(letters)) < len(letters):
        yield "regex-bad-flags.twice", {}


def _switched(flags: Flags, letter: str, *, on: bool) -> Flags:
    match letter:
        case "i":
            return replace(flags, ignore_case=on)
        case "m":
            return replace(flags, multiline=on)
        case "s":
            return replace(flags, dot_all=on)
        case "x":
            return replace(flags, verbose=on)
        case "a":
            return replace(flags, ascii=True, unicode=False)
        case _:
            return replace(flags, ascii=False, unicode=True)
