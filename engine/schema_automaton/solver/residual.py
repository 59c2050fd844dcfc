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

from typing import TYPE_CHECKING

from engine.schema_automaton.formula.nodes import (
    And,
    Constant,
    EnumValues,
    ExactlyOne,
    Formula,
    Not,
    Or,
    PropertyConstraint,
)
from engine.schema_automaton.solver.key_classes import names_in
from engine.source import checkpoint

if TYPE_CHECKING:
    from engine.schema_automaton.solver.solver import SchemaSolver


class ResidualConditions:
    """A boolean formula over assertions about members.

    Attributes:
        whole: the formula.
        atoms: the keys of each assertion, as a formula over strings, and what their values must satisfy.
        names: the names that it mentions. They get a position in the order of properties, so that the members that
            distinguish the alternatives, which people write first, are known before the rest is read.
        about_others: the assertions about keys that are not listed, as a bit set.
    """

    def __init__(self, goals: SchemaSolver, formulas: list[Formula]) -> None:
        self._arena = goals.arena
        self.whole = goals.arena.all_of(formulas)
        self._numbers: dict[Formula, int] = {}
        self.atoms: list[tuple[Formula, Formula]] = []
        self.names: dict[str, None] = {}
        self._collect(goals, self.whole)
        self._open: dict[Formula, int] = {}
        self._known: dict[tuple[Formula, int, bool], Formula] = {}
        self.about_others = sum(1 << i for i, (keys, _) in enumerate(self.atoms) if not isinstance(keys, EnumValues))
        self._of_one_name = {
            keys.values[0]: 0 for keys, _ in self.atoms if isinstance(keys, EnumValues) and len(keys.values) == 1
        }
        for number, (keys, _) in enumerate(self.atoms):
            if isinstance(keys, EnumValues) and len(keys.values) == 1:
                self._of_one_name[keys.values[0]] |= 1 << number

    def _collect(self, goals: SchemaSolver, formula: Formula) -> None:
        checkpoint()
        match formula:
            case And() | Or() | ExactlyOne():
                for item in formula.items:
                    self._collect(goals, item)
            case Not():
                self._collect(goals, formula.item)
            case PropertyConstraint():
                keys = goals.string_formula(formula.keys)
                if goals.arena.is_doubtful(keys):  # both the keys in the set and those outside are needed exactly
                    goals.limits.check("conditions on keys whose format is not known exactly", 1, 0)
                if formula not in self._numbers:
                    self._numbers[formula] = len(self.atoms)
                    self.atoms.append((keys, formula.value))
                self.names.update(dict.fromkeys(names_in(keys)))
            case _:
                assert isinstance(formula, Constant)

    def open(self, left: Formula) -> int:
        """Return the assertions that a residual formula still contains, as a bit set."""
        known = self._open.get(left)
        if known is None:
            match left:
                case And() | Or() | ExactlyOne():
                    known = 0
                    for item in left.items:
                        known |= self.open(item)
                case Not():
                    known = self.open(left.item)
                case PropertyConstraint():
                    known = 1 << self._numbers[left]
                case _:
                    known = 0
            self._open[left] = known
        return known

    def assume(self, left: Formula, atoms: int, holds: bool) -> Formula:
        """Return what is left of a formula once some assertions are known to hold, or not to hold.

        Args:
            left: the residual formula.
            atoms: the assertions, as a bit set.
            holds: whether they hold.
        """
        checkpoint()
        if not self.open(left) & atoms:
            return left
        key = (left, atoms, holds)
        known = self._known.get(key)
        if known is None:
            arena = self._arena
            checkpoint(1 + len(getattr(left, "items", ())))
            match left:
                case And():
                    known = arena.all_of([self.assume(item, atoms, holds) for item in left.items])
                case Or():
                    known = arena.any_of([self.assume(item, atoms, holds) for item in left.items])
                case ExactlyOne():
                    known = arena.exactly_one([self.assume(item, atoms, holds) for item in left.items])
                case Not():
                    known = arena.negate(self.assume(left.item, atoms, holds))
                case _:
                    known = arena.constant(holds)
            self._known[key] = known
        return known

    def holds_at_end(self, left: Formula) -> bool:
        """Return whether a residual formula is true if no member follows, so that no assertion can be violated."""
        return self.assume(left, -1, holds=True) is self._arena.true

    def of_name(self, name: str) -> int:
        """Return the assertions about one name alone, as a bit set."""
        return self._of_one_name.get(name, 0)

    def ways(
        self, goals: SchemaSolver, way: tuple[Formula, Formula], atoms: int, name: str | None
    ) -> list[tuple[Formula, Formula]]:
        """Split a member's goal by the open assertions about its key.

        Args:
            goals: the solver, which decides whether there are such values.
            way: what the value must satisfy in any case, and the residual formula before it.
            atoms: the assertions about its key, as a bit set.
            name: the key, if it is one of the names.

        Returns:
            For each combination that has values: what the value must satisfy, and the residual formula after it.
        """
        arena, alone = self._arena, 0 if name is None else self.of_name(name)
        ways = [way]
        while atoms:
            bit = atoms & -atoms
            atoms ^= bit
            _, value = self.atoms[bit.bit_length() - 1]
            split: list[tuple[Formula, Formula]] = []
            checkpoint(4 * len(ways))
            for so_far, still in ways:
                if not self.open(still) & bit:
                    split.append((so_far, still))
                    continue
                kept = self.assume(still, bit, holds=True) if alone & bit else still
                for part, rest in ((value, kept), (arena.negate(value), self.assume(still, bit, holds=False))):
                    whole = arena.all_of((so_far, part))
                    if rest is not arena.false and goals.is_satisfiable(whole):
                        split.append((whole, rest))
            ways = split
        return ways
