"""A search for the shortest text that completes a match.

A* (Hart, Nilsson and Raphael, 1968) over configurations, with the automaton's lower
bound as the heuristic. If the bound is exact, the search goes straight to the end.
Otherwise it may exceed its effort; then a second search, which overweights the
heuristic, looks for any completion, so that the answer has two bounds: no completion is
shorter, and one is no longer.

Rejected: breadth first. A counted string has thousands of configurations around it.
"""

from __future__ import annotations

import heapq
from functools import lru_cache
from typing import Any, Final, Protocol

from engine.automata.byte_classes import ByteClasses
from engine.automata.completion import Alphabet, Completion, LengthBound
from engine.source import CancelToken, LimitExceededError, checkpoint

_MOST_VISITED = 50_000  # configurations that one search may visit, whatever the limit of the automaton
_OVERWEIGHT = 8  # the weight of the heuristic in the second search
_CHECK_EVERY = 64


class Searchable(Protocol):
    """The part of `ByteAutomaton` that a search needs."""

    classes: ByteClasses

    def cursor(self, configuration: int) -> Any:
        """Return a configuration as `advance` takes it."""

    def advance(self, cursor: Any, byte: int) -> Any | None:
        """Return a cursor after a byte; None if it has no completion."""

    def min_remaining(self, cursor: Any, alphabet: Alphabet = None) -> LengthBound:
        """Return bounds of the bytes that complete a cursor."""


def search_completion(
    automaton: Searchable,
    configuration: int,
    effort: int,
    cancel: CancelToken | None = None,
    alphabet: Alphabet = None,
) -> Completion:
    """Return the shortest text that completes a match, as far as a search finds it.

    Args:
        automaton: the automaton.
        configuration: the configuration to complete.
        effort: the most configurations that each of two searches expands, and the longest text that is written out.
        cancel: checked now and then.
        alphabet: the bytes that the text may contain.

    Raises:
        CancelledError: `cancel` was used.
    """
    start = automaton.cursor(configuration)
    missing = automaton.min_remaining(start, alphabet)
    if missing.at_least is None:
        return Completion(None)
    if missing.exact and missing.at_least > effort:
        return Completion(missing.at_least, missing.at_least)
    found = _Search(automaton, start, 1, effort, cancel, alphabet)
    if found.text is not None:
        return Completion(len(found.text), len(found.text), found.text)
    if found.is_exhaustive:
        return Completion(None)
    if missing.exact:
        return Completion(missing.at_least, missing.at_least)
    text = _Search(automaton, start, _OVERWEIGHT, effort, cancel, alphabet).text
    return Completion(found.at_least, None if text is None else len(text), text)


class _Search:
    """One search. `text` is the completion that it found; without one, no completion is shorter than `at_least`."""

    def __init__(
        self,
        automaton: Searchable,
        start: Any,
        weight: int,
        effort: int,
        cancel: CancelToken | None,
        alphabet: Alphabet,
    ) -> None:
        self.text: bytes | None = None
        self.at_least = automaton.min_remaining(start, alphabet).at_least or 0
        self.is_exhaustive = False  # whether the search was exhaustive
        self._automaton, self._alphabet = automaton, alphabet
        self._bytes = legible_bytes(automaton.classes, alphabet)
        self._predecessors: dict[Any, tuple[int, Any, int]] = {start: (0, None, 0)}  # bytes read, predecessor, byte
        # The estimated length, then the longest first, since it is nearest to its end; a number breaks all ties.
        self._frontier: list[tuple[int, int, int, Any]] = [(weight * self.at_least, 0, 0, start)]
        for expanded in range(effort):
            if cancel is not None and expanded % _CHECK_EVERY == 0:
                cancel.report("progress.ending", expanded)
            while self._frontier and -self._frontier[0][1] > self._predecessors[self._frontier[0][3]][0]:
                heapq.heappop(self._frontier)  # a shorter path was found since
            if not self._frontier:
                self.is_exhaustive = True
                return
            estimate, read, _, cursor = heapq.heappop(self._frontier)
            if automaton.min_remaining(cursor, alphabet).at_least == 0:
                self.text = self._read_back(cursor)
                return
            if weight == 1:
                self.at_least = estimate
            if len(self._predecessors) > _MOST_VISITED:
                return
            try:
                self._expand(cursor, 1 - read, weight)
            except LimitExceededError:
                return

    def _expand(self, cursor: Any, read: int, weight: int) -> None:
        automaton, predecessors = self._automaton, self._predecessors
        checkpoint(4 + 2 * len(self._bytes))
        for byte in self._bytes:
            following = automaton.advance(cursor, byte)
            if following is None or (following in predecessors and predecessors[following][0] <= read):
                continue
            missing = automaton.min_remaining(following, self._alphabet).at_least
            if missing is not None:
                predecessors[following] = read, cursor, byte
                heapq.heappush(self._frontier, (read + weight * missing, -read, len(predecessors), following))

    def _read_back(self, cursor: Any) -> bytes:
        text = bytearray()
        while self._predecessors[cursor][0]:
            _, cursor, byte = self._predecessors[cursor]
            text.append(byte)
        return bytes(reversed(text))


def _legibility(byte: int) -> tuple[int, int]:
    char = chr(byte)
    kinds = (char.islower(), char.isdigit(), char.isupper(), char.isprintable() and char != " ", char == " ")
    kind = kinds.index(True) if byte < 0x80 and True in kinds else len(kinds)
    return kind, byte


LEGIBLE: Final = bytes(byte for _, byte in sorted(map(_legibility, range(256))))
"""All bytes, the most readable first."""


@lru_cache(maxsize=64)
def legible_bytes(classes: ByteClasses, alphabet: Alphabet = None) -> bytes:
    """Return the most readable byte of each byte class, the most readable first."""
    best: dict[int, int] = {}
    for byte in LEGIBLE:
        if alphabet is None or byte in alphabet:
            best.setdefault(classes.of_byte[byte], byte)
    return bytes(best.values())
