"""Escapes of CPython's `re` (`Lib/re/_parser.py`), and `\\p{…}`."""

from __future__ import annotations

import unicodedata
from typing import Final

from engine.grammar import CharSet
from engine.notations.regex.anchors import Anchor
from engine.notations.regex.dialect import Dialect, Flags, shorthand
from engine.notations.regex.escapes import (
    DEFAULT_ADVICE,
    FOREIGN,
    SHORTHANDS,
    Escape,
    read_hex,
    read_property,
    refuse,
    within_unicode,
)
from engine.notations.regex.reader import DIGITS, OCTAL_DIGITS, RegexReader

_CONTROLS: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ANCHORS: Final = {
    "A": Anchor.TEXT_START,
    "Z": Anchor.TEXT_END,
    "b": Anchor.WORD_BOUNDARY,
    "B": Anchor.NOT_WORD_BOUNDARY,
}
_FORMS: Final = {"x": (2, r"\x41"), "u": (4, r"\u0041"), "U": (8, r"\U00000041")}
_ADVICE: Final = {
    **FOREIGN,
    "z": r"Write `\Z` for the end of the text",
    "k": "Write `(?P=name)`; backreferences themselves are not supported",
    "c": r"Write a control character by its code, as `\x03`",
}
_LAST_OCTAL: Final = 0o377
_WORDS: Final = {"d": "digits", "w": "letters, digits and underscores", "s": "white-space characters"}
_ASCII: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": r" \t\n\r\f\v"}


def read_python_escape(reader: RegexReader, flags: Flags, *, in_class: bool) -> Escape:
    """Read an escape; the backslash comes next."""
    start = reader.position
    reader.take()
    letter = reader.take()
    if not letter:
        reader.report("regex-trailing-backslash", start)
        return None
    if letter in SHORTHANDS:
        return _read_shorthand(reader, start, letter, flags, in_class=in_class)
    if letter in _ANCHORS and not in_class:
        return _ANCHORS[letter]
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    if letter in "pP":
        return read_property(reader, flags, start, complement=letter == "P")
    if letter in DIGITS:
        return _read_octal(reader, start, letter) if in_class else _read_number(reader, start, letter)
    return _read_character(reader, start, letter)


def _read_shorthand(reader: RegexReader, start: int, letter: str, flags: Flags, *, in_class: bool) -> CharSet:
    """Return the set of a shorthand; report a hint if it is a Unicode set, which few grammar authors want."""
    characters = shorthand(letter, Dialect.PYTHON, flags)
    if not flags.ascii:
        is_complement = letter.isupper()
        kind = letter.lower()
        members = ~characters if is_complement else characters
        reader.report(
            "regex-unicode-complement" if is_complement else "regex-unicode-class",
            start,
            text=f"\\{letter}",
            count=f"{len(members):,}",
            what=_WORDS[kind],
            advice=_ascii_advice(kind, flags, in_class=in_class, is_complement=is_complement),
        )
    return characters


def _ascii_advice(kind: str, flags: Flags, *, in_class: bool, is_complement: bool) -> str:
    """Return what to write for ASCII characters only."""
    aim = f"for {'all but ' * is_complement}ASCII {_WORDS[kind]}"
    # With `(?i)`, ranges of letters also match `ı`, `ſ` and the Kelvin sign.
    widens = kind == "w" and flags.ignore_case
    if in_class and (is_complement or widens):
        return f"Put the class in a group `(?a:…)` {aim}"
    if in_class:
        return f"Write `{_ASCII[kind]}` {aim}"
    if widens:
        return f"Write `(?a:\\{'W' if is_complement else 'w'})` {aim}"
    return f"Write `[{'^' * is_complement}{_ASCII[kind]}]` {aim}"


def _read_character(reader: RegexReader, start: int, letter: str) -> int | None:
    if letter in _FORMS:
        code = read_hex(reader, start, *_FORMS[letter])
        return None if code is None else within_unicode(reader, start, code)
    if letter == "N":
        return _read_name(reader, start)
    if letter.isascii() and letter.isalpha():
        refuse(reader, start, _ADVICE.get(letter, DEFAULT_ADVICE))
        return None
    return ord(letter)


def _read_name(reader: RegexReader, start: int) -> int | None:
    name = reader.take_until("}") if reader.accept("{") else None
    if not name:
        reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\N{EM DASH}")
        return None
    try:
        return ord(unicodedata.lookup(name))
    # a name may belong to a sequence of characters, and a surrogate has none
    except (KeyError, TypeError, UnicodeEncodeError):
        reader.report("regex-unknown-character-name", start, name=name)
        return None


def _read_octal(reader: RegexReader, start: int, first: str) -> int | None:
    if first not in OCTAL_DIGITS:
        refuse(reader, start, r"Write a character by its code, as `\x08`")
        return None
    return _octal(reader, start, first + reader.take_while(OCTAL_DIGITS, 2))


def _octal(reader: RegexReader, start: int, digits: str) -> int | None:
    code = int(digits, 8)
    if code <= _LAST_OCTAL:
        return code
    reader.report("regex-escape-too-large", start, escape=reader.text_since(start), last=r"\377, of octal escapes")
    return None


def _read_number(reader: RegexReader, start: int, first: str) -> int | None:
    # `\0` and three octal digits are a character; everything else refers to a group.
    if first == "0":
        return _octal(reader, start, first + reader.take_while(OCTAL_DIGITS, 2))
    number = first + reader.take_while(DIGITS, 1)
    if len(number) == 2 and set(number) <= OCTAL_DIGITS and reader.peek() in OCTAL_DIGITS:
        return _octal(reader, start, number + reader.take())
    known = int(number) <= reader.groups_opened
    reader.report("regex-backreference" if known else "regex-bad-reference", start, reference=reader.text_since(start))
    return None
