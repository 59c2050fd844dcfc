"""From an edit to a drawn automaton: debounced compiles, late answers dropped, the last good one kept.

A broken text changes the diagnostics and marks the drawing as stale; the
automaton stays, so that one can see what the edit was about to break.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.document import Document
from app.graph.layout.types import LayoutRequest
from app.jobs import JobGroup
from app.workers.compile_messages import (
    CompileAnswer,
    CompileRequest,
    DescribeAnswer,
    DescribeRequest,
    Diagnosed,
    FormatAnswer,
    FormatRequest,
    NeighbourhoodAnswer,
    NeighbourhoodRequest,
    StackAnswer,
    StackRequest,
)
from app.workers.export_messages import ExportAnswer, ExportList, ExportOptionsMessage, ExportRequest, ListExports
from app.workers.layout import PlainLayoutRequest
from app.workers.messages import Failed
from engine.source import Severity, SourceText

if TYPE_CHECKING:
    from app.graph.match.folding import FoldedEdge
    from app.graph.match.regions import AutomatonRegions
    from app.graph.rules import RuleCharts
    from engine.automata.dfa.dfa import ByteDfa
    from engine.automata.rtn.rule_positions import RulePositions

DEBOUNCE_MS = 10  # what one key changes in several edits is one compile; a later key cancels the compile of an earlier


@dataclass(frozen=True, slots=True)
class CompiledGrammarView:
    """A text that compiled, and the automaton that is drawn of it.

    Attributes:
        request: what was compiled.
        dfa: the automaton, or a part of it around `output`.
        output: the bytes around whose state a part was cut out.
        compile_ms: the time of the compile.
        too_large: why it is not whole; empty where it is.
        fold: the automaton over characters; None where that is no other.
        rules: the automata of the rules; None where it is whole, or has none that can be drawn.
        places: where `output` stands in the rules.
        regions: the automaton folded by the parts of its text; None where it is small, or has rules.
    """

    request: CompileRequest
    dfa: ByteDfa
    output: bytes
    compile_ms: float
    too_large: str
    fold: FoldedEdge | None = None
    rules: RuleCharts | None = None
    places: RulePositions | None = None
    regions: AutomatonRegions | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all of the automaton is here."""
        return not self.too_large


class Compiling(QObject):
    """The compile and layout side of a session.

    Signals:
        diagnosed(diagnostics, SourceText): findings about the text as it now stands.
        compiled(Drawn): the text compiled; everything that depends on the grammar follows.
        drawn(Drawn): another automaton, or another part of it, is to be drawn.
        stale_changed(is stale, reason): whether the drawing is of an older text.
        laid_out(LayoutAnswer): positions for the drawing.
        stood(StandingAnswer): on which stacks the match stands.
        described(Description, text): the last good text in words.
        formatted(FormatAnswer, text): what formatting would change in a text, or why it would not.
        exports_listed(ExportList): which targets fit the grammar.
        exported(ExportAnswer): an export is ready.
        failed(Failed): a job hit a bug.
    """

    diagnosed = Signal(object, object)
    compiled = Signal(object)
    drawn = Signal(object)
    stale_changed = Signal(bool, str)
    laid_out = Signal(object)
    stood = Signal(object)
    described = Signal(object, str)
    formatted = Signal(object, str)
    exports_listed = Signal(object)
    exported = Signal(object)
    failed = Signal(object)

    def __init__(self, document: Document, compile_group: JobGroup, layout_group: JobGroup, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._compile = compile_group
        self._layout = layout_group
        self._good: CompiledGrammarView | None = None
        self._stale = ""
        self._describes = False
        self._diagnosed = -1  # the revision whose findings were told
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._timer.timeout.connect(self.compile_now)
        document.changed.connect(lambda _revision: self._timer.start())
        document.replaced.connect(self._forget)
        compile_group.answered.connect(self._on_answer)
        compile_group.told.connect(self._on_told)
        compile_group.failed.connect(lambda _request, failed: self.failed.emit(failed))
        layout_group.answered.connect(lambda _request, answer: self.laid_out.emit(answer))
        layout_group.failed.connect(self._on_layout_failed)

    @property
    def good(self) -> CompiledGrammarView | None:
        """The last text that compiled."""
        return self._good

    @property
    def stale_reason(self) -> str:
        """Why the drawing is of an older text; empty where it is of the present one."""
        return self._stale

    def compile_now(self) -> None:
        """Compile the text as it stands, without waiting for more keys."""
        self._timer.stop()
        self._compile.cancel(lambda request: isinstance(request, DescribeRequest))  # of a text that is no more
        self._compile.submit(self.request())

    def request(self) -> CompileRequest:
        """What a compile of the text as it stands needs."""
        grammar = self._document.content.grammar
        return CompileRequest(self._document.revision, grammar.notation, grammar.text, grammar.options)

    def cancel(self) -> None:
        """Give the compile up that is under way: the last good automaton stays, and is not of the present text."""
        if any(isinstance(request, CompileRequest) for request in self._compile.pending):
            self._compile.cancel(lambda request: isinstance(request, CompileRequest))
            self._set_stale("The grammar is not compiled")

    def draw_around(self, output: bytes) -> None:
        """Draw the surroundings of the state that `output` leads to; for an automaton too large to draw whole."""
        if self._good is not None and not self._good.is_whole and output != self._good.output:
            self._compile.submit(NeighbourhoodRequest(self._good.request, output, self._good.rules is not None))

    def tell_standing(self, output: bytes) -> None:
        """Ask on which stacks the match stands after `output`; a later question takes the place of an earlier one."""
        if self._good is not None:
            self._compile.submit(StackRequest(self._good.request, output, self._good.rules is not None))

    def format_text(self) -> None:
        """Ask what formatting would change in the text as it stands."""
        grammar = self._document.content.grammar
        self._compile.submit(FormatRequest(grammar.notation, grammar.text, grammar.dialect))

    def describe(self, *, is_wanted: bool) -> None:
        """Say the grammar in words from now on, whenever it compiles, or no longer."""
        self._describes = is_wanted
        self._describe()

    def _describe(self) -> None:
        if self._describes and self._good is not None:
            self._compile.submit(DescribeRequest(self._good.request))

    def lay_out(self, request: LayoutRequest) -> None:
        """Ask for positions."""
        self._layout.submit(request)

    def list_exports(self, told: ExportOptionsMessage, *, has_model: bool) -> None:
        """Ask which export targets fit the last good grammar."""
        if self._good is not None:
            self._compile.submit(ListExports(self._good.request, told, has_model))
        else:
            self.exports_listed.emit(ExportList((), "No grammar has compiled yet: mend it, then export it."))

    def export(self, target: str, path: str, told: ExportOptionsMessage, number: int) -> None:
        """Ask for an export of the last good grammar; without a path, for how it would look."""
        if self._good is not None:
            self._compile.submit(ExportRequest(self._good.request, target, path, told, number))

    def cancel_export(self) -> None:
        """Give up the export that is under way."""
        self._compile.cancel(lambda request: isinstance(request, ExportRequest))

    def _forget(self) -> None:
        self._good = None
        self._set_stale("")
        QTimer.singleShot(0, self, self.compile_now)  # after the panes took the new document in

    def _on_answer(self, request: Any, answer: Any) -> None:
        match answer:
            case CompileAnswer():
                if answer.revision == self._document.revision:
                    self._take(request, answer)
            case NeighbourhoodAnswer():
                if self._good is not None and answer.revision == self._good.request.revision:
                    self._good = replace(
                        self._good, dfa=answer.dfa, output=request.output, fold=answer.fold, places=answer.places
                    )
                    self.drawn.emit(self._good)
            case StackAnswer():
                if self._good is not None and answer.revision == self._good.request.revision:
                    self.stood.emit(answer)
            case FormatAnswer():
                self.formatted.emit(answer, request.text)
            case DescribeAnswer():
                if self._good is not None and answer.revision == self._good.request.revision:
                    self.described.emit(answer.description, request.compiled.text)
            case ExportList():
                self.exports_listed.emit(answer)
            case ExportAnswer():
                self.exported.emit(answer)

    def _on_told(self, request: Any, value: Any) -> None:
        if isinstance(value, Diagnosed) and value.revision == self._document.revision:
            self._tell_findings(request, value)

    def _tell_findings(self, request: CompileRequest, found: Diagnosed | CompileAnswer) -> None:
        """Tell the findings about a text, once."""
        if self._diagnosed != found.revision:
            self._diagnosed = found.revision
            self.diagnosed.emit(found.diagnostics, SourceText(request.text))

    def _take(self, request: CompileRequest, answer: CompileAnswer) -> None:
        self._tell_findings(request, answer)
        if answer.dfa is None:
            errors = sum(diagnostic.severity is Severity.ERROR for diagnostic in answer.diagnostics)
            self._set_stale("The grammar has an error" if errors == 1 else f"The grammar has {errors} errors")
            return
        drawn = answer.dfa, b"", answer.compile_ms, answer.too_large, answer.fold, answer.rules, answer.places
        self._good = CompiledGrammarView(request, *drawn, answer.regions)
        self._set_stale("")
        self.compiled.emit(self._good)
        self.drawn.emit(self._good)
        self._describe()

    def _set_stale(self, reason: str) -> None:
        if reason != self._stale:
            self._stale = reason
            self.stale_changed.emit(bool(reason), reason)

    def _on_layout_failed(self, request: Any, failed: Failed) -> None:
        if isinstance(request, LayoutRequest):
            self._layout.submit(PlainLayoutRequest(request))
        else:
            self.failed.emit(failed)
