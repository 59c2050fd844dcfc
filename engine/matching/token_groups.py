"""Groups of the allowed tokens by the state to which they lead.

A permissive state allows a hundred thousand tokens, which lead to a dozen states. `TokenGraph` walks the trie with
numpy: 5 to 10 ms for 131,072 tokens, so that the answer to a step can contain the groups. States are cursors of
`ByteAutomaton.cursor`, so the walk interns no configuration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.analysis.token_graph import TokenGraph
from engine.matching.matcher import Matcher

EXAMPLES = 12

Probabilities = npt.NDArray[np.floating] | None


@dataclass(frozen=True, slots=True)
class TokenGroup:
    """The tokens that lead from the current state to the same next state.

    Attributes:
        count: the number of tokens.
        mass: their total probability before masking; None without a model, or if one of them is unknown.
        examples: the ids of some, the most probable first, unknown ones last; without probabilities the shortest first.
    """

    count: int
    mass: float | None
    examples: tuple[int, ...]


def token_groups(matcher: Matcher, p: Probabilities = None, most_advances: int | None = None) -> tuple[TokenGroup, ...]:
    """Group the allowed tokens by the state to which they lead, the most probable group first, else the largest.

    EOS ids lead to no state and are in no group; nor are tokens without bytes that the grammar names as elements.

    Args:
        matcher: the matcher, at the current step.
        p: float[W], W >= V, the model's probabilities before masking; NaN where unknown.
        most_advances: the number of steps of the automaton that may be computed; None for no limit.

    Raises:
        LimitExceededError: more steps are necessary.
        CancelledError: the work of this thread was cancelled.
    """
    if matcher.is_finished:
        return ()
    vocabulary = matcher.vocabulary
    graph = TokenGraph(matcher.grammar.automaton, vocabulary, most_advances)
    steps = graph.steps(graph.cursor(matcher.configuration))
    left_out = set(vocabulary.eos_ids)
    if matcher.grammar.automaton.token_elements:
        left_out |= {token_id for token_id in steps.tokens.tolist() if not vocabulary.tokens[token_id]}
    is_listed = ~np.isin(steps.tokens, np.fromiter(left_out, np.int32, len(left_out)))
    ids, after = steps.tokens[is_listed], steps.after[is_listed]
    in_groups = np.argsort(after, kind="stable")
    ends = np.flatnonzero(np.diff(after[in_groups], append=-1)) + 1
    groups = [_group(matcher, each, p) for each in np.split(ids[in_groups], ends[:-1]) if each.size]
    return tuple(sorted(groups, key=lambda group: (-(group.mass or 0.0), -group.count, group.examples)))


def _group(matcher: Matcher, ids: npt.NDArray[np.integer], p: Probabilities) -> TokenGroup:
    tokens = matcher.vocabulary.tokens
    mass = None
    if p is None:
        ranks = np.array([len(tokens[one] or b"") for one in ids.tolist()])
    else:
        total = float(p[ids].sum())
        mass, ranks = None if np.isnan(total) else total, np.nan_to_num(-p[ids], nan=0.0)
    if len(ids) > EXAMPLES:
        is_near = ranks <= np.partition(ranks, EXAMPLES - 1)[EXAMPLES - 1]
        near, ranks = ids[is_near], ranks[is_near]
    else:
        near = ids
    shown = near[np.lexsort((near, ranks))][:EXAMPLES]
    return TokenGroup(len(ids), mass, tuple(shown.tolist()))
