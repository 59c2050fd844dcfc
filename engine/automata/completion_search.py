"""The shortest text that completes a match.

A* (Hart, Nilsson and Raphael, 1968) over configurations, led by what the
runtime knows that each lacks at least. Where it knows that exactly, the search
walks straight to the end. Else it may outgrow what it is given; then a second
one, which trusts the bound more than it should, looks for any completion, so
that the answer has two ends: at least so many bytes, and these are enough.

Rejected: breadth first. A counted string lies a thousand configurations around.
"""

from __future__ import annotations

import heapq
from functools import lru_cache
from typing import Any, Protocol

from engine.automata.byte_classes import ByteClasses
from engine.automata.completion import Alphabet, Completion, LengthBound
from engine.source import CancelToken, LimitExceededError, checkpoint

_MOST_MET = 50_000  # configurations that one search may meet, however many the automaton holds
_TRUST = 8  # how much more the second search makes of what is lacking than of what was read
_CHECK_EVERY = 64


class Searchable(Protocol):
    """What a search needs of a `Runtime`."""

    classes: ByteClasses

    def cursor(self, configuration: int) -> Any:
        """A configuration as `follow` takes it."""

    def advance(self, place: Any, byte: int) -> Any | None:
        """What `enter` gave, after a byte; None where nothing completes it."""

    def min_remaining(self, place: Any, alphabet: Alphabet = None) -> LengthBound:
        """What a place lacks."""


def search_completion(
    automaton: Searchable,
    configuration: int,
    effort: int,
    cancel: CancelToken | None = None,
    alphabet: Alphabet = None,
) -> Completion:
    """The shortest text that completes a match from where it stands.

    Args:
        automaton: the runtime.
        configuration: where the match stands.
        effort: how many configurations each of two searches may step from; the longest text that is written out.
        cancel: asked now and then.
        alphabet: the bytes that there are.

    Raises:
        CancelledError: `cancel` was used.
    """
    start = automaton.cursor(configuration)
    lacks = automaton.min_remaining(start, alphabet)
    if lacks.at_least is None:
        return Completion(None)
    if lacks.exact and lacks.at_least > effort:
        return Completion(lacks.at_least, lacks.at_least)
    found = _Search(automaton, start, 1, effort, cancel, alphabet)
    if found.text is not None:
        return Completion(len(found.text), len(found.text), found.text)
    if found.is_dry:
        return Completion(None)
    if lacks.exact:
        return Completion(lacks.at_least, lacks.at_least)
    text = _Search(automaton, start, _TRUST, effort, cancel, alphabet).text
    return Completion(found.at_least, None if text is None else len(text), text)


class _Search:
    """One search; `text` is what it found, and without one `at_least` is how far it is certain that none is."""

    def __init__(
        self,
        automaton: Searchable,
        start: Any,
        trust: int,
        effort: int,
        cancel: CancelToken | None,
        alphabet: Alphabet,
    ) -> None:
        self.text: bytes | None = None
        self.at_least = automaton.min_remaining(start, alphabet).at_least or 0
        self.is_dry = False  # whether everything was looked at
        self._automaton, self._alphabet = automaton, alphabet
        self._bytes = legible(automaton.classes, alphabet)
        self._came: dict[Any, tuple[int, Any, int]] = {start: (0, None, 0)}  # bytes read, from where, by which
        # What it comes to, then of equals the longest first, for it is nearest to its end; a number ends all ties.
        self._frontier: list[tuple[int, int, int, Any]] = [(trust * self.at_least, 0, 0, start)]
        for expanded in range(effort):
            if cancel is not None and expanded % _CHECK_EVERY == 0:
                cancel.report("looking for the end", expanded)
            while self._frontier and -self._frontier[0][1] > self._came[self._frontier[0][3]][0]:
                heapq.heappop(self._frontier)  # a shorter way there was found since
            if not self._frontier:
                self.is_dry = True
                return
            estimate, read, _, place = heapq.heappop(self._frontier)
            if automaton.min_remaining(place, alphabet).at_least == 0:
                self.text = self._read_back(place)
                return
            if trust == 1:
                self.at_least = estimate
            if len(self._came) > _MOST_MET:
                return
            try:
                self._expand(place, 1 - read, trust)
            except LimitExceededError:
                return

    def _expand(self, place: Any, read: int, trust: int) -> None:
        automaton, came = self._automaton, self._came
        checkpoint(4 + 2 * len(self._bytes))
        for byte in self._bytes:
            following = automaton.advance(place, byte)
            if following is None or (following in came and came[following][0] <= read):
                continue
            lacks = automaton.min_remaining(following, self._alphabet).at_least
            if lacks is not None:
                came[following] = read, place, byte
                heapq.heappush(self._frontier, (read + trust * lacks, -read, len(came), following))

    def _read_back(self, place: Any) -> bytes:
        text = bytearray()
        while self._came[place][0]:
            _, place, byte = self._came[place]
            text.append(byte)
        return bytes(reversed(text))


@lru_cache(maxsize=64)
def legible(classes: ByteClasses, alphabet: Alphabet = None) -> bytes:
    """Of each byte class the byte that a person reads most easily, and easy ones first."""
    best: dict[int, int] = {}
    for byte in sorted(range(256) if alphabet is None else alphabet, key=_legibility):
        best.setdefault(classes.of_byte[byte], byte)
    return bytes(best.values())


def _legibility(byte: int) -> tuple[int, int]:
    char = chr(byte)
    kinds = (char.islower(), char.isdigit(), char.isupper(), char.isprintable() and char != " ", char == " ")
    kind = kinds.index(True) if byte < 0x80 and True in kinds else len(kinds)
    return kind, byte
