"""Stack actions as a hash table that kernels can read.

A level of a stack is a frame: everything that is known about the level apart from the
levels below. While a frame reads a lexeme, only its lexer state changes. Where the
lexeme ends, with one of a few symbols, an action says how the stack changes: the frame
becomes another one, a new frame is pushed, or the frame is popped, and the frame below
continues according to what has ended. None of that depends on the depth of the stack, so
an action that was computed once applies at every depth.

The table uses open addressing with linear probing; its hash is multiplicative
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
"""An entry that is not computed yet."""

Action = int
"""`kind | again << 2 | top << 3 | below << 33`; 0 if nothing completes the text."""

STAY: Final = 1
"""The frame becomes `top`."""
PUSH: Final = 2
"""The frame becomes `below`, and `top` is pushed on it."""
POP: Final = 3
"""The frame is popped, and the one below it continues after the ending `top`."""
AGAIN: Final = 4
"""The byte is not consumed: the new top reads it again."""
ASK: Final = 4
"""The action depends on the text itself, and is requested each time."""

ENDING: Final = 1 << 31
"""Marks symbols that are endings of the frame above."""

FRAME_FACTOR: Final = 2_654_435_769
SYMBOL_FACTOR: Final = 40_503
_MOST_FRAMES: Final = 1 << 30


def encode(kind: int, top: int, below: int = 0, *, again: bool = False) -> Action:
    """Encode an action as one number.

    Args:
        kind: `STAY`, `PUSH` or `POP`.
        top: the new top frame; for `POP` the number of the ending.
        below: for `PUSH` the frame below the new one.
        again: whether the byte is read again.
    """
    return kind | (AGAIN if again else 0) | top << 3 | below << 33


def decode(action: Action) -> tuple[int, int, int, bool]:
    """Return the kind, the top, the frame below, and whether the byte is read again."""
    return action & 3, action >> 3 & (_MOST_FRAMES - 1), action >> 33, bool(action & AGAIN)


NEAR: Final = 15
"""The number of symbols of a frame that have a column in its row; the column after them is its first lexer state."""


_NO_ROWS: Final = np.full((64, NEAR + 1), MISS, np.int64)
_NO_KEYS: Final = np.full(256, MISS, np.int64)


class ActionTable:
    """Actions by frame and symbol: the first symbols of each frame in a row, all others hashed.

    Attributes:
        near: int64[capacity, NEAR + 1], the actions of each frame's first symbols, -1 where one is missing; and in the
            last column the lexer state in which the frame begins. Growth replaces the array.
        keys: int64[2 ** n], `frame << 32 | symbol`; -1 for a free slot. Growth replaces the array.
        values: int64[2 ** n], the actions; for an `ENDING`, the frame that continues, or 0.
    """

    def __init__(self) -> None:
        self.near: npt.NDArray[np.int64] = _NO_ROWS.copy()
        self.keys: npt.NDArray[np.int64] = _NO_KEYS.copy()
        self.values: npt.NDArray[np.int64] = np.zeros(256, np.int64)
        self._known: dict[int, Action] = {}

    def begin(self, frame: int, state: int) -> None:
        """Add a frame with the lexer state in which it begins."""
        if frame >= len(self.near):
            near = np.full((2 * frame, NEAR + 1), MISS, np.int64)
            near[:frame] = self.near
            self.near = near
        self.near[frame, NEAR] = state

    def begin_all(self, first: int, rows: npt.NDArray[np.int64]) -> None:
        """Add consecutive frames with their actions and the lexer states in which they begin.

        Args:
            first: the number of the first frame.
            rows: int64[n, NEAR + 1], as in `near`.
        """
        end = first + len(rows)
        if end > len(self.near):
            near = np.full((2 * end, NEAR + 1), MISS, np.int64)
            near[:first] = self.near[:first]
            self.near = near
        self.near[first:end] = rows

    def start(self, frame: int) -> int:
        """Return the lexer state in which a frame begins."""
        return self.near.item(frame, NEAR)

    def get(self, frame: int, symbol: int) -> Action:
        """Return an action; `MISS` if it is not known."""
        if symbol < NEAR:
            return self.near.item(frame, symbol)
        return self._known.get(frame << 32 | symbol, MISS)

    def put(self, frame: int, symbol: int, action: Action) -> None:
        """Add an action.

        Args:
            frame: the frame.
            symbol: the symbol that ends the lexeme, or an `ENDING` of the frame above.
            action: the encoded action; for an `ENDING` the frame that continues, or 0.
        """
        if symbol < NEAR:
            self.near[frame, symbol] = action
            return
        key = frame << 32 | symbol
        self._known[key] = action
        if 2 * len(self._known) > len(self.keys):
            self.keys = np.full(2 * len(self.keys), MISS, np.int64)
            self.values = np.zeros(len(self.keys), np.int64)
            for each in self._known:
                self._insert(each)
        else:
            self._insert(key)

    def put_near(self, frame: int, actions: Mapping[int, Action]) -> None:
        """Set the actions of all first symbols of a frame; for those that are not given, nothing completes the text."""
        self.near[frame, :NEAR] = 0
        for symbol, action in actions.items():
            self.near[frame, symbol] = action

    def _insert(self, key: int) -> None:
        mask = len(self.keys) - 1
        keys = self.keys
        mixed = (key >> 32) * FRAME_FACTOR + (key & 0xFFFFFF) * SYMBOL_FACTOR + (key >> 31 & 1)
        slot = (mixed ^ mixed >> 15) & mask
        while keys.item(slot) != MISS:
            slot = slot + 1 & mask
        keys[slot] = key
        self.values[slot] = self._known[key]
