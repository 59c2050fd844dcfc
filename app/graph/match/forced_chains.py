"""Merges forced runs in a drawing into one edge each.

A state is merged away if it is not accepting, allows only one character, and has one incoming edge: then the drawing
loses no choice, and has the same language ("naive merging"; see `engine.decoding.forced.merging`, which does the same
over bytes). The remaining states are those with a choice.

Unlike a text (`literal_chains`), a run may begin with a choice: `[23]0}`.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.graph.match.chains import fold_chains
from app.graph.match.folding import MOST_EDGES, FoldedEdge, label_of
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.automata.labels import class_label

_WIDTH = 24  # of the choice that a run begins with


def fold_runs(dfa: ByteDfa, fold: FoldedEdge | None) -> FoldedEdge | None:
    """Merge the forced runs of an automaton, in addition to the folded characters.

    Args:
        dfa: the automaton.
        fold: the automaton over characters; None if it does not differ.

    Returns:
        None if there is no run to merge, or the automaton is too large to be drawn like that.
    """
    if len(dfa.edges if fold is None else fold.edges) > MOST_EDGES:
        return None
    characters = {} if fold is None else fold.characters

    def is_single(edge: DfaEdge) -> bool:
        taken = *edge.ranges, *characters.get((edge.source, edge.target), ())
        return len(taken) == 1 and taken[0][0] == taken[0][1]

    def element(edge: DfaEdge) -> str:
        points = characters.get((edge.source, edge.target), ())
        if is_single(edge):
            return label_of(edge.ranges, points, _WIDTH)
        return f"[{label_of(edge.ranges, points, _WIDTH)}]" if points else class_label(edge.ranges, _WIDTH)

    def text_of(chain: Sequence[DfaEdge]) -> str:
        return "".join(map(element, chain))

    return fold_chains(dfa, fold, lambda _, second: is_single(second), text_of)
