"""Cases of arrays: one conjunction of assertions, and the places within an array that it tells apart.

A place is how far an array has come: the index of the next item (as far as it
matters), and which `contains` have been met how often. Whether an item is to
count for one is a choice at the item's start; all choices run side by side.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from engine.schema_automaton.formula.nodes import (
    Contains,
    Formula,
    ItemCount,
    Items,
    Not,
    Place,
    UniqueItems,
    sorted_spans,
)
from engine.schema_automaton.formula.values import Value
from engine.source import EngineError, Span, checkpoint

if TYPE_CHECKING:
    from engine.schema_automaton.solver.solver import SchemaSolver


_MOST_DISTINCT = 64
_MOST_TRIED = 2_000  # ways to complete an array whose items must all differ


class UndecidedError(EngineError):
    """What a formula asks for is not decided by this engine."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.place = place


UNKNOWN_VALUE: Value = "\ud800"
"""Stands among the items seen for one that was not looked at. No JSON text has such a string."""


class ArrayState(NamedTuple):
    """How far an array has come.

    Attributes:
        at: the index of the next item, or the first index from which none differs.
        counts: of each quota the items that counted for it, as far as that matters.
        seen: the items so far where no two may be equal.
    """

    case: ArrayMachine
    at: int
    counts: tuple[int, ...]
    seen: frozenset[Value]


class ArrayTransition(NamedTuple):
    """An item: what it must satisfy, and the place after it."""

    goal: Formula
    place: ArrayState


class ArrayMemo:
    """What is known about places within arrays; it is kept by the goals, as that about objects is."""

    __slots__ = ("live", "moves")

    def __init__(self) -> None:
        self.live: dict[ArrayState, bool] = {}
        self.moves: dict[ArrayState, tuple[ArrayTransition, ...]] = {}


class _ContainsCounter(NamedTuple):
    """Between `least` and `most` items with an index in a range satisfy a formula."""

    value: Formula
    least: int
    most: int | None
    first: int
    end: int | None
    place: Place


class ArrayMachine:
    """A conjunction of assertions over arrays. It lives no longer than its goals do."""

    def __init__(self, goals: SchemaSolver, conjunction: tuple[Formula, ...]) -> None:
        self._known_by = ref(goals)
        self.least, self.most = 0, None
        self.distinct: UniqueItems | None = None
        self._equal: UniqueItems | None = None
        self._ranges: list[Items] = []
        self._quotas: list[_ContainsCounter] = []
        self._conjunction = conjunction
        for item in conjunction:
            self._add(item)
        edges = {self.least, self.most or 0}
        edges |= {edge for part in self._ranges for edge in (part.first, part.end or 0)}
        edges |= {edge for quota in self._quotas for edge in (quota.first, quota.end or 0)}
        self._last = max(edges)
        self._item_goals: dict[int, Formula] = {}

    least: int
    most: int | None

    @property
    def _goals(self) -> SchemaSolver:
        goals = self._known_by()
        if goals is None:
            raise ReferenceError("the goals of this case are gone")
        return goals

    @property
    def start(self) -> ArrayState:
        """Before the first item."""
        return ArrayState(self, 0, (0,) * len(self._quotas), frozenset())

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
                value = self._goals.arena.negate(atom.value)
                self._quotas.append(_ContainsCounter(value, 1, None, atom.first, atom.end, atom.place))
            case Contains():
                least, most = _range(atom.least, atom.most, negated=negated)
                self._quotas.append(_ContainsCounter(atom.value, least, most, 0, None, atom.place))
            case UniqueItems() if not negated:
                self.distinct = atom
            case UniqueItems():
                self._equal = atom
            case _:
                raise AssertionError(item)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where its assertions stand."""
        return sorted_spans(self._conjunction)

    # ------------------------------------------------------------------ places

    def can_close(self, place: ArrayState) -> bool:
        """Whether the array may end."""
        return (
            place.at >= self.least
            and (self.most is None or place.at <= self.most)
            and all(count >= quota.least for count, quota in zip(place.counts, self._quotas, strict=True))
        )

    def moves(self, place: ArrayState) -> tuple[ArrayTransition, ...]:
        """The items that may come next, each with a place that can be completed."""
        goals = self._goals
        known = goals.arrays.moves.get(place)
        if known is None:
            before = goals.provisional_epoch
            moves = self._all_moves(place)
            if self.distinct is not None:
                moves = [move._replace(goal=self._without_dead_ends(move)) for move in moves]
            known = tuple(move for move in moves if goals.is_satisfiable(move.goal) and self.is_live(move.place))
            if goals.provisional_epoch == before:
                goals.arrays.moves[place] = known
        return known

    def after_any(self, place: ArrayState) -> ArrayState | None:
        """The place after an item whose value was not looked at; None where it has to be."""
        if place.at < self.least or self._quotas or UNKNOWN_VALUE in place.seen:
            return None
        return place._replace(seen=place.seen | {UNKNOWN_VALUE})

    def has_spare(self, place: ArrayState) -> bool:
        """Whether some item may follow whatever the one was that was not looked at."""
        known = place._replace(seen=place.seen - {UNKNOWN_VALUE})
        return any(len(self._goals.values(move.goal, 2) or (0, 0)) > 1 for move in self.moves(known))

    def after(self, place: ArrayState, value: Value) -> ArrayState | None:
        """The place after an item that is `value`, where no two items may be equal."""
        following = place._replace(seen=place.seen | {value})
        return following if self.is_live(following) else None

    def item_goal(self, index: int) -> Formula:
        """What the item at an index must satisfy, quotas apart."""
        goal = self._item_goals.get(index)
        if goal is None:
            checkpoint(1 + len(self._ranges) // 8)
            goal = self._goals.arena.all_of(
                part.value for part in self._ranges if part.first <= index and (part.end is None or index < part.end)
            )
            self._item_goals[index] = goal
        return goal

    def _all_moves(self, place: ArrayState) -> list[ArrayTransition]:
        if self.most is not None and place.at >= self.most:
            return []
        arena, index = self._goals.arena, place.at
        checkpoint(4 + len(self._quotas) + len(place.seen))
        ways: list[tuple[Formula, tuple[int, ...]]] = [(self.item_goal(index), ())]
        if place.seen:
            assert self.distinct is not None
            self._goals.check_distinct(place.seen)
            used = arena.among(sorted(place.seen, key=repr), self.distinct.place, seen=True)
            ways = [(arena.all_of((ways[0][0], arena.negate(used))), ())]
        for quota, count in zip(self._quotas, place.counts, strict=True):
            checkpoint(4 * len(ways))
            ways = [
                (goal, (*counts, n)) for goal, counts in ways for goal, n in self._choices(goal, quota, count, index)
            ]
        following = min(index + 1, self._last)
        if self.most is not None:
            following = index + 1
        return [ArrayTransition(goal, ArrayState(self, following, counts, place.seen)) for goal, counts in ways]

    def _choices(self, goal: Formula, quota: _ContainsCounter, count: int, index: int) -> list[tuple[Formula, int]]:
        """An item counts for a quota, or does not."""
        arena = self._goals.arena
        if index < quota.first or (quota.end is not None and index >= quota.end):
            return [(goal, count)]
        if quota.most is None:
            if count >= quota.least:
                return [(goal, count)]
            return [(arena.all_of((goal, quota.value)), count + 1), (goal, count)]
        without = (arena.all_of((goal, arena.negate(quota.value))), count)
        if count >= quota.most:
            return [without]
        counted = goal if quota.least == 0 else arena.all_of((goal, quota.value))
        return [(counted, count + 1), without]

    def sample(self) -> list[ArrayState]:
        """A place for each index from which goals differ."""
        edges = {0, *(part.first for part in self._ranges), *(part.end or 0 for part in self._ranges)}
        return [self.start._replace(at=index) for index in sorted(edges)]

    # ------------------------------------------------------------------ liveness

    def is_live(self, place: ArrayState) -> bool:
        """Whether the array can be completed."""
        goals = self._goals
        return goals.is_live(goals.arrays.live, place, self._is_live)

    def _is_live(self, place: ArrayState) -> bool:
        if self._equal is not None:
            if self._goals.budget is not None:
                raise UndecidedError("that two items are equal cannot be asked for", self._equal.place)
            self._goals.mark_provisional()
            return False
        if self.can_close(place):
            return True
        if self.most is not None and self.least > self.most:
            return False
        if self.distinct is not None and (self._quotas or self.least - place.at > 1):
            return self._has_distinct(place)
        if not self._quotas:
            # Only the items up to the least count matter, and only where their goals change.
            edges = {place.at, *(part.first for part in self._ranges), *(part.end or 0 for part in self._ranges)}
            return all(
                self._goals.is_satisfiable(self._goal_here(place, index))
                for index in sorted(edges)
                if place.at <= index < self.least
            )
        return self._search(place)

    def _goal_here(self, place: ArrayState, index: int) -> Formula:
        if index == place.at:
            return self._all_moves(place)[0].goal
        return self.item_goal(index)

    def _search(self, start: ArrayState) -> bool:
        """Depth first for a place that can close; what counts for a quota is tried first."""
        goals = self._goals
        seen, todo = {start}, [start]
        while todo:
            place = todo.pop()
            for move in reversed(self._all_moves(place)):
                if move.place in seen or not goals.is_satisfiable(move.goal):
                    continue
                if self.can_close(move.place) or goals.arrays.live.get(move.place):
                    return True
                seen.add(move.place)
                goals.limits.check("places of an array", len(seen), goals.limits.search, "search")
                todo.append(move.place)
        return False

    # ------------------------------------------------------------------ items that must all differ

    def _has_distinct(self, place: ArrayState) -> bool:
        """Whether items may follow that complete the array and all differ; what counts for a quota is tried first."""
        tried = 0
        todo: list[tuple[ArrayState, tuple[Formula, ...]]] = [(place, ())]
        while todo:
            here, so_far = todo.pop()
            for move in reversed(self._useful_moves(here)):
                tried += 1
                if len(so_far) == _MOST_DISTINCT or tried > _MOST_TRIED:
                    self._refuse(f"more than {_MOST_DISTINCT} items that must all differ are not looked for")
                    return False
                if not self._goals.is_satisfiable(move.goal):
                    continue
                wanted = (*so_far, move.goal)
                if not self.can_close(move.place):
                    todo.append((move.place, wanted))
                elif self._can_differ(wanted):
                    return True
        return False

    def _useful_moves(self, place: ArrayState) -> list[ArrayTransition]:
        """The items that bring the end nearer: behind all bounds, an item that counts for nothing can be left out."""
        moves = self._all_moves(place)
        return moves if place.at < self._steady else [move for move in moves if move.place.counts != place.counts]

    @cached_property
    def _steady(self) -> int:
        """The first index from which all items are asked for the same, and from which there are enough of them."""
        ranges = [edge for part in self._ranges for edge in (part.first, part.end or 0)]
        return max((self.least, *ranges, *(edge for quota in self._quotas for edge in (quota.first, quota.end or 0))))

    def _can_differ(self, wanted: tuple[Formula, ...]) -> bool:
        """Whether there are different values for some goals: a matching of goals to values."""
        choices: list[list[Value]] = []
        checkpoint(4 * len(wanted))
        known: dict[Formula, list[Value]] = {}  # most items must satisfy the same
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
        values = self._goals.values(goal, most)
        if values is None:
            self._refuse("whether so many arrays or objects can all differ is not decided")
        return values

    def _without_dead_ends(self, move: ArrayTransition) -> Formula:
        """The goal of an item, without the values that the items after it cannot do without.

        Only values of goals that have few of them matter: where more are left than items are missing, there is always
        one that no other item takes.
        """
        following = move.place
        if self.can_close(following) or not self.is_live(following):
            return move.goal
        found: dict[Formula, None] = {}
        reached, todo = {following}, [following]
        while todo:
            here = todo.pop()
            for each in self._useful_moves(here):
                found[each.goal] = None
                if each.place not in reached and not self.can_close(each.place):
                    reached.add(each.place)
                    self._goals.limits.check("places of an array", len(reached), _MOST_TRIED)
                    todo.append(each.place)
        longest = min(len(reached), _MOST_DISTINCT)
        few: dict[Value, None] = {}
        for goal in found:
            values = self._values(goal, longest + 1)
            if values is not None and len(values) <= longest:
                few.update(dict.fromkeys(values))
        needed = [value for value in few if not self.is_live(following._replace(seen=following.seen | {value}))]
        arena = self._goals.arena
        assert self.distinct is not None
        return (
            arena.all_of((move.goal, arena.negate(arena.among(needed, self.distinct.place, seen=True))))
            if needed
            else move.goal
        )

    def _refuse(self, message: str) -> None:
        """Raise while compiling; later, count what is in question as impossible, and build nothing on it."""
        assert self.distinct is not None
        if self._goals.budget is not None:
            raise UndecidedError(message, self.distinct.place)
        self._goals.mark_provisional()


def _match(row: int, choices: list[list[Value]], taken: dict[Value, int], seen: set[Value]) -> bool:
    """Kuhn's augmenting path: a value for a row, where others may move."""
    checkpoint(1 + len(choices[row]) // 4)
    for value in choices[row]:
        if value not in seen:
            seen.add(value)
            if value not in taken or _match(taken[value], choices, taken, seen):
                taken[value] = row
                return True
    return False


def _range(least: int, most: int | None, *, negated: bool) -> tuple[int, int | None]:
    """A count with one bound, or its negation."""
    if not negated:
        return least, most
    return (0, least - 1) if most is None else (most + 1, None)
