"""Forced runs in a drawing, merged into one edge each.

A state is merged away where the text may not end, one character alone may come, and one
way alone leads to it: then the drawing loses no choice, and has the same language ("naive
merging"; see `engine.decoding.coalescence.merging`, which does the same over bytes). What
is left are the places where something is decided.

Unlike a text (`texts`), a run may begin with a choice: `[23]0}`.
"""

from __future__ import annotations

from collections import defaultdict

from app.graph.folding import MOST_EDGES, Fold, label_of
from app.graph.layout import EdgeKey
from app.graph.texts import joined
from engine.automata.dfa import ByteDfa, DfaEdge

_WIDTH = 24  # of the choice that a run begins with


def fold_runs(dfa: ByteDfa, fold: Fold | None) -> Fold | None:
    """Merge the forced runs of an automaton, on top of the characters that are folded already.

    Args:
        dfa: the automaton.
        fold: the same over characters; None where that is no other.

    Returns:
        None where there is no run to merge, or the automaton is too large to be drawn so.
    """
    edges = dfa.edges if fold is None else fold.edges
    if len(edges) > MOST_EDGES:
        return None
    characters = {} if fold is None else fold.characters
    into: defaultdict[int, list[DfaEdge]] = defaultdict(list)
    out: defaultdict[int, list[DfaEdge]] = defaultdict(list)
    for edge in edges:
        into[edge.target].append(edge)
        out[edge.source].append(edge)

    def is_single(edge: DfaEdge) -> bool:
        taken = *edge.ranges, *characters.get((edge.source, edge.target), ())
        return len(taken) == 1 and taken[0][0] == taken[0][1]

    def is_within(state: int) -> bool:
        is_plain = not dfa.states[state].accepting and state != dfa.start and state not in dfa.boundary
        return is_plain and len(into[state]) == len(out[state]) == 1 and is_single(out[state][0])

    passed = {state for state in into if is_within(state)}
    if not passed:
        return None
    found: dict[EdgeKey, DfaEdge] = {}
    texts: defaultdict[EdgeKey, list[str]] = defaultdict(list)
    points = {key: value for key, value in characters.items() if not passed & set(key)}
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
            first, *rest = (
                label_of(part.ranges, characters.get((part.source, part.target), ()), _WIDTH) for part in run
            )
            texts[key].append((first if is_single(edge) else f"[{first}]") + "".join(rest))
        found[key] = joined(found.get(key), DfaEdge(*key, () if states else edge.ranges, edge.spans))
    inner = (frozenset() if fold is None else fold.inner) | passed
    said = {key: tuple(lines) for key, lines in texts.items()}
    return Fold(inner, tuple(found[key] for key in sorted(found)), points, said, within)
