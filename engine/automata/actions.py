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
from enum import IntFlag
from typing import Final

import numpy as np
import numpy.typing as npt

MISS: Final = -1
"""Instead of an action or a frame: it is not computed yet."""
NEEDS_TEXT: Final = -2
"""Instead of an action or a frame: it depends on the text itself, and is requested each time."""


class StackAction(IntFlag):
    """The effect on the stack at the end of a lexeme: one of `STAY`, `PUSH` and `POP`, perhaps with `REREAD`.

    An encoded action is `flags | top << 4 | below << 34`; it is 0 if nothing completes the text. Kernels read encoded
    actions; everything else reads what `decode` returns.
    """

    STAY = 1
    """The frame becomes `top`."""
    PUSH = 2
    """The frame becomes `below`, and `top` is pushed on it."""
    POP = 4
    """The frame is popped, and the one below it continues after the ending `top`."""
    REREAD = 8
    """The byte is not consumed: the new top reads it again."""


STAY, PUSH, POP, REREAD = StackAction
KINDS: Final = int(STAY | PUSH | POP)
_REREAD: Final = int(REREAD)  # operations on flags take long
TOP_SHIFT: Final = 4
BELOW_SHIFT: Final = 34
FRAME_MASK: Final = (1 << 29) - 1
"""Frames and endings are numbered below this, so that an action is a positive int64."""

ENDING: Final = 1 << 31
"""Marks symbols that are endings of the frame above."""

FRAME_FACTOR: Final = 2_654_435_769
SYMBOL_FACTOR: Final = 40_503


def encode(kind: StackAction, top: int, below: int = 0, *, reread: bool = False) -> int:
    """Encode an action as one number.

    Args:
        kind: `STAY`, `PUSH` or `POP`.
        top: the new top frame; for `POP` the number of the ending.
        below: for `PUSH` the frame below the new one.
        reread: whether the byte is read again.
    """
    return int(kind) + (_REREAD if reread else 0) + (top << TOP_SHIFT) + (below << BELOW_SHIFT)


def decode(action: int) -> tuple[int, int, int, bool]:
    """Return the kind, the top, the frame below, and whether the byte is read again."""
    return action & KINDS, action >> TOP_SHIFT & FRAME_MASK, action >> BELOW_SHIFT, action & _REREAD != 0


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
        self._known: dict[int, int] = {}

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

    def get(self, frame: int, symbol: int) -> int:
        """Return an action; `MISS` if it is not known."""
        if symbol < NEAR:
            return self.near.item(frame, symbol)
        return self._known.get(frame << 32 | symbol, MISS)

    def put(self, frame: int, symbol: int, action: int) -> None:
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

    def put_near(self, frame: int, actions: Mapping[int, int]) -> None:
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
