"""The comparison of the grammar with an earlier one: its one dialog."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import command
from app.delays import delayed
from app.document import GrammarPart
from app.presenters.one_dialog import OneDialog
from app.session import Session
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import DecodeView
from app.workers.requests.equivalence import CompareGrammars

if TYPE_CHECKING:
    from app.dialogs.equivalence_dialog import EquivalenceDialog

_DELAY_MS = 300  # of edits while the dialog is open


class GrammarEdits(QObject):
    """The handler of "Before and after my edit…"."""

    def __init__(self, session: Session, keep_as_test: Callable[[str], None], window: QWidget) -> None:
        """Create the handler.

        Args:
            session: the session whose grammar is compared.
            keep_as_test: adds a test string.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._document, self._window = session, session.document, window
        self._keep_as_test = keep_as_test
        self._traced: GrammarPart | None = None  # the grammar of the last step
        self._steps = 0
        self._references: tuple[GrammarPart, ...] = ()
        self._dialog = OneDialog(self._make, lambda _dialog: self._cancel())
        self._timer = delayed(self, _DELAY_MS, self._compare_again)
        self._document.replaced.connect(self._forget)
        self._document.changed.connect(lambda _revision: self._timer.start() if self._dialog.current else None)
        session.decoding.view_changed.connect(self._note_steps)

    @command("edit.difference", "Ctrl+Shift+A", place=(5, 6), icon="ph.git-diff", context="editor")
    def open(self) -> EquivalenceDialog:
        """Open the dialog, or bring the open one to the front."""
        is_new = self._dialog.current is None
        dialog = self._dialog.show()
        if is_new:
            dialog.start()
        return dialog

    def _make(self) -> EquivalenceDialog:
        from app.dialogs.equivalence_dialog import EquivalenceDialog  # start-up time: built when first shown

        dialog = EquivalenceDialog(self._names(), self._window)
        dialog.wanted.connect(self._ask)
        dialog.cancelled.connect(self._cancel)
        dialog.test_wanted.connect(self._keep_as_test)
        return dialog

    def _names(self) -> tuple[str, ...]:
        """Return the names of the earlier grammars, and remember these."""
        saved, file = self._document.saved_grammar, self._document.saved_in
        name = ui_text("dialogs.equivalence.saved", name=file.name) if file else ui_text("dialogs.equivalence.opened")
        if self._traced is None or self._traced == saved:
            self._references = (saved,)
            return (name,)
        self._references = (saved, self._traced)
        return name, ui_text("dialogs.equivalence.traced")

    def _compare_again(self) -> None:
        if self._dialog.current is not None:
            self._dialog.current.offer(self._names())
            self._dialog.current.start()

    def _ask(self, index: int) -> None:
        dialog = self._dialog.current
        if dialog is None:
            return
        before = self._references[index]
        request = CompareGrammars(
            CompileRequest(0, before.notation, before.text, before.options), self._session.compiling.request()
        )
        asked = self._session.worker_pool.engines.ask(request, dialog).then(dialog.show_answer)
        asked.progressed(dialog.show_progress)
        asked.lost(lambda lost: dialog.show_lost(lost.why) if self._is_last(request) else None)

    def _is_last(self, lost: CompareGrammars) -> bool:
        return not any(isinstance(one, CompareGrammars) for one in self._session.worker_pool.engines.pending)

    def _cancel(self) -> None:
        self._session.worker_pool.engines.cancel(lambda request: isinstance(request, CompareGrammars))

    def _note_steps(self, view: DecodeView) -> None:
        """Remember the grammar of a new step."""
        steps = len(view.trace.nodes)
        if steps > self._steps and view.grammar_revision == self._document.revision:
            self._traced = self._document.content.grammar
        self._steps = steps

    def _forget(self) -> None:
        self._traced = None
        self._dialog.close()
