"""Chains of edges in a drawing, folded into one edge each that is their text.

What may be within a chain is asked of whoever folds: the letters of a text (`texts`), or
what is forced (`runs`). A state within one is plain: the text may not end there, and one
edge leads to it and one from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from app.graph.layout.types import EdgeKey
from app.graph.match.folding import FoldedEdge
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.source import Span


def fold_chains(
    dfa: ByteDfa,
    fold: FoldedEdge | None,
    passes: Callable[[DfaEdge, DfaEdge], bool],
    text_of: Callable[[Sequence[DfaEdge]], str],
) -> FoldedEdge | None:
    """Fold chains of an automaton, on top of the characters that are folded already.

    Args:
        dfa: the automaton.
        fold: the same over characters; None where that is no other.
        passes: whether a plain state is within a chain, by the edge that leads to it and the one from it.
        text_of: what a chain reads.

    Returns:
        None where there is no chain.
    """
    edges = dfa.edges if fold is None else fold.edges
    into: defaultdict[int, list[DfaEdge]] = defaultdict(list)
    out: defaultdict[int, list[DfaEdge]] = defaultdict(list)
    for edge in edges:
        into[edge.target].append(edge)
        out[edge.source].append(edge)

    def is_within(state: int) -> bool:
        is_plain = not dfa.states[state].accepting and state != dfa.start and state not in dfa.boundary
        return is_plain and len(into[state]) == len(out[state]) == 1 and passes(into[state][0], out[state][0])

    passed = {state for state in list(into) if is_within(state)}
    if not passed:
        return None
    found: dict[EdgeKey, DfaEdge] = {}
    texts: defaultdict[EdgeKey, list[str]] = defaultdict(list)
    within: dict[int, EdgeKey] = {}
    for edge in edges:
        if edge.source in passed:
            continue
        chain, states = [edge], list[int]()
        while chain[-1].target in passed:
            states.append(chain[-1].target)
            chain += out[chain[-1].target]
        key = edge.source, chain[-1].target
        within |= dict.fromkeys(states, key)
        if states:
            texts[key].append(text_of(chain))
        found[key] = _joined(found.get(key), DfaEdge(*key, () if states else edge.ranges, edge.spans))
    characters = {} if fold is None else fold.characters
    return FoldedEdge(
        (frozenset() if fold is None else fold.inner) | passed,
        tuple(found[key] for key in sorted(found)),
        {key: points for key, points in characters.items() if not passed & set(key)},
        {key: tuple(said) for key, said in texts.items()},
        within,
    )


def _joined(first: DfaEdge | None, second: DfaEdge) -> DfaEdge:
    """Two edges between the same states: at most one of them is taken by anything but a text."""
    if first is None:
        return second
    spans: set[Span] = {*first.spans, *second.spans}
    return DfaEdge(first.source, first.target, first.ranges or second.ranges, tuple(sorted(spans)))
