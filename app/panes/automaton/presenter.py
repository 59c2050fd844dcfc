"""Binds the automaton to the session, and handles its commands and its menu."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QFileDialog, QMenu

from app.catalogue import ui_text
from app.commands import Handler, command, keys_of
from app.display_text import state_label
from app.document import AutomatonPart
from app.graph.draw.image_files import save
from app.graph.match.rules import Unfolding
from app.models.heat import HeatColumn, HeatModel, HeatRow, heat_rows, measures_lost
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.panes.automaton.list_panel import ListAction
from app.panes.automaton.note_commands import NoteCommands
from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.path_lists import PathLists
from app.panes.automaton.schema_map import SchemaMapPage
from app.panes.automaton.state_commands import StateCommands
from app.panes.automaton.view_state import LIVE_STATE, ViewState
from app.session import CompiledGrammarView, Notification, view_of
from app.workers.requests.compile import DrawNfa, FindNfaStates, NfaDrawing, UnfoldCalls
from app.workers.requests.decode import DecodeView
from app.workers.requests.grammar_position import GrammarPosition
from engine.automata.rtn.rule_positions import RulePositions
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, StateName
from engine.diagnosis.scores.price_values import GrammarPrice
from engine.diagnosis.test_strings.values import CoverageMeasure, CoverageSource
from engine.notations.schema_map import SchemaMap
from engine.source import Diagnostic, SourceText, Span

_COVERAGE, _MEASURE = "coverage", "measure"  # what it counts, and how
_GROUPS = {"all": 2, "schema_map": 2, "coverage": 4}  # the groups of the menu in which the buttons are
_SORTED = {
    CoverageMeasure.VISITS: HeatColumn.TEXTS,
    CoverageMeasure.LOST: HeatColumn.TOTAL,
    CoverageMeasure.PRICE: HeatColumn.PRICE,
}
_LOG_PATTERNS = "*.jsonl *.ndjson *.json *.log"


def _switch(name: str, key: str, place: int, icon: str = "") -> Callable[[Handler], Handler]:
    """Declare a command that presses a button of the pane."""
    return command(
        f"automaton.{name}",
        f"Ctrl+M, {key}",
        place=(_GROUPS.get(name, 3), place),
        icon=icon,
        arguments=(name,),
        refusal=lambda self, name: self.refusal(name),
        checked=lambda self, name: self.buttons[name].isChecked(),
    )


class AutomatonPresenter(PanePresenter):
    """Shows the automaton of the last grammar that compiled, its live states, coverage and breakpoints."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: AutomatonPane = AutomatonPane()
        self._visited: dict[bytes, RulePositions] = {}  # where the texts were that the window has shown
        self._visited_revision = -1
        self._heat_model = HeatModel(self)
        self._lists_heat_next = False  # once the heat is known
        self._mapped_revision = -1
        self._nfa_asked: object = None  # the compiled text whose nondeterministic automaton was requested last
        self._nfa_found: FindNfaStates | None = None  # the last request for states in it
        self._connect_session()
        self._connect_view()
        header, footer = self.view.header, self.view.footer
        self.buttons = {
            "all": header.all_button,
            "bytes": header.bytes_button,
            "merge": header.merge_button,
            "nfa": header.nfa_button,
            "table": header.table_button,
            "schema_map": header.schema_map_button,
            "stacks": footer.stacks_button,
            "coverage": footer.coverage_button,
            "minimap": footer.map_button,
        }
        commands = context.commands
        toggled = [button.toggled for button in self.buttons.values()]
        coverage = self.session.coverage
        commands.add(self, coverage.choice_changed, coverage.changed, header.offers_changed, *toggled)
        commands.add(self.view.navigation, self.view.layout_chosen)
        for owner in (self.view, self.view.search, self.view.view):
            commands.add(owner)
        state_commands = StateCommands(self.view, context)
        for handler in (PathLists(self.view), NoteCommands(self.view), self.view.selection):
            commands.add(handler, self.view.navigation.selection_changed, self.view.notes.shown)
        state_commands.fill_menus()
        menu = QMenu(context.window)
        commands.fill(menu, lambda one: one.menu == "automaton")
        header.set_menu(menu)

    def _connect_session(self) -> None:
        session, view = self.session, self.view
        document, decoding, compiling, links = session.document, session.decoding, session.compiling, session.links
        document.replaced.connect(self._show_document)
        document.breakpoints_changed.connect(self._show_breakpoints)
        document.state_notes_changed.connect(lambda: view.notes.set_notes(document.content.state_notes))
        view.notes.changed.connect(document.set_state_notes)
        compiling.diagnosed.connect(self._on_diagnosed)
        compiling.stale_changed.connect(view.set_stale)
        compiling.laid_out.connect(view.show_layout)
        compiling.schema_mapped.connect(self._show_schema_map)
        links.cursor_moved.connect(self._select_in_map)
        session.view_changed.connect(self._show_drawn)
        session.live_states.settled.connect(self._show_live)
        session.coverage.changed.connect(self._show_coverage)
        session.price.changed.connect(self._show_price)
        session.coverage.choice_changed.connect(self._show_coverage)
        session.coverage.log_progressed.connect(self._show_coverage)
        session.coverage.log_wanted.connect(self._open_log)
        decoding.view_changed.connect(self._show_decoding)
        decoding.running_changed.connect(view.set_running)
        session.compared_masks.changed.connect(self._show_parted)
        links.offset_hovered.connect(view.highlight_offset)
        links.token_hovered.connect(view.show_candidate_path)
        links.grammar_replaced.connect(view.expect_new_grammar)
        decoding.lists_tokens = lambda: view.lists_tokens
        links.selected_state = lambda: view.navigation.selected_state

    def _connect_view(self) -> None:
        session, view = self.session, self.view
        view.layout_wanted.connect(session.compiling.lay_out)
        view.view_changed.connect(lambda chosen: session.document.set_automaton(_part_of(chosen)))
        view.spans_hovered.connect(session.links.spans_hovered)
        view.span_wanted.connect(session.links.span_chosen)
        view.nfa_wanted.connect(self._request_nfa)
        view.unfolding_wanted.connect(self._request_unfolding)
        view.navigation.view_changed.connect(lambda _change: self._request_nfa_states())
        queries = session.decoding.queries
        view.tokens_wanted.connect(lambda request: queries.list_tokens(request, view.show_tokens))
        view.coverage_choice.chosen.connect(session.coverage.choose)
        view.heat_bar.measure_chosen.connect(self._measure)
        view.lists.closed.connect(self._hide_heat_row)
        view.coverage_banner.accepted.connect(session.coverage.close_log)
        view.heat_bar.list_button.clicked.connect(self._list_heat)
        view.schema_page.when_built(self._connect_schema_page)
        view.footer.coverage_button.toggled.connect(partial(session.coverage.watch, "automaton"))

    def save(self) -> dict[str, bytes]:
        """Return what is open in the pane, and what its heat map measures; a log is not opened again."""
        coverage = self.session.coverage
        source = CoverageSource.TESTS if coverage.source is CoverageSource.LOG else coverage.source
        return {**self.view.save(), _COVERAGE: source.encode(), _MEASURE: coverage.measure.encode()}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Restore the saved state."""
        self.view.restore(saved)
        is_generated = saved.get(_COVERAGE) == CoverageSource.GENERATED.encode()
        self.session.coverage.choose(CoverageSource.GENERATED if is_generated else CoverageSource.TESTS)
        measures = {measure.encode(): measure for measure in CoverageMeasure}
        self.session.coverage.choose_measure(measures.get(saved.get(_MEASURE, b""), CoverageMeasure.VISITS))

    # --- showing -----------------------------------------------------------------------------------------------------

    def _show_document(self) -> None:
        content = self.session.document.content
        self._lists_heat_next = False
        self.view.footer.coverage_button.setChecked(False)  # the heat is that of the last document's texts
        self.view.notes.restart(content.state_notes)
        self.view.begin(_view_of(content.automaton))
        self._show_decoding(view_of(content))
        self._show_breakpoints()

    def _show_decoding(self, shown: DecodeView) -> None:
        self.view.set_token_context((shown.model, shown.prompt, shown.grammar_revision, shown.pipeline))

    def _show_breakpoints(self) -> None:
        self.view.show_breakpoints(self.session.debugging.breakpoints)

    def _on_diagnosed(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show no automaton for a text in another notation than that of the automaton."""
        if self.session.shows_other_notation(diagnostics):
            reason = self.session.compiling.stale_reason
            self.view.begin(_view_of(self.session.document.content.automaton).portable)
            self.view.set_stale(bool(reason), reason)

    def _show_drawn(self, drawn: CompiledGrammarView) -> None:
        source = SourceText(drawn.request.text)
        folded = drawn.fold, drawn.rules, drawn.regions, drawn.merged
        self.view.show_dfa(drawn.dfa, drawn.request.revision, None, source, *folded)
        self.view.show_too_large(drawn.part_note)

    def _show_schema_map(self, found: SchemaMap | None, revision: int) -> None:
        self._mapped_revision = revision
        self.view.show_schema_map(found)
        self._show_price()

    def _connect_schema_page(self, page: SchemaMapPage) -> None:
        links = self.session.links
        for signal, link in (
            (page.span_pointed, links.span_pointed),
            (page.span_wanted, links.span_chosen),
            (page.spans_hovered, links.spans_hovered),
        ):
            signal.connect(partial(self._send_from_map, link))
        page.show_price(self._price)

    @property
    def _price(self) -> GrammarPrice | None:
        """Return the price of the grammar whose map is shown."""
        is_mapped = self.session.decoding.view.grammar_revision == self._mapped_revision
        return self.session.price.found if is_mapped else None

    def _show_price(self) -> None:
        if self.view.schema_page.built is not None:
            self.view.schema_page.built.show_price(self._price)

    def _send_from_map(self, link: SignalInstance, value: object) -> None:
        """Pass a span of the map on, unless the text is another one by now."""
        if self._mapped_revision == self.session.document.revision:
            link.emit(value)

    def _select_in_map(self, offset: int) -> None:
        page = self.view.schema_page.built
        if page is not None and page.isVisible() and self._mapped_revision == self.session.document.revision:
            page.select_at(offset)

    def _show_live(self, states: frozenset[int], spans: tuple[Span, ...]) -> None:
        drawn, shown = self.session.compiling.last_good, self.session.decoding.view
        is_mapped = drawn is not None and drawn.request.revision == self._mapped_revision
        self.view.show_live_spans(spans if is_mapped else (), shown.grammar_position if is_mapped else None)
        self._request_nfa_states()
        output = shown.grammar_prefix
        if shown.position is not None and output is None:
            self.view.set_live((), RulePositions(), b"")  # the grammar does not apply here
            self.view.show_stacks(GrammarPosition(b""))
            return
        position = shown.grammar_position
        if drawn is None or position is None or drawn.request.revision != shown.grammar_revision:
            self.view.set_live(states, None, output or b"")  # the worker has not read this grammar yet
            return
        rule_positions = (position.rule_positions or RulePositions()) if states else None
        if self._visited_revision != shown.grammar_revision:
            self._visited, self._visited_revision = {}, shown.grammar_revision
        if position.rule_positions is not None:
            self._visited[position.output] = position.rule_positions
        self.view.show_stacks(position)
        first_bytes = None if shown.position is None else shown.position.first_bytes
        self.view.set_live(states, rule_positions, position.output, first_bytes, shown.tokens)

    def _request_nfa(self) -> None:
        """Request the nondeterministic automaton of the grammar that is drawn, once."""
        good = self.session.compiling.last_good
        if good is not None and self._nfa_asked is not good.request:
            self._nfa_asked = good.request
            self.session.compiling.draw_nfa(DrawNfa(good.request), self._show_nfa, self._forget_nfa)

    def _request_unfolding(self, wanted: Unfolding) -> None:
        """Request a drawing with unfolded calls, or cancel the request."""
        good, view = self.session.compiling.last_good, self.view
        if good is None or not wanted.paths:
            self.session.compiling.stop_unfolding()
            return
        request = UnfoldCalls(good.request, wanted, view.shows_nfa)
        show = partial(view.show_unfolded, wanted)
        self.session.compiling.unfold_calls(request, show, partial(show, None))

    def _forget_nfa(self) -> None:
        self._nfa_asked = None

    def _show_nfa(self, found: NfaDrawing) -> None:
        self.view.show_nfa(found)
        self._nfa_found = None
        self._request_nfa_states()

    def _request_nfa_states(self) -> None:
        """Request the states of the output in the nondeterministic automaton, while that is shown."""
        good, shown = self.session.compiling.last_good, self.session.decoding.view
        if good is None or not self.view.shows_nfa:
            return
        request = FindNfaStates(good.request, shown.grammar_prefix or b"")
        if request != self._nfa_found:
            self._nfa_found = request
            self.session.compiling.find_nfa_states(request, partial(self._show_nfa_states, request))

    def _show_nfa_states(self, request: FindNfaStates, found: RulePositions | None) -> None:
        if request is self._nfa_found:
            applies = (
                self.session.decoding.view.position is None or self.session.decoding.view.grammar_prefix is not None
            )
            self.view.show_nfa_states(found if applies else RulePositions())

    def _show_parted(self) -> None:
        """Mark the states of the run at which the masks of engines differ."""
        self.view.show_parted(self._parted_states())

    def _parted_states(self) -> dict[StateName, str]:
        drawn, compared = self.session.compiling.last_good, self.session.compared_masks
        parted = compared.parted
        if drawn is None or not parted:
            return {}
        found: dict[StateName, str] = {}
        for position, text in parted.items():
            prefix = b"".join(step.token or b"" for step in compared.run[:position])
            state = drawn.dfa.run(prefix) if drawn.is_whole else None
            if state is not None:
                found["", state] = text
            positions = self._visited.get(prefix)
            if positions is not None and drawn.rules is not None:
                found |= {(drawn.rules.names[rule], at): text for rule, at in positions.reading}
        return found

    def _show_coverage(self) -> None:
        coverage = self.session.coverage
        revision, found = coverage.shown
        self.view.marks.log = coverage.log
        self.view.show_coverage(found, revision, coverage.source, coverage.measure)
        if self._lists_heat_next and found is not None and revision == self.session.document.revision:
            self._list_heat()

    # --- commands ----------------------------------------------------------------------------------------------------

    @property
    def source(self) -> CoverageSource:
        """Return the texts that count for the heat map."""
        return self.session.coverage.source

    def shows_measure(self, measure: CoverageMeasure) -> bool:
        """Return whether the heat map is shown and measures what was lost in this way."""
        coverage = self.session.coverage
        is_lost = coverage.measure is measure and measures_lost(coverage.source, measure)
        return is_lost and coverage.is_watched_by("automaton")

    @command(
        "automaton.coverage_tests",
        "Ctrl+M, 6",
        place=(4, 6),
        arguments=(CoverageSource.TESTS,),
        checked=lambda self, source: self.source is source,
    )
    @command(
        "automaton.coverage_generated",
        "Ctrl+M, G",
        place=(4, 7),
        arguments=(CoverageSource.GENERATED,),
        checked=lambda self, source: self.source is source,
    )
    def _count(self, source: CoverageSource) -> None:
        self.session.coverage.choose(source)

    @command(
        "automaton.coverage_log", "Ctrl+M, 7", place=(4, 8), checked=lambda self: self.source is CoverageSource.LOG
    )
    def _open_log(self) -> None:
        """Ask for the files of a log, and count its outputs."""
        paths, _ = QFileDialog.getOpenFileNames(
            self.context.window,
            ui_text("automaton.coverage.log_title"),
            "",
            ui_text("automaton.coverage.log_filter", patterns=_LOG_PATTERNS),
        )
        if paths:
            self.session.coverage.open_log(tuple(paths))

    @command(
        "automaton.lost_mass",
        "Ctrl+M, 8",
        place=(4, 9),
        arguments=(CoverageMeasure.LOST,),
        checked=lambda self, measure: self.shows_measure(measure),
    )
    @command(
        "automaton.price",
        "Ctrl+M, 5",
        place=(4, 10),
        arguments=(CoverageMeasure.PRICE,),
        checked=lambda self, measure: self.shows_measure(measure),
    )
    def _toggle_measure(self, measure: CoverageMeasure) -> None:
        self._measure(CoverageMeasure.VISITS if self.shows_measure(measure) else measure)

    def _measure(self, measure: CoverageMeasure) -> None:
        """Show a measure; that of what was lost with texts that have probabilities, which test strings have not."""
        coverage = self.session.coverage
        coverage.choose_measure(measure)
        if measure is not CoverageMeasure.VISITS:
            if coverage.source is CoverageSource.TESTS:
                coverage.choose(CoverageSource.GENERATED)
            self.view.footer.coverage_button.setChecked(True)

    @command("automaton.heat_list", "Ctrl+M, 9", place=(4, 11))
    def _list_heat(self) -> None:
        """List rules and keywords, the hottest first, once the heat map has them.

        A row shows its part in the text and in the drawing.
        """
        coverage, view = self.session.coverage, self.view
        found = coverage.shown[1]
        self._lists_heat_next = found is None
        view.footer.coverage_button.setChecked(True)
        if found is None:
            return
        self.context.reveal(view)
        self._heat_model.show_rows(heat_rows(found, coverage.source, coverage.measure, has_all=True))
        rows = self._heat_model.rows
        view.lists.show_table(
            ui_text("automaton.heat.title", count=len(rows)),
            self._heat_model,
            _SORTED[coverage.measure] if measures_lost(coverage.source, coverage.measure) else HeatColumn.TEXTS,
            lambda index: self._show_heat_row(self._heat_model.rows[index.row()]),
            lambda index: self._go_to_heat_row(self._heat_model.rows[index.row()]),
            [
                ListAction(
                    ui_text("automaton.heat.check.label"),
                    ui_text("automaton.heat.check.tip"),
                    self._check_worst,
                    "heat-check",
                )
            ],
        )
        view.lists.focus_list()

    def _show_heat_row(self, row: HeatRow) -> None:
        """Highlight a row in the drawing and in the text; the end of the texts is at the accepting states."""
        if row.is_end:
            self.view.highlight_ends()
            return
        self.view.highlight_offset(row.span.start if row.span.start < row.span.end else -1)
        if row.span.start < row.span.end and self.session.coverage.shown[0] == self.session.document.revision:
            self.session.links.span_pointed.emit(row.span)

    def _check_worst(self, row: int) -> None:
        """Check the output that has the worst step of a row of the list."""
        output = self._heat_model.rows[row].lost.output
        if output:
            self.session.links.output_wanted.emit(output)
        else:
            notification = Notification("window", ui_text("automaton.heat.no_output"), severity="hint")
            self.session.notification_raised.emit(notification)

    def _hide_heat_row(self) -> None:
        self.view.highlight_offset(-1)
        self.session.links.spans_hovered.emit(())

    def _go_to_heat_row(self, row: HeatRow) -> None:
        """Open a rule that the drawing has, or go to another part in the text."""
        levels = self.view.navigation.levels
        if row.is_end:
            self.view.highlight_ends()
        elif row.rule and levels is not None and row.rule in levels.names:
            self.view.navigation.show_rule(row.rule)
        elif self.session.coverage.shown[0] == self.session.document.revision:
            self.session.links.span_chosen.emit(row.span)

    def break_at_state(self) -> None:
        """Toggle a breakpoint on the selected state."""
        debugging, named = self.session.debugging, self.view.navigation.selected_state
        if named is None:
            text = ui_text("window.command.select_state", keys=keys_of("run.breakpoint"))
            if self.view.shows_nfa and self.view.navigation.selected is not None:
                text = self.view.navigation.named_refusal
            debugging.breakpoint_refused.emit(text)
            return
        rule, state = named
        if state < 0:
            debugging.toggle(Breakpoint(BreakpointKind.RULE, rule, label=rule))
        else:
            debugging.toggle(Breakpoint(BreakpointKind.STATE, rule, state=state, label=state_label(named)))

    def refusal(self, name: str) -> str:
        """Return why a button cannot be pressed; an empty text if it can."""
        button = self.buttons[name]
        if name not in ("all", "bytes", "merge", "schema_map") or (button.isEnabled() and not button.isHidden()):
            return ""
        return ui_text(f"window.command.{name}_unavailable")

    @_switch("all", "A", 8)
    @_switch("schema_map", "W", 9, "ph.tree-structure")
    @_switch("bytes", "B", 1)
    @_switch("merge", "J", 2)
    @_switch("nfa", "E", 0)
    @_switch("table", "T", 3)
    @_switch("stacks", "S", 4, "ph.stack")
    @_switch("coverage", "V", 5, "ph.checks")
    @_switch("minimap", "M", 11, "ph.map-trifold")
    def _press(self, name: str) -> None:
        """Click the button; a disabled one stays as it is."""
        header, button = self.view.header, self.buttons[name]
        is_shown = button in (header.table_button, header.schema_map_button) and button.isChecked()
        (header.graph_button if is_shown else button).click()

    @command("automaton.save", "Ctrl+M, P", place=(6, 1), context="background")
    def save_picture(self) -> None:
        """Ask for a file and write the drawing to it."""
        self.ask_for_picture(ui_text("window.command.picture_filter"), self.save_to)

    def save_to(self, path: Path) -> None:
        """Write the drawing; a failure becomes a notification."""
        self.report_picture(save(self.view.scene, path), self.save_picture)


def _view_of(part: AutomatonPart) -> ViewState:
    """Return a document's view of the automaton as the pane's value."""
    kept = {name: getattr(part, name) for name in AutomatonPart.__struct_fields__ if name != "tokens"}
    return ViewState(**kept, tokens=LIVE_STATE if part.tokens else None)


def _part_of(view: ViewState) -> AutomatonPart:
    """Return the pane's view of the automaton as a document's value."""
    kept = {name: getattr(view, name) for name in AutomatonPart.__struct_fields__ if name != "tokens"}
    return AutomatonPart(**kept, tokens=view.tokens is not None)


PANE = PaneSpec(
    "automaton",
    "Ctrl+2",
    (1, 2),
    Area.COLUMN,
    AutomatonPresenter,
    menu=("automaton.find", "automaton.map", "automaton.live", "automaton.fit"),
)
