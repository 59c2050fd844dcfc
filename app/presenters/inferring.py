"""A grammar from samples: its one dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.commands import command
from app.panes.editor.pane import EditorPane
from app.presenters.one_dialog import OneDialog
from app.session import Session
from app.workers.requests.judge import InferAnswer, InferGrammar

if TYPE_CHECKING:
    from app.dialogs.infer_dialog import InferDialog


class GrammarInference(QObject):
    """The handler of "Grammar from samples…"."""

    def __init__(self, session: Session, editor: EditorPane, window: QWidget) -> None:
        """Create the handler.

        Args:
            session: the session whose document gets the grammar.
            editor: the editor that shows it.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._editor, self._window = session, editor, window
        self._dialog = OneDialog(self._make, lambda _dialog: self._cancel())

    @command("file.infer", "Ctrl+Shift+X, S", place=(1, 6))
    def open(self) -> InferDialog:
        """Open the dialog, or bring the open one to the front."""
        return self._dialog.show()

    def _make(self) -> InferDialog:
        from app.dialogs.infer_dialog import InferDialog  # start-up time: built when first shown

        judge = self._session.worker_pool.judge
        dialog = InferDialog(self._window)
        dialog.wanted.connect(
            lambda request: judge.ask(request, dialog).then(dialog.show_answer).failed(dialog.show_failure)
        )
        dialog.cancelled.connect(self._cancel)
        dialog.chosen.connect(self._use)
        return dialog

    def _cancel(self) -> None:
        self._session.worker_pool.judge.cancel(lambda request: isinstance(request, InferGrammar))

    def _use(self, answer: InferAnswer) -> None:
        """Replace the grammar, as one undo step."""
        grammar = self._session.document.content.grammar
        reading = msgspec.structs.replace(grammar, notation=answer.notation, dialect="python", text="")
        self._editor.switch(reading, answer.text)
