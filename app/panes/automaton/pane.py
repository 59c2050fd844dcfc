"""The automaton pane: a drawing of the automaton, and the same as a table.

It receives an automaton with its folded forms, selects the part to draw, requests a layout (which another process
computes) and keeps the last drawing until the answer arrives. Outdated answers are dropped.

The pane is made of objects that share a `Navigation` and know nothing of one another: `StateSelection` (pointer, keys,
table), `AutomatonSearch` (find bar), `Marks` (coverage, breakpoints), `TokenWatch` (tokens of a state), and the bars.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QByteArray, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QHBoxLayout,
    QLabel,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import command
from app.graph.draw.image_files import dot_of
from app.graph.draw.scene import AutomatonScene
from app.graph.draw.view import GraphView, Minimap
from app.graph.layout.types import LayoutAnswer, LayoutRequest, stabilise_layout
from app.graph.match.folding import Chart, FoldedAutomaton
from app.graph.match.regions import AutomatonRegions
from app.graph.match.rules import MOST_UNFOLDED, RuleCharts, UnfoldedCalls, Unfolding
from app.models.states import StatesModel
from app.models.token_groups import FIRST, RULE, TokenGroupsModel
from app.panes.automaton.bars import (
    AutomatonHeader,
    Footer,
    LevelBar,
    StackPanel,
    breadcrumb,
    states_table,
    token_table,
)
from app.panes.automaton.drawing import DRAWN_AT_MOST, DRAWN_WHOLE, Drawing
from app.panes.automaton.heat_bar import HeatBar
from app.panes.automaton.legend import SymbolLegend
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.list_panel import ListPanel, ListRow
from app.panes.automaton.marks import Marks
from app.panes.automaton.navigation import Navigation, StateSelection, ViewChange
from app.panes.automaton.schema_map import SchemaMapPage
from app.panes.automaton.search import AutomatonSearch
from app.panes.automaton.state_notes import StateNotes
from app.panes.automaton.tokens import TokenWatch
from app.panes.automaton.view_state import LIVE_STATE, ViewState
from app.theme.labels import Label
from app.widgets.accessibility import give_role
from app.widgets.banner import Banner
from app.widgets.coverage_choice import CoverageChoice
from app.widgets.find_bar import FindBar
from app.widgets.keyboard import CloseOnEscape, delegate_focus
from app.widgets.lazy import Lazy
from app.workers.requests.compile import NfaDrawing
from app.workers.requests.decode import TokensAnswer, TokensRequest
from app.workers.requests.grammar_position import GrammarPosition, OpenFrame
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.automata.rtn.rule_positions import RulePositions
from engine.decoding.debugging.breakpoints import Breakpoint, StateName
from engine.decoding.values import FirstBytes
from engine.diagnosis.test_strings.values import Coverage, CoverageMeasure, CoverageSource
from engine.notations.schema_map import SchemaMap
from engine.source import SourceText, Span

_MAP_FROM = 40  # states; a drawing of more has a minimap beside it
_PANEL_HEIGHT = 116
_LIST_HEIGHT = 150
_MOST_SETS, _MOST_MEMBERS = 3, 20  # of states that are listed
_MANY_RULES = 40  # a schema of more is shown as a map at first
_SAVED, _SPLIT = "automaton", "automaton split"


class AutomatonPane(QWidget):
    """Shows one automaton.

    Attributes:
        navigation: the view that the user chose, the match, and the selected state.
        scene: the drawing.
        selection, search, marks, watch: the parts of the pane's behaviour.
        schema_page: the map of a schema, built when there is one to show.

    Signals:
        layout_wanted: a `LayoutRequest`; its answer goes to `show_layout`.
        tokens_wanted: a `TokensRequest`; its answer goes to `show_tokens`.
        nfa_wanted: request the nondeterministic automaton; the answer goes to `show_nfa`.
        unfolding_wanted: an `Unfolding` whose drawing goes to `show_unfolded`; one without calls if none is needed.
        spans_hovered: the source spans of the hovered element; empty for none.
        span_wanted: a source span to go to.
        view_changed(ViewState): the user changed the view; the part of it that survives an edit.
        layout_chosen(method, downwards): the layout of the current view; an empty method is the automatic one.
    """

    layout_wanted = Signal(LayoutRequest)
    tokens_wanted = Signal(TokensRequest)
    nfa_wanted = Signal()
    unfolding_wanted = Signal(Unfolding)
    view_changed = Signal(ViewState)
    layout_chosen = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scene = AutomatonScene()
        self.view = GraphView(self.scene)
        self.scene.setParent(self.view)  # so that no scroll bar outlives the drawing that it moves
        self.minimap = Minimap(self.view, self.scene)
        for drawn in (self.view, self.minimap):
            give_role(drawn, QAccessible.Role.Graphic)
        self.header, self.level_bar, self.footer = AutomatonHeader(), LevelBar(), Footer(self.view)
        self.schema_page: Lazy[SchemaMapPage] = Lazy(self._make_schema_page)
        self.model, self.tokens_model = StatesModel(self), TokenGroupsModel(self)
        self.table, self.tokens_table = states_table(self.model), token_table(self.tokens_model)
        self.stacks, self.lists = StackPanel(), ListPanel()
        self.find_bar = FindBar(
            ui_text("automaton.find.name"),
            ui_text("automaton.find.hint"),
            has_long_results=True,
            on_down=self.lists.focus_list,
        )
        self.stale_banner, self.size_banner, self.coverage_banner = Banner("warning"), Banner("hint"), Banner("hint")
        self.coverage_choice, self.heat_bar = CoverageChoice(), HeatBar()
        self.heat_bar.hide()
        self.coverage_banner.add_control(self.coverage_choice)
        self.empty_page, self._legend = _empty_page(ui_text("automaton.page.empty")), SymbolLegend()
        self._pages, self._panels = QStackedWidget(), QWidget()
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._lay_out()

        self.navigation = Navigation(self)
        self.selection = StateSelection(self.navigation, self.view, self.scene, self.table, self.footer.details)
        self.search = AutomatonSearch(self.find_bar, self.navigation, self.view, self.scene)
        self.marks = Marks(self.scene, self.model, self.coverage_banner)
        tip_of_edge = self.view.edge_tip
        self.view.edge_tip = lambda key: "\n".join(filter(None, (tip_of_edge(key), self.marks.edge_text(key))))
        self.token_watch = TokenWatch(self.tokens_wanted.emit)
        self.notes = StateNotes(self)
        self._answer: LayoutAnswer | None = None  # the layout of the current drawing
        self._points = theme.ui_font().pointSizeF()  # of its texts
        self._source: SourceText | None = None
        self._token_ahead: bytes | None = None
        self._too_large = ""
        self._news = ""  # what is said once the pending drawing is shown
        self._nfa: NfaDrawing | None = None
        self._unfolding: Unfolding | None = None  # what was requested last, until the answer
        self._is_opened = False  # whether the next automaton is that of a document, whose view is valid for it
        self._map_is_offered = False
        self._schema_map: SchemaMap | None = None
        self._live_spans: tuple[Span, ...] = ()
        self._live_position: GrammarPosition | None = None
        self._view_is_chosen = False  # the user chose between map, graph and table
        self._is_another = False  # whether the next automaton belongs to another grammar
        self._is_fresh = False  # whether the next drawing belongs to another grammar
        self._connect()
        self._update_buttons()
        self._show_page()

    def _lay_out(self) -> None:
        for page in (self.empty_page, self.view, self.table, self.tokens_table):
            self._pages.addWidget(page)
        delegate_focus(self, self.view, self.table, self.tokens_table)
        row = QHBoxLayout(self._panels)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(1)
        row.addWidget(self.stacks, 1)
        row.addWidget(self._legend, 1)
        row.addWidget(self.minimap)
        self._split.setChildrenCollapsible(False)
        for part in (self._pages, self.lists, self._panels):
            self._split.addWidget(part)
        self._split.setStretchFactor(0, 1)
        self._split.setSizes([600, _LIST_HEIGHT, _PANEL_HEIGHT])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        banners = self.stale_banner, self.size_banner, self.coverage_banner
        for widget in (self.header, self.level_bar, self.find_bar, *banners, self.heat_bar):
            layout.addWidget(widget)
        layout.addWidget(self._split, 1)
        layout.addWidget(self.footer)

    def _connect(self) -> None:
        navigation = self.navigation
        navigation.view_changed.connect(self._show_view)
        self.view.open_requested.connect(navigation.open)
        self.view.stub_clicked.connect(navigation.open_stub)
        self.view.up_requested.connect(navigation.go_up)
        self.view.action_requested.connect(self._on_key)
        self.table.activated.connect(lambda index: navigation.open(index.row(), None, None))
        self.level_bar.rule_wanted.connect(navigation.show_rule)
        self.level_bar.level_wanted.connect(navigation.go_to_level)
        self.level_bar.back_wanted.connect(navigation.go_back)
        self.level_bar.forward_wanted.connect(navigation.go_forward)
        self.header.table_toggled.connect(self._on_view_chosen)
        self.header.all_toggled.connect(navigation.set_draws_all)
        self.header.bytes_toggled.connect(navigation.set_draws_bytes)
        self.header.merge_toggled.connect(navigation.set_merges)
        self.header.nfa_toggled.connect(navigation.set_nfa)
        navigation.selection_changed.connect(self._request_nfa)
        self.spans_hovered = self.selection.spans_hovered
        self.selection.allowed_text = self.token_watch.allowed_text
        self.selection.members_text = self._members_text
        self.search.listed.connect(self._list_hits)
        self.search.state_found.connect(self.selection.go_to)
        self.notes.shown.connect(self._show_notes)
        for closed in (self.find_bar.closed, self.lists.closed):
            closed.connect(self._focus_page)
        self.find_bar.closed.connect(self.lists.close_list)
        for button in (self.footer.stacks_button, self.footer.map_button):
            button.toggled.connect(self._show_panels)
        self.footer.find_button.clicked.connect(self.find_bar.open_bar)
        self.footer.coverage_button.toggled.connect(self._set_shows_coverage)
        self.stacks.frames_selected.connect(self._highlight_frames)
        self.span_wanted = self.stacks.span_wanted
        CloseOnEscape(self, self.lists.isVisible, self.lists.close_list)
        CloseOnEscape(self, self.find_bar.isVisible, self.find_bar.close_bar)
        theme.themes.changed.connect(self._apply_theme)

    # --- saved state -------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, bytes]:
        """Return whether the table and the stacks are shown, and the state of the splitter."""
        shown = [name for name, button in self._saved_buttons().items() if button.isChecked()]
        return {_SAVED: " ".join(shown).encode(), _SPLIT: bytes(self._split.saveState().data())}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Restore the saved state."""
        shown = saved.get(_SAVED, b"").decode(errors="replace").split()
        for name, button in self._saved_buttons().items():
            if name in shown:
                button.setChecked(True)  # not clicked: there is no automaton yet
        if state := saved.get(_SPLIT):
            self._split.restoreState(QByteArray(state))

    def _saved_buttons(self) -> dict[str, QAbstractButton]:
        return {"table": self.header.table_button, "stacks": self.footer.stacks_button}

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
        merged: FoldedAutomaton | None = None,
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
            merged: the automaton with counters as nodes and forced runs as edges; without it, there are neither.
        """
        navigation = self.navigation
        part, before = Chart(dfa, fold, merged=None if merged is None else Chart(dfa, merged)), navigation.minimal
        self._source = source
        if before is not None and rules is not None and before.rules is rules and before.revision == revision:
            navigation.minimal = before.with_part(part)
        else:
            navigation.minimal = levels = Levels(part, rules, revision, label_of_edge, source, regions)
            navigation.positions = navigation.nfa = navigation.nfa_positions = self._nfa = None
            self._unfolding = None
            self.token_watch.forget()
            self._reset_view(len(dfa.states))
            self.notes.attach(levels)
        navigation.states = frozenset()
        if self._update_automaton():
            self._draw()
        self._request_nfa()
        self._request_unfolding()
        self._show_page()

    def _request_nfa(self) -> None:
        """Request the nondeterministic automaton for its drawing, or for what the selected state is made of."""
        navigation = self.navigation
        if (
            navigation.minimal is not None
            and self._nfa is None
            and (navigation.view.nfa or navigation.selected is not None)
        ):
            self.nfa_wanted.emit()

    def show_nfa(self, found: NfaDrawing) -> None:
        """Show the nondeterministic automaton of the grammar that is shown, or why it is not drawn."""
        navigation = self.navigation
        if navigation.minimal is None:
            return
        self._nfa, charts, revision = found, found.charts, navigation.minimal.revision
        if charts is not None:
            has_rules = len(charts.rules) > 1 or bool(charts.rules[0].calls)
            rules = charts if has_rules else None
            navigation.nfa = Levels(charts.rules[0], rules, revision, None, self._source, is_nfa=True)
        if self._update_automaton():
            self._update_live()
            self._draw()
        self._request_unfolding()
        self._show_page()

    def _request_unfolding(self) -> None:
        """Request the drawing with the unfolded calls of the view, or none any more."""
        levels, view = self.navigation.levels, self.navigation.view
        wanted = None if levels is None else levels.wanted_unfolding(view)
        if wanted is not None and levels is not None and levels.lacks(wanted):
            if wanted != self._unfolding:
                self._unfolding = wanted
                self.unfolding_wanted.emit(wanted)
        elif self._unfolding is not None:
            self.unfolding_wanted.emit(replace(self._unfolding, paths=()))
            self._unfolding = None

    def show_unfolded(self, wanted: Unfolding, found: UnfoldedCalls | None) -> None:
        """Draw called rules in place of their calls, and say which of them are not.

        Args:
            wanted: what was requested.
            found: the drawing; None if there is none.
        """
        navigation = self.navigation
        levels, history = navigation.levels, navigation.history
        if levels is None or wanted != self._unfolding:
            return
        self._unfolding = None
        paths = () if found is None else levels.take_unfolded(wanted, found).paths
        if paths != wanted.paths:
            history.amend(replace(history.current, unfolded=paths))
            self.view_changed.emit(history.current.stored)
        if self._update_automaton():
            self._update_live()
            self._draw()
        if found is None:
            text = ui_text("automaton.say.not_unfolded")
        elif found.too_large:
            text = ui_text("automaton.say.too_large", limit=MOST_UNFOLDED)
        else:
            text = ui_text("automaton.say.unfolded")
        if navigation.wanted is None:
            self.selection.say(text)
        else:
            self._news = text  # a drawing that changes shows the details of a state, which would replace it

    def show_nfa_states(self, positions: RulePositions | None) -> None:
        """Mark the states of the match in the nondeterministic automaton."""
        navigation = self.navigation
        navigation.nfa_positions = positions
        if navigation.levels is not None and navigation.levels.is_nfa:
            self._update_live()
            if navigation.is_current:
                self._highlight()
            if navigation.drawn is None or not navigation.drawn.fits_view(navigation.live, navigation.view):
                self._draw()

    @property
    def shows_nfa(self) -> bool:
        """Return whether the nondeterministic automaton is shown."""
        return self.navigation.levels is not None and self.navigation.levels.is_nfa

    def _members_text(self, state: int) -> str:
        """Return of what states of the other automaton a state is made, or which ones it is a part of."""
        minimal, nfa, view = self.navigation.minimal, self.navigation.nfa, self.navigation.view
        if (
            minimal is None
            or nfa is None
            or self._nfa is None
            or not self._nfa.members
            or not self.navigation.is_current
        ):
            return ""
        if self.shows_nfa:
            member = nfa.rule_state(view, state)
            if member is None:
                return ""
            around = [number for number, sets in enumerate(self._nfa.members) if any(member in one for one in sets)]
            return ui_text("automaton.details.dfa", states=_listed(map(str, around))) if around else ""
        if minimal.rules is not None or not self.navigation.shows_part:
            return ""
        sets = [sorted(one) for one in self._nfa.members[state]]
        names = nfa.names
        texts = [
            "{" + _listed(f"{names[rule]} {at}" if names else str(at) for rule, at in members) + "}" for members in sets
        ]
        more = len(texts) - _MOST_SETS
        shown = ui_text("automaton.details.fragment.or").join(texts[:_MOST_SETS])
        others = f" {ui_text('common.fragment.and_more', count=more)}" if more > 0 else ""
        return ui_text("automaton.details.nfa", states=shown + others)

    def show_schema_map(self, found: SchemaMap | None) -> None:
        """Offer the map of the schema; it is shown at first if its drawing would be too large."""
        self._schema_map = found
        self._live_spans, self._live_position = (), None
        self.header.offer_schema_map(offered=found is not None)
        if not self._view_is_chosen and found is not None and len(found) > _MANY_RULES:
            self.header.schema_map_button.setChecked(True)
        elif not self._view_is_chosen and self.header.shows_schema_map:
            self.header.graph_button.setChecked(True)
        self._show_page()

    def show_live_spans(self, spans: tuple[Span, ...], position: GrammarPosition | None = None) -> None:
        """Mark the rows of the map that the match is in.

        Args:
            spans: of the text of the map.
            position: the match; None while it is not known.
        """
        self._live_spans, self._live_position = spans, position
        if (page := self.schema_page.built) is not None:
            page.set_live(spans, position)

    def _make_schema_page(self) -> SchemaMapPage:
        page = SchemaMapPage()
        page.drawing_wanted.connect(self._show_in_drawing)
        self._pages.addWidget(page)
        return page

    def _on_view_chosen(self) -> None:
        self._view_is_chosen = True
        self._show_page()

    def _show_in_drawing(self, row: int) -> None:
        """Show a row of the map in the drawing: the rule that it is in, or the states that read it."""
        levels, navigation, found = self.navigation.levels, self.navigation, self._schema_map
        self.header.graph_button.click()
        if levels is None or found is None:
            return
        offset = found.values[row]
        if levels.rules is not None:
            spans = [
                (state.spans[0], levels.names[rule]) for rule, state in enumerate(levels.rules.overview.dfa.states)
            ]
            around = [(span.end - span.start, name) for span, name in spans if span.start <= offset < span.end]
            if around and len(levels.names) > _MANY_RULES:
                navigation.show_rule(min(around)[1])
        if navigation.drawn is not None and navigation.is_current:
            states, _edges = navigation.drawn.at_offset(offset)
            if states:
                self.selection.go_to(states[0])
        self.highlight_offset(offset)

    def show_layout(self, answer: LayoutAnswer) -> None:
        """Draw a layout, if it is the pending one."""
        navigation = self.navigation
        wanted = navigation.wanted
        if wanted is None or not wanted.is_answered_by(answer):
            return
        before = None if self._is_fresh else navigation.drawn
        self._is_fresh = False
        is_edit = before is not None and before.automaton.revision != wanted.automaton.revision
        if before is not None and is_edit:
            centres = {node: box.center() for node, box in self.scene.positioned.boxes.items() if node >= 0}
            known = wanted.known_positions(before, {node: (point.x(), point.y()) for node, point in centres.items()})
            answer = stabilise_layout(answer, known, downwards=wanted.request.downwards)
        anchor = self._anchor()
        position = None if anchor is None or self.view.is_at_home else self.view.position_of(anchor)
        navigation.wanted, navigation.drawn, self._answer = None, wanted, answer
        if before is None or before.automaton.dfa is not wanted.automaton.dfa:
            navigation.selected = None
        seen = self.view.visible_rect if is_edit and self.view.is_at_home else None
        self.scene.show_diagram(wanted.diagram, wanted.request, answer, seen)
        is_still_visible = seen is not None and seen.contains(self.scene.drawn_rect()) and self.view.is_readable
        self.scene.set_selected(navigation.selected)
        self.scene.set_chosen(navigation.chosen, navigation.ends)
        self._offer_map(offered=len(wanted.diagram.excerpt.states) > _MAP_FROM)
        navigation.method = answer.method
        self._update_buttons()
        self._update_size_banner()
        self._highlight()
        self._update_marks()
        self._show_page()
        if is_still_visible:
            self.view.reveal()
        elif before is None or self.view.is_at_home:
            self.scene.setSceneRect(self.scene.home_rect())
            self.view.go_home(self._anchor())
        elif anchor is not None and position is not None:
            self.view.keep_position(anchor, position)
        self.search.go_to_pending_state()
        if self._news:
            self.selection.say(self._news)
            self._news = ""

    def set_live(
        self,
        states: Collection[int],
        positions: RulePositions | None = None,
        output: bytes = b"",
        first_bytes: FirstBytes | None = None,
        tokens: TokensAnswer | None = None,
    ) -> None:
        """Highlight the live states; a neighbourhood follows them.

        Args:
            states: of the automaton passed to `show_dfa`.
            positions: the rule positions; None while they are unknown, which keeps the last ones.
            output: the text that leads there.
            first_bytes: the tokens that are allowed there, for the badges; None if unknown.
            tokens: the same by target state, for the token view; None to request them if they are shown.
        """
        navigation = self.navigation
        self.token_watch.first_bytes = first_bytes
        if navigation.automaton is None or navigation.levels is None:
            return
        navigation.states = frozenset(states)
        navigation.positions = positions or navigation.positions
        if output != navigation.output:
            navigation.output, self._token_ahead = output, None
        self._update_note()
        self._update_live()
        self._request_tokens(tokens)
        if tokens is not None:
            self.show_tokens(tokens)
        if navigation.is_current:
            self._highlight()
            if navigation.drawn is not None and navigation.drawn.fits_view(navigation.live, navigation.view):
                live = navigation.drawn_live_states
                if live and navigation.selected not in live and navigation.view.centre is None:
                    self.view.follow(min(live))
                return
        self._draw()

    def show_stacks(self, position: GrammarPosition) -> None:
        """Show the stacks of the match."""
        self.stacks.show_position(position, self._source)
        self.footer.count_stacks(self.stacks.count)

    def show_tokens(self, answer: TokensAnswer) -> None:
        """Draw the tokens of one state."""
        navigation = self.navigation
        levels = navigation.levels
        if levels is None:
            return
        if self.token_watch.handle_answer(answer, levels, navigation.view, navigation.states):
            rows = levels.tokens.targets if levels.tokens is not None else ()
            self.tokens_model.show_rows(rows)
            self.tokens_table.setColumnHidden(RULE, not any(row.rule for row in rows))
            self.tokens_table.setColumnHidden(FIRST, not any(row.first for row in rows))
            if self._update_automaton():
                self.view.is_at_home = True
                self._update_live()
                self._draw()

    def set_token_context(self, context: object) -> None:
        """Set what the tokens depend on besides the output: the model, the prompt."""
        if self.token_watch.set_context(context):
            self._request_tokens()

    def show_candidate_path(self, token: bytes | None) -> None:
        """Outline the path of a token; None for none."""
        navigation = self.navigation
        self._token_ahead = token
        if navigation.levels is not None and navigation.is_current:
            self.scene.set_candidate_path(
                *navigation.levels.candidate_path(
                    navigation.view, navigation.states, navigation.positions, token or b""
                )
            )

    def set_running(self, running: bool) -> None:
        """Suspend token requests during a run, whose steps have priority."""
        self.token_watch.is_running = running
        self._request_tokens()

    def show_coverage(
        self,
        coverage: Coverage | None,
        revision: int,
        source: CoverageSource = CoverageSource.TESTS,
        measure: CoverageMeasure = CoverageMeasure.VISITS,
    ) -> None:
        """Show the heat map of a grammar in its automaton, if the user wants that.

        Args:
            coverage: the coverage; None if unknown.
            revision: of the grammar.
            source: the texts that count.
            measure: what is measured.
        """
        marks = self.marks
        self.coverage_choice.choose(source)
        marks.coverage, marks.source, marks.measure = (
            None if coverage is None else (revision, coverage),
            source,
            measure,
        )
        self._update_marks()

    def show_breakpoints(self, breakpoints: Iterable[Breakpoint]) -> None:
        """Mark states and rules with a breakpoint, wherever they are shown."""
        self.marks.set_breakpoints(breakpoints)
        self._update_marks()

    def show_parted(self, parted: Mapping[StateName, str]) -> None:
        """Mark the states at which the masks of engines differ, wherever they are shown; the value says how."""
        self.marks.set_parted(parted)
        self._update_marks()
        self.selection.show_details()

    def set_stale(self, stale: bool, reason: str = "") -> None:
        """Grey the drawing out while the current text has no automaton.

        Args:
            stale: whether it has none.
            reason: why, without a period.
        """
        reason = reason or ui_text("common.grammar.not_compiled")
        has_drawing = self.navigation.automaton is not None
        is_shown = stale and has_drawing
        self.stale_banner.set_text(ui_text("automaton.page.stale", reason=reason) if is_shown else "")
        self.scene.set_stale(stale)

    def show_too_large(self, text: str) -> None:
        """Show why only a part of the automaton is drawn; an empty text removes the note."""
        if self.navigation.automaton is None:
            self.empty_page.setText(text or ui_text("automaton.page.empty"))
        else:
            self._too_large = text
            self._update_level_bar()

    def begin(self, view: ViewState) -> None:
        """Show no automaton, and set the view for the next one."""
        self.clear()
        self.navigation.history.restart(view.stored)
        self._is_opened = bool(view.unfolded)
        self._update_buttons()

    def expect_new_grammar(self) -> None:
        """Treat the next automaton as that of another grammar, not of an edit: it is drawn from scratch."""
        self._is_another = True

    def clear(self) -> None:
        """Show no automaton, and reset everything."""
        self.navigation.clear()
        self.search.forget()
        self._answer = self._token_ahead = self.marks.coverage = None
        self._is_another = self._view_is_chosen = False
        self._schema_map, self._live_spans = None, ()
        self.header.offer_schema_map(offered=False)
        if (page := self.schema_page.built) is not None:
            page.show_map(None)
        self._too_large = self._news = ""
        self._nfa = self._unfolding = None
        self._update_marks()
        self.token_watch.forget()
        self.notes.detach()
        self.stacks.show_position(None)
        self.footer.count_stacks(0)
        self.model.show_dfa(None, lambda _: "", None)
        self.stale_banner.set_text("")
        self._update_level_bar()
        self.empty_page.setText(ui_text("automaton.page.empty"))
        self.find_bar.close_bar()
        self.lists.close_list()
        self._show_page()

    def highlight_offset(self, offset: int) -> None:
        """Highlight the states and edges of a source offset; -1 for none."""
        if self.navigation.drawn is not None:
            self.scene.set_highlighted(*self.navigation.drawn.at_offset(offset))

    def highlight_ends(self) -> None:
        """Highlight the accepting states."""
        if (drawn := self.navigation.drawn) is not None:
            states = drawn.automaton.dfa.states
            self.scene.set_highlighted([one for one in drawn.diagram.excerpt.states if states[one].accepting], [])

    @command("automaton.copy_dot", "Ctrl+M, C", place=(6, 2), context="background")
    def copy_dot(self) -> None:
        """Copy the drawn graph in Graphviz' language."""
        QApplication.clipboard().setText(dot_of(self.scene))

    # --- view --------------------------------------------------------------------------------------------------------

    def _show_view(self, change: ViewChange) -> None:
        """Show the view that the user chose."""
        navigation = self.navigation
        self._news = ""
        if change is not ViewChange.TARGETS:
            self.view.is_at_home = True
        if change is ViewChange.RULE:
            navigation.selected = None
        self.search.forget()
        self._update_buttons()
        self.view_changed.emit(navigation.view.stored)
        self._request_nfa()
        levels = navigation.levels
        if levels is None:
            return
        if navigation.view.tokens is None:
            levels.set_tokens(None)
        self._request_tokens()
        self._update_automaton()
        self._update_live()
        self._draw()
        self._show_page()
        if change is ViewChange.RULE:
            self.view.setFocus()
        self._request_unfolding()

    def _reset_view(self, states: int) -> None:
        """Reset the view for another automaton: state numbers and the history are invalid for it."""
        view = self.navigation.view
        kept, self._is_opened = view.stored if self._is_opened else view.portable, False
        if view.unfolded and not kept.unfolded and not self._is_another:
            self.view_changed.emit(kept)
        if self._is_another:
            self._view_is_chosen = False
            kept, self._is_another, self._is_fresh = kept.style, False, True
            self.view_changed.emit(kept)
        if states > DRAWN_AT_MOST:
            kept = replace(kept, draws_all=False)
        self.navigation.history.restart(kept)

    def _update_automaton(self) -> bool:
        """Set the automaton of the current view; return whether it changed."""
        is_changed = self.navigation.update_automaton()
        self._update_level_bar()
        automaton = self.navigation.automaton
        if is_changed and automaton is not None:
            automaton.given_names = self.notes.names(self.navigation)
            self.model.show_dfa(automaton.dfa, automaton.label, automaton.source, automaton.name, automaton.noun)
            self._update_marks()
        return is_changed

    def _update_live(self) -> None:
        """Compute the live states of the current view."""
        self.navigation.update_live()
        self.model.set_live(self.navigation.live)

    def _update_level_bar(self) -> None:
        """Update the level bar."""
        levels, view, history = self.navigation.levels, self.navigation.view, self.navigation.history
        self.level_bar.show_levels(levels, view, back=history.can_go_back, forward=history.can_go_forward)
        self._update_size_banner()
        self._update_note()

    def _update_size_banner(self) -> None:
        """Show why less is drawn, or more simply, than the user may expect; nothing beside the map of a schema."""
        levels = self.navigation.levels
        has_map = levels is not None and levels.level(self.navigation.view) is not Level.PART
        reasons = () if self._shows_schema_page else ("" if has_map else self._too_large, self._why_simpler())
        self.size_banner.set_text(" ".join(filter(None, reasons)))

    def _why_simpler(self) -> str:
        """Return which layout is shown instead of the chosen one; an empty text if that is shown."""
        answer, chosen = self._answer, self.navigation.view.method
        if answer is None or not answer.is_simpler or not chosen:
            return ""
        wanted, used = (ui_text(f"automaton.layout.fragment.{method}") for method in (chosen, answer.method))
        return ui_text("automaton.page.simpler", wanted=f"{wanted[0].upper()}{wanted[1:]}", used=used)

    def _update_note(self) -> None:
        """Show the current part, or what the drawing omits: there are no live states if it omits the text."""
        levels, view, positions = self.navigation.levels, self.navigation.view, self.navigation.positions
        if levels is not None and (parts := breadcrumb(levels, view)):
            self.level_bar.show_breadcrumb(*parts)
            return
        rules = levels.rules if levels is not None and levels.shows_rules(view) else None
        is_lost = bool(self.navigation.states) and positions is not None and not positions.reading
        self.level_bar.show_note(rules.notes if rules is not None else (), is_lost=is_lost)

    def _update_buttons(self) -> None:
        """Update the toggle buttons for the view, which going back may change."""
        view = self.navigation.view
        for button, is_on in (
            (self.header.bytes_button, view.draws_bytes),
            (self.header.merge_button, view.merges and not view.draws_bytes),
            (self.header.nfa_button, view.nfa),
        ):
            with QSignalBlocker(button):
                button.setChecked(is_on)
        self.layout_chosen.emit(view.method, view.downwards)

    def _anchor(self) -> int | None:
        return self.navigation.anchor(self.scene.positioned.boxes)

    def _on_key(self, target: str) -> None:
        match target:
            case "back":
                self.navigation.go_back()
            case "forward":
                self.navigation.go_forward()
            case "find":
                self.search.open()
            case _:
                self.navigation.go_to_level(Level.TOKENS)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _apply_theme(self) -> None:
        """Recolour the drawing; request its layout anew if its texts have another size."""
        self.scene.recolour()
        points = theme.ui_font().pointSizeF()
        if points != self._points:
            self._points, self._answer = points, None
            if self.navigation.drawn is not None:
                self._draw()

    def _draw(self) -> None:
        """Request the layout of the current drawing, unless the last answer still applies."""
        navigation = self.navigation
        assert navigation.levels is not None
        before, wanted = navigation.wanted, navigation.levels.draw(navigation.live, navigation.view)
        navigation.wanted = wanted
        self._show_counts(navigation.levels, wanted)
        if navigation.drawn is not None and self._answer is not None and wanted.has_shape_of(navigation.drawn):
            self.show_layout(replace(self._answer, revision=wanted.request.revision))
        elif before is None or before.request != wanted.request:
            self.layout_wanted.emit(wanted.request)

    def _show_counts(self, levels: Levels, wanted: Drawing) -> None:
        view = self.navigation.view
        level = levels.level(view)
        total = levels.rules.size if levels.rules is not None else levels.part.size(is_folded=wanted.is_folded)[0]
        is_part = not wanted.is_whole or (bool(levels.names) and wanted.automaton.noun != "state")
        self.header.show_counts(
            wanted.counts(),
            is_whole=not is_part or level is Level.TOKENS or (levels.rules is not None and level is not Level.MAP),
            draws_all=view.draws_all and total > DRAWN_WHOLE,
            total=total,
            limit=DRAWN_AT_MOST,
            has_bytes=levels.automaton(replace(view, merges=False)).fold is not None,
        )
        self.header.offer_merging(offered=wanted.automaton.noun == "state" and levels.can_merge(view))

    def _highlight(self) -> None:
        navigation = self.navigation
        if navigation.automaton is not None and navigation.levels is not None and navigation.is_current:
            leaving = navigation.automaton.noun in ("state", "target")
            states, texts = navigation.automaton.drawn_live(navigation.live, navigation.view)
            self.scene.set_live(states, navigation.waiting, texts, leaving=leaving)
            self.scene.set_path(navigation.levels.path(navigation.view, navigation.output))
            self.show_candidate_path(self._token_ahead)
            self._show_badges()
        self.selection.show_details()

    def _show_badges(self) -> None:
        navigation = self.navigation
        if navigation.drawn is not None and navigation.levels is not None:
            badges = self.token_watch.badges(navigation.levels, navigation.view, navigation.drawn, navigation.live)
            self.scene.set_badges(badges)
            self.model.set_tokens(badges)
            self.view.reveal()

    @property
    def lists_tokens(self) -> bool:
        """Return whether the tokens of the live state are shown."""
        return self.navigation.view.tokens == LIVE_STATE

    def _request_tokens(self, known: TokensAnswer | None = None) -> None:
        navigation = self.navigation
        if navigation.levels is not None:
            is_live = bool(navigation.states)
            self.token_watch.update(navigation.levels, navigation.view, navigation.output, is_live=is_live, known=known)

    def _highlight_frames(self, frames: tuple[OpenFrame, ...]) -> None:
        """Highlight the rules of the selected stack, and their source spans."""
        levels, drawn = self.navigation.levels, self.navigation.drawn
        if levels is None or drawn is None:
            return
        spans = frozenset(span for frame in frames for span in frame.spans)
        states = drawn.automaton.dfa.states
        members = levels.states_of_rules(self.navigation.view, tuple(frame.name for frame in frames))
        if drawn.automaton.noun == "state":
            read = {state for state in drawn.diagram.excerpt.states if spans & set(states[state].spans)}
            members = frozenset(read & members) or members if members else frozenset(read)
        edges = [
            (edge.source, edge.target)
            for edge in drawn.diagram.excerpt.edges
            if edge.source in members and spans & set(edge.spans)
        ]
        self.scene.set_highlighted(members, edges)
        self.spans_hovered.emit(tuple(sorted(spans)))

    def _set_shows_coverage(self, is_shown: bool) -> None:
        self.marks.shows_coverage = is_shown
        self._update_marks()

    def _list_hits(self, title: str) -> None:
        """List the results of the search, if there are several."""
        hits = self.search.hits
        if len(hits) < 2:
            self.lists.close_list()
            return
        rows = [ListRow(hit.description, partial(self._show_hit, number)) for number, hit in enumerate(hits)]
        self.lists.show_list(title, rows)

    def _show_hit(self, number: int) -> None:
        """Show a result of the search; the focus stays in the list."""
        has_focus = self.lists.list.hasFocus()
        self.search.show_hit(number)
        if has_focus:
            self.lists.list.setFocus()

    def _show_notes(self) -> None:
        """Show changed notes: a name may need another layout."""
        if self.navigation.levels is not None and self.navigation.automaton is not None:
            self._update_marks()
            if (names := self.notes.names(self.navigation)) != self.navigation.automaton.given_names:
                self.navigation.automaton.given_names = names
                self._draw()

    def _update_marks(self) -> None:
        navigation = self.navigation
        self.notes.show(navigation, self.scene, self.model)
        self.marks.show(navigation.levels, navigation.view, navigation.automaton, navigation.drawn)
        marks = self.marks
        self.heat_bar.setVisible(marks.shows_coverage and marks.is_shown)
        has_lost = marks.source is not CoverageSource.TESTS
        self.heat_bar.show_measure(marks.measure, marks.total_texts, has_lost=has_lost)
        for column in range(self.model.columnCount()):
            self.table.setColumnHidden(column, column not in self.model.columns_in_use)

    # --- pages and panels --------------------------------------------------------------------------------------------

    def _show_page(self) -> None:
        """Show the drawing, a table, or the reason why there is none."""
        levels, automaton = self.navigation.levels, self.navigation.automaton
        self.header.set_enabled(automaton is not None)
        shows_tokens = levels is not None and levels.level(self.navigation.view) is Level.TOKENS
        page: QWidget = self.view
        if self.header.shows_schema_map and self._schema_map is not None:
            page = self._show_schema_page(self._schema_map)
        elif automaton is not None and self.navigation.view.nfa and self._nfa is not None and self._nfa.why_not:
            self.empty_page.setText(self._nfa.why_not)
            page = self.empty_page
        elif automaton is not None and not automaton.dfa.states:
            self.empty_page.setText(ui_text("automaton.page.no_text"))
            page = self.empty_page
        elif automaton is None or (self.navigation.drawn is None and not self.header.shows_table):
            page = self.empty_page
        elif self.header.shows_table:
            page = self.tokens_table if shows_tokens else self.table
        self._pages.setCurrentWidget(page)
        self._show_panels()
        self.footer.show_zoom_buttons(page is self.view)
        self.footer.find_button.setVisible(page is not self.schema_page.built)
        self._update_size_banner()
        self.selection.show_details()

    @property
    def _shows_schema_page(self) -> bool:
        return self._pages.currentWidget() is self.schema_page.built

    def _show_schema_page(self, found: SchemaMap) -> SchemaMapPage:
        """Bring the page of the map up to date: while it is hidden, it is not."""
        page = self.schema_page.get()
        if page.model.map is not found:
            page.show_map(found)
        page.set_live(self._live_spans, self._live_position)
        return page

    def _focus_page(self) -> None:
        page = self._pages.currentWidget()
        if page is not None:
            page.setFocus()

    def _offer_map(self, *, offered: bool) -> None:
        """Open the minimap for a large drawing, close it for a small one, unless the user decided otherwise."""
        if offered != self._map_is_offered:
            self._map_is_offered = offered
            self.footer.map_button.setChecked(offered)

    def _show_panels(self) -> None:
        """Show the stacks, and beside a drawing its map; the legend takes the place of the stacks."""
        has_stacks = self.footer.stacks_button.isChecked()
        has_map = self.footer.map_button.isChecked() and self._pages.currentWidget() is self.view
        self.stacks.setVisible(has_stacks)
        self._legend.setVisible(not has_stacks)
        self.minimap.setVisible(has_map)
        self._panels.setVisible(has_stacks or has_map)


def _listed(names: Iterable[str]) -> str:
    """Return names with commas, at most so many as a line has space for."""
    found = list(names)
    more = len(found) - _MOST_MEMBERS
    return ", ".join(found[:_MOST_MEMBERS]) + (f", +{more}" if more > 0 else "")


def _empty_page(text: str) -> QLabel:
    label = Label(text, wraps=True)
    label.setProperty("role", "empty")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setMargin(theme.SPACE_L)
    return label
