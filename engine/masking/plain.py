"""The plain twin of the kernels: the same walk, in Python, without loops told apart.

It serves until the kernels are loaded, and tests hold the kernels against it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.automata.runtime import DEAD, Runtime
from engine.vocabulary import Trie


def plain_mask(trie: Trie, automaton: Runtime, configuration: int) -> npt.NDArray[np.uint32]:
    """uint32[words]: the tokens that the automaton can read from a configuration."""
    words = np.zeros(trie.words, np.uint32)
    # Memory views answer with plain ints, and several times faster than arrays.
    byte, depth, skip = trie.byte.data, trie.depth.data, trie.skip.data
    token_start, token_ids = trie.token_start.data, trie.token_ids.data
    class_of_byte, mask = automaton.class_of_byte.data, words.data
    step = automaton.step
    path = [configuration] * (trie.height + 1)
    node = 0
    while node < len(byte):
        level = depth[node]
        following = step(path[level - 1], class_of_byte[byte[node]])
        if following == DEAD:
            node = skip[node]
            continue
        path[level] = following
        for token in token_ids[token_start[node] : token_start[node + 1]]:
            mask[token >> 5] |= 1 << (token & 31)
        node += 1
    return words
