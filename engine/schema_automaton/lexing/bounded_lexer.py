"""A lexer of patterns with a bounded length: the lexer of the pattern with a counter.

A string of bounded length that must also match is in the product of the pattern and a
counter, and a state is live if the shortest completion of the pattern still fits. So
the counter is a number beside the pattern's state, and the states that differ in it
alone are a run of the table: their rows are those of the first one with every entry
shifted, except for what does not fit any more. They are filled a run at a time.

Until the least length is reached, a search decides whether a completion of the right
length exists. Far from its bounds, a string is read by the lexer of the pattern alone,
so that most states need not be distinguished.

Rejected: the product of two automata. Each step of it takes as long as a step of the
pattern, for every count.
"""

from __future__ import annotations

from itertools import product
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD, MISS
from engine.automata.completion import Alphabet
from engine.schema_automaton.json_encoding.encoded_automaton import EncodedAutomaton, before, node_within
from engine.schema_automaton.lexing.lexer import QUOTE_BYTE, JsonLexer, LexerTable, StringLexer, ending
from engine.schema_automaton.string_languages.conditions import ConditionAutomaton
from engine.schema_automaton.string_languages.language import Bounded
from engine.schema_automaton.string_languages.tables import TableAutomaton
from engine.source import Span, checkpoint

RUN: Final = 8
"""The number of states in a run."""
_STEPS: Final = np.arange(1, RUN + 1)
MOST_LEAST: Final = 64
"""A larger least length is left to the product: the search below it may take too long."""

_State: TypeAlias = tuple[int, int]
_Numbers: TypeAlias = npt.NDArray[np.int64]


class BoundedLexer(JsonLexer):
    """A lexer of a pattern of bounded length; a state is the pattern's, and the number of complete characters."""

    def __init__(self, bounds: Bounded, encoded: EncodedAutomaton, pattern: StringLexer) -> None:
        super().__init__()
        self._bounds, self._encoded, self._pattern = bounds, encoded, pattern
        self._table: object = None  # the table that contains the runs
        self._runs: dict[_State, int] = {}  # the first number of each run, by its first state
        self._lives: dict[_State, bool] = {}  # verdicts below the least length
        self._missing_by_state: dict[int, int] = {}
        # The filled runs that are far from the bounds, by first state; and whether multi-byte characters are filled.
        self._filled: dict[_State, bool] = {}
        self._leading: dict[int, tuple[list[int], _Numbers]] = {}  # character classes lead to few states
        self.ending(1)

    @property
    def start(self) -> _State:
        """Return the state before the first character."""
        return self._encoded.start, 0

    @property
    def most_ends(self) -> int:
        """Return 1: only the quote ends the string."""
        return 1

    def spans(self, state: _State, index: int, alternative: object) -> tuple[Span, ...]:
        """Return the source locations of the pattern and of the bounds that still matter."""
        return self._bounds.spans(state[1])

    def min_remaining(self, state: _State, alphabet: Alphabet = None) -> int | None:
        """Return the least number of bytes of an alphabet that complete a state; None if none do."""
        at, count = state
        least = self._encoded.min_remaining(at, alphabet).at_least
        # A character is counted when it is complete.
        return None if least is None else max(least, self._bounds.least - count)

    def widened(self, table: LexerTable, state: _State, longest: int) -> int:
        """Return the state of the pattern's lexer that is equivalent for inputs of up to `longest` bytes.

        Args:
            table: the lexer states.
            state: the state.
            longest: the length of the inputs.

        Returns:
            The number of the state; `DEAD` if there is none.
        """
        at, count = state
        if count + longest + self._bounds.reach > self._bounds.most:
            return DEAD
        if count < self._bounds.least and count + self._missing_characters(before(at)) < self._bounds.least:
            return DEAD
        return table.state(self._pattern, (at,))

    def fill(self, table: LexerTable, number: int, state: _State, byte: int) -> None:
        """Fill the rows of the run of a state, and those within the characters that may be read there.

        Between two characters, the rows within the next one are filled when a byte is requested that leads there.
        """
        if table.identity is not self._table:
            self._table = table.identity
            self._runs.clear()
            self._filled.clear()
        at, node = before(state[0]), node_within(state[0])
        first = state[1] - state[1] % RUN
        counts = self._counts(first)
        spelling, paths = self._encoded.encoding, self._encoded.paths(at)
        enters = node > 0 or 0 < spelling.table[0, byte] < spelling.nodes
        if not node and (at, first) in self._filled:
            if enters and not self._filled[at, first]:
                self._enter(table, at, counts)
            table.rows[number] = table.rows[self._runs[at, first] + state[1] - first]  # `number` may not be in the run
            return
        targets, indices = self._targets_of(at, paths.targets)
        after = np.zeros((len(counts), 1 + len(targets)), np.int32)
        for column, target in enumerate(targets, 1):
            after[:, column] = self._after(table, target, counts + 1)
        vectors = np.zeros((len(counts), spelling.nodes + len(indices)), np.int32)
        vectors[:, spelling.nodes :] = after[:, indices]
        below = self._encoded.below(paths, node)
        runs = self._runs_of(table, [state[0], *(self._encoded.entered(at, node, below) if enters else ())], first)
        if below:
            vectors[:, below] = np.array(runs[1:]) + (counts - first)[:, np.newaxis] if enters else MISS
            if not after[:, 1:].all():  # near the bounds
                lives = vectors[:, spelling.nodes :] != DEAD
                reached = lives[:, spelling.part_of] @ spelling.reach[below].T
                vectors[:, below] *= reached
            elif not node:
                self._filled[at, first] = enters
        filled = [node, *below] if node else [node]
        rows = vectors.take(spelling.table[filled], axis=1)
        if self._encoded.accepts(state[0]):
            rows[counts >= self._bounds.least, 0, QUOTE_BYTE] = ending(0)
        for column, run in enumerate(runs[: len(filled)]):
            table.rows[run : run + len(counts)] = rows[:, column]
        table.rows[number] = rows[state[1] - first, 0]

    def _enter(self, table: LexerTable, at: int, counts: _Numbers) -> None:
        """Fill the entries of the first bytes of longer encodings, in an otherwise filled run far from the bounds."""
        spelling, first = self._encoded.encoding, int(counts[0])
        below = self._encoded.below(self._encoded.paths(at), 0)
        run, *inner = self._runs_of(table, [at, *self._encoded.entered(at, 0, below)], first)
        numbers = np.zeros(spelling.nodes, np.int32)
        numbers[below] = inner
        entries = numbers[spelling.table[0, spelling.leads]]
        table.rows[run : run + len(counts), spelling.leads] = np.where(
            entries, entries + (counts - first)[:, np.newaxis], DEAD
        )
        self._filled[at, first] = True

    def _targets_of(self, at: int, targets: list[int]) -> tuple[list[int], _Numbers]:
        """Return the live successors of a pattern's state, and the index of each character class's own, from 1."""
        known = self._leading.get(at)
        if known is None:
            numbers = {DEAD: 0}
            indices = np.array([numbers.setdefault(target, len(numbers)) for target in targets])
            known = self._leading[at] = list(numbers)[1:], indices
        return known

    def _counts(self, first: int) -> _Numbers:
        return np.arange(first, min(first + RUN, self._bounds.most + 1))

    def _runs_of(self, table: LexerTable, states: list[int], first: int) -> list[int]:
        """Return the first number of the run of each of some states of the pattern."""
        new = [at for at in states if (at, first) not in self._runs]
        if new:
            counts = self._counts(first).tolist()
            begin = table.run(self, list(product(new, counts)))
            self._runs.update(((at, first), begin + i * len(counts)) for i, at in enumerate(new))
        return [self._runs[at, first] for at in states]

    def _run_of(self, table: LexerTable, at: int, first: int) -> int:
        """Return the first number of the run of a state of the pattern."""
        known = self._runs.get((at, first))
        return self._runs_of(table, [at], first)[0] if known is None else known

    def _after(self, table: LexerTable, target: int, counts: _Numbers) -> _Numbers:
        """Return the numbers of a live state of the pattern after some counts; `DEAD` if no completion fits."""
        missing, first = self._missing_characters(target), int(counts[0]) - 1
        if (
            len(counts) == RUN
            and first + RUN + missing <= self._bounds.most
            and first + 1 + missing >= self._bounds.least
        ):
            numbers = self._run_of(table, target, first) + _STEPS
            numbers[-1] = self._next_run(table, target, first)
            return numbers
        numbers, shortest = np.zeros(len(counts), np.int64), counts + missing
        fits = shortest <= self._bounds.most
        for i in np.flatnonzero(fits & (shortest < self._bounds.least)).tolist():
            fits[i] = self._is_live(target, int(counts[i]))
        here = fits & (counts < first + RUN)
        if here.any():
            numbers[here] = self._run_of(table, target, first) + counts[here] - first
        if fits[-1] and not here[-1]:
            numbers[-1] = self._next_run(table, target, first)
        return numbers

    def _next_run(self, table: LexerTable, target: int, first: int) -> int:
        """Return the number of the first state of the next run, which may never be needed."""
        following = (target, first + RUN)
        known = self._runs.get(following)
        return table.state(self, following) if known is None else known

    def _missing_characters(self, target: int) -> int:
        """Return the fewest characters that complete a match from a state of the pattern."""
        missing = self._missing_by_state.get(target)
        if missing is None:
            automaton = self._encoded.inner
            assert isinstance(automaton, ConditionAutomaton | TableAutomaton)
            missing = self._missing_by_state[target] = automaton.characters(target)
        return missing

    def _is_live(self, at: int, count: int) -> bool:
        """Return whether a state of the pattern has a completion of the right length."""
        shortest = count + self._missing_characters(at)
        if shortest > self._bounds.most:
            return False
        if shortest >= self._bounds.least:
            return True
        known = self._lives.get((at, count))
        if known is None:
            checkpoint()
            targets = dict.fromkeys(self._encoded.paths(at).targets)
            known = any(self._is_live(target, count + 1) for target in targets if target != DEAD)
            self._lives[at, count] = known
        return known
