"""A check at compile time for what could not be decided later.

Most schemas are always decidable. Where a schema uses an assertion that is undecided in
some combination, or choices that may multiply, the goals that a value can lead to are
expanded at compile time, so that a schema is refused before the first byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from engine.schema_automaton.formula.nodes import And, ExactlyOne, Formula, LocatedFormula, Not, Or, Ref
from engine.schema_automaton.formula.values import JsonType
from engine.schema_automaton.solver.array_machine import ArrayMachine, ArrayState
from engine.schema_automaton.solver.machine import UndecidedError
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState
from engine.schema_automaton.solver.solver import BudgetSpentError, SchemaSolver
from engine.source import CancelToken, LimitExceededError

_MOST_JUDGED = 1_000
_MANY_ALTERNATIVES = 200
_ENOUGH = 1_000_000


def explore(solver: SchemaSolver, goal: Formula, cancel: CancelToken) -> None:
    """Expand the goals below a goal, if the grammar has assertions that may be undecided.

    Args:
        solver: the solver.
        goal: the goal of the whole text.
        cancel: reports progress and cancels.

    Raises:
        UndecidedError: an assertion is undecided.
    """
    if not solver.arena.uses_distinct and not _may_multiply(solver):
        return
    seen, todo = {goal}, [goal]
    solver.budget = solver.checked_count + _MOST_JUDGED
    try:
        _explore(solver, seen, todo, cancel)
    except BudgetSpentError:
        pass  # an undecided assertion beyond the budget counts as unsatisfiable when it is met
    finally:
        solver.budget = None


def _explore(solver: SchemaSolver, seen: set[Formula], todo: list[Formula], cancel: CancelToken) -> None:
    while todo:
        cancel.report("progress.subschemas", len(seen))
        current = todo.pop()
        try:
            for kind in (JsonType.ARRAY, JsonType.OBJECT):
                for start in solver.entry_states(current, kind):
                    for following in _below(start):
                        if following not in seen:
                            seen.add(following)
                            todo.append(following)
        except LimitExceededError as error:
            raise UndecidedError("errors.schema.alternatives", solver.place_of(current), reason=str(error)) from error


def _below(start: object) -> list[Formula]:
    if isinstance(start, ArrayState):
        machine: ArrayMachine = start.machine
        return [transition.goal for state in machine.sample() for transition in machine.transitions(state)]
    if isinstance(start, ObjectState):
        object_machine: ObjectMachine = start.machine
        return object_machine.value_goals()
    return []


# ---------------------------------------------------------------------- estimated number of alternatives


def _may_multiply(solver: SchemaSolver) -> bool:
    if not solver.arena.has_choices:
        return False
    counted = _AlternativeCounter(solver)
    return any(
        counted.count(definition, negated=False) > _MANY_ALTERNATIVES
        for definition in solver.arena.definitions
        if definition is not None
    )


class _AlternativeCounter:
    """Estimates how many conjunctions a formula expands to; a choice between types of values counts as none."""

    def __init__(self, solver: SchemaSolver) -> None:
        self._definitions = solver.arena.definitions
        self._kinds = solver.projector.types
        self._known: dict[tuple[Formula, bool], int] = {}

    def count(self, formula: Formula, *, negated: bool) -> int:
        """Return an approximate upper bound for a formula, or for its negation."""
        if isinstance(formula, LocatedFormula):
            return 1
        key = (formula, negated)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = min(self._count_new(formula, negated=negated), _ENOUGH)
        return known

    def _count_new(self, formula: Formula, *, negated: bool) -> int:
        match formula:
            case Ref():
                definition = self._definitions[formula.number]
                return 1 if definition is None else self.count(definition, negated=negated)
            case Not():
                return self.count(formula.item, negated=not negated)
            case And() | Or() if isinstance(formula, And) is not negated:
                return prod(self.count(item, negated=negated) for item in formula.items)
            case And() | Or():
                return self._sum(formula.items, [self.count(item, negated=negated) for item in formula.items])
            case ExactlyOne():
                if negated:
                    return len(formula.items) ** 2
                others = prod(self.count(item, negated=True) for item in formula.items)
                counts = [
                    min(self.count(item, negated=False) * others // self.count(item, negated=True), _ENOUGH)
                    for item in formula.items
                ]
                return self._sum(formula.items, counts)
            case _:
                return 1

    def _sum(self, items: Iterable[Formula], counts: list[int]) -> int:
        """Return the most alternatives that values of one type have."""
        by_kind = dict.fromkeys(JsonType, 0)
        for item, count in zip(items, counts, strict=True):
            for kind in self._kinds(item):
                by_kind[kind] += count
        return max(1, *by_kind.values())
