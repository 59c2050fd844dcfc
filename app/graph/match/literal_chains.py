"""Runs of single characters in a drawing, folded into one edge that is their text.

The rules of a JSON Schema are mostly keys and constants: `"children":` takes
eleven edges, and nobody looks at the states between them. As one edge it is
read as it is written. Where the match stands within such a text, its edge is
lit, so the drawing stays as it is from one character to the next.

Rejected: unfolding a text while the match stands in it, as is done for the
bytes of a character. At every other step the whole drawing would change.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from app.graph.layout.types import EdgeKey
from app.graph.match.chains import fold_chains
from app.graph.match.folding import FoldedEdge, label_of
from engine.automata.dfa.dfa import ByteDfa, DfaEdge

_WIDTH = 8  # of one character, however it is shown


def fold_texts(dfa: ByteDfa, fold: FoldedEdge | None, kept: Collection[EdgeKey]) -> FoldedEdge | None:
    """Fold the texts of an automaton, on top of the characters that are folded already.

    Args:
        dfa: the automaton.
        fold: the same over characters; None where that is no other.
        kept: the edges that more than characters take; they end a text.
    """
    characters = {} if fold is None else fold.characters

    def is_letter(edge: DfaEdge) -> bool:
        taken = *edge.ranges, *characters.get((edge.source, edge.target), ())
        return len(taken) == 1 and taken[0][0] == taken[0][1] and (edge.source, edge.target) not in kept

    def text_of(chain: Sequence[DfaEdge]) -> str:
        return "".join(label_of(part.ranges, characters.get((part.source, part.target), ()), _WIDTH) for part in chain)

    return fold_chains(dfa, fold, lambda first, second: is_letter(first) and is_letter(second), text_of) or fold
