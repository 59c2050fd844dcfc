"""State machines of objects: one conjunction of assertions, and the states within an object that it distinguishes.

Keys are either names, which the conjunction mentions, or belong to key classes: sets
of other keys that no assertion distinguishes. Declared names come in their order, and
required ones among them cannot be skipped; other names and key classes come last.
Only `$schema`, where a text may name its schema, may come before the declared names too.
An assertion that some member exists among many keys is an existential constraint; whether a
member satisfies it is decided nondeterministically at its colon, and all choices are
followed side by side.

If there are too many alternatives for a machine each, a part of the conjunction stays
a formula; what is left of it is part of the state (see `residual`).

Where the number of members is bounded, or an existential constraint concerns keys
without names, the keys of the open object are recorded and cannot come twice.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from engine.schema_automaton.formula.nodes import EnumValues, Formula, Not, PropertyConstraint, sorted_spans
from engine.schema_automaton.solver.key_classes import KeyClass, find_key_classes
from engine.schema_automaton.solver.object_assertions import Assertions
from engine.schema_automaton.solver.object_search import completes
from engine.schema_automaton.string_languages.names import NameTrie
from engine.source import checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.schema_automaton.solver.solver import SchemaSolver
    from engine.source import Span


class ObjectState(NamedTuple):
    """A state of an object: what matters of the members so far.

    Attributes:
        case: the machine.
        position: the first declared name that may still come.
        seen: the names without a position in the order that have come, as a bit set.
        done: the existential constraints that are satisfied, as a bit set.
        size: the number of members so far, capped where larger numbers make no difference.
        extras: the recorded keys of key classes.
        left: the residual formula (see `residual`).
    """

    case: ObjectMachine
    position: int
    seen: int
    done: int
    size: int
    extras: frozenset[str]
    left: Formula


class ObjectTransition(NamedTuple):
    """A member: what its value must satisfy, and the state after it."""

    goal: Formula
    place: ObjectState


class ObjectMemo:
    """Memoised results about the states of objects.

    States refer to their machine, so the solver keeps the results, not the machine: there are no reference cycles, and
    a grammar is freed as soon as it is no longer used.
    """

    __slots__ = ("allowed", "end_moves", "inhabited", "live", "names", "plain")

    def __init__(self) -> None:
        self.inhabited: dict[ObjectMachine, int] = {}
        self.live: dict[ObjectState, bool] = {}
        self.allowed: dict[ObjectState, tuple[int, tuple[int, ...]]] = {}
        self.end_moves: dict[tuple[ObjectState, int, int, str], tuple[ObjectTransition, ...]] = {}
        self.plain: dict[tuple[ObjectMachine, int, int], tuple[ObjectTransition, ...]] = {}
        self.names: dict[ObjectMachine, tuple[int, int]] = {}


_NO_KEYS: frozenset[str] = frozenset()

UNKNOWN_KEY = "\ud800"
"""A recorded key whose text was not examined. No JSON text has this key."""


class ObjectMachine:
    """A conjunction of assertions over objects. It lives no longer than its solver."""

    def __init__(self, solver: SchemaSolver, conjunction: tuple[Formula, ...]) -> None:
        self._solver_ref = ref(solver)
        self._conjunction = conjunction
        self._assertions = assertions = Assertions(solver, conjunction)
        self.names, self.exists_constraints, self.watched, self.conditions = (
            assertions.names,
            assertions.exists_constraints,
            assertions.watched,
            assertions.conditions,
        )
        self.ordered = 0 if solver.any_order else assertions.declared
        self._begins = assertions.begins if self.ordered else 0
        self.all_exists_constraints = (1 << len(assertions.exists_constraints)) - 1
        self.most = assertions.most
        self.least = 0 if assertions.least <= assertions.required.bit_count() else assertions.least
        self.counted = self.least > 0 or self.most is not None

    @property
    def goals(self) -> SchemaSolver:
        """Return the solver that the machine belongs to."""
        solver = self._solver_ref()
        if solver is None:
            raise ReferenceError("the goals of this case are gone")
        return solver

    @property
    def start(self) -> ObjectState:
        """Return the state before the first member."""
        return ObjectState(self, 0, 0, 0, 0, _NO_KEYS, self.conditions.whole)

    @cached_property
    def watched_of_name(self) -> list[int]:
        """Return the constraints in `watched` that a member of each name concerns, as bit sets."""
        return self._assertions.watched_of_names(self.goals)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the source locations of the conjunction."""
        return sorted_spans(self._conjunction)

    def key_spans(self, names: int, *, has_others: bool) -> tuple[Span, ...]:
        """Return the source locations of the assertions that concern the next key; all locations if there are none.

        Args:
            names: the names that the key may be, as a bit set.
            has_others: whether the key may be none of `self.names`.
        """
        goals = self.goals
        live = frozenset(name for number, name in enumerate(self.names) if names >> number & 1)

        def concerns_key(item: Formula) -> bool:
            atom = item.item if isinstance(item, Not) else item
            if not isinstance(atom, PropertyConstraint):
                return True
            keys, _ = goals.keys(atom)
            if isinstance(keys, EnumValues):
                return not live.isdisjoint(map(str, keys.values))
            return has_others or any(goals.holds_string(keys, name) for name in live)

        return sorted_spans(filter(concerns_key, self._conjunction)) or self.spans

    @cached_property
    def trie(self) -> NameTrie:
        """Return the trie of the names."""
        return NameTrie(self.names, self.goals.escapes)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Return the number of each name, which needs no trie."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def _key_classes(self) -> tuple[tuple[KeyClass, ...], bool]:
        """Compute the key classes when keys without a name first matter."""
        return find_key_classes(self.goals, self.names, self._assertions.every, self.watched)

    @property
    def cells(self) -> tuple[KeyClass, ...]:
        """Return the key classes."""
        return self._key_classes[0]

    @property
    def any_key(self) -> bool:
        """Return whether every key that is not a name is in one of the key classes."""
        return self._key_classes[1]

    def holds_any_key(self, cells: tuple[int, ...]) -> bool:
        """Return whether every key that is not a name is in one of these key classes."""
        others = (cell for number, cell in enumerate(self.cells) if number not in cells)
        return self.any_key and not any(cell.has_keys(self.goals) for cell in others)

    @property
    def remembers(self) -> bool:
        """Return whether keys of key classes are recorded."""
        return self.least > 0 or bool(self.exists_constraints) or self.conditions.about_others != 0

    @property
    def open_cell(self) -> int:
        """Return 0, the number of the only key class, if that contains every key that is not a name; otherwise -1."""
        cells = self.cells
        return 0 if len(cells) == 1 and cells[0].keys is self.goals.arena.true else -1

    def forgets(self, state: ObjectState) -> bool:
        """Return whether the text of the next key will not matter after it."""
        return not self.remembers or self._is_settled(state, self.least - 1)

    def _is_settled(self, state: ObjectState, size: int) -> bool:
        """Return whether there are `size` members and no constraint is left on keys without a name."""
        return (
            state.done == self.all_exists_constraints
            and state.size >= size
            and not self.conditions.open(state.left) & self.conditions.about_others
        )

    # ------------------------------------------------------------------ states

    def can_close(self, state: ObjectState) -> bool:
        """Return whether the object may end."""
        if self.missing(state) or state.done != self.all_exists_constraints:
            return False
        if state.size < self.least or (self.most is not None and state.size > self.most):
            return False
        return state.left is self.goals.arena.true or self.conditions.holds_at_end(state.left)

    def wants(self, state: ObjectState) -> tuple[object, ...]:
        """Return what the object still needs.

        A member that changes none of it can be left out of whatever completes the object.
        """
        return self.missing(state), state.done, state.left, min(state.size, self.least)

    def missing(self, state: ObjectState) -> int:
        """Return the required names that have not come yet, as a bit set."""
        return (self._assertions.required & ~state.seen) >> state.position << state.position

    def candidates(self, state: ObjectState) -> tuple[list[int], bool]:
        """Return the names that the order allows next, and whether key classes may come."""
        names, with_cells = self._candidates(state)
        return list(_bits(names)), with_cells

    def _candidates(self, state: ObjectState) -> tuple[int, bool]:
        if self.most is not None and state.size >= self.most:
            return 0, False
        declared = (1 << self.ordered) - 1
        needed = self.missing(state) & declared
        if needed:
            first = needed & -needed
            ahead = self._begins if not state.position and not state.seen else 0
            return (2 * first - 1) >> state.position << state.position | ahead, False
        every = (1 << len(self.names)) - 1
        return declared >> state.position << state.position | every & ~declared & ~state.seen, True

    def allowed(self, state: ObjectState) -> tuple[int, tuple[int, ...]]:
        """Return the names (as a bit set) and the key classes that the next key may be of."""
        solver = self.goals
        known = solver.objects.allowed.get(state)
        if known is None:
            before = solver.provisional_epoch
            names, with_cells = self._candidates(state)
            mask = self._live_names(state, names)
            cells: tuple[int, ...] = ()
            if with_cells:
                cells = tuple(i for i, cell in enumerate(self.cells) if self._has_class_transition(state, i, cell))
            known = mask, cells
            if solver.provisional_epoch == before:
                solver.objects.allowed[state] = known
        return known

    def _live_names(self, state: ObjectState, names: int) -> int:
        """Return those of some names whose members can be completed, as a bit set."""
        in_order = 0
        if not state.seen and self.is_plain:  # then all states give the same answer, and each name is judged once
            solver = self.goals
            in_order = names & ((1 << self.ordered) - 1)
            judged, live = solver.objects.names.get(self, (0, 0))
            if in_order & ~judged:
                before = solver.provisional_epoch
                live |= self._plain_live(in_order & ~judged)
                if solver.provisional_epoch == before:
                    solver.objects.names[self] = judged | in_order, live
            in_order &= live
            names &= -1 << self.ordered
        return in_order | sum(1 << name for name in _bits(names) if self.end_moves(state, name, -1, ""))

    def _plain_live(self, names: int) -> int:
        """Return those of some declared names whose members can be completed, if a state is a position alone."""
        solver, assertions = self.goals, self._assertions
        if self._have_values(assertions.required):  # then all states are live
            return sum(1 << name for name in _bits(names) if solver.is_satisfiable(assertions.goal_of(solver, name)))
        return sum(1 << name for name in _bits(names) if self._plain_transitions(name))

    def _has_class_transition(self, state: ObjectState, number: int, cell: KeyClass) -> bool:
        if not self.remembers:
            return bool(self.end_moves(state, -1, number, "")) and cell.has_keys(self.goals)
        witness = cell.witness(self.goals, state.extras)
        return witness is not None and bool(self.end_moves(state, -1, number, witness))

    def end_moves(self, state: ObjectState, name: int, cell: int, key: str) -> tuple[ObjectTransition, ...]:
        """Return the members that a complete key may begin, without those that cannot be completed.

        Args:
            state: the state before the key.
            name: the number of the name, or -1.
            cell: the number of the key class, if the key is not a name.
            key: the text of the key, if it matters.
        """
        solver = self.goals
        if not state.seen and name < self.ordered and self.is_plain:
            return self._plain_transitions(name, cell)
        question = (state, name, cell, key)
        known = solver.objects.end_moves.get(question)
        if known is None:
            before = solver.provisional_epoch
            known = tuple(
                transition
                for transition in self.all_moves(state, name, cell, key)
                if solver.is_satisfiable(transition.goal) and self.is_live(transition.place)
            )
            if solver.provisional_epoch == before:
                solver.objects.end_moves[question] = known
        return known

    @cached_property
    def is_plain(self) -> bool:
        """Return whether a state within the declared order is a position and nothing more."""
        return not self.remembers and not self.counted and self.conditions.whole is self.goals.arena.true

    def _plain_transitions(self, name: int, cell: int = -1) -> tuple[ObjectTransition, ...]:
        """Return the member that a declared name, or a key of a key class, begins; the same in all plain states."""
        solver = self.goals
        known = solver.objects.plain.get((self, name, cell))
        if known is None:
            before = solver.provisional_epoch
            goal = self._assertions.goal_of(solver, name) if name >= 0 else self.cells[cell].goal
            known = ()
            if solver.is_satisfiable(goal):
                position = name + 1 if name >= 0 else self.ordered
                state = ObjectState(self, position, 0, 0, 0, _NO_KEYS, solver.arena.true)
                known = (ObjectTransition(goal, state),) if self.is_live(state) else ()
            if solver.provisional_epoch == before:
                solver.objects.plain[self, name, cell] = known
        return known

    def all_moves(self, state: ObjectState, name: int, cell: int, key: str) -> list[ObjectTransition]:
        """Return the members that a key may begin, including those without values and without completion.

        Args:
            state: the state before the key.
            name: the number of the name, or -1.
            cell: the number of the key class, if the key is not a name.
            key: the text of the key, if it matters.
        """
        arena = self.goals.arena
        count = 0
        if self.counted:
            count = state.size + 1 if self.most is not None else min(state.size + 1, self.least)
        extras = state.extras
        if name >= 0:
            goal, watched = self._assertions.goal_of(self.goals, name), self.watched_of_name[name]
            in_order = name < self.ordered
            begins = not state.position and not state.seen and self._begins >> name & 1
            position = name + 1 if in_order else state.position if begins else self.ordered
            seen = state.seen if in_order else state.seen | 1 << name
            if in_order and self.is_plain:
                seen &= ~self._begins  # after it, the state is the same as without `$schema`
        else:
            goal, watched = self.cells[cell].goal, self.cells[cell].exists_constraints
            position, seen = self.ordered, state.seen
            if not self.forgets(state):
                checkpoint(1 + len(extras) // 4)  # the set is copied
                extras = extras | {key}
        if state.left is not arena.true:
            residual = self._residual_after(state, position, name)
            text = self.names[name] if name >= 0 else None
            choices = self.conditions.split_goals(
                self.goals, (goal, residual), watched >> len(self.exists_constraints), text
            )
        else:
            choices = [(goal, state.left)]
        return [
            transition
            for goal, residual in choices
            for transition in self._choose_constraints(
                goal, watched, ObjectState(self, position, seen, state.done, count, extras, residual)
            )
        ]

    def _residual_after(self, state: ObjectState, position: int, name: int) -> Formula:
        """Return the residual formula once the names that the order has skipped cannot come any more."""
        residual = state.left
        checkpoint(1 + max(0, min(position, self.ordered) - state.position) // 4)
        for passed in range(state.position, min(position, self.ordered)):
            if passed != name:
                residual = self.conditions.assume(residual, self.conditions.of_name(self.names[passed]), holds=True)
        return residual

    def _choose_constraints(self, goal: Formula, watched: int, state: ObjectState) -> list[ObjectTransition]:
        arena = self.goals.arena
        open_constraints = watched & self.all_exists_constraints & ~state.done
        transitions = []
        chosen = open_constraints
        while True:  # all subsets of the constraints that this member could satisfy, the largest first
            checkpoint(2 + len(self.exists_constraints))
            values = [value for q, (_, value) in enumerate(self.exists_constraints) if chosen >> q & 1]
            following = state._replace(done=state.done | chosen)
            if following.extras and self._is_settled(following, self.least):
                following = following._replace(extras=_NO_KEYS)
            transitions.append(ObjectTransition(arena.all_of((goal, *values)), following))
            if chosen == 0:
                return transitions
            chosen = (chosen - 1) & open_constraints

    def moves_of(self, state: ObjectState, key: str) -> tuple[ObjectTransition, ...]:
        """Return the members that a key begins, if one key class contains every key that is not a name."""
        names, cells = self.allowed(state)
        name = self._numbers.get(key, -1)
        if name >= 0:
            return self.end_moves(state, name, -1, "") if names >> name & 1 else ()
        return self.end_moves(state, -1, cells[0], key) if cells and key not in state.extras else ()

    def value_goals(self) -> list[Formula]:
        """Return what the values of members must satisfy, apart from existential constraints."""
        if self.conditions.whole is self.goals.arena.true:
            names = (self._assertions.goal_of(self.goals, name) for name in range(len(self.names)))
            return [*names, *(cell.goal for cell in self.cells)]
        keys = [*((name, -1) for name in range(len(self.names))), *((-1, cell) for cell in range(len(self.cells)))]
        return [transition.goal for name, cell in keys for transition in self.all_moves(self.start, name, cell, "")]

    # ------------------------------------------------------------------ liveness

    def known_live(self, state: ObjectState) -> bool:
        """Return whether the object is already known to be completable from a state."""
        return self.goals.objects.live.get(state, False)

    def is_live(self, state: ObjectState) -> bool:
        """Return whether the object can be completed."""
        solver = self.goals
        return solver.is_live(solver.objects.live, state, self._is_live)

    def _is_live(self, state: ObjectState) -> bool:
        if self.can_close(state):
            return True
        if not self.counted and state.done == self.all_exists_constraints and state.left is self.goals.arena.true:
            return self._have_values(self.missing(state))
        return completes(self, state)

    def _have_values(self, names: int) -> bool:
        """Return whether every one of some names has a possible value; positive results are memoised."""
        solver, assertions = self.goals, self._assertions
        known = solver.objects.inhabited.get(self, 0)
        for name in _bits(names & ~known):
            if not solver.is_satisfiable(assertions.goal_of(solver, name)):
                return False
        if names & ~known:
            solver.objects.inhabited[self] = solver.objects.inhabited.get(self, 0) | names
        return True


def _bits(names: int) -> Iterator[int]:
    """Yield the numbers in a bit set, smallest first."""
    while names:
        yield (names & -names).bit_length() - 1
        names &= names - 1
