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

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from engine.schema_automaton.formula.nodes import (
    EnumValues,
    Formula,
    MemberCount,
    Not,
    PropertyConstraint,
    sorted_spans,
)
from engine.schema_automaton.solver.key_classes import KeyClass, find_key_classes
from engine.schema_automaton.solver.machine import Machine, Solver, provisional_memo
from engine.schema_automaton.solver.residual import ResidualConditions
from engine.schema_automaton.string_languages.names import NameTrie
from engine.source import Span, checkpoint


class ObjectState(NamedTuple):
    """A state of an object: what matters of the members so far.

    Attributes:
        machine: the machine.
        position: the first declared name that may still come.
        seen: the names without a position in the order that have come, as a bit set.
        done: the existential constraints that are satisfied, as a bit set.
        size: the number of members so far, capped where larger numbers make no difference.
        extras: the recorded keys of key classes.
        left: the residual formula (see `residual`).
    """

    machine: ObjectMachine
    position: int
    seen: int
    done: int
    size: int
    extras: frozenset[str]
    left: Formula


class ObjectTransition(NamedTuple):
    """A member: what its value must satisfy, and the state after it."""

    goal: Formula
    state: ObjectState


_NO_KEYS: frozenset[str] = frozenset()

UNKNOWN_KEY = "\ud800"
"""A recorded key whose text was not examined. No JSON text has this key."""


class _Assertions:
    """The assertions of one conjunction about an object, sorted into universal ones, existential ones and counts.

    Names are sorted too: declared names in the order of the source, then required ones, then all others.

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

    def __init__(self, solver: Solver, conjunction: tuple[Formula, ...]) -> None:
        self._strings = strings = solver.strings
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
                declared.update(ResidualConditions(strings, [item]).names)
                continue
            keys, names = strings.keys(atom)
            if not negated and atom.begins:
                begin.update(names)
                continue
            if not negated:
                self.every.append((keys, atom.value))
                mentioned.update(names)
                if atom.declares:
                    declared.update(names)
                continue
            value = strings.arena.negate(atom.value)
            if strings.arena.is_doubtful(keys):  # an existential assertion needs the keys exactly
                keys = strings.project(atom.keys)
            if isinstance(keys, EnumValues) and len(keys.values) == 1 and isinstance(keys.values[0], str):
                self._needed.setdefault(keys.values[0], []).append(value)
            else:
                self.exists_constraints.append((keys, value))
                of_exists.update(names)
        self.conditions = ResidualConditions(strings, compound) if compound else solver.no_conditions
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

    def goal_of(self, number: int) -> Formula:
        """Return what the member with a name must satisfy, in the order of the source."""
        known = self._goals.get(number)
        if known is None:
            name, (listed, others) = self.names[number], self._by_keys
            stated = listed.get(name, [])
            checkpoint(1 + len(others))
            others_stated = [(index, value) for index, keys, value in others if self._strings.holds(keys, name)]
            if others_stated:
                stated = sorted([*stated, *others_stated], key=lambda pair: pair[0])
            known = self._strings.arena.all_of([*(value for _, value in stated), *self._needed.get(name, ())])
            self._goals[number] = known
        return known

    def watched_of_names(self) -> list[int]:
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
            bits | sum(1 << w for w, keys in others if self._strings.holds(keys, name)) for name, bits in listed.items()
        ]


class ObjectMachine(Machine):
    """A conjunction of assertions over objects."""

    def __init__(self, solver: Solver, conjunction: tuple[Formula, ...]) -> None:
        super().__init__(solver, conjunction)
        self.strings = solver.strings
        self._assertions = assertions = _Assertions(solver, conjunction)
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
    def start(self) -> ObjectState:
        """Return the state before the first member."""
        return ObjectState(self, 0, 0, 0, 0, _NO_KEYS, self.conditions.whole)

    @cached_property
    def watched_of_name(self) -> list[int]:
        """Return the constraints in `watched` that a member of each name concerns, as bit sets."""
        return self._assertions.watched_of_names()

    def key_spans(self, names: int, *, has_others: bool) -> tuple[Span, ...]:
        """Return the source locations of the assertions that concern the next key; all locations if there are none.

        Args:
            names: the names that the key may be, as a bit set.
            has_others: whether the key may be none of `self.names`.
        """
        live = frozenset(name for number, name in enumerate(self.names) if names >> number & 1)

        def concerns_key(item: Formula) -> bool:
            atom = item.item if isinstance(item, Not) else item
            if not isinstance(atom, PropertyConstraint):
                return True
            keys, _ = self.strings.keys(atom)
            if isinstance(keys, EnumValues):
                return not live.isdisjoint(map(str, keys.values))
            return has_others or any(self.strings.holds(keys, name) for name in live)

        return sorted_spans(filter(concerns_key, self._conjunction)) or self.spans

    @cached_property
    def trie(self) -> NameTrie:
        """Return the trie of the names."""
        return NameTrie(self.names, self.strings.escapes)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Return the number of each name, which needs no trie."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def _key_classes(self) -> tuple[tuple[KeyClass, ...], bool]:
        """Compute the key classes when keys without a name first matter."""
        return find_key_classes(self.strings, self.names, self._assertions.every, self.watched)

    @property
    def key_classes(self) -> tuple[KeyClass, ...]:
        """Return the key classes."""
        return self._key_classes[0]

    @property
    def any_key(self) -> bool:
        """Return whether every key that is not a name is in one of the key classes."""
        return self._key_classes[1]

    def holds_any_key(self, key_classes: tuple[int, ...]) -> bool:
        """Return whether every key that is not a name is in one of these key classes."""
        others = (key_class for number, key_class in enumerate(self.key_classes) if number not in key_classes)
        return self.any_key and not any(key_class.has_keys(self.strings) for key_class in others)

    @property
    def remembers(self) -> bool:
        """Return whether keys of key classes are recorded."""
        return self.least > 0 or bool(self.exists_constraints) or self.conditions.about_others != 0

    @property
    def only_class(self) -> int:
        """Return 0, the number of the only key class, if that contains every key that is not a name; otherwise -1."""
        key_classes = self.key_classes
        return 0 if len(key_classes) == 1 and key_classes[0].keys is self._arena.true else -1

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
        return state.left is self._arena.true or self.conditions.holds_at_end(state.left)

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
        names, with_key_classes = self._candidates(state)
        return list(_bits(names)), with_key_classes

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

    @provisional_memo
    def allowed(self, state: ObjectState) -> tuple[int, tuple[int, ...]]:
        """Return the names (as a bit set) and the key classes that the next key may be of."""
        names, with_key_classes = self._candidates(state)
        live = self._live_names(state, names)
        if not with_key_classes:
            return live, ()
        return live, tuple(i for i, each in enumerate(self.key_classes) if self._has_class_transition(state, i, each))

    def _live_names(self, state: ObjectState, names: int) -> int:
        """Return those of some names whose members can be completed, as a bit set."""
        in_order = 0
        if not state.seen and self.is_plain:  # then all states give the same answer, and each name is judged once
            in_order = names & ((1 << self.ordered) - 1)
            results = self.results_of("_live_names")
            judged, live = results.get((), (0, 0))
            if in_order & ~judged:
                solver = self.solver
                before = solver.provisional_epoch
                live |= self._plain_live(in_order & ~judged)
                if solver.provisional_epoch == before:
                    results[()] = judged | in_order, live
            in_order &= live
            names &= -1 << self.ordered
        return in_order | sum(1 << name for name in _bits(names) if self.transitions_after(state, name, -1, ""))

    def _plain_live(self, names: int) -> int:
        """Return those of some declared names whose members can be completed, if a state is a position alone."""
        assertions, is_satisfiable = self._assertions, self.solver.is_satisfiable
        if self._have_values(assertions.required):  # then all states are live
            return sum(1 << name for name in _bits(names) if is_satisfiable(assertions.goal_of(name)))
        return sum(1 << name for name in _bits(names) if self._plain_transitions(name, -1))

    def _has_class_transition(self, state: ObjectState, number: int, key_class: KeyClass) -> bool:
        if not self.remembers:
            return bool(self.transitions_after(state, -1, number, "")) and key_class.has_keys(self.strings)
        witness = key_class.witness(self.strings, state.extras)
        return witness is not None and bool(self.transitions_after(state, -1, number, witness))

    def transitions_after(self, state: ObjectState, name: int, number: int, key: str) -> tuple[ObjectTransition, ...]:
        """Return the members that a complete key may begin, without those that cannot be completed.

        Args:
            state: the state before the key.
            name: the number of the name, or -1.
            number: the number of the key class, if the key is not a name.
            key: the text of the key, if it matters.
        """
        if not state.seen and name < self.ordered and self.is_plain:
            return self._plain_transitions(name, number)
        return self._transitions_after(state, name, number, key)

    @provisional_memo
    def _transitions_after(self, state: ObjectState, name: int, number: int, key: str) -> tuple[ObjectTransition, ...]:
        solver = self.solver
        return tuple(
            transition
            for transition in self.all_transitions(state, name, number, key)
            if solver.is_satisfiable(transition.goal) and self.is_live(transition.state)
        )

    @cached_property
    def is_plain(self) -> bool:
        """Return whether a state within the declared order is a position and nothing more."""
        return not self.remembers and not self.counted and self.conditions.whole is self._arena.true

    @provisional_memo
    def _plain_transitions(self, name: int, number: int) -> tuple[ObjectTransition, ...]:
        """Return the member that a declared name, or a key of a key class, begins; the same in all plain states."""
        goal = self._assertions.goal_of(name) if name >= 0 else self.key_classes[number].goal
        if not self.solver.is_satisfiable(goal):
            return ()
        position = name + 1 if name >= 0 else self.ordered
        state = ObjectState(self, position, 0, 0, 0, _NO_KEYS, self._arena.true)
        return (ObjectTransition(goal, state),) if self.is_live(state) else ()

    def all_transitions(self, state: ObjectState, name: int, number: int, key: str) -> list[ObjectTransition]:
        """Return the members that a key may begin, including those without values and without completion.

        Args:
            state: the state before the key.
            name: the number of the name, or -1.
            number: the number of the key class, if the key is not a name.
            key: the text of the key, if it matters.
        """
        arena = self._arena
        count = 0
        if self.counted:
            count = state.size + 1 if self.most is not None else min(state.size + 1, self.least)
        extras = state.extras
        if name >= 0:
            goal, watched = self._assertions.goal_of(name), self.watched_of_name[name]
            in_order = name < self.ordered
            begins = not state.position and not state.seen and self._begins >> name & 1
            position = name + 1 if in_order else state.position if begins else self.ordered
            seen = state.seen if in_order else state.seen | 1 << name
            if in_order and self.is_plain:
                seen &= ~self._begins  # after it, the state is the same as without `$schema`
        else:
            goal, watched = self.key_classes[number].goal, self.key_classes[number].exists_constraints
            position, seen = self.ordered, state.seen
            if not self.forgets(state):
                checkpoint(1 + len(extras) // 4)  # the set is copied
                extras = extras | {key}
        if state.left is not arena.true:
            residual = self._residual_after(state, position, name)
            text = self.names[name] if name >= 0 else None
            choices = self.conditions.split_goals(
                self.solver.is_satisfiable, (goal, residual), watched >> len(self.exists_constraints), text
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
        arena = self._arena
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

    def transitions_of(self, state: ObjectState, key: str) -> tuple[ObjectTransition, ...]:
        """Return the members that a key begins, if one key class contains every key that is not a name."""
        names, key_classes = self.allowed(state)
        name = self._numbers.get(key, -1)
        if name >= 0:
            return self.transitions_after(state, name, -1, "") if names >> name & 1 else ()
        if not key_classes or key in state.extras:
            return ()
        return self.transitions_after(state, -1, key_classes[0], key)

    def value_goals(self) -> list[Formula]:
        """Return what the values of members must satisfy, apart from existential constraints."""
        if self.conditions.whole is self._arena.true:
            names = (self._assertions.goal_of(name) for name in range(len(self.names)))
            return [*names, *(key_class.goal for key_class in self.key_classes)]
        keys = [(name, -1) for name in range(len(self.names))]
        keys += ((-1, number) for number in range(len(self.key_classes)))
        return [each.goal for name, number in keys for each in self.all_transitions(self.start, name, number, "")]

    # ------------------------------------------------------------------ liveness

    @provisional_memo
    def is_live(self, state: ObjectState) -> bool:
        """Return whether the object can be completed."""
        checkpoint(4)
        if self.can_close(state):
            return True
        if not self.counted and state.done == self.all_exists_constraints and state.left is self._arena.true:
            return self._have_values(self.missing(state))
        return self._search(state)

    def _have_values(self, names: int) -> bool:
        """Return whether every one of some names has a possible value; positive results are memoised."""
        solver, results = self.solver, self.results_of("_have_values")
        known = results.get((), 0)
        for name in _bits(names & ~known):
            if not solver.is_satisfiable(self._assertions.goal_of(name)):
                return False
        if names & ~known:
            results[()] = results.get((), 0) | names
        return True

    def _search(self, start: ObjectState) -> bool:
        """Search depth first for a state that can close."""
        solver, live = self.solver, self.results_of("is_live")
        reached, todo = {start}, [start]
        while todo:
            state = todo.pop()
            checkpoint(8)
            for transition in self._witness_transitions(state):
                if transition.state in reached or not solver.is_satisfiable(transition.goal):
                    continue
                if self.can_close(transition.state) or live.get((transition.state,)):
                    return True
                reached.add(transition.state)
                solver.limits.check("errors.limit.object_states", len(reached), solver.limits.search, "search")
                todo.append(transition.state)
        return False

    def _witness_transitions(self, state: ObjectState) -> list[ObjectTransition]:
        """Return the transitions that bring the end nearer; each key class is represented by one key.

        A member that is not required, satisfies no existential constraint and is not needed for the count can be left
        out of whatever completes the object. If the order is free, it suffices to try names in one order, before key
        classes.
        """
        names, with_key_classes = self.candidates(state)
        missing = self.missing(state)
        open_constraints = (self.all_exists_constraints & ~state.done) | self.conditions.open(state.left) << len(
            self.exists_constraints
        )
        transitions: list[ObjectTransition] = []
        if with_key_classes and not missing:
            for number, key_class in enumerate(self.key_classes):
                if state.size < self.least or key_class.exists_constraints & open_constraints:
                    witness = key_class.witness(self.strings, state.extras) if self.remembers else ""
                    if witness is not None:
                        transitions += reversed(self.all_transitions(state, -1, number, witness))
        last = (missing & -missing).bit_length() - 1 if missing else len(self.names)
        for name in reversed(names):
            needed = missing >> name & 1 or state.size < self.least or self.watched_of_name[name] & open_constraints
            if name <= last and needed:
                checkpoint(4)
                transitions += reversed(
                    [self._as_if_ordered(transition, name) for transition in self.all_transitions(state, name, -1, "")]
                )
        return [
            transition
            for transition in transitions
            if state.size < self.least
            or transition.state.done != state.done
            or transition.state.left is not state.left
            or self.missing(transition.state) != missing
        ]

    def _as_if_ordered(self, transition: ObjectTransition, name: int) -> ObjectTransition:
        """Return a transition of a free order as if the names before this one could not come any more."""
        state = transition.state
        passed = (1 << name) - 1 >> self.ordered << self.ordered & ~state.seen
        if not passed:
            return transition
        residual = state.left
        if residual is not self._arena.true:
            for i in _bits(passed):
                residual = self.conditions.assume(residual, self.conditions.of_name(self.names[i]), holds=True)
        return transition._replace(state=state._replace(seen=state.seen | passed, left=residual))


def _bits(names: int) -> Iterator[int]:
    """Yield the numbers in a bit set, smallest first."""
    while names:
        yield (names & -names).bit_length() - 1
        names &= names - 1
