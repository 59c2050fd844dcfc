"""Residual formulas of objects that have too many alternatives to expand.

Usually a formula over objects becomes a few machines, one for each alternative. Five
schemas under `oneOf`, each of eight optional properties, have more than 4,000
alternatives. Then the formula itself becomes part of the state: every assertion about
members in it is open until a member violates it, or no such member can come any more.
Each member's value is taken to satisfy an open assertion or not, and the formula is
simplified accordingly. So the object is read by a product automaton of its
assertions, and only the combinations that some value can bring about are visited.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.schema_automaton.formula.nodes import (
    And,
    Constant,
    EnumValues,
    ExactlyOne,
    Formula,
    Not,
    Or,
    PropertyConstraint,
    names_in,
)
from engine.schema_automaton.solver.string_solver import StringSolver
from engine.source import checkpoint


class ResidualConditions:
    """A boolean formula over assertions about members.

    Attributes:
        whole: the formula.
        atoms: the keys of each assertion, as a formula over strings, and what their values must satisfy.
        names: the names that it mentions. They get a position in the order of properties, so that the members that
            distinguish the alternatives, which people write first, are known before the rest is read.
        about_others: the assertions about keys that are not listed, as a bit set.
    """

    def __init__(self, strings: StringSolver, formulas: list[Formula]) -> None:
        self._arena = strings.arena
        self.whole = strings.arena.all_of(formulas)
        self._numbers: dict[Formula, int] = {}
        self.atoms: list[tuple[Formula, Formula]] = []
        self.names: dict[str, None] = {}
        self._collect(strings, self.whole)
        self._open: dict[Formula, int] = {}
        self._known: dict[tuple[Formula, int, bool], Formula] = {}
        self.about_others = sum(1 << i for i, (keys, _) in enumerate(self.atoms) if not isinstance(keys, EnumValues))
        self._of_one_name = {
            keys.values[0]: 0 for keys, _ in self.atoms if isinstance(keys, EnumValues) and len(keys.values) == 1
        }
        for number, (keys, _) in enumerate(self.atoms):
            if isinstance(keys, EnumValues) and len(keys.values) == 1:
                self._of_one_name[keys.values[0]] |= 1 << number

    def _collect(self, strings: StringSolver, formula: Formula) -> None:
        checkpoint()
        match formula:
            case And() | Or() | ExactlyOne():
                for item in formula.items:
                    self._collect(strings, item)
            case Not():
                self._collect(strings, formula.item)
            case PropertyConstraint():
                keys = strings.project(formula.keys)
                if strings.arena.is_doubtful(keys):  # both the keys in the set and those outside are needed exactly
                    strings.limits.check("errors.limit.inexact_keys", 1, 0)
                if formula not in self._numbers:
                    self._numbers[formula] = len(self.atoms)
                    self.atoms.append((keys, formula.value))
                self.names.update(dict.fromkeys(names_in(keys)))
            case _:
                assert isinstance(formula, Constant)

    def open(self, residual: Formula) -> int:
        """Return the assertions that a residual formula still contains, as a bit set."""
        known = self._open.get(residual)
        if known is None:
            match residual:
                case And() | Or() | ExactlyOne():
                    known = 0
                    for item in residual.items:
                        known |= self.open(item)
                case Not():
                    known = self.open(residual.item)
                case PropertyConstraint():
                    known = 1 << self._numbers[residual]
                case _:
                    known = 0
            self._open[residual] = known
        return known

    def assume(self, residual: Formula, atoms: int, holds: bool) -> Formula:
        """Return what is left of a formula once some assertions are known to hold, or not to hold.

        Args:
            residual: the residual formula.
            atoms: the assertions, as a bit set.
            holds: whether they hold.
        """
        checkpoint()
        if not self.open(residual) & atoms:
            return residual
        key = (residual, atoms, holds)
        known = self._known.get(key)
        if known is None:
            arena = self._arena
            checkpoint(1 + len(getattr(residual, "items", ())))
            match residual:
                case And():
                    known = arena.all_of([self.assume(item, atoms, holds) for item in residual.items])
                case Or():
                    known = arena.any_of([self.assume(item, atoms, holds) for item in residual.items])
                case ExactlyOne():
                    known = arena.exactly_one([self.assume(item, atoms, holds) for item in residual.items])
                case Not():
                    known = arena.negate(self.assume(residual.item, atoms, holds))
                case _:
                    known = arena.constant(holds)
            self._known[key] = known
        return known

    def holds_at_end(self, residual: Formula) -> bool:
        """Return whether a residual formula is true if no member follows, so that no assertion can be violated."""
        return self.assume(residual, -1, holds=True) is self._arena.true

    def of_name(self, name: str) -> int:
        """Return the assertions about one name alone, as a bit set."""
        return self._of_one_name.get(name, 0)

    def split_goals(
        self, is_satisfiable: Callable[[Formula], bool], start: tuple[Formula, Formula], atoms: int, name: str | None
    ) -> list[tuple[Formula, Formula]]:
        """Split a member's goal by the open assertions about its key.

        Args:
            is_satisfiable: decides whether some value satisfies a goal.
            start: what the value must satisfy in any case, and the residual formula before it.
            atoms: the assertions about its key, as a bit set.
            name: the key, if it is one of the names.

        Returns:
            For each combination that has values: what the value must satisfy, and the residual formula after it.
        """
        arena, alone = self._arena, 0 if name is None else self.of_name(name)
        found = [start]
        while atoms:
            bit = atoms & -atoms
            atoms ^= bit
            _, value = self.atoms[bit.bit_length() - 1]
            split: list[tuple[Formula, Formula]] = []
            checkpoint(4 * len(found))
            for so_far, residual_before in found:
                if not self.open(residual_before) & bit:
                    split.append((so_far, residual_before))
                    continue
                kept = self.assume(residual_before, bit, holds=True) if alone & bit else residual_before
                for part, rest in (
                    (value, kept),
                    (arena.negate(value), self.assume(residual_before, bit, holds=False)),
                ):
                    whole = arena.all_of((so_far, part))
                    if rest is not arena.false and is_satisfiable(whole):
                        split.append((whole, rest))
            found = split
        return found
