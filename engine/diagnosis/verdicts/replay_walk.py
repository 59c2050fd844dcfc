"""A walk over an output byte by byte: how far it is legal, where there was no choice, and where it looped.

When a configuration recurs, the automaton has forgotten what was read since. For letters this is how repetition works;
for white space it means that the grammar lets the model print white space forever, which it does when nothing else is
likely.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.decoding.debugging.conditions.loop import LEAST_REPEATED, LONGEST_TURN
from engine.diagnosis.verdicts.verdict import ByteRange, OutputLoop
from engine.source import CancelToken, Span

BLANKS = frozenset(b" \t\r\n")
LEAST_BLANKS = 8
"""The smallest number of white-space bytes in a row, without effect, that is reported; fewer are indentation."""
LEAST_TURNS = 6
_CHECK_EVERY = 512


@dataclass(frozen=True, slots=True)
class ReplayWalk:
    """The walk over some bytes.

    Attributes:
        configurations: before the first byte and after each legal one.
        legal: the number of legal bytes.
        forced: for each legal byte, whether it was the only legal one.
    """

    configurations: tuple[int, ...]
    legal: int
    forced: tuple[bool, ...]

    @property
    def last(self) -> int:
        """The configuration at the end of the legal part."""
        return self.configurations[-1]

    def forced_ranges(self) -> tuple[ByteRange, ...]:
        """Return the forced bytes as ranges."""
        found: list[ByteRange] = []
        for at, forced in enumerate(self.forced):
            if forced and found and found[-1][1] == at:
                found[-1] = found[-1][0], at + 1
            elif forced:
                found.append((at, at + 1))
        return tuple(found)


def walk(automaton: ByteAutomaton, data: bytes, cancel: CancelToken | None = None) -> ReplayWalk:
    """Run bytes through an automaton until one is illegal.

    Args:
        automaton: the automaton.
        data: the bytes.
        cancel: cancels the walk.

    Raises:
        LimitExceededError: a step exceeded a limit.
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
    """Return the number of legal bytes."""
    at = automaton.start
    for index, byte in enumerate(data):
        if at != DEAD:
            at = automaton.run(at, bytes((byte,)))
        if at == DEAD:
            return index
    return len(data)


def output_loops(automaton: ByteAutomaton, data: bytes, walked: ReplayWalk) -> tuple[OutputLoop, ...]:
    """Return the loops of the legal part: white space anywhere, other text at the end.

    Args:
        automaton: the automaton.
        data: the output.
        walked: the walk over it.
    """
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
    """Return how many bytes before `end` its configuration last occurred within a range; 0 if it did not."""
    last = walked.configurations[end]
    return next((end - at for at in range(end - 1, start - 1, -1) if walked.configurations[at] == last), 0)


def _repeated_text(data: bytes, walked: ReplayWalk) -> tuple[int, int] | None:
    """Return where a repeated text at the end begins, and the length of one repetition."""
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
    """Return the spans of the grammar that read the last byte of a part."""
    byte_class = int(automaton.class_of_byte[data[end - 1]])
    return automaton.edge_spans(walked.configurations[end - 1], byte_class)
