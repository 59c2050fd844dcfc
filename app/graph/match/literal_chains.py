"""Folds runs of single characters in a drawing into one edge with their text.

The rules of a JSON Schema are mostly keys and constants: `"children":` takes eleven edges, and the states between them
are of no interest. As one edge it is as readable as in JSON. If the match is inside such a text, its edge is
highlighted, so the drawing stays the same from one character to the next.

Rejected: unfolding a text while the match is inside it, as is done for the bytes of a character. The whole drawing
would change at every second step.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from app.graph.layout.types import EdgeKey
from app.graph.match.chains import fold_chains
from app.graph.match.folding import FoldedEdge, label_of
from engine.automata.dfa.dfa import ByteDfa, DfaEdge

_WIDTH = 8  # of one displayed character


def fold_texts(dfa: ByteDfa, fold: FoldedEdge | None, kept: Collection[EdgeKey]) -> FoldedEdge | None:
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
        return "".join(label_of(part.ranges, characters.get((part.source, part.target), ()), _WIDTH) for part in chain)

    return fold_chains(dfa, fold, lambda first, second: is_single(first) and is_single(second), text_of) or fold
