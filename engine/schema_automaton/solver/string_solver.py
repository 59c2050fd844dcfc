"""A solver of formulas over strings: their languages, and which strings satisfy them.

Keys of objects are strings too, so the machines of objects need this part of the solver,
and it needs none of the others.
"""

from __future__ import annotations

from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import (
    And,
    Constant,
    EnumValues,
    ExactlyOne,
    Formula,
    Location,
    Not,
    Or,
    PropertyConstraint,
    Text,
    holds_for_string,
    names_in,
)
from engine.schema_automaton.formula.values import JsonType
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.solver.normal_form import TypeProjector
from engine.schema_automaton.string_languages.language import EnumLanguage, StringLanguage, TextLanguage, any_string
from engine.schema_automaton.string_languages.witnesses import Witnesses
from engine.source import Limits, checkpoint


class StringSolver:
    """The formulas over strings of one grammar.

    Attributes:
        arena: the factory of formulas.
        limits: the limits of automata.
        escapes: the escapes that strings may contain.
        witnesses: sample strings of patterns, and the automata of conditions.
    """

    def __init__(self, arena: Arena, limits: Limits, escapes: Escapes, projector: TypeProjector) -> None:
        self.arena = arena
        self.limits = limits
        self.escapes = escapes
        self._projector = projector
        self._keys: dict[PropertyConstraint, tuple[Formula, dict[str, None]]] = {}
        self._languages: dict[Formula, TextLanguage] = {}
        self._free_languages: dict[Formula, TextLanguage] = {}
        self.witnesses = Witnesses(limits, escapes)

    def project(self, formula: Formula) -> Formula:
        """Return a formula projected to strings, without `ExactlyOne`."""
        if isinstance(formula, EnumValues) and set(map(type, formula.values)) == {str}:
            return formula
        return self._without_exactly_one(self._projector.project(formula, JsonType.STRING))

    def keys(self, constraint: PropertyConstraint) -> tuple[Formula, dict[str, None]]:
        """Return the keys that an assertion constrains, as a projected formula, and its names in source order."""
        known = self._keys.get(constraint)
        if known is None:
            keys = constraint.keys
            formula = self.arena.widened(self.project(keys))
            names = keys.values if formula is keys and isinstance(keys, EnumValues) else names_in(formula)
            known = self._keys[constraint] = formula, dict.fromkeys(map(str, names))
        return known

    def holds(self, formula: Formula, text: str) -> bool:
        """Return whether a string satisfies a projected formula."""
        return holds_for_string(formula, text, self._judge)

    def _judge(self, formula: Formula, text: str) -> bool:
        match formula:
            case Text():
                checkpoint()
                return self.language(formula).holds(text)
            case ExactlyOne():
                return self.holds(self._without_exactly_one(formula), text)
            case _:
                raise AssertionError(formula)

    def _without_exactly_one(self, formula: Formula) -> Formula:
        """Return a formula with each `ExactlyOne` expanded into conjunctions and disjunctions."""
        arena = self.arena
        match formula:
            case ExactlyOne():
                items = [self._without_exactly_one(item) for item in formula.items]
                if _are_disjoint(items):
                    return arena.any_of(items)
                checkpoint(len(formula.items) ** 2)
                return arena.any_of(
                    arena.all_of([item, *(arena.negate(other) for j, other in enumerate(items) if j != i)])
                    for i, item in enumerate(items)
                )
            case Not(item=ExactlyOne()):
                return arena.negate(self._without_exactly_one(formula.item))
            case And():
                return arena.all_of(self._without_exactly_one(item) for item in formula.items)
            case Or():
                return arena.any_of(self._without_exactly_one(item) for item in formula.items)
            case _:
                return formula

    # ------------------------------------------------------------------ languages

    def language(self, formula: Formula) -> TextLanguage:
        """Return the language of a projected formula, encoded as names and constrained strings are."""
        if formula is self.arena.true:
            return any_string(self.escapes)
        language = self._languages.get(formula)
        if language is None:
            language = self._languages[formula] = TextLanguage(formula, self.witnesses)
        return language

    def _free_language(self, formula: Formula) -> TextLanguage:
        """Return the language of strings that no keyword constrains, except that some values may be excluded."""
        escapes = self.escapes.of_free_values
        if formula is self.arena.true:
            return any_string(escapes)
        if escapes is self.escapes:
            return self.language(formula)
        language = self._free_languages.get(formula)
        if language is None:
            language = self._free_languages[formula] = TextLanguage(formula, Witnesses(self.limits, escapes))
        return language

    def value_languages(self, formula: Formula) -> list[StringLanguage]:
        """Return the languages of string values that satisfy a formula: those listed, and all others."""
        formula = self._without_exactly_one(formula)
        checkpoint(4)
        alternatives = formula.items if isinstance(formula, Or) else (formula,)
        values: dict[str, None] = {}
        location: Location | None = None
        rest: list[Formula] = []
        for alternative in alternatives:
            items = alternative.items if isinstance(alternative, And) else (alternative,)
            listed = min(filter(_enumerations, items), key=lambda item: len(_enumerations(item)), default=None)
            if listed is None:
                rest.append(alternative)
                continue
            others = [item for item in items if item is not listed]
            for enumeration in _enumerations(listed):
                location = location or enumeration.location
                checkpoint(len(enumeration.values) * len(items))
                for value in enumeration.values:
                    if isinstance(value, str) and all(self.holds(item, value) for item in others):
                        values[value] = None
        languages: list[StringLanguage] = []
        if location is not None and values:
            languages.append(EnumLanguage(values, location, self.escapes))
        if rest:
            left = self.arena.any_of(rest)
            languages.append(self._free_language(left) if _is_free(left) else self.language(left))
        return languages


def _are_disjoint(items: list[Formula]) -> bool:
    """Return whether the items are lists of values of which no two share one."""
    lists = [item.members for item in items if isinstance(item, EnumValues)]
    return len(lists) == len(items) and len(frozenset().union(*lists)) == sum(map(len, lists))


def _enumerations(formula: Formula) -> tuple[EnumValues, ...]:
    """Return the enumerations that list all values of a formula; none if it has other values."""
    items = formula.items if isinstance(formula, Or) else (formula,)
    enumerations = tuple([item for item in items if isinstance(item, EnumValues)])
    return enumerations if len(enumerations) == len(items) else ()


def _is_free(formula: Formula) -> bool:
    """Return whether a formula over strings is only satisfied by strings that no keyword constrains.

    To differ from earlier items of an array with `uniqueItems` does not count as a constraint.
    """
    parts = formula.items if isinstance(formula, And) else (formula,)
    return all(
        part.value
        if isinstance(part, Constant)
        else isinstance(part, Not) and isinstance(part.item, EnumValues) and part.item.seen
        for part in parts
    )
