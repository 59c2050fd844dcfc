"""Folds chains of edges in a drawing into one edge with their text: literal texts, and forced runs.

The rules of a JSON Schema are mostly keys and constants: `"children":` takes eleven edges, and the states between them
are of no interest. As one edge it is as readable as in JSON. If the match is inside such a text, its edge is
highlighted, so the drawing stays the same from one character to the next. Rejected: unfolding a text while the match is
inside it, as is done for the bytes of a character. The whole drawing would change at every second step.

A forced run is a chain in which only one character is allowed at each inner state: merging it loses no choice ("naive
merging"; see `engine.decoding.forced.merging`, which does the same over bytes). Unlike a text, it may begin with a
choice: `[23]0}`. The remaining states are those with a choice.

An inner state of any chain is not accepting, and has one incoming and one outgoing edge.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from app.graph.layout.types import EdgeKey
from app.graph.match.folding import MOST_EDGES, FoldedAutomaton, characters_label, edge_label
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.source import Span

_CHARACTER_WIDTH = 8  # of one displayed character
_CHOICE_WIDTH = 24  # of the choice that a run begins with


def fold_texts(dfa: ByteDfa, fold: FoldedAutomaton | None, kept: Collection[EdgeKey]) -> FoldedAutomaton | None:
    """Fold the texts of an automaton, in addition to the folded characters.

    Args:
        dfa: the automaton.
        fold: the automaton over characters; None if it does not differ.
        kept: the edges that are not taken by characters only; they end a text.
    """
    characters = {} if fold is None else fold.characters

    def is_single(edge: DfaEdge) -> bool:
        taken = *edge.ranges, *characters.get((edge.source, edge.target), ())
        return len(taken) == 1 and taken[0][0] == taken[0][1] and (edge.source, edge.target) not in kept

    def text_of(chain: Sequence[DfaEdge]) -> str:
        return "".join(
            characters_label(part.ranges, characters.get((part.source, part.target), ()), _CHARACTER_WIDTH)
            for part in chain
        )

    return _fold_chains(dfa, fold, lambda first, second: is_single(first) and is_single(second), text_of) or fold


def fold_forced_runs(
    dfa: ByteDfa, fold: FoldedAutomaton | None, kept: Collection[EdgeKey] = ()
) -> FoldedAutomaton | None:
    """Merge the forced runs of an automaton, in addition to the folded characters and counters.

    Args:
        dfa: the automaton.
        fold: the automaton over characters, with counters; None if it does not differ.
        kept: the edges that are not taken by characters only; they end a run.

    Returns:
        None if there is no run to merge, or the automaton is too large to be drawn like that.
    """
    if len(dfa.edges if fold is None else fold.edges) > MOST_EDGES:
        return None
    characters = {} if fold is None else fold.characters

    def is_single(edge: DfaEdge) -> bool:
        taken = *edge.ranges, *characters.get((edge.source, edge.target), ())
        return len(taken) == 1 and taken[0][0] == taken[0][1] and (edge.source, edge.target) not in kept

    def element(edge: DfaEdge) -> str:
        return edge_label(edge.ranges, characters.get((edge.source, edge.target), ()), _CHOICE_WIDTH)

    def text_of(chain: Sequence[DfaEdge]) -> str:
        return "".join(map(element, chain))

    def passes(first: DfaEdge, second: DfaEdge) -> bool:
        return (first.source, first.target) not in kept and is_single(second)

    return _fold_chains(dfa, fold, passes, text_of)


def _fold_chains(
    dfa: ByteDfa,
    fold: FoldedAutomaton | None,
    passes: Callable[[DfaEdge, DfaEdge], bool],
    text_of: Callable[[Sequence[DfaEdge]], str],
) -> FoldedAutomaton | None:
    """Fold chains of an automaton, in addition to the folded characters.

    Args:
        dfa: the automaton.
        fold: the automaton over characters; None if it does not differ.
        passes: whether a state with these incoming and outgoing edges is inside a chain.
        text_of: returns the text of a chain.

    Returns:
        None if there is no chain.
    """
    known = fold or FoldedAutomaton(frozenset(), (), {})
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
            and state not in known.counters
            and len(incoming[state]) == len(outgoing[state]) == 1
            and passes(incoming[state][0], outgoing[state][0])
        )

    inner = {state for state in list(incoming) if is_inner(state)}
    if not inner:
        return None
    found: dict[EdgeKey, DfaEdge] = {}
    texts: defaultdict[EdgeKey, list[str]] = defaultdict(list, {key: [*names] for key, names in known.texts.items()})
    within = dict(known.within)
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
        spans = tuple(sorted({span for one in chain for span in one.spans}))
        found[key] = _joined(found.get(key), DfaEdge(*key, () if states else edge.ranges, spans))
    return FoldedAutomaton(
        known.inner | inner,
        tuple(found[key] for key in sorted(found)),
        {key: points for key, points in known.characters.items() if not inner & set(key)},
        {key: tuple(names) for key, names in texts.items()},
        within,
        known.node_of,
        known.counters,
    )


def _joined(first: DfaEdge | None, second: DfaEdge) -> DfaEdge:
    """Merge two edges between the same states: at most one of them is taken by anything but a text."""
    if first is None:
        return second
    spans: set[Span] = {*first.spans, *second.spans}
    return DfaEdge(first.source, first.target, first.ranges or second.ranges, tuple(sorted(spans)))
