"""The output check: its one dialog, and the output that was pasted last.

The output belongs to the document that it was checked against, so it is restored when the dialog is opened again, and
dropped with the document.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import command
from app.presenters.one_dialog import OneDialog
from app.session import Notification, Session
from app.workers.requests.decode import DecodeView, ReplayQuestion
from app.workers.requests.engines import CompareEngines
from app.workers.requests.scoring import ScoreOutput
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import DEFAULT_MAX_TOKENS
from engine.diagnosis.case import FailureCase
from engine.notations.editing import Edit
from engine.source import Span

if TYPE_CHECKING:
    from app.dialogs.replay_dialog import ReplayDialog, ReplayDraft
    from engine.diagnosis.failures.diagnosis import ViolationFix


class OutputCheck(QObject):
    """The handler of "Check an output…".

    Signals:
        smallest_wanted(): find the part of the grammar on which an engine fails.
    """

    smallest_wanted = Signal()

    def __init__(self, session: Session, keep_as_test: Callable[[str], None], window: QWidget) -> None:
        """Create the handler.

        Args:
            session: the session whose grammar is used.
            keep_as_test: adds a test string.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._keep_as_test, self._window = session, keep_as_test, window
        self._dialog = OneDialog(self._make, self._on_closed)
        self._draft: ReplayDraft | None = None
        self._pipeline = PipelineSettings()  # of the last check
        self._checked_text = ""  # the grammar of the last check
        session.document.replaced.connect(self._forget)
        session.document.changed.connect(self._on_changed)
        session.compiling.stale_changed.connect(self._on_stale)
        session.decoding.view_changed.connect(self._on_view)
        session.links.output_wanted.connect(lambda output: self.check_case(FailureCase(output=output)))

    @command("tests.check", "Ctrl+K", place=(1, 1), icon="ph.clipboard-text")
    def open(self) -> ReplayDialog:
        """Open the dialog with the output pasted last, or bring the open one to the front."""
        dialog = self._dialog.show()
        dialog.text.setFocus()
        return dialog

    def check_case(self, case: FailureCase) -> None:
        """Open the dialog with the output of a failed request, in place of an open one."""
        self._dialog.close()
        self.open().show_case(case)

    def _make(self) -> ReplayDialog:
        from app.dialogs.replay_dialog import ReplayDialog  # start-up time: the dialog is built when first shown

        compiling, decoding = self._session.compiling, self._session.decoding
        dialog = ReplayDialog(self._session.document.title, self._window)
        dialog.checked.connect(self._check)
        dialog.opened.connect(self._open_as_trace)
        dialog.test_wanted.connect(self._keep_as_test)
        dialog.span_wanted.connect(self._session.links.span_chosen)
        dialog.span_wanted.connect(lambda _span: self._dialog.uncover(self._window))
        dialog.schema_repair_wanted.connect(self._repair_schema)
        dialog.score_wanted.connect(self._score)
        dialog.scores.cancelled.connect(decoding.queries.cancel_scoring)
        dialog.engines_wanted.connect(self._compare_engines)
        dialog.engines.smallest_wanted.connect(self.smallest_wanted)
        dialog.engines.cancelled.connect(self._session.engines.cancel_comparison)
        decoding.queries.replayed.connect(dialog.show_answer)
        decoding.queries.scored.connect(dialog.show_scores)
        decoding.queries.scoring_progressed.connect(dialog.scores.show_progress)
        self._session.engines.compared.connect(dialog.show_engines)
        self._session.engines.comparison_progressed.connect(dialog.engines.show_progress)
        compiling.diagnosed.connect(dialog.check_again)
        decoding.model_opened.connect(dialog.show_model_changed)
        self._pipeline = decoding.view.pipeline
        if self._draft is not None:
            dialog.resume(self._draft)
        return dialog

    def _check(self, question: ReplayQuestion) -> None:
        compiled = self._session.compiling.request()
        self._checked_text = compiled.text
        self._session.decoding.queries.replay(compiled, question)

    def _open_as_trace(self, ids: tuple[int, ...]) -> None:
        """Make the output the trace, and raise a budget that is too short to look at each of its steps."""
        before, raised = self._session.document.content.max_tokens, len(ids) + DEFAULT_MAX_TOKENS
        if len(ids) >= before:
            self._session.decoding.set_max_tokens(raised)
            text = ui_text("presenters.output_check.raised", before=before, count=len(ids), budget=raised)
            self._session.notification_raised.emit(Notification("generation", text, severity="hint"))
        self._session.decoding.open_output(ids)

    def _score(self, question: ReplayQuestion, prompt: str, by_response: bool) -> None:
        compiled = self._session.compiling.request()
        self._session.decoding.score(ScoreOutput(compiled, question, prompt, by_response))

    def _compare_engines(self, question: ReplayQuestion) -> None:
        self._session.engines.compare(CompareEngines(self._session.compiling.request(), question))

    def _repair_schema(self, fix: ViolationFix) -> None:
        """Apply a repair of the schema as one undo step, unless the schema is another one meanwhile."""
        if self._session.document.content.grammar.text == self._checked_text:
            edits = tuple(Edit(Span(edit.start, edit.end), edit.new) for edit in fix.edits)
            self._session.links.edits_wanted.emit(edits)

    def _on_changed(self, _revision: int) -> None:
        if self._dialog.current is not None:
            self._dialog.current.show_grammar_changed()

    def _on_stale(self, is_stale: bool, why: str) -> None:
        if self._dialog.current is not None and is_stale:
            self._dialog.current.show_grammar_refused(why)

    def _on_view(self, view: DecodeView) -> None:
        """Check the output again under other zones."""
        if self._dialog.current is not None and view.pipeline != self._pipeline:
            self._pipeline = view.pipeline
            self._dialog.current.check_again()

    def _on_closed(self, dialog: ReplayDialog) -> None:
        self._draft = dialog.draft
        self._session.decoding.queries.cancel_scoring()
        self._session.engines.cancel_comparison()

    def _forget(self) -> None:
        self._draft = None
