"""Lexers of object keys where patterns or other conditions on keys decide which may come.

The keys that may come next are some names and some key classes (see `object_machine`).
A key is matched against all of them at once, and for several states of objects side by
side. Where names alone decide, `name_lexer` is cheaper.

A lexer state is the state of the trie of names, the allowed names below it, and the
state of each key class. It does not depend on the state of the object otherwise, so the
lexers of all states of an object share theirs: after its first characters, a key is
mostly the same key in every state of the object.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from engine.automata.byte_automaton import Loop
from engine.schema_automaton.lexing.lexer import (
    QUOTE_BYTE,
    JsonLexer,
    LexerTable,
    Rows,
    SharedLexers,
    StringLexer,
    ending,
)
from engine.schema_automaton.lexing.name_lexer import Names
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState, ObjectTransition
from engine.schema_automaton.string_languages.language import TextLanguage
from engine.schema_automaton.string_languages.names import TrieState
from engine.source import checkpoint

ANY_NAME: Final = -1
"""All names, if any key may come: then only the end of a key decides whether it is allowed."""

_ClassStates: TypeAlias = tuple[tuple[int, int], ...]
"""The number and the language state of each key class that the key may be in."""

_KeyState: TypeAlias = tuple[TrieState | None, int, _ClassStates]
"""The state in the trie of names (None if the key is not an allowed name), the allowed names below it as a bit set, and
the key classes."""

_Keys: TypeAlias = tuple[_KeyState | None, ...]
"""The key state for each state of an object; None where the key is not allowed."""

_Column: TypeAlias = tuple[Any, ...]
"""The states of some key classes after a byte, None where they die; and the state of any string."""

_PlacedClassStates: TypeAlias = tuple[tuple[int, int, int], ...]
"""The index of the object state, the number and the language state of each key class that a key may be in."""

_State: TypeAlias = tuple[_Keys, int]
"""The key states, and the state of any string."""


class KeyScope(NamedTuple):
    """What a key lexer depends on, besides the names and key classes that are allowed.

    Attributes:
        machine: the machine of the object.
        extras: the keys that may not come again.
        any_key: whether every key may come, except for some names.
    """

    machine: ObjectMachine
    extras: frozenset[str]
    any_key: bool

    def language(self, number: int) -> TextLanguage:
        """Return the language of a key class."""
        return self.machine.key_classes[number].language(self.machine.strings, self.extras)

    def start(self, state: ObjectState) -> _KeyState | None:
        """Return the key state before the first character in a state of the object; None if no key may come."""
        names, key_classes = self.machine.allowed(state)
        if not names and not key_classes:
            return None
        starts = ((number, self.language(number).start) for number in key_classes)
        live = tuple((number, state) for number, state in starts if state is not None)
        trie = self.machine.trie
        return trie.start, (ANY_NAME if self.any_key else names) & trie.below[0], live


class KeyEnd(NamedTuple):
    """The classification of a complete key.

    Attributes:
        scope: the scope that the key was read in.
        name: the number of the name that it is; -1 for none.
        key_classes: the key classes that it is in, if it is not a name.
    """

    scope: KeyScope
    name: int
    key_classes: tuple[int, ...]

    @property
    def text(self) -> str | None:
        """Return the name, if the key is one."""
        return self.scope.machine.names[self.name] if self.name >= 0 else None

    def transitions(self, state: ObjectState, text: str) -> tuple[ObjectTransition, ...]:
        """Return the members that the key begins; `text` matters only if the machine records the key."""
        machine = self.scope.machine
        if self.name >= 0:
            is_allowed = machine.allowed(state)[0] >> self.name & 1
            return machine.transitions_after(state, self.name, -1, "") if is_allowed else ()
        after = (machine.transitions_after(state, -1, number, text) for number in self.key_classes)
        return tuple(chain.from_iterable(after))


def key_scope(state: ObjectState) -> KeyScope:
    """Return the scope of the next key in a state of an object."""
    machine = state.machine
    _, key_classes = machine.allowed(state)
    return KeyScope(machine, state.extras, machine.holds_any_key(key_classes))


class KeyStates:
    """What the key lexers with the same scopes share.

    Attributes:
        names: a lexer of the names in the first scope; None if there are several scopes.
        any_string_state: the state of any string between two characters.
        ids, labels, symbols: the states, and the ends of the lexeme; the first symbols are those of `names`.
    """

    def __init__(self, scopes: tuple[KeyScope, ...], names: Names, any_string_state: int) -> None:
        self.scopes, self.any_string_state = scopes, any_string_state
        self.names = names if len(scopes) == 1 else None
        self.ids: dict[_State, int] = {}
        self.labels: list[Hashable] = list(names.labels)
        self.symbols = {label: symbol for symbol, label in enumerate(self.labels)}
        self._languages: dict[tuple[int, int], TextLanguage] = {}
        self._rows: dict[tuple[_PlacedClassStates, int], tuple[list[_Column], Rows]] = {}
        self._table: object = None

    def rows_off_names(self, table: LexerTable) -> dict[tuple[_PlacedClassStates, int], tuple[list[_Column], Rows]]:
        """Return the known rows of keys that are not names, by key classes and the state of any string."""
        if table.identity is not self._table:
            self._table = table.identity
            self._rows.clear()
        return self._rows

    def language(self, index: int, number: int) -> TextLanguage:
        """Return the language of a key class in the scope with an index."""
        known = self._languages.get((index, number))
        if known is None:
            known = self._languages[index, number] = self.scopes[index].language(number)
        return known


class KeyLexer(JsonLexer):
    """A lexer of the keys of several object states side by side.

    A label is the classification of the key in each state. In a single state, a key that can only be a name is read by
    `Names`.
    """

    has_conditions = True

    def __init__(self, states: KeyStates, object_states: tuple[ObjectState, ...]) -> None:
        super().__init__()
        self.ids, self.labels = states.ids, states.labels
        self._shared = states
        self._any_key = any(scope.any_key for scope in states.scopes)
        self._starts = tuple(
            scope.start(object_state) for scope, object_state in zip(states.scopes, object_states, strict=True)
        )

    @property
    def start(self) -> _State:
        """Return the state before the first character."""
        return self._starts, self._shared.any_string_state

    def loop_at(self, state: _State, shared: SharedLexers) -> Loop | None:
        """Return any string with marks, between two characters if every string may follow."""
        home = self._shared.any_string_state
        return shared.marked_loop(home) if self._any_key and state[1] == home else None

    def may_have_loop(self, state: _State) -> bool:
        """Return whether the key is not one of the names."""
        return all(key is None or key[0] is None for key in state[0])

    def next_keys(self, state: _State, index: int, of: ObjectState) -> tuple[int, tuple[int, ...]]:
        """Return the names and the key classes that the key may still be of."""
        key = state[0][index]
        return super().next_keys(state, index, of) if key is None else (key[1], tuple(number for number, _ in key[2]))

    def key_ends(self, symbol: int) -> tuple[KeyEnd | None, ...] | None:
        """Return the classification of the key in each state of an object; None if its name says all."""
        label: str | tuple[KeyEnd | None, ...] = self.labels[symbol]
        return None if isinstance(label, str) else label

    def keys_ending(self, symbol: int) -> list[str | None]:
        """Return the names of the classifications."""
        label: str | tuple[KeyEnd | None, ...] = self.labels[symbol]
        return [label] if isinstance(label, str) else [end.text for end in label if end]

    def fill(self, table: LexerTable, number: int, state: _State, byte: int) -> None:
        """Fill the whole row: first the transitions of the key classes, then the bytes along the names."""
        keys, within = state
        checkpoint(8 + len(keys))
        key_classes = tuple((i, number, at) for i, key in enumerate(keys) if key is not None for number, at in key[2])
        columns, row = self._off_names(table, key_classes, within)
        row = row.copy()
        for one, names in self._along_names(keys).items():
            column = columns[one]
            row[one] = self._number(table, _after(names, key_classes, column, len(keys)), column[-1])
        ends = tuple(self._end(i, key) for i, key in enumerate(keys))
        if any(ends):  # within an escape, a quote is an ordinary byte
            row[QUOTE_BYTE] = self._ending(ends)
        table.rows[number] = row

    def _off_names(self, table: LexerTable, key_classes: _PlacedClassStates, within: int) -> tuple[list[_Column], Rows]:
        """Return the states of key classes and of any string after each byte, and the row for keys without a name."""
        known = self._shared.rows_off_names(table)
        found = known.get((key_classes, within))
        if found is None:
            count = len(self._starts)
            checkpoint(32 * (1 + len(key_classes)))
            rows = (self._shared.language(i, number).row(at) for i, number, at in key_classes)
            columns: list[_Column] = list(zip(*rows, table.rows[within].tolist(), strict=True))
            targets = {
                column: self._number(table, _after({}, key_classes, column, count), column[-1])
                for column in dict.fromkeys(columns)
            }
            found = known[key_classes, within] = columns, np.array([targets[column] for column in columns], np.int32)
        return found

    def ending(self, label: Hashable) -> int:
        """Return the entry for a byte that ends the lexeme with a label."""
        labels = self._shared.labels
        symbol = self._shared.symbols.setdefault(label, len(labels))
        if symbol == len(labels):
            labels.append(label)
        return ending(symbol)

    def _ending(self, ends: tuple[KeyEnd | None, ...]) -> int:
        alone = ends[0] if self._shared.names is not None else None
        return self.ending(ends if alone is None or alone.text is None else alone.text)

    def _along_names(self, keys: _Keys) -> dict[int, dict[int, tuple[TrieState | None, int]]]:
        """Return, for each byte that continues an allowed name, the successors by index of the object state."""
        found: dict[int, dict[int, tuple[TrieState | None, int]]] = {}
        for i, (scope, key) in enumerate(zip(self._shared.scopes, keys, strict=True)):
            if key is not None and key[0] is not None:
                for byte, following, below in scope.machine.trie.steps(key[0]):
                    if below & key[1]:
                        found.setdefault(byte, {})[i] = following, below & key[1]
        return found

    def _end(self, index: int, key: _KeyState | None) -> KeyEnd | None:
        """Return the classification of the key if it ends here; None if it may not."""
        if key is None:
            return None
        scope, (at, allowed, key_classes) = self._shared.scopes[index], key
        name = -1 if at is None else scope.machine.trie.end(at, allowed)
        if name >= 0:
            return KeyEnd(scope, name, ())
        within = tuple(number for number, state in key_classes if self._shared.language(index, number).accepts(state))
        return KeyEnd(scope, -1, within) if within else None

    def _number(self, table: LexerTable, keys: _Keys, within: int) -> int:
        first = keys[0]
        if self._shared.names is not None and first is not None and not first[2] and first[0] is not None:
            return table.state(self._shared.names, first[:2])
        return table.state(self, (keys, within) if any(key is not None for key in keys) else None)


class KeyClassLexer(StringLexer):
    """A lexer of the keys of one key class in a state where no name may come. It has the single symbol 0."""

    has_conditions = True

    def __init__(self, language: TextLanguage, label: Hashable, any_string_state: int) -> None:
        super().__init__((language,), any_string_state)
        self.labels = (label,)

    def ending(self, label: Hashable) -> int:
        """Return the entry for a byte that ends the lexeme; there is one label."""
        return ending(0)


def _after(
    names: dict[int, tuple[TrieState | None, int]], key_classes: _PlacedClassStates, column: _Column, count: int
) -> _Keys:
    """Return the key states after a byte.

    Args:
        names: the successors along names, by index of the object state.
        key_classes: the object state, the number and the language state of each key class before the byte.
        column: the states after the byte.
        count: the number of object states.
    """
    within: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for (index, number, _), state in zip(key_classes, column, strict=False):
        if state is not None:
            within[index].append((number, state))
    nowhere = None, 0
    return tuple((*names.get(i, nowhere), tuple(each)) if each or i in names else None for i, each in enumerate(within))
