"""One mask's walk: the kernel, and what it comes back for.

The tables of an automaton are filled as walks meet their gaps. A kernel stops
at a gap, says which it is, and goes on where it stopped once it is filled.

What depends on the text itself (an item that may not equal another) has no
entry. There the tokens are read one after the other, as the plain twin does.
"""

from __future__ import annotations

from array import array
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.automata.actions import ASK
from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.masking.jit import Kernels
from engine.masking.kernels import (
    APART,
    ARGUMENTS,
    BASE,
    CLASS_OF_BYTE,
    CLASSES,
    DIGEST,
    DONE,
    FRAMES,
    FRESH,
    GIVEN,
    HEIGHT,
    INSIDE,
    KEYS,
    MASK,
    NEAR_ROWS,
    NO_ACTION,
    NO_ENTRY,
    NODES,
    PATH,
    PROGRESS,
    ROWS,
    SLOTS,
    STACK,
    START,
    STATES,
    VALUES,
    WORDS,
    address_of,
)
from engine.masking.reference_mask import add_below
from engine.masking.token_slices import TokenSlice
from engine.source import limited_work
from engine.vocabulary import Trie

WORK: Final = "work of one mask"
"""The name of the limit of a walk in messages."""
NOTHING: npt.NDArray[np.uint8] = np.zeros(256, np.uint8)
NOTHING.setflags(write=False)
_WITHOUT_BOUND = 1 << 30

_BEGIN = np.array((0, 0, 0, 0, -1, 0, 0, 0, 0), np.int64).data


class TrieWalk:
    """The walks of one grammar over one vocabulary, one after the other.

    Attributes:
        reading: the reading state in which a walk begins.
        words: uint32[words], its mask so far; the next walk writes there, too.
        looked: the lowest frame of the stack that it looked at, -1 for none.
    """

    def __init__(self, trie: Trie, class_of_byte: npt.NDArray[np.uint8]) -> None:
        """Make room for stacks of at most as many frames as the longest token has bytes, and one."""
        height = trie.height + 1
        self._trie, self._class_of_byte = trie, class_of_byte
        self._path, self._stack = np.zeros((2, height), np.int32), np.zeros((2, 5 * height), np.int32)
        self._stack[1, :height] = np.arange(1, height + 1)
        self._frames = self._stack[0].data
        self.words = np.zeros(trie.words, np.uint32)
        self._configuration = self.reading = DEAD
        self.looked = -1
        # What was last given to a kernel, and so has to stay.
        self._rows: npt.NDArray[np.int32] | None = None
        self._near: npt.NDArray[np.int64] | None = None
        self._keys: npt.NDArray[np.int64] | None = None
        self._values: npt.NDArray[np.int64] | None = None
        self._apart: npt.NDArray[np.uint8] | None = None
        self._given = np.zeros(ARGUMENTS, np.int64)
        self._arguments = arguments = self._given.data
        arguments[CLASS_OF_BYTE] = address_of(class_of_byte, np.uint8)
        arguments[PATH], arguments[HEIGHT] = address_of(self._path, np.int32), height
        arguments[STACK], arguments[NODES] = address_of(self._stack, np.int32), 5 * height
        arguments[GIVEN] = height
        arguments[MASK], arguments[WORDS] = address_of(self.words, np.uint32), trie.words

    def begin(self, at: tuple[int, int, list[int]]) -> None:
        """Begin at a configuration, with its reading state and the uppermost frames of its stack."""
        self._configuration, self.reading, frames = at
        self._frames[: len(frames)] = array("i", frames)
        self._arguments[FRESH] = 1
        self.looked = -1

    def go_on(self, at: tuple[int, int, list[int]], words: npt.NDArray[np.uint32], looked: int) -> None:
        """Begin with a mask that is known, and how far was looked for it."""
        self.begin(at)
        self.words[:] = words
        self._arguments[FRESH] = 0
        self.looked = looked

    @property
    def digest(self) -> int:
        """A number that masks hardly share unless they are equal."""
        return self._arguments[DIGEST]

    def add(
        self,
        kernels: Kernels,
        automaton: ByteAutomaton,
        region: TokenSlice,
        start: tuple[int, int, int],
        apart: npt.NDArray[np.uint8] = NOTHING,
        trie: Trie | None = None,
    ) -> None:
        """Add the tokens of a region, and walk below its exits.

        Args:
            kernels: what walks.
            automaton: the grammar's.
            region: where to begin.
            start: the reading states above its exits at depth `base + 1` and above deeper ones, and `base`.
            apart: uint8[256], first bytes that are left out.
            trie: the trie that the region is of, if that is a part of the vocabulary's.
        """
        arguments = self._arguments
        arguments[: len(region.given)] = region.given
        arguments[START], arguments[INSIDE], arguments[BASE] = start
        arguments[PROGRESS:] = _BEGIN
        if apart is not self._apart:
            self._apart, arguments[APART] = apart, address_of(apart, np.uint8)
        walk, given = kernels.walk, self._given
        self._read(automaton)
        lacking = walk(given)
        if lacking != DONE:  # only what is not known yet can take long
            with limited_work(WORK, automaton.limits.work):
                while lacking != DONE:
                    self._supply(automaton, lacking, trie or self._trie)
                    self._read(automaton)
                    lacking = walk(given)
        arguments[FRESH] = 0
        self.looked = max(self.looked, arguments[PROGRESS + 4])

    def _read(self, automaton: ByteAutomaton) -> None:
        """Look where the grammar's tables are, which may have been replaced."""
        arguments, rows, actions = self._arguments, automaton.rows, automaton.actions
        if rows is not self._rows:
            self._rows, arguments[ROWS] = rows, address_of(rows, np.int32)
            arguments[STATES], arguments[CLASSES] = rows.shape
        if actions.near is not self._near:
            self._near, arguments[NEAR_ROWS] = actions.near, address_of(actions.near, np.int64)
            arguments[FRAMES] = len(actions.near)
        if actions.keys is not self._keys:
            self._keys, self._values = actions.keys, actions.values
            arguments[KEYS], arguments[VALUES] = address_of(self._keys, np.int64), address_of(self._values, np.int64)
            arguments[SLOTS] = len(self._keys)

    def _supply(self, automaton: ByteAutomaton, lacking: int, trie: Trie) -> None:
        of, at = self._arguments[PROGRESS + 6], self._arguments[PROGRESS + 7]
        if lacking == NO_ENTRY:
            automaton.fill(of, at)
            return
        asked = automaton.stack_action(of, at) if lacking == NO_ACTION else -automaton.return_action(of, at)
        if asked == ASK:
            node = self._arguments[PROGRESS + 3]
            add_below(trie, automaton, self._configuration, node, self.words)
            self._arguments[PROGRESS + 3] = int(trie.skip[node])
            self._arguments[PROGRESS + 4] = _WITHOUT_BOUND
