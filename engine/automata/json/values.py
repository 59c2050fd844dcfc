"""JSON values as hashable Python values, compared as JSON Schema compares.

Numbers are exact: `1`, `1.0` and `1e0` are one value, and `true` is not `1`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any, Final, TypeAlias


class Kind(IntEnum):
    """What a JSON value is; its first byte tells."""

    NULL = 0
    FALSE = 1
    TRUE = 2
    NUMBER = 3
    STRING = 4
    ARRAY = 5
    OBJECT = 6


EVERY_KIND: Final = frozenset(Kind)
WORDS: Final = {Kind.NULL: b"null", Kind.FALSE: b"false", Kind.TRUE: b"true"}


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """A JSON array."""

    items: tuple[Value, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Once: that of a value nested deep would go down all of it each time, on C's stack.
        object.__setattr__(self, "_hash", hash(self.items))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """A JSON object; two with the same members in another order are equal."""

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
class Word:
    """`null`, `false` or `true`."""

    kind: Kind


Value: TypeAlias = Word | Fraction | str | ArrayValue | ObjectValue

NULL, FALSE, TRUE = Word(Kind.NULL), Word(Kind.FALSE), Word(Kind.TRUE)
_LARGEST_EXPONENT = 10_000


class HugeNumberError(ValueError):
    """A number whose digits would fill the memory."""


def number(text: str) -> Fraction:
    """The exact value of a JSON number.

    Raises:
        HugeNumberError: its exponent is beyond what is worked with.
    """
    if len(text) < 20 and text.lstrip("-").isdecimal():
        return Fraction(int(text))
    mantissa, _, exponent = text.lower().partition("e")
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > _LARGEST_EXPONENT):
        if not mantissa.strip("-0."):
            return Fraction(0)
        raise HugeNumberError(text)
    return Fraction(Decimal(text)) if len(text) < 1000 or exponent else _long(text)


def _long(text: str) -> Fraction:
    whole, _, fraction = text.partition(".")
    scale = 10 ** len(fraction)
    digits = whole.lstrip("-") + fraction
    value = Fraction(sum(int(d) * 10**i for i, d in enumerate(reversed(digits))), scale)
    return -value if text.startswith("-") else value


def kind_of(value: Value) -> Kind:
    """What a value is."""
    match value:
        case str():  # first, since it is what most are
            return Kind.STRING
        case Word():
            return value.kind
        case Fraction():
            return Kind.NUMBER
        case ArrayValue():
            return Kind.ARRAY
        case ObjectValue():
            return Kind.OBJECT


def from_text(text: str) -> Value:
    """The value of a JSON text that is known to be valid and without duplicate keys of concern (the last counts)."""
    return from_plain(json.loads(text, parse_int=number, parse_float=number))


def from_plain(plain: Any) -> Value:
    """The value of what the `json` module reads when numbers become fractions."""
    if plain is None:
        return NULL
    if isinstance(plain, bool):
        return TRUE if plain else FALSE
    if isinstance(plain, Fraction | str):
        return plain
    if isinstance(plain, list):
        return ArrayValue(tuple(from_plain(item) for item in plain))
    members = {key: from_plain(item) for key, item in plain.items()}
    return ObjectValue(frozenset(members.items()), tuple(members))
