"""What of a drawing the tests use.

An edge that is drawn may stand for several: bytes and calls between the same two
states, the bytes of a character, all that leads from one rule or region to
another. It counts as used where a test uses any of them; a state, where a used
edge touches it. A way through a folded character is followed edge by edge, so
two characters that share their inner states may lend each other an edge.

Rejected: running the texts here. The process that judges them knows already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.graph.layout.types import EdgeKey
from app.graph.match.folding import FoldedEdge
from app.graph.match.regions import AutomatonRegions
from app.graph.rules import RuleCharts
from engine.diagnosis.test_strings.values import Coverage

_TO_COME = "Coverage comes with the next verdicts."
_TOO_MANY = "Coverage is not drawn: there are too many edges. The tests list what is not used."


@dataclass(frozen=True, slots=True)
class CoveredParts:
    """States and edges of a drawing."""

    states: frozenset[int]
    edges: frozenset[EdgeKey]


def used_calls(names: tuple[str, ...], coverage: Coverage) -> CoveredParts | str:
    """The rules, and which calls which."""
    why_not = _unfit(names, coverage)
    if why_not:
        return why_not
    number = {name: at for at, name in enumerate(names)}
    calls = ((row.key.rule, number[row.key.called]) for row in coverage.edges if row.covered and row.key.called)
    return CoveredParts(frozenset(at for at, row in enumerate(coverage.rules) if row.covered), frozenset(calls))


def used_in_rules(
    rules: RuleCharts, shown: Iterable[int], firsts: Sequence[int], coverage: Coverage, *, is_folded: bool
) -> CoveredParts | str:
    """The states and edges of some rules, each numbered from its first state on."""
    why_not = _unfit(rules.names, coverage)
    if why_not:
        return why_not
    of_rule: defaultdict[int, set[EdgeKey]] = defaultdict(set)
    for row in coverage.edges:
        if row.covered:
            of_rule[row.key.rule].add((row.key.source, row.key.target))
    edges: set[EdgeKey] = set()
    begun = {firsts[rule] for rule in shown if coverage.rules[rule].covered}
    for rule in shown:
        first, fold = firsts[rule], rules.rules[rule].fold if is_folded else None
        edges.update((first + a, first + b) for a, b in _drawn(of_rule[rule], fold))
    return _used(edges, begun)


def used_states(fold: FoldedEdge | None, coverage: Coverage) -> CoveredParts | str:
    """The states and edges of the whole automaton."""
    edges = _whole(coverage)
    return edges if isinstance(edges, str) else _used(_drawn(edges, fold))


def used_regions(regions: AutomatonRegions, coverage: Coverage) -> CoveredParts | str:
    """The regions, and the edges between them."""
    edges = _whole(coverage)
    if isinstance(edges, str):
        return edges
    between = {(regions.of_state[a], regions.of_state[b]) for a, b in edges}
    return CoveredParts(_used(between).states, frozenset(key for key in between if key[0] != key[1]))


def _whole(coverage: Coverage) -> frozenset[EdgeKey] | str:
    if coverage.whole is not None:
        return coverage.whole
    if coverage.rules or not coverage.total_edges:
        return _TO_COME
    if len(coverage.edges) < coverage.total_edges:
        return _TOO_MANY
    return frozenset((row.key.source, row.key.target) for row in coverage.edges if row.covered)


def _unfit(names: tuple[str, ...], coverage: Coverage) -> str:
    if tuple(row.name for row in coverage.rules) != names:
        return _TO_COME
    return _TOO_MANY if len(coverage.edges) < coverage.total_edges else ""


def _used(edges: Iterable[EdgeKey], more: Iterable[int] = ()) -> CoveredParts:
    found = frozenset(edges)
    return CoveredParts(frozenset(more).union(*found), found)


def _drawn(edges: Iterable[EdgeKey], fold: FoldedEdge | None) -> frozenset[EdgeKey]:
    """The edges over characters and texts that edges over bytes make up; without a fold, these."""
    found = frozenset(edges)
    if fold is None:
        return found
    after: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in found:
        after[source].append(target)
    made: set[EdgeKey] = set()
    for source in after.keys() - fold.inner:
        todo, seen = list(after[source]), set[int]()
        while todo:
            state = todo.pop()
            if state not in seen:
                seen.add(state)
                if state in fold.inner:
                    todo += after[state]
                else:
                    made.add((source, state))
    return frozenset(made)
