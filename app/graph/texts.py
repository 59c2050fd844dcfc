"""Runs of single characters in a drawing, folded into one edge that is their text.

The rules of a JSON Schema are mostly keys and constants: `"children":` takes
eleven edges, and nobody looks at the states between them. As one edge it is
read as it is written. Where the match stands within such a text, its edge is
lit, so the drawing stays as it is from one character to the next.

Rejected: unfolding a text while the match stands in it, as is done for the
bytes of a character. At every other step the whole drawing would change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from app.graph.folding import CodePoints, Fold, label_of
from app.graph.layout import EdgeKey
from engine.automata.dfa import ByteDfa, DfaEdge
from engine.source import Span

_WIDTH = 8  # of one character, however it is shown


def fold_texts(dfa: ByteDfa, fold: Fold | None, kept: Collection[EdgeKey]) -> Fold | None:
    """Fold the texts of an automaton, on top of the characters that are folded already.

    Args:
        dfa: the automaton.
        fold: the same over characters; None where that is no other.
        kept: the edges that more than characters take; they end a text.
    """
    edges = dfa.edges if fold is None else fold.edges
    characters = {} if fold is None else fold.characters
    into: defaultdict[int, list[DfaEdge]] = defaultdict(list)
    out: defaultdict[int, list[DfaEdge]] = defaultdict(list)
    for edge in edges:
        into[edge.target].append(edge)
        out[edge.source].append(edge)

    def is_letter(edge: DfaEdge) -> bool:
        taken = *edge.ranges, *characters.get((edge.source, edge.target), ())
        return len(taken) == 1 and taken[0][0] == taken[0][1] and (edge.source, edge.target) not in kept

    def is_within(state: int) -> bool:
        around = [*into[state], *out[state]]
        is_plain = not dfa.states[state].accepting and state != dfa.start and state not in dfa.boundary
        return is_plain and len(into[state]) == len(out[state]) == 1 and all(map(is_letter, around))

    passed = {state for state in into if is_within(state)}
    if not passed:
        return fold
    found: dict[EdgeKey, DfaEdge] = {}
    texts: defaultdict[EdgeKey, list[str]] = defaultdict(list)
    within: dict[int, EdgeKey] = {}
    for edge in edges:
        if edge.source in passed:
            continue
        run, states = [edge], list[int]()
        while run[-1].target in passed:
            states.append(run[-1].target)
            run += out[run[-1].target]
        key = edge.source, run[-1].target
        within |= dict.fromkeys(states, key)
        if states:
            texts[key].append("".join(_shown(part, characters.get((part.source, part.target), ())) for part in run))
        ranges = () if states else edge.ranges
        found[key] = joined(found.get(key), DfaEdge(*key, ranges, edge.spans))
    return Fold(
        (frozenset() if fold is None else fold.inner) | passed,
        tuple(found[key] for key in sorted(found)),
        {key: points for key, points in characters.items() if not passed & set(key)},
        {key: tuple(said) for key, said in texts.items()},
        within,
    )


def _shown(edge: DfaEdge, points: CodePoints) -> str:
    return label_of(edge.ranges, points, _WIDTH)


def joined(first: DfaEdge | None, second: DfaEdge) -> DfaEdge:
    """Two edges between the same states: at most one of them is taken by anything but a text."""
    if first is None:
        return second
    spans: set[Span] = {*first.spans, *second.spans}
    return DfaEdge(first.source, first.target, first.ranges or second.ranges, tuple(sorted(spans)))
