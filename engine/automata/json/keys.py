"""The keys of objects, where patterns or other keys decide which may come.

The keys that may come next at a place are some names and some cells (see
`objects`). A key is read along all of them at once, and along those of several
places side by side. Where names alone decide, `marked` does it more cheaply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.automata.json.reading import QUOTE_BYTE, Reader, ReadingTable
from engine.automata.json.strings.names import TrieState

if TYPE_CHECKING:
    from engine.automata.json.marked import Names
    from engine.automata.json.objects.case import ObjectCase, ObjectMove, ObjectPlace
    from engine.automata.json.strings.language import TextLanguage


ANY_NAME: Final = -1
"""All names, where any key may come."""


class KeyScope(NamedTuple):
    """What the reading of a key depends on, of all that a place knows.

    Attributes:
        names: the names that may come, as a bit set; all of them, where any key may come, for then only the end of a
            key tells whether it may.
        cells: the cells that may come.
        extras: the keys that may not come again.
    """

    case: ObjectCase
    names: int
    cells: tuple[int, ...]
    extras: frozenset[str]

    @property
    def start(self) -> KeyPlace | None:
        """Before the first character; None where no key may come."""
        if not self.names and not self.cells:
            return None
        starts = ((number, self.language(number).start) for number in self.cells)
        return KeyPlace(
            self, self.case.trie.start, tuple((number, state) for number, state in starts if state is not None)
        )

    def language(self, number: int) -> TextLanguage:
        """The keys of a cell."""
        return self.case.cells[number].language(self.case.goals, self.extras)


class KeyPlace(NamedTuple):
    """Within a key.

    Attributes:
        names: the place within the trie of names; None where the key is none of them.
        cells: of each cell that the key may be in, its number and the state of its language.
    """

    scope: KeyScope
    names: TrieState | None
    cells: tuple[tuple[int, int], ...]

    @property
    def name(self) -> int:
        """The number of the name that the key is, if it ends here; -1 for none."""
        return -1 if self.names is None else self.scope.case.trie.end(self.names, -1)

    @property
    def may_end(self) -> bool:
        """Whether the key may end here."""
        name = self.name
        if name >= 0:
            return bool(self.scope.names >> name & 1)
        return any(self.scope.language(number).accepts(state) for number, state in self.cells)

    def step(self, byte: int) -> KeyPlace | None:
        """After a byte; None where no key goes on so."""
        scope, trie = self.scope, self.scope.case.trie
        cells = []
        for number, state in self.cells:
            following = scope.language(number).step(state, byte)
            if following is not None:
                cells.append((number, following))
        names, lives = None, bool(cells)
        if self.names is not None:
            names = trie.step(self.names, byte, scope.names)
            if names is not None:
                lives = True
            elif cells:
                names = trie.step(self.names, byte, -1)  # off the names that may come, but perhaps on another
        return KeyPlace(scope, names, tuple(cells)) if lives else None

    def moves(self, place: ObjectPlace, text: str) -> tuple[ObjectMove, ...]:
        """The members that the key begins if it ends here; `text` matters where the place does not forget it."""
        case, name = self.scope.case, self.name
        if name >= 0:
            return case.end_moves(place, name, -1, "") if case.allowed(place)[0] >> name & 1 else ()
        moves: list[ObjectMove] = []
        for number, state in self.cells:
            if self.scope.language(number).accepts(state):
                moves += case.end_moves(place, -1, number, text)
        return tuple(moves)


_Places: TypeAlias = tuple[KeyPlace | None, ...]


def key_scope(place: ObjectPlace) -> KeyScope:
    """What the reading of the next key depends on."""
    case = place.case
    names, cells = case.allowed(place)
    any_key = len(cells) == len(case.cells) and case.any_key
    return KeyScope(case, ANY_NAME if any_key else names, cells, place.extras)


class KeyReader(Reader):
    """The keys of several places side by side; a state is where they stand, and the place within any string.

    A label is where they stand at the quote. At a single place, what can only be a name any more is read as `Names`
    does; the first symbols are those.
    """

    def __init__(self, scopes: tuple[KeyScope, ...], names: Names, home: int) -> None:
        super().__init__()
        self._scopes, self._home = scopes, home
        self._names = names if len(scopes) == 1 else None
        self._any_key = any(scope.names == ANY_NAME for scope in scopes)
        self.labels = tuple(names.labels)

    @property
    def start(self) -> tuple[_Places, int]:
        """Before the first character."""
        return tuple(scope.start for scope in self._scopes), self._home

    def is_like_any_string(self, state: tuple[_Places, int]) -> bool:
        """Whether this is between two characters, and every string goes on until the quote."""
        return self._any_key and state[1] == self._home

    def is_off_names(self, state: tuple[_Places, int]) -> bool:
        """Whether the key is none of the names."""
        return all(key is None or key.names is None for key in state[0])

    def fill(self, table: ReadingTable, number: int, state: tuple[_Places, int], byte: int) -> None:
        """Fill in all bytes that nothing tells apart."""
        places, within = state
        if byte == QUOTE_BYTE and any(key is not None and key.may_end for key in places):
            table.rows[number, byte] = self.ending(places)
            return
        following = tuple(None if key is None else key.step(byte) for key in places)
        as_any = table.rows[within] == table.entry(within, byte)
        table.rows[number, as_any & self._alike(places, byte)] = self._state(
            table, following, table.entry(within, byte)
        )

    def _state(self, table: ReadingTable, places: _Places, within: int) -> int:
        first = places[0]
        if self._names is not None and first is not None and not first.cells and first.names is not None:
            return table.state(self._names, first.names)
        return table.state(self, (places, within) if any(key is not None for key in places) else None)

    def _alike(self, places: _Places, byte: int) -> npt.NDArray[np.bool_]:
        """bool[256], the bytes that nothing tells from a byte."""
        alike = np.ones(256, np.bool_)
        alike[QUOTE_BYTE] = False
        for key in places:
            if key is None:
                continue
            if key.names is not None:
                alike[[step.byte for step in key.scope.case.trie.steps(key.names)]] = False
            for number, _ in key.cells:
                classes = np.frombuffer(key.scope.language(number).of_byte, np.uint8)
                alike &= classes == classes[byte]
        return alike if alike[byte] else np.arange(256) == byte
