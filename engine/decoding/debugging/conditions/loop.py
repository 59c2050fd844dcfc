"""The output, with the drawn token, ends in repetitions of one text."""

from __future__ import annotations

from engine.decoding.debugging.condition import DrawnStep, RunCondition
from engine.decoding.values import Bounds

LEAST_REPEATED = 24
"""The smallest number of bytes of all repetitions together; fewer are indentation, digits and the like."""
LONGEST_TURN = 64
"""The largest number of bytes of one repetition."""
_MOST_TURNS = 100


def repetitions(data: bytes) -> int:
    """Return how often the last text at the end of some bytes is repeated, 1 if no text is."""
    data, most = data[-LONGEST_TURN * (_MOST_TURNS + 1) :], 1
    for period in range(1, min(LONGEST_TURN, len(data) // 2) + 1):
        turn, end, count = data[-period:], len(data) - period, 1
        while count <= _MOST_TURNS and data.endswith(turn, 0, end):
            end, count = end - period, count + 1
        if count * period >= LEAST_REPEATED:
            most = max(most, count)
    return most


def _value(drawn: DrawnStep, _limit: float) -> Bounds:
    count = repetitions(drawn.output + (b"" if drawn.step.name else drawn.step.token or b""))
    return Bounds(count, count)


CONDITION = RunCondition("loop", 5, 1, _MOST_TURNS, _value, lasts=True)
