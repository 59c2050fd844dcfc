"""The inner loops of masks, over integer tables alone, so that numba can compile them.

`runtime` compiles these functions; called as they stand they are ordinary and slow
Python. A walk answers with what the automaton's tables lack; its caller works that
out and calls again, and the walk goes on where it stopped.

What a walk reads is handed over as addresses, in one array: numba unpacks every
array that it is given, and for twenty of them that took longer than most walks.

The trie is that of `engine.vocabulary.trie`, with N nodes: byte uint8[N], depth,
skip int32[N], token_start int32[N + 1], token_ids int32[T].

Every index is made unsigned first: numba asks of a signed one whether it counts
from the end, and that took a third of the time.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.automata.actions import AGAIN, ASK, ENDING, FRAME_FACTOR, MISS, NEAR, POP, PUSH, SYMBOL_FACTOR

Ints: TypeAlias = npt.NDArray[np.int32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Longs: TypeAlias = npt.NDArray[np.int64]
ActionArrays: TypeAlias = tuple[Longs, Longs, Longs]
TrieArrays: TypeAlias = tuple[Bytes, Ints, Ints, Ints, Ints]

DONE = -1
NO_ENTRY, NO_ACTION, NO_FRAME = 1, 2, 3
"""What a walk lacks: an entry of a reading state, an action of a frame, or the frame behind an ending."""

(
    BYTE,
    DEPTH,
    SKIP,
    TOKEN_START,
    TOKEN_IDS,
    GROUP_START,
    ROOTS,
    TRIE_NODES,
    TRIE_TOKENS,
    EXITS,
    SEED,
    ROWS,
    STATES,
    CLASSES,
    CLASS_OF_BYTE,
    NEAR_ROWS,
    FRAMES,
    KEYS,
    VALUES,
    SLOTS,
    APART,
    PATH,
    HEIGHT,
    STACK,
    NODES,
    MASK,
    WORDS,
    START,
    INSIDE,
    BASE,
    GIVEN,
    FRESH,
) = range(32)
"""What `walk` is given, by place: the addresses of arrays and, behind them, how large they are.

- The trie: `BYTE` to `TOKEN_IDS`, `TRIE_NODES` and `TRIE_TOKENS`.
- Where to begin there: int32[257] `GROUP_START` and int32[`EXITS`] `ROOTS`, trie nodes grouped by the byte into them,
  and where the groups begin; uint8[256] `APART`, bytes whose root at depth 1 is left out.
- uint32[`WORDS`] `SEED`, tokens that are allowed beforehand; 0 for none.
- The automaton: int32[`STATES`, `CLASSES`] `ROWS`, the rows of the reading states, where -1 is missing, 0 is dead and
  `-2 - symbol` ends the reading; uint8[256] `CLASS_OF_BYTE`; near, keys and values of an `ActionTable` of `FRAMES`
  frames and `SLOTS` slots.
- Scratch, which is kept between calls: int32[2, `HEIGHT`] `PATH`, reading state and stack node at each depth of the
  path to the trie node; int32[2, `NODES`] `STACK`, the frame of each stack node and the node below it, given ones
  first, which are at most `GIVEN`.
- uint32[`WORDS`] `MASK`, to which bits are only added, but that it is cleared first where it is `FRESH`.
- `START`, the reading state above the roots at depth `BASE` + 1, and `INSIDE`, the one above deeper roots (after bytes
  of a loop). Their rows are complete.
"""
PROGRESS: Final = 32
"""Behind these: whether to go on, and at which group, place in it and trie node; the lowest given stack node that was
looked at, -1 for none; what is missing, of what, and where; and at last the digest of the mask. At first 0, 0, 0, 0,
-1."""
DIGEST: Final = PROGRESS + 8
ARGUMENTS: Final = DIGEST + 1

_FRAMES = (1 << 30) - 1
_DIGESTS = (1 << 63) - 1
_ONE, _FIVE, _31, _256 = np.uint64(1), np.uint64(5), np.uint64(31), np.uint64(256)


def address_of(array: npt.NDArray[Any], dtype: type[Any]) -> int:
    """Where an array is, which must be what a walk takes it for."""
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"a walk reads {dtype.__name__} in one piece, not {array.dtype}{list(array.shape)}")
    return array.ctypes.data


def array_at(address: int, shape: int | tuple[int, int], dtype: type[Any]) -> npt.NDArray[Any]:
    """An array that is there. Somebody else keeps it alive."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.ndarray(shape, dtype, memoryview((ctypes.c_char * size).from_address(int(address))))


def find(keys: Longs, values: Longs, frame: int, symbol: int) -> int:
    """An action of an `ActionTable` that is not near."""
    key = frame << 32 | symbol
    mixed = frame * FRAME_FACTOR + (symbol & 0xFFFFFF) * SYMBOL_FACTOR + (symbol >> 31)
    slots = len(keys) - 1
    slot = (mixed ^ mixed >> 15) & slots
    while keys[slot] != MISS:
        if keys[slot] == key:
            return int(values[slot])
        slot = slot + 1 & slots
    return MISS


def leave(  # noqa: PLR0913, PLR0917 - numba takes arrays, not objects
    following: int,
    state: int,
    byte_class: int,
    stack: int,
    given: int,
    free: int,
    rows: npt.NDArray[np.int32],
    actions: ActionArrays,
    nodes: tuple[Ints, Ints],
    progress: Longs,
) -> tuple[int, int, int]:
    """What becomes of a stack where a byte ends the reading of its top frame.

    Args:
        following: the entry of the byte, which is missing or ends the reading.
        state: the reading state that has this entry.
        byte_class: the class of the byte.
        stack: the top node.
        given: how many nodes are given.
        free: the number of the first node that may be written.
        rows: as in `walk`.
        actions: as in `walk`.
        nodes: the frame of each stack node, and the node below it.
        progress: as in `walk`; receives what is missing.

    Returns:
        The reading state, 0 where nothing completes the text, or -1 where something is missing; the top node; and the
        lowest given node that was looked at, -1 for none.
    """
    near, keys, values = actions
    frames, belows = nodes
    lowest = -1
    while following < MISS:
        frame, symbol = int(frames[stack]), -2 - following
        lowest = max(lowest, stack if stack < given else -1)
        action = int(near[frame, symbol]) if symbol < NEAR else find(keys, values, frame, symbol)
        if action in (MISS, ASK):
            progress[5], progress[6], progress[7] = NO_ACTION, frame, symbol
            return MISS, stack, lowest
        if action == 0:
            return 0, stack, lowest
        kind, top = action & 3, action >> 3 & _FRAMES
        below = int(belows[stack])
        if kind == POP:
            owner, lowest = int(frames[below]), max(lowest, below if below < given else -1)
            following = find(keys, values, owner, ENDING | top)
            if following < 0:
                progress[5], progress[6], progress[7] = NO_FRAME, owner, top
                return MISS, stack, lowest
            if following == 0:
                return 0, stack, lowest
            top, below = following, int(belows[below])
        elif kind == PUSH:
            frames[free], belows[free] = action >> 33, below
            below = free
            free += 1
        frames[free], belows[free] = top, below
        stack = free
        free += 1
        state = int(near[top, NEAR])
        following = int(rows[state, byte_class]) if action & AGAIN else state
    if following == MISS:
        progress[5], progress[6], progress[7] = NO_ENTRY, state, byte_class
    return following, stack, lowest


def walk(given: Longs) -> int:
    """Add every token below the given roots that the automaton can read.

    A walk stands at a node of a stack (0 is the uppermost of those given, 1 the one below it, and so on; further
    ones are made on the way) and in a reading state.

    Args:
        given: int64[ARGUMENTS], as said above.

    Returns:
        DONE, or what is missing.
    """
    nodes = given[TRIE_NODES]
    trie = (
        array_at(given[BYTE], nodes, np.uint8),
        array_at(given[DEPTH], nodes, np.int32),
        array_at(given[SKIP], nodes, np.int32),
        array_at(given[TOKEN_START], nodes + 1, np.int32),
        array_at(given[TOKEN_IDS], given[TRIE_TOKENS], np.int32),
    )
    exits = array_at(given[GROUP_START], 257, np.int32), array_at(given[ROOTS], given[EXITS], np.int32)
    rows = array_at(given[ROWS], (given[STATES], given[CLASSES]), np.int32)
    actions = (
        array_at(given[NEAR_ROWS], (given[FRAMES], NEAR + 1), np.int64),
        array_at(given[KEYS], given[SLOTS], np.int64),
        array_at(given[VALUES], given[SLOTS], np.int64),
    )
    path = array_at(given[PATH], (2, given[HEIGHT]), np.int32)
    stack = array_at(given[STACK], (2, given[NODES]), np.int32)
    words = array_at(given[MASK], given[WORDS], np.uint32)
    if given[PROGRESS] == 0:
        if given[FRESH]:
            words[:] = 0
        if given[SEED]:
            seed = array_at(given[SEED], given[WORDS], np.uint32)
            for place in range(len(words)):
                words[place] |= seed[place]
    lacking = along(
        trie,
        exits,
        (rows, array_at(given[CLASS_OF_BYTE], 256, np.uint8)),
        actions,
        (given[START], given[INSIDE], given[BASE], given[GIVEN]),
        array_at(given[APART], 256, np.uint8),
        (path[0], path[1], stack[0], stack[1]),
        given[PROGRESS:],
        words,
    )
    if lacking == DONE:
        given[DIGEST] = digest(words)
    return lacking


def along(  # noqa: PLR0913, PLR0915, PLR0917 - a call for each node would cost more than the node
    trie: TrieArrays,
    exits: tuple[Ints, Ints],
    table: tuple[Ints, Bytes],
    actions: ActionArrays,
    start: tuple[int, int, int, int],
    apart: Bytes,
    scratch: tuple[Ints, Ints, Ints, Ints],
    progress: Longs,
    words: npt.NDArray[np.uint32],
) -> int:
    """The walk itself, over the arrays."""
    byte, depth, skip, token_start, token_ids = trie
    group_start, roots = exits
    rows, class_of_byte = table
    states, nodes, frames, belows = scratch
    configuration, inside, base = np.uint64(start[0]), np.uint64(start[1]), np.uint64(start[2])
    given = start[3]
    going_on, group, place, node = (
        progress[0] > 0,
        np.uint64(progress[1]),
        np.uint64(progress[2]),
        np.uint64(progress[3]),
    )
    looked = progress[4]
    while group < _256:
        stop = np.uint64(group_start[group + _ONE])
        if not going_on:
            place = np.uint64(group_start[group])
            byte_class = np.uint64(class_of_byte[group])
            if rows[configuration, byte_class] == 0 and rows[inside, byte_class] == 0:
                place = stop
        while place < stop:
            root = np.uint64(roots[place])
            end = np.uint64(skip[root])
            if not going_on:
                above = np.uint64(depth[root]) - _ONE
                states[above] = configuration if above == base else inside
                nodes[above] = 0
                node = end if above == 0 and apart[group] else root
            going_on = False
            while node < end:
                level = np.uint64(depth[node])
                state = np.uint64(states[level - _ONE])
                stack = nodes[level - _ONE]
                byte_class = np.uint64(class_of_byte[np.uint64(byte[node])])
                following = rows[state, byte_class]
                if following < 0:
                    following, stack, lowest = leave(
                        int(following),
                        int(state),
                        int(byte_class),
                        int(stack),
                        given,
                        given + 4 * int(level),
                        rows,
                        actions,
                        (frames, belows),
                        progress,
                    )
                    looked = max(looked, lowest)
                    if following < 0:
                        progress[0], progress[1], progress[2], progress[3] = 1, group, place, node
                        progress[4] = looked
                        return int(progress[5])
                if following > 0:
                    states[level] = following
                    nodes[level] = stack
                    index, last = np.uint64(token_start[node]), np.uint64(token_start[node + _ONE])
                    while index < last:
                        token = np.uint64(token_ids[index])
                        words[token >> _FIVE] |= 1 << (token & _31)
                        index += _ONE
                    node += _ONE
                else:
                    node = np.uint64(skip[node])
            place += _ONE
        group += _ONE
    progress[4] = looked
    return DONE


def digest(words: npt.NDArray[np.uint32]) -> int:
    """A number that masks hardly share unless they are equal.

    Args:
        words: uint32[ceil(V / 32)], a mask.
    """
    total = 0
    for place in range(len(words)):
        weight = (place + 1) * FRAME_FACTOR
        total += int(words[place]) * (weight ^ weight >> 7 ^ weight << 29 | 1)
    return total & _DIGESTS
