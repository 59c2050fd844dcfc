"""The automaton pane: a drawing of the automaton, and the same as a table.

It receives an automaton with its folded forms, selects the part to draw, requests a layout (which another process
computes) and keeps the last drawing until the answer arrives. Outdated answers are dropped. `navigation` handles the
user's navigation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from app.graph.layout.types import LayoutAnswer, steadied
from app.graph.match.folding import Chart, FoldedAutomaton
from app.graph.match.regions import AutomatonRegions
from app.graph.match.rules import RuleCharts
from app.panes.automaton.drawing import DRAWN_AT_MOST, DRAWN_WHOLE, Drawing
from app.panes.automaton.level_bar import crumb
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.marks import Marks
from app.panes.automaton.navigation import Navigation
from app.panes.automaton.token_watch import TokenWatch
from app.panes.automaton.view_state import History, ViewState
from app.workers.compile_messages import OpenFrame, StackAnswer
from app.workers.decode_messages import TokensAnswer
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.automata.rtn.rule_positions import RulePositions
from engine.decoding.debugging.breakpoints import Breakpoint
from engine.diagnosis.test_strings.values import Coverage
from engine.source import SourceText

_STALE = "The grammar does not compile. This is the last automaton that did."
_MAP_FROM = 40  # states; a drawing of more has a minimap beside it


class AutomatonPane(Navigation):
    """Shows one automaton.

    Signals:
        layout_wanted: a `LayoutRequest`; its answer goes to `show_layout`.
        tokens_wanted: a `TokensRequest`; its answer goes to `show_tokens`.
        state_hovered: the source spans of the hovered element; empty for none.
        span_wanted: a source span to go to.
        looked(ViewState): the user changed the view; the part of it that survives an edit.
    """

    layout_wanted = Signal(object)
    tokens_wanted = Signal(object)
    state_hovered = Signal(tuple)
    span_wanted = Signal(object)
    looked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.marks = Marks(self._scene, self.model, self.coverage_banner)
        self.watch = TokenWatch(self.tokens_wanted.emit)
        self._is_another = False  # whether the next automaton belongs to another grammar
        self._is_fresh = False  # whether the next drawing belongs to another grammar
        self.footer.coverage_button.toggled.connect(self._set_shows_used)
        self.stacks.picked.connect(self._highlight_frames)
        self.stacks.span_wanted.connect(self.span_wanted)
        self._show_page()

    # --- contents ----------------------------------------------------------------------------------------------------

    def show_dfa(
        self,
        dfa: ByteDfa,
        revision: int,
        label_of_edge: Callable[[DfaEdge], str] | None = None,
        source: SourceText | None = None,
        fold: FoldedAutomaton | None = None,
        rules: RuleCharts | None = None,
        regions: AutomatonRegions | None = None,
    ) -> None:
        """Show an automaton; the current drawing stays until the layout of the new one arrives.

        Args:
            dfa: the automaton, or a neighbourhood of one that is too large.
            revision: of the text that it was compiled from; used in the layout request.
            label_of_edge: returns the label of an edge; by default its bytes.
            source: the text, for excerpts; without it, states show offsets.
            fold: the automaton over characters; without it, bytes are drawn.
            rules: the automata of the rules, drawn instead unless the user follows the live state.
            regions: the automaton folded by the parts of its pattern, drawn first.
        """
        part, before = Chart(dfa, fold), self._levels
        self._source = source
        if before is not None and rules is not None and before.rules is rules and before.revision == revision:
            self._levels = before.with_part(part)
        else:
            self._levels = Levels(part, rules, revision, label_of_edge, source, regions)
            self._places = None
            self.watch.forget()
            self._reset_view(len(dfa.states))
        self._states = frozenset()
        if self._update_automaton():
            self._draw()
        self._show_page()

    def show_layout(self, answer: LayoutAnswer) -> None:
        """Draw a layout, if it is the pending one."""
        wanted = self._wanted
        if wanted is None or not wanted.is_answered_by(answer):
            return
        before = None if self._is_fresh else self._drawn
        self._is_fresh = False
        is_edit = before is not None and before.automaton.revision != wanted.automaton.revision
        if before is not None and is_edit:
            centres = {node: box.center() for node, box in self._scene.placed.boxes.items() if node >= 0}
            known_positions = wanted.known_from(
                before, {node: (point.x(), point.y()) for node, point in centres.items()}
            )
            answer = steadied(answer, known_positions, downwards=wanted.request.downwards)
        anchor = self._anchor()
        place = None if anchor is None or self.view.is_at_home else self.view.place_of(anchor)
        self._wanted, self._drawn, self._answer = None, wanted, answer
        if before is None or before.automaton.dfa is not wanted.automaton.dfa:
            self._selected = None
        seen = self.view.seen if is_edit and self.view.is_at_home else None
        self._scene.show_picture(wanted.picture, wanted.request, answer, seen)
        is_still_visible = seen is not None and seen.contains(self._scene.drawn_rect()) and self.view.is_readable
        self._scene.set_selected(self._selected)
        self.offer_map(offered=len(wanted.picture.excerpt.states) > _MAP_FROM)
        self._highlight()
        self._update_marks()
        self._show_page()
        if is_still_visible:
            self.view.reveal()
        elif before is None or self.view.is_at_home:
            self._scene.setSceneRect(self._scene.home_rect())
            self.view.go_home(self._anchor())
        elif anchor is not None and place is not None:
            self.view.keep_place(anchor, place)
        self._go_to_searched_state()

    def set_live(self, states: Collection[int], places: RulePositions | None = None, output: bytes = b"") -> None:
        """Highlight the live states; a neighbourhood follows them.

        Args:
            states: of the automaton passed to `show_dfa`.
            places: the rule positions; None while they are unknown, which keeps the last ones.
            output: the text that leads there.
        """
        if self._automaton is None or self._levels is None:
            return
        self._states = frozenset(states)
        self._places = places or self._places
        if output != self._output:
            self._output, self._token_ahead = output, None
        self._update_note()
        self._update_live()
        self.watch.look(self._levels, self._view, output, is_live=bool(self._states))
        if self._is_current():
            self._highlight()
            if self._drawn is not None and self._drawn.shows(self._live, self._view):
                self._follow()
                return
        self._draw()

    def show_standing(self, answer: StackAnswer) -> None:
        """Show the stacks of the match, and its rule positions, as far as they are known."""
        self.stacks.show_standing(answer, self._source)
        self.count_stacks()
        if answer.rule_positions is not None and answer.output == self._output:
            self.set_live(self._states, answer.rule_positions, self._output)

    def show_tokens(self, answer: TokensAnswer) -> None:
        """Use the allowed tokens: as badges, or as the drawing of one state."""
        if self._levels is None:
            return
        if self.watch.takes(answer, self._levels, self._view, self._states):
            self.tokens_model.show_places(self._levels.tokens.places if self._levels.tokens is not None else ())
            if self._update_automaton():
                self.view.is_at_home = True
                self._update_live()
                self._draw()
        elif self._is_current():
            self._show_badges()

    def set_moment(self, moment: object) -> None:
        """Set what the tokens depend on besides the output: the model, the prompt."""
        if self.watch.is_news(moment) and self._levels is not None:
            self.watch.look(self._levels, self._view, self._output, is_live=bool(self._states))

    def show_ahead(self, token: bytes | None) -> None:
        """Outline the path of a token; None for none."""
        self._token_ahead = token
        if self._levels is not None and self._is_current():
            edges, arrival = self._levels.ahead(self._view, self._states, self._places, token or b"")
            self._scene.set_ahead(edges, arrival)

    def set_running(self, running: bool) -> None:
        """Suspend token requests during a run, whose steps have priority."""
        self.watch.is_running = running
        if self._levels is not None:
            self.watch.look(self._levels, self._view, self._output, is_live=bool(self._states))

    def show_coverage(self, coverage: Coverage | None, revision: int, *, generated: bool = False) -> None:
        """Show the coverage of a grammar in its automaton, if the user wants that.

        Args:
            coverage: by the test strings, or by the generated outputs; None if unknown.
            revision: of the grammar.
            generated: whether it is by the generated outputs.
        """
        self.coverage_choice.choose(generated=generated)
        self.marks.coverage, self.marks.is_generated = None if coverage is None else (revision, coverage), generated
        self._update_marks()

    def show_breakpoints(self, breakpoints: Iterable[Breakpoint]) -> None:
        """Mark states and rules with a breakpoint, wherever they are shown."""
        self.marks.take_breakpoints(breakpoints)
        self._update_marks()

    def _set_shows_used(self, is_shown: bool) -> None:
        self.marks.shows_used = is_shown
        self._update_marks()

    def _update_marks(self) -> None:
        self.marks.show(self._levels, self._view, self._automaton, self._drawn)

    def set_stale(self, stale: bool, reason: str = "") -> None:
        """Grey the drawing out, with the reason, while the current text has no automaton."""
        has_drawing = self._automaton is not None
        self._stale_banner.set_text((reason or _STALE) if stale and has_drawing else "")
        self._scene.set_stale(stale)

    def show_too_large(self, text: str) -> None:
        """Show why only a part of the automaton is drawn; an empty text removes the note."""
        if self._automaton is None:
            self.say_empty(text)
        else:
            self._too_large = text
            self._update_level_bar()

    def begin(self, view: ViewState) -> None:
        """Show no automaton, and set the view for the next one."""
        self.clear()
        self._history.restart(view.lasting)
        self._update_buttons()

    def expect_another(self) -> None:
        """Treat the next automaton as that of another grammar, not of an edit: it is drawn from scratch."""
        self._is_another = True

    def clear(self) -> None:
        """Show no automaton, and reset everything."""
        self._levels = self._automaton = self._drawn = self._wanted = self._answer = None
        self._states = self._live = frozenset()
        self._waiting, self._places, self._selected, self._searched_state = frozenset(), None, None, None
        self._output, self._token_ahead, self.marks.coverage = b"", None, None
        self._update_marks()
        self._history, self._is_another = History(), False
        self._too_large = ""
        self.watch.forget()
        self.stacks.show_standing(None)
        self.count_stacks()
        self.model.show_dfa(None, lambda _: "", None)
        self._stale_banner.set_text("")
        self._update_level_bar()
        self.say_empty("")
        self.find_bar.close_bar()
        self._show_page()

    def highlight_offset(self, offset: int) -> None:
        """Highlight the states and edges of a source offset; -1 for none."""
        if self._drawn is not None:
            self._scene.set_highlighted(*self._drawn.at_offset(offset))

    # --- levels ------------------------------------------------------------------------------------------------------

    def _reset_view(self, states: int) -> None:
        """Reset the view for another automaton: state numbers and the history are invalid for it."""
        kept = self._view.lasting
        if self._is_another:
            kept, self._is_another, self._is_fresh = kept.habits, False, True
            self.looked.emit(kept)
        if states > DRAWN_AT_MOST:
            kept = replace(kept, draws_all=False)
        self._history.restart(kept)

    def _update_automaton(self) -> bool:
        """Set the automaton of the current view; return whether it changed."""
        assert self._levels is not None
        automaton = self._levels.automaton(self._view)
        self._update_level_bar()
        if automaton is self._automaton:
            return False
        self._automaton = automaton
        self._live, self._waiting = frozenset(), frozenset()
        self.model.show_dfa(automaton.dfa, automaton.label, automaton.source, automaton.name)
        self._update_marks()
        return True

    def _update_live(self) -> None:
        """Compute the live states of the current view."""
        if self._levels is None or self._automaton is None:
            return
        live, self._waiting = self._levels.live(self._view, self._states, self._places)
        self._live = frozenset(state for state in live if 0 <= state < len(self._automaton.dfa.states))
        self.model.set_live(self._live)

    def _update_level_bar(self) -> None:
        """Update the level bar; the reason for a partial automaton is hidden if the map is shown."""
        history = self._history
        self.levels.show_levels(self._levels, self._view, back=history.can_go_back, forward=history.can_go_forward)
        has_map = self._levels is not None and self._levels.level(self._view) is not Level.PART
        self._size_banner.set_text("" if has_map else self._too_large)
        self._update_note()

    def _update_note(self) -> None:
        """Show the current part, or what the drawing omits: there are no live states if it omits the text."""
        levels, view = self._levels, self._view
        if levels is not None and (parts := crumb(levels, view)):
            self.levels.show_crumb(*parts)
            return
        rules = levels.rules if levels is not None and levels.shows_rules(view) else None
        is_lost = bool(self._states) and self._places is not None and not self._places.reading
        self.levels.show_note(rules.notes if rules is not None else (), is_lost=is_lost)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Request the layout of the current drawing, unless the last answer still applies."""
        assert self._automaton is not None
        assert self._levels is not None
        before, wanted = self._wanted, self._levels.draw(self._live, self._view)
        self._wanted = wanted
        self._show_counts(wanted)
        if self._drawn is not None and self._answer is not None and wanted.has_shape_of(self._drawn):
            self.show_layout(replace(self._answer, revision=wanted.request.revision))
        elif before is None or before.request != wanted.request:
            self.layout_wanted.emit(wanted.request)

    def _show_counts(self, wanted: Drawing) -> None:
        assert self._levels is not None
        levels, level = self._levels, self._levels.level(self._view)
        total = levels.rules.size if levels.rules is not None else levels.part.size(is_folded=wanted.is_folded)[0]
        is_part = not wanted.is_whole or (bool(levels.names) and wanted.automaton.noun != "state")
        self.header.show_counts(
            wanted.counts(),
            is_whole=not is_part or level is Level.TOKENS or (levels.rules is not None and level is not Level.MAP),
            draws_all=self._view.draws_all and total > DRAWN_WHOLE,
            total=total,
            limit=DRAWN_AT_MOST,
            has_bytes=wanted.automaton.fold is not None,
        )
        self.header.offer_merging(
            offered=(self._shows_part or levels.regions is not None) and level is not Level.TOKENS,
            nothing=self._view.merges and self._shows_part and not levels.can_merge,
        )

    def _redraw(self, view: ViewState) -> None:
        """Show another view of the same grammar."""
        self._history.go_to(view)
        self._show_view()

    def _update_buttons(self) -> None:
        """Update the toggle buttons for the view, which going back may change."""
        with QSignalBlocker(self.header.bytes_button):
            self.header.bytes_button.setChecked(self._view.draws_bytes)
        with QSignalBlocker(self.header.merge_button):
            self.header.merge_button.setChecked(self._view.merges)

    def _show_view(self) -> None:
        self.view.is_at_home, self._searched_state = True, None
        self._update_buttons()
        self.looked.emit(self._view.lasting)
        levels = self._levels
        if levels is None:
            return
        if self._view.tokens is None:
            levels.show_tokens(None)
        self.watch.look(levels, self._view, self._output, is_live=bool(self._states))
        self._update_automaton()
        self._update_live()
        self._draw()
        self._show_page()

    def _highlight(self) -> None:
        if self._automaton is not None and self._levels is not None and self._is_current():
            leaving = self._automaton.noun in ("state", "place")
            states, texts = self._automaton.seen(self._live, self._view)
            self._scene.set_live(states, self._waiting, texts, leaving=leaving)
            self._scene.set_path(self._levels.path(self._view, self._output))
            self.show_ahead(self._token_ahead)
            self._show_badges()
        self._show_details(self._selected)

    def _show_badges(self) -> None:
        if self._drawn is not None and self._levels is not None:
            badges = self.watch.badges(self._levels, self._view, self._drawn, self._live)
            self._scene.set_badges(badges)
            self.model.set_tokens(badges)
            self.view.reveal()

    def _highlight_frames(self, frames: tuple[OpenFrame, ...]) -> None:
        """Highlight the rules of the selected stack, and their source spans."""
        if self._levels is None or self._drawn is None:
            return
        spans = frozenset(span for frame in frames for span in frame.spans)
        states = self._drawn.automaton.dfa.states
        members = self._levels.states_of(self._view, tuple(frame.name for frame in frames))
        if self._drawn.automaton.noun == "state":
            read = {state for state in self._drawn.picture.excerpt.states if spans & set(states[state].spans)}
            members = frozenset(read & members) or members if members else frozenset(read)
        edges = [
            (edge.source, edge.target)
            for edge in self._drawn.picture.excerpt.edges
            if edge.source in members and spans & set(edge.spans)
        ]
        self._scene.set_highlighted(members, edges)
        self.state_hovered.emit(tuple(sorted(spans)))
