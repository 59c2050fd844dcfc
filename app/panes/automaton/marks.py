"""Persistent marks in the drawing and its table: coverage, breakpoints, and where the masks of engines differ.

A drawn edge may represent several ones: bytes and calls between the same two states, the bytes of a character, all
edges from one rule or region to another. It is covered if any of them is; a state, if a covered edge touches it. A path
through a folded character is followed edge by edge, so two characters that share inner states may mark each other's
edges.

Rejected: running the texts here. The process that judges them has the result already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from app.catalogue import ui_text
from app.graph.draw.scene import AutomatonScene
from app.graph.layout.types import EdgeKey
from app.graph.match.folding import FoldedAutomaton
from app.graph.match.regions import AutomatonRegions
from app.models.states import StatesModel
from app.panes.automaton.drawing import Automaton, Drawing
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.view_state import ViewState
from app.widgets.banner import Banner
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, StateName
from engine.diagnosis.test_strings.values import Coverage

Value = TypeVar("Value")


class Marks:
    """Marks a scene and a table, and explains the marks in a banner.

    Attributes:
        coverage: the coverage, and the revision of its grammar; None if unknown.
        is_generated: whether it is by the generated outputs.
        shows_coverage: whether the coverage is shown.
    """

    def __init__(self, scene: AutomatonScene, model: StatesModel, banner: Banner) -> None:
        self._scene, self._model, self._banner = scene, model, banner
        self._breakpoints: dict[StateName | None, bool] = {}  # whether each is enabled
        self._parted: Mapping[StateName, str] = {}
        self.coverage: tuple[int, Coverage] | None = None
        self.is_generated = False
        self.shows_coverage = False

    def set_breakpoints(self, breakpoints: Iterable[Breakpoint]) -> None:
        """Store the breakpoints on states or rules; `show` marks them."""
        on_states = (one for one in breakpoints if one.kind is not BreakpointKind.POSITION)
        self._breakpoints = {(one.name, one.state): one.enabled for one in on_states}

    def set_parted(self, parted: Mapping[StateName, str]) -> None:
        """Store the states at which the masks of engines differ, and how; `show` marks them."""
        self._parted = parted

    def show(self, levels: Levels | None, view: ViewState, automaton: Automaton | None, drawn: Drawing | None) -> None:
        """Mark the current view; a pending drawing is marked when it is there.

        Args:
            levels: the automaton; None for none.
            view: the current view.
            automaton: the automaton that the view shows.
            drawn: the current drawing.
        """
        is_current = drawn is not None and drawn.automaton is automaton
        current = drawn if is_current else None
        self._show_breakpoints(levels, view, automaton, current)
        self._show_parted(levels, view, automaton, current)
        if not self.shows_coverage or drawn is None or levels is None:
            self._show_coverage(None, "")
        elif is_current:
            found: CoveredParts | str = ui_text(
                "automaton.coverage.waiting_generated" if self.is_generated else "automaton.coverage.waiting"
            )
            if self.coverage is not None and self.coverage[0] == levels.revision:
                found = covered_parts(levels, view, self.coverage[1], is_folded=drawn.is_folded)
            self._show_coverage(*((None, found) if isinstance(found, str) else (found, "")))

    def _show_breakpoints(
        self, levels: Levels | None, view: ViewState, automaton: Automaton | None, drawn: Drawing | None
    ) -> None:
        breakpoints_here = {}
        if self._breakpoints and levels is not None and automaton is not None:
            names = ((state, levels.state_name(view, state)) for state in range(len(automaton.dfa.states)))
            breakpoints_here = {state: self._breakpoints[name] for state, name in names if name in self._breakpoints}
        self._model.set_breakpoints(breakpoints_here)
        self._scene.set_breakpoints(_on_nodes(breakpoints_here, drawn))

    def _show_parted(
        self, levels: Levels | None, view: ViewState, automaton: Automaton | None, drawn: Drawing | None
    ) -> None:
        """Mark states; a whole rule is marked if any of its states is."""
        here: dict[int, str] = {}
        if self._parted and levels is not None and automaton is not None:
            rules = {(rule, -1): text for (rule, _), text in self._parted.items() if rule}
            known = {**rules, **self._parted}
            names = ((state, levels.state_name(view, state)) for state in range(len(automaton.dfa.states)))
            here = {state: known[name] for state, name in names if name in known}
        self._model.set_parted(here)
        self._scene.set_parted(_on_nodes(here, drawn))

    def _show_coverage(self, used: CoveredParts | None, why_not: str) -> None:
        self._model.set_covered(None if used is None else used.states)
        if used is None:
            self._scene.set_covered(None)
            self._banner.set_text(why_not)
            return
        self._scene.set_covered(used.states, used.edges)
        highlights = self._scene.highlights
        total = ui_text("common.count.edges", count=len(highlights.covered) + len(highlights.uncovered))
        self._banner.set_text(
            ui_text(
                "automaton.coverage.generated" if self.is_generated else "automaton.coverage.tests",
                covered=len(highlights.covered),
                total=total,
            )
        )


@dataclass(frozen=True, slots=True)
class CoveredParts:
    """Covered states and edges of a drawing."""

    states: frozenset[int]
    edges: frozenset[EdgeKey]


def covered_parts(levels: Levels, view: ViewState, coverage: Coverage, *, is_folded: bool) -> CoveredParts | str:
    """Return the covered parts of a view, or a sentence if they are unknown.

    Args:
        levels: the automaton.
        view: the current view.
        coverage: the coverage.
        is_folded: whether characters are drawn instead of bytes.
    """
    level = levels.level(view)
    if coverage.reason:
        return ui_text("automaton.coverage.reason", reason=coverage.reason)
    if level is Level.TOKENS:
        return ui_text("automaton.coverage.tokens")
    if levels.rules is not None and level is not Level.PART:
        if level is Level.MAP and not levels.is_side_by_side(view):
            return _covered_calls(levels.names, coverage)
        firsts, open_rules = levels.rule_offsets(view)
        folds = {rule: levels.rule_chart(rule, view).fold if is_folded else None for rule in open_rules}
        return _covered_in_rules(levels.names, folds, firsts, coverage)
    if not levels.is_whole:
        has_rules = levels.rules is not None
        return ui_text("automaton.coverage.part_of_rules" if has_rules else "automaton.coverage.part")
    if levels.regions is not None and level is Level.MAP:
        return _covered_regions(levels.regions, coverage)
    return _covered_states(levels.part_as(view).fold if is_folded else None, coverage)


def _covered_calls(names: tuple[str, ...], coverage: Coverage) -> CoveredParts | str:
    """Return the covered rules, and the covered calls between them."""
    why_not = _reason_missing(names, coverage)
    if why_not:
        return why_not
    number = {name: at for at, name in enumerate(names)}
    calls = ((row.key.rule, number[row.key.called]) for row in coverage.edges if row.covered and row.key.called)
    return CoveredParts(frozenset(at for at, row in enumerate(coverage.rules) if row.covered), frozenset(calls))


def _covered_in_rules(
    names: tuple[str, ...], folds: Mapping[int, FoldedAutomaton | None], firsts: Sequence[int], coverage: Coverage
) -> CoveredParts | str:
    """Return the covered states and edges of some rules.

    Args:
        names: of all rules.
        folds: how each of the rules is drawn, by its number.
        firsts: the number of each rule's first state in the drawing.
        coverage: the coverage.

    Returns:
        the covered parts, or a sentence if they are unknown.
    """
    why_not = _reason_missing(names, coverage)
    if why_not:
        return why_not
    of_rule: defaultdict[int, set[EdgeKey]] = defaultdict(set)
    for row in coverage.edges:
        if row.covered:
            of_rule[row.key.rule].add((row.key.source, row.key.target))
    edges: set[EdgeKey] = set()
    entered = {firsts[rule] for rule in folds if coverage.rules[rule].covered}
    for rule, fold in folds.items():
        first = firsts[rule]
        edges.update((first + a, first + b) for a, b in _drawn_edges(of_rule[rule], fold))
    return _parts(edges, entered)


def _covered_states(fold: FoldedAutomaton | None, coverage: Coverage) -> CoveredParts | str:
    """Return the covered states and edges of the complete automaton."""
    edges = _dfa_edges(coverage)
    return edges if isinstance(edges, str) else _parts(_drawn_edges(edges, fold))


def _covered_regions(regions: AutomatonRegions, coverage: Coverage) -> CoveredParts | str:
    """Return the covered regions, and the covered edges between them."""
    edges = _dfa_edges(coverage)
    if isinstance(edges, str):
        return edges
    between = {(regions.of_state[a], regions.of_state[b]) for a, b in edges}
    return CoveredParts(_parts(between).states, frozenset(key for key in between if key[0] != key[1]))


def _dfa_edges(coverage: Coverage) -> frozenset[EdgeKey] | str:
    if coverage.whole is not None:
        return coverage.whole
    if coverage.rules or not coverage.total_edges:
        return ui_text("automaton.coverage.waiting")
    if len(coverage.edges) < coverage.total_edges:
        return ui_text("automaton.coverage.too_many")
    return frozenset((row.key.source, row.key.target) for row in coverage.edges if row.covered)


def _reason_missing(names: tuple[str, ...], coverage: Coverage) -> str:
    if tuple(row.name for row in coverage.rules) != names:
        return ui_text("automaton.coverage.waiting")
    return ui_text("automaton.coverage.too_many") if len(coverage.edges) < coverage.total_edges else ""


def _parts(edges: Iterable[EdgeKey], more: Iterable[int] = ()) -> CoveredParts:
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
    inner = fold.inner - fold.node_of.keys()
    for source in after.keys() - inner:
        pending, seen = list(after[source]), set[int]()
        while pending:
            state = pending.pop()
            if state not in seen:
                seen.add(state)
                if state in inner:
                    pending += after[state]
                else:
                    folded |= fold.path((source, state))
    return frozenset(folded)


def _on_nodes(marks: Mapping[int, Value], drawn: Drawing | None) -> dict[int, Value]:
    """Return the marks of states by the states that are drawn for them; none without a drawing."""
    if drawn is None:
        return {}
    return {drawn.automaton.node(state, is_folded=drawn.is_folded): mark for state, mark in marks.items()}
