"""Navigation in the automaton pane: hovering, selecting, opening, keyboard, finding, back and forward."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Signal, SignalInstance
from PySide6.QtWidgets import QApplication, QWidget

from app.graph.draw.image_files import dot_of
from app.graph.draw.view import state_towards
from app.graph.layout.types import EdgeKey, LayoutAnswer
from app.panes.automaton.drawing import Automaton, Drawing
from app.panes.automaton.face import AutomatonView
from app.panes.automaton.finder import Hit, find
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.view_state import HERE, History, ViewState
from app.widgets.announce import announce
from engine.automata.rtn.rule_positions import RulePositions
from engine.source import SourceText

_NO_TEXT = "The language is empty: no text matches this grammar."
_NO_DETAILS = "Point at a state to see its part of the grammar."


class Navigation(AutomatonView):
    """Handles the user's navigation; the pane draws the result."""

    state_hovered: Signal | SignalInstance

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._levels: Levels | None = None
        self._automaton: Automaton | None = None
        self._wanted: Drawing | None = None
        self._drawn: Drawing | None = None
        self._answer: LayoutAnswer | None = None
        self._source: SourceText | None = None
        self._states: frozenset[int] = frozenset()
        self._places: RulePositions | None = None
        self._output = b""
        self._token_ahead: bytes | None = None
        self._live: frozenset[int] = frozenset()
        self._waiting: frozenset[EdgeKey] = frozenset()
        self._too_large = ""
        self._selected: int | None = None
        self._searched_state: int | None = None  # the state to go to, which is not drawn yet
        self._history = History()
        self.view.tip_of_edge = self._tip_of_edge
        self.view.pointed_at.connect(self._on_hovered)
        self.view.state_clicked.connect(self._select)
        self.view.stub_clicked.connect(self.open_stub)
        self.view.opened.connect(self._open)
        self.view.left.connect(self.go_up)
        self.view.walked.connect(self._select_neighbour)
        self.view.asked.connect(self._on_key)
        self.table.activated.connect(lambda index: self._open(index.row(), None, None))
        self.table.selectionModel().currentRowChanged.connect(self._select_row)
        self.levels.rule_wanted.connect(self._show_rule)
        self.levels.level_wanted.connect(self.go_to_level)
        self.levels.back_wanted.connect(self.go_back)
        self.levels.forward_wanted.connect(self.go_forward)
        self.find_bar.text_changed.connect(self._search)
        self.hits.hit_wanted.connect(self._go_to_hit)
        self.header.table_toggled.connect(self._show_page)
        self.header.all_toggled.connect(self._set_draws_all)
        self.header.bytes_toggled.connect(lambda on: self._redraw(replace(self._view, draws_bytes=on, merges=False)))
        self.header.merge_toggled.connect(self._set_merges)

    @property
    def _view(self) -> ViewState:
        """Return the current view."""
        return self._history.current

    @property
    def selected_state(self) -> tuple[str, int] | None:
        """Return the selected state as breakpoints identify it (see `Levels.state_name`); None if there is none."""
        if self._levels is None or self._selected is None:
            return None
        return self._levels.state_name(self._view, self._selected)

    def _redraw(self, view: ViewState) -> None:
        raise NotImplementedError

    def _show_view(self) -> None:
        raise NotImplementedError

    # --- levels ------------------------------------------------------------------------------------------------------

    def go_to_level(self, level: Level) -> None:
        """Go to a level of detail."""
        if self._levels is None:
            return
        view = replace(self._view, tokens=None, centre=None, opened=())
        if level is Level.MAP:
            view = replace(view, follows=False, rule=None)
        elif level is Level.PART:
            view = replace(view, follows=bool(self._levels.names))
        elif level is Level.TOKENS:
            self.show_tokens_of(self._selected)
            return
        self._redraw(view)

    def show_tokens_of(self, state: int | None) -> None:
        """Show the targets of a state's tokens; of the live one by default, or if the state has no number."""
        if self._levels is None:
            return
        is_numbered = self._levels.rules is None and self._levels.is_whole and self._shows_part
        known = state if is_numbered and state is not None and state not in self._states else HERE
        self._redraw(replace(self._view, tokens=known))
        self.levels.show_levels(
            self._levels, self._view, back=self._history.can_go_back, forward=self._history.can_go_forward
        )

    def go_up(self) -> None:
        """Go one level up: from tokens to states, from a part or a rule to the map."""
        view = self._view
        if view.tokens is not None:
            self._redraw(replace(view, tokens=None))
        elif view.centre is not None or view.opened:
            self._redraw(replace(view, centre=None, opened=()))
        elif view.follows:
            self._redraw(replace(view, follows=False))
        else:
            self._show_rule(None)

    def go_back(self) -> None:
        """Show the previous view."""
        if self._history.can_go_back:
            self._history.back()
            self._show_view()

    def go_forward(self) -> None:
        """Show the view that the user went back from."""
        if self._history.can_go_forward:
            self._history.forward()
            self._show_view()

    def open_stub(self, state: int) -> None:
        """Draw the targets of a state, too."""
        if self._drawn is None or state in self._drawn.automaton.dfa.boundary:
            return
        is_at_home = self.view.is_at_home
        self._redraw(replace(self._view, opened=(*self._view.opened, state)))
        self.view.is_at_home = is_at_home

    def collapse(self) -> None:
        """Close the opened stubs; if there are none, go up."""
        if self._view.opened:
            self._redraw(replace(self._view, opened=()))
        else:
            self.go_up()

    def choose_layout(self, method: str, *, downwards: bool | None = None) -> None:
        """Choose a layout method and a direction; an empty method is the best one."""
        turned = self._view.downwards if downwards is None else downwards
        self._history.amend(replace(self._view, method=method, downwards=turned))
        self._show_view()

    def turn(self) -> None:
        """Toggle between left to right and top to bottom."""
        self.choose_layout(self._view.method, downwards=not self._view.downwards)

    def copy_dot(self) -> None:
        """Copy the drawn graph in Graphviz' language."""
        QApplication.clipboard().setText(dot_of(self._scene))

    def _set_draws_all(self, on: bool) -> None:
        self._redraw(replace(self._view, draws_all=on, rule=None, follows=False, centre=None, opened=(), tokens=None))

    def _set_merges(self, on: bool) -> None:
        """Merge forced runs, or draw them again; of regions all are shown, since a run passes from one to the next."""
        view = replace(self._view, merges=on, draws_bytes=False)
        if on and self._levels is not None and self._levels.regions is not None:
            view = replace(view, rule=None, follows=True, draws_all=False)
        self._redraw(view)

    def _show_rule(self, rule: str | None) -> None:
        """Open a rule or a region, or show all of them."""
        if self._levels is None or not self._levels.names:
            return
        view = replace(self._view, rule=rule, follows=False, tokens=None, centre=None, opened=())
        if rule is not None and self._levels.regions is not None:
            view = replace(view, draws_all=False)
        if view != self._view:
            self._selected = None
            self._redraw(view)
            self.view.setFocus()

    def _open(self, state: int | None, edge: EdgeKey | None, group: int | None) -> None:
        """Open the target of an element: a rule, a region, the tokens of a state; by default of the selected state."""
        if self._levels is None:
            return
        if state is None and edge is None and group is None:
            state = self._selected
        rule = self._levels.opens(self._view, state, edge, group)
        if rule is not None:
            self._show_rule(rule)
        elif state is not None and self._shows_part:
            self.show_tokens_of(state)

    @property
    def _shows_part(self) -> bool:
        """Return whether states of the automaton over bytes are shown."""
        return self._levels is not None and self._automaton is self._levels.part_as(self._view)

    # --- finding and keyboard ----------------------------------------------------------------------------------------

    def open_find(self) -> None:
        """Open the find bar."""
        if self._levels is not None:
            self.find_bar.open_bar()

    def _search(self, text: str) -> None:
        hits = find(self._levels, self._view, text) if self._levels is not None else ()
        self.hits.show_hits(hits)
        numbers = {number for hit in hits if (number := self._number_of(hit)) is not None}
        drawn = {number for number in numbers if self._scene.box(number) is not None}
        self._scene.set_highlighted(drawn)
        if hits and (first := self._number_of(hits[0])) in drawn:
            self.view.follow(first)

    def _number_of(self, hit: Hit) -> int | None:
        """Return the number of a hit in the current view; None if it is not shown."""
        if self._levels is None or hit.state is None:
            return None
        if hit.rule:
            number = self._levels.number_of(self._view, hit.rule, hit.state)
        else:
            number = None if hit.in_part and not self._shows_part else hit.state
        return None if number is None else self._drawn_for(number)

    def _drawn_for(self, state: int) -> int:
        """Return the drawn state for a state: the start of the text that it is inside of, if that is one edge."""
        drawn, fold = self._drawn, None if self._automaton is None else self._automaton.fold
        if fold is None or drawn is None or not drawn.is_folded or state not in fold.within:
            return state
        return fold.within[state][0]

    def _go_to_hit(self, hit: Hit) -> None:
        if hit.state is None:
            self._show_rule(hit.rule)
            return
        if self._number_of(hit) is None:
            if hit.rule:
                self._show_rule(hit.rule)
                self.find_bar.field.setFocus()  # Return goes to the next hit
            else:
                self._redraw(replace(self._view, centre=hit.state, tokens=None, opened=()))
        state = self._number_of(hit)
        if state is not None and self._scene.box(state) is None and self._wanted is None:
            self._redraw(replace(self._view, centre=state, opened=()))
        self._searched_state = state
        self._go_to_searched_state()

    def _go_to_searched_state(self) -> None:
        """Select the searched state and scroll to it, as soon as it is drawn."""
        if (
            self._searched_state is not None
            and self._wanted is None
            and self._scene.box(self._searched_state) is not None
        ):
            state, self._searched_state = self._searched_state, None
            self._select(state)
            self.view.follow(state)

    def _select_neighbour(self, x: int, y: int) -> None:
        """Select the next state in a direction; the first key selects the live state."""
        if self._drawn is None or self._automaton is None:
            return
        state = self._selected
        if state is None or self._scene.box(state) is None:
            found = min(self._live, default=self._automaton.dfa.start)
            state = found if found is not None and self._scene.box(found) is not None else None
        else:
            surroundings = self._automaton.surroundings(is_folded=self._drawn.is_folded)
            state = state_towards(self._scene.placed.boxes, surroundings.neighbours(state), state, (x, y))
        if state is not None:
            self._select(state)
            self.view.follow(state)

    def _on_key(self, target: str) -> None:
        if target == "back":
            self.go_back()
        elif target == "forward":
            self.go_forward()
        elif target == "find":
            self.open_find()
        else:
            self.go_to_level(Level.TOKENS)

    # --- hovering and selecting --------------------------------------------------------------------------------------

    def _on_hovered(self, target: int | EdgeKey | None) -> None:
        if self._drawn is None:
            return
        state = target if isinstance(target, int) else None
        self._scene.set_hovered(state)
        self._scene.set_highlighted((), (target,) if isinstance(target, tuple) else ())
        self._show_details(self._selected if state is None else state)
        self.state_hovered.emit(self._drawn.spans(target))

    def _tip_of_edge(self, key: EdgeKey) -> str:
        """Return an edge's full label, which may be shortened in the drawing."""
        return "" if self._drawn is None else self._drawn.label(key)

    def _select(self, state: int) -> None:
        self._selected = state if state >= 0 else None
        self._scene.set_selected(self._selected)
        self._show_details(self._selected)
        if self._selected is not None and self.view.hasFocus():
            announce(self.view, self.details.text())  # a drawing has no items that a screen reader could come to
        selection = self.table.selectionModel()
        if self._selected is None:
            selection.clear()
        elif self.table.currentIndex().row() != self._selected:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            selection.setCurrentIndex(self.model.index(self._selected, 0), flags)

    def _select_row(self, row: QModelIndex) -> None:
        if not row.isValid() or row.row() == self._selected:
            return
        self._select(row.row())
        if self._automaton is not None and self._pages.currentWidget() is self.table:
            self.state_hovered.emit(self._automaton.dfa.states[row.row()].spans)

    def _show_details(self, state: int | None) -> None:
        """Show the details of a state, by default of the live one."""
        drawn = self._drawn
        if state is None and self._live and self._is_current():
            state = min(self._live)
        if drawn is None or state is None or state >= len(drawn.automaton.dfa.states):
            self.details.set_text(_NO_DETAILS if self._automaton is not None else "")
            return
        self.details.set_text(drawn.details(state, is_live=state in self._live))

    def _is_current(self) -> bool:
        return self._drawn is not None and self._drawn.automaton is self._automaton

    def _follow(self) -> None:
        drawn_live = self._drawn_live_states()
        if drawn_live and self._selected not in drawn_live and self._view.centre is None:
            self.view.follow(min(drawn_live))

    def _drawn_live_states(self) -> frozenset[int]:
        """Return the drawn live states."""
        return frozenset() if self._automaton is None else self._automaton.around(self._live, self._view)

    def _anchor(self) -> int | None:
        """Return the state that the user looks at: the searched one, a live one, the selected one, or the start."""
        if self._view.centre is not None and self._shows_part:
            return self._view.centre
        drawn = self._scene.placed.boxes
        if drawn_live := self._drawn_live_states() & drawn.keys():
            return min(drawn_live)
        if self._selected is not None:
            return self._selected
        start = None if self._automaton is None else self._automaton.dfa.start
        return start if start in drawn else min((state for state in drawn if state >= 0), default=None)

    def _show_page(self) -> None:
        has_automaton = self._automaton is not None
        self.header.set_enabled(has_automaton)
        shows_tokens = self._levels is not None and self._levels.level(self._view) is Level.TOKENS
        if self._automaton is not None and not self._automaton.dfa.states:
            self.say_empty(_NO_TEXT)
            self._pages.setCurrentWidget(self._empty)
        elif not has_automaton or (self._drawn is None and not self.header.shows_table):
            self._pages.setCurrentWidget(self._empty)
        elif self.header.shows_table:
            self._pages.setCurrentWidget(self.tokens_table if shows_tokens else self.table)
        else:
            self._pages.setCurrentWidget(self.view)
        self.footer.show_zoom_buttons(self._pages.currentWidget() is self.view)
        self._show_details(self._selected)
