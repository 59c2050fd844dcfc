"""Groups of the allowed tokens by the parts of the grammar that read their first byte, and by those that come next.

Rejected: a group for each state that tokens lead to. Two states may differ by a counter alone, which nobody sees: after
`ab` and after `abc`, the same part of `[a-z]{1,300}` comes next.

A permissive state allows a hundred thousand tokens, which lead to a dozen states. `TokenGraph` walks the trie with
numpy: 5 to 10 ms for 131,072 tokens, and 100 more to group them where nearly all are allowed. States are cursors of
`ByteAutomaton.cursor`, so the walk interns no configuration.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.analysis.token_graph import TokenGraph
from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteRanges, join_ranges
from engine.matching.matcher import Matcher
from engine.source import Span

EXAMPLES = 12

MOST_DESCRIBED = 500
"""States that tokens lead to; beyond so many, each is a position of its own."""

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


@dataclass(frozen=True, slots=True)
class PositionGroup:
    """The tokens whose first bytes are read by the same parts of the grammar, and after which the same parts come.

    Attributes:
        tokens: their number, mass and examples.
        first: their first bytes.
        reads: the source locations that read these; none if they are not known.
        follows: the source locations that may come next after them.
        may_end: whether the text may end after them.
        targets: for each state that they lead to, one of them.
    """

    tokens: TokenGroup
    first: ByteRanges
    reads: tuple[Span, ...]
    follows: tuple[Span, ...]
    may_end: bool
    targets: tuple[int, ...]


def position_groups(
    matcher: Matcher, p: Probabilities = None, most_advances: int | None = None
) -> tuple[PositionGroup, ...]:
    """Group the allowed tokens by the parts of the grammar that read their first byte, and by those that come next.

    Args:
        matcher: the matcher, at the current step.
        p: float[W], W >= V, the model's probabilities before masking; NaN where unknown.
        most_advances: the number of steps of the automaton that may be computed; None for no limit.

    Returns:
        the groups, the most probable first, else the largest.

    Raises:
        LimitExceededError: more steps are necessary.
        CancelledError: the work of this thread was cancelled.
    """
    automaton, tokens = matcher.grammar.automaton, matcher.vocabulary.tokens
    ids, after = _listed(matcher, most_advances)
    firsts = np.array([(tokens[one] or b"\0")[0] for one in ids.tolist()], np.intp)
    classes = automaton.class_of_byte[firsts]
    reads = {one: automaton.edge_spans(matcher.configuration, one) for one in np.unique(classes).tolist()}
    targets = _split(after)
    found: defaultdict[object, list[npt.NDArray[np.intp]]] = defaultdict(list)
    described: dict[object, tuple[tuple[Span, ...], tuple[Span, ...], bool]] = {}
    for number, members in enumerate(targets):
        reached = automaton.run(matcher.configuration, tokens[int(ids[members[0]])] or b"")
        follows = (automaton.spans(reached), automaton.accepts(reached)) if reached != DEAD else ((), False)
        is_joined = reached != DEAD and len(targets) <= MOST_DESCRIBED
        for part in (members[one] for one in _split(classes[members])):
            byte_class = int(classes[part[0]])
            key = reads[byte_class] or byte_class, follows if is_joined else number
            found[key].append(part)
            described.setdefault(key, (reads[byte_class], *follows))
    groups = [
        PositionGroup(
            _group(matcher, ids[np.concatenate(parts)], p),
            join_ranges([tuple((byte, byte) for byte in np.unique(firsts[np.concatenate(parts)]).tolist())]),
            *described[key],
            tuple(int(ids[part[0]]) for part in parts),
        )
        for key, parts in found.items()
    ]
    return tuple(sorted(groups, key=lambda one: _order(one.tokens)))


def _listed(matcher: Matcher, most_advances: int | None) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the allowed tokens with bytes, and the number of the state to which each leads."""
    if matcher.is_finished:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    vocabulary = matcher.vocabulary
    graph = TokenGraph(matcher.grammar.automaton, vocabulary, most_advances)
    steps = graph.steps(graph.cursor(matcher.configuration))
    left_out = set(vocabulary.eos_ids)
    if matcher.grammar.automaton.token_elements:
        left_out |= {token_id for token_id in steps.tokens.tolist() if not vocabulary.tokens[token_id]}
    is_listed = ~np.isin(steps.tokens, np.fromiter(left_out, np.int32, len(left_out)))
    return steps.tokens[is_listed], steps.after[is_listed]


def _split(keys: npt.NDArray[np.integer]) -> list[npt.NDArray[np.intp]]:
    """Return the positions of equal keys, those of the least key first."""
    in_groups = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[in_groups], append=-1)) + 1
    return [each for each in np.split(in_groups, ends[:-1]) if each.size]


def _order(group: TokenGroup) -> tuple[float, int, tuple[int, ...]]:
    """Order the most probable group first, else the largest."""
    return -(group.mass or 0.0), -group.count, group.examples


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
