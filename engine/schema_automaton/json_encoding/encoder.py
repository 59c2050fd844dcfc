"""The JSON encodings of a character within a string: raw UTF-8, short escapes, `\\uXXXX`, surrogate pairs.

After RFC 8259, section 7. Three sets of encodings are in use, see `Escapes`; everything
that reads or writes strings takes the encodings of characters from here.

The digits of an escape that JSON requires are in lower case where there is one encoding
only: Python's `json`, ECMAScript's `JSON.stringify`, serde_json, nlohmann's json (llama.cpp),
Go and RFC 8785 (section 3.2.2.2) all write `\\u001f`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from engine.grammar import CharSet

SHORT: Final[Mapping[int, bytes]] = {
    0x22: b'"',
    0x5C: b"\\",
    0x2F: b"/",
    0x08: b"b",
    0x0C: b"f",
    0x0A: b"n",
    0x0D: b"r",
    0x09: b"t",
}
"""The characters with a two-character escape, and its second character."""

RAW: Final = ~CharSet(((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0xD800, 0xDFFF)))
"""The characters that may be unescaped."""

_EVERY: Final = CharSet(((0x00, 0x10FFFF),))
_ABOVE_ASCII: Final = CharSet(((0x80, 0xD7FF), (0xE000, 0x10FFFF)))
_NONE: Final = CharSet(())
_REQUIRED: Final = ~RAW - CharSet.of((code, code) for code in SHORT)
"""The characters that have no encoding but `\\uXXXX`: control characters, and unpaired surrogates."""


class Escapes(StrEnum):
    """The escapes that a JSON string may contain.

    `shortest`: those that JSON requires, each in its shortest form, so that every string has one encoding.
    `above-ascii`: these, `\\uXXXX` of characters above U+007F, and `\\/`: what common writers produce.
    `any`: all that JSON has.
    """

    SHORTEST = "shortest"
    ABOVE_ASCII = "above-ascii"
    ANY = "any"

    @property
    def of_free_values(self) -> Escapes:
        """Return the escapes of string values that no assertion constrains."""
        return Escapes.ABOVE_ASCII if self is Escapes.SHORTEST else self

    @property
    def short(self) -> Mapping[int, bytes]:
        """Return the characters with a two-character escape, and its second character."""
        return _ESCAPED[self].short

    @property
    def lower_case(self) -> CharSet:
        """Return the characters that `\\uXXXX` may encode with all digits in lower case."""
        return _ESCAPED[self].lower_case

    @property
    def either_case(self) -> CharSet:
        """Return the characters that `\\uXXXX` may encode with each digit in either case."""
        return _ESCAPED[self].either_case


class _Escaped(NamedTuple):
    short: Mapping[int, bytes]
    lower_case: CharSet
    either_case: CharSet


_ESCAPED: Final = {
    Escapes.SHORTEST: _Escaped({code: short for code, short in SHORT.items() if code not in RAW}, _REQUIRED, _NONE),
    Escapes.ABOVE_ASCII: _Escaped(SHORT, _REQUIRED, _ABOVE_ASCII),
    Escapes.ANY: _Escaped(SHORT, _NONE, _EVERY),
}


@lru_cache(maxsize=65536)
def spellings(code: int, escapes: Escapes) -> tuple[tuple[bytes, ...], ...]:
    """Return the encodings of one character, each as the bytes that are allowed at each position."""
    found: list[tuple[bytes, ...]] = []
    if code in RAW:
        found.append(tuple(bytes([byte]) for byte in chr(code).encode("utf-8", "surrogatepass")))
    if code in escapes.short:
        found.append((b"\\", escapes.short[code]))
    is_either = code in escapes.either_case
    if is_either or code in escapes.lower_case:
        units = [code] if code < 0x10000 else [0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code & 0x3FF)]
        digits = hex_digit if is_either else lower_hex_digit
        found.append(
            tuple(
                position for unit in units for position in (b"\\", b"u", *(digits(int(d, 16)) for d in f"{unit:04x}"))
            )
        )
    return tuple(found)


def hex_digit(digit: int) -> bytes:
    """Return the encodings of a hexadecimal digit."""
    text = f"{digit:x}"
    return (text + text.upper()).encode() if digit > 9 else text.encode()


def lower_hex_digit(digit: int) -> bytes:
    """Return the encoding of a hexadecimal digit in lower case."""
    return f"{digit:x}".encode()
