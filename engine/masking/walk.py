"""The walk that computes one mask: calls of the kernel, and the table entries that the kernel finds missing.

The tables of an automaton are filled as walks need them. A kernel stops at a
missing entry, reports it, and resumes where it stopped once it is filled.

What depends on the text itself (an item that must differ from an earlier one) has
no table entry. There the tokens are read one after the other, as in `reference_mask`.
"""

from __future__ import annotations

from array import array
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.automata.actions import NEEDS_TEXT
from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.masking.jit import Kernels
from engine.masking.kernels import (
    AT_NODE,
    BASE,
    CLASS_OF_BYTE,
    CLASSES,
    CLEAR,
    DENSE_ROWS,
    DIGEST,
    DONE,
    EXCLUDED,
    FRAMES,
    HEIGHT,
    INITIAL,
    INNER,
    KEYS,
    LOWEST_READ,
    MASK,
    MISSING_KEY,
    MISSING_OF,
    NO_ACTION,
    NO_ENTRY,
    NODES,
    PATH,
    PROGRESS,
    RECORD_SIZE,
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

WORK: Final = "errors.limit.mask_work"
"""The name of a walk's limit in messages."""
NOTHING: npt.NDArray[np.uint8] = np.zeros(256, np.uint8)
NOTHING.setflags(write=False)
_NOTHING_ADDRESS: Final = address_of(NOTHING, np.uint8)
_WHOLE_STACK = 1 << 30

_INITIAL_PROGRESS = np.array((0, 0, 0, 0, -1, 0, 0, 0, 0), np.int64).data


def initial_frames(trie: Trie) -> int:
    """Return the number of frames, from the top of the stack, that a walk may read."""
    return trie.height + 2


class TrieWalk:
    """The buffers and arguments of walks of one grammar over one vocabulary, which run one at a time.

    Attributes:
        lexer_state: the lexer state in which the current walk begins.
        words: uint32[words], its mask so far; the next walk reuses the array.
        lowest_frame: the lowest frame of the stack that the walk read, -1 for none.
    """

    def __init__(self, trie: Trie, class_of_byte: npt.NDArray[np.uint8]) -> None:
        """Allocate stacks for the longest token.

        Each of its bytes may leave a frame, the first one two: in `[1`, `]` ends the number and the array. The frame
        below is read too.
        """
        height, initial = trie.height + 1, initial_frames(trie)
        size = initial + 4 * height
        self._trie, self._class_of_byte = trie, class_of_byte
        self._path, self._stack = np.zeros((2, height), np.int32), np.zeros((2, size), np.int32)
        self._stack[1, :initial] = np.arange(1, initial + 1)
        self._frames = self._stack[0].data
        self.words = np.zeros(trie.words, np.uint32)
        self._configuration = self.lexer_state = DEAD
        self.lowest_frame = -1
        # The arrays whose addresses the record contains, which keeps them alive.
        self._rows: npt.NDArray[np.int32] | None = None
        self._dense_rows: npt.NDArray[np.int64] | None = None
        self._keys: npt.NDArray[np.int64] | None = None
        self._values: npt.NDArray[np.int64] | None = None
        self._excluded = NOTHING
        self._record = np.zeros(RECORD_SIZE, np.int64)
        self._arguments = arguments = self._record.data
        arguments[CLASS_OF_BYTE] = address_of(class_of_byte, np.uint8)
        arguments[PATH], arguments[HEIGHT] = address_of(self._path, np.int32), height
        arguments[STACK], arguments[NODES] = address_of(self._stack, np.int32), size
        arguments[INITIAL], arguments[EXCLUDED] = initial, _NOTHING_ADDRESS
        arguments[MASK], arguments[WORDS] = address_of(self.words, np.uint32), trie.words

    def begin(self, at: tuple[int, int, list[int]]) -> None:
        """Begin a walk at a configuration, with its lexer state and the topmost frames of its stack."""
        self._configuration, self.lexer_state, frames = at
        self._frames[: len(frames)] = array("i", frames)
        self._arguments[CLEAR] = 1
        self.lowest_frame = -1

    def begin_with_mask(self, at: tuple[int, int, list[int]], words: npt.NDArray[np.uint32], lowest_frame: int) -> None:
        """Begin a walk that adds to a known mask.

        Args:
            at: the configuration, its lexer state, and the topmost frames of its stack.
            words: uint32[words], the mask.
            lowest_frame: the lowest frame that was read to compute it, -1 for none.
        """
        self.begin(at)
        self.words[:] = words
        self._arguments[CLEAR] = 0
        self.lowest_frame = lowest_frame

    @property
    def digest(self) -> int:
        """Return the hash of the mask, as `kernels.digest` computes it."""
        return self._arguments[DIGEST]

    def add(
        self,
        kernels: Kernels,
        automaton: ByteAutomaton,
        tokens: TokenSlice,
        start: tuple[int, int, int],
        excluded: npt.NDArray[np.uint8] = NOTHING,
        trie: Trie | None = None,
    ) -> None:
        """Add the tokens of a token slice, and walk below its exits.

        Args:
            kernels: the compiled kernels.
            automaton: the automaton of the grammar.
            tokens: the token slice.
            start: the lexer states above its exits at depth `base + 1` and above deeper ones, and `base`.
            excluded: uint8[256], 1 for first bytes to skip.
            trie: the trie of the slice, if it is not that of the whole vocabulary.
        """
        arguments = self._arguments
        arguments[: len(tokens.kernel_args)] = tokens.kernel_args
        arguments[START], arguments[INNER], arguments[BASE] = start
        arguments[PROGRESS:] = _INITIAL_PROGRESS
        if excluded is not self._excluded:
            self._excluded, arguments[EXCLUDED] = excluded, address_of(excluded, np.uint8)
        walk, record = kernels.walk, self._record
        self._refresh_tables(automaton)
        missing = walk(record)
        if missing != DONE:  # only filling the tables can take long
            with limited_work(WORK, automaton.limits.work):
                while missing != DONE:
                    self._fill_gap(automaton, missing, trie or self._trie)
                    self._refresh_tables(automaton)
                    missing = walk(record)
        arguments[CLEAR] = 0
        self.lowest_frame = max(self.lowest_frame, arguments[PROGRESS + LOWEST_READ])

    def _refresh_tables(self, automaton: ByteAutomaton) -> None:
        """Update the addresses of the automaton's tables, which growth replaces."""
        arguments, rows, actions = self._arguments, automaton.rows, automaton.actions
        if rows is not self._rows:
            self._rows, arguments[ROWS] = rows, address_of(rows, np.int32)
            arguments[STATES], arguments[CLASSES] = rows.shape
        if actions.near is not self._dense_rows:
            self._dense_rows, arguments[DENSE_ROWS] = actions.near, address_of(actions.near, np.int64)
            arguments[FRAMES] = len(actions.near)
        if actions.keys is not self._keys:
            self._keys, self._values = actions.keys, actions.values
            arguments[KEYS], arguments[VALUES] = address_of(self._keys, np.int64), address_of(self._values, np.int64)
            arguments[SLOTS] = len(self._keys)

    def _fill_gap(self, automaton: ByteAutomaton, missing: int, trie: Trie) -> None:
        owner, key = self._arguments[PROGRESS + MISSING_OF], self._arguments[PROGRESS + MISSING_KEY]
        if missing == NO_ENTRY:
            automaton.fill(owner, key)
            return
        action = automaton.stack_action(owner, key) if missing == NO_ACTION else automaton.return_action(owner, key)
        if action == NEEDS_TEXT:
            node = self._arguments[PROGRESS + AT_NODE]
            add_below(trie, automaton, self._configuration, node, self.words)
            self._arguments[PROGRESS + AT_NODE] = int(trie.skip[node])
            self._arguments[PROGRESS + LOWEST_READ] = _WHOLE_STACK
