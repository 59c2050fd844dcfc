"""The range of numbers that a conjunction allows."""

from __future__ import annotations

from fractions import Fraction

from engine.schema_automaton.formula.nodes import EnumValues, Formula, Maximum, Minimum, MultipleOf, Not
from engine.schema_automaton.formula.values import HugeNumber
from engine.schema_automaton.number_languages.huge import is_above, is_multiple


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
