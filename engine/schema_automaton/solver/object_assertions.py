"""The assertions of one conjunction about an object, sorted by kind: universal, existential, and member counts.

Names are sorted too: declared names in the order of the source, then required ones,
then all others that are mentioned.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from engine.schema_automaton.formula.nodes import EnumValues, Formula, MemberCount, Not, PropertyConstraint
from engine.schema_automaton.solver.residual import ResidualConditions
from engine.source import checkpoint

if TYPE_CHECKING:
    from engine.schema_automaton.solver.solver import SchemaSolver


class Assertions:
    """The assertions of one conjunction about an object. It keeps no solver: callers pass one to each method.

    Attributes:
        every: universal assertions: sets of keys, as formulas over strings, and what all their values must satisfy.
        exists_constraints: existential assertions: sets of keys, and what the value of some such member must satisfy.
        conditions: the part of the conjunction that stays a formula (see `residual`).
        watched: the existential assertions, then the assertions of `conditions`.
        names: the names that are mentioned.
        declared: the number of names that have a position in the order of properties; they come first.
        begins: the names without a position that may come before all that have one, as a bit set.
        required: the required names, as a bit set.
        least, most: the bounds of the number of members.
    """

    def __init__(self, solver: SchemaSolver, conjunction: tuple[Formula, ...]) -> None:
        self.least = 0
        self.most: int | None = None
        self.every: list[tuple[Formula, Formula]] = []
        self.exists_constraints: list[tuple[Formula, Formula]] = []
        self._needed: dict[str, list[Formula]] = {}
        declared: dict[str, None] = {}
        mentioned: dict[str, None] = {}
        begin: dict[str, None] = {}
        of_exists: dict[str, None] = {}
        compound: list[Formula] = []
        checkpoint(1 + len(conjunction))
        for item in conjunction:
            negated = isinstance(item, Not)
            atom = item.item if isinstance(item, Not) else item
            if isinstance(atom, MemberCount):
                self._count(atom, negated=negated)
                continue
            if not isinstance(atom, PropertyConstraint):
                compound.append(item)
                declared.update(ResidualConditions(solver, [item]).names)
                continue
            keys, names = solver.keys(atom)
            if not negated and atom.begins:
                begin.update(names)
                continue
            if not negated:
                self.every.append((keys, atom.value))
                mentioned.update(names)
                if atom.declares:
                    declared.update(names)
                continue
            value = solver.arena.negate(atom.value)
            if solver.arena.is_doubtful(keys):  # an existential assertion needs the keys exactly
                keys = solver.string_formula(atom.keys)
            if isinstance(keys, EnumValues) and len(keys.values) == 1 and isinstance(keys.values[0], str):
                self._needed.setdefault(keys.values[0], []).append(value)
            else:
                self.exists_constraints.append((keys, value))
                of_exists.update(names)
        self.conditions = ResidualConditions(solver, compound) if compound else solver.no_conditions
        self.watched = [*self.exists_constraints, *self.conditions.atoms]
        needed = dict.fromkeys(self._needed)
        if declared:
            mentioned.update(begin)
        self.names = tuple({**declared, **needed, **mentioned, **of_exists, **self.conditions.names})
        self.declared = len(declared)
        self.begins = sum(1 << i for i, name in enumerate(self.names) if name in begin and name not in declared)
        self.required = sum(1 << i for i, name in enumerate(self.names) if name in needed)
        self._goals: dict[int, Formula] = {}

    def _count(self, atom: MemberCount, *, negated: bool) -> None:
        least, most = atom.least, atom.most
        if negated:
            least, most = (0, atom.least - 1) if atom.most is None else (atom.most + 1, None)
        self.least = max(self.least, least)
        self.most = most if self.most is None else self.most if most is None else min(self.most, most)

    @cached_property
    def _by_keys(self) -> tuple[dict[str, list[tuple[int, Formula]]], list[tuple[int, Formula, Formula]]]:
        """Group the universal assertions by listed name; the rest are numbered in the order of the source."""
        listed: dict[str, list[tuple[int, Formula]]] = {}
        others: list[tuple[int, Formula, Formula]] = []
        for number, (keys, value) in enumerate(self.every):
            if isinstance(keys, EnumValues):
                for name in keys.values:
                    listed.setdefault(str(name), []).append((number, value))
            else:
                others.append((number, keys, value))
        return listed, others

    def goal_of(self, solver: SchemaSolver, number: int) -> Formula:
        """Return what the member with a name must satisfy, in the order of the source."""
        known = self._goals.get(number)
        if known is None:
            name, (listed, others) = self.names[number], self._by_keys
            stated = listed.get(name, [])
            checkpoint(1 + len(others))
            others_stated = [(index, value) for index, keys, value in others if solver.holds_string(keys, name)]
            if others_stated:
                stated = sorted([*stated, *others_stated], key=lambda pair: pair[0])
            known = solver.arena.all_of([*(value for _, value in stated), *self._needed.get(name, ())])
            self._goals[number] = known
        return known

    def watched_of_names(self, solver: SchemaSolver) -> list[int]:
        """Return, for each name, the assertions in `watched` that concern it, as a bit set."""
        listed = dict.fromkeys(self.names, 0)
        others: list[tuple[int, Formula]] = []
        for w, (keys, _) in enumerate(self.watched):
            checkpoint(1 + len(self.names) // 16)
            if isinstance(keys, EnumValues):
                for name in listed.keys() & keys.members:
                    listed[name] |= 1 << w
            else:
                others.append((w, keys))
        return [
            bits | sum(1 << w for w, keys in others if solver.holds_string(keys, name)) for name, bits in listed.items()
        ]
