"""The solver: which values satisfy a formula, JSON type by JSON type, and whether there are any.

A value is read with a goal, a formula that it has to satisfy. At its first byte the
goal becomes a few alternatives of that type: literals, languages of strings and
numbers, machines of arrays and objects. What a machine requires of its members and
items is again a goal. So a state within a document can be completed exactly if every
machine on the stack can be completed by itself, and a stack needs no search.

Whether a goal is satisfiable is a least fixed point over a recursive schema. A goal
whose check is in progress counts as unsatisfiable; a negative answer that rests on
this is provisional: it is not memoised unless the check is the outermost one.
"""

from __future__ import annotations

from typing import Final, TypeAlias
from weakref import ref

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
    Ref,
    TypeIn,
    span_of_location,
)
from engine.schema_automaton.formula.values import WORDS, JsonLiteral, JsonType, Value, number
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.solver.array_machine import ArrayMachine, ArrayState
from engine.schema_automaton.solver.machine import Memo, provisional_memo
from engine.schema_automaton.solver.normal_form import Conjunction, TypeProjector
from engine.schema_automaton.solver.number_solver import NumberPiece, NumberSolver, is_plain_range
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState
from engine.schema_automaton.solver.residual import ResidualConditions
from engine.schema_automaton.solver.string_solver import StringSolver
from engine.schema_automaton.string_languages.language import EnumLanguage, StringLanguage, TextLanguage
from engine.schema_automaton.string_languages.plainly_inhabited import is_plainly_inhabited
from engine.source import LimitExceededError, Limits, Span, checkpoint

MOST_CONJUNCTIONS: Final = 10_000
"""The most conjunctions that a check of one goal may examine."""


class BudgetSpentError(Exception):
    """The precheck examined more conjunctions than its budget allows."""


Start: TypeAlias = StringLanguage | NumberPiece | ArrayState | ObjectState | JsonType
"""An entry state of a value: a string or number language, the start of a machine, or a literal's type."""

_CHEAP_FIRST: Final = (
    JsonType.NULL,
    JsonType.TRUE,
    JsonType.FALSE,
    JsonType.STRING,
    JsonType.NUMBER,
    JsonType.ARRAY,
    JsonType.OBJECT,
)


class SchemaSolver:
    """The goals of one grammar and what is known about them.

    Args:
        arena: the factory of formulas, with the definitions of the schema.
        limits: the limits of searches.
        escapes: the escapes that strings may contain.
        any_order: whether declared properties may come in any order.

    Attributes:
        projector: projects goals to JSON types.
        strings: decides formulas over strings.
        memos: the results of the solver and of each machine.
        memo: returns those of the solver.
        provisional_epoch: a counter that grows whenever an answer rests on a goal whose check is in progress.
        no_conditions: a residual formula that is always true.
        checked_count: the number of conjunctions examined so far.
        budget: the most of them that may be examined; None for no bound.
    """

    def __init__(self, arena: Arena, limits: Limits, escapes: Escapes, *, any_order: bool = False) -> None:
        self.arena = arena
        self.limits = limits
        self.any_order = any_order
        self.projector = TypeProjector(arena, limits)
        self.strings = StringSolver(arena, limits, escapes, self.projector)
        self.no_conditions = ResidualConditions(self.strings, [])
        self._numbers = NumberSolver(any_numbers=arena.any_numbers)
        self.memos = [Memo(dict)]
        self.memo = ref(self.memos[0])
        self._satisfiable: dict[Formula, bool] = {}
        self._machines: dict[tuple[JsonType, frozenset[Formula]], ArrayMachine | ObjectMachine] = {}
        self._least_counts: dict[Formula, int] = {}
        self._in_progress: set[Formula] = set()
        self.provisional_epoch = 0
        self.checked_count = 0
        self.budget: int | None = None
        self._checked_before = 0

    # ------------------------------------------------------------------ satisfiability

    @property
    def solver(self) -> SchemaSolver:
        """Return the solver itself, for `provisional_memo`."""
        return self

    def mark_provisional(self) -> None:
        """Mark the current answer as provisional: no check within the outermost one memoises what rests on it."""
        self.provisional_epoch += 1

    def is_satisfiable(self, goal: Formula) -> bool:
        """Return whether some value satisfies a goal."""
        known = self._satisfiable.get(goal)
        if known is not None:
            return known
        if isinstance(goal, Constant | TypeIn):
            return goal is not self.arena.false  # there are values of every type
        if goal in self._in_progress:
            self.provisional_epoch += 1
            return False
        checkpoint(4)
        if self._outnumbers_seen(goal):
            self._satisfiable[goal] = True
            return True
        before = self.provisional_epoch
        if not self._in_progress:
            self._checked_before = self.checked_count
        self._in_progress.add(goal)
        try:
            kinds = self.projector.types(goal)
            verdict = any(self._is_satisfiable_by(goal, kind) for kind in _CHEAP_FIRST if kind in kinds)
        except LimitExceededError as error:
            self._locate(error, goal)
            raise
        finally:
            self._in_progress.discard(goal)
        if not self._in_progress:
            self.provisional_epoch = before
        if verdict or self.provisional_epoch == before:
            self._satisfiable[goal] = verdict
        return verdict

    def place_of(self, goal: Formula) -> Location:
        """Return the source location of the first definition in a goal."""
        todo = [goal]
        while todo:
            part = todo.pop()
            if isinstance(part, Ref):
                return self.arena.definition_locations[part.number]
            if isinstance(part, And | Or | ExactlyOne):
                todo += reversed(part.items)
            elif isinstance(part, Not):
                todo.append(part.item)
        return Span(0, 0)

    def _locate(self, error: LimitExceededError, goal: Formula) -> None:
        """Add to an error the schema in which the limit was exceeded."""
        location = self.place_of(goal)
        if span_of_location(location).end:
            error.locate(span_of_location(location), getattr(location, "pointer", "") or "the whole schema")

    def _is_satisfiable_by(self, goal: Formula, kind: JsonType) -> bool:
        formula = self.projector.project(goal, kind)
        if formula is self.arena.true:
            return True
        if kind is JsonType.NUMBER and is_plain_range(formula):
            return True
        if kind is JsonType.STRING and is_plainly_inhabited(formula):
            return True
        return formula is not self.arena.false and bool(self.entry_states(goal, kind))

    # ------------------------------------------------------------------ where a value begins

    @provisional_memo
    def entry_states(self, goal: Formula, kind: JsonType) -> tuple[Start, ...]:
        """Return the entry states of values of one JSON type that may come to satisfy the goal."""
        if not self._in_progress:
            self._checked_before = self.checked_count
        try:
            return tuple(dict.fromkeys(self._compute_entry_states(goal, kind)))
        except LimitExceededError as error:
            self._locate(error, goal)
            raise

    def _compute_entry_states(self, goal: Formula, kind: JsonType) -> list[Start]:
        formula = self.projector.project(goal, kind)
        if formula is self.arena.false:
            return []
        if kind in WORDS:
            return [kind] if formula is self.arena.true else []
        if kind is JsonType.STRING:
            return [language for language in self.strings.value_languages(formula) if language.start is not None]
        if kind is JsonType.NUMBER:
            conjunctions = self.projector.alternatives(formula, lambda _: False)
            pieces = [piece for conjunction in conjunctions for piece in self._numbers.pieces(conjunction)]
            return [piece for piece in pieces if piece.start is not None]
        conjunctions = self.projector.alternatives(formula, lambda each: self._is_dead(each, kind))
        return [self.machine(conjunction, kind).start for conjunction in conjunctions]

    def machine(self, conjunction: Conjunction, kind: JsonType) -> ArrayMachine | ObjectMachine:
        """Return the machine of a conjunction over arrays or objects."""
        key = (kind, frozenset(conjunction))
        machine = self._machines.get(key)
        if machine is None:
            make = ArrayMachine if kind is JsonType.ARRAY else ObjectMachine
            machine = self._machines[key] = make(self, conjunction)
        return machine

    def _is_dead(self, conjunction: Conjunction, kind: JsonType) -> bool | None:
        """Return whether nothing satisfies a conjunction; None for a provisional yes."""
        checkpoint(16)
        self.checked_count += 1
        if self.budget is not None and self.checked_count > self.budget:
            raise BudgetSpentError
        self.limits.check(
            "errors.limit.schema_combinations", self.checked_count - self._checked_before, MOST_CONJUNCTIONS
        )
        before = self.provisional_epoch
        machine = self.machine(conjunction, kind)
        live = machine.is_live(machine.start)  # type: ignore[arg-type]
        if live:
            return False
        return True if self.provisional_epoch == before else None

    def _outnumbers_seen(self, goal: Formula) -> bool:
        """Return whether a goal obviously has values other than the items that an array already has.

        That is so if it has more values than there are such items, without regard to them.
        """
        if not isinstance(goal, And):
            return False
        seen = [item.item for item in goal.items if isinstance(item, Not) and _is_of_seen(item.item)]
        if not seen:
            return False
        excluded = {value for each in seen if isinstance(each, EnumValues) for value in each.values}
        whole = self.arena.all_of(item for item in goal.items if not (isinstance(item, Not) and item.item in seen))
        return self.has_more_values(whole, len(excluded))

    def has_more_values(self, goal: Formula, count: int) -> bool:
        """Return whether more than `count` strings and literals are known to satisfy a goal.

        They are found once for all arrays of such items.
        """
        known = self._least_counts.get(goal, 0)
        if known <= count:
            strings: set[str] = set()
            for start in self.entry_states(goal, JsonType.STRING):
                assert isinstance(start, EnumLanguage | TextLanguage)
                strings.update(start.some_strings(2 * count + 2))
            literals = sum(bool(self.entry_states(goal, kind)) for kind in WORDS)
            known = self._least_counts[goal] = literals + len(strings)
        return known > count

    def values(self, goal: Formula, most: int) -> list[Value] | None:
        """Return up to `most` different values that satisfy a goal; None where they are unknown.

        Fewer than `most` values are all that there are.
        """
        found: list[Value] = []
        arena = self.arena
        while len(found) < most:
            checkpoint(16)
            rest = arena.all_of((goal, arena.negate(arena.enum(found, Span(0, 0))))) if found else goal
            if not self.is_satisfiable(rest):
                return found
            values = self._witnesses(rest, most - len(found))
            if not values:
                return None
            found += values
        return found

    def _witnesses(self, goal: Formula, most: int) -> list[Value]:
        """Return a scalar that satisfies a goal, or several of one type; nothing if there is none."""
        for kind in _CHEAP_FIRST[:5]:
            for start in self.entry_states(goal, kind):
                if isinstance(start, JsonType):
                    return [JsonLiteral(start)]
                if isinstance(start, NumberPiece):
                    written = start.language.witness()
                    return [] if written is None else [number(written)]
                assert isinstance(start, EnumLanguage | TextLanguage)
                return [*start.some_strings(most)]
        return []


def _is_of_seen(formula: Formula) -> bool:
    """Return whether a formula lists items that an array already has."""
    return isinstance(formula, EnumValues) and formula.seen
