"""What happens to a stack where the reading of its top level ends, as a hash table that kernels can read.

A level of a stack is a frame: what is known about it apart from the levels
below. While a frame reads, only its reading state changes. Where the reading
ends, with one of a few symbols, an action says what becomes of the stack: the
frame changes into another, a new one is put on top, or it ends, and then the
frame below goes on by what has ended. None of that depends on how deep the
stack is, so what was found out once serves at every depth.

The table is open addressing with linear probing; its hash is multiplicative
(Knuth, The Art of Computer Programming, volume 3, 6.4), with factors so small
that nothing overflows.

Rejected: rows alone. An object of a hundred names has a hundred symbols.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

MISS: Final = -1
"""An entry that is not worked out yet."""

Action = int
"""`kind | again << 2 | top << 3 | below << 33`; 0 where nothing completes the text."""

STAY: Final = 1
"""The frame becomes `top`."""
PUSH: Final = 2
"""The frame becomes `below`, and `top` stands on it."""
POP: Final = 3
"""The frame ends, and the one below it goes on by the ending `top`."""
AGAIN: Final = 4
"""The byte is not used up: the new top reads it as well."""
ASK: Final = 4
"""What happens depends on the text itself, and is asked for each time."""

ENDING: Final = 1 << 31
"""Marks the symbols that are endings of the frame above."""

FRAME_FACTOR: Final = 2_654_435_769
SYMBOL_FACTOR: Final = 40_503
_MOST_FRAMES: Final = 1 << 30


def encode(kind: int, top: int, below: int = 0, *, again: bool = False) -> Action:
    """An action as one number."""
    return kind | (AGAIN if again else 0) | top << 3 | below << 33


def decode(action: Action) -> tuple[int, int, int, bool]:
    """Kind, top, below, and whether the byte is read again."""
    return action & 3, action >> 3 & (_MOST_FRAMES - 1), action >> 33, bool(action & AGAIN)


NEAR: Final = 15
"""So many symbols of a frame have a place in its row; what is behind them in the row is its first reading state."""


_NO_ROWS: Final = np.full((64, NEAR + 1), MISS, np.int64)
_NO_KEYS: Final = np.full(256, MISS, np.int64)


class ActionTable:
    """Actions by frame and symbol: the first symbols of each frame in a row, all others hashed.

    Attributes:
        near: int64[capacity, NEAR + 1], the actions of each frame's first symbols, -1 where one is missing; and in the
            last column the reading state in which the frame begins. Growth replaces it.
        keys: int64[2 ** n], `frame << 32 | symbol`; -1 where a place is free. Growth replaces it.
        values: int64[2 ** n], the actions; of an `ENDING`, the frame that goes on, or 0.
    """

    def __init__(self) -> None:
        self.near: npt.NDArray[np.int64] = _NO_ROWS.copy()
        self.keys: npt.NDArray[np.int64] = _NO_KEYS.copy()
        self.values: npt.NDArray[np.int64] = np.zeros(256, np.int64)
        self._known: dict[int, Action] = {}

    def begin(self, frame: int, state: int) -> None:
        """Add a frame, and say in which reading state it begins."""
        if frame >= len(self.near):
            near = np.full((2 * frame, NEAR + 1), MISS, np.int64)
            near[:frame] = self.near
            self.near = near
        self.near[frame, NEAR] = state

    def begin_all(self, first: int, rows: npt.NDArray[np.int64]) -> None:
        """Add frames one after the other, with what becomes of them and the reading states in which they begin.

        Args:
            first: the number of the first of them.
            rows: int64[n, NEAR + 1], as in `near`.
        """
        end = first + len(rows)
        if end > len(self.near):
            near = np.full((2 * end, NEAR + 1), MISS, np.int64)
            near[:first] = self.near[:first]
            self.near = near
        self.near[first:end] = rows

    def start(self, frame: int) -> int:
        """The reading state in which a frame begins."""
        return self.near.item(frame, NEAR)

    def get(self, frame: int, symbol: int) -> Action:
        """An action; `MISS` where it is not known."""
        if symbol < NEAR:
            return self.near.item(frame, symbol)
        return self._known.get(frame << 32 | symbol, MISS)

    def put(self, frame: int, symbol: int, action: Action) -> None:
        """Add an action."""
        if symbol < NEAR:
            self.near[frame, symbol] = action
            return
        key = frame << 32 | symbol
        self._known[key] = action
        if 2 * len(self._known) > len(self.keys):
            self.keys = np.full(2 * len(self.keys), MISS, np.int64)
            self.values = np.zeros(len(self.keys), np.int64)
            for each in self._known:
                self._place(each)
        else:
            self._place(key)

    def put_near(self, frame: int, actions: Mapping[int, Action]) -> None:
        """Say what becomes of a frame at all its first symbols: nothing completes the text at others than these."""
        self.near[frame, :NEAR] = 0
        for symbol, action in actions.items():
            self.near[frame, symbol] = action

    def _place(self, key: int) -> None:
        mask = len(self.keys) - 1
        keys = self.keys
        mixed = (key >> 32) * FRAME_FACTOR + (key & 0xFFFFFF) * SYMBOL_FACTOR + (key >> 31 & 1)
        place = (mixed ^ mixed >> 15) & mask
        while keys.item(place) != MISS:
            place = place + 1 & mask
        keys[place] = key
        self.values[place] = self._known[key]
