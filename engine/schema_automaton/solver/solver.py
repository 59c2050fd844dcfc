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

from collections.abc import Callable, Collection
from fractions import Fraction
from functools import cache
from typing import Final, TypeAlias, TypeVar

from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import (
    And,
    Constant,
    EnumValues,
    ExactlyOne,
    Formula,
    Length,
    Maximum,
    Minimum,
    MultipleOf,
    Not,
    Or,
    Place,
    PropertyConstraint,
    Ref,
    Text,
    TypeIn,
    sorted_spans,
    span_at,
)
from engine.schema_automaton.formula.values import (
    WORDS,
    ArrayValue,
    HugeNumber,
    JsonLiteral,
    JsonType,
    ObjectValue,
    Value,
    number,
)
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.number_languages.huge import AnyNumberLanguage, language_of, without
from engine.schema_automaton.number_languages.language import NumberLanguage, number_language
from engine.schema_automaton.solver.array_machine import ArrayMachine, ArrayMemo, ArrayState
from engine.schema_automaton.solver.key_classes import names_in, some_strings
from engine.schema_automaton.solver.normal_form import Conjunction, TypeProjector
from engine.schema_automaton.solver.number_range import NumberRange
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectMemo, ObjectState
from engine.schema_automaton.solver.plainly_inhabited import is_plainly_inhabited
from engine.schema_automaton.solver.residual import ResidualConditions
from engine.schema_automaton.string_languages.conditions import Components
from engine.schema_automaton.string_languages.language import EnumLanguage, StringLanguage, TextLanguage, any_string
from engine.source import LimitExceededError, Limits, Span, checkpoint

_State = TypeVar("_State")

_MOST_CONJUNCTIONS: Final = 10_000
"""The most conjunctions that a check of one goal may examine."""


class BudgetSpentError(Exception):
    """The precheck examined more conjunctions than its budget allows."""


Start: TypeAlias = "StringLanguage | NumberPiece | ArrayState | ObjectState | JsonType"
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

    Attributes:
        any_order: whether declared properties may come in any order.
        escapes: the escapes that strings may contain.
        objects, arrays: memoised results about the states of objects and arrays.
        checked_count: the number of conjunctions examined so far.
        budget: the most of them that may be examined; None for no bound.
    """

    def __init__(self, arena: Arena, limits: Limits, escapes: Escapes, *, any_order: bool = False) -> None:
        self.arena = arena
        self.limits = limits
        self.any_order = any_order
        self.escapes = escapes
        self.specialiser = TypeProjector(arena, limits)
        self.objects, self.arrays = ObjectMemo(), ArrayMemo()
        self.no_conditions = ResidualConditions(self, [])
        self._keys: dict[PropertyConstraint, tuple[Formula, dict[str, None]]] = {}
        self._entry_states: dict[tuple[Formula, JsonType], tuple[Start, ...]] = {}
        self._satisfiable: dict[Formula, bool] = {}
        self._texts: dict[Formula, TextLanguage] = {}
        self._free_texts: dict[Formula, TextLanguage] = {}
        self._components: Components = {}
        # Memoised: with `uniqueItems`, each item requests the ranges between all earlier numbers.
        self._number_language: Callable[..., NumberLanguage] = cache(number_language)
        self._machines: dict[tuple[JsonType, frozenset[Formula]], ArrayMachine | ObjectMachine] = {}
        self._in_progress: set[Formula] = set()
        self._epoch = 0
        self._sizes: dict[Value, int] = {}
        self.checked_count = 0
        self.budget: int | None = None
        self._checked_before = 0

    # ------------------------------------------------------------------ satisfiability

    @property
    def provisional_epoch(self) -> int:
        """Return a counter that grows whenever an answer rests on a goal whose check is in progress.

        An answer is provisional if the counter grew while it was computed; only other answers may be memoised.
        """
        return self._epoch

    def check_distinct(self, values: Collection[Value]) -> None:
        """Check the memory for telling the next item of an array from these earlier values.

        Each item is compared with all before it, so the work grows with the square of their number although no single
        step takes long.

        Raises:
            LimitExceededError: all items together exceed the work limit.
        """
        total = len(values) * sum(self._size(value) for value in values) // 2
        self.limits.check("work of items that must differ", total, self.limits.work, "work")

    def _size(self, value: Value) -> int:
        """Return the cost of a value in units of work; one unit is about 200 bytes of memory."""
        size = self._sizes.get(value)
        if size is None:
            size, todo = 0, [value]
            while todo:
                part = todo.pop()
                size += 4
                if isinstance(part, str):
                    size += len(part) // 2
                elif isinstance(part, ArrayValue):
                    size += 150
                    todo += part.items
                elif isinstance(part, ObjectValue):
                    size += 150
                    todo += [member for _, member in part.members]
            self._sizes[value] = size
        return size

    def mark_provisional(self) -> None:
        """Mark the current answer as provisional: no check within the outermost one memoises what rests on it."""
        self._epoch += 1

    def is_live(self, known: dict[_State, bool], state: _State, judge: Callable[[_State], bool]) -> bool:
        """Return whether an array or object can be completed from a state.

        Args:
            known: the memoised verdicts.
            state: the state.
            judge: computes the verdict. A negative one is memoised only if it is not provisional.
        """
        verdict = known.get(state)
        if verdict is None:
            checkpoint(4)
            before = self._epoch
            verdict = judge(state)
            if verdict or self._epoch == before:
                known[state] = verdict
        return verdict

    def is_satisfiable(self, goal: Formula) -> bool:
        """Return whether some value satisfies a goal."""
        known = self._satisfiable.get(goal)
        if known is not None:
            return known
        if isinstance(goal, Constant | TypeIn):
            return goal is not self.arena.false  # there are values of every type
        if goal in self._in_progress:
            self._epoch += 1
            return False
        checkpoint(4)
        before = self._epoch
        if not self._in_progress:
            self._checked_before = self.checked_count
        self._in_progress.add(goal)
        try:
            kinds = self.specialiser.kinds(goal)
            verdict = any(self._is_satisfiable_by(goal, kind) for kind in _CHEAP_FIRST if kind in kinds)
        except LimitExceededError as error:
            self._locate(error, goal)
            raise
        finally:
            self._in_progress.discard(goal)
        if not self._in_progress:
            self._epoch = before
        if verdict or self._epoch == before:
            self._satisfiable[goal] = verdict
        return verdict

    def place_of(self, goal: Formula) -> Place:
        """Return the source location of the first definition in a goal."""
        todo = [goal]
        while todo:
            part = todo.pop()
            if isinstance(part, Ref):
                return self.arena.places[part.number]
            if isinstance(part, And | Or | ExactlyOne):
                todo += reversed(part.items)
            elif isinstance(part, Not):
                todo.append(part.item)
        return Span(0, 0)

    def _locate(self, error: LimitExceededError, goal: Formula) -> None:
        """Add to an error the schema in which the limit was exceeded."""
        location = self.place_of(goal)
        if span_at(location).end:
            error.locate(span_at(location), getattr(location, "pointer", "") or "the whole schema")

    def _is_satisfiable_by(self, goal: Formula, kind: JsonType) -> bool:
        formula = self.specialiser.specialise(goal, kind)
        if formula is self.arena.true:
            return True
        if kind is JsonType.NUMBER and _is_plain_range(formula):
            return True
        if kind is JsonType.STRING and is_plainly_inhabited(formula):
            return True
        return formula is not self.arena.false and bool(self.entry_states(goal, kind))

    # ------------------------------------------------------------------ where a value begins

    def entry_states(self, goal: Formula, kind: JsonType) -> tuple[Start, ...]:
        """Return the entry states of values of one JSON type that may come to satisfy the goal."""
        key = (goal, kind)
        known = self._entry_states.get(key)
        if known is None:
            before = self._epoch
            if not self._in_progress:
                self._checked_before = self.checked_count
            try:
                known = tuple(dict.fromkeys(self._compute_entry_states(goal, kind)))
            except LimitExceededError as error:
                self._locate(error, goal)
                raise
            if self._epoch == before:
                self._entry_states[key] = known
        return known

    def _compute_entry_states(self, goal: Formula, kind: JsonType) -> list[Start]:
        formula = self.specialiser.specialise(goal, kind)
        if formula is self.arena.false:
            return []
        if kind in WORDS:
            return [kind] if formula is self.arena.true else []
        if kind is JsonType.STRING:
            return [language for language in self._strings(formula) if language.start is not None]
        if kind is JsonType.NUMBER:
            return [piece for piece in self._numbers(formula) if piece.start is not None]
        starts: list[Start] = []
        for conjunction in self.specialiser.alternatives(formula, lambda each: self._is_dead(each, kind)):
            case = self.case(conjunction, kind)
            starts.append(case.start)
        return starts

    def case(self, conjunction: Conjunction, kind: JsonType) -> ArrayMachine | ObjectMachine:
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
        self.limits.check("combinations of one schema", self.checked_count - self._checked_before, _MOST_CONJUNCTIONS)
        before = self._epoch
        machine = self.case(conjunction, kind)
        live = machine.is_live(machine.start)  # type: ignore[arg-type]
        if live:
            return False
        return True if self._epoch == before else None

    def values(self, goal: Formula, most: int) -> list[Value] | None:
        """Return up to `most` different values that satisfy a goal; None where they are unknown.

        Fewer than `most` values are all that there are.
        """
        found: list[Value] = []
        arena = self.arena
        while len(found) < most:
            checkpoint(16)
            rest = arena.all_of((goal, arena.negate(arena.among(found, Span(0, 0))))) if found else goal
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
                if isinstance(start, EnumLanguage):
                    return list(start.trie.names[:most])
                assert isinstance(start, TextLanguage)
                return list(some_strings(start, most))
        return []

    # ------------------------------------------------------------------ strings

    def text(self, formula: Formula) -> TextLanguage:
        """Return the language of a formula over strings, encoded as names and constrained strings are."""
        if formula is self.arena.true:
            return any_string(self.escapes)
        language = self._texts.get(formula)
        if language is None:
            language = self._texts[formula] = TextLanguage(formula, self.limits, self.escapes, self._components)
        return language

    def _free_text(self, formula: Formula) -> TextLanguage:
        """Return the language of strings that no keyword constrains, except that some values may be excluded."""
        escapes = self.escapes.of_free_values
        if formula is self.arena.true:
            return any_string(escapes)
        if escapes is self.escapes:
            return self.text(formula)
        language = self._free_texts.get(formula)
        if language is None:
            language = self._free_texts[formula] = TextLanguage(formula, self.limits, escapes)
        return language

    def string_formula(self, formula: Formula) -> Formula:
        """Return a formula projected to strings, without `ExactlyOne`."""
        if isinstance(formula, EnumValues) and set(map(type, formula.values)) == {str}:
            return formula
        return self.without_exactly_one(self.specialiser.specialise(formula, JsonType.STRING))

    def keys(self, members: PropertyConstraint) -> tuple[Formula, dict[str, None]]:
        """Return the keys that an assertion constrains, as a formula over strings, and its names in source order."""
        known = self._keys.get(members)
        if known is None:
            keys = members.keys
            formula = self.arena.widened(self.string_formula(keys))
            names = keys.values if formula is keys and isinstance(keys, EnumValues) else names_in(formula)
            known = self._keys[members] = formula, dict.fromkeys(map(str, names))
        return known

    def holds_string(self, formula: Formula, text: str) -> bool:
        """Return whether a string satisfies a formula that was projected to strings."""
        match formula:
            case Constant():
                return formula.value
            case Length():
                return formula.least <= len(text) and (formula.most is None or len(text) <= formula.most)
            case EnumValues():
                return text in formula.members
            case Text():
                checkpoint(1 + 4 * len(text))
                return self.text(formula).holds(text)
            case ExactlyOne() | Not(item=ExactlyOne()):
                return self.holds_string(self.without_exactly_one(formula), text)
            case Not():
                return not self.holds_string(formula.item, text)
            case And():
                return all(self.holds_string(item, text) for item in formula.items)
            case Or():
                return any(self.holds_string(item, text) for item in formula.items)
            case _:
                raise AssertionError(formula)

    def without_exactly_one(self, formula: Formula) -> Formula:
        """Return a formula with each `ExactlyOne` expanded into conjunctions and disjunctions."""
        arena = self.arena
        match formula:
            case ExactlyOne():
                checkpoint(len(formula.items) ** 2)
                items = [self.without_exactly_one(item) for item in formula.items]
                return arena.any_of(
                    arena.all_of([item, *(arena.negate(other) for j, other in enumerate(items) if j != i)])
                    for i, item in enumerate(items)
                )
            case Not(item=ExactlyOne()):
                return arena.negate(self.without_exactly_one(formula.item))
            case And():
                return arena.all_of(self.without_exactly_one(item) for item in formula.items)
            case Or():
                return arena.any_of(self.without_exactly_one(item) for item in formula.items)
            case _:
                return formula

    def _strings(self, formula: Formula) -> list[StringLanguage]:
        formula = self.without_exactly_one(formula)
        checkpoint(4)
        alternatives = formula.items if isinstance(formula, Or) else (formula,)
        values: dict[str, None] = {}
        location: Place | None = None
        rest: list[Formula] = []
        for alternative in alternatives:
            items = alternative.items if isinstance(alternative, And) else (alternative,)
            listed = next((item for item in items if isinstance(item, EnumValues)), None)
            if listed is None:
                rest.append(alternative)
                continue
            location = location or listed.place
            checkpoint(len(listed.values) * len(items))
            for value in listed.values:
                if isinstance(value, str) and all(self.holds_string(item, value) for item in items):
                    values[value] = None
        languages: list[StringLanguage] = []
        if location is not None and values:
            languages.append(EnumLanguage(values, location, self.escapes))
        if rest:
            left = self.arena.any_of(rest)
            languages.append(self._free_text(left) if _is_free(left) else self.text(left))
        return languages

    # ------------------------------------------------------------------ numbers

    def _numbers(self, formula: Formula) -> list[NumberPiece]:
        pieces: list[NumberPiece] = []
        for conjunction in self.specialiser.alternatives(formula, lambda _: False):
            bounds = NumberRange()
            values: list[Fraction | HugeNumber] | None = None
            checkpoint(8 * (1 + len(conjunction)))
            for item in conjunction:
                if isinstance(item, EnumValues):
                    given = [value for value in item.values if isinstance(value, Fraction | HugeNumber)]
                    values = given if values is None else [value for value in values if value in item.members]
                else:
                    bounds.add(item)
            plain = not self.arena.any_numbers
            make = self._number_language
            languages = _ranges(bounds, make) if values is None else _listed(bounds, values, make, plain=plain)
            pieces += [NumberPiece(language, conjunction) for language in languages]
        return pieces


def _is_free(formula: Formula) -> bool:
    """Return whether a formula over strings is only satisfied by strings that no keyword constrains."""
    parts = formula.items if isinstance(formula, And) else (formula,)
    return all(
        part.value if isinstance(part, Constant) else isinstance(part, Not) and _is_seen(part.item) for part in parts
    )


def _is_seen(formula: Formula) -> bool:
    """Return whether a formula lists the earlier items of an array with `uniqueItems`."""
    return isinstance(formula, EnumValues) and formula.seen


def _is_plain_range(formula: Formula) -> bool:
    """Return whether a formula obviously has a solution among numbers, since it has at most one bound."""
    items = formula.items if isinstance(formula, And) else (formula,)
    return sum(isinstance(item, Minimum | Maximum) for item in items) < 2 and all(
        isinstance(item, Minimum | Maximum | MultipleOf) for item in items
    )


class NumberPiece:
    """A language of numbers, compared by identity, with the conjunction that it comes from."""

    __slots__ = ("_conjunction", "accepts", "language", "start", "step")

    def __init__(self, language: AnyNumberLanguage, conjunction: Conjunction) -> None:
        self.language = language
        self._conjunction = conjunction
        self.start = language.start
        self.step = language.step
        self.accepts = language.accepts

    def spans(self, state: object) -> tuple[Span, ...]:
        """Return the source locations of the conjunction, whatever the state."""
        return sorted_spans(self._conjunction)


def _listed(
    bounds: NumberRange, values: list[Fraction | HugeNumber], make: Callable[..., NumberLanguage], *, plain: bool
) -> list[AnyNumberLanguage]:
    """Return a language for each listed number within a range; `plain` as in `NumberLanguage`."""
    checkpoint(8 * len(values))
    fitting = [value for value in dict.fromkeys(values) if bounds.holds(value)]
    huge = frozenset(value for value in fitting if isinstance(value, HugeNumber))
    found: list[AnyNumberLanguage] = [
        make(minimum=value, maximum=value, integer=plain and value.denominator == 1, plain=plain)
        for value in fitting
        if isinstance(value, Fraction)
    ]
    return [*found, language_of(huge, written=bounds.written)] if huge else found


def _ranges(bounds: NumberRange, make: Callable[..., NumberLanguage]) -> list[AnyNumberLanguage]:
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
        language = make(
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
