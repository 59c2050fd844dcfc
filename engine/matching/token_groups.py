"""Groups of the allowed tokens by the state to which they lead.

A permissive state allows a hundred thousand tokens, which lead to a dozen states.
One walk of the byte trie visits the allowed prefixes and remembers each step by
state and byte, so that most nodes cost one look-up. States are cursors of
`ByteAutomaton.cursor`, so the walk interns no configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.matching.matcher import Matcher
from engine.source import CancelToken

EXAMPLES = 12
_CHECK_EVERY = 4_096

Probabilities = npt.NDArray[np.floating] | None


@dataclass(frozen=True, slots=True)
class TokenGroup:
    """The tokens that lead from the current state to the same next state.

    Attributes:
        count: the number of tokens.
        mass: their total probability before masking; None without a model.
        examples: the ids of some, the most probable first; without probabilities the shortest first.
    """

    count: int
    mass: float | None
    examples: tuple[int, ...]


def token_groups(
    matcher: Matcher, p: Probabilities = None, cancel: CancelToken | None = None
) -> tuple[TokenGroup, ...]:
    """Group the allowed tokens by the state to which they lead, the most probable group first, else the largest.

    EOS ids lead to no state and are in no group; nor are tokens without bytes that the grammar names as elements.

    Args:
        matcher: the matcher, at the current step.
        p: float[W], W >= V, the model's probabilities before masking.
        cancel: checked regularly.

    Raises:
        CancelledError: `cancel` was used.
    """
    if matcher.is_finished:
        return ()
    ends = frozenset(matcher.vocabulary.eos_ids)
    found: dict[Any, list[int]] = {}
    for state, token_ids in _walk(matcher, cancel):
        found.setdefault(state, []).extend(one for one in token_ids if one not in ends)
    groups = [_group(matcher, np.array(ids), p) for ids in found.values() if ids]
    return tuple(sorted(groups, key=lambda group: (-(group.mass or 0.0), -group.count, group.examples)))


def _walk(matcher: Matcher, cancel: CancelToken | None) -> Iterator[tuple[int, list[int]]]:
    """Yield the number of each state to which tokens lead, with their ids; a state may come more than once."""
    automaton, trie = matcher.grammar.automaton, matcher.vocabulary.trie
    byte, start, ids = trie.byte.tolist(), trie.token_start.tolist(), trie.token_ids.tolist()
    cursors: list[Any] = [automaton.cursor(matcher.configuration)]
    numbers: dict[Any, int] = {cursors[0]: 0}
    steps: dict[tuple[int, int], int | None] = {}  # (state, byte) -> next state; None if nothing completes it
    n_visited = 0

    def step(before: int, node: int) -> int | None:
        nonlocal n_visited
        n_visited += 1
        if cancel is not None and n_visited % _CHECK_EVERY == 0:
            cancel.check()
        key = before, byte[node]
        if key not in steps:
            cursor = automaton.advance(cursors[before], byte[node])
            steps[key] = None if cursor is None else numbers.setdefault(cursor, len(cursors))
            if steps[key] == len(cursors):
                cursors.append(cursor)
        return steps[key]

    for node, after in trie.walk(0, step):
        if start[node] < start[node + 1]:
            yield after, ids[start[node] : start[node + 1]]


def _group(matcher: Matcher, ids: npt.NDArray[np.integer], p: Probabilities) -> TokenGroup:
    if p is None:
        lengths = np.array([len(matcher.vocabulary.tokens[one] or b"") for one in ids.tolist()])
        shown = ids[np.lexsort((ids, lengths))][:EXAMPLES]
        return TokenGroup(len(ids), None, tuple(shown.tolist()))
    shown = ids[np.lexsort((ids, -p[ids]))][:EXAMPLES]
    return TokenGroup(len(ids), float(p[ids].sum()), tuple(shown.tolist()))
