"""The keys of objects, where patterns or other keys decide which may come.

The keys that may come next at a place are some names and some cells (see
`objects`). A key is read along all of them at once, and along those of several
places side by side. Where names alone decide, `marked` does it more cheaply.

A state says where the key stands in the trie of names, which of the names below
may come, and where it stands in each cell. Nothing in it is about the place
otherwise, so the readers of all places of an object share their states: behind
its first letters, a key is mostly the same key at every place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from engine.schema_automaton.lexing.lexer import QUOTE_BYTE, JsonLexer, LexerTable, Rows, StringLexer, ending
from engine.schema_automaton.string_languages.names import TrieState
from engine.source import checkpoint

if TYPE_CHECKING:
    from collections.abc import Hashable

    from engine.schema_automaton.lexing.name_lexer import Names
    from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState, ObjectTransition
    from engine.schema_automaton.string_languages.language import TextLanguage


ANY_NAME: Final = -1
"""All names, where any key may come: only the end of a key tells then whether it may."""

_Cells: TypeAlias = tuple[tuple[int, int], ...]
"""Of each cell that the key may be in, its number and the state of its language."""

_KeyState: TypeAlias = tuple[TrieState | None, int, _Cells]
"""The place within the trie of names, None where the key is none of those that may come; which of the names below may
come, as a bit set; and the cells."""

_Keys: TypeAlias = tuple[_KeyState | None, ...]
"""Of each of the places where the key stands; None where it cannot."""

_Column: TypeAlias = tuple[Any, ...]
"""The states of some cells after a byte, None where they cannot stand; and the state within any string."""

_Within: TypeAlias = tuple[tuple[int, int, int], ...]
"""The place, the number and the state of each cell that a key may be in."""

_State: TypeAlias = tuple[_Keys, int]
"""And the state within any string."""


class KeyScope(NamedTuple):
    """What the reading of keys depends on wherever in an object they stand.

    Attributes:
        extras: the keys that may not come again.
        any_key: whether every key may come, but for some names.
    """

    case: ObjectMachine
    extras: frozenset[str]
    any_key: bool

    def language(self, number: int) -> TextLanguage:
        """The keys of a cell."""
        return self.case.cells[number].language(self.case.goals, self.extras)

    def start(self, place: ObjectState) -> _KeyState | None:
        """Before the first character of the key at a place; None where no key may come."""
        names, cells = self.case.allowed(place)
        if not names and not cells:
            return None
        starts = ((number, self.language(number).start) for number in cells)
        live = tuple((number, state) for number, state in starts if state is not None)
        trie = self.case.trie
        return trie.start, (ANY_NAME if self.any_key else names) & trie.below[0], live


class KeyEnd(NamedTuple):
    """What a key that ends is.

    Attributes:
        name: the number of the name that it is; -1 for none.
        cells: the cells that it is in, where it is no name.
    """

    scope: KeyScope
    name: int
    cells: tuple[int, ...]

    @property
    def text(self) -> str | None:
        """The name that it is, if it is one."""
        return self.scope.case.names[self.name] if self.name >= 0 else None

    def moves(self, place: ObjectState, text: str) -> tuple[ObjectTransition, ...]:
        """The members that the key begins; `text` matters where the place does not forget it."""
        case = self.scope.case
        if self.name >= 0:
            return case.end_moves(place, self.name, -1, "") if case.allowed(place)[0] >> self.name & 1 else ()
        return tuple(move for number in self.cells for move in case.end_moves(place, -1, number, text))


def key_scope(place: ObjectState) -> KeyScope:
    """What the reading of the next key depends on, but for the names and cells that may come."""
    case = place.case
    _, cells = case.allowed(place)
    return KeyScope(case, place.extras, case.holds_any_key(cells))


class KeyStates:
    """What the readers of all places with the same scopes share.

    Attributes:
        names: a reader of the names of the first; None where there are several places.
        home: the state of any string between two characters.
        ids, labels, symbols: the states, and what the reading may end with; the first symbols are those of `names`.
    """

    def __init__(self, scopes: tuple[KeyScope, ...], names: Names, home: int) -> None:
        self.scopes, self.home = scopes, home
        self.names = names if len(scopes) == 1 else None
        self.ids: dict[_State, int] = {}
        self.labels: list[Hashable] = list(names.labels)
        self.symbols = {label: symbol for symbol, label in enumerate(self.labels)}
        self._languages: dict[tuple[int, int], TextLanguage] = {}
        self._rows: dict[tuple[_Within, int], tuple[list[_Column], Rows]] = {}
        self._table: object = None

    def rows_off_names(self, table: LexerTable) -> dict[tuple[_Within, int], tuple[list[_Column], Rows]]:
        """What is known of rows away from names: by cells and the state within any string."""
        if table.identity is not self._table:
            self._table = table.identity
            self._rows.clear()
        return self._rows

    def language(self, place: int, cell: int) -> TextLanguage:
        """The keys of a cell of the object at a place."""
        known = self._languages.get((place, cell))
        if known is None:
            known = self._languages[place, cell] = self.scopes[place].language(cell)
        return known


class KeyLexer(JsonLexer):
    """The keys of several places side by side.

    A label is what the key is at each place. At a single place, what can only be a name any more is read as `Names`
    does.
    """

    def __init__(self, states: KeyStates, places: tuple[ObjectState, ...]) -> None:
        super().__init__()
        self.ids, self.labels = states.ids, states.labels
        self._shared = states
        self._any_key = any(scope.any_key for scope in states.scopes)
        self._starts = tuple(scope.start(place) for scope, place in zip(states.scopes, places, strict=True))

    @property
    def start(self) -> _State:
        """Before the first character."""
        return self._starts, self._shared.home

    def is_like_any_string(self, state: _State) -> bool:
        """Whether this is between two characters, and every string goes on until the quote."""
        return self._any_key and state[1] == self._shared.home

    def is_off_names(self, state: _State) -> bool:
        """Whether the key is none of the names."""
        return all(key is None or key[0] is None for key in state[0])

    def fill(self, table: LexerTable, number: int, state: _State, byte: int) -> None:
        """Fill the whole row: what the cells tell apart, and then the bytes along the names."""
        keys, within = state
        checkpoint(8 + len(keys))
        cells = tuple((i, number, at) for i, key in enumerate(keys) if key is not None for number, at in key[2])
        columns, row = self._off_names(table, cells, within)
        row = row.copy()
        for one, names in self._along_names(keys).items():
            column = columns[one]
            row[one] = self._number(table, _after(names, cells, column, len(keys)), column[-1])
        ends = tuple(self._end(i, key) for i, key in enumerate(keys))
        if any(ends):  # within an escape, a quote is one of the bytes that are read
            row[QUOTE_BYTE] = self._ending(ends)
        table.rows[number] = row

    def _off_names(self, table: LexerTable, cells: _Within, within: int) -> tuple[list[_Column], Rows]:
        """Where cells and any string stand after each byte; and the row of that, as it is away from all names."""
        known = self._shared.rows_off_names(table)
        found = known.get((cells, within))
        if found is None:
            places = len(self._starts)
            checkpoint(32 * (1 + len(cells)))
            rows = (self._shared.language(i, number).row(at) for i, number, at in cells)
            columns: list[_Column] = list(zip(*rows, table.rows[within].tolist(), strict=True))
            targets = {
                column: self._number(table, _after({}, cells, column, places), column[-1])
                for column in dict.fromkeys(columns)
            }
            found = known[cells, within] = columns, np.array([targets[column] for column in columns], np.int32)
        return found

    def ending(self, label: Hashable) -> int:
        """The entry for a byte that ends the reading with a label."""
        labels = self._shared.labels
        symbol = self._shared.symbols.setdefault(label, len(labels))
        if symbol == len(labels):
            labels.append(label)
        return ending(symbol)

    def _ending(self, ends: tuple[KeyEnd | None, ...]) -> int:
        alone = ends[0] if self._shared.names is not None else None
        return self.ending(ends if alone is None or alone.text is None else alone.text)

    def _along_names(self, keys: _Keys) -> dict[int, dict[int, tuple[TrieState | None, int]]]:
        """The bytes that lead along names that may come: at which of the places, and where to."""
        found: dict[int, dict[int, tuple[TrieState | None, int]]] = {}
        for i, (scope, key) in enumerate(zip(self._shared.scopes, keys, strict=True)):
            if key is not None and key[0] is not None:
                for byte, following, below in scope.case.trie.steps(key[0]):
                    if below & key[1]:
                        found.setdefault(byte, {})[i] = following, below & key[1]
        return found

    def _end(self, place: int, key: _KeyState | None) -> KeyEnd | None:
        """What the key is if it ends here; None where it may not."""
        if key is None:
            return None
        scope, (at, allowed, cells) = self._shared.scopes[place], key
        name = -1 if at is None else scope.case.trie.end(at, allowed)
        if name >= 0:
            return KeyEnd(scope, name, ())
        within = tuple(number for number, state in cells if self._shared.language(place, number).accepts(state))
        return KeyEnd(scope, -1, within) if within else None

    def _number(self, table: LexerTable, keys: _Keys, within: int) -> int:
        first = keys[0]
        if self._shared.names is not None and first is not None and not first[2] and first[0] is not None:
            return table.state(self._shared.names, first[:2])
        return table.state(self, (keys, within) if any(key is not None for key in keys) else None)


class KeyClassLexer(StringLexer):
    """The keys of one cell at a single place where no name may come: a language of strings. Symbol 0 is theirs."""

    def __init__(self, language: TextLanguage, label: Hashable, home: int) -> None:
        super().__init__((language,), home)
        self.labels = (label,)

    def ending(self, label: Hashable) -> int:
        """The entry for a byte that ends the reading; there is one label."""
        return ending(0)


def _after(names: dict[int, tuple[TrieState | None, int]], cells: _Within, column: _Column, places: int) -> _Keys:
    """Where the key stands after a byte.

    Args:
        names: where it goes on along names, by place.
        cells: the place, the number and the state of each cell before the byte.
        column: the states after it.
        places: how many places there are.
    """
    within: list[list[tuple[int, int]]] = [[] for _ in range(places)]
    for (place, number, _), state in zip(cells, column, strict=False):
        if state is not None:
            within[place].append((number, state))
    nowhere = None, 0
    return tuple((*names.get(i, nowhere), tuple(each)) if each or i in names else None for i, each in enumerate(within))
