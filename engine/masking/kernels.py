"""The inner loops of masks, over integer tables alone, so that numba can compile them.

`runtime` compiles these functions; called as they stand they are ordinary and slow
Python. A walk answers with what the automaton's tables lack; its caller works that
out and calls again, and the walk goes on where it stopped.

The first argument of each kernel is the trie of `engine.vocabulary.trie`, with N nodes:
byte uint8[N], depth, skip int32[N], token_start int32[N + 1], token_ids int32[T].

Every index is made unsigned first: numba asks of a signed one whether it counts
from the end, and that took a third of the time.
"""

from __future__ import annotations

from typing import TypeAlias

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

_FRAMES = (1 << 30) - 1
_ONE, _FIVE, _31, _256 = np.uint64(1), np.uint64(5), np.uint64(31), np.uint64(256)


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


def walk(  # noqa: PLR0913, PLR0915, PLR0917 - a call for each node would cost more than the node
    trie: TrieArrays,
    exits: tuple[Ints, Ints],
    table: tuple[Ints, Bytes],
    actions: ActionArrays,
    start: tuple[int, int, int, int],
    apart: Bytes,
    scratch: tuple[Ints, Ints, Ints, Ints],
    progress: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint32],
) -> int:
    """Add every token below the given roots that the automaton can read.

    A walk stands at a node of a stack (0 is the uppermost of those given, 1 the one below it, and so on; further
    ones are made on the way) and in a reading state.

    Args:
        trie: the trie.
        exits: int32[257] and int32[R]: trie nodes to start at, grouped by the byte into them, and where the groups
            begin.
        table: int32[capacity, classes], the rows of the reading states: -1 is missing, 0 is dead, `-2 - symbol` ends
            the reading; and uint8[256], the class of each byte.
        actions: near, keys and values of an `ActionTable`.
        start: the reading state above the roots at depth `base + 1`, the one above deeper roots (after bytes of a
            loop), and `base`; and how many stack nodes are given. The rows of both states are complete.
        apart: uint8[256], bytes whose root at depth 1 is left out.
        scratch: int32[height + 1] twice, reading state and stack node at each depth of the path to the trie node; and
            int32[height * 5 + 5] twice, the frame of each stack node and the node below it, the given ones first. All
            are kept between calls.
        progress: int64[8]: whether to go on, and at which group, place in it and trie node; the lowest given stack
            node that was looked at, -1 for none; and what is missing, of what, and where. At first 0, 0, 0, 0, -1.
        words: uint32[ceil(V / 32)], the mask, to which bits are only added.

    Returns:
        DONE, or what is missing.
    """
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


def circle(
    trie: TrieArrays, loop: npt.NDArray[np.int8], root: int, stack: Ints, leaving: Ints, words: npt.NDArray[np.uint32]
) -> int:
    """Add every token that stays within a loop, and list the nodes at which others leave it.

    Args:
        trie: the trie.
        loop: int8[states, 256]: state 0 is the loop's home, others are within a character, -1 is outside.
        root: the loop is entered below this node, which is allowed; -1 is the whole trie.
        stack: int32[height + 1], scratch.
        leaving: int32[N], receives the nodes that leave the loop from its home, in the order of the trie.
        words: uint32[ceil(V / 32)], the mask, to which bits are only added.

    Returns:
        How many nodes leave it.
    """
    byte, depth, skip, token_start, token_ids = trie
    count = 0
    node, end, entered = np.uint64(0), np.uint64(len(byte)), root >= 0
    stack[0] = 0
    if entered:
        node = np.uint64(root)
        end = np.uint64(skip[node])
    while node < end:
        level = np.uint64(depth[node])
        state = np.uint64(stack[level - _ONE])
        following = 0 if entered else loop[state, np.uint64(byte[node])]
        entered = False
        if following >= 0:
            stack[level] = following
            index, last = np.uint64(token_start[node]), np.uint64(token_start[node + _ONE])
            while index < last:
                token = np.uint64(token_ids[index])
                words[token >> _FIVE] |= 1 << (token & _31)
                index += _ONE
            node += _ONE
        else:
            if state == 0:
                leaving[count] = node
                count += 1
            node = np.uint64(skip[node])
    return count


def measure(
    trie: TrieArrays,
    loop: npt.NDArray[np.int8],
    stack: Ints,
    counts: Ints,
    of_token: npt.NDArray[np.int16],
    of_node: npt.NDArray[np.int16],
) -> None:
    """Count the characters of every token that stays within a loop.

    Args:
        trie: the trie.
        loop: as in `circle`; between two characters a text is at home.
        stack: int32[height + 1], scratch.
        counts: int32[height + 1], scratch.
        of_token: int16[V], receives the characters of tokens that stay, one that is not complete included.
        of_node: int16[N], receives the characters before each node that leaves from home.
    """
    byte, depth, skip, token_start, token_ids = trie
    node, end = np.uint64(0), np.uint64(len(byte))
    stack[0] = counts[0] = 0
    while node < end:
        level = np.uint64(depth[node])
        state = np.uint64(stack[level - _ONE])
        count = counts[level - _ONE]
        following = loop[state, np.uint64(byte[node])]
        if following < 0:
            of_node[node] = count
            node = np.uint64(skip[node])
            continue
        if following == 0:
            count += 1
        stack[level], counts[level] = following, count
        index, last = np.uint64(token_start[node]), np.uint64(token_start[node + _ONE])
        while index < last:
            of_token[np.uint64(token_ids[index])] = count + (1 if following else 0)
            index += _ONE
        node += _ONE
