"""Readers of strings that stay as close as they can to reading any string.

Keys, enumerations and what is left out of them are names. Where any other string
may come too, reading the names is reading any string with marks along their
spellings: off the names it is in the very states in which every string is, and
all that a vocabulary knows about those holds here. A string of which only the
length is asked is read as any string is, with a count.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from engine.automata.byte_automaton import DEAD, MISS
from engine.schema_automaton.lexing.lexer import BACKSLASH, QUOTE_BYTE, JsonLexer, LexerTable, SharedLexers, ending
from engine.schema_automaton.string_languages.names import (
    WITHIN_ESCAPES,
    NameTrie,
    TrieState,
    TrieStep,
    is_between,
    node_of,
    partial_of,
    within,
)

_FILLED_AT_ONCE = 12
_ESCAPE_READ_AHEAD = 3

Label = Callable[[str | None], Hashable]
"""What a name, or None for any other string, ends the reading with; None where it may not stand."""


class NameLexer(JsonLexer):
    """Any string, with some names told apart. Symbol 0 is that of any other string.

    Attributes:
        home: the state of any other string between two characters.
    """

    def __init__(self, trie: NameTrie, label: Label, home: int) -> None:
        super().__init__()
        self._trie, self._label, self.home = trie, label, home
        self.ending(label(None))

    @property
    def start(self) -> TrieState:
        """Before the first character."""
        return self._trie.start

    def is_between(self, state: TrieState) -> bool:
        """Whether a state is between two characters."""
        return is_between(state)

    def begin(self, table: LexerTable) -> int:
        """The number of that state."""
        return self._state(table, self.start, self.home)

    def _state(self, table: LexerTable, state: TrieState, otherwise: int) -> int:
        """A state, or that of any string where no name lies that way."""
        on_the_way = not is_between(state) or self._trie.edges[state] or self._trie.ends[state] >= 0
        return table.state(self, state) if on_the_way else otherwise

    def fill(self, table: LexerTable, number: int, state: TrieState, byte: int) -> None:
        """Fill the row: that of any string, but for what leads along the names; and those that follow.

        Escapes wait until somebody asks for one.
        """
        if not is_between(state) or self._trie.letters(state) is None:
            self._fill_row(table, number, state)
            return
        ahead = (number, state) if table.rows.item(number, QUOTE_BYTE) == MISS else None
        room = _FILLED_AT_ONCE
        while ahead is not None and room > 0:
            ahead = self._fill_letters(table, *ahead)
            room -= 1
        if byte == BACKSLASH and self._trie.edges[state] and self._trie.has_needless_escapes:
            table.rows[number, BACKSLASH] = table.state(self, within(state, b"\\"))

    def _fill_row(self, table: LexerTable, number: int, state: TrieState) -> None:
        """Fill one row, escapes too."""
        trie, shadow = self._trie, self.home
        for read in partial_of(state):
            shadow = table.entry(shadow, read)
        steps = trie.steps(state)
        marks = [(one, self._state(table, following, table.rows.item(shadow, one))) for one, following, _ in steps]
        name = trie.end(state, -1)
        if name >= 0:
            marks.append((QUOTE_BYTE, self._end(name)))
        row = table.rows[number]
        row[:] = table.rows[shadow]
        for one, entry in marks:
            row[one] = entry

    def _fill_letters(self, table: LexerTable, number: int, node: int) -> tuple[int, int] | None:
        """Fill the row between two characters, but for escapes; what follows, if that is one state, and a new one."""
        trie, ids = self._trie, self.ids
        letters, ahead = trie.letters(node), None
        if letters is None:
            return None
        marks = []
        for code, following, _ in letters:
            target = ids.get(following)
            if target is None:
                target = table.state(self, following)
                ahead = target, following
            marks.append((code, target))
        if letters and trie.has_needless_escapes:
            marks.append((BACKSLASH, MISS))
        if trie.ends[node] >= 0:
            marks.append((QUOTE_BYTE, self._end(trie.ends[node])))
        row = table.rows[number]
        row[:] = table.rows[self.home]
        for one, entry in marks:
            row[one] = entry
        return ahead if len(letters) == 1 else None

    def _end(self, name: int) -> int:
        """The entry for the end of a name."""
        label = self._label(self._trie.names[name])
        return DEAD if label is None else self.ending(label)


class Names(JsonLexer):
    """Some of a trie's names and nothing else; the symbols are the names' numbers.

    A state is one of the trie, and which of the names below it may come. So readers of other names of the trie share
    it where the difference lies elsewhere: behind its first letters, a key is mostly the same key at every place.
    """

    def __init__(self, trie: NameTrie, allowed: int, labels: Sequence[Hashable], alike: Names | None = None) -> None:
        super().__init__()
        self._trie, self._allowed = trie, allowed
        self.labels = labels
        if alike is not None:
            self.ids = alike.ids

    @property
    def start(self) -> tuple[TrieState, int]:
        """Before the first character."""
        return self.at(self._trie.start)

    def at(self, state: TrieState) -> tuple[TrieState, int]:
        """A state of the trie, where these names may come."""
        return state, self._allowed & self._trie.below[node_of(state)]

    def fill(self, table: LexerTable, number: int, state: tuple[TrieState, int], byte: int) -> None:
        """Fill the row, and those that follow: whoever reads one character mostly reads them all.

        Escapes wait until somebody asks for one: they would double the rows.
        """
        at, allowed = state
        todo = [(number, at, allowed)]
        needless = self._trie.has_needless_escapes
        if byte == BACKSLASH and is_between(at) and needless:
            todo = self._lead_to_escapes(table, number, at, allowed)
        room = _FILLED_AT_ONCE
        while todo and room > 0:
            number, at, allowed = todo.pop()
            letters = self._trie.letters(at) if is_between(at) else None
            if letters and allowed & (allowed - 1) == 0:
                tail = self._trie.tail(at, allowed.bit_length() - 1)
                if tail is not None:
                    room -= self._fill_tail(table, number, allowed, *tail)
                    continue
            room -= 1
            escape = table.rows.item(number, BACKSLASH) if letters and needless else DEAD
            table.rows[number] = DEAD
            todo += self._lead(table, number, self._trie.steps(at) if letters is None else letters, allowed)
            if letters:
                table.rows[number, BACKSLASH] = escape
            name = self._trie.end(at, allowed)
            if name >= 0:
                table.rows[number, QUOTE_BYTE] = ending(name)

    def _lead(
        self, table: LexerTable, number: int, steps: Iterable[TrieStep], allowed: int
    ) -> list[tuple[int, TrieState, int]]:
        """Fill in where some bytes lead; the states that are met for the first time, which are to be filled too."""
        new: list[tuple[int, TrieState, int]] = []
        entries: list[tuple[int, int]] = []
        ids = self.ids
        for byte, following, below in steps:
            live = below & allowed
            if live:
                target = ids.get((following, live))
                if target is None:
                    target = table.state(self, (following, live))
                    if is_between(following) or len(partial_of(following)) < _ESCAPE_READ_AHEAD:
                        new.append((target, following, live))
                entries.append((byte, target))
            else:
                entries.append((byte, DEAD))
        row = table.rows[number]
        for byte, target in entries:
            row[byte] = target
        return new

    def _lead_to_escapes(
        self, table: LexerTable, number: int, at: TrieState, allowed: int
    ) -> list[tuple[int, TrieState, int]]:
        """Fill in where a backslash leads, as `_lead` does; and what follows, where names have it in common."""
        live = self._trie.beyond(at) & allowed
        escapes = [at | each for each in WITHIN_ESCAPES]
        edges = self._trie.edges[at]
        if not live or 0x2F in edges or not self._trie.letters(at) or (escapes[0], live) in self.ids:
            return self._lead(table, number, ((BACKSLASH, escapes[0], live),), live)
        first = table.run(self, [(each, live) for each in escapes], DEAD)
        rows = table.rows
        rows[number, BACKSLASH], rows[first, 0x75], rows[first + 1, 0x30] = first, first + 1, first + 2
        rows[first + 2] = MISS
        return []

    def _fill_tail(self, table: LexerTable, number: int, allowed: int, nodes: range, letters: bytes) -> int:
        """Fill the rows of all that is left of the only name that may come; how many these are."""
        ids = self.ids
        met = next((i for i, node in enumerate(nodes) if (node, allowed) in ids), len(nodes))
        first = table.run(self, [(node, allowed) for node in nodes[:met]], DEAD)
        following = [*range(first, first + met), *(ids[node, allowed] for node in nodes[met : met + 1])]
        rows = table.rows
        needless = self._trie.has_needless_escapes
        escape = rows.item(number, BACKSLASH) if needless else DEAD
        rows[number] = DEAD
        rows[number, letters[0]] = following[0]
        rows[number, BACKSLASH] = escape
        for at, (byte, target) in enumerate(zip(letters[1:], following[1:], strict=False), first):
            row = rows[at]
            row[byte] = target
            row[BACKSLASH] = MISS if needless else DEAD
        if met == len(nodes):
            rows[first + met - 1, QUOTE_BYTE] = ending(allowed.bit_length() - 1)
        return met + 1


class CountedString(JsonLexer):
    """Any string of so many characters; a state is how many there were, and the place within the next.

    Without a most, from the least on it is any string. A label is 1, as if it were the only language of some.
    """

    def __init__(self, least: int, most: int | None, common: SharedLexers) -> None:
        super().__init__()
        self._least, self._most, self._common = least, most, common
        self.ending(1)

    start = (0, 0)

    def begin(self, table: LexerTable) -> int:
        """The number of the state before the first character."""
        return self._state(table, *self.start)

    def left(self, state: tuple[int, int]) -> tuple[int, int | None]:
        """How many characters may still come, least and most."""
        count, _ = state
        return max(self._least - count, 0), None if self._most is None else self._most - count

    def _state(self, table: LexerTable, count: int, within: int) -> int:
        if self._most is None and count >= self._least:
            return self._common.home + within
        return table.state(self, (count, within))

    def fill(self, table: LexerTable, number: int, state: tuple[int, int], byte: int) -> None:
        """Fill the whole row."""
        count, within = state
        places, shape = self._common.shape(within)
        if within == 0 and count == self._most:
            places = [-1] * len(places)
        numbers = [DEAD if at < 0 else self._state(table, count + (at == 0), at) for at in (-1, *places)]
        entries = np.array(numbers, np.int32)[shape]
        if within == 0:
            entries[QUOTE_BYTE] = self.ending(1) if count >= self._least else DEAD
        table.rows[number] = entries
