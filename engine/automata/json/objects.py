"""Cases of objects: one conjunction of assertions, and the places within an object that it tells apart.

Keys fall into names, which the conjunction mentions, and cells: sets of other
keys that no assertion tells apart. Declared names come in their order, and those
of them that are required cannot be passed over; other names and cells come last. What must merely exist among
many keys is a quest; whether a member fulfils it is a choice at its colon, and
all choices run side by side.

Where the number of keys counts, or a quest looks among keys without names, the
keys of the open object are remembered and cannot come twice.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from engine.automata.json.cells import Cell, find_cells, names_in
from engine.automata.json.formula import Among, Formula, MemberCount, Members, Not, span_of
from engine.automata.json.strings import Trie, TrieState

if TYPE_CHECKING:
    from engine.automata.json.goals import Goals


class ObjectPlace(NamedTuple):
    """How far an object has come.

    Attributes:
        position: the first declared name that may still come.
        seen: the names without a place in the order that came, as a bit set.
        done: the quests fulfilled, as a bit set.
        size: members so far, as far as that matters.
        extras: keys of cells so far, where they are remembered.
    """

    case: ObjectCase
    position: int
    seen: int
    done: int
    size: int
    extras: frozenset[str]


class ObjectMove(NamedTuple):
    """A member: what its value must satisfy, and the place after it."""

    goal: Formula
    place: ObjectPlace


class KeyPlace(NamedTuple):
    """Within a key.

    Attributes:
        names: the place within the trie of names; None where the key is none of them.
        cells: of each cell that the key may be in, its number and the state of its language.
        text: the key so far as it is written, where keys are remembered.
    """

    place: ObjectPlace
    names: TrieState | None
    cells: tuple[tuple[int, object], ...]
    text: bytes


class ObjectCase:
    """A conjunction of assertions over objects."""

    def __init__(self, goals: Goals, conjunction: tuple[Formula, ...]) -> None:
        self._goals = goals
        self.spans = tuple(sorted({span_of(item) for item in conjunction}))
        self.least = 0
        self.most: int | None = None
        self._every: list[tuple[Formula, Formula]] = []
        quests: list[tuple[Formula, Formula]] = []
        declared: dict[str, None] = {}
        needed: dict[str, list[Formula]] = {}
        for item in conjunction:
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
        mentioned = (name for keys, _ in (*self._every, *quests) for name in names_in(keys))
        self.names = tuple(dict.fromkeys((*declared, *needed, *mentioned)))
        self._ordered = 0 if goals.any_order else len(declared)
        self._required = sum(1 << i for i, name in enumerate(self.names) if name in needed)
        self._name_goals = [
            goals.arena.all_of([*(v for k, v in self._every if goals.holds_string(k, name)), *needed.get(name, ())])
            for name in self.names
        ]
        self.trie = Trie.of(self.names)
        self._quests = quests
        self._quests_of_name = [
            sum(1 << q for q, (keys, _) in enumerate(quests) if goals.holds_string(keys, name)) for name in self.names
        ]
        self._all_quests = (1 << len(quests)) - 1
        if self.least <= self._required.bit_count():
            self.least = 0
        self.counted = self.least > 0 or self.most is not None
        self._cells: tuple[Cell, ...] | None = None
        self.start = ObjectPlace(self, 0, 0, 0, 0, frozenset())
        self._live: dict[ObjectPlace, bool] = {}
        self._allowed: dict[ObjectPlace, tuple[int, tuple[int, ...]]] = {}
        self._end_moves: dict[tuple[ObjectPlace, int, int, str], tuple[ObjectMove, ...]] = {}

    def _count(self, atom: MemberCount, *, negated: bool) -> None:
        least, most = atom.least, atom.most
        if negated:
            least, most = (0, atom.least - 1) if atom.most is None else (atom.most + 1, None)
        self.least = max(self.least, least)
        self.most = most if self.most is None else self.most if most is None else min(self.most, most)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, found when keys without a name first matter."""
        if self._cells is None:
            self._cells = find_cells(self._goals, self.names, self._every, self._quests)
        return self._cells

    @property
    def remembers(self) -> bool:
        """Whether keys of cells are remembered."""
        return self.least > 0 or bool(self._quests)

    # ------------------------------------------------------------------ places

    def can_close(self, place: ObjectPlace) -> bool:
        """Whether the object may end."""
        if self._missing(place) or place.done != self._all_quests:
            return False
        return place.size >= self.least and (self.most is None or place.size <= self.most)

    def _missing(self, place: ObjectPlace) -> int:
        """The required names that have not come yet, as a bit set."""
        return (self._required & ~place.seen) >> place.position << place.position

    def _candidates(self, place: ObjectPlace) -> tuple[list[int], bool]:
        """The names that the order allows next, and whether cells may come."""
        if self.most is not None and place.size >= self.most:
            return [], False
        in_order = self._missing(place) & ((1 << self._ordered) - 1)
        if in_order:
            first = (in_order & -in_order).bit_length()
            return list(range(place.position, first)), False
        free = (i for i in range(self._ordered, len(self.names)) if not place.seen >> i & 1)
        return [*range(place.position, self._ordered), *free], True

    def allowed(self, place: ObjectPlace) -> tuple[int, tuple[int, ...]]:
        """The names (as a bit set) and the cells that the next key may be of."""
        known = self._allowed.get(place)
        if known is None:
            before = self._goals.assumptions
            names, with_cells = self._candidates(place)
            mask = sum(1 << i for i in names if self._name_moves(place, i))
            cells: tuple[int, ...] = ()
            if with_cells:
                cells = tuple(i for i, cell in enumerate(self.cells) if self._has_cell_move(place, i, cell))
            known = mask, cells
            if self._goals.assumptions == before:
                self._allowed[place] = known
        return known

    def _has_cell_move(self, place: ObjectPlace, number: int, cell: Cell) -> bool:
        if not self.remembers:
            return bool(self.end_moves(place, -1, number, ""))
        witness = cell.witness(self._goals, place.extras)
        return witness is not None and bool(self.end_moves(place, -1, number, witness))

    def _name_moves(self, place: ObjectPlace, name: int) -> tuple[ObjectMove, ...]:
        return self.end_moves(place, name, -1, "")

    def end_moves(self, place: ObjectPlace, name: int, cell: int, key: str) -> tuple[ObjectMove, ...]:
        """The members that a complete key may begin: of a name, or else of a cell; each can be completed."""
        question = (place, name, cell, key)
        known = self._end_moves.get(question)
        if known is None:
            goals = self._goals
            before = goals.assumptions
            known = tuple(
                move
                for move in self._all_moves(place, name, cell, key)
                if goals.is_satisfiable(move.goal) and self.is_live(move.place)
            )
            if goals.assumptions == before:
                self._end_moves[question] = known
        return known

    def _all_moves(self, place: ObjectPlace, name: int, cell: int, key: str) -> list[ObjectMove]:
        arena = self._goals.arena
        count = 0
        if self.counted:
            count = place.size + 1 if self.most is not None else min(place.size + 1, self.least)
        extras = place.extras
        if name >= 0:
            goal, open_quests = self._name_goals[name], self._quests_of_name[name]
            in_order = name < self._ordered
            position = name + 1 if in_order else self._ordered
            seen = place.seen if in_order else place.seen | 1 << name
        else:
            goal, open_quests = self.cells[cell].goal, self.cells[cell].quests
            position, seen = self._ordered, place.seen
            if self.remembers:
                extras = extras | {key}
        moves = []
        open_quests &= ~place.done
        chosen = open_quests
        while True:  # all subsets of the quests that this member could fulfil, the largest first
            values = [value for q, (_, value) in enumerate(self._quests) if chosen >> q & 1]
            following = ObjectPlace(self, position, seen, place.done | chosen, count, extras)
            if following.done == self._all_quests and self.least <= count:
                following = following._replace(extras=frozenset())
            moves.append(ObjectMove(arena.all_of((goal, *values)), following))
            if chosen == 0:
                return moves
            chosen = (chosen - 1) & open_quests

    # ------------------------------------------------------------------ keys

    def key_start(self, place: ObjectPlace) -> KeyPlace | None:
        """Within the key of the next member, before its first character; None where none may come."""
        names, cells = self.allowed(place)
        if not names and not cells:
            return None
        states = []
        for number in cells:
            language = self.cells[number].language(self._goals, place.extras)
            if language.start is not None:
                states.append((number, language.start))
        return KeyPlace(place, self.trie.start, tuple(states), b"")

    def key_step(self, key: KeyPlace, byte: int) -> KeyPlace | None:
        """After a byte of the key."""
        place, trie = key.place, self.trie
        allowed, _ = self.allowed(place)
        cells = []
        for number, state in key.cells:
            following = self.cells[number].language(self._goals, place.extras).step(state, byte)  # type: ignore[arg-type]
            if following is not None:
                cells.append((number, following))
        names, lives = None, bool(cells)
        if key.names is not None:
            names = trie.step(key.names, byte, allowed)
            if names is not None:
                lives = True
            elif cells:
                names = trie.step(key.names, byte, -1)  # off the names that may come, but perhaps on another
        if not lives:
            return None
        text = key.text + bytes([byte]) if self.remembers else b""
        return KeyPlace(place, names, tuple(cells), text)

    def key_end(self, key: KeyPlace) -> tuple[ObjectMove, ...]:
        """The members that a key begins if it ends here."""
        allowed, _ = self.allowed(key.place)
        if key.names is not None and self.trie.end(key.names, -1) >= 0:
            name = self.trie.end(key.names, allowed)
            return () if name < 0 else self.end_moves(key.place, name, -1, "")
        moves: list[ObjectMove] = []
        for number, state in key.cells:
            cell = self.cells[number]
            if cell.language(self._goals, key.place.extras).accepts(state):  # type: ignore[arg-type]
                text = json.loads(b'"' + key.text + b'"') if self.remembers else ""
                moves += self.end_moves(key.place, -1, number, text)
        return tuple(moves)

    def value_goals(self) -> list[Formula]:
        """What the values of members must satisfy, quests apart."""
        return [*self._name_goals, *(cell.goal for cell in self.cells)]

    def byte_classes(self, key: KeyPlace) -> list[bytes]:
        """The byte classes of the languages that read a key that is none of the names."""
        languages = [self.cells[number].language(self._goals, key.place.extras) for number, _ in key.cells]
        return [language.of_byte for language in languages]

    # ------------------------------------------------------------------ liveness

    def is_live(self, place: ObjectPlace) -> bool:
        """Whether the object can be completed."""
        known = self._live.get(place)
        if known is not None:
            return known
        before = self._goals.assumptions
        verdict = self._is_live(place)
        if verdict or self._goals.assumptions == before:
            self._live[place] = verdict
        return verdict

    def _is_live(self, place: ObjectPlace) -> bool:
        if self.can_close(place):
            return True
        if not self.counted and place.done == self._all_quests:
            left = self._missing(place)
            return all(self._goals.is_satisfiable(self._name_goals[i]) for i in range(len(self.names)) if left >> i & 1)
        return self._search(place)

    def _search(self, start: ObjectPlace) -> bool:
        """Depth first for a place that can close."""
        goals = self._goals
        reached, todo = {start}, [start]
        while todo:
            place = todo.pop()
            for move in self._witness_moves(place):
                if move.place in reached or not goals.is_satisfiable(move.goal):
                    continue
                if self.can_close(move.place) or self._live.get(move.place):
                    return True
                reached.add(move.place)
                goals.limits.check("places of an object", len(reached), goals.limits.search)
                todo.append(move.place)
        return False

    def _witness_moves(self, place: ObjectPlace) -> list[ObjectMove]:
        """The moves that bring the end nearer, those of a cell by one key that stands for all of its kind.

        A member that is not required, fulfils no quest and is not needed for the count can be left out of whatever
        completes the object. Where the order is free, required names may as well come first, and in one order.
        """
        names, with_cells = self._candidates(place)
        missing = self._missing(place)
        if missing and place.position >= self._ordered:
            return self._all_moves(place, (missing & -missing).bit_length() - 1, -1, "")
        moves: list[ObjectMove] = []
        if with_cells:
            for number, cell in enumerate(self.cells):
                if place.size < self.least or cell.quests & ~place.done:
                    witness = cell.witness(self._goals, place.extras) if self.remembers else ""
                    if witness is not None:
                        moves += reversed(self._all_moves(place, -1, number, witness))
        for name in reversed(names):
            if missing >> name & 1 or place.size < self.least or self._quests_of_name[name] & ~place.done:
                moves += reversed(self._all_moves(place, name, -1, ""))
        return [
            move
            for move in moves
            if place.size < self.least or move.place.done != place.done or self._missing(move.place) != missing
        ]
