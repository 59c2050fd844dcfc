"""Fast decisions about formulas over strings, by sample strings and by prefixes that exclude each other.

Whether any string satisfies a formula is decided by a search over the product of its
conditions. Building that product costs milliseconds, and most formulas do not need it:
one of the shortest strings of a pattern often satisfies all other conditions, and two
patterns that begin with different texts have no string in common. A sample that
satisfies the formula is a proof, and so are two such prefixes; if there is neither, the
search decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.automata.byte_automaton import DEAD
from engine.schema_automaton.formula.nodes import (
    And,
    Constant,
    EnumValues,
    Formula,
    Length,
    Not,
    Or,
    Text,
    holds_for_string,
)
from engine.schema_automaton.json_encoding.encoded_automaton import shortest_strings
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.conditions import Component, Components, component
from engine.source import Limits, checkpoint

_FEW: Final = 3
_MANY: Final = 64
_LONGEST_PREFIX: Final = 64
_COMMON: Final = ("", "a", "~", "0", "-", "A", "\u2603", "aa", "a0", "zz")
"""Samples for formulas that require no pattern."""


class _UnknownError(Exception):
    """A condition has no automaton over character classes."""


class Witnesses:
    """Sample strings and prefixes of the patterns of one grammar.

    Attributes:
        limits: the limits of the automata.
        escapes: the escapes that strings may contain.
        components: the automata of the conditions.
    """

    def __init__(self, limits: Limits, escapes: Escapes) -> None:
        self.limits = limits
        self.escapes = escapes
        self.components: Components = {}
        self._samples: dict[Text, list[str]] = {}
        self._prefixes: dict[Text, str] = {}

    def verdict(self, formula: Formula) -> bool | None:
        """Return whether some string satisfies a formula; None if only a search can tell."""
        parts = dict.fromkeys(formula.items if isinstance(formula, And) else (formula,))
        try:
            return self._verdict(parts)
        except _UnknownError:
            return None

    def _verdict(self, parts: dict[Formula, None]) -> bool | None:
        checkpoint(1 + len(parts))
        if any(part.item in parts if isinstance(part, Not) else _is_false(part) for part in parts):
            return False
        choice = next((part for part in parts if isinstance(part, Or)), None)
        if choice is not None:
            others = [part for part in parts if part is not choice]
            return _any_of(
                self._verdict(dict.fromkeys([*others, *(item.items if isinstance(item, And) else (item,))]))
                for item in choice.items
            )
        patterns = [part for part in parts if isinstance(part, Text)]
        if any(self._exclude(one, other) for one in patterns for other in patterns if one is not other):
            return False
        return True if any(self._satisfies(parts, text) for text in self._candidates(parts, patterns)) else None

    def strings(self, formula: Formula, most: int) -> list[str]:
        """Return up to `most` strings that satisfy a formula; none does not mean that there are none."""
        parts = dict.fromkeys(formula.items if isinstance(formula, And) else (formula,))
        patterns = [part for part in parts if isinstance(part, Text)]
        try:
            candidates = dict.fromkeys(self._candidates(parts, patterns, most))
            return [text for text in candidates if self._satisfies(parts, text)][:most]
        except _UnknownError:
            return []

    def _candidates(self, parts: dict[Formula, None], patterns: list[Text], more: int = _FEW) -> Iterator[str]:
        """Yield strings that may satisfy a conjunction, `more` of a pattern than there are excluded ones."""
        excluded = (part.item for part in parts if isinstance(part, Not) and isinstance(part.item, EnumValues))
        most = min(more + sum(len(each.values) for each in excluded), _MANY)
        for part in parts:
            if isinstance(part, EnumValues):
                yield from (value for value in part.values[:_MANY] if isinstance(value, str) and value.isascii())
        for pattern in patterns:
            yield from self._samples_of(pattern, most)
        if not patterns:
            least = max((part.least for part in parts if isinstance(part, Length)), default=0)
            yield from _COMMON
            if least:
                yield from (text * least for text in _COMMON)

    def _samples_of(self, pattern: Text, most: int) -> list[str]:
        samples = self._samples.get(pattern)
        if samples is None or len(samples) < most:
            automaton = self._automaton(pattern)
            assert automaton.char_classes is not None
            samples = self._samples[pattern] = shortest_strings(automaton, automaton.char_classes, most)
        return samples[:most]

    def _exclude(self, one: Text, other: Text) -> bool:
        """Return whether all strings of one pattern begin with a text that no string of another begins with."""
        return self._run(other, self._prefix_of(one)) == DEAD

    def _prefix_of(self, pattern: Text) -> str:
        """Return a text with which all strings of a pattern begin."""
        prefix = self._prefixes.get(pattern)
        if prefix is None:
            automaton, prefix = self._automaton(pattern), ""
            assert automaton.char_classes is not None
            state, only = automaton.start, automaton.char_classes.single_characters
            while state != DEAD and not automaton.accepts(state) and len(prefix) < _LONGEST_PREFIX:
                live = [(number, to) for number, to in enumerate(automaton.row(state)) if to != DEAD]
                if len(live) != 1 or only[live[0][0]] is None:
                    break
                prefix += chr(only[live[0][0]] or 0)
                state = live[0][1]
            self._prefixes[pattern] = prefix
        return prefix

    def _satisfies(self, parts: dict[Formula, None], text: str) -> bool:
        checkpoint(len(parts))
        return all(holds_for_string(part, text, self._matches) for part in parts)

    def _matches(self, formula: Formula, text: str) -> bool:
        """Return whether a string is in the language of a pattern."""
        assert isinstance(formula, Text), formula
        state = self._run(formula, text)
        return state != DEAD and bool(self._automaton(formula).accepts(state))

    def _run(self, pattern: Text, text: str) -> int:
        """Return the state of the automaton of a pattern after a text."""
        automaton = self._automaton(pattern)
        assert automaton.char_classes is not None
        state, class_of, of_byte = automaton.start, automaton.char_classes.of, automaton.classes.of_byte
        for character in text:
            if state == DEAD:
                break
            state = automaton.step(state, of_byte[class_of(ord(character))])
        return state

    def _automaton(self, pattern: Text) -> Component:
        automaton = component(pattern, self.limits, self.escapes, self.components, by_characters=True)
        if automaton is None:
            raise _UnknownError
        return automaton


def _is_false(formula: Formula) -> bool:
    return isinstance(formula, Constant) and not formula.value


def _any_of(verdicts: Iterator[bool | None]) -> bool | None:
    """Return the verdict on a disjunction."""
    unknown = False
    for verdict in verdicts:
        if verdict:
            return True
        unknown = unknown or verdict is None
    return None if unknown else False
