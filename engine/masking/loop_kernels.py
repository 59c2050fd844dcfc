"""Kernels that compute which tokens stay in a loop over characters, and where the others leave it.

They run once for each loop and vocabulary. The trie is passed as its arrays: byte uint8[N], depth, skip int32[N],
token_start int32[N + 1], token_ids int32[T].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.masking.kernels import Ints, TrieArrays

_ONE, _FIVE, _31 = np.uint64(1), np.uint64(5), np.uint64(31)


def scan_loop(
    trie: TrieArrays, loop: npt.NDArray[np.int8], root: int, stack: Ints, exits: Ints, words: npt.NDArray[np.uint32]
) -> int:
    """Add every token that stays in a loop, and list the nodes at which the others leave it.

    Args:
        trie: the trie.
        loop: int8[states, 256]: state 0 is the loop's home, others are inside a character, -1 is outside.
        root: the node by which the loop is entered; -1 for the root of the trie.
        stack: int32[height + 1], scratch.
        exits: int32[N], receives the nodes that leave the loop from its home, in the order of the trie.
        words: uint32[ceil(V / 32)], the mask; bits are only added.

    Returns:
        The number of nodes that leave the loop.
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
                exits[count] = node
                count += 1
            node = np.uint64(skip[node])
    return count


def measure_loop(
    trie: TrieArrays,
    loop: npt.NDArray[np.int8],
    stack: Ints,
    counts: Ints,
    of_token: npt.NDArray[np.int16],
    of_node: npt.NDArray[np.int16],
) -> None:
    """Count the characters of every token that stays in a loop.

    Args:
        trie: the trie.
        loop: as in `scan_loop`; the loop is in its home state between two characters.
        stack: int32[height + 1], scratch.
        counts: int32[height + 1], scratch.
        of_token: int16[V], receives the number of characters of each token that stays; an incomplete character at its
            end counts.
        of_node: int16[N], receives the number of characters before each node that leaves the loop.
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
