"""Random JSON values for schemas and instances, and how Turnstile writes them.

Numbers are `Decimal`, so that any number of digits is exact. Empty arrays, objects and strings are frequent on purpose.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal
from typing import Any

NAMES = ("x", "y", "z", "xy", "", "é", "\U0001f600", 'a"b', "\\", "a\nb")
"""Names of members, from usual ones to ones that need escapes or four bytes."""

STRINGS = ("", "a", "b", "ab", "ba", "aab", "é", "\U0001f600", "\U0001f600a", '"', "\\n", "\n", "a\n", "\u2028", "\x7f")
FORMATTED = (
    "2024-02-29",
    "2023-02-29",
    "1.2.3.4",
    "01.2.3.4",
    "::1",
    "1::2::3",
    "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
)
"""Strings of the formats that schemas are made of, and strings that nearly are."""

NUMBERS = tuple(
    map(Decimal, ("0", "1", "2", "3", "-1", "10", "0.5", "-0.5", "1.5", "2.50", "0.1", "0.3", "1e2", "1e-7"))
)
HUGE_NUMBERS = tuple(
    map(Decimal, ("1e30", "1e300", "-1e300", "123456789012345678901234567890", "1e-30", "0.1234567890123456789012345"))
)

PATTERNS: dict[str, Callable[[str], bool]] = {
    "": lambda text: True,
    "a": lambda text: "a" in text,
    "^a": lambda text: text.startswith("a"),
    "b$": lambda text: text.endswith("b"),
    "^$": lambda text: text == "",
    "^[xy]+$": lambda text: text != "" and set(text) <= {"x", "y"},
    "^x|z": lambda text: text.startswith("x") or "z" in text,
    "^.$": lambda text: len(text) == 1 and text not in "\n\r\u2028\u2029",
    "[^a]": lambda text: any(character != "a" for character in text),
    "^(aa)*$": lambda text: set(text) <= {"a"} and len(text) % 2 == 0,
    "^(?!a)": lambda text: not text.startswith("a"),
    "\U0001f600": lambda text: "\U0001f600" in text,
    "^[\\s\\S]{2}$": lambda text: len(text) == 2,
}
"""Regular expressions with their meaning in ECMAScript; `$` is the very end there, unlike in Python."""


def make_scalar(rng: random.Random) -> Any:
    """Make a value without parts."""
    kind = rng.random()
    if kind < 0.25:
        return rng.choice((None, True, False))
    if kind < 0.6:
        return rng.choice(NUMBERS)
    if kind < 0.63:
        return rng.choice(HUGE_NUMBERS)
    return rng.choice(FORMATTED if rng.random() < 0.1 else STRINGS)


def make_value(rng: random.Random, depth: int, names: Sequence[str] = NAMES, pool: Sequence[Any] = ()) -> Any:
    """Make a value; some parts are taken from a pool."""
    if pool and rng.random() < 0.3:
        return rng.choice(pool)
    if depth == 0 or rng.random() < 0.3:
        return make_scalar(rng)
    size = rng.choice((0, 0, 1, 1, 2, 3))
    items = [make_value(rng, depth - 1, names, pool) for _ in range(size)]
    if size > 1 and rng.random() < 0.2:
        items[-1] = items[0]
    if rng.random() < 0.5:
        return items
    return {rng.choice(names): item for item in items}


def changed(value: Any, rng: random.Random, names: Sequence[str] = NAMES) -> Any:
    """Change one part of a value, or its size by one."""
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        without, inside = value[:at] + value[at + 1 :], changed(value[at], rng, names)
        longer = ([*value, make_value(rng, 1, names)], [*value, value[at]])
        return rng.choice((without, *longer, [*value[:at], inside, *value[at + 1 :]]))
    if isinstance(value, dict) and value:
        at = rng.choice(list(value))
        match rng.randrange(3):
            case 0:
                return {name: item for name, item in value.items() if name != at}
            case 1:
                return value | {rng.choice(names): make_value(rng, 1, names)}
        return value | {at: changed(value[at], rng, names)}
    if isinstance(value, Decimal) and value.adjusted() < 20:
        return rng.choice((value + 1, value - 1, -value, value * 2, value + Decimal("0.5")))
    if isinstance(value, str):
        return rng.choice((value + "a", value[1:], value * 2, value + "\U0001f600"))
    return make_value(rng, 1, names)


def values_in(schema: Any) -> Iterator[Any]:
    """Find the values that a schema mentions, so that instances come near them."""
    if isinstance(schema, list):
        for item in schema:
            yield from values_in(item)
    elif isinstance(schema, dict):
        for name, item in schema.items():
            if name == "enum":
                yield from item
            elif name == "const" or isinstance(item, Decimal):
                yield item
            else:
                yield from values_in(item)


def spell(value: Any, separators: tuple[str, str] = (",", ":")) -> str:
    """Write a value as Turnstile does: integers without fraction or exponent, the shortest escapes, no `-0`."""
    comma, colon = separators
    match value:
        case dict():
            members = (f"{spell(name)}{colon}{spell(item, separators)}" for name, item in value.items())
            return "{" + comma.join(members) + "}"
        case list():
            return "[" + comma.join(spell(item, separators) for item in value) + "]"
        case Decimal():
            return plain_number(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def plain_number(value: Decimal) -> str:
    """Write a number in digits, without trailing zeros of a fraction."""
    if value == 0:
        return "0"
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def spell_schema(schema: Any, rng: random.Random) -> str:
    """Write a schema; numbers are written in any form that JSON allows."""
    match schema:
        case dict():
            return "{" + ", ".join(f"{spell(name)}: {spell_schema(item, rng)}" for name, item in schema.items()) + "}"
        case list():
            return "[" + ", ".join(spell_schema(item, rng) for item in schema) + "]"
        case Decimal():
            return any_number(schema, rng)
        case _:
            return json.dumps(schema, ensure_ascii=rng.random() < 0.3)


def any_number(value: Decimal, rng: random.Random) -> str:
    """Write a number in one of its forms."""
    plain = plain_number(value)
    match rng.randrange(8):
        case 0:
            return plain + ("0" if "." in plain else ".0")
        case 1 if abs(value.adjusted()) < 100:
            shift = rng.randint(1, 3)
            return f"{plain_number(value.scaleb(-shift, EXACT))}{rng.choice('eE')}{rng.choice(('', '+'))}{shift}"
        case 2 if abs(value.adjusted()) < 100:
            shift = rng.randint(1, 3)
            return f"{plain_number(value.scaleb(shift, EXACT))}e-{shift}"
    return plain


EXACT = Context(prec=2000)
"""Enough digits for every number that is made here."""
