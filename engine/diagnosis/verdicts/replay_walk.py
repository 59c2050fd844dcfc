"""An output followed byte by byte: how far a match begins so, where there was no choice, where it went in circles.

A configuration that comes back has forgotten what was read since. For letters
that is what a loop is for; for white space it means that the grammar lets the
model print blanks for ever, which is what it does when nothing else is likely.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.diagnosis.verdicts.verdict import ByteRange, OutputLoop
from engine.source import CancelToken, Span

BLANKS = frozenset(b" \t\r\n")
LEAST_BLANKS = 8
"""So many blanks in a row are told of, where they changed nothing; a few are how people indent."""
LEAST_TURNS = 6
LEAST_REPEATED = 24
LONGEST_TURN = 64
_CHECK_EVERY = 512


@dataclass(frozen=True, slots=True)
class ReplayWalk:
    """What became of some bytes.

    Attributes:
        configurations: before the first byte and after each legal one.
        legal: how many bytes are legal.
        forced: for each legal byte, whether it was the only one that could stand.
    """

    configurations: tuple[int, ...]
    legal: int
    forced: tuple[bool, ...]

    @property
    def last(self) -> int:
        """Where the legal part ends."""
        return self.configurations[-1]

    def forced_ranges(self) -> tuple[ByteRange, ...]:
        """The forced bytes, as ranges."""
        found: list[ByteRange] = []
        for at, forced in enumerate(self.forced):
            if forced and found and found[-1][1] == at:
                found[-1] = found[-1][0], at + 1
            elif forced:
                found.append((at, at + 1))
        return tuple(found)


def walk(automaton: ByteAutomaton, data: bytes, cancel: CancelToken | None = None) -> ReplayWalk:
    """Follow bytes through an automaton, until one cannot stand.

    Raises:
        LimitExceededError: a step outgrew a limit.
        CancelledError: `cancel` was used.
    """
    at = automaton.start
    configurations, forced = [at], []
    known: dict[int, bool] = {}
    for index, byte in enumerate(data):
        if cancel is not None and index % _CHECK_EVERY == 0:
            cancel.check()
        after = automaton.run(at, bytes((byte,))) if at != DEAD else DEAD
        if after == DEAD:
            break
        if at not in known:
            known[at] = _leaves_no_choice(automaton, at)
        forced.append(known[at])
        configurations.append(after)
        at = after
    return ReplayWalk(tuple(configurations), len(forced), tuple(forced))


def reach(automaton: ByteAutomaton, data: bytes) -> int:
    """How many bytes are legal."""
    at = automaton.start
    for index, byte in enumerate(data):
        if at != DEAD:
            at = automaton.run(at, bytes((byte,)))
        if at == DEAD:
            return index
    return len(data)


def circles(automaton: ByteAutomaton, data: bytes, walked: ReplayWalk) -> tuple[OutputLoop, ...]:
    """The parts of the legal bytes that came back to where they were: blanks anywhere, other text at the end."""
    found = [
        OutputLoop(
            (start, end), period, blank=True, at_end=end == walked.legal, spans=_spans(automaton, data, walked, end)
        )
        for start, end in _blank_runs(data[: walked.legal])
        if end - start >= LEAST_BLANKS and (period := _period_of_configurations(walked, start, end))
    ]
    if not (found and found[-1].at_end) and (repeated := _repeated_text(data, walked)) is not None:
        start, period = repeated
        spans = _spans(automaton, data, walked, walked.legal)
        found.append(OutputLoop((start, walked.legal), period, blank=False, at_end=True, spans=spans))
    return tuple(found)


def _leaves_no_choice(automaton: ByteAutomaton, configuration: int) -> bool:
    if automaton.accepts(configuration) or automaton.token_sets(configuration):
        return False
    expected = automaton.expected(configuration)
    return len(expected) == 1 and expected[0][0] == expected[0][1]


def _blank_runs(data: bytes) -> list[ByteRange]:
    runs: list[ByteRange] = []
    start = None
    for at, byte in enumerate((*data, 0)):
        if byte in BLANKS:
            start = at if start is None else start
        elif start is not None:
            runs.append((start, at))
            start = None
    return runs


def _period_of_configurations(walked: ReplayWalk, start: int, end: int) -> int:
    """After how many bytes the last configuration of a range was there before within it; 0 where it was not."""
    last = walked.configurations[end]
    return next((end - at for at in range(end - 1, start - 1, -1) if walked.configurations[at] == last), 0)


def _repeated_text(data: bytes, walked: ReplayWalk) -> tuple[int, int] | None:
    """Where the same text begins to come again and again up to the end, and the length of a turn."""
    end = walked.legal
    for period in range(1, min(LONGEST_TURN, end // LEAST_TURNS) + 1):
        if walked.configurations[end] != walked.configurations[end - period]:
            continue
        start = end - period
        while start > 0 and data[start - 1] == data[start - 1 + period]:
            start -= 1
        if (end - start) // period >= LEAST_TURNS and end - start >= LEAST_REPEATED:
            return start, period
    return None


def _spans(automaton: ByteAutomaton, data: bytes, walked: ReplayWalk, end: int) -> tuple[Span, ...]:
    """What in the grammar reads the last byte of a part."""
    byte_class = int(automaton.class_of_byte[data[end - 1]])
    return automaton.edge_spans(walked.configurations[end - 1], byte_class)
