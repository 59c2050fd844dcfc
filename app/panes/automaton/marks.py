"""Persistent marks in the drawing and its table: coverage and breakpoints."""

from __future__ import annotations

from collections.abc import Iterable

from app.display_text import count
from app.graph.draw.scene import AutomatonScene
from app.models.states import StatesModel
from app.panes.automaton.coverage import CoveredParts
from app.panes.automaton.drawing import Automaton, Drawing
from app.panes.automaton.levels import Levels
from app.panes.automaton.view_state import ViewState
from app.widgets.banner import Banner
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, StateName
from engine.diagnosis.test_strings.values import Coverage

_NO_COVERAGE = "Coverage comes with the next verdicts on the test strings."
_NONE_GENERATED = "Coverage of the generated outputs is on its way."
_COVERED = "Green band: a {} uses it ({} drawn here). Dotted: none does."


class Marks:
    """Marks a scene and a table, and explains the marks in a banner.

    Attributes:
        coverage: the coverage, and the revision of its grammar; None if unknown.
        is_generated: whether it is by the generated outputs.
        shows_used: whether the coverage is shown.
    """

    def __init__(self, scene: AutomatonScene, model: StatesModel, banner: Banner) -> None:
        self._scene, self._model, self._banner = scene, model, banner
        self._breakpoints: dict[StateName | None, bool] = {}  # whether each is enabled
        self.coverage: tuple[int, Coverage] | None = None
        self.is_generated = False
        self.shows_used = False

    def take_breakpoints(self, breakpoints: Iterable[Breakpoint]) -> None:
        """Store the breakpoints on states or rules; `show` marks them."""
        on_states = (one for one in breakpoints if one.kind is not BreakpointKind.POSITION)
        self._breakpoints = {(one.name, one.state): one.enabled for one in on_states}

    def show(self, levels: Levels | None, view: ViewState, automaton: Automaton | None, drawn: Drawing | None) -> None:
        """Mark the current view; a pending drawing is marked when it is there.

        Args:
            levels: the automaton; None for none.
            view: the current view.
            automaton: the automaton that the view shows.
            drawn: the current drawing.
        """
        is_current = drawn is not None and drawn.automaton is automaton
        self._show_breakpoints(levels, view, automaton, is_current=is_current)
        if not self.shows_used or drawn is None or levels is None:
            self._show_coverage(None, "")
        elif is_current:
            found: CoveredParts | str = _NONE_GENERATED if self.is_generated else _NO_COVERAGE
            if self.coverage is not None and self.coverage[0] == levels.revision:
                found = levels.used(view, self.coverage[1], is_folded=drawn.is_folded)
            self._show_coverage(*((None, found) if isinstance(found, str) else (found, "")))

    def _show_breakpoints(
        self, levels: Levels | None, view: ViewState, automaton: Automaton | None, *, is_current: bool
    ) -> None:
        breakpoints_here = {}
        if self._breakpoints and levels is not None and automaton is not None:
            names = ((state, levels.state_name(view, state)) for state in range(len(automaton.dfa.states)))
            breakpoints_here = {state: self._breakpoints[name] for state, name in names if name in self._breakpoints}
        self._model.set_stops(breakpoints_here)
        self._scene.set_stops(breakpoints_here if is_current else {})

    def _show_coverage(self, used: CoveredParts | None, why_not: str) -> None:
        self._model.set_used(None if used is None else used.states)
        if used is None:
            self._scene.set_covered(None)
            self._banner.set_text(why_not)
            return
        self._scene.set_covered(used.states, used.edges)
        highlights = self._scene.lit
        share = f"{len(highlights.used):,} of {count(len(highlights.used) + len(highlights.unused), 'edge')}"
        self._banner.set_text(_COVERED.format("generated output" if self.is_generated else "test", share))
