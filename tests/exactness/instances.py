"""Instances near those of a corpus, and how they are written so that the engine has to take them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from engine import CompiledGrammar
from engine.automata.byte_automaton import DEAD

SCALARS: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    7,
    100,
    Decimal("0.5"),
    Decimal("-2.25"),
    "",
    "a",
    "é😀",
    "2024-02-29",
)
_MOST_STEPS = 5_000  # of one search for the order


def mutated(instance: Any, chance: random.Random) -> Any:
    """The instance with one thing changed in it: a member or an item more or less, another value, another order."""
    if isinstance(instance, dict) and instance and chance.random() < 0.7:
        key = chance.choice(list(instance))
        return instance | {key: mutated(instance[key], chance)}
    if isinstance(instance, list) and instance and chance.random() < 0.7:
        at = chance.randrange(len(instance))
        return [*instance[:at], mutated(instance[at], chance), *instance[at + 1 :]]
    return chance.choice(list(_neighbours(instance, chance)))


def _neighbours(value: Any, chance: random.Random) -> Iterator[Any]:
    yield chance.choice(SCALARS)
    yield chance.choice(([], {}, [value], {"a": value}))
    match value:
        case dict():
            yield value | {chance.choice(("a", "zz", "foo", "é")): chance.choice(SCALARS)}
            keys = list(value)
            if keys:
                gone = chance.choice(keys)
                yield {key: value[key] for key in keys if key != gone}
                yield {key: value[key] for key in chance.sample(keys, len(keys))}
        case list():
            yield [*value, chance.choice(SCALARS)]
            if value:
                yield value[:-1]
                yield [*value, chance.choice(value)]
                yield chance.sample(value, len(value))
        case str():
            yield from (value + "x", value[:-1], value.upper(), value * 3, '"\\/\b\u2028' + value)
        case bool():
            yield not value
        case int() | Decimal():
            yield from (value + 1, -value, value * 10, value + Decimal("0.5"))


def spell(value: Any, *, blank: str, ascii_only: bool) -> str:
    """A value as JSON: integers without a fraction, as the engine writes them, a blank behind commas and colons."""
    match value:
        case dict():
            members = (
                f"{json.dumps(key, ensure_ascii=ascii_only)}:{blank}{spell(item, blank=blank, ascii_only=ascii_only)}"
                for key, item in value.items()
            )
            return "{" + f",{blank}".join(members) + "}"
        case list():
            return "[" + f",{blank}".join(spell(item, blank=blank, ascii_only=ascii_only) for item in value) + "]"
        case Decimal():
            return str(int(value)) if value == value.to_integral_value() else str(value)
        case _:
            return json.dumps(value, ensure_ascii=ascii_only)


class OrderSearch:
    """Looks for an order of an instance's members that a grammar takes.

    It tries the order in which the keys stand in the schema's text first, which is nearly always it, and then every
    other that does not end at once.
    """

    def __init__(self, grammar: CompiledGrammar) -> None:
        self._grammar = grammar
        self._steps = 0

    def accepts(self, instance: Any) -> bool | None:
        """Whether some order is accepted; None where the search outgrows its effort."""
        self._steps = 0
        automaton = self._grammar.automaton
        ends = self._value(instance, automaton.start)
        if any(automaton.accepts(end) for end in ends):
            return True
        return None if self._steps > _MOST_STEPS else False

    def _value(self, value: Any, configuration: int) -> Iterator[int]:
        """Where a value may lead, one order after the other."""
        self._steps += 1
        if configuration == DEAD or self._steps > _MOST_STEPS:
            return
        match value:
            case dict():
                keys = sorted(value, key=self._place)
                yield from self._members(value, keys, self._run(configuration, "{"), first=True)
            case list():
                yield from self._items(value, self._run(configuration, "["), first=True)
            case _:
                yield self._run(configuration, spell(value, blank="", ascii_only=False))

    def _members(self, value: dict[str, Any], keys: list[str], configuration: int, *, first: bool) -> Iterator[int]:
        if configuration == DEAD:
            return
        if not keys:
            yield self._run(configuration, "}")
        for key in keys:
            head = ("" if first else ",") + json.dumps(key, ensure_ascii=False) + ":"
            for end in self._value(value[key], self._run(configuration, head)):
                yield from self._members(value, [other for other in keys if other != key], end, first=False)

    def _items(self, items: list[Any], configuration: int, *, first: bool) -> Iterator[int]:
        if configuration == DEAD:
            return
        if not items:
            yield self._run(configuration, "]")
            return
        for end in self._value(items[0], configuration if first else self._run(configuration, ",")):
            yield from self._items(items[1:], end, first=False)

    def _run(self, configuration: int, text: str) -> int:
        return self._grammar.automaton.run(configuration, text.encode("utf-8", "surrogatepass"))

    def _place(self, key: str) -> int:
        at = self._grammar.source.text.find(json.dumps(key, ensure_ascii=False))
        return at if at >= 0 else len(self._grammar.source.text)
