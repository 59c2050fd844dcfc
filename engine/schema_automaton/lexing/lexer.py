"""Lexers of JSON strings, numbers, keys and white space as lazily built rows of one integer table.

What a frame reads until a symbol ends it is a regular language: white space up to a
bracket, a string up to its quote, a key, a number. Each such language is a `JsonLexer`,
and a state of a lexer has a row over bytes: the next state, or the symbol with which the
lexeme ends. Rows do not depend on the frame, so all frames with the same lexer share
them.

The lexers that every grammar needs (white space, any string, any number, literals) are
completed once per process, and the table of a grammar begins with a copy of theirs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from mmap import mmap
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD, MISS, Loop
from engine.automata.completion import Alphabet
from engine.schema_automaton.formula.values import WORDS, JsonType
from engine.schema_automaton.json_encoding.encoded_automaton import before, node_within
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.whitespace import Whitespace, is_complete
from engine.schema_automaton.lexing.whitespace import step as blank_step
from engine.schema_automaton.number_languages.language import NUMERIC, number_language
from engine.schema_automaton.solver.object_machine import ObjectState
from engine.schema_automaton.string_languages.language import any_string
from engine.source import Limits, Span, checkpoint, counted_cache

Rows = npt.NDArray[np.int32]

QUOTE, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE, NUMBER, TRUE, FALSE, NULL = range(11)
"""The symbols that end white space, by the byte that ends it."""

STRUCTURE: Final[dict[int, int]] = {
    **{byte: symbol for symbol, byte in enumerate(b'",:[]{}')},
    **dict.fromkeys(b"-0123456789", NUMBER),
    **{byte: TRUE + i for i, byte in enumerate(b"tfn")},
}


QUOTE_BYTE: Final = 0x22
BACKSLASH: Final = 0x5C
# The table has a first capacity, and then eight times as much: rows that are not written take no memory, but copying
# takes time. From 4 MiB on, numpy requests memory in pieces of 2 MiB, so larger tables are memory maps of their own,
# which are allocated page by page. Small ones are left to the allocator, which knows pages that need not be cleared
# again. The pages are what takes time: so rows are copied to the next table while the second half of the present one is
# being filled, a few rows for each new one; the final copy then takes a tenth of the time.
CAPACITY: Final = 4_000
GROWTH: Final = 8
_AHEAD: Final = 16  # states that are numbered until the next portion is copied
_PORTION: Final = 3  # rows that are copied for each of them, a few more than needed


def ending(symbol: int) -> int:
    """Return the table's entry for a byte that ends the lexeme with a symbol."""
    return -2 - symbol


def symbol_of(entry: int) -> int:
    """Return the symbol of an entry that ends the lexeme."""
    return -2 - entry


OTHER_KEY: Final = ()
"""The label of a key that is not one of the names."""


class JsonLexer:
    """A regular language that the frames of a kind read, as rows of a `LexerTable`.

    Frames ask their lexer what depends on its kind. The answers here are those of lexers that have nothing to say.

    Attributes:
        ids: the number of each of its states in the table.
        labels: the meanings of its symbols, by number.
        reads_whitespace: whether it reads white space, which a shortest completion leaves out where it can.
        reads_names: whether it reads some names and nothing else.
        has_conditions: whether conditions on keys decide which keys may come, so that its states take longer.
        reread_ends: the bytes that end the lexeme and are read again by the next frame.
    """

    reads_whitespace: ClassVar = False
    reads_names: ClassVar = False
    has_conditions: ClassVar = False
    reread_ends: ClassVar[bytes] = b""

    def __init__(self) -> None:
        self.ids: dict[Any, int] = {}
        self.labels: Sequence[Any] = ()
        self._symbols: dict[Hashable, int] = {}

    def ending(self, label: Hashable) -> int:
        """Return the entry for a byte that ends the lexeme with a label."""
        symbol = self._symbols.get(label)
        if symbol is None:
            symbol = self._symbols[label] = len(self.labels)
            self.labels = (*self.labels, label)
        return ending(symbol)

    @property
    @abstractmethod
    def start(self) -> Any:
        """Return the start state."""

    def begin(self, table: LexerTable) -> int:
        """Return the number of the start state."""
        return table.state(self, self.start)

    @abstractmethod
    def fill(self, table: LexerTable, number: int, state: Any, byte: int) -> None:
        """Compute the entry of a state for a byte, and the entries that come with it.

        Args:
            table: the table to fill.
            number: the number of the state in the table.
            state: the lexer's own name of the state.
            byte: the byte that was requested.
        """

    # ------------------------------------------------------------------ states

    def widened(self, table: LexerTable, state: Any, longest: int) -> int:
        """Return a state that more frames share and that is equivalent for inputs of up to `longest` bytes.

        Args:
            table: the lexer states.
            state: the state.
            longest: the length of the inputs.

        Returns:
            The number of the state; `DEAD` if there is none but the state itself.
        """
        return DEAD

    def loop_at(self, state: Any, shared: SharedLexers) -> Loop | None:
        """Return the loop of any string, with marks or bounds, if a state between two characters is equivalent."""
        return None

    def may_have_loop(self, state: Any) -> bool:
        """Return whether a state may be in a loop of its own: within a constrained string."""
        return False

    def may_end(self, state: Any) -> bool:
        """Return whether the lexeme may end without another byte, at the end of the text: a number."""
        return False

    def min_remaining(self, state: Any, alphabet: Alphabet = None) -> int | None:
        """Return the fewest bytes of an alphabet before the one that ends the lexeme; None if it has no completion.

        The bound is 0 except for strings, which can be long.
        """
        return 0

    @property
    def most_ends(self) -> int | None:
        """Return the most symbols that the lexeme can end with; None if that is not known."""
        return None

    def spans(self, state: Any, index: int, alternative: Any) -> Iterable[Span] | None:
        """Return the source locations of one of the languages that are read; None if the frame has them.

        Args:
            state: the state.
            index: the index of the language, which is that of the frame's alternative.
            alternative: the alternative.
        """
        return None

    def next_keys(self, state: Any, index: int, of: ObjectState) -> tuple[int, tuple[int, ...]]:
        """Return the names (as a bit set) and the key classes that the key which is being read may be of.

        Args:
            state: the state.
            index: the index of the object's alternative in its frame.
            of: the state of the object.
        """
        return 0, of.machine.allowed(of)[1]

    def needs_text(self, state: Any) -> bool:
        """Return whether the recorded text still matters in a state."""
        return True

    def settled(self, table: LexerTable, state: Any, text: bytes) -> int:
        """Return the number of a state, resolved by the recorded text if that decides.

        Args:
            table: the lexer states.
            state: the state.
            text: the text since it is recorded.
        """
        return table.state(self, state)

    # ------------------------------------------------------------------ ends of the lexeme

    def accepting_at(self, symbol: int) -> int | None:
        """Return the languages that end with a symbol, as bits; None if the text decides."""
        languages: int = self.labels[symbol]
        return languages

    def key_ends(self, symbol: int) -> tuple[Any, ...] | None:
        """Return the `KeyEnd` for each state of an object (None: the key may not end), if conditions on keys decide."""
        return None

    def keys_ending(self, symbol: int) -> list[str | None]:
        """Return the names that a key which ends with a symbol may be; None for other keys."""
        label = self.labels[symbol]
        return [label if isinstance(label, str) else None]


class LexerTable:
    """The lexer states of one grammar.

    Attributes:
        rows: int32[capacity, 256]: the next state, `DEAD`, `MISS`, or `ending(symbol)`. Growth replaces the array.
        owners: the lexer of each state, and the lexer's own name of the state.
        identity: an object that no other table has.
    """

    def __init__(self, limits: Limits, prefix: LexerTable | None = None) -> None:
        self._limits = limits
        self.identity = object()
        self.owners: list[tuple[JsonLexer, Any]] = [(EmptyLexer(), None)] if prefix is None else prefix.owners.copy()
        # Memory is allocated when a row is first written, so growth does not pay for unused rows.
        self.rows: Rows = np.empty((max(CAPACITY, 2 * len(self.owners)), 256), np.int32)
        self.rows[: len(self.owners)] = DEAD if prefix is None else prefix.rows[: len(self.owners)]
        self._end = 0
        self._ahead: Rows | None = None  # the next table; `_copied` rows were copied to it
        self._copied = 0

    def __len__(self) -> int:
        return len(self.owners)

    def state(self, lexer: JsonLexer, state: Any) -> int:
        """Return the number of a lexer's state; `DEAD` for None."""
        if state is None:
            return DEAD
        number = lexer.ids.get(state)
        if number is None:
            number = len(self.owners)
            if number >= self._end:
                self._reserve(number + 1)
            lexer.ids[state] = number
            self.rows[number] = MISS
            self.owners.append((lexer, state))
        return number

    def states(self, lexer: JsonLexer, states: Iterable[Any]) -> list[int]:
        """Return the numbers of some of a lexer's states."""
        ids = lexer.ids
        return [ids[state] if state in ids else self.state(lexer, state) for state in states]

    def run(self, lexer: JsonLexer, states: list[Any], entry: int = MISS) -> int:
        """Number new states of a lexer consecutively and fill their rows with an entry; return the first number.

        Args:
            lexer: the lexer.
            states: its states, none of which has a number yet.
            entry: the entry of all bytes.
        """
        first = len(self.owners)
        if first + len(states) > self._end:
            self._reserve(first + len(states))
        self.rows[first : first + len(states)] = entry
        self.owners += zip(repeat(lexer), states)
        lexer.ids.update(zip(states, range(first, first + len(states)), strict=True))
        return first

    def _reserve(self, size: int) -> None:
        """Reserve rows for a number of states."""
        self._limits.check("errors.limit.lexer_states", size - 1, self._limits.configurations, "configurations")
        if size > len(self.rows):
            self._grow(size)
        elif 2 * size > len(self.rows):
            self._copy_ahead(size)
        last = len(self.rows) // 2 if self._ahead is None else min(size + _AHEAD, len(self.rows))
        self._end = min(last, self._limits.configurations)  # where this is called again

    def _copy_ahead(self, size: int) -> None:
        """Copy a portion of the rows to the table that replaces this one when it is full."""
        if self._ahead is None:
            self._ahead = _empty_rows(self._capacity(GROWTH * len(self.rows)))
        done = self._copied
        self._copied = min(done + _PORTION * (size + _AHEAD - len(self.owners)), len(self.owners))
        self._ahead[done : self._copied] = self.rows[done : self._copied]

    def _grow(self, size: int) -> None:
        ahead = self._ahead
        rows = ahead if ahead is not None and size <= len(ahead) else _empty_rows(self._capacity(GROWTH * size))
        rows[: len(self.owners)] = self.rows[: len(self.owners)]
        self.rows, self._ahead, self._copied = rows, None, 0

    def _capacity(self, size: int) -> int:
        """Return a capacity for the table without the rows that the limit would refuse."""
        return max(min(size, self._limits.configurations + 1), len(self.rows) + 1)

    def entry(self, state: int, byte: int) -> int:
        """Return an entry; compute it if it is missing."""
        entry = self.rows.item(state, byte)
        if entry == MISS:
            self.fill(state, byte)
            entry = self.rows.item(state, byte)
        return entry

    def fill(self, state: int, byte: int) -> None:
        """Compute a missing entry."""
        lexer, name = self.owners[state]
        checkpoint(16)
        lexer.fill(self, state, name, byte)

    def complete(self, state: int) -> None:
        """Compute the whole row of a state."""
        while (missing := self.rows[state] == MISS).any():
            self.fill(state, int(missing.argmax()))


def _empty_rows(size: int) -> Rows:
    """Return int32[size, 256], of which no row takes memory until it is written."""
    return np.frombuffer(mmap(-1, 1024 * size), np.int32).reshape(-1, 256)


# ---------------------------------------------------------------------- white space and literals


class WhitespaceLexer(JsonLexer):
    """A lexer of white space up to the first byte of what follows; its symbols are those of `STRUCTURE`."""

    reads_whitespace = True

    def __init__(self, mode: Whitespace, *, after_separator: bool) -> None:
        super().__init__()
        self._mode, self._after_separator = mode, after_separator

    @property
    def start(self) -> int:
        """Return the state before the first byte."""
        return 0

    def fill(self, table: LexerTable, number: int, state: int, byte: int) -> None:
        """Fill the whole row."""
        entries = np.full(256, DEAD, np.int32)
        if is_complete(self._mode, state, after_separator=self._after_separator):
            for structural, symbol in STRUCTURE.items():
                entries[structural] = ending(symbol)
        for one in b" \t\n\r":
            entries[one] = table.state(self, blank_step(self._mode, state, one, after_separator=self._after_separator))
        table.rows[number] = entries

    def next_keys(self, state: int, index: int, of: ObjectState) -> tuple[int, tuple[int, ...]]:
        """Return the names and the key classes that the next key may be of."""
        return of.machine.allowed(of)


class EmptyLexer(JsonLexer):
    """A lexer that reads nothing, for the end of the text."""

    @property
    def start(self) -> int:
        """Return the only state."""
        return 0

    def fill(self, table: LexerTable, number: int, state: int, byte: int) -> None:
        """Fill the whole row."""
        table.rows[number] = DEAD


class LiteralLexer(JsonLexer):
    """A lexer of `null`, `false` or `true`; a state is the number of bytes read. It begins after the first byte."""

    def __init__(self, kind: JsonType) -> None:
        super().__init__()
        self._text = WORDS[kind]

    @property
    def start(self) -> int:
        """Return the state after the first byte."""
        return 1

    def fill(self, table: LexerTable, number: int, state: int, byte: int) -> None:
        """Fill the whole row."""
        entries = np.full(256, DEAD, np.int32)
        last = state + 1 == len(self._text)
        entries[self._text[state]] = self.ending(None) if last else table.state(self, state + 1)
        table.rows[number] = entries


# ---------------------------------------------------------------------- strings and numbers


class LanguagesLexer(JsonLexer):
    """A lexer of several languages side by side; a state is a state of each, None where that language has died."""

    def __init__(self, languages: tuple[Any, ...]) -> None:
        super().__init__()
        self.languages = languages

    @property
    def start(self) -> tuple[Any, ...]:
        """Return the state before the first character."""
        return tuple(language.start for language in self.languages)

    @property
    def most_ends(self) -> int | None:
        """Return the number of non-empty sets of languages."""
        return (1 << len(self.languages)) - 1

    def spans(self, state: tuple[Any, ...], index: int, alternative: Any) -> Iterable[Span] | None:
        """Return the source locations that apply in a state of one of the languages."""
        if index >= len(
            state
        ):  # a state of unconstrained strings, which all schemas share, is one for all alternatives
            return None
        at = state[index]
        spans: Iterable[Span] = self.languages[index].spans(at) if at is not None else ()
        return spans

    def accepting(self, state: tuple[Any, ...]) -> int:
        """Return the languages of which a text may end here, as bits."""
        pairs = enumerate(zip(self.languages, state, strict=True))
        return sum(1 << i for i, (language, at) in pairs if at is not None and language.accepts(at))


class StringLexer(LanguagesLexer):
    """A lexer of several languages of strings, up to the quote; a label is the set of those that accept, as bits."""

    def __init__(self, languages: tuple[Any, ...], any_string_state: int = DEAD) -> None:
        super().__init__(languages)
        self.ending(1)  # symbol 0, as for any string
        self._any_string_state = any_string_state if len(languages) == 1 else DEAD

    def may_have_loop(self, state: tuple[Any, ...]) -> bool:
        """Return whether a state may be in a loop over characters, or one character before a loop."""
        encoded = self.languages[0].encoded
        if len(self.languages) > 1 or encoded is None or node_within(state[0]):
            return True
        blank = encoded.advance(state[0], 0x20)  # many tokens begin with a space
        return bool(encoded.loops_at(state[0]) or (blank != DEAD and encoded.loops_at(blank)))

    def min_remaining(self, state: tuple[Any, ...], alphabet: Alphabet = None) -> int | None:
        """Return the fewest bytes that complete one of the languages."""
        pairs = zip(self.languages, state, strict=True)
        bounds = [language.min_remaining(at, alphabet) for language, at in pairs if at is not None]
        return min((bound for bound in bounds if bound is not None), default=None)

    def fill(self, table: LexerTable, number: int, state: tuple[Any, ...], byte: int) -> None:
        """Fill the row of a state, and the rows within the characters that may follow."""
        encoded = self.languages[0].encoded
        if len(self.languages) > 1 or encoded is None:
            self._fill_row(table, number, state)
        else:
            self._fill_characters(table, number, state, encoded)

    def _fill_characters(self, table: LexerTable, number: int, state: tuple[Any, ...], encoded: Any) -> None:
        """Fill the row of a state, and the rows within the characters that may follow."""
        at, node = before(state[0]), node_within(state[0])
        paths = encoded.paths(at)
        below = encoded.below(paths, node)
        inner = table.states(self, [(each,) for each in encoded.entered(at, node, below)])
        rows = encoded.gather(node, below, inner, self._targets(table, paths.targets))
        if encoded.accepts(state[0]):
            rows[0, QUOTE_BYTE] = ending(0)
        table.rows[[number, *inner] if node else number] = rows

    def _targets(self, table: LexerTable, targets: list[int]) -> list[int]:
        entries = {DEAD: DEAD}
        for target in dict.fromkeys(targets):
            if target != DEAD:
                entries[target] = self.entry(table, (target,))
        return [entries[target] for target in targets]

    def entry(self, table: LexerTable, following: tuple[Any, ...]) -> int:
        """Return the entry for a byte that leads to some states, one of each language."""
        # Continue as any string where no condition is left.
        free = self._any_string_state and self.languages[0].is_free(following[0])
        return self._any_string_state if free else table.state(self, following)

    def _fill_row(self, table: LexerTable, number: int, state: tuple[Any, ...]) -> None:
        """Fill the row byte by byte."""
        pairs = list(zip(self.languages, state, strict=True))
        checkpoint(16 * len(pairs))
        nothing: list[Any] = [None] * 256
        columns = list(zip(*(nothing if at is None else language.row(at) for language, at in pairs), strict=True))
        known = {(None,) * len(pairs): DEAD}
        for following in columns:
            if following not in known:
                known[following] = self.entry(table, following)
        entries = [known[following] for following in columns]
        accepting = self.accepting(state)
        if accepting:
            entries[QUOTE_BYTE] = self.ending(accepting)
        table.rows[number] = entries


class NumberLexer(LanguagesLexer):
    """A lexer of several languages of numbers; a byte that may follow a number ends it, and is read again."""

    reread_ends = b" \t\n\r,]}"

    def may_end(self, state: tuple[Any, ...]) -> bool:
        """Return whether the number may end."""
        return bool(self.accepting(state))

    def spans(self, state: tuple[Any, ...], index: int, alternative: Any) -> Iterable[Span] | None:
        """Return the source locations of the alternative: equal languages of numbers are one."""
        at = state[index]
        spans: Iterable[Span] = alternative.spans(at) if at is not None else ()
        return spans

    def fill(self, table: LexerTable, number: int, state: tuple[Any, ...], byte: int) -> None:
        """Fill the whole row."""
        entries = np.full(256, DEAD, np.int32)
        accepting = self.accepting(state)
        if accepting:
            entries[_BEHIND_NUMBER] = self.ending(accepting)
        live = [(i, self.languages[i].row(at)) for i, at in enumerate(state) if at is not None]
        checkpoint(2 * len(live) + len(state) // 32)
        for column, one in enumerate(NUMERIC):
            leads = [(i, to) for i, row in live if (to := row[column]) is not None]
            if leads:
                checkpoint(len(state) // 8)  # the new state is a tuple of this length
                following: list[Any] = [None] * len(state)
                for i, to in leads:
                    following[i] = to
                entries[one] = table.state(self, tuple(following))
        table.rows[number] = entries


_BEHIND_NUMBER: Final = np.array(list(NumberLexer.reread_ends))


# ---------------------------------------------------------------------- shared by all grammars


class SharedLexers:
    """The lexers that every grammar has, and their part of the table.

    Attributes:
        any_string: every string, encoded as names and constrained strings are.
        free_string: every string, encoded as unconstrained values are; often the same language.
        any_string_state: the state of `any_string` between two characters.
        any_string_loop: its states as a loop.
        free_string_state, free_string_loop: those of `free_string`.
        escapes: the escapes that strings may contain.
    """

    def __init__(self, mode: Whitespace, any_string: Any, free_string: Any, numbers: Iterable[Any]) -> None:
        self.nothing = EmptyLexer()
        self.at_root = WhitespaceLexer(Whitespace.COMPACT, after_separator=False)
        self.blanks = WhitespaceLexer(mode, after_separator=False)
        self.blanks_behind = (
            WhitespaceLexer(mode, after_separator=True) if mode is Whitespace.ONE_SPACE else self.blanks
        )
        self.words = {kind: LiteralLexer(kind) for kind in WORDS}
        self.any_string, self.free_string = any_string, free_string
        self.escapes: Escapes = any_string.escapes
        self.strings = {language: StringLexer((language,)) for language in (any_string, free_string)}
        self.numbers = {language: NumberLexer((language,)) for language in numbers}
        self.table = LexerTable(Limits())
        blanks = (self.nothing, self.at_root, self.blanks, self.blanks_behind)
        for lexer in (*blanks, *self.words.values(), *self.numbers.values(), *self.strings.values()):
            self._complete(lexer)
        self.any_string_loop, self.free_string_loop = self._loop_of(any_string), self._loop_of(free_string)
        self.any_string_state, self.free_string_state = self.any_string_loop.first, self.free_string_loop.first
        self._marked_loops = {
            loop.first: loop._replace(marked=True) for loop in (self.free_string_loop, self.any_string_loop)
        }
        self._shapes: dict[int, tuple[list[int], npt.NDArray[np.intp]]] = {}

    def _loop_of(self, language: Any) -> Loop:
        """Return the states of a string lexer, which are numbered consecutively."""
        numbers = self.strings[language].ids.values()
        return Loop(min(numbers), max(numbers))

    def loop_at(self, table: LexerTable, state: int) -> Loop | None:
        """Return the loop of any string, if a lexer state between two characters is equivalent to it.

        Args:
            table: a table that begins with the shared states.
            state: the lexer state.
        """
        if state == self.any_string_state:
            return self.any_string_loop
        if state == self.free_string_state:
            return self.free_string_loop
        lexer, name = table.owners[state]
        return lexer.loop_at(name, self)

    def marked_loop(self, home: int) -> Loop:
        """Return the loop with the given first state, as one that some texts leave."""
        return self._marked_loops[home]

    def shape(self, within: int) -> tuple[list[int], npt.NDArray[np.intp]]:
        """Return the transitions of any string at a node within a character.

        Returns:
            The nodes that follow, 0 for between two characters; and intp[256], the index of the one that each byte
            leads to, counted from 1, or 0 for a byte that is not allowed.
        """
        shape = self._shapes.get(within)
        if shape is None:
            row = self.table.rows[self.any_string_state + within]
            nodes = [target - self.any_string_state for target in np.unique(row[row > DEAD]).tolist()]
            index = np.zeros(256, np.intp)
            for number, node in enumerate(nodes, 1):
                index[row == self.any_string_state + node] = number
            shape = self._shapes[within] = nodes, index
        return shape

    def _complete(self, lexer: JsonLexer) -> None:
        """Compute all rows of a lexer, so that its states are numbered in a run."""
        state = first = len(self.table)
        if lexer.begin(self.table) != first:
            return
        while state < len(self.table):
            self.table.complete(state)
            state += 1


@counted_cache()
def common(mode: Whitespace, escapes: Escapes) -> SharedLexers:
    """Return the lexers shared by grammars with such white space and escapes."""
    strings = any_string(escapes), any_string(escapes.of_free_values)
    return SharedLexers(mode, *strings, (number_language(), number_language(integer=True)))
