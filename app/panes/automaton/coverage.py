"""The states and edges of a drawing that are covered.

A drawn edge may represent several ones: bytes and calls between the same two states, the bytes of a character, all
edges from one rule or region to another. It is covered if any of them is; a state, if a covered edge touches it. A path
through a folded character is followed edge by edge, so two characters that share inner states may mark each other's
edges.

Rejected: running the texts here. The process that judges them has the result already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.graph.layout.types import EdgeKey
from app.graph.match.folding import FoldedAutomaton
from app.graph.match.regions import AutomatonRegions
from app.graph.match.rules import RuleCharts
from engine.diagnosis.test_strings.values import Coverage

_TO_COME = "Coverage comes with the next verdicts."
_TOO_MANY = "Coverage is not drawn: there are too many edges. The tests list what is not used."


@dataclass(frozen=True, slots=True)
class CoveredParts:
    """Covered states and edges of a drawing."""

    states: frozenset[int]
    edges: frozenset[EdgeKey]


def used_calls(names: tuple[str, ...], coverage: Coverage) -> CoveredParts | str:
    """Return the covered rules, and the covered calls between them."""
    why_not = _reason_missing(names, coverage)
    if why_not:
        return why_not
    number = {name: at for at, name in enumerate(names)}
    calls = ((row.key.rule, number[row.key.called]) for row in coverage.edges if row.covered and row.key.called)
    return CoveredParts(frozenset(at for at, row in enumerate(coverage.rules) if row.covered), frozenset(calls))


def used_in_rules(
    rules: RuleCharts, shown: Iterable[int], firsts: Sequence[int], coverage: Coverage, *, is_folded: bool
) -> CoveredParts | str:
    """Return the covered states and edges of some rules.

    Args:
        rules: the charts.
        shown: the numbers of the rules.
        firsts: the number of each rule's first state in the drawing.
        coverage: the coverage.
        is_folded: whether characters are drawn instead of bytes.

    Returns:
        the covered parts, or a sentence if they are unknown.
    """
    why_not = _reason_missing(rules.names, coverage)
    if why_not:
        return why_not
    of_rule: defaultdict[int, set[EdgeKey]] = defaultdict(set)
    for row in coverage.edges:
        if row.covered:
            of_rule[row.key.rule].add((row.key.source, row.key.target))
    edges: set[EdgeKey] = set()
    entered = {firsts[rule] for rule in shown if coverage.rules[rule].covered}
    for rule in shown:
        first, fold = firsts[rule], rules.rules[rule].fold if is_folded else None
        edges.update((first + a, first + b) for a, b in _drawn_edges(of_rule[rule], fold))
    return _used(edges, entered)


def used_states(fold: FoldedAutomaton | None, coverage: Coverage) -> CoveredParts | str:
    """Return the covered states and edges of the complete automaton."""
    edges = _dfa_edges(coverage)
    return edges if isinstance(edges, str) else _used(_drawn_edges(edges, fold))


def used_regions(regions: AutomatonRegions, coverage: Coverage) -> CoveredParts | str:
    """Return the covered regions, and the covered edges between them."""
    edges = _dfa_edges(coverage)
    if isinstance(edges, str):
        return edges
    between = {(regions.of_state[a], regions.of_state[b]) for a, b in edges}
    return CoveredParts(_used(between).states, frozenset(key for key in between if key[0] != key[1]))


def _dfa_edges(coverage: Coverage) -> frozenset[EdgeKey] | str:
    if coverage.whole is not None:
        return coverage.whole
    if coverage.rules or not coverage.total_edges:
        return _TO_COME
    if len(coverage.edges) < coverage.total_edges:
        return _TOO_MANY
    return frozenset((row.key.source, row.key.target) for row in coverage.edges if row.covered)


def _reason_missing(names: tuple[str, ...], coverage: Coverage) -> str:
    if tuple(row.name for row in coverage.rules) != names:
        return _TO_COME
    return _TOO_MANY if len(coverage.edges) < coverage.total_edges else ""


def _used(edges: Iterable[EdgeKey], more: Iterable[int] = ()) -> CoveredParts:
    found = frozenset(edges)
    return CoveredParts(frozenset(more).union(*found), found)


def _drawn_edges(edges: Iterable[EdgeKey], fold: FoldedAutomaton | None) -> frozenset[EdgeKey]:
    """Return the edges over characters and texts that edges over bytes make up; all edges without a fold."""
    found = frozenset(edges)
    if fold is None:
        return found
    after: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in found:
        after[source].append(target)
    folded: set[EdgeKey] = set()
    for source in after.keys() - fold.inner:
        pending, seen = list(after[source]), set[int]()
        while pending:
            state = pending.pop()
            if state not in seen:
                seen.add(state)
                if state in fold.inner:
                    pending += after[state]
                else:
                    folded.add((source, state))
    return frozenset(folded)
