"""A solver of conjunctions over numbers: the range that they allow, and its languages."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from engine.schema_automaton.formula.nodes import (
    And,
    EnumValues,
    Formula,
    Maximum,
    Minimum,
    MultipleOf,
    Not,
    sorted_spans,
)
from engine.schema_automaton.formula.values import HugeNumber
from engine.schema_automaton.number_languages.huge import (
    LanguageOf,
    LanguageWithout,
    is_above,
    is_multiple,
    language_of,
    without,
)
from engine.schema_automaton.number_languages.language import NumberLanguage, number_language
from engine.schema_automaton.number_languages.listed import ListedNumbers
from engine.source import Span, checkpoint

AnyNumberLanguage: TypeAlias = NumberLanguage | LanguageWithout | LanguageOf | ListedNumbers


class NumberRange:
    """The range of numbers that a conjunction allows, with its exceptions."""

    __slots__ = (
        "excluded",
        "excluded_huge",
        "least",
        "least_strict",
        "most",
        "most_strict",
        "multiples",
        "not_multiples",
        "written",
    )

    def __init__(self) -> None:
        self.least: Fraction | None = None
        self.most: Fraction | None = None
        self.least_strict = self.most_strict = False
        self.multiples: list[Fraction] = []
        self.not_multiples: list[Fraction] = []
        self.excluded: set[Fraction] = set()
        self.excluded_huge: set[HugeNumber] = set()
        self.written = False

    def add(self, literal: Formula) -> None:
        """Narrow the range by an assertion or a negated one; an `EnumValues` has to be negated."""
        negated = isinstance(literal, Not)
        atom = literal.item if isinstance(literal, Not) else literal
        match atom:
            case Minimum() if not negated:
                self._at_least(atom.value, atom.strict)
            case Minimum():
                self._at_most(atom.value, not atom.strict)
            case Maximum() if not negated:
                self._at_most(atom.value, atom.strict)
            case Maximum():
                self._at_least(atom.value, not atom.strict)
            case MultipleOf() if not negated:
                self.multiples.append(atom.value)
                self.written = self.written or atom.written
            case MultipleOf():
                self.not_multiples.append(atom.value)
            case EnumValues() if negated:
                self.excluded |= {value for value in atom.values if isinstance(value, Fraction)}
                self.excluded_huge |= {value for value in atom.values if isinstance(value, HugeNumber)}
            case _:
                raise AssertionError(atom)

    def _at_least(self, value: Fraction, strict: bool) -> None:
        if self.least is None or (value, strict) > (self.least, self.least_strict):
            self.least, self.least_strict = value, strict

    def _at_most(self, value: Fraction, strict: bool) -> None:
        if self.most is None or (value, not strict) < (self.most, not self.most_strict):
            self.most, self.most_strict = value, strict

    def within(self, value: Fraction | HugeNumber) -> bool:
        """Return whether a value lies between the bounds."""
        if isinstance(value, HugeNumber):
            is_low = self.least is not None and not is_above(value, self.least)
            return not is_low and (self.most is None or not is_above(value, self.most))
        if self.least is not None and (value < self.least or (self.least_strict and value == self.least)):
            return False
        return self.most is None or value < self.most or (value == self.most and not self.most_strict)

    def holds(self, value: Fraction | HugeNumber) -> bool:
        """Return whether a value is in the range and satisfies all other conditions."""
        if isinstance(value, HugeNumber):
            return (
                self.within(value)
                and value not in self.excluded_huge
                and all(is_multiple(value, one) for one in self.multiples)
                and not any(is_multiple(value, one) for one in self.not_multiples)
            )
        return (
            self.within(value)
            and value not in self.excluded
            and all((value / one).denominator == 1 for one in self.multiples)
            and all((value / one).denominator != 1 for one in self.not_multiples)
        )


class NumberPiece:
    """A language of numbers, compared by identity, with the conjunction that it comes from."""

    __slots__ = ("_conjunction", "accepts", "language", "start", "step")

    def __init__(self, language: AnyNumberLanguage, conjunction: tuple[Formula, ...]) -> None:
        self.language = language
        self._conjunction = conjunction
        self.start = language.start
        self.step = language.step
        self.accepts = language.accepts

    def spans(self, state: object) -> tuple[Span, ...]:
        """Return the source locations of the conjunction, whatever the state."""
        return sorted_spans(self._conjunction)


class NumberSolver:
    """The conjunctions over numbers of one grammar.

    Args:
        any_numbers: whether integers and listed numbers may be written in every form that JSON has.
    """

    def __init__(self, *, any_numbers: bool) -> None:
        self._any_numbers = any_numbers
        # Memoised: with `uniqueItems`, each item requests the ranges between all earlier numbers.
        self._language: Callable[..., NumberLanguage] = cache(number_language)
        self._list: Callable[[tuple[Fraction, ...]], ListedNumbers] = cache(ListedNumbers)

    def pieces(self, conjunction: tuple[Formula, ...]) -> list[NumberPiece]:
        """Return the languages of the numbers that satisfy a conjunction."""
        bounds = NumberRange()
        values: list[Fraction | HugeNumber] | None = None
        checkpoint(8 * (1 + len(conjunction)))
        for item in conjunction:
            if isinstance(item, EnumValues):
                given = [value for value in item.values if isinstance(value, Fraction | HugeNumber)]
                values = given if values is None else [value for value in values if value in item.members]
            else:
                bounds.add(item)
        languages = self._ranges(bounds) if values is None else self._listed(bounds, values)
        return [NumberPiece(language, conjunction) for language in languages]

    def _listed(self, bounds: NumberRange, values: list[Fraction | HugeNumber]) -> list[AnyNumberLanguage]:
        """Return languages of the listed numbers within a range."""
        checkpoint(8 * len(values))
        fitting = [value for value in dict.fromkeys(values) if bounds.holds(value)]
        usual = tuple(value for value in fitting if isinstance(value, Fraction))
        huge = frozenset(value for value in fitting if isinstance(value, HugeNumber))
        found: list[AnyNumberLanguage] = []
        if self._any_numbers:
            found += [self._language(minimum=value, maximum=value) for value in usual]
        elif usual:
            found.append(self._list(usual))
        if huge:
            found.append(language_of(huge, written=bounds.written))
        return found

    def _ranges(self, bounds: NumberRange) -> list[AnyNumberLanguage]:
        """Return the languages of the ranges between the excluded numbers."""
        edges = sorted(value for value in bounds.excluded if bounds.within(value))
        huge = frozenset(bounds.excluded_huge)
        languages: list[AnyNumberLanguage] = []
        checkpoint(32 * (1 + len(edges)))
        lowest: tuple[Fraction | None, bool] = (bounds.least, bounds.least_strict)
        for edge in [*edges, None]:
            least, strict = lowest
            most, most_strict = (bounds.most, bounds.most_strict) if edge is None else (edge, True)
            lowest = (edge, True)
            language = self._language(
                minimum=None if strict else least,
                exclusive_minimum=least if strict else None,
                maximum=None if most_strict else most,
                exclusive_maximum=most if most_strict else None,
                multiple_of=tuple(bounds.multiples),
                not_multiple_of=tuple(bounds.not_multiples),
                integer=bounds.written,
            )
            languages.append(without(language, huge) if huge else language)
        return languages


def is_plain_range(formula: Formula) -> bool:
    """Return whether a formula obviously has a solution among numbers, since it has at most one bound."""
    items = formula.items if isinstance(formula, And) else (formula,)
    return sum(isinstance(item, Minimum | Maximum) for item in items) < 2 and all(
        isinstance(item, Minimum | Maximum | MultipleOf) for item in items
    )
