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
        self._used: CoveredParts | None = None  # as it is shown

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
        self._used = used
        if used is None:
            self._model.set_covered(None)
            self._scene.set_covered(None)
            self._banner.set_text(why_not)
            return
        self._model.set_covered({state: used.texts_of(state) for state in used.states})
        total_texts = self._texts
        shares = {key: count / total_texts for key, count in used.edges.items()} if total_texts else {}
        self._scene.set_covered(used.states, used.edges, shares)
        highlights = self._scene.highlights
        total = ui_text("common.count.edges", count=len(highlights.covered) + len(highlights.uncovered))
        self._banner.set_text(
            ui_text(
                "automaton.coverage.generated" if self.is_generated else "automaton.coverage.tests",
                covered=len(highlights.covered),
                total=total,
                texts=ui_text("automaton.coverage.fragment.texts", count=total_texts),
            )
        )

    @property
    def _texts(self) -> int:
        """Return the number of texts that use something."""
        return 0 if self.coverage is None else self.coverage[1].followed

    def edge_text(self, key: EdgeKey) -> str:
        """Return how many texts use an edge; empty while no coverage is shown."""
        if self._used is None:
            return ""
        texts = ui_text("automaton.coverage.fragment.texts", count=self._texts)
        return ui_text("automaton.coverage.edge", count=self._used.edges.get(key, 0), texts=texts)


@dataclass(frozen=True, slots=True)
class CoveredParts:
    """Covered states and edges of a drawing.

    Attributes:
        states: the covered states.
        edges: the covered edges, and how many texts use each; at least so many for one that represents several.
    """

    states: frozenset[int]
    edges: Mapping[EdgeKey, int]

    def texts_of(self, state: int) -> int:
        """Return how many texts use a state, at least."""
        return max((count for key, count in self.edges.items() if state in key), default=0)


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
    calls = (
        ((row.key.rule, number[row.key.called]), row.texts) for row in coverage.edges if row.covered and row.key.called
    )
    return CoveredParts(frozenset(at for at, row in enumerate(coverage.rules) if row.covered), _most(calls))


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
    of_rule: defaultdict[int, list[tuple[EdgeKey, int]]] = defaultdict(list)
    for row in coverage.edges:
        if row.covered:
            of_rule[row.key.rule].append(((row.key.source, row.key.target), row.texts))
    edges: dict[EdgeKey, int] = {}
    entered = {firsts[rule] for rule in folds if coverage.rules[rule].covered}
    for rule, fold in folds.items():
        first = firsts[rule]
        drawn = _drawn_edges(_most(of_rule[rule]), fold)
        edges.update(((first + a, first + b), count) for (a, b), count in drawn.items())
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
    between = _most(((regions.of_state[a], regions.of_state[b]), count) for (a, b), count in edges.items())
    return CoveredParts(_parts(between).states, {key: count for key, count in between.items() if key[0] != key[1]})


def _dfa_edges(coverage: Coverage) -> Mapping[EdgeKey, int] | str:
    if coverage.whole is not None:
        return coverage.whole
    if coverage.rules or not coverage.total_edges:
        return ui_text("automaton.coverage.waiting")
    if len(coverage.edges) < coverage.total_edges:
        return ui_text("automaton.coverage.too_many")
    return _most(((row.key.source, row.key.target), row.texts) for row in coverage.edges if row.covered)


def _reason_missing(names: tuple[str, ...], coverage: Coverage) -> str:
    if tuple(row.name for row in coverage.rules) != names:
        return ui_text("automaton.coverage.waiting")
    return ui_text("automaton.coverage.too_many") if len(coverage.edges) < coverage.total_edges else ""


def _most(counts: Iterable[tuple[EdgeKey, int]]) -> dict[EdgeKey, int]:
    """Return the largest count of each edge: as many texts use it, at least."""
    found: dict[EdgeKey, int] = {}
    for key, count in counts:
        found[key] = max(count, found.get(key, 0))
    return found


def _parts(edges: Mapping[EdgeKey, int], more: Iterable[int] = ()) -> CoveredParts:
    return CoveredParts(frozenset(more).union(*edges), edges)


def _drawn_edges(edges: Mapping[EdgeKey, int], fold: FoldedAutomaton | None) -> Mapping[EdgeKey, int]:
    """Return the edges over characters and texts that edges over bytes make up; all edges without a fold.

    The count of a path is that of its edge with the fewest texts, and that of an edge the largest of its paths.
    """
    if fold is None:
        return edges
    after: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for (source, target), count in edges.items():
        after[source].append((target, count))
    folded: list[tuple[EdgeKey, int]] = []
    inner = fold.inner - fold.node_of.keys()
    for source in after.keys() - inner:
        pending, seen = list(after[source]), dict[int, int]()
        while pending:
            state, count = pending.pop()
            if count > seen.get(state, 0):
                seen[state] = count
                if state in inner:
                    pending += ((following, min(count, here)) for following, here in after[state])
                else:
                    folded += ((key, count) for key in fold.path((source, state)))
    return _most(folded)


def _on_nodes(marks: Mapping[int, Value], drawn: Drawing | None) -> dict[int, Value]:
    """Return the marks of states by the states that are drawn for them; none without a drawing."""
    if drawn is None:
        return {}
    return {drawn.automaton.node(state, is_folded=drawn.is_folded): mark for state, mark in marks.items()}
