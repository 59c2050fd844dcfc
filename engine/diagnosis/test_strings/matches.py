"""The matches of a grammar within a longer text, as a search with a regex finds them.

At each position the longest match is taken, and the search continues after it; empty matches are not reported. A match
is one of bytes: special tokens that a grammar names are never found in a text.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar
from engine.source import CancelToken

MOST_STEPS: Final = 1_000_000
"""The bytes that a search reads; a byte that several attempts read counts each time."""
_CHECKED_EVERY: Final = 4_096  # steps


class FoundMatches(NamedTuple):
    """The matches in a text.

    Attributes:
        ranges: the half-open ranges of bytes, in their order; none overlaps another.
        searched: the number of bytes at whose beginnings a match was sought; fewer than the text has at the limit.
    """

    ranges: tuple[tuple[int, int], ...]
    searched: int


def find_matches(
    grammar: CompiledGrammar, data: bytes, *, most_steps: int = MOST_STEPS, cancel: CancelToken | None = None
) -> FoundMatches:
    """Return the longest match at each position, from left to right.

    Args:
        grammar: the grammar.
        data: the text in UTF-8.
        most_steps: the limit of bytes that are read.
        cancel: checked regularly.

    Raises:
        CancelledError: the search was cancelled.
        LimitExceededError: the automaton reached a limit.
    """
    automaton = grammar.automaton
    class_of_byte, step, accepts = automaton.class_of_byte.tolist(), automaton.step, automaton.accepts
    ranges, start, steps = list[tuple[int, int]](), 0, 0
    while start < len(data) and steps < most_steps:
        configuration, end, at = automaton.start, start, start
        while at < len(data) and configuration != DEAD:
            configuration = step(configuration, class_of_byte[data[at]])
            at += 1
            steps += 1
            if cancel is not None and steps % _CHECKED_EVERY == 0:
                cancel.check()
            if configuration != DEAD and accepts(configuration):
                end = at
        if end > start:
            ranges.append((start, end))
        start = max(end, start + 1)
    return FoundMatches(tuple(ranges), min(start, len(data)))
