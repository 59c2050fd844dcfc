"""JSON values as hashable Python values, compared as JSON Schema compares.

Numbers are exact: `1`, `1.0` and `1e0` are one value, and `true` is not `1`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import Any, Final, TypeAlias


class JsonType(IntEnum):
    """The JSON type of a value, as its first byte shows it; `true` and `false` count as two types."""

    NULL = 0
    FALSE = 1
    TRUE = 2
    NUMBER = 3
    STRING = 4
    ARRAY = 5
    OBJECT = 6


EVERY_TYPE: Final = frozenset(JsonType)
WORDS: Final = {JsonType.NULL: b"null", JsonType.FALSE: b"false", JsonType.TRUE: b"true"}


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """A JSON array."""

    items: tuple[Value, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Computed once: the hash of a deeply nested value would recurse through all of it each time, on the C stack.
        object.__setattr__(self, "_hash", hash(self.items))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """A JSON object. Objects with the same members in another order are equal."""

    members: frozenset[tuple[str, Value]]
    order: tuple[str, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(self.members))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectValue) and self.members == other.members

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class JsonLiteral:
    """`null`, `false` or `true`."""

    kind: JsonType


@dataclass(frozen=True, slots=True)
class HugeNumber:
    """A number with more than `LARGEST` digits before or after its decimal point.

    Its value is 0.DIGITS times ten to the power of `point`. Such numbers are compared by these parts, since they
    could fill the memory as integers or fractions.

    Attributes:
        negative: whether it is below zero.
        digits: the significant digits, without zeros at either end.
        point: the position of the decimal point, counted from the first digit.
    """

    negative: bool
    digits: str
    point: int

    def __repr__(self) -> str:
        # Python refuses to convert a long integer to decimal digits.
        return f"HugeNumber({self.negative}, {self.digits!r}, {self.point:#x})"


Value: TypeAlias = JsonLiteral | Fraction | HugeNumber | str | ArrayValue | ObjectValue

NULL, FALSE, TRUE = JsonLiteral(JsonType.NULL), JsonLiteral(JsonType.FALSE), JsonLiteral(JsonType.TRUE)
LARGEST: Final = 1_000
"""The most digits before the decimal point, and after it, of numbers that arithmetic is done with."""

_INTEGER_DIGITS: Final = 4_000  # Python converts this many in one call


def number(text: str) -> Fraction | HugeNumber:
    """Return the exact value of a JSON number, of any length and with any exponent."""
    if len(text) < 20 and text.lstrip("-").isdecimal():
        return Fraction(int(text))
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, decimals = mantissa.lstrip("-").partition(".")
    written = whole + decimals
    significant = written.lstrip("0")
    digits = significant.rstrip("0")
    if not digits:
        return Fraction(0)
    point = len(whole) - (len(written) - len(significant))
    if exponent:
        power = integer(exponent.lstrip("+-"))
        point += -power if exponent.startswith("-") else power
    negative = text.startswith("-")
    after = len(digits) - point
    if point > LARGEST or after > LARGEST:
        return HugeNumber(negative, digits, point)
    value = Fraction(int(digits), 10**after) if after > 0 else Fraction(int(digits) * 10**-after)
    return -value if negative else value


def integer(digits: str) -> int:
    """Return the value of a string of decimal digits of any length."""
    if len(digits) <= _INTEGER_DIGITS:
        return int(digits)
    half = len(digits) // 2
    high: int = integer(digits[:-half]) * 10**half
    return high + integer(digits[-half:])


def json_type_of(value: Value) -> JsonType:
    """Return the JSON type of a value."""
    match value:
        case str():  # first, since most values are strings
            return JsonType.STRING
        case JsonLiteral():
            return value.kind
        case Fraction() | HugeNumber():
            return JsonType.NUMBER
        case ArrayValue():
            return JsonType.ARRAY
        case ObjectValue():
            return JsonType.OBJECT


def from_text(text: str) -> Value:
    """Return the value of a valid JSON text. Of members with the same key the last counts."""
    return from_plain(json.loads(text, parse_int=number, parse_float=number))


def from_plain(plain: Any) -> Value:
    """Return the value of what the `json` module decodes with `parse_int` and `parse_float` set to `number`."""
    if plain is None:
        return NULL
    if isinstance(plain, bool):
        return TRUE if plain else FALSE
    if isinstance(plain, Fraction | HugeNumber | str):
        return plain
    if isinstance(plain, list):
        return ArrayValue(tuple(from_plain(item) for item in plain))
    members = {key: from_plain(item) for key, item in plain.items()}
    return ObjectValue(frozenset(members.items()), tuple(members))
