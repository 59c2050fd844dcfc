"""Groups of the allowed tokens by the state to which they lead, or by the parts of the grammar that a person sees.

Two states may differ by a counter alone, which nobody sees: after `ab` and after `abc`, the same part of `[a-z]{1,300}`
comes next. `position_groups` joins such states, and separates tokens whose first bytes are read by different parts.

A permissive state allows a hundred thousand tokens, which lead to a dozen states. `TokenGraph` walks the trie with
numpy: 5 to 10 ms for 131,072 tokens, so that the answer to a step can contain the groups. States are cursors of
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
    ids, after = _listed(matcher, most_advances)
    groups = [_group(matcher, each, p) for each in _split(ids, after)]
    return tuple(sorted(groups, key=_order))


def position_groups(
    matcher: Matcher, p: Probabilities = None, most_advances: int | None = None
) -> tuple[PositionGroup, ...]:
    """Group the allowed tokens by the parts of the grammar that read their first byte, and by those that come next.

    Args:
        matcher: the matcher, at the current step.
        p: as for `token_groups`.
        most_advances: as for `token_groups`.

    Raises:
        LimitExceededError, CancelledError: as `token_groups`.
    """
    automaton, tokens = matcher.grammar.automaton, matcher.vocabulary.tokens
    ids, after = _listed(matcher, most_advances)
    firsts = np.array([(tokens[one] or b"\0")[0] for one in ids.tolist()], np.int64)
    classes = automaton.class_of_byte[firsts] if ids.size else firsts
    parts = _split(ids, after * automaton.n_classes + classes)
    targets = _split(ids, after)
    position_of: dict[int, object] = {}
    for number, members in enumerate(targets):
        position: object = number
        if len(targets) <= MOST_DESCRIBED and (data := tokens[int(members[0])]):
            reached = automaton.run(matcher.configuration, data)
            if reached != DEAD:
                position = automaton.spans(reached), automaton.accepts(reached)
        position_of.update(dict.fromkeys(members.tolist(), position))
    reads = {
        int(one): automaton.edge_spans(matcher.configuration, int(one)) or int(one)
        for one in np.unique(classes).tolist()
    }
    found: defaultdict[object, list[npt.NDArray[np.int32]]] = defaultdict(list)
    for members in parts:
        first = int(members[0])
        read = reads[int(automaton.class_of_byte[(tokens[first] or b"\0")[0]])]
        found[read, position_of[first]].append(members)
    return tuple(sorted((_position(matcher, one, p) for one in found.values()), key=lambda one: _order(one.tokens)))


def _position(matcher: Matcher, parts: list[npt.NDArray[np.int32]], p: Probabilities) -> PositionGroup:
    """Return a group whose parts differ in the first byte or in the state that they lead to."""
    automaton, tokens = matcher.grammar.automaton, matcher.vocabulary.tokens
    ids = np.concatenate(parts)
    first = {(tokens[one] or b"\0")[0] for one in ids.tolist()}
    one = tokens[int(ids[0])] or b""
    reached = automaton.run(matcher.configuration, one)
    return PositionGroup(
        _group(matcher, ids, p),
        join_ranges([tuple((byte, byte) for byte in sorted(first))]),
        automaton.edge_spans(matcher.configuration, int(automaton.class_of_byte[one[0]])) if one else (),
        automaton.spans(reached) if reached != DEAD else (),
        reached != DEAD and automaton.accepts(reached),
        tuple(int(members[0]) for members in parts),
    )


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


def _split(ids: npt.NDArray[np.int32], keys: npt.NDArray[np.integer]) -> list[npt.NDArray[np.int32]]:
    """Return the tokens in groups with the same key."""
    in_groups = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[in_groups], append=-1)) + 1
    return [each for each in np.split(ids[in_groups], ends[:-1]) if each.size]


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
