"""Lexers of names and counted strings, which share the states of the any-string lexer.

Keys, enumerations and their complements are sets of names. Where any other string may
come too, a lexer of names is the any-string lexer with marks along the encodings of the
names: once a string leaves the names it is in the very states of any string, and all
that a vocabulary knows about those states applies. A string of which only the length is
constrained is read as any string is, with a counter.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from engine.automata.byte_automaton import DEAD, MISS, Loop
from engine.schema_automaton.lexing.lexer import BACKSLASH, QUOTE_BYTE, JsonLexer, LexerTable, SharedLexers, ending
from engine.schema_automaton.solver.object_machine import ObjectState
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
"""Returns the label of a name, or of any other string for None; None if it is not allowed."""


class NameLexer(JsonLexer):
    """A lexer of any string that distinguishes some names. Symbol 0 is that of any other string.

    Attributes:
        any_string_state: the state of any other string between two characters.
    """

    def __init__(self, trie: NameTrie, label: Label, any_string_state: int) -> None:
        super().__init__()
        self._trie, self._label, self.any_string_state = trie, label, any_string_state
        self.ending(label(None))

    @property
    def start(self) -> TrieState:
        """Return the state before the first character."""
        return self._trie.start

    def loop_at(self, state: TrieState, shared: SharedLexers) -> Loop | None:
        """Return any other string with marks, between two characters."""
        return shared.marked_loop(self.any_string_state) if is_between(state) else None

    def next_keys(self, state: TrieState, index: int, of: ObjectState) -> tuple[int, tuple[int, ...]]:
        """Return the allowed names that the key may still become, and the allowed key classes."""
        names, key_classes = of.machine.allowed(of)
        return names & _numbers_in(of, self._trie, self._trie.below[node_of(state)]), key_classes

    def begin(self, table: LexerTable) -> int:
        """Return the number of the start state."""
        return self._state(table, self.start, self.any_string_state)

    def _state(self, table: LexerTable, state: TrieState, otherwise: int) -> int:
        """Return the number of a state; `otherwise` if no name continues from it."""
        continues = not is_between(state) or self._trie.edges[state] or self._trie.ends[state] >= 0
        return table.state(self, state) if continues else otherwise

    def fill(self, table: LexerTable, number: int, state: TrieState, byte: int) -> None:
        """Fill a row, and the rows that follow: that of any string, changed where a byte continues a name.

        Entries for escapes are filled when one is requested.
        """
        if not is_between(state) or self._trie.character_steps(state) is None:
            self._fill_row(table, number, state)
            return
        ahead = (number, state) if table.rows.item(number, QUOTE_BYTE) == MISS else None
        budget = _FILLED_AT_ONCE
        while ahead is not None and budget > 0:
            ahead = self._fill_characters(table, *ahead)
            budget -= 1
        if byte == BACKSLASH and self._trie.edges[state] and self._trie.has_needless_escapes:
            table.rows[number, BACKSLASH] = table.state(self, within(state, b"\\"))

    def _fill_row(self, table: LexerTable, number: int, state: TrieState) -> None:
        """Fill one row, including escapes."""
        trie, shadow = self._trie, self.any_string_state
        for read in partial_of(state):
            shadow = table.entry(shadow, read)
        steps = trie.steps(state)
        marked_entries = [
            (one, self._state(table, following, table.rows.item(shadow, one))) for one, following, _ in steps
        ]
        name = trie.end(state, -1)
        if name >= 0:
            marked_entries.append((QUOTE_BYTE, self._end(name)))
        row = table.rows[number]
        row[:] = table.rows[shadow]
        for one, entry in marked_entries:
            row[one] = entry

    def _fill_characters(self, table: LexerTable, number: int, node: int) -> tuple[int, int] | None:
        """Fill the row of a state between two characters, without escapes.

        Returns:
            The next state and its node, if there is one successor only and that is new.
        """
        trie, ids = self._trie, self.ids
        steps, ahead = trie.character_steps(node), None
        if steps is None:
            return None
        marked_entries = []
        for code, following, _ in steps:
            target = ids.get(following)
            if target is None:
                target = table.state(self, following)
                ahead = target, following
            marked_entries.append((code, target))
        if steps and trie.has_needless_escapes:
            marked_entries.append((BACKSLASH, MISS))
        if trie.ends[node] >= 0:
            marked_entries.append((QUOTE_BYTE, self._end(trie.ends[node])))
        row = table.rows[number]
        row[:] = table.rows[self.any_string_state]
        for one, entry in marked_entries:
            row[one] = entry
        return ahead if len(steps) == 1 else None

    def _end(self, name: int) -> int:
        """Return the entry for the end of a name."""
        label = self._label(self._trie.names[name])
        return DEAD if label is None else self.ending(label)


class Names(JsonLexer):
    """A lexer of some of a trie's names and nothing else; the symbols are the names' numbers.

    A state is a state of the trie, and the names below it that are allowed. So lexers of other names of the trie share
    states if the difference lies elsewhere: after its first characters, a key is mostly the same key in every state of
    the object.
    """

    reads_names = True

    def __init__(self, trie: NameTrie, allowed: int, labels: Sequence[Hashable], sharing: Names | None = None) -> None:
        super().__init__()
        self._trie, self._allowed = trie, allowed
        self.labels = labels
        if sharing is not None:
            self.ids = sharing.ids

    @property
    def start(self) -> tuple[TrieState, int]:
        """Return the state before the first character."""
        return self.at(self._trie.start)

    def at(self, state: TrieState) -> tuple[TrieState, int]:
        """Return a state of the trie, with those of the allowed names that are below it."""
        return state, self._allowed & self._trie.below[node_of(state)]

    def next_keys(self, state: tuple[TrieState, int], index: int, of: ObjectState) -> tuple[int, tuple[int, ...]]:
        """Return the allowed names that the key may still become."""
        return of.machine.allowed(of)[0] & _numbers_in(of, self._trie, state[1]), ()

    def fill(self, table: LexerTable, number: int, state: tuple[TrieState, int], byte: int) -> None:
        """Fill a row, and the rows that follow, since whoever reads one character mostly reads them all.

        Entries for escapes are filled when one is requested: they would double the number of rows.
        """
        at, allowed = state
        todo = [(number, at, allowed)]
        needless = self._trie.has_needless_escapes
        if byte == BACKSLASH and is_between(at) and needless:
            todo = self._lead_to_escapes(table, number, at, allowed)
        budget = _FILLED_AT_ONCE
        while todo and budget > 0:
            number, at, allowed = todo.pop()
            steps = self._trie.character_steps(at) if is_between(at) else None
            if steps and allowed & (allowed - 1) == 0:
                tail = self._trie.tail(at, allowed.bit_length() - 1)
                if tail is not None:
                    budget -= self._fill_tail(table, number, allowed, *tail)
                    continue
            budget -= 1
            escape = table.rows.item(number, BACKSLASH) if steps and needless else DEAD
            table.rows[number] = DEAD
            todo += self._lead(table, number, self._trie.steps(at) if steps is None else steps, allowed)
            if steps:
                table.rows[number, BACKSLASH] = escape
            name = self._trie.end(at, allowed)
            if name >= 0:
                table.rows[number, QUOTE_BYTE] = ending(name)

    def _lead(
        self, table: LexerTable, number: int, steps: Iterable[TrieStep], allowed: int
    ) -> list[tuple[int, TrieState, int]]:
        """Fill the entries of some bytes; return the new states, which are to be filled too."""
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
        """Fill the entry of a backslash as `_lead` does, and the rows after it that the names have in common."""
        live = self._trie.beyond(at) & allowed
        escapes = [at | each for each in WITHIN_ESCAPES]
        edges = self._trie.edges[at]
        if not live or 0x2F in edges or not self._trie.character_steps(at) or (escapes[0], live) in self.ids:
            return self._lead(table, number, ((BACKSLASH, escapes[0], live),), live)
        first = table.run(self, [(each, live) for each in escapes], DEAD)
        rows = table.rows
        rows[number, BACKSLASH], rows[first, 0x75], rows[first + 1, 0x30] = first, first + 1, first + 2
        rows[first + 2] = MISS
        return []

    def _fill_tail(self, table: LexerTable, number: int, allowed: int, nodes: range, read: bytes) -> int:
        """Fill the rows of the rest of the only allowed name; return their number."""
        ids = self.ids
        met = next((i for i, node in enumerate(nodes) if (node, allowed) in ids), len(nodes))
        first = table.run(self, [(node, allowed) for node in nodes[:met]], DEAD)
        following = [*range(first, first + met), *(ids[node, allowed] for node in nodes[met : met + 1])]
        rows = table.rows
        needless = self._trie.has_needless_escapes
        escape = rows.item(number, BACKSLASH) if needless else DEAD
        rows[number] = DEAD
        rows[number, read[0]] = following[0]
        rows[number, BACKSLASH] = escape
        for at, (byte, target) in enumerate(zip(read[1:], following[1:], strict=False), first):
            row = rows[at]
            row[byte] = target
            row[BACKSLASH] = MISS if needless else DEAD
        if met == len(nodes):
            rows[first + met - 1, QUOTE_BYTE] = ending(allowed.bit_length() - 1)
        return met + 1


class CountedString(JsonLexer):
    """A lexer of any string with a bounded length; a state is the number of characters, and the node within the next.

    Without an upper bound, it continues as any string once the lower bound is reached. The only label is 1, as if it
    were the only language of a `StringLexer`.
    """

    def __init__(self, least: int, most: int | None, common: SharedLexers) -> None:
        super().__init__()
        self._least, self._most, self._common = least, most, common
        self.ending(1)

    @property
    def start(self) -> tuple[int, int]:
        """Return the state before the first character."""
        return 0, 0

    def begin(self, table: LexerTable) -> int:
        """Return the number of the state before the first character."""
        return self._state(table, *self.start)

    def loop_at(self, state: tuple[int, int], shared: SharedLexers) -> Loop | None:
        """Return any string with the bounds of the characters that may still come, between two characters."""
        count, within = state
        if within:
            return None
        most = None if self._most is None else self._most - count
        return shared.any_string_loop._replace(least=max(self._least - count, 0), most=most)

    def _state(self, table: LexerTable, count: int, within: int) -> int:
        if self._most is None and count >= self._least:
            return self._common.any_string_state + within
        return table.state(self, (count, within))

    def fill(self, table: LexerTable, number: int, state: tuple[int, int], byte: int) -> None:
        """Fill the whole row."""
        count, within = state
        nodes, shape = self._common.shape(within)
        if within == 0 and count == self._most:
            nodes = [-1] * len(nodes)
        numbers = [DEAD if at < 0 else self._state(table, count + (at == 0), at) for at in (-1, *nodes)]
        entries = np.array(numbers, np.int32)[shape]
        if within == 0:
            entries[QUOTE_BYTE] = self.ending(1) if count >= self._least else DEAD
        table.rows[number] = entries


def _numbers_in(state: ObjectState, trie: NameTrie, names: int) -> int:
    """Return some names of a trie as a bit set of the names of an object, which may have only a part of them.

    Args:
        state: a state of the object.
        trie: a trie of the names of several objects, and of keys that may not come again.
        names: names of the trie, as a bit set.
    """
    numbers = state.machine.trie.numbers
    each = (name for number, name in enumerate(trie.names) if names >> number & 1)
    return sum(1 << numbers[name] for name in each if name in numbers)
