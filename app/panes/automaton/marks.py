"""Persistent marks in the drawing and its table: the heat map, breakpoints, and where the masks of engines differ.

Rejected: running the texts here. The process that judges them has the result already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from app.catalogue import ui_text
from app.graph.draw.scene import AutomatonScene
from app.graph.layout.types import EdgeKey
from app.models.heat import lost_level, lost_text, measures_lost
from app.models.states import StatesModel
from app.panes.automaton.drawing import Automaton, Drawing
from app.panes.automaton.heat import DrawnHeat, Use, drawn_heat, use_text
from app.panes.automaton.levels import Levels
from app.panes.automaton.view_state import ViewState
from app.widgets.banner import Banner
from app.workers.requests.judge import LogState
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, StateName
from engine.diagnosis.test_strings.values import Coverage, CoverageMeasure, CoverageSource, LostMass
from engine.source.number_format import percent

Value = TypeVar("Value")


class Marks:
    """Marks a scene and a table, and explains the marks in a banner.

    Attributes:
        coverage: the coverage, and the revision of its grammar; None if unknown.
        source: its texts.
        measure: what is measured.
        shows_coverage: whether the coverage is shown.
        log: how much of the log has been followed.
    """

    def __init__(self, scene: AutomatonScene, model: StatesModel, banner: Banner) -> None:
        self._scene, self._model, self._banner = scene, model, banner
        self._breakpoints: dict[StateName | None, bool] = {}  # whether each is enabled
        self._parted: Mapping[StateName, str] = {}
        self.coverage: tuple[int, Coverage] | None = None
        self.source, self.measure = CoverageSource.TESTS, CoverageMeasure.VISITS
        self.shows_coverage = False
        self.log = LogState()
        self._heat: DrawnHeat | None = None  # as it is shown

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
            self._show_heat(None, "")
        elif is_current:
            found: DrawnHeat | str = ui_text(f"automaton.coverage.waiting_{self.source}")
            if self.coverage is not None and self.coverage[0] == levels.revision:
                found = drawn_heat(levels, view, self.coverage[1], is_folded=drawn.is_folded)
            self._show_heat(*((None, found) if isinstance(found, str) else (found, "")))

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

    @property
    def shows_lost(self) -> bool:
        """Return whether what was lost is shown; test strings have no probabilities."""
        return measures_lost(self.source, self.measure)

    def _show_heat(self, heat: DrawnHeat | None, why_not: str) -> None:
        self._heat = heat
        if heat is None:
            self._model.set_heat({})
            self._scene.set_covered(None)
            self._scene.set_lost({}, {})
            is_followed = bool(why_not) and self.coverage is None and self.source is CoverageSource.LOG
            button = ui_text("common.button.cancel") if is_followed else ""
            self._banner.show_message(why_not, _log_progress(self.log) if is_followed else "", button=button)
        elif self.shows_lost:
            self._show_lost(heat)
        else:
            self._show_visits(heat)

    def _show_visits(self, heat: DrawnHeat) -> None:
        total_texts, model = self.total_texts, self._model
        states = heat.states
        texts = dict.fromkeys(range(model.rowCount()), ui_text("automaton.states.mark.not_covered"))
        model.set_heat(texts | {state: f"✓ {use_text(use, total_texts)}" for state, use in states.items()})
        shares = {key: (use.least or use.most) / total_texts for key, use in heat.edges.items()} if total_texts else {}
        self._scene.set_lost({}, {})
        self._scene.set_covered(states.keys(), heat.edges.keys(), shares)
        highlights = self._scene.highlights
        total = ui_text("common.count.edges", count=len(highlights.covered) + len(highlights.uncovered))
        text = ui_text(
            f"automaton.coverage.{self.source}",
            covered=len(highlights.covered),
            total=total,
            texts=ui_text("automaton.coverage.fragment.texts", count=total_texts),
        )
        self._banner.show_message(text, self._log_summary())

    def _show_lost(self, heat: DrawnHeat) -> None:
        assert self.coverage is not None
        by = self.measure, self.total_texts
        self._model.set_heat({state: lost_text(lost, *by) for state, lost in heat.lost_states.items()})
        self._scene.set_covered(None)
        self._scene.set_lost(
            {state: lost_level(lost, *by) for state, lost in heat.lost_states.items()},
            {key: lost_level(lost, *by) for key, lost in heat.lost_edges.items()},
        )
        found = self.coverage[1]
        parts = [lost_text(found.total, *by)]
        if found.unknown:
            parts.append(ui_text("automaton.coverage.fragment.unweighed", count=found.unknown))
        text = ui_text(f"automaton.coverage.{self.measure}_{self.source}", sum="; ".join(parts))
        self._banner.show_message(text, self._log_summary())

    def _log_summary(self) -> str:
        """Return what of the log is not as it should be; empty for other sources, and if all is."""
        if self.source is not CoverageSource.LOG:
            return ""
        log = self.log
        counts = {"illegal": log.illegal, "empty": log.empty, "unread": log.unread, "cut": int(log.is_cut)}
        parts = [ui_text(f"automaton.coverage.log_{name}", count=count) for name, count in counts.items() if count]
        return "  ·  ".join(parts)

    @property
    def total_texts(self) -> int:
        """Return the number of texts that use something."""
        return 0 if self.coverage is None else self.coverage[1].followed

    @property
    def is_shown(self) -> bool:
        """Return whether the drawing has heat."""
        return self._heat is not None

    def edge_text(self, key: EdgeKey) -> str:
        """Return how many texts use an edge, or what was lost there; empty while neither is shown."""
        if self._heat is None:
            return ""
        if self.shows_lost:
            lost = self._heat.lost_edges.get(key, LostMass())
            return lost_text(lost, self.measure, self.total_texts)
        return use_text(self._heat.edges.get(key, Use(0, 0)), self.total_texts)


def _log_progress(log: LogState) -> str:
    """Return how far a log has been followed."""
    share = percent(min(log.done / log.total, 1.0)) if log.total else "0%"
    return ui_text("automaton.coverage.log_progress", count=log.rows, share=share)


def _on_nodes(marks: Mapping[int, Value], drawn: Drawing | None) -> dict[int, Value]:
    """Return the marks of states by the states that are drawn for them; none without a drawing."""
    if drawn is None:
        return {}
    return {drawn.automaton.node(state, is_folded=drawn.is_folded): mark for state, mark in marks.items()}
