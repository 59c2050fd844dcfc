"""The two inner loops, over integer tables alone, so that numba can compile them.

`runtime` compiles these functions; called as they stand they are ordinary and slow
Python. A walk answers with the node at which the automaton's table had no entry;
its caller computes the entry and calls again, and the walk goes on there.

The first argument of both is the trie of `engine.vocabulary.trie`, with N nodes:
byte uint8[N], depth, skip int32[N], token_start int32[N + 1], token_ids int32[T].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int32]
    Bytes: TypeAlias = npt.NDArray[np.uint8]
    TrieArrays: TypeAlias = tuple[Bytes, Ints, Ints, Ints, Ints]

DONE = -1


def walk(
    trie: TrieArrays,
    exits: tuple[Ints, Ints],
    table: tuple[Ints, Bytes],
    configuration: int,
    inside: int,
    stack: Ints,
    progress: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint32],
) -> int:
    """Add every token below the given roots that the automaton can read.

    Args:
        trie: the trie.
        exits: int32[257] and int32[R]: trie nodes to start at, grouped by the byte into them, and where the groups
            begin.
        table: int32[capacity, classes], the automaton's rows: -1 is missing, 0 is dead; and uint8[256], the class of
            each byte.
        configuration: where the match stands; its row and that of `inside` are complete.
        inside: where the match stands above a root deeper than 1, which is after bytes of a loop.
        stack: int32[height + 1], the configuration at each depth of the path to the node; kept between calls.
        progress: int64[3], the group, the place in it and the node to go on at; at first (0, 0, -1).
        words: uint32[ceil(V / 32)], the mask, to which bits are only added.

    Returns:
        The node whose entry is missing, or DONE.
    """
    byte, depth, skip, token_start, token_ids = trie
    group_start, roots = exits
    rows, class_of_byte = table
    group, place, node = progress[0], progress[1], progress[2]
    while group < 256:
        stop = group_start[group + 1]
        if node < 0:
            place = group_start[group]
            byte_class = class_of_byte[group]
            if rows[configuration, byte_class] == 0 and rows[inside, byte_class] == 0:
                place = stop
        while place < stop:
            root = roots[place]
            if node < 0:
                node = root
                above = depth[root] - 1
                stack[above] = configuration if above == 0 else inside
            end = skip[root]
            while node < end:
                level = depth[node]
                following = rows[stack[level - 1], class_of_byte[byte[node]]]
                if following > 0:
                    stack[level] = following
                    for index in range(token_start[node], token_start[node + 1]):
                        token = token_ids[index]
                        words[token >> 5] |= 1 << (token & 31)
                    node += 1
                elif following == 0:
                    node = skip[node]
                else:
                    progress[0], progress[1], progress[2] = group, place, node
                    return int(node)
            node = -1
            place += 1
        group += 1
    return DONE


def circle(trie: TrieArrays, loop: Ints, stack: Ints, leaving: Ints, words: npt.NDArray[np.uint32]) -> int:
    """Add every token that stays within a loop, and list the nodes at which others leave it.

    Args:
        trie: the trie.
        loop: int32[states, 256]: state 0 is the loop's home, others are within a character, -1 is outside.
        stack: int32[height + 1], scratch.
        leaving: int32[N], receives the nodes that leave the loop from its home, in the order of the trie.
        words: uint32[ceil(V / 32)], the mask, to which bits are only added.

    Returns:
        How many nodes leave it.
    """
    byte, depth, skip, token_start, token_ids = trie
    count = 0
    node = 0
    stack[0] = 0
    while node < len(byte):
        level = depth[node]
        state = stack[level - 1]
        following = loop[state, byte[node]]
        if following >= 0:
            stack[level] = following
            for index in range(token_start[node], token_start[node + 1]):
                token = token_ids[index]
                words[token >> 5] |= 1 << (token & 31)
            node += 1
        else:
            if state == 0:
                leaving[count] = node
                count += 1
            node = skip[node]
    return count
