"""Readers of strings that stay as close as they can to reading any string.

Keys, enumerations and what is left out of them are names. Where any other string
may come too, reading the names is reading any string with marks along their
spellings: off the names it is in the very states in which every string is, and
all that a vocabulary knows about those holds here. A string of which only the
length is asked is read as any string is, with a count.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from engine.automata.json.reading import QUOTE_BYTE, Common, Reader, ReadingTable, ending
from engine.automata.json.strings.names import Trie, TrieState
from engine.automata.runtime import DEAD

_FILLED_AT_ONCE = 8

Label = Callable[[str | None], Hashable]
"""What a name, or None for any other string, ends the reading with; None where it may not stand."""


class MarkedString(Reader):
    """Any string, with some names told apart. Symbol 0 is that of any other string."""

    def __init__(self, trie: Trie, label: Label, common: Common) -> None:
        super().__init__()
        self._trie, self._label, self._common = trie, label, common
        self.ending(label(None))

    @property
    def start(self) -> TrieState:
        """Before the first character."""
        return self._trie.start

    def begin(self, table: ReadingTable) -> int:
        """The number of that state."""
        return self._state(table, self.start, self._common.home)

    def _state(self, table: ReadingTable, state: TrieState, otherwise: int) -> int:
        """A state, or that of any string where no name lies that way."""
        on_the_way = state.partial or self._trie.edges[state.node] or self._trie.ends[state.node] >= 0
        return table.state(self, state) if on_the_way else otherwise

    def fill(self, table: ReadingTable, number: int, state: TrieState, byte: int) -> None:
        """Fill the whole row: that of any string, but for what leads along the names."""
        shadow = self._common.home
        for read in state.partial:
            shadow = table.entry(shadow, read)
        entries = table.rows[shadow].copy()
        for step in self._trie.steps(state):
            entries[step.byte] = self._state(table, step.state, int(entries[step.byte]))
        name = self._trie.end(state, -1)
        if name >= 0:
            label = self._label(self._trie.names[name])
            entries[QUOTE_BYTE] = DEAD if label is None else self.ending(label)
        table.rows[number] = entries


class Names(Reader):
    """Some of a trie's names and nothing else; the symbols are the names' numbers."""

    def __init__(self, trie: Trie, allowed: int, labels: Sequence[Hashable]) -> None:
        super().__init__()
        self._trie, self._allowed = trie, allowed
        self.labels = labels

    @property
    def start(self) -> TrieState:
        """Before the first character."""
        return self._trie.start

    def fill(self, table: ReadingTable, number: int, state: TrieState, byte: int) -> None:
        """Fill the row, and those of the characters that follow: whoever reads one mostly reads them all."""
        todo = [(number, state)]
        for _ in range(_FILLED_AT_ONCE):
            if not todo:
                return
            number, state = todo.pop()
            table.rows[number] = DEAD
            for step in self._trie.steps(state):
                if step.below & self._allowed:
                    known = len(table)
                    following = table.rows[number, step.byte] = table.state(self, step.state)
                    if following == known and not step.state.partial:
                        todo.append((following, step.state))
            name = self._trie.end(state, self._allowed)
            if name >= 0:
                table.rows[number, QUOTE_BYTE] = ending(name)


class CountedString(Reader):
    """Any string of so many characters; a state is how many there were, and the place within the next.

    Without a most, from the least on it is any string. A label is 1, as if it were the only language of some.
    """

    def __init__(self, least: int, most: int | None, common: Common) -> None:
        super().__init__()
        self._least, self._most, self._common = least, most, common
        self.ending(1)

    start = (0, 0)

    def begin(self, table: ReadingTable) -> int:
        """The number of the state before the first character."""
        return self._state(table, *self.start)

    def left(self, state: tuple[int, int]) -> tuple[int, int | None]:
        """How many characters may still come, least and most."""
        count, _ = state
        return max(self._least - count, 0), None if self._most is None else self._most - count

    def _state(self, table: ReadingTable, count: int, within: int) -> int:
        if self._most is None and count >= self._least:
            return self._common.home + within
        return table.state(self, (count, within))

    def fill(self, table: ReadingTable, number: int, state: tuple[int, int], byte: int) -> None:
        """Fill the whole row."""
        count, within = state
        shared = self._common
        entries, shadow = np.full(256, DEAD, np.int32), table.rows[shared.home + within].copy()
        if within or count != self._most:
            for target in np.unique(shadow[shadow > DEAD]).tolist():
                place = target - shared.home
                entries[shadow == target] = self._state(table, count + (place == 0), place)
        if within == 0:
            entries[QUOTE_BYTE] = self.ending(1) if count >= self._least else DEAD
        table.rows[number] = entries
