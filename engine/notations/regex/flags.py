"""Inline flags: `(?i)`, `(?i-s:…)`.

Python has `a i m s u x`, for the whole pattern at its start or for a group; `L` depends on the machine's locale and is
refused. ECMAScript has `i m s`, for a group only (its modifiers, ES2025).
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from engine.notations.regex.dialect import Dialect, Flags
from engine.notations.regex.reader import RegexReader

_LIST: Final = re.compile(r"([^\W\d_]*)(?:(-)([^\W\d_]*))?([:)])")
_LETTERS_AND_DASH: Final = frozenset(string.ascii_letters + "-")
_KNOWN: Final = {Dialect.PYTHON: frozenset("aimsux"), Dialect.ECMA: frozenset("ims")}
_ADVICE_ON_KNOWN: Final = {
    Dialect.PYTHON: "The flags are `a`, `i`, `m`, `s`, `u` and `x`",
    Dialect.ECMA: "The flags are `i`, `m` and `s`",
}


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
        _report(reader, start, "it ends in neither `:` nor `)`", "Write `(?i)` or `(?i:…)`")
        return None
    reader.position = match.end()
    written = _FlagList(match[1], match[2] is not None, match[3] or "", match[4] == ":")
    if "L" in written.added + written.removed:
        reader.report("regex-locale-flag", start)
        return None
    problem = next(_problems(written, reader.dialect, flags), None)
    if problem is not None:
        _report(reader, start, *problem)
        return None
    changed = flags
    for letter in written.added:
        changed = _switched(changed, letter, on=True)
    for letter in written.removed:
        changed = _switched(changed, letter, on=False)
    return FlagChange(changed, written.is_scoped)


def _report(reader: RegexReader, start: int, why: str, advice: str) -> None:
    reader.report("regex-bad-flags", start, flags=reader.text_since(start), why=why, advice=advice)


def _problems(written: _FlagList, dialect: Dialect, flags: Flags) -> Iterator[tuple[str, str]]:
    """Yield the errors of a list, each with advice, the most helpful first."""
    letters = written.added + written.removed
    unknown = [letter for letter in letters if letter not in _KNOWN[dialect]]
    if unknown:
        yield f"there is no flag `{unknown[0]}`", _ADVICE_ON_KNOWN[dialect]
    if set(written.added) & set(written.removed):
        yield "a flag is switched on and off", "Leave one of them out"
    if dialect is Dialect.ECMA:
        yield from _ecma_problems(written)
        return
    if written.dash and not written.removed:
        yield "no flag follows the `-`", "Name a flag, or leave the `-` out"
    if written.dash and not written.is_scoped:
        yield "flags can be switched off for a group only", "Write `(?-i:…)` around what they are for"
    if set(written.removed) & set("au"):
        yield "`a` and `u` cannot be switched off", "Switch the other one on instead"
    # A scoped `a` replaces the `u` around it; two lists for the whole pattern contradict each other.
    has_ascii = "a" in written.added or (not written.is_scoped and flags.ascii)
    has_unicode = "u" in written.added or (not written.is_scoped and flags.unicode)
    if has_ascii and has_unicode:
        yield "`a` and `u` exclude each other", "Leave one of them out"


def _ecma_problems(written: _FlagList) -> Iterator[tuple[str, str]]:
    letters = written.added + written.removed
    if not written.is_scoped:
        yield "ECMAScript has flags for groups only", f"Write `(?{written.added or 'i'}:…)` around the pattern"
    if not letters:
        yield "it names no flag", "Name a flag, or write `(?:…)`"
    if len(set(letters)) < len(letters):
        yield "a flag is named twice", "Name it once"


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
