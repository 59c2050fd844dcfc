"""The compile side of a session: from an edit of the grammar to an automaton that can be drawn.

Compiles are debounced, late answers are dropped, and the last good result is kept. A text with errors changes the
diagnostics and marks the drawing as stale; the automaton stays, so that the user sees what the edit is about to break.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from app.catalogue import ui_text
from app.delays import delayed
from app.document import Document
from app.graph.layout.types import LayoutAnswer, LayoutRequest
from app.jobs import JobGroup
from app.workers.protocol import Failed
from app.workers.requests.compile import (
    CompileAnswer,
    CompileRequest,
    CountStacks,
    DescribeAnswer,
    DescribeRequest,
    Diagnosed,
    DrawNfa,
    DrawRailroad,
    FindNfaStates,
    FormatAnswer,
    FormatRequest,
    LintAnswer,
    LintRequest,
    Mapped,
    NfaDrawing,
    StackCounts,
    UnfoldCalls,
)
from app.workers.requests.export import ExportAnswer, ExportList, ExportOptionsMessage, ExportRequest, ListExports
from app.workers.requests.layout import LayOut, LayOutPlainly
from engine.diagnosis.targets.findings import as_diagnostics
from engine.source import Diagnostic, Severity, SourceText, Span
from engine.targets import ENGINES

if TYPE_CHECKING:
    from app.graph.layout.railroad import RailroadDrawing
    from app.graph.match.folding import FoldedAutomaton
    from app.graph.match.regions import AutomatonRegions
    from app.graph.match.rules import RuleCharts, UnfoldedCalls
    from app.workers.requests.grammar_position import GrammarPosition
    from engine.automata.dfa.dfa import ByteDfa
    from engine.automata.rtn.rule_positions import RulePositions

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class CompiledGrammarView:
    """A text that compiled, and its automaton for the drawing.

    Attributes:
        request: what was compiled.
        dfa: the automaton, or the part of it around `output`.
        output: the bytes that lead to the state in the middle of the part.
        compile_ms: the duration of the compile, in milliseconds.
        too_large: why `dfa` is only a part, in a few words; empty if it is complete.
        fold: the automaton over characters; None if it does not differ.
        rules: the automata of the rules; None if `dfa` is complete or the rules cannot be drawn.
        rule_positions: the rule positions after `output`.
        regions: the automaton folded by the parts of its text; None if it is small or has rules.
        why_no_rules: why the rules are not drawn although `dfa` is only a part; empty if there are none.
        rule_automata: the automata of the rules, pickled for the decode process; empty if there are none.
        merged: the automaton with counters as nodes and forced runs as edges; None if there are neither.
    """

    request: CompileRequest
    dfa: ByteDfa
    output: bytes
    compile_ms: float
    too_large: str
    fold: FoldedAutomaton | None = None
    rules: RuleCharts | None = None
    rule_positions: RulePositions | None = None
    regions: AutomatonRegions | None = None
    why_no_rules: str = ""
    rule_automata: bytes = field(default=b"", repr=False)
    merged: FoldedAutomaton | None = None

    @property
    def part_note(self) -> str:
        """Return a sentence that says why only a part is drawn; empty if `dfa` is complete."""
        if not self.too_large:
            return ""
        if not self.why_no_rules:
            return ui_text("session.excerpt.part", size=self.too_large)
        return ui_text("session.excerpt.part_reason", size=self.too_large, reason=self.why_no_rules)

    @property
    def is_whole(self) -> bool:
        """Return whether `dfa` is the complete automaton."""
        return not self.too_large


class Compiling(QObject):
    """Compiles the grammar and lays automata out.

    Signals:
        diagnosed(diagnostics, SourceText): the findings about the current text, also those for its target.
        compiled(CompiledGrammarView): the text compiled; everything that depends on the grammar follows.
        view_changed(CompiledGrammarView): there is a new automaton, or another part of it, to draw.
        stale_changed(is stale, reason): whether the drawing belongs to an older text.
        laid_out(LayoutAnswer): positions for the drawing.
        schema_mapped(SchemaMap, revision): the map of the current text; None if it is no schema.
        described(Description, text): the last good text in words.
        exports_listed(ExportList): the export targets that fit the grammar.
        exported(ExportAnswer): an export is ready.
        failed(Failed): a job hit a bug.
    """

    diagnosed = Signal(tuple, SourceText)
    compiled = Signal(CompiledGrammarView)
    view_changed = Signal(CompiledGrammarView)
    stale_changed = Signal(bool, str)
    laid_out = Signal(LayoutAnswer)
    schema_mapped = Signal(object, int)
    described = Signal(object, str)
    exports_listed = Signal(ExportList)
    exported = Signal(ExportAnswer)
    failed = Signal(Failed)

    def __init__(self, document: Document, compile_group: JobGroup, layout_group: JobGroup, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._compile = compile_group
        self._layout = layout_group
        self._last_good: CompiledGrammarView | None = None
        self._stale = ""
        self._describes = False
        self._diagnosed = -1  # the revision whose findings were emitted last
        self._diagnostics: tuple[Diagnostic, ...] = ()  # of that revision
        self._target_diagnostics: tuple[Diagnostic, ...] = ()  # of the current text, once they are known
        self._emitted_for_target: tuple[Diagnostic, ...] = ()
        self._timer = delayed(self, 0, self.compile_now)  # several edits by one key are one compile
        document.changed.connect(lambda _revision: self._timer.start())
        document.target_changed.connect(self._lint)
        document.replaced.connect(self._forget)
        for group in (compile_group, layout_group):
            group.failed.connect(lambda _request, failed: self.failed.emit(failed))

    @property
    def last_good(self) -> CompiledGrammarView | None:
        """Return the last text that compiled."""
        return self._last_good

    @property
    def awaits_edits(self) -> bool:
        """Return whether an edit is not compiled yet, since another may follow at once."""
        return self._timer.isActive()

    @property
    def stale_reason(self) -> str:
        """Return why the drawing belongs to an older text; empty if it is current."""
        return self._stale

    def compile_now(self) -> None:
        """Compile the current text without waiting for more keys."""
        self._timer.stop()
        about_text = DescribeRequest | CountStacks | DrawRailroad | DrawNfa | FindNfaStates | UnfoldCalls
        self._compile.cancel(lambda request: isinstance(request, about_text))  # outdated texts
        self._lint()  # before the compile, which takes longer: the findings of both are shown together
        request = self.request()
        asked = self._compile.ask(request, self)
        asked.then(partial(self._take, request)).reported(partial(self._take_report, request))

    def request(self) -> CompileRequest:
        """Return the request that compiles the current text."""
        grammar = self._document.content.grammar
        return CompileRequest(self._document.revision, grammar.notation, grammar.text, grammar.options)

    def _lint(self) -> None:
        """Request the findings for the target of the document, first without rewrites, which take longer."""
        self._compile.cancel(lambda request: isinstance(request, LintRequest))
        self._target_diagnostics = ()
        request = self._lint_request(rewrites=False)
        if request is not None:
            self._compile.ask(request, self).then(partial(self._take_target_findings, request))
        else:
            self._show_target_diagnostics(())

    def _lint_request(self, *, rewrites: bool) -> LintRequest | None:
        """Return the request for the current text; None if it has no target, or one without data."""
        grammar, revision = self._document.content.grammar, self._document.revision
        if grammar.target not in ENGINES:
            return None
        target, version = grammar.target, grammar.target_version
        return LintRequest(revision, grammar.notation, grammar.text, target, version, grammar.dialect, rewrites)

    def _take_target_findings(self, request: LintRequest, answer: LintAnswer) -> None:
        if request != self._lint_request(rewrites=request.rewrites):
            return  # it is about another text or target
        self._show_target_diagnostics(as_diagnostics(answer.found))
        further = self._lint_request(rewrites=True)
        if answer.found and further is not None and further != request:
            self._compile.ask(further, self).then(partial(self._take_target_findings, further))

    def _show_target_diagnostics(self, found: tuple[Diagnostic, ...]) -> None:
        self._target_diagnostics = found
        if self._diagnosed == self._document.revision and found != self._emitted_for_target:
            self._emit_diagnosed(self._document.content.grammar.text)

    def _emit_diagnosed(self, text: str) -> None:
        """Emit all findings, without those for the target that repeat another one."""
        self._emitted_for_target = self._target_diagnostics
        stated = {one.span: one.message for one in self._diagnostics}
        others = (
            one for one in self._target_diagnostics if one.span not in stated or stated[one.span] not in one.message
        )
        self.diagnosed.emit((*self._diagnostics, *others), SourceText(text))

    def cancel(self) -> None:
        """Cancel the running compile; the last good automaton stays and is marked as stale."""
        if any(isinstance(request, CompileRequest) for request in self._compile.pending):
            self._compile.cancel(lambda request: isinstance(request, CompileRequest))
            self._set_stale(ui_text("session.stale.cancelled"))

    def draw_around(self, revision: int, position: GrammarPosition | None) -> None:
        """Draw the neighbourhood of the live state, if the automaton of this revision is too large to draw."""
        drawn = self._last_good
        if drawn is None or position is None or position.dfa is None or not self._is_of_last_good(revision):
            return
        if not drawn.is_whole and position.output != drawn.output:
            self._last_good = replace(
                drawn,
                dfa=position.dfa,
                output=position.output,
                fold=position.fold,
                merged=position.merged,
                rule_positions=position.rule_positions,
            )
            self.view_changed.emit(self._last_good)

    def format_text(self, show: Callable[[FormatAnswer, str], object]) -> None:
        """Request the changes that formatting would make to the current text; `show` receives them and the text."""
        grammar = self._document.content.grammar
        request = FormatRequest(grammar.notation, grammar.text, grammar.dialect)
        self._compile.ask(request, self).then(lambda answer: show(answer, request.text))

    def describe(self, *, is_wanted: bool) -> None:
        """Start or stop describing the grammar in words after each compile."""
        self._describes = is_wanted
        self._describe()

    def _describe(self) -> None:
        if self._describes and self._last_good is not None:
            compiled = self._last_good.request
            self._compile.ask(DescribeRequest(compiled), self).then(partial(self._on_described, compiled.text))

    def draw_railroad(self, request: DrawRailroad, show: Callable[[RailroadDrawing | None], object]) -> None:
        """Request a railroad diagram; a newer request replaces one that waits."""
        self._compile.ask(request, self).then(show)

    def draw_nfa(self, request: DrawNfa, show: Callable[[NfaDrawing], object], stop: Callable[[], object]) -> None:
        """Request the nondeterministic automaton of the last good grammar.

        Args:
            request: the request.
            show: receives the answer, if that grammar is still the last good one.
            stop: called if there will be none.
        """
        asked = self._compile.ask(request, self).then(partial(self._show_of, request.compiled, show))
        asked.lost(lambda _lost: stop())

    def find_nfa_states(self, request: FindNfaStates, show: Callable[[RulePositions | None], object]) -> None:
        """Request the states of a text in that automaton; a newer request replaces one that waits."""
        self._compile.cancel(lambda pending: isinstance(pending, FindNfaStates))
        self._compile.ask(request, self).then(partial(self._show_of, request.compiled, show))

    def unfold_calls(
        self, request: UnfoldCalls, show: Callable[[UnfoldedCalls | None], object], stop: Callable[[], object]
    ) -> None:
        """Request a drawing with unfolded calls of the last good grammar; a newer request replaces one that waits.

        Args:
            request: the request.
            show: receives the answer, if that grammar is still the last good one.
            stop: called if there will be none.
        """
        self.stop_unfolding()
        asked = self._compile.ask(request, self).then(partial(self._show_of, request.compiled, show))
        asked.lost(lambda _lost: stop())

    def stop_unfolding(self) -> None:
        """Cancel the request for a drawing with unfolded calls."""
        self._compile.cancel(lambda pending: isinstance(pending, UnfoldCalls))

    def _show_of(self, compiled: CompileRequest, show: Callable[[Answer], object], answer: Answer) -> None:
        if self._is_of_last_good(compiled.revision):
            show(answer)

    def count_stacks(
        self, request: CountStacks, show: Callable[[StackCounts], object], stop: Callable[[], object]
    ) -> None:
        """Request the stacks after each token of a text.

        Args:
            request: the request.
            show: receives the answer.
            stop: called if there will be none.
        """
        self._compile.ask(request, self).then(show).lost(lambda _lost: stop())

    def lay_out(self, request: LayoutRequest) -> None:
        """Request positions for a graph."""
        self._layout.ask(LayOut(request), self).then(self.laid_out.emit).otherwise(LayOutPlainly(request))

    def list_exports(self, options: ExportOptionsMessage, *, has_model: bool) -> None:
        """Request the list of export targets that fit the last good grammar."""
        if self._last_good is not None:
            request = ListExports(self._last_good.request, options, has_model)
            self._compile.ask(request, self).then(self.exports_listed.emit)
        else:
            self.exports_listed.emit(ExportList((), ui_text("session.stale.no_export")))

    def export(self, target: str, path: str, options: ExportOptionsMessage, number: int) -> None:
        """Request an export of the last good grammar.

        Args:
            target: the name of the export target.
            path: the file to write; empty for a preview.
            options: the export options.
            number: the number of the request, which its answer repeats.
        """
        if self._last_good is not None:
            request = ExportRequest(self._last_good.request, target, path, options, number)
            self._compile.ask(request, self).then(self.exported.emit)

    def cancel_export(self) -> None:
        """Cancel the running export."""
        self._compile.cancel(lambda request: isinstance(request, ExportRequest))

    def _forget(self) -> None:
        self._last_good = None
        self._target_diagnostics = ()
        self._set_stale("")
        QTimer.singleShot(0, self, self.compile_now)  # after the panes have taken over the new document

    def _is_of_last_good(self, revision: int) -> bool:
        return self._last_good is not None and revision == self._last_good.request.revision

    def _on_described(self, text: str, answer: DescribeAnswer) -> None:
        if self._is_of_last_good(answer.revision):
            self.described.emit(answer.description, text)

    def _take_report(self, request: CompileRequest, found: Diagnosed | Mapped) -> None:
        if isinstance(found, Diagnosed):
            self._report_findings(request, found)
        elif found.revision == self._document.revision:
            self.schema_mapped.emit(found.schema_map, found.revision)

    def _report_findings(self, request: CompileRequest, found: Diagnosed | CompileAnswer) -> None:
        """Emit the findings about the current text, unless they are known."""
        known = self._diagnosed, self._diagnostics
        if found.revision == self._document.revision and known != (found.revision, found.diagnostics):
            self._diagnosed, self._diagnostics = found.revision, found.diagnostics
            self._emit_diagnosed(request.text)

    def _take(self, request: CompileRequest, answer: CompileAnswer) -> None:
        if answer.revision != self._document.revision:
            return
        self._report_findings(request, answer)
        if answer.dfa is None:
            errors = sum(diagnostic.severity is Severity.ERROR for diagnostic in answer.diagnostics)
            self._set_stale(ui_text("session.stale.errors", count=errors))
            return
        drawn = answer.dfa, b"", answer.compile_ms, answer.too_large, answer.fold, answer.rules, answer.rule_positions
        self._last_good = CompiledGrammarView(
            request, *drawn, answer.regions, answer.why_no_rules, answer.rule_automata, answer.merged
        )
        self._set_stale("")
        self.compiled.emit(self._last_good)
        self.view_changed.emit(self._last_good)
        self._describe()

    def _set_stale(self, reason: str) -> None:
        if reason != self._stale:
            self._stale = reason
            self.stale_changed.emit(bool(reason), reason)


class LiveStates(QObject):
    """Reports the live states; after a step, only once chips and candidates are painted.

    Signals:
        settled(states, spans): highlight these states of the drawn automaton, and these spans of the text.
    """

    settled = Signal(frozenset, tuple)

    def __init__(self, compiling: Compiling, parent: QObject) -> None:
        super().__init__(parent)
        self._compiling = compiling
        self._live: frozenset[int] = frozenset()
        self._spans: tuple[Span, ...] = ()
        self._reported: CompiledGrammarView | None = None  # the automaton of the last report
        self._timer = delayed(self, 0, lambda: QTimer.singleShot(0, self, self._settle))

    def show(self, states: frozenset[int], spans: tuple[Span, ...]) -> None:
        """Report these states: at once for another automaton, otherwise after the events that wait."""
        self._live, self._spans = states, spans
        if self._compiling.last_good is self._reported:
            self._timer.start()
        else:
            self._settle()

    def _settle(self) -> None:
        self._timer.stop()
        self._reported = self._compiling.last_good
        self.settled.emit(self._live, self._spans)
