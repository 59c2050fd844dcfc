"""The automaton pane: a drawing of the automaton, and the same as a table.

It is handed an automaton, or those of a grammar's rules, decides which part of
it to draw, asks for a layout (which another process computes) and keeps the
last drawing until the answer is there. Answers that nobody waits for any more
are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.graph.folding import Fold
from app.graph.layout import EdgeKey, LayoutAnswer
from app.graph.rules import Chart, RuleCharts
from app.graph.scene import AutomatonScene
from app.graph.view import GraphView
from app.models.states import StatesModel
from app.panes.automaton.drawing import DRAWN_AT_MOST, Automaton, Drawing, View
from app.panes.automaton.labels import Banner, empty_page
from app.panes.automaton.levels import LevelBar, Levels
from app.panes.automaton.parts import AutomatonHeader, Footer, states_table
from engine.automata.dfa import ByteDfa, DfaEdge
from engine.automata.rule_places import RulePlaces
from engine.source import SourceText

_EMPTY = "No automaton yet.\nIt is drawn here as soon as the grammar compiles."
_NO_TEXT = "The language is empty: no text matches this grammar."
_STALE = "The grammar does not compile. This is the last automaton that did."
_NOTHING_TOLD = "Point at a state to see where it stands in the grammar."


class AutomatonPane(QWidget):
    """Shows one automaton.

    Signals:
        layout_wanted: a `LayoutRequest`; its answer goes to `show_layout`.
        state_hovered: the source spans of what the pointer is on; empty when it is on nothing.
    """

    layout_wanted = Signal(object)
    state_hovered = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._levels: Levels | None = None
        self._automaton: Automaton | None = None
        self._wanted: Drawing | None = None
        self._drawn: Drawing | None = None
        self._answer: LayoutAnswer | None = None
        self._states: frozenset[int] = frozenset()
        self._places: RulePlaces | None = None
        self._live: frozenset[int] = frozenset()
        self._waiting: frozenset[EdgeKey] = frozenset()
        self._too_large = ""
        self._selected: int | None = None
        self._as_wanted = View()

        self._scene = AutomatonScene()
        self.view = GraphView(self._scene)
        self._scene.setParent(self.view)  # so that no scroll bar outlives the drawing that it moves
        self.footer = Footer(self.view)
        self.details = self.footer.details
        self.model = StatesModel(self)
        self.table = states_table(self.model)
        self.header = AutomatonHeader()
        self.levels = LevelBar()
        self._stale_banner = Banner("warning")
        self._size_banner = Banner("hint")
        self._empty = empty_page(_EMPTY)
        self.setFocusProxy(self.view)
        self._stack = QStackedWidget()
        for page in (self._empty, self.view, self.table):
            self._stack.addWidget(page)

        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.levels)
        layout.addWidget(self._stale_banner)
        layout.addWidget(self._size_banner)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.footer)
        self._connect()
        self._show_page()

    def _connect(self) -> None:
        self.view.tip_of_edge = self._tip_of_edge
        self.view.pointed_at.connect(self._point_at)
        self.view.state_clicked.connect(self._select)
        self.view.opened.connect(self._open)
        self.view.left.connect(lambda: self._show_rule(None))
        self.table.activated.connect(lambda index: self._open(index.row(), None, None))
        self.levels.rule_wanted.connect(self._show_rule)
        self.levels.follow_toggled.connect(lambda on: self._redraw(replace(self._as_wanted, follows=on)))
        self.header.table_toggled.connect(self._show_page)
        self.header.all_toggled.connect(lambda on: self._redraw(replace(self._as_wanted, draws_all=on)))
        self.header.bytes_toggled.connect(lambda on: self._redraw(replace(self._as_wanted, draws_bytes=on)))
        self.table.selectionModel().currentRowChanged.connect(self._select_row)
        theme.themes.changed.connect(self._scene.recolour)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def show_dfa(
        self,
        dfa: ByteDfa,
        revision: int,
        label_of_edge: Callable[[DfaEdge], str] | None = None,
        source: SourceText | None = None,
        fold: Fold | None = None,
        rules: RuleCharts | None = None,
    ) -> None:
        """Show an automaton; the present drawing stays until the layout of the new one is there.

        Args:
            dfa: the automaton, or a neighbourhood of one that is too large.
            revision: of the text that it was compiled from; goes into the layout request.
            label_of_edge: what is written on an edge; by default its bytes.
            source: the text, for the spans' own words; without it, states tell offsets.
            fold: the automaton over characters; without it, bytes are drawn.
            rules: the automata of the rules, to be drawn instead unless the reader follows the live state.
        """
        part, before = Chart(dfa, fold), self._levels
        if before is not None and rules is not None and before.rules is rules and before.revision == revision:
            self._levels = before.with_part(part)
        else:
            self._levels = Levels(part, rules, revision, label_of_edge, source)
            self._places = None
        self._states = frozenset()
        if len(dfa.states) > DRAWN_AT_MOST:
            self._as_wanted = replace(self._as_wanted, draws_all=False)
        if self._take_up():
            self._draw()
        self._show_page()

    def show_layout(self, answer: LayoutAnswer) -> None:
        """Draw what was laid out, if it is what is waited for."""
        wanted = self._wanted
        if wanted is None or not wanted.is_answered_by(answer):
            return
        before = self._drawn
        anchor = self._anchor()
        place = None if anchor is None or self.view.is_at_home else self.view.place_of(anchor)
        self._wanted, self._drawn, self._answer = None, wanted, answer
        if before is None or before.automaton.dfa is not wanted.automaton.dfa:
            self._selected = None
        self._scene.show_picture(wanted.picture, wanted.request, answer)
        self._scene.set_selected(self._selected)
        self._light()
        self._show_page()
        if before is None or self.view.is_at_home:
            self.view.go_home(self._anchor())
        elif anchor is not None and place is not None:
            self.view.keep_place(anchor, place)

    def set_live(self, states: Collection[int], places: RulePlaces | None = None) -> None:
        """Light the states where the match stands; the neighbourhood follows them.

        Args:
            states: of the automaton that was handed over.
            places: in the rules; None while that is being found out, which leaves the last ones lit.
        """
        if self._automaton is None:
            return
        self._states = frozenset(states)
        self._places = places or self._places
        self._say_note()
        self._find_live()
        if self._is_current():
            self._light()
            if self._drawn is not None and self._drawn.shows(self._live, self._as_wanted):
                self._follow()
                return
        self._draw()

    def set_stale(self, stale: bool, reason: str = "") -> None:
        """Grey the drawing, and say why, while the text as it stands has no automaton."""
        has_drawing = self._automaton is not None
        self._stale_banner.say((reason or _STALE) if stale and has_drawing else "")
        self._scene.set_stale(stale)

    def show_too_large(self, text: str) -> None:
        """Say why the automaton is not shown whole; empty takes it back."""
        if self._automaton is None:
            self._empty.setText(text or _EMPTY)
        else:
            self._too_large = text
            self._say_too_large()

    def clear(self) -> None:
        """Show no automaton, as at the start."""
        self._levels = self._automaton = self._drawn = self._wanted = self._answer = None
        self._states = self._live = frozenset()
        self._waiting, self._places, self._selected = frozenset(), None, None
        self._as_wanted = replace(self._as_wanted, follows=False, rule=None)
        self._too_large = ""
        self.model.show_dfa(None, lambda _: "", None)
        self._stale_banner.say("")
        self._say_too_large()
        self._empty.setText(_EMPTY)
        self._show_page()

    def highlight_offset(self, offset: int) -> None:
        """Light the states and edges that stem from a place in the text; -1 for none."""
        if self._drawn is not None:
            self._scene.set_highlighted(*self._drawn.at_offset(offset))

    # --- levels ------------------------------------------------------------------------------------------------------

    def _take_up(self) -> bool:
        """Take what the reader wants to see of what there is; whether that is another automaton than before."""
        assert self._levels is not None
        automaton = self._levels.automaton(self._as_wanted)
        self._say_too_large()
        if automaton is self._automaton:
            return False
        self._automaton = automaton
        self._live, self._waiting = frozenset(), frozenset()
        self.model.show_dfa(automaton.dfa, automaton.label, automaton.source, automaton.name)
        return True

    def _find_live(self) -> None:
        """Where the match stands in what is shown."""
        if self._levels is None or self._automaton is None:
            return
        live, self._waiting = self._levels.live(self._as_wanted, self._states, self._places)
        self._live = frozenset(state for state in live if 0 <= state < len(self._automaton.dfa.states))
        self.model.set_live(self._live)

    def _show_rule(self, rule: str | None) -> None:
        """Open a rule, or show all of them."""
        if self._levels is None or not self._levels.shows_rules(self._as_wanted) or rule == self._as_wanted.rule:
            return
        self._selected = None
        self._redraw(replace(self._as_wanted, rule=rule))
        self.view.setFocus()

    def _open(self, state: int | None, edge: EdgeKey | None, group: int | None) -> None:
        """Open the rule that something leads to; without anything, that of the selected state."""
        if self._levels is None:
            return
        if state is None and edge is None and group is None:
            state = self._selected
        rule = self._levels.rule_at(self._as_wanted, state, edge, group)
        if rule is not None:
            self._show_rule(rule)

    def _say_too_large(self) -> None:
        """Why the automaton is not whole: of no interest where the rules are."""
        self.levels.show_levels(self._levels, self._as_wanted)
        self._size_banner.say("" if self._shows_rules else self._too_large)
        self._say_note()

    def _say_note(self) -> None:
        """What the drawing leaves out: nothing is lit where the text is among it."""
        rules = self._levels.rules if self._levels is not None and self._shows_rules else None
        is_lost = bool(self._states) and self._places is not None and not self._places.reading
        self.levels.show_note(rules.notes if rules is not None else (), is_lost=is_lost)

    @property
    def _shows_rules(self) -> bool:
        return self._levels is not None and self._levels.shows_rules(self._as_wanted)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Ask for the layout of what is to be drawn now; none is asked for that the last answer still serves."""
        assert self._automaton is not None
        before, wanted = self._wanted, self._automaton.draw(self._live, self._as_wanted)
        self._wanted = wanted
        self.header.show_counts(
            wanted.counts(),
            is_whole=wanted.is_whole,
            total=self._automaton.size(is_folded=wanted.is_folded)[0],
            limit=DRAWN_AT_MOST,
            has_bytes=self._automaton.fold is not None,
        )
        if self._drawn is not None and self._answer is not None and wanted.has_shape_of(self._drawn):
            self.show_layout(replace(self._answer, revision=wanted.request.revision))
        elif before is None or before.request != wanted.request:
            self.layout_wanted.emit(wanted.request)

    def _redraw(self, view: View) -> None:
        self._as_wanted = view
        self.view.is_at_home = True
        if self._levels is not None:
            self._take_up()
            self._find_live()
            self._draw()

    def _is_current(self) -> bool:
        return self._drawn is not None and self._drawn.automaton is self._automaton

    def _light(self) -> None:
        if self._automaton is not None and self._is_current():
            leaving = self._automaton.noun == "state"
            states, texts = self._automaton.seen(self._live, self._as_wanted)
            self._scene.set_live(states, self._waiting, texts, leaving=leaving)
        self._tell(self._selected)

    def _follow(self) -> None:
        around = self._around()
        if around and self._selected not in around:
            self.view.follow(min(around))

    def _around(self) -> frozenset[int]:
        """The states that are drawn where the match stands."""
        return frozenset() if self._automaton is None else self._automaton.around(self._live, self._as_wanted)

    def _anchor(self) -> int | None:
        """The state that the eye is on: live, else selected, else the start."""
        if around := self._around():
            return min(around)
        if self._selected is not None:
            return self._selected
        return None if self._automaton is None else self._automaton.dfa.start

    # --- pointing and choosing ---------------------------------------------------------------------------------------

    def _point_at(self, what: int | EdgeKey | None) -> None:
        if self._drawn is None:
            return
        state = what if isinstance(what, int) else None
        self._scene.set_hovered(state)
        self._scene.set_highlighted((), (what,) if isinstance(what, tuple) else ())
        self._tell(self._selected if state is None else state)
        self.state_hovered.emit(self._drawn.spans(what))

    def _tip_of_edge(self, key: EdgeKey) -> str:
        """An edge's label in full, which may be too long to be written on it."""
        return "" if self._drawn is None else self._drawn.label(key)

    def _select(self, state: int) -> None:
        self._selected = state if state >= 0 else None
        self._scene.set_selected(self._selected)
        self._tell(self._selected)
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
        if self._automaton is not None and self._stack.currentWidget() is self.table:
            self.state_hovered.emit(self._automaton.dfa.states[row.row()].spans)

    def _tell(self, state: int | None) -> None:
        """Write the line of details: of a state, else of where the match stands."""
        drawn = self._drawn
        if state is None and self._live and self._is_current():
            state = min(self._live)
        if drawn is None or state is None or state >= len(drawn.automaton.dfa.states):
            self.details.say(_NOTHING_TOLD if self._automaton is not None else "")
            return
        self.details.say(drawn.details(state, is_live=state in self._live))

    def _show_page(self) -> None:
        has_automaton = self._automaton is not None
        self.header.set_enabled(has_automaton)
        if self._automaton is not None and not self._automaton.dfa.states:
            self._empty.setText(_NO_TEXT)
            self._stack.setCurrentWidget(self._empty)
        elif not has_automaton or (self._drawn is None and not self.header.shows_table):
            self._stack.setCurrentWidget(self._empty)
        else:
            self._stack.setCurrentWidget(self.table if self.header.shows_table else self.view)
        self.footer.show_zoom_buttons(self._stack.currentWidget() is self.view)
        self._tell(self._selected)
