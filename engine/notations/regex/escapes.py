"""The common parts of both dialects' escapes: results, numbers, Unicode properties."""

from __future__ import annotations

from typing import Final, TypeAlias

from engine.grammar import CharSet
from engine.grammar.charset import LAST_CODE_POINT
from engine.notations.regex.anchors import Anchor
from engine.notations.regex.case import close
from engine.notations.regex.dialect import Dialect, Flags, fold_of
from engine.notations.regex.properties import loose_property, strict_property, suggestion
from engine.notations.regex.reader import HEX_DIGITS, RegexReader

Escape: TypeAlias = int | CharSet | Anchor | None
"""A code point, a complete set, a condition, or `None` after a reported error."""

SHORTHANDS: Final = frozenset("dDsSwW")
# Escapes of other engines that neither dialect has, with what to write instead.
FOREIGN: Final[dict[str, str]] = {
    "e": r"Write `\x1b` for the escape character",
    "h": r"Write `[ \t]` for horizontal white space",
    "R": r"Write `(?:\r\n|\n|\r)` for a line break",
    "X": "Grapheme clusters are not supported; write `.` for one code point",
    "K": "Captures play no role in matching in full; leave it out",
    "G": "Matching is in full; leave it out",
    "Q": "Quoting is not supported; escape each character",
    "E": "Quoting is not supported; escape each character",
    "m": r"Write `\b(?=\w)` for the start of a word",
    "M": r"Write `\b(?<=\w)` for the end of a word",
    "i": r"Write `[\p{L}_:]`; this one is known to XML Schema only",
    "o": r"Write the character's code in hexadecimal, as `\x41`",
}
DEFAULT_ADVICE: Final = r"Remove the backslash, or write `\\` for a backslash"


def refuse(reader: RegexReader, start: int, advice: str) -> None:
    """Report that the text from `start` is not an escape."""
    reader.report("regex-bad-escape", start, escape=reader.text_since(start), advice=advice)


def read_hex(reader: RegexReader, start: int, digits: int, form: str) -> int | None:
    """Read an exact number of hexadecimal digits.

    Args:
        reader: the reader of the pattern.
        start: the offset of the backslash.
        digits: the number of digits.
        form: an example for the message.
    """
    read = reader.take_while(HEX_DIGITS, digits)
    if len(read) < digits:
        reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=form)
        return None
    return int(read, 16)


def within_unicode(reader: RegexReader, start: int, code: int) -> int | None:
    """Return a code point; report it and return None if it is too large."""
    if code <= LAST_CODE_POINT:
        return code
    reader.report("regex-escape-too-large", start, escape=reader.text_since(start), last=f"U+{LAST_CODE_POINT:X}")
    return None


def read_property(reader: RegexReader, flags: Flags, start: int, *, complement: bool) -> CharSet | None:
    """Read the rest of `\\p{…}` or `\\P{…}`.

    Args:
        reader: the reader of the pattern.
        flags: the active flags.
        start: the offset of the backslash.
        complement: whether it is `\\P`.
    """
    if reader.accept("{"):
        name = reader.take_until("}")
    else:
        name = reader.take() if reader.dialect is Dialect.PYTHON and reader.peek().isalpha() else None
    if name is None:
        reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\p{L}")
        return None
    found = _lookup(name, reader.dialect, flags, complement=complement)
    if found is None:
        better = suggestion(name)
        advice = f"Write `{better}`" if better else r"Write a name such as `L`, `Lu`, `Alphabetic` or `Script=Greek`"
        reader.report("regex-unknown-property", start, name=name, advice=advice)
    return found


def _lookup(name: str, dialect: Dialect, flags: Flags, *, complement: bool) -> CharSet | None:
    if dialect is Dialect.PYTHON:
        found = loose_property(name, ignore_case=flags.ignore_case)
        return ~found if found is not None and complement else found
    found = strict_property(name)
    if found is None:
        return None
    # ECMAScript complements first and folds case second: `\P{Lu}` with i matches every letter.
    members = ~found if complement else found
    fold = fold_of(dialect, flags)
    return close(members, fold) if fold else members
