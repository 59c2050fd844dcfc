"""Random byte walks: an export that was read back is compared with the engine.

Neither side has dead ends, so the sets of next bytes are compared at every step of a walk; a walk shows far more than a
text that both accept. If an export has fewer texts than the grammar, as its notes say, the engine must allow what the
export allows, but not the reverse.

A walk draws a range of bytes first and then a byte in it: a closing quote is as likely as all letters together, so
walks end.
"""

from __future__ import annotations

import random
from typing import Any, Final, Protocol

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteRanges, join_ranges
from engine.automata.dfa.dfa import ByteDfa
from engine.compile import CompiledGrammar
from engine.export.checks.walk import END_CHANCE, SEED, followed, shown
from engine.export.graph.attributes import bytes_text
from engine.export.target import ExportJob, MismatchError

WALKS: Final = 40
STEPS: Final = 120
"""The largest number of bytes of a walk."""

_BEHIND_TOKENS: Final = "What stands behind a token taken whole was not walked."


class Recogniser(Protocol):
    """An automaton over bytes that a walk can follow."""

    @property
    def start(self) -> Any | None:
        """The state before the first byte; None if nothing matches."""

    def step(self, place: Any, byte: int) -> Any | None:
        """Return the state after a byte; None if no text continues so."""

    def expected(self, place: Any) -> ByteRanges:
        """Return the bytes that continue some text, as inclusive, ascending ranges with gaps between them."""

    def accepts(self, place: Any) -> bool:
        """Return whether a text may end here."""


class CompiledRecogniser:
    """A compiled grammar as a `Recogniser`."""

    def __init__(self, compiled: CompiledGrammar) -> None:
        self._automaton = compiled.automaton
        self.start: int | None = None if compiled.is_empty else compiled.automaton.start

    def step(self, place: int, byte: int) -> int | None:
        """Return the state after a byte; see `Recogniser`."""
        following = self._automaton.run(place, bytes((byte,)))
        return None if following == DEAD else following

    def expected(self, place: int) -> ByteRanges:
        """Return the next bytes; see `Recogniser`."""
        return join_ranges((self._automaton.expected(place),))

    def accepts(self, place: int) -> bool:
        """Return whether a text may end here."""
        return self._automaton.accepts(place)


class DfaRecogniser:
    """A complete minimal automaton as a `Recogniser`; all its states are live."""

    def __init__(self, dfa: ByteDfa) -> None:
        self._dfa = dfa
        self.start = dfa.start
        ranges: list[list[ByteRanges]] = [[] for _ in dfa.states]
        for edge in dfa.edges:
            ranges[edge.source].append(edge.ranges)
        self._expected = [join_ranges(row) for row in ranges]

    def step(self, place: int, byte: int) -> int | None:
        """Return the state after a byte; see `Recogniser`."""
        return self._dfa.step(place, byte)

    def expected(self, place: int) -> ByteRanges:
        """Return the next bytes; see `Recogniser`."""
        return self._expected[place]

    def accepts(self, place: int) -> bool:
        """Return whether a text may end here."""
        return self._dfa.states[place].accepting


def scope_of(compiled: CompiledGrammar) -> str:
    """Return what a walk over bytes cannot check of a grammar, a sentence; empty for nothing."""
    return _BEHIND_TOKENS if compiled.automaton.token_elements else ""


def walk_side_by_side(
    job: ExportJob,
    engine: Recogniser,
    export: Recogniser,
    *,
    holds_fewer: bool = False,
    walks: int = WALKS,
    steps: int = STEPS,
) -> tuple[int, int]:
    """Compare an export with the engine on random walks.

    Args:
        job: its `cancel` is checked.
        engine: the expected behaviour.
        export: what was read back.
        holds_fewer: whether the export may lack texts that the engine has.
        walks: the number of walks.
        steps: the largest number of bytes of a walk.

    Returns:
        The number of walks, and of all their bytes.

    Raises:
        MismatchError: they differ; it names the text before, and what each allows.
        CancelledError: the job was cancelled.
    """
    chance = random.Random(SEED)
    return followed(job, walks, lambda: _walk(engine, export, chance, steps, holds_fewer=holds_fewer))


def _walk(engine: Recogniser, export: Recogniser, chance: random.Random, steps: int, *, holds_fewer: bool) -> int:
    ours, theirs, text = engine.start, export.start, bytearray()
    if ours is None and theirs is not None:
        raise MismatchError("no text matches the grammar, but the export has some")
    if ours is not None and theirs is None:
        raise MismatchError("none of the grammar's texts is left in the export")
    while ours is not None and theirs is not None and len(text) < steps:
        here, there = engine.expected(ours), export.expected(theirs)
        may_end, ends = engine.accepts(ours), export.accepts(theirs)
        ends_agree = ends <= may_end if holds_fewer else ends == may_end
        if not (ends_agree and _agree(here, there, holds_fewer=holds_fewer)):
            allowed, given = _said(here, may_end), _said(there, ends)
            raise MismatchError(f"behind {shown(bytes(text))} the grammar allows {allowed}, the export {given}")
        if not there or (ends and chance.random() < END_CHANCE):
            break
        first, last = chance.choice(there)
        byte = chance.randint(first, last)
        text.append(byte)
        ours, theirs = engine.step(ours, byte), export.step(theirs, byte)
    return len(text)


def _agree(here: ByteRanges, there: ByteRanges, *, holds_fewer: bool) -> bool:
    if not holds_fewer:
        return here == there
    return all(any(low <= first and last <= high for low, high in here) for first, last in there)


def _said(ranges: ByteRanges, accepting: bool) -> str:
    parts = [f"the bytes {bytes_text(ranges)}"] if ranges else []
    return " and ".join([*parts, *(["the end"] if accepting else [])]) or "nothing"
