"""Folds chains of edges in a drawing into one edge with their text.

A callback decides what may be inside a chain: the characters of a text (`literal_chains`), or forced bytes
(`forced_chains`). An inner state of a chain is not accepting, and has one incoming and one outgoing edge.
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
    """Fold chains of an automaton, in addition to the folded characters.

    Args:
        dfa: the automaton.
        fold: the automaton over characters; None if it does not differ.
        passes: whether a state with these incoming and outgoing edges is inside a chain.
        text_of: returns the text of a chain.

    Returns:
        None if there is no chain.
    """
    edges = dfa.edges if fold is None else fold.edges
    incoming: defaultdict[int, list[DfaEdge]] = defaultdict(list)
    outgoing: defaultdict[int, list[DfaEdge]] = defaultdict(list)
    for edge in edges:
        incoming[edge.target].append(edge)
        outgoing[edge.source].append(edge)

    def is_inner(state: int) -> bool:
        is_plain = not dfa.states[state].accepting and state != dfa.start and state not in dfa.boundary
        return (
            is_plain
            and len(incoming[state]) == len(outgoing[state]) == 1
            and passes(incoming[state][0], outgoing[state][0])
        )

    inner = {state for state in list(incoming) if is_inner(state)}
    if not inner:
        return None
    found: dict[EdgeKey, DfaEdge] = {}
    texts: defaultdict[EdgeKey, list[str]] = defaultdict(list)
    within: dict[int, EdgeKey] = {}
    for edge in edges:
        if edge.source in inner:
            continue
        chain, states = [edge], list[int]()
        while chain[-1].target in inner:
            states.append(chain[-1].target)
            chain += outgoing[chain[-1].target]
        key = edge.source, chain[-1].target
        within |= dict.fromkeys(states, key)
        if states:
            texts[key].append(text_of(chain))
        found[key] = _joined(found.get(key), DfaEdge(*key, () if states else edge.ranges, edge.spans))
    characters = {} if fold is None else fold.characters
    return FoldedEdge(
        (frozenset() if fold is None else fold.inner) | inner,
        tuple(found[key] for key in sorted(found)),
        {key: points for key, points in characters.items() if not inner & set(key)},
        {key: tuple(names) for key, names in texts.items()},
        within,
    )


def _joined(first: DfaEdge | None, second: DfaEdge) -> DfaEdge:
    """Merge two edges between the same states: at most one of them is taken by anything but a text."""
    if first is None:
        return second
    spans: set[Span] = {*first.spans, *second.spans}
    return DfaEdge(first.source, first.target, first.ranges or second.ranges, tuple(sorted(spans)))
