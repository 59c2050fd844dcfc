"""The runtime of a JSON grammar: one parse, with everything that may be meant by it side by side.

JSON is visibly pushdown (Alur and Madhusudan, STOC 2004): its bytes alone tell
when a level opens and closes. So a configuration is a linked stack of levels,
and each level holds the places that a value may be at, each with the places of
the level below that it belongs to (a bit set). The number of places of a level
does not multiply with depth. When a value ends, those below whose value it
satisfies go on, and the others are gone.

Only places that can be completed are kept, so no configuration is a dead end.

Where no two items of an array may be equal, the text of the open item is part
of the configuration.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeAlias

from engine.automata.byte_classes import ByteClasses
from engine.automata.json.arrays import ArrayMove, ArrayPlace
from engine.automata.json.formula import All, ExactlyOne, Formula, Some, span_of
from engine.automata.json.goals import Goals, Leaf
from engine.automata.json.objects import KeyPlace, ObjectMove, ObjectPlace
from engine.automata.json.strings import TextLanguage
from engine.automata.json.values import WORDS, Kind, from_text
from engine.automata.json.whitespace import Whitespace, is_complete
from engine.automata.json.whitespace import step as blank
from engine.automata.runtime import DEAD, MISS
from engine.automata.table import LazyTable
from engine.source import Limits, Span

DEEPEST: Final = 10_000
"""Frames that a question about nested goals may take; a level of required members takes about ten."""


class Phase(IntEnum):
    """Where within a level the text stands."""

    ROOT = 0  # before the only value
    DONE = 1  # after it
    WORD = 2  # within null, false, true
    NUMBER = 3
    STRING = 4
    OPEN_ARRAY = 5  # behind [
    ITEM = 6  # behind a comma
    IN_ITEM = 7  # an item is open above
    AFTER_ITEM = 8
    OPEN_OBJECT = 9  # behind {
    MEMBER = 10  # behind a comma
    KEY = 11  # within a key
    AFTER_KEY = 12
    VALUE = 13  # behind a colon
    AFTER_MEMBER = 14


_Place: TypeAlias = Any
"""What a level holds: a `Leaf`, a place, a move or a key, as its phase says."""

_Items: TypeAlias = tuple[tuple[_Place, int], ...]


class _Key(NamedTuple):
    """A configuration: its top level, and the configuration that is the rest of the stack.

    Attributes:
        below: the configuration on which this level stands.
        blanks: the state of white space; within a word, how much of it was read.
        items: the places, each with those of the level below that it belongs to, as a bit set.
        text: the text since an item began that must differ from others; empty outside of those.
    """

    below: int
    phase: Phase
    blanks: int
    items: _Items
    text: bytes


class _Root(NamedTuple):
    goal: Formula


_BEHIND: Final = frozenset((Phase.ITEM, Phase.MEMBER, Phase.VALUE))
_NUMERIC: Final = frozenset(b"0123456789+-.eE")
_ENDING: Final = frozenset(b" \t\n\r,]}")
_FIRST: Final = {
    **dict.fromkeys(b"-0123456789", Kind.NUMBER),
    0x22: Kind.STRING,
    0x5B: Kind.ARRAY,
    0x7B: Kind.OBJECT,
    0x6E: Kind.NULL,
    0x66: Kind.FALSE,
    0x74: Kind.TRUE,
}
_BLANKS: Final = b" \t\n\r"
_CANDIDATES: Final = {
    Phase.DONE: b"",
    Phase.ROOT: bytes(_FIRST),
    Phase.NUMBER: bytes(_NUMERIC | _ENDING),
    Phase.OPEN_ARRAY: bytes(_FIRST) + _BLANKS + b"]",
    Phase.ITEM: bytes(_FIRST) + _BLANKS,
    Phase.AFTER_ITEM: _BLANKS + b",]",
    Phase.OPEN_OBJECT: _BLANKS + b'"}',
    Phase.MEMBER: _BLANKS + b'"',
    Phase.AFTER_KEY: _BLANKS + b":",
    Phase.VALUE: bytes(_FIRST) + _BLANKS,
    Phase.AFTER_MEMBER: _BLANKS + b",}",
}


def _merge(pairs: Iterable[tuple[_Place, int]]) -> _Items:
    merged: dict[_Place, int] = {}
    for place, mask in pairs:
        merged[place] = merged.get(place, 0) | mask
    return tuple(merged.items())


class JsonAutomaton(LazyTable["_Key | None"]):
    """The `Runtime` of a goal over JSON texts. Every byte is a class of its own."""

    def __init__(
        self, goals: Goals, goal: Formula, limits: Limits, whitespace: Whitespace = Whitespace.FLEXIBLE
    ) -> None:
        every = ByteClasses(bytes(range(256)), tuple(range(256)), tuple(((byte, byte),) for byte in range(256)))
        super().__init__(every, None, limits)
        self.goals = goals
        self._whitespace = whitespace
        self._filled: set[int] = {DEAD}
        if goals.is_satisfiable(goal):
            self.start = self._intern(_Key(DEAD, Phase.ROOT, 0, ((_Root(goal), 1),), b""))

    # ------------------------------------------------------------------ the face

    def _follow(self, configuration: int, byte_class: int) -> int:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(before + DEEPEST)
        try:
            return self._advance(configuration, byte_class)
        finally:
            sys.setrecursionlimit(before)

    def fill_row(self, configuration: int) -> None:
        """Compute a whole row."""
        if configuration in self._filled:
            return
        self._filled.add(configuration)
        key = self._keys[configuration]
        assert key is not None
        candidates = _CANDIDATES.get(key.phase)
        if key.phase is Phase.WORD:
            candidates = bytes({WORDS[kind][key.blanks] for kind, _ in key.items})
        if candidates is not None:
            for byte in candidates:
                self.step(configuration, byte)
            row = self.rows[configuration]
            row[row == MISS] = DEAD
            return
        for group in self._groups(key):
            following = self.step(configuration, group[0])
            self.rows[configuration, group] = following

    def _groups(self, key: _Key) -> list[list[int]]:
        """The bytes, in groups that the languages of a string do not tell apart."""
        tables: list[bytes] = []
        for place, _ in key.items:
            if isinstance(place, Leaf) and isinstance(place.language, TextLanguage) and not key.text:
                tables.append(place.language.of_byte)
            elif isinstance(place, KeyPlace) and place.names is None and not place.text and not key.text:
                tables += place.place.case.byte_classes(place)
            else:
                return [[byte] for byte in range(256)]
        groups: dict[tuple[int, ...], list[int]] = {}
        for byte in range(256):
            # The closing quote is a class of its own.
            groups.setdefault((byte == 0x22, *(table[byte] for table in tables)), []).append(byte)
        return list(groups.values())

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """Where in the source the match stands: what the places of the top level are about."""
        key = self._keys[configuration]
        if key is None:
            return ()
        found: set[Span] = set()
        for place, _ in key.items:
            found.update(span for span in _spans(place) if span.end)  # what is implied has no place
        return tuple(sorted(found))

    def edge_spans(self, configuration: int, byte_class: int) -> tuple[Span, ...]:
        """What reads a byte: the places of the configuration."""
        return self.spans(configuration)

    def _is_accepting(self, key: _Key | None) -> bool:
        assert key is not None
        if key.phase is Phase.NUMBER:
            below = self._keys[key.below]
            assert below is not None
            return below.phase is Phase.ROOT and any(place.language.accepts(place.state) for place, _ in key.items)
        return key.phase is Phase.DONE

    # ------------------------------------------------------------------ steps

    def _advance(self, configuration: int, byte: int) -> int:
        key = self._keys[configuration]
        assert key is not None
        match key.phase:
            case Phase.DONE:
                return DEAD
            case Phase.STRING:
                return self._in_string(key, byte)
            case Phase.NUMBER:
                return self._in_number(key, byte)
            case Phase.WORD:
                return self._in_word(key, byte)
            case Phase.KEY:
                return self._in_key(key, byte)
        text = key.text + bytes([byte]) if key.text else b""
        behind = key.phase in _BEHIND
        if key.phase is not Phase.ROOT:
            blanks = blank(self._whitespace, key.blanks, byte, behind=behind)
            if blanks is not None:
                return self._intern(key._replace(blanks=blanks, text=text))
            if not is_complete(self._whitespace, key.blanks, behind=behind):
                return DEAD
        return self._structure(key, byte, text)

    def _structure(self, key: _Key, byte: int, text: bytes) -> int:
        phase = key.phase
        if byte in _FIRST and phase in (Phase.ROOT, Phase.VALUE, Phase.OPEN_ARRAY, Phase.ITEM):
            return self._open(key, byte)
        if byte == 0x22 and phase in (Phase.OPEN_OBJECT, Phase.MEMBER):
            starts = ((place.case.key_start(place), mask) for place, mask in key.items)
            return self._level(key, Phase.KEY, _merge(pair for pair in starts if pair[0] is not None), text)
        if byte == 0x3A and phase is Phase.AFTER_KEY:
            return self._level(key, Phase.VALUE, key.items, text)
        if byte == 0x2C and phase is Phase.AFTER_ITEM:
            items = tuple(item for item in key.items if item[0].case.moves(item[0]))
            return self._level(key, Phase.ITEM, items, text)
        if byte == 0x2C and phase is Phase.AFTER_MEMBER:
            items = tuple(item for item in key.items if any(item[0].case.allowed(item[0])))
            return self._level(key, Phase.MEMBER, items, text)
        closes_array = byte == 0x5D and phase in (Phase.OPEN_ARRAY, Phase.AFTER_ITEM)
        closes_object = byte == 0x7D and phase in (Phase.OPEN_OBJECT, Phase.AFTER_MEMBER)
        if closes_array or closes_object:
            return self._close(key, (mask for place, mask in key.items if place.case.can_close(place)), text)
        return DEAD

    def _level(self, key: _Key, phase: Phase, items: _Items, text: bytes) -> int:
        """Go on within a level."""
        return self._intern(_Key(key.below, phase, 0, items, text)) if items else DEAD

    # ------------------------------------------------------------------ values begin and end

    def _open(self, key: _Key, byte: int) -> int:
        kind = _FIRST[byte]
        moves, phase, distinct = key.items, key.phase, False
        if phase in (Phase.OPEN_ARRAY, Phase.ITEM):
            phase = Phase.IN_ITEM
            moves = _merge((move, mask) for place, mask in key.items for move in place.case.moves(place))
            distinct = any(place.case.distinct is not None for place, _ in key.items)
        starts: list[tuple[_Place, int]] = []
        for number, (move, _) in enumerate(moves):
            starts += [(start, 1 << number) for start in self.goals.starts(move.goal, kind)]
        if not starts:
            return DEAD
        blanks, phases = 0, Phase.WORD
        if kind in WORDS:
            blanks = 1
        elif kind is Kind.NUMBER:
            phases = Phase.NUMBER
            stepped = ((Leaf(s.language, s.language.step(s.state, byte)), mask) for s, mask in starts)
            starts = [pair for pair in stepped if pair[0].state is not None]
            if not starts:
                return DEAD
        else:
            phases = {Kind.STRING: Phase.STRING, Kind.ARRAY: Phase.OPEN_ARRAY, Kind.OBJECT: Phase.OPEN_OBJECT}[kind]
        below = self._intern(_Key(key.below, phase, 0, moves, key.text))
        text = key.text + bytes([byte]) if key.text or distinct else b""
        return self._intern(_Key(below, phases, blanks, _merge(starts), text))

    def _close(self, key: _Key, masks: Iterable[int], text: bytes) -> int:
        """End a value for those below that it satisfies."""
        ended = 0
        for mask in masks:
            ended |= mask
        if not ended:
            return DEAD
        below = self._keys[key.below]
        assert below is not None
        if below.phase is Phase.ROOT:
            return self._intern(_Key(DEAD, Phase.DONE, 0, ((None, 1),), b""))
        places: list[tuple[_Place, int]] = []
        for number, (move, mask) in enumerate(below.items):
            if ended >> number & 1:
                place = self._after(move, text[len(below.text) :])
                if place is not None:
                    places.append((place, mask))
        phase = Phase.AFTER_ITEM if below.phase is Phase.IN_ITEM else Phase.AFTER_MEMBER
        return self._level(below, phase, _merge(places), text if below.text else b"")

    def _after(self, move: ArrayMove | ObjectMove, text: bytes) -> ArrayPlace | ObjectPlace | None:
        place = move.place
        if isinstance(place, ArrayPlace) and place.case.distinct is not None:
            return place.case.after(place, from_text(text.decode("utf-8")))
        return place

    # ------------------------------------------------------------------ within a value

    def _in_word(self, key: _Key, byte: int) -> int:
        items = tuple((kind, mask) for kind, mask in key.items if WORDS[kind][key.blanks] == byte)
        if not items:
            return DEAD
        text = key.text + bytes([byte]) if key.text else b""
        read = key.blanks + 1
        if read == len(WORDS[items[0][0]]):
            return self._close(key, (mask for _, mask in items), text)
        return self._intern(_Key(key.below, Phase.WORD, read, items, text))

    def _in_string(self, key: _Key, byte: int) -> int:
        text = key.text + bytes([byte]) if key.text else b""
        if byte == 0x22:
            ended = [mask for place, mask in key.items if place.language.accepts(place.state)]
            if ended:
                return self._close(key, ended, text)
        items = []
        for place, mask in key.items:
            state = place.language.step(place.state, byte)
            if state is not None:
                items.append((Leaf(place.language, state), mask))
        return self._level(key, Phase.STRING, _merge(items), text)

    def _in_number(self, key: _Key, byte: int) -> int:
        if byte not in _NUMERIC:
            if byte not in _ENDING:
                return DEAD
            ended = (mask for place, mask in key.items if place.language.accepts(place.state))
            closed = self._close(key, ended, key.text)
            return self.step(closed, byte) if closed != DEAD else DEAD
        text = key.text + bytes([byte]) if key.text else b""
        items = []
        for place, mask in key.items:
            state = place.language.step(place.state, byte)
            if state is not None:
                items.append((Leaf(place.language, state), mask))
        return self._level(key, Phase.NUMBER, _merge(items), text)

    def _in_key(self, key: _Key, byte: int) -> int:
        text = key.text + bytes([byte]) if key.text else b""
        if byte == 0x22:
            moves = [(move, mask) for k, mask in key.items for move in k.place.case.key_end(k)]
            if moves:
                return self._level(key, Phase.AFTER_KEY, _merge(moves), text)
        steps = ((k.place.case.key_step(k, byte), mask) for k, mask in key.items)
        return self._level(key, Phase.KEY, _merge(pair for pair in steps if pair[0] is not None), text)


def _spans(place: _Place) -> Iterable[Span]:
    match place:
        case Leaf():
            spans = getattr(place.language, "spans", None)
            return spans(place.state) if spans else ()
        case ArrayPlace() | ObjectPlace():
            return place.case.spans
        case ArrayMove() | ObjectMove():
            return _goal_spans(place.goal) or place.place.case.spans
        case KeyPlace():
            return place.place.case.spans
        case _Root():
            return _goal_spans(place.goal)
        case _:
            return ()


def _goal_spans(goal: Formula) -> set[Span]:
    """The assertions that a value meets at once; not those of definitions, which may refer to one another."""
    if isinstance(goal, All | Some | ExactlyOne):
        return {span for item in goal.items for span in _goal_spans(item)}
    span = span_of(goal)
    return {span} if span.end else set()
