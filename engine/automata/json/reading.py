"""Reading states: the inner life of a level, as rows of one integer table.

What a level reads until a symbol ends it is regular: white space up to a
bracket, a string up to its quote, a key, a number. Each such language is a
`Reader`, and a state of a reader has a row over bytes: the next state, or the
symbol with which the reading ends. The rows do not know which frame they are
read for, so all frames with the same reader share them.

What every grammar needs (white space, any string, any number, words) is worked
out once per process, and a grammar's table begins with a copy of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine.automata.json.values import WORDS, Kind
from engine.automata.json.whitespace import Whitespace, is_complete
from engine.automata.json.whitespace import step as blank_step
from engine.automata.runtime import DEAD, MISS
from engine.source import Limits

Rows = npt.NDArray[np.int32]

QUOTE, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE, NUMBER, TRUE, FALSE, NULL = range(11)
"""The symbols that end white space, by the byte that does."""

STRUCTURE: Final[dict[int, int]] = {
    **{byte: symbol for symbol, byte in enumerate(b'",:[]{}')},
    **dict.fromkeys(b"-0123456789", NUMBER),
    **{byte: TRUE + i for i, byte in enumerate(b"tfn")},
}


QUOTE_BYTE: Final = 0x22
_ROOM: Final = 128  # for reading states of a grammar's own, at first


def ending(symbol: int) -> int:
    """The table's entry for a byte that ends the reading with a symbol."""
    return -2 - symbol


def symbol_of(entry: int) -> int:
    """The symbol of such an entry."""
    return -2 - entry


class Reader(ABC):
    """A language of what one level reads.

    Attributes:
        ids: the number of each of its states in the table.
        labels: what its symbols mean, by number.
    """

    def __init__(self) -> None:
        self.ids: dict[Any, int] = {}
        self.labels: Sequence[Any] = ()
        self._symbols: dict[Hashable, int] = {}

    def ending(self, label: Hashable) -> int:
        """The entry for a byte that ends the reading with a label."""
        symbol = self._symbols.get(label)
        if symbol is None:
            symbol = self._symbols[label] = len(self.labels)
            self.labels = (*self.labels, label)
        return ending(symbol)

    @property
    @abstractmethod
    def start(self) -> Any:
        """The state in which the reading begins."""

    def begin(self, table: ReadingTable) -> int:
        """The number of that state."""
        return table.state(self, self.start)

    @abstractmethod
    def fill(self, table: ReadingTable, number: int, state: Any, byte: int) -> None:
        """Work out a state's entry for a byte, and those that come with it."""


class ReadingTable:
    """The reading states of one grammar.

    Attributes:
        rows: int32[capacity, 256]: the next state, `DEAD`, `MISS`, or `ending(symbol)`. Growth replaces it.
        owners: of each state its reader and what it is called there.
    """

    def __init__(self, limits: Limits, begun: ReadingTable | None = None) -> None:
        self._limits = limits
        self.owners: list[tuple[Reader | None, Any]] = [(None, None)] if begun is None else begun.owners.copy()
        # Memory is taken when a row is first written, so that growth does not cost what nobody uses yet.
        self.rows: Rows = np.empty((len(self.owners) + _ROOM, 256), np.int32)
        self.rows[: len(self.owners)] = DEAD if begun is None else begun.rows[: len(self.owners)]

    def __len__(self) -> int:
        return len(self.owners)

    def state(self, reader: Reader, state: Any) -> int:
        """The number of a reader's state; `DEAD` for None."""
        if state is None:
            return DEAD
        number = reader.ids.get(state)
        if number is None:
            number = len(self.owners)
            self._limits.check("reading states", number, self._limits.configurations)
            reader.ids[state] = number
            if number == len(self.rows):
                rows = np.empty((2 * number, 256), np.int32)
                rows[:number] = self.rows
                self.rows = rows
            self.rows[number] = MISS
            self.owners.append((reader, state))
        return number

    def entry(self, state: int, byte: int) -> int:
        """An entry, worked out where it is missing."""
        entry = self.rows.item(state, byte)
        if entry == MISS:
            self.fill(state, byte)
            entry = self.rows.item(state, byte)
        return entry

    def fill(self, state: int, byte: int) -> None:
        """Work out an entry that is missing."""
        reader, name = self.owners[state]
        assert reader is not None
        reader.fill(self, state, name, byte)

    def complete(self, state: int) -> None:
        """Work out the whole row of a state."""
        while (missing := self.rows[state] == MISS).any():
            self.fill(state, int(missing.argmax()))


# ---------------------------------------------------------------------- white space and words


class Blanks(Reader):
    """White space up to the first byte of what follows; its symbols are those of `STRUCTURE`."""

    start = 0

    def __init__(self, mode: Whitespace, *, behind: bool) -> None:
        super().__init__()
        self._mode, self._behind = mode, behind

    def fill(self, table: ReadingTable, number: int, state: int, byte: int) -> None:
        """Fill the whole row."""
        entries = np.full(256, DEAD, np.int32)
        if is_complete(self._mode, state, behind=self._behind):
            for structural, symbol in STRUCTURE.items():
                entries[structural] = ending(symbol)
        for one in b" \t\n\r":
            entries[one] = table.state(self, blank_step(self._mode, state, one, behind=self._behind))
        table.rows[number] = entries


class Nothing(Reader):
    """Behind the end of the text."""

    start = 0

    def fill(self, table: ReadingTable, number: int, state: int, byte: int) -> None:
        """Fill the whole row."""
        table.rows[number] = DEAD


class Word(Reader):
    """`null`, `false` or `true`; a state is how much of it was read. It begins behind its first letter."""

    start = 1

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self._text = WORDS[kind]

    def fill(self, table: ReadingTable, number: int, state: int, byte: int) -> None:
        """Fill the whole row."""
        entries = np.full(256, DEAD, np.int32)
        last = state + 1 == len(self._text)
        entries[self._text[state]] = self.ending(None) if last else table.state(self, state + 1)
        table.rows[number] = entries


# ---------------------------------------------------------------------- strings and numbers


class StringReader(Reader):
    """Some languages of strings side by side, up to the quote; a label is the set of those that accept, as bits."""

    def __init__(self, languages: tuple[Any, ...], home: int = DEAD) -> None:
        super().__init__()
        self.languages = languages
        self.ending(1)  # the symbol 0, as any string has it
        self._home = home if len(languages) == 1 else DEAD
        classes = [getattr(language, "of_byte", None) for language in languages]
        known = [np.frombuffer(of_byte, np.uint8) for of_byte in classes if of_byte is not None]
        self._classes = known if len(known) == len(languages) else None

    @property
    def start(self) -> tuple[Any, ...]:
        """Before the first character."""
        return tuple(language.start for language in self.languages)

    def fill(self, table: ReadingTable, number: int, state: tuple[Any, ...], byte: int) -> None:
        """Fill in all bytes that no language tells apart."""
        pairs = list(zip(self.languages, state, strict=True))
        if byte == QUOTE_BYTE:
            accepting = sum(1 << i for i, (language, at) in enumerate(pairs) if at is not None and language.accepts(at))
            if accepting:
                table.rows[number, byte] = self.ending(accepting)
                return
        following = tuple(None if at is None else language.step(at, byte) for language, at in pairs)
        if self._home and following[0] is not None and self.languages[0].is_free(following[0]):
            target = self._home  # as any string from here on
        else:
            target = table.state(self, following if any(at is not None for at in following) else None)
        if self._classes is None or byte == QUOTE_BYTE:
            table.rows[number, byte] = target
            return
        alike = np.logical_and.reduce([classes == classes[byte] for classes in self._classes])
        alike[QUOTE_BYTE] = False
        table.rows[number, alike] = target


class BoundedReader(Reader):
    """A pattern of bounded length; a state is the language's, and how many characters were read.

    Far from its bounds, a string reads as the pattern alone does, so that most states need not be told apart.
    """

    def __init__(self, language: Any, pattern: StringReader, bounds: Any) -> None:
        super().__init__()
        self._language, self._pattern, self._bounds = language, pattern, bounds
        self._classes = np.frombuffer(language.of_byte, np.uint8)
        self.ending(1)

    @property
    def start(self) -> tuple[int, int]:
        """Before the first character."""
        return self._language.start, 0

    def fill(self, table: ReadingTable, number: int, state: tuple[int, int], byte: int) -> None:
        """Fill in all bytes that the language does not tell apart."""
        at, count = state
        if byte == QUOTE_BYTE and self._language.accepts(at):
            table.rows[number, byte] = self.ending(1)
            return
        following = self._language.step(at, byte)
        target = DEAD
        if following is not None:
            target = table.state(self, (following, count + self._language.automaton.is_between(following)))
        alike = self._classes == self._classes[byte]
        alike[QUOTE_BYTE] = byte == QUOTE_BYTE
        table.rows[number, alike] = target

    def relaxed(self, table: ReadingTable, state: tuple[int, int], longest: int) -> int:
        """The reading state of the pattern alone that no text of so many characters tells apart; `DEAD` for none."""
        at, count = state
        if count < self._bounds.least or count + longest + self._bounds.reach > self._bounds.most:
            return DEAD
        inner = self._language.automaton.state_of(at, self._bounds.pattern.automaton)
        return table.state(self._pattern, (inner,)) if inner else DEAD


_NUMERIC: Final = np.array(list(b"0123456789+-.eE"))
_BEHIND_NUMBER: Final = np.array(list(b" \t\n\r,]}"))


class NumberReader(Reader):
    """Some languages of numbers side by side; a byte that may stand behind a number ends it, and is read again."""

    def __init__(self, languages: tuple[Any, ...]) -> None:
        super().__init__()
        self.languages = languages

    @property
    def start(self) -> tuple[Any, ...]:
        """Before the first digit."""
        return tuple(language.start for language in self.languages)

    def accepting(self, state: tuple[Any, ...]) -> int:
        """The languages of which a number may end here, as bits."""
        pairs = enumerate(zip(self.languages, state, strict=True))
        return sum(1 << i for i, (language, at) in pairs if at is not None and language.accepts(at))

    def fill(self, table: ReadingTable, number: int, state: tuple[Any, ...], byte: int) -> None:
        """Fill the whole row."""
        entries = np.full(256, DEAD, np.int32)
        accepting = self.accepting(state)
        if accepting:
            entries[_BEHIND_NUMBER] = self.ending(accepting)
        pairs = list(zip(self.languages, state, strict=True))
        for one in _NUMERIC.tolist():
            following = tuple(None if at is None else language.step(at, one) for language, at in pairs)
            entries[one] = table.state(self, following if any(at is not None for at in following) else None)
        table.rows[number] = entries


# ---------------------------------------------------------------------- what every grammar begins with


class Common:
    """The readers that every grammar has, and their part of the table.

    Attributes:
        home, last: the state of any string between two characters; it and those within a character come last.
    """

    def __init__(self, mode: Whitespace, any_string: Any, numbers: Iterable[Any]) -> None:
        self.nothing = Nothing()
        self.at_root = Blanks(Whitespace.COMPACT, behind=False)
        self.blanks = Blanks(mode, behind=False)
        self.blanks_behind = Blanks(mode, behind=True) if mode is Whitespace.ONE_SPACE else self.blanks
        self.words = {kind: Word(kind) for kind in WORDS}
        self.any_string = any_string
        self.strings = {any_string: StringReader((any_string,))}
        self.numbers = {language: NumberReader((language,)) for language in numbers}
        self.table = ReadingTable(Limits())
        blanks = (self.nothing, self.at_root, self.blanks, self.blanks_behind)
        for reader in (*blanks, *self.words.values(), *self.numbers.values(), *self.strings.values()):
            self._complete(reader)
        self.home = min(self.strings[any_string].ids.values())
        self.last = len(self.table) - 1

    def _complete(self, reader: Reader) -> None:
        """Work out all rows of a reader, so that its states follow one another."""
        state = first = len(self.table)
        if reader.begin(self.table) != first:
            return
        while state < len(self.table):
            self.table.complete(state)
            state += 1


@cache
def common(mode: Whitespace) -> Common:
    """What grammars with such white space begin with."""
    from engine.automata.json.numbers.language import NumberLanguage
    from engine.automata.json.strings.language import any_string

    return Common(mode, any_string(), (NumberLanguage(), NumberLanguage(integer=True)))
