"""Random walks over two automata at once, for differences that lie beyond a bounded search.

A walk follows both automata until only one of them accepts, or only one lives on, whose shortest completion is then the
end of the text. It draws a group of bytes first that neither automaton distinguishes, and then a byte of the group, so
that a closing quote is as likely as all letters together and walks end.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.source import CancelToken, LimitExceededError, checkpoint

_WALKS: Final = 300
_LONGEST: Final = 120  # bytes of one walk
_END_CHANCE: Final = 0.25  # where both texts may end
_SEED: Final = 0  # the same grammars have the same walks
_COMPLETION_EFFORT: Final = 500


def differing_texts(one: ByteAutomaton, two: ByteAutomaton, cancel: CancelToken) -> Iterator[tuple[int, bytes]]:
    """Yield texts that only one of two automata accepts, each after its number, 0 or 1; they need not be short.

    Args:
        one: an automaton.
        two: the other automaton.
        cancel: checked at every walk.
    """
    chance = random.Random(_SEED)
    for number in range(_WALKS):
        cancel.report("progress.comparing", number, _WALKS)
        try:
            yield from _walk(one, two, chance)
        except LimitExceededError:  # an automaton is full, or the search for a completion took too long
            return


def _walk(one: ByteAutomaton, two: ByteAutomaton, chance: random.Random) -> Iterator[tuple[int, bytes]]:
    left, right, text = one.start, two.start, bytearray()
    while len(text) < _LONGEST:
        if DEAD in (left, right):
            side = 0 if right == DEAD else 1
            live, configuration = (one, left) if side == 0 else (two, right)
            end = live.shortest_completion(configuration, _COMPLETION_EFFORT).text if configuration != DEAD else None
            # The configuration at the end is interned while there is room, for whoever verifies the text.
            if end is not None and live.accepts(live.run(configuration, end)):
                yield side, bytes(text) + end
            return
        may_end = one.accepts(left), two.accepts(right)
        if may_end[0] != may_end[1]:
            yield may_end.index(True), bytes(text)
        if all(may_end) and chance.random() < _END_CHANCE:
            return
        step = next(_steps(one, two, (left, right), chance), None)
        if step is None:
            return
        byte, left, right = step
        text.append(byte)


def _steps(
    one: ByteAutomaton, two: ByteAutomaton, at: tuple[int, int], chance: random.Random
) -> Iterator[tuple[int, int, int]]:
    """Yield a byte of each group that neither automaton distinguishes, in random order, with what it leads to.

    Args:
        one: an automaton.
        two: the other automaton.
        at: a live configuration of each.
        chance: draws.
    """
    _, groups = np.unique(_entries(one, at[0]) << 32 ^ _entries(two, at[1]), return_inverse=True)
    order = list(range(int(groups.max()) + 1))
    chance.shuffle(order)
    for group in order:
        members = np.flatnonzero(groups == group)
        byte = int(members[chance.randrange(len(members))])
        left, right = (side.run(here, bytes((byte,))) for side, here in zip((one, two), at, strict=True))
        if left != DEAD or right != DEAD:
            yield byte, left, right


def _entries(automaton: ByteAutomaton, configuration: int) -> npt.NDArray[np.int64]:
    """Return the entry of each byte in the lexer state of a configuration."""
    state, _ = automaton.stack_top(configuration, 0)
    automaton.complete(state)
    checkpoint(16)
    row: npt.NDArray[np.int64] = automaton.rows[state][automaton.class_of_byte].astype(np.int64)
    return row
