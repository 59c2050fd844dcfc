"""The automaton pane: a drawing of the automaton, and the same as a table.

It is handed an automaton, decides which part of it to draw, asks for a layout
(which another process computes) and keeps the last drawing until the answer is
there. Answers that nobody waits for any more are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.graph.layout import EdgeKey, LayoutAnswer, LayoutRequest
from app.graph.neighbourhood import Surroundings
from app.graph.picture import Picture, picture_of, request_of, written
from app.graph.scene import AutomatonScene
from app.graph.view import GraphView
from app.models.states import StatesModel, excerpts
from app.panes.automaton.labels import Banner, ElidedLabel, empty_page
from app.panes.automaton.parts import AutomatonHeader, ZoomBar, states_table
from engine.automata.dfa import ByteDfa, DfaEdge
from engine.automata.labels import label as bytes_label
from engine.source import SourceText, Span

DRAWN_WHOLE = 60
DRAWN_AT_MOST = 2_000
_FULL_LABEL = 2_000
_EMPTY = "No automaton yet.\nIt is drawn here as soon as the grammar compiles."
_NO_TEXT = "The language is empty: no text matches this grammar."
_STALE = "The grammar does not compile. This is the last automaton that did."


@dataclass(frozen=True, slots=True)
class _Automaton:
    """What the pane was handed, with its edges by their ends."""

    dfa: ByteDfa
    revision: int
    label: Callable[[DfaEdge], str]
    source: SourceText | None
    surroundings: Surroundings


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A picture of an automaton, and the layout that it waits for."""

    automaton: _Automaton
    picture: Picture
    request: LayoutRequest

    def is_answered_by(self, answer: LayoutAnswer) -> bool:
        """Whether an answer is the one that this drawing waits for: there are several to one revision."""
        return (
            answer.revision == self.request.revision
            and answer.positions.keys() == {node for node, _, _ in self.request.nodes}
            and answer.curves.keys() == {(source, target) for source, target, _, _ in self.request.edges}
        )


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
        self._automaton: _Automaton | None = None
        self._wanted: _Drawing | None = None
        self._drawn: _Drawing | None = None
        self._answer: LayoutAnswer | None = None
        self._live: frozenset[int] = frozenset()
        self._selected: int | None = None
        self._draws_all = False

        self._scene = AutomatonScene()
        self.view = GraphView(self._scene)
        self._scene.setParent(self.view)  # so that no scroll bar outlives the drawing that it moves
        self.zoom_bar = ZoomBar(self.view)
        self.view.put_in_corner(self.zoom_bar)
        self.model = StatesModel(self)
        self.table = states_table(self.model)
        self.header = AutomatonHeader()
        self._stale_banner = Banner("warning")
        self._size_banner = Banner("hint")
        self._empty = empty_page(_EMPTY)
        self.details = ElidedLabel()
        self.setFocusProxy(self.view)
        self._stack = QStackedWidget()
        for page in (self._empty, self.view, self.table):
            self._stack.addWidget(page)

        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self._stale_banner)
        layout.addWidget(self._size_banner)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.details)
        self._connect()
        self._show_page()

    def _connect(self) -> None:
        self.view.tip_of_edge = self._tip_of_edge
        self.view.pointed_at.connect(self._point_at)
        self.view.state_clicked.connect(self._select)
        self.header.table_toggled.connect(self._show_page)
        self.header.all_toggled.connect(self._draw_all)
        self.table.selectionModel().currentRowChanged.connect(self._select_row)
        theme.themes.changed.connect(self._scene.recolour)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def show_dfa(
        self,
        dfa: ByteDfa,
        revision: int,
        label_of_edge: Callable[[DfaEdge], str] | None = None,
        source: SourceText | None = None,
    ) -> None:
        """Show an automaton; the present drawing stays until the layout of the new one is there.

        Args:
            dfa: the automaton, or a neighbourhood of one that is too large.
            revision: of the text that it was compiled from; goes into the layout request.
            label_of_edge: what is written on an edge; by default its bytes.
            source: the text, for the spans' own words; without it, states tell offsets.
        """
        label = label_of_edge or (lambda edge: bytes_label(edge.ranges, _FULL_LABEL))
        self._automaton = _Automaton(dfa, revision, label, source, Surroundings(dfa))
        self._live = frozenset()
        self._draws_all = self._draws_all and len(dfa.states) <= DRAWN_AT_MOST
        self.model.show_dfa(dfa, label, source)
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

    def set_live(self, states: Collection[int]) -> None:
        """Light the states where the match stands; the neighbourhood follows them."""
        automaton = self._automaton
        if automaton is None:
            return
        self._live = frozenset(state for state in states if 0 <= state < len(automaton.dfa.states))
        self.model.set_live(self._live)
        if self._is_current():
            self._light()
            if self._shows_enough():
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
            self._size_banner.say(text)

    def clear(self) -> None:
        """Show no automaton, as at the start."""
        self._automaton = self._drawn = self._wanted = self._answer = None
        self._live, self._selected = frozenset(), None
        self.model.show_dfa(None, lambda _: "", None)
        self._stale_banner.say("")
        self._size_banner.say("")
        self._empty.setText(_EMPTY)
        self._show_page()

    def highlight_offset(self, offset: int) -> None:
        """Light the states and edges that stem from a place in the text; -1 for none."""
        drawn = self._drawn
        if drawn is None:
            return
        excerpt, states = drawn.picture.excerpt, drawn.automaton.dfa.states
        lit = [state for state in excerpt.states if any(offset in span for span in states[state].spans)]
        edges = [(e.source, e.target) for e in excerpt.edges if any(offset in span for span in e.spans)]
        self._scene.set_highlighted(lit, edges)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Ask for the layout of what is to be drawn now; none is asked for that the last answer still serves."""
        automaton = self._automaton
        assert automaton is not None
        count = len(automaton.dfa.states)
        whole = count <= DRAWN_WHOLE or self._draws_all
        surroundings = automaton.surroundings
        excerpt = surroundings.whole() if whole else surroundings.around(sorted(self._live), limit=DRAWN_WHOLE)
        picture = picture_of(
            excerpt,
            start=automaton.dfa.start,
            accepting=frozenset(state for state in excerpt.states if automaton.dfa.states[state].accepting),
            label_of_edge=automaton.label,
        )
        wanted = _Drawing(automaton, picture, request_of(picture, automaton.revision))
        self._wanted = wanted
        self.header.show_counts(_counts(automaton.dfa, picture), whole=whole, total=count, limit=DRAWN_AT_MOST)
        if self._drawn is not None and self._answer is not None and _same(wanted.request, self._drawn.request):
            self.show_layout(replace(self._answer, revision=wanted.request.revision))
        else:
            self.layout_wanted.emit(wanted.request)

    def _draw_all(self, draws_all: bool) -> None:
        self._draws_all = draws_all
        self.view.is_at_home = True
        if self._automaton is not None:
            self._draw()

    def _is_current(self) -> bool:
        return self._drawn is not None and self._drawn.automaton is self._automaton

    def _shows_enough(self) -> bool:
        """Whether all that is live is drawn, with all that may come next."""
        assert self._drawn is not None
        excerpt = self._drawn.picture.excerpt
        drawn, is_rim = set(excerpt.states), excerpt.hidden.keys()
        return all(state in drawn and (state not in is_rim or self._is_given_rim(state)) for state in self._live)

    def _is_given_rim(self, state: int) -> bool:
        """Whether a state's successors are missing from what the pane was handed: drawing anew would not help."""
        assert self._automaton is not None
        return state in self._automaton.dfa.boundary

    def _light(self) -> None:
        if self._is_current():
            self._scene.set_live(self._live)
        self._tell(self._selected)

    def _follow(self) -> None:
        if self._live and not self._live & {self._selected}:
            self.view.follow(min(self._live))

    def _anchor(self) -> int | None:
        """The state that the eye is on: live, else selected, else the start."""
        if self._live:
            return min(self._live)
        if self._selected is not None:
            return self._selected
        return None if self._automaton is None else self._automaton.dfa.start

    # --- pointing and choosing ---------------------------------------------------------------------------------------

    def _point_at(self, what: int | EdgeKey | None) -> None:
        if self._drawn is None:
            return
        dfa = self._drawn.automaton.dfa
        spans: tuple[Span, ...] = ()
        edges: Collection[EdgeKey] = ()
        state = what if isinstance(what, int) else None
        if state is not None:
            spans = dfa.states[state].spans
        elif isinstance(what, tuple):
            edges = (what,)
            spans = next((e.spans for e in self._drawn.picture.excerpt.edges if (e.source, e.target) == what), ())
        self._scene.set_hovered(state)
        self._scene.set_highlighted((), edges)
        self._tell(self._selected if state is None else state)
        self.state_hovered.emit(spans)

    def _tip_of_edge(self, key: EdgeKey) -> str:
        """An edge's label in full, which may be too long to be written on it."""
        if self._drawn is None:
            return ""
        automaton = self._drawn.automaton
        edges = automaton.surroundings.leaving(key[0])
        return next((automaton.label(edge) for edge in edges if edge.target == key[1]), "")

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
        automaton = self._drawn.automaton if self._drawn is not None else self._automaton
        if state is None and self._live:
            state = min(self._live)
        if automaton is None or state is None or state >= len(automaton.dfa.states):
            self.details.say("Point at a state to see where it stands in the grammar." if automaton else "")
            return
        self.details.say(_details(automaton, state, is_live=state in self._live))

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
        self._tell(self._selected)


def _same(one: LayoutRequest, other: LayoutRequest) -> bool:
    """Whether two requests differ in nothing but their revision."""
    return replace(one, revision=other.revision) == other


def _counts(dfa: ByteDfa, picture: Picture) -> str:
    drawn, total = len(picture.excerpt.states), len(dfa.states)
    if dfa.start is None and not total:
        return "empty: no text matches"
    if dfa.boundary:
        return f"{drawn:,} states, a part"
    states = f"{total:,} state{'' if total == 1 else 's'}" if drawn == total else f"{drawn:,} of {total:,} states"
    edges = len(dfa.edges)
    return f"{states} · {edges:,} edge{'' if edges == 1 else 's'}"


def _details(automaton: _Automaton, state: int, *, is_live: bool) -> str:
    parts = [f"State {state}"]
    if is_live:
        parts.append("● here")
    if automaton.dfa.states[state].accepting:
        parts.append("◎ accepts")
    reads = excerpts(automaton.dfa.states[state].spans, automaton.source)
    if reads:
        parts.append(f"reads {reads}" if automaton.source is not None else f"stands at {reads}")
    leaving = automaton.surroundings.leaving(state)
    parts.append(", ".join(f"{written(automaton.label(edge))} → {edge.target}" for edge in leaving[:12]) or "no way on")
    return "  ·  ".join(parts)
