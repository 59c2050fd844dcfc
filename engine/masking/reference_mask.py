"""The plain twin of the kernels: the same walk, in Python, without loops told apart.

It serves until the kernels are loaded, and tests hold the kernels against it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import ByteAutomaton
from engine.vocabulary import Trie


def compute_reference_mask(trie: Trie, automaton: ByteAutomaton, configuration: int) -> npt.NDArray[np.uint32]:
    """uint32[words]: the tokens that the automaton can read from a configuration."""
    words = np.zeros(trie.words, np.uint32)
    _add(trie, automaton, automaton.cursor(configuration), (0, len(trie.byte), 1), words)
    return words


def add_below(
    trie: Trie, automaton: ByteAutomaton, configuration: int, node: int, words: npt.NDArray[np.uint32]
) -> None:
    """Add the tokens of one node of the trie and of those below it."""
    place: Any = automaton.cursor(configuration)
    for byte in trie.prefix(node)[:-1]:
        place = automaton.advance(place, byte)
    _add(trie, automaton, place, (node, int(trie.skip[node]), int(trie.depth[node])), words)


def _add(
    trie: Trie, automaton: ByteAutomaton, place: Any, part: tuple[int, int, int], words: npt.NDArray[np.uint32]
) -> None:
    """Walk a part of the trie, from a place: its first node, its end, and the depth of its nodes at least."""
    # Memory views answer with plain ints, and several times faster than arrays.
    byte, depth, skip = trie.byte.data, trie.depth.data, trie.skip.data
    token_start, token_ids = trie.token_start.data, trie.token_ids.data
    follow, mask = automaton.advance, words.data
    node, end, least = part
    path = [place] * (trie.height + 2 - least)
    while node < end:
        level = depth[node] - least
        following = follow(path[level], byte[node])
        if following is None:
            node = skip[node]
            continue
        path[level + 1] = following
        for token in token_ids[token_start[node] : token_start[node + 1]]:
            mask[token >> 5] |= 1 << (token & 31)
        node += 1
