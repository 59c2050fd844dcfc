"""Escapes of ECMAScript's u mode (ECMA-262, section 22.2.1).

Real JSON Schemas escape more than u mode permits, such as `\\-` and `\\_`. Where annex B gives such an escape its only
sensible meaning, the character itself, it is accepted with a warning. An escaped letter or digit stays an error: the
author of `\\Z` or `\\h` does not mean a letter.
"""

from __future__ import annotations

from typing import Final

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
from engine.notations.regex.reader import DIGITS, HEX_DIGITS, RegexReader

_CONTROLS: Final = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ANCHORS: Final = {"b": Anchor.WORD_BOUNDARY, "B": Anchor.NOT_WORD_BOUNDARY}
_SYNTAX_CHARACTERS: Final = frozenset(r"^$\.*+?()[]{}|/")
_HIGH_SURROGATES: Final = range(0xD800, 0xDC00)
_LOW_SURROGATES: Final = range(0xDC00, 0xE000)
_ADVICE: Final = {
    **FOREIGN,
    "A": "Write `^` for the start of the text",
    "Z": "Write `$` for the end of the text",
    "z": "Write `$` for the end of the text",
    "a": r"Write `\x07` for the bell",
    "U": r"Write `\u{1F600}`",
    "N": r"Write the character's code, as `\u{2014}`",
    "B": r"In a class, write `\\B` for a backslash and a B",
}


def read_ecma_escape(reader: RegexReader, flags: Flags, *, in_class: bool) -> Escape:
    """Read an escape; the backslash comes next."""
    start = reader.position
    reader.take()
    letter = reader.take()
    if not letter:
        reader.report("regex-trailing-backslash", start)
        return None
    if letter in SHORTHANDS:
        return shorthand(letter, Dialect.ECMA, flags)
    if letter in _ANCHORS and not in_class:
        return _ANCHORS[letter]
    if letter in "pP":
        return read_property(reader, flags, start, complement=letter == "P")
    if letter in DIGITS:
        return _read_number(reader, start, letter, in_class=in_class)
    if letter == "k" and not in_class:
        _refuse_named_reference(reader, start)
        return None
    return _read_character(reader, start, letter, in_class=in_class)


def _read_character(reader: RegexReader, start: int, letter: str, *, in_class: bool) -> int | None:
    if letter in _SYNTAX_CHARACTERS or (in_class and letter == "-"):
        return ord(letter)
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    match letter:
        case "b":
            return ord("\b")
        case "x":
            return read_hex(reader, start, 2, r"\x41")
        case "u":
            return _read_unicode(reader, start)
        case "c":
            return _read_control(reader, start)
        case _:
            return _read_identity(reader, start, letter)


def _read_identity(reader: RegexReader, start: int, letter: str) -> int | None:
    if letter.isascii() and letter.isalpha():
        refuse(reader, start, _ADVICE.get(letter, DEFAULT_ADVICE))
        return None
    reader.report("regex-needless-escape", start, escape=reader.text_since(start), character=letter)
    return ord(letter)


def _read_unicode(reader: RegexReader, start: int) -> int | None:
    if reader.accept("{"):
        digits = reader.take_while(HEX_DIGITS, len(reader.text))
        if not digits or not reader.accept("}"):
            reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\u{1F600}")
            return None
        return within_unicode(reader, start, int(digits, 16))
    code = read_hex(reader, start, 4, r"\u0041")
    if code is not None and code in _HIGH_SURROGATES and reader.accept(r"\u"):
        low_digits = reader.take_while(HEX_DIGITS, 4)
        low = int(low_digits, 16) if len(low_digits) == 4 else 0
        if low in _LOW_SURROGATES:
            return 0x10000 + (code - _HIGH_SURROGATES.start) * 0x400 + (low - _LOW_SURROGATES.start)
        reader.position -= len(r"\u" + low_digits)
    return code


def _read_control(reader: RegexReader, start: int) -> int | None:
    letter = reader.peek()
    if letter.isascii() and letter.isalpha():
        return ord(reader.take()) % 32
    reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\cJ")
    return None


def _read_number(reader: RegexReader, start: int, first: str, *, in_class: bool) -> int | None:
    digits = first + reader.take_while(DIGITS, len(reader.text))
    if digits == "0":
        return 0
    if first == "0" or in_class:
        refuse(reader, start, r"Write a character by its code, as `\x01`")
    else:
        reader.report("regex-backreference", start, reference=reader.text_since(start))
    return None


def _refuse_named_reference(reader: RegexReader, start: int) -> None:
    if reader.accept("<") and reader.take_until(">"):
        reader.report("regex-backreference", start, reference=reader.text_since(start))
    else:
        reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\k<name>")
