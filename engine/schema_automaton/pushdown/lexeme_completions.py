"""Completions of the lexeme that is being read, shortest first.

What the lexer of a frame reads does not depend on the stack, so the completions of a lexer state are
computed once. They are kept, and their search continues only when another one is requested.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from engine.automata.byte_automaton import DEAD
from engine.automata.completion import Alphabet
from engine.schema_automaton.lexing.bounded_lexer import BoundedLexer
from engine.schema_automaton.lexing.host_name_lexer import HostNameLexer
from engine.schema_automaton.lexing.lexer import (
    BEHIND_NUMBER,
    LanguagesLexer,
    LexerTable,
    NumberLexer,
    StringLexer,
    WhitespaceLexer,
    symbol_of,
)
from engine.schema_automaton.string_languages.language import TextLanguage
from engine.source import checkpoint


class LexemeCompletion(NamedTuple):
    """One completion of a lexeme.

    Attributes:
        symbol: the symbol with which the lexeme ends.
        text: the bytes before the last one.
        last: the byte that ends it.
    """

    symbol: int
    text: bytes
    last: bytes


class LexemeCompletions:
    """The lexeme completions of all lexer states of one grammar.

    Attributes:
        lexer_table: the lexer states.
        alphabet: the bytes that a completion may contain; None for all.
        steps: the number of states expanded so far.
    """

    def __init__(self, lexer_table: LexerTable, legible: bytes, alphabet: Alphabet) -> None:
        self.lexer_table = lexer_table
        self.alphabet = alphabet
        self.steps = 0
        self._legible = legible
        self._of_state: dict[int, _Search] = {}
        self._exits: dict[int, list[tuple[int, bytes]]] = {}

    def nth(self, state: int, number: int, up_to: int) -> LexemeCompletion | int | None:
        """Return the completion of a lexer state with index `number`, shortest first; each has another symbol.

        Args:
            state: the lexer state.
            number: the index of the completion.
            up_to: the most bytes before its last one.

        Returns:
            The completion, if no more than `up_to` bytes come before its last one; otherwise a lower bound of these
            bytes, or None if there is no such completion.
        """
        search = self._of_state.get(state)
        if search is None:
            search = self._of_state[state] = _Search(state, self.most(state))
        while len(search.found) <= number and search.queue and search.queue[0][0] <= up_to:
            search.expand(self)
        if number < len(search.found):
            return search.found[number]
        return search.queue[0][0] if search.queue else None

    def most(self, state: int) -> int | None:
        """Return the most completions that a lexer state can have; None if that is not known."""
        lexer, _ = self.lexer_table.owners[state]
        if isinstance(lexer, BoundedLexer):
            return 1
        if isinstance(lexer, HostNameLexer):
            return None
        if isinstance(lexer, LanguagesLexer):
            return (1 << len(lexer.languages)) - 1
        return None

    def exits(self, state: int) -> list[tuple[int, bytes]]:
        """Return the successors of a lexer state, each with one byte. Optional white space is skipped."""
        exits = self._exits.get(state)
        if exits is None:
            self.steps += 1
            self.lexer_table.complete(state)
            row = self.lexer_table.rows[state].tolist()
            chosen: dict[int, bytes] = {}
            for byte in self._legible:
                if row[byte] != DEAD:
                    chosen.setdefault(row[byte], bytes((byte,)))
            if isinstance(self.lexer_table.owners[state][0], NumberLexer):
                # The byte after a number ends it and is read again; at the end of the text there is none.
                for byte in BEHIND_NUMBER:
                    if row[byte] < DEAD:
                        chosen.setdefault(row[byte], bytes((byte,)))
            ends = [exit_ for exit_ in chosen.items() if exit_[0] < DEAD]
            blank = isinstance(self.lexer_table.owners[state][0], WhitespaceLexer)
            exits = self._exits[state] = ends if blank and ends else list(chosen.items())
        return exits

    def min_remaining(self, state: int) -> int | None:
        """Return a lower bound of the bytes before the one that ends the lexeme; None if it has no completion.

        The bound is 0 except for strings, which can be long.
        """
        lexer, name = self.lexer_table.owners[state]
        if isinstance(lexer, BoundedLexer):
            return lexer.min_remaining(name, self.alphabet)
        if not isinstance(lexer, StringLexer):
            return 0
        lacking: list[int] = []
        for language, at in zip(lexer.languages, name, strict=True):
            if at is not None and not isinstance(language, TextLanguage):
                lacking.append(0)
            elif at is not None:
                least = language.automaton.min_remaining(at, self.alphabet).at_least
                lacking += () if least is None else (least,)
        return min(lacking, default=None)


class _Search:
    """An A* search from one lexer state to all completions."""

    def __init__(self, start: int, most: int | None) -> None:
        self.found: list[LexemeCompletion] = []
        self._most = most
        self._symbols: set[int] = set()
        self._came: dict[int, tuple[int, int, bytes]] = {start: (0, DEAD, b"")}
        self._count = 0
        # The estimated length, then the longest first, then the first found; a state; and for the end of the lexeme,
        # the entry of the table and the byte.
        self.queue: list[tuple[int, int, int, int, int, bytes]] = []
        self._push(0, 0, start)

    def _push(self, least: int, read: int, state: int, entry: int = DEAD, last: bytes = b"") -> None:
        self._count += 1
        heapq.heappush(self.queue, (least, -read, self._count, state, entry, last))

    def expand(self, completions: LexemeCompletions) -> None:
        """Expand the most promising entry of the queue."""
        least, negated, _, state, entry, last = heapq.heappop(self.queue)
        read = -negated
        if entry < DEAD:
            symbol = symbol_of(entry)
            if symbol not in self._symbols:
                self._symbols.add(symbol)
                self.found.append(LexemeCompletion(symbol, self._text(state), last))
                if len(self.found) == self._most:
                    self.queue.clear()
            return
        if read > self._came[state][0]:
            return
        exits = completions.exits(state)
        checkpoint(2 + 2 * len(exits))
        for following, byte in exits:
            if following < DEAD:
                if symbol_of(following) not in self._symbols:
                    self._push(read, read, state, following, byte)
            elif following not in self._came or read + 1 < self._came[following][0]:
                missing = completions.min_remaining(following)
                if missing is not None:
                    self._came[following] = read + 1, state, byte
                    self._push(max(least, read + 1 + missing), read + 1, following)

    def _text(self, state: int) -> bytes:
        pieces: list[bytes] = []
        while self._came[state][0]:
            _, state, byte = self._came[state]
            pieces.append(byte)
        return b"".join(reversed(pieces))
