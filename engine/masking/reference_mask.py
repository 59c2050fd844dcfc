"""The reference implementation of masks: the walk of the kernels in plain Python, without a special case for loops.

It computes masks until the kernels are loaded, and tests compare the kernels with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import ByteAutomaton
from engine.vocabulary import Trie


def compute_reference_mask(trie: Trie, automaton: ByteAutomaton, configuration: int) -> npt.NDArray[np.uint32]:
    """Return the mask of a configuration: the tokens whose bytes the automaton can read.

    Args:
        trie: the vocabulary.
        automaton: the grammar.
        configuration: the configuration before the first byte of a token.

    Returns:
        uint32[words], the mask, without token elements and EOS ids.
    """
    words = np.zeros(trie.words, np.uint32)
    _add(trie, automaton, automaton.cursor(configuration), None, words)
    return words


def add_below(
    trie: Trie, automaton: ByteAutomaton, configuration: int, node: int, words: npt.NDArray[np.uint32]
) -> None:
    """Add the allowed tokens of a node of the trie and of the nodes below it.

    Args:
        trie: the vocabulary.
        automaton: the grammar.
        configuration: the configuration before the first byte of a token.
        node: the node of the trie.
        words: uint32[words], the mask; bits are only added.
    """
    cursor: Any = automaton.cursor(configuration)
    for byte in trie.prefix(node)[:-1]:
        cursor = automaton.advance(cursor, byte)
    _add(trie, automaton, cursor, node, words)


def _add(trie: Trie, automaton: ByteAutomaton, cursor: Any, root: int | None, words: npt.NDArray[np.uint32]) -> None:
    """Walk the trie, or the part below a node, from a cursor."""
    byte, token_start, token_ids = trie.byte.data, trie.token_start.data, trie.token_ids.data
    advance, mask = automaton.advance, words.data
    for node, _ in trie.walk(cursor, lambda before, node: advance(before, byte[node]), root):
        for token in token_ids[token_start[node] : token_start[node + 1]]:
            mask[token >> 5] |= 1 << (token & 31)
