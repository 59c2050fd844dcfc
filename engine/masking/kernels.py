"""The two inner loops, over integer tables alone, so that numba can compile them.

`runtime` compiles these functions; called as they stand they are ordinary and slow
Python. A walk answers with the node at which the automaton's table had no entry;
its caller computes the entry and calls again, and the walk goes on there.

The first argument of both is the trie of `engine.vocabulary.trie`, with N nodes:
byte uint8[N], depth, skip int32[N], token_start int32[N + 1], token_ids int32[T].

Every index is made unsigned first: numba asks of a signed one whether it counts
from the end, and that took a third of the time.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
TrieArrays: TypeAlias = tuple[Bytes, Ints, Ints, Ints, Ints]

DONE = -1
_ONE, _FIVE, _31, _256 = np.uint64(1), np.uint64(5), np.uint64(31), np.uint64(256)


def walk(
    trie: TrieArrays,
    exits: tuple[Ints, Ints],
    table: tuple[Ints, Bytes],
    start: tuple[int, int, int],
    apart: Bytes,
    stack: Ints,
    progress: npt.NDArray[np.uint64],
    words: npt.NDArray[np.uint32],
) -> int:
    """Add every token below the given roots that the automaton can read.

    Args:
        trie: the trie.
        exits: int32[257] and int32[R]: trie nodes to start at, grouped by the byte into them, and where the groups
            begin.
        table: int32[capacity, classes], the automaton's rows: -1 is missing, 0 is dead; and uint8[256], the class of
            each byte.
        start: the configuration above the roots at depth `base + 1`, the one above deeper roots (after bytes of a
            loop), and `base`. The rows of both configurations are complete.
        apart: uint8[256], bytes whose root at depth 1 is left out.
        stack: int32[height + 1], the configuration at each depth of the path to the node; kept between calls.
        progress: uint64[4]: whether to go on, and at which group, place in it and node; at first all 0.
        words: uint32[ceil(V / 32)], the mask, to which bits are only added.

    Returns:
        The node whose entry is missing, or DONE.
    """
    byte, depth, skip, token_start, token_ids = trie
    group_start, roots = exits
    rows, class_of_byte = table
    configuration, inside, base = np.uint64(start[0]), np.uint64(start[1]), np.uint64(start[2])
    going_on, group, place, node = progress[0] > 0, progress[1], progress[2], progress[3]
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
                stack[above] = configuration if above == base else inside
                node = end if above == 0 and apart[group] else root
            going_on = False
            while node < end:
                level = np.uint64(depth[node])
                byte_class = np.uint64(class_of_byte[np.uint64(byte[node])])
                following = rows[np.uint64(stack[level - _ONE]), byte_class]
                if following > 0:
                    stack[level] = following
                    index, last = np.uint64(token_start[node]), np.uint64(token_start[node + _ONE])
                    while index < last:
                        token = np.uint64(token_ids[index])
                        words[token >> _FIVE] |= 1 << (token & _31)
                        index += _ONE
                    node += _ONE
                elif following == 0:
                    node = np.uint64(skip[node])
                else:
                    progress[0], progress[1], progress[2], progress[3] = _ONE, group, place, node
                    return int(node)
            place += _ONE
        group += _ONE
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
