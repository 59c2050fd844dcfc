"""Cases of objects: one conjunction of assertions, and the places within an object that it tells apart.

Keys fall into names, which the conjunction mentions, and cells: sets of other
keys that no assertion tells apart. Declared names come in their order, and those
of them that are required cannot be passed over; other names and cells come last.
What must merely exist among many keys is a quest; whether a member fulfils it is
a choice at its colon, and all choices run side by side.

Where alternatives are too many for a case each, a part of the conjunction is a
formula still; what is left of it is part of the place (see `conditions`).

Where the number of keys counts, or a quest looks among keys without names, the
keys of the open object are remembered and cannot come twice.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from engine.automata.json.formula import Among, Formula, MemberCount, Members, Not, is_compound, sorted_spans
from engine.automata.json.objects.cells import Cell, find_cells, names_in
from engine.automata.json.objects.conditions import Conditions
from engine.automata.json.objects.search import completes
from engine.automata.json.strings.names import Trie
from engine.source import turn

if TYPE_CHECKING:
    from engine.automata.json.goals import Goals
    from engine.source import Span


class ObjectPlace(NamedTuple):
    """How far an object has come.

    Attributes:
        position: the first declared name that may still come.
        seen: the names without a place in the order that came, as a bit set.
        done: the quests fulfilled, as a bit set.
        size: members so far, as far as that matters.
        extras: keys of cells so far, where they are remembered.
        left: what is left of the conditions (see `conditions`).
    """

    case: ObjectCase
    position: int
    seen: int
    done: int
    size: int
    extras: frozenset[str]
    left: Formula


class ObjectMove(NamedTuple):
    """A member: what its value must satisfy, and the place after it."""

    goal: Formula
    place: ObjectPlace


UNKNOWN_KEY = "\ud800"
"""Stands among the extras of a place for a key that was not looked at. No JSON text has such a key."""


class ObjectCase:
    """A conjunction of assertions over objects."""

    def __init__(self, goals: Goals, conjunction: tuple[Formula, ...]) -> None:
        self.goals = goals
        self._conjunction = conjunction
        self.least = 0
        self.most: int | None = None
        self._every: list[tuple[Formula, Formula]] = []
        quests: list[tuple[Formula, Formula]] = []
        declared: dict[str, None] = {}
        needed: dict[str, list[Formula]] = {}
        compound = [item for item in conjunction if is_compound(item)]
        self.conditions = Conditions(goals, compound)
        for item in conjunction:
            turn()
            if item in compound:
                declared.update(Conditions(goals, [item]).names)
                continue
            atom = item.item if isinstance(item, Not) else item
            if isinstance(atom, MemberCount):
                self._count(atom, negated=isinstance(item, Not))
                continue
            assert isinstance(atom, Members)
            keys = goals.string_formula(atom.keys)
            if not isinstance(item, Not):
                self._every.append((keys, atom.value))
                if atom.declares:
                    declared.update(dict.fromkeys(names_in(keys)))
                continue
            value = goals.arena.negate(atom.value)
            if isinstance(keys, Among) and len(keys.values) == 1 and isinstance(keys.values[0], str):
                needed.setdefault(keys.values[0], []).append(value)
            else:
                quests.append((keys, value))
        self.watched = [*quests, *self.conditions.atoms]
        mentioned = (name for keys, _ in (*self._every, *self.watched) for name in names_in(keys))
        self.names = tuple(dict.fromkeys((*declared, *needed, *mentioned)))
        self.ordered = 0 if goals.any_order else len(declared)
        self._required = sum(1 << i for i, name in enumerate(self.names) if name in needed)
        self._needed = needed
        self.quests = quests
        self.all_quests = (1 << len(quests)) - 1
        if self.least <= self._required.bit_count():
            self.least = 0
        self.counted = self.least > 0 or self.most is not None
        self.start = ObjectPlace(self, 0, 0, 0, 0, frozenset(), self.conditions.whole)
        self._live: dict[ObjectPlace, bool] = {}
        self._allowed: dict[ObjectPlace, tuple[int, tuple[int, ...]]] = {}
        self._end_moves: dict[tuple[ObjectPlace, int, int, str], tuple[ObjectMove, ...]] = {}

    @cached_property
    def _name_goals(self) -> list[Formula]:
        """What a member of each name must satisfy, in the order of the source."""
        goals = self.goals
        listed: dict[str, list[tuple[int, Formula]]] = {}
        others: list[tuple[int, Formula, Formula]] = []
        for number, (keys, value) in enumerate(self._every):
            if isinstance(keys, Among):
                for name in keys.values:
                    listed.setdefault(str(name), []).append((number, value))
            else:
                others.append((number, keys, value))
        found = []
        for name in self.names:
            of_others = [(number, value) for number, keys, value in others if goals.holds_string(keys, name)]
            of_name = [*listed.get(name, ()), *of_others]
            if of_others:
                of_name.sort(key=lambda pair: pair[0])
            found.append(goals.arena.all_of([*(value for _, value in of_name), *self._needed.get(name, ())]))
        return found

    @cached_property
    def watched_of_name(self) -> list[int]:
        """The quests that a member of each name may fulfil, and the conditions on it, as bit sets."""
        holds = self.goals.holds_string
        return [sum(1 << w for w, (keys, _) in enumerate(self.watched) if holds(keys, name)) for name in self.names]

    def _count(self, atom: MemberCount, *, negated: bool) -> None:
        least, most = atom.least, atom.most
        if negated:
            least, most = (0, atom.least - 1) if atom.most is None else (atom.most + 1, None)
        self.least = max(self.least, least)
        self.most = most if self.most is None else self.most if most is None else min(self.most, most)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where its assertions stand."""
        return sorted_spans(self._conjunction)

    @cached_property
    def trie(self) -> Trie:
        """The names, to be read."""
        return Trie(self.names)

    @cached_property
    def _found_cells(self) -> tuple[tuple[Cell, ...], bool]:
        """Found when keys without a name first matter."""
        return find_cells(self.goals, self.names, self._every, self.watched)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells."""
        return self._found_cells[0]

    @property
    def any_key(self) -> bool:
        """Whether every key that is no name is in one of the cells."""
        return self._found_cells[1]

    @property
    def remembers(self) -> bool:
        """Whether keys of cells are remembered."""
        return self.least > 0 or bool(self.quests) or self.conditions.about_others != 0

    @property
    def open_cell(self) -> int:
        """The number of the only cell, where that holds every key that is no name; -1 otherwise."""
        cells = self.cells
        return 0 if len(cells) == 1 and cells[0].keys is self.goals.arena.true else -1

    def forgets(self, place: ObjectPlace) -> bool:
        """Whether the text of the next key will not matter once it ended."""
        return not self.remembers or self._is_settled(place, self.least - 1)

    def _is_settled(self, place: ObjectPlace, size: int) -> bool:
        """Whether there are so many members, and neither quests nor conditions are left for keys without a name."""
        return (
            place.done == self.all_quests
            and place.size >= size
            and not self.conditions.open(place.left) & self.conditions.about_others
        )

    # ------------------------------------------------------------------ places

    def can_close(self, place: ObjectPlace) -> bool:
        """Whether the object may end."""
        if self.missing(place) or place.done != self.all_quests:
            return False
        if place.size < self.least or (self.most is not None and place.size > self.most):
            return False
        return place.left is self.goals.arena.true or self.conditions.holds_at_end(place.left)

    def wants(self, place: ObjectPlace) -> tuple[object, ...]:
        """What an object still wants: a member that changes none of it can be left out of whatever completes it."""
        return self.missing(place), place.done, place.left, min(place.size, self.least)

    def missing(self, place: ObjectPlace) -> int:
        """The required names that have not come yet, as a bit set."""
        return (self._required & ~place.seen) >> place.position << place.position

    def candidates(self, place: ObjectPlace) -> tuple[list[int], bool]:
        """The names that the order allows next, and whether cells may come."""
        if self.most is not None and place.size >= self.most:
            return [], False
        in_order = self.missing(place) & ((1 << self.ordered) - 1)
        if in_order:
            first = (in_order & -in_order).bit_length()
            return list(range(place.position, first)), False
        free = (i for i in range(self.ordered, len(self.names)) if not place.seen >> i & 1)
        return [*range(place.position, self.ordered), *free], True

    def allowed(self, place: ObjectPlace) -> tuple[int, tuple[int, ...]]:
        """The names (as a bit set) and the cells that the next key may be of."""
        known = self._allowed.get(place)
        if known is None:
            before = self.goals.assumptions
            names, with_cells = self.candidates(place)
            mask = sum(1 << i for i in names if self.end_moves(place, i, -1, ""))
            cells: tuple[int, ...] = ()
            if with_cells:
                cells = tuple(i for i, cell in enumerate(self.cells) if self._has_cell_move(place, i, cell))
            known = mask, cells
            if self.goals.assumptions == before:
                self._allowed[place] = known
        return known

    def _has_cell_move(self, place: ObjectPlace, number: int, cell: Cell) -> bool:
        if not self.remembers:
            return bool(self.end_moves(place, -1, number, ""))
        witness = cell.witness(self.goals, place.extras)
        return witness is not None and bool(self.end_moves(place, -1, number, witness))

    def end_moves(self, place: ObjectPlace, name: int, cell: int, key: str) -> tuple[ObjectMove, ...]:
        """The members that a complete key may begin: of a name, or else of a cell; each can be completed."""
        question = (place, name, cell, key)
        known = self._end_moves.get(question)
        if known is None:
            goals = self.goals
            before = goals.assumptions
            known = tuple(
                move
                for move in self.all_moves(place, name, cell, key)
                if goals.is_satisfiable(move.goal) and self.is_live(move.place)
            )
            if goals.assumptions == before:
                self._end_moves[question] = known
        return known

    def all_moves(self, place: ObjectPlace, name: int, cell: int, key: str) -> list[ObjectMove]:
        """The members that a key may begin, whether or not there are such values or the object can be completed."""
        arena = self.goals.arena
        count = 0
        if self.counted:
            count = place.size + 1 if self.most is not None else min(place.size + 1, self.least)
        extras = place.extras
        if name >= 0:
            goal, watched = self._name_goals[name], self.watched_of_name[name]
            in_order = name < self.ordered
            position = name + 1 if in_order else self.ordered
            seen = place.seen if in_order else place.seen | 1 << name
        else:
            goal, watched = self.cells[cell].goal, self.cells[cell].quests
            position, seen = self.ordered, place.seen
            if not self.forgets(place):
                extras = extras | {key}
        if place.left is not arena.true:
            left = self._passed_over(place, position, name)
            ways = self._ways(goal, left, watched >> len(self.quests), name)
        else:
            ways = [(goal, place.left)]
        return [
            move
            for goal, left in ways
            for move in self._moves_with_quests(
                goal, watched, ObjectPlace(self, position, seen, place.done, count, extras, left)
            )
        ]

    def _passed_over(self, place: ObjectPlace, position: int, name: int) -> Formula:
        """What is left of the conditions once the names that the order has passed over cannot come any more."""
        left = place.left
        for passed in range(place.position, min(position, self.ordered)):
            if passed != name:
                left = self.conditions.assume(left, self.conditions.of_name(self.names[passed]), holds=True)
        return left

    def _ways(self, goal: Formula, left: Formula, atoms: int, name: int) -> list[tuple[Formula, Formula]]:
        """What a value may be as to each open condition, and what is left of the conditions then."""
        goals, conditions = self.goals, self.conditions
        alone = conditions.of_name(self.names[name]) if name >= 0 else 0
        ways = [(goal, left)]
        for number, (_, value) in enumerate(conditions.atoms):
            bit = 1 << number
            if not atoms & bit:
                continue
            split: list[tuple[Formula, Formula]] = []
            for so_far, still in ways:
                if not conditions.open(still) & bit:
                    split.append((so_far, still))
                    continue
                kept = conditions.assume(still, bit, holds=True) if alone & bit else still
                for part, rest in (
                    (value, kept),
                    (goals.arena.negate(value), conditions.assume(still, bit, holds=False)),
                ):
                    whole = goals.arena.all_of((so_far, part))
                    if rest is not goals.arena.false and goals.is_satisfiable(whole):
                        split.append((whole, rest))
            ways = split
        return ways

    def _moves_with_quests(self, goal: Formula, watched: int, place: ObjectPlace) -> list[ObjectMove]:
        arena = self.goals.arena
        open_quests = watched & self.all_quests & ~place.done
        moves = []
        chosen = open_quests
        while True:  # all subsets of the quests that this member could fulfil, the largest first
            values = [value for q, (_, value) in enumerate(self.quests) if chosen >> q & 1]
            following = place._replace(done=place.done | chosen)
            if following.extras and self._is_settled(following, self.least):
                following = following._replace(extras=frozenset())
            moves.append(ObjectMove(arena.all_of((goal, *values)), following))
            if chosen == 0:
                return moves
            chosen = (chosen - 1) & open_quests

    def moves_of(self, place: ObjectPlace, key: str) -> tuple[ObjectMove, ...]:
        """The members that a key begins, where every key that is no name is in one cell."""
        names, cells = self.allowed(place)
        name = self.trie.numbers.get(key, -1)
        if name >= 0:
            return self.end_moves(place, name, -1, "") if names >> name & 1 else ()
        return self.end_moves(place, -1, cells[0], key) if cells and key not in place.extras else ()

    def value_goals(self) -> list[Formula]:
        """What the values of members must satisfy, quests apart."""
        if self.conditions.whole is self.goals.arena.true:
            return [*self._name_goals, *(cell.goal for cell in self.cells)]
        keys = [*((name, -1) for name in range(len(self.names))), *((-1, cell) for cell in range(len(self.cells)))]
        return [move.goal for name, cell in keys for move in self.all_moves(self.start, name, cell, "")]

    # ------------------------------------------------------------------ liveness

    def known_live(self, place: ObjectPlace) -> bool:
        """Whether the object was found to be completable from there."""
        return self._live.get(place, False)

    def is_live(self, place: ObjectPlace) -> bool:
        """Whether the object can be completed."""
        known = self._live.get(place)
        if known is not None:
            return known
        before = self.goals.assumptions
        verdict = self._is_live(place)
        if verdict or self.goals.assumptions == before:
            self._live[place] = verdict
        return verdict

    def _is_live(self, place: ObjectPlace) -> bool:
        if self.can_close(place):
            return True
        if not self.counted and place.done == self.all_quests and place.left is self.goals.arena.true:
            left = self.missing(place)
            return all(self.goals.is_satisfiable(self._name_goals[i]) for i in range(len(self.names)) if left >> i & 1)
        return completes(self, place)
