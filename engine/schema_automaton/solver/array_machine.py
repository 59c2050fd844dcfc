"""State machines of arrays: one conjunction of assertions, and the states within an array that it distinguishes.

A state is the index of the next item (as far as it matters) and a counter for each
`contains`. Whether an item counts for a counter is decided nondeterministically at the
item's start; all choices are followed side by side.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

from engine.schema_automaton.formula.nodes import Contains, Formula, ItemCount, Items, Location, Not, UniqueItems
from engine.schema_automaton.formula.values import ArrayValue, ObjectValue, Value
from engine.schema_automaton.solver.machine import Machine, Solver, UndecidedError, provisional_memo
from engine.source import checkpoint

_MOST_DISTINCT = 64
_MOST_TRIED = 2_000  # transitions tried to complete an array whose items must all differ


UNKNOWN_VALUE: Value = "\ud800"
"""An item seen whose value was not examined. No JSON text has this string."""


class ArrayState(NamedTuple):
    """A state of an array: what matters of the items so far.

    Attributes:
        machine: the machine.
        at: the index of the next item, capped at the first index after which all items have the same goal.
        counts: the number of items that each counter counted, capped where larger numbers make no difference.
        seen: the items so far, where no two may be equal.
    """

    machine: ArrayMachine
    at: int
    counts: tuple[int, ...]
    seen: frozenset[Value]


class ArrayTransition(NamedTuple):
    """An item: what it must satisfy, and the state after it."""

    goal: Formula
    state: ArrayState


class _ContainsCounter(NamedTuple):
    """A requirement that between `least` and `most` items with an index in a range satisfy a formula."""

    value: Formula
    least: int
    most: int | None
    first: int
    end: int | None
    location: Location


class ArrayMachine(Machine):
    """A conjunction of assertions over arrays.

    Attributes:
        least, most: the bounds of the number of items.
        distinct: the assertion that no two items are equal, if there is one.
    """

    least: int
    most: int | None

    def __init__(self, solver: Solver, conjunction: tuple[Formula, ...]) -> None:
        super().__init__(solver, conjunction)
        self.least, self.most = 0, None
        self.distinct: UniqueItems | None = None
        self._equal: UniqueItems | None = None
        self._ranges: list[Items] = []
        self._counters: list[_ContainsCounter] = []
        self._sizes: dict[Value, int] = {}
        for item in conjunction:
            self._add(item)
        edges = {self.least, self.most or 0}
        edges |= {edge for part in self._ranges for edge in (part.first, part.end or 0)}
        edges |= {edge for counter in self._counters for edge in (counter.first, counter.end or 0)}
        self._last = max(edges)
        self._item_goals: dict[int, Formula] = {}

    @property
    def start(self) -> ArrayState:
        """Return the state before the first item."""
        return ArrayState(self, 0, (0,) * len(self._counters), frozenset())

    def _add(self, item: Formula) -> None:
        negated = isinstance(item, Not)
        atom = item.item if isinstance(item, Not) else item
        match atom:
            case ItemCount():
                least, most = _range(atom.least, atom.most, negated=negated)
                self.least = max(self.least, least)
                self.most = most if self.most is None else self.most if most is None else min(self.most, most)
            case Items() if not negated:
                self._ranges.append(atom)
            case Items():
                value = self._arena.negate(atom.value)
                self._counters.append(_ContainsCounter(value, 1, None, atom.first, atom.end, atom.location))
            case Contains():
                least, most = _range(atom.least, atom.most, negated=negated)
                self._counters.append(_ContainsCounter(atom.value, least, most, 0, None, atom.location))
            case UniqueItems() if not negated:
                self.distinct = atom
            case UniqueItems():
                self._equal = atom
            case _:
                raise AssertionError(item)

    # ------------------------------------------------------------------ states

    def can_close(self, state: ArrayState) -> bool:
        """Return whether the array may end."""
        return (
            state.at >= self.least
            and (self.most is None or state.at <= self.most)
            and all(count >= counter.least for count, counter in zip(state.counts, self._counters, strict=True))
        )

    @provisional_memo
    def transitions(self, state: ArrayState) -> tuple[ArrayTransition, ...]:
        """Return the items that may come next, each with a state that can be completed."""
        solver = self.solver
        transitions = self._all_transitions(state)
        if self.distinct is not None:
            transitions = [transition._replace(goal=self._without_dead_ends(transition)) for transition in transitions]
        return tuple(
            transition
            for transition in transitions
            if solver.is_satisfiable(transition.goal) and self.is_live(transition.state)
        )

    def after_any(self, state: ArrayState) -> ArrayState | None:
        """Return the state after an item whose value was not examined; None if the value has to be known."""
        if state.at < self.least or self._counters or UNKNOWN_VALUE in state.seen:
            return None
        return state._replace(seen=state.seen | {UNKNOWN_VALUE})

    def has_spare(self, state: ArrayState) -> bool:
        """Return whether another item may follow, whatever the item was that was not examined."""
        known = state._replace(seen=state.seen - {UNKNOWN_VALUE})
        return any(len(self.solver.values(transition.goal, 2) or (0, 0)) > 1 for transition in self.transitions(known))

    def after(self, state: ArrayState, value: Value) -> ArrayState | None:
        """Return the state after an item that equals `value`, where no two items may be equal; None if it is dead."""
        following = state._replace(seen=state.seen | {value})
        return following if self.is_live(following) else None

    def item_goal(self, index: int) -> Formula:
        """Return what the item at an index must satisfy, apart from counters."""
        goal = self._item_goals.get(index)
        if goal is None:
            checkpoint(1 + len(self._ranges) // 8)
            goal = self._arena.all_of(
                part.value for part in self._ranges if part.first <= index and (part.end is None or index < part.end)
            )
            self._item_goals[index] = goal
        return goal

    def _all_transitions(self, state: ArrayState) -> list[ArrayTransition]:
        if self.most is not None and state.at >= self.most:
            return []
        arena, index = self._arena, state.at
        checkpoint(4 + len(self._counters) + len(state.seen))
        choices: list[tuple[Formula, tuple[int, ...]]] = [(self.item_goal(index), ())]
        if state.seen:
            assert self.distinct is not None
            self._check_distinct(state.seen)
            used = arena.enum(sorted(state.seen, key=repr), self.distinct.location, seen=True)
            choices = [(arena.all_of((choices[0][0], arena.negate(used))), ())]
        for counter, count in zip(self._counters, state.counts, strict=True):
            checkpoint(4 * len(choices))
            choices = [
                (goal, (*counts, n))
                for goal, counts in choices
                for goal, n in self._choices(goal, counter, count, index)
            ]
        following = min(index + 1, self._last)
        if self.most is not None:
            following = index + 1
        return [ArrayTransition(goal, ArrayState(self, following, counts, state.seen)) for goal, counts in choices]

    def _choices(self, goal: Formula, counter: _ContainsCounter, count: int, index: int) -> list[tuple[Formula, int]]:
        """Return the goals of an item and the counter's values after it: the item counts, or it does not."""
        arena = self._arena
        if index < counter.first or (counter.end is not None and index >= counter.end):
            return [(goal, count)]
        if counter.most is None:
            if count >= counter.least:
                return [(goal, count)]
            return [(arena.all_of((goal, counter.value)), count + 1), (goal, count)]
        without = (arena.all_of((goal, arena.negate(counter.value))), count)
        if count >= counter.most:
            return [without]
        counted = goal if counter.least == 0 else arena.all_of((goal, counter.value))
        return [(counted, count + 1), without]

    def sample(self) -> list[ArrayState]:
        """Return a state for each index at which goals change."""
        edges = {0, *(part.first for part in self._ranges), *(part.end or 0 for part in self._ranges)}
        return [self.start._replace(at=index) for index in sorted(edges)]

    # ------------------------------------------------------------------ liveness

    @provisional_memo
    def is_live(self, state: ArrayState) -> bool:
        """Return whether the array can be completed."""
        checkpoint(4)
        if self._equal is not None:
            if self.solver.budget is not None:
                raise UndecidedError("errors.schema.not_unique", self._equal.location)
            self.solver.mark_provisional()
            return False
        if self.can_close(state):
            return True
        if self.most is not None and self.least > self.most:
            return False
        if self.distinct is not None and (self._counters or self.least - state.at > 1):
            return self._has_plenty(state) or self._has_distinct(state)
        if not self._counters:
            return all(
                self.solver.is_satisfiable(self._goal_here(state, index)) for index in self._missing_goals(state.at)
            )
        return self._search(state)

    def _missing_goals(self, at: int) -> list[int]:
        """Return the indexes from `at` on below the least count where the goals of items change."""
        edges = {at, *(part.first for part in self._ranges), *(part.end or 0 for part in self._ranges)}
        return [index for index in sorted(edges) if at <= index < self.least]

    def _has_plenty(self, state: ArrayState) -> bool:
        """Return whether each missing item obviously has more values than all others of the array together take."""
        others = len(state.seen) + self.least - state.at - 1
        return (
            not self._counters
            and others < _MOST_DISTINCT
            and all(
                self.solver.has_more_values(self.item_goal(index), others) for index in self._missing_goals(state.at)
            )
        )

    def _goal_here(self, state: ArrayState, index: int) -> Formula:
        if index == state.at:
            return self._all_transitions(state)[0].goal
        return self.item_goal(index)

    def _search(self, start: ArrayState) -> bool:
        """Search depth first for a state that can close; items that count are tried first."""
        solver, live = self.solver, self.results_of("is_live")
        seen, todo = {start}, [start]
        while todo:
            state = todo.pop()
            for transition in reversed(self._all_transitions(state)):
                if transition.state in seen or not solver.is_satisfiable(transition.goal):
                    continue
                if self.can_close(transition.state) or live.get((transition.state,)):
                    return True
                seen.add(transition.state)
                solver.limits.check("errors.limit.array_states", len(seen), solver.limits.search, "search")
                todo.append(transition.state)
        return False

    # ------------------------------------------------------------------ items that must all differ

    def _has_distinct(self, state: ArrayState) -> bool:
        """Return whether items that all differ can complete the array; items that count are tried first."""
        tried = 0
        todo: list[tuple[ArrayState, tuple[Formula, ...]]] = [(state, ())]
        while todo:
            here, so_far = todo.pop()
            for transition in reversed(self._useful_transitions(here)):
                tried += 1
                if len(so_far) == _MOST_DISTINCT or tried > _MOST_TRIED:
                    self._refuse("errors.schema.many_unique", most=_MOST_DISTINCT)
                    return False
                if not self.solver.is_satisfiable(transition.goal):
                    continue
                wanted = (*so_far, transition.goal)
                if not self.can_close(transition.state):
                    todo.append((transition.state, wanted))
                elif self._can_differ(wanted):
                    return True
        return False

    def _check_distinct(self, values: Collection[Value]) -> None:
        """Check the memory for telling the next item from these earlier values.

        Each item is compared with all before it, so the work grows with the square of their number although no single
        step takes long.

        Raises:
            LimitExceededError: all items together exceed the work limit.
        """
        total = len(values) * sum(self._size(value) for value in values) // 2
        limits = self.solver.limits
        limits.check("errors.limit.unique_work", total, limits.work, "work")

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

    def _useful_transitions(self, state: ArrayState) -> list[ArrayTransition]:
        """Return the transitions that bring the end nearer; beyond all bounds, only items that count do."""
        transitions = self._all_transitions(state)
        return (
            transitions
            if state.at < self._steady
            else [transition for transition in transitions if transition.state.counts != state.counts]
        )

    @cached_property
    def _steady(self) -> int:
        """Return the first index from which all items have the same goal and the array is long enough."""
        ranges = [edge for part in self._ranges for edge in (part.first, part.end or 0)]
        return max(
            (self.least, *ranges, *(edge for counter in self._counters for edge in (counter.first, counter.end or 0)))
        )

    def _can_differ(self, wanted: tuple[Formula, ...]) -> bool:
        """Return whether different values satisfy the goals: a matching of goals to values."""
        choices: list[list[Value]] = []
        checkpoint(4 * len(wanted))
        known: dict[Formula, list[Value]] = {}  # most items have the same goal
        for goal in wanted:
            if goal not in known:
                values = self._values(goal, len(wanted))
                if values is None:
                    return False
                known[goal] = values
            choices.append(known[goal])
        taken: dict[Value, int] = {}
        return all(_match(row, choices, taken, set()) for row in range(len(choices)))

    def _values(self, goal: Formula, most: int) -> list[Value] | None:
        values = self.solver.values(goal, most)
        if values is None:
            self._refuse("errors.schema.large_unique")
        return values

    def _without_dead_ends(self, transition: ArrayTransition) -> Formula:
        """Return the goal of an item, without the values that the items after it need.

        Only the values of goals that few values satisfy matter: if a goal has more values than there are items missing,
        one of them is always left.
        """
        following = transition.state
        if self.can_close(following) or not self.is_live(following):
            return transition.goal
        found: dict[Formula, None] = {}
        reached, todo = {following}, [following]
        while todo:
            here = todo.pop()
            for each in self._useful_transitions(here):
                found[each.goal] = None
                if each.state not in reached and not self.can_close(each.state):
                    reached.add(each.state)
                    self.solver.limits.check("errors.limit.array_states", len(reached), _MOST_TRIED)
                    todo.append(each.state)
        longest = min(len(reached), _MOST_DISTINCT)
        few: dict[Value, None] = {}
        for goal in found:
            values = self._values(goal, longest + 1)
            if values is not None and len(values) <= longest:
                few.update(dict.fromkeys(values))
        needed = [value for value in few if not self.is_live(following._replace(seen=following.seen | {value}))]
        arena = self._arena
        assert self.distinct is not None
        return (
            arena.all_of((transition.goal, arena.negate(arena.enum(needed, self.distinct.location, seen=True))))
            if needed
            else transition.goal
        )

    def _refuse(self, key: str, **fields: object) -> None:
        """Raise during the precheck; later, count the array as dead and mark the answer as provisional."""
        assert self.distinct is not None
        if self.solver.budget is not None:
            raise UndecidedError(key, self.distinct.location, **fields)
        self.solver.mark_provisional()


def _match(row: int, choices: list[list[Value]], taken: dict[Value, int], seen: set[Value]) -> bool:
    """Find a value for a row by Kuhn's augmenting paths; rows that already have one may change theirs."""
    checkpoint(1 + len(choices[row]) // 4)
    for value in choices[row]:
        if value not in seen:
            seen.add(value)
            if value not in taken or _match(taken[value], choices, taken, seen):
                taken[value] = row
                return True
    return False


def _range(least: int, most: int | None, *, negated: bool) -> tuple[int, int | None]:
    """Return the bounds of a count with one bound, or of its negation."""
    if not negated:
        return least, most
    return (0, least - 1) if most is None else (most + 1, None)
