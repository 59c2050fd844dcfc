"""The intake: its one dialog, and the failure that is taken over from it.

A failure with a grammar becomes a document; its output, log and settings go to the output check, which names the cause.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.commands import command
from app.presenters.one_dialog import OneDialog
from app.presenters.output_check import OutputCheck
from app.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.dialogs.intake_dialog import IntakeDialog
    from app.pasting import CopiedFailure


class FailureIntake(QObject):
    """The handler of "Paste what failed…".

    Signals:
        table_wanted(text): show the requests of these lines as a table.
    """

    table_wanted = Signal(str)

    def __init__(
        self,
        session: Session,
        open_request: Callable[[CopiedFailure], bool],
        output_check: OutputCheck,
        window: QWidget,
    ) -> None:
        """Create the handler.

        Args:
            session: the session whose process reads the texts.
            open_request: opens the grammar of a failure as a document; returns whether the user agreed.
            output_check: names the cause.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._open_request, self._output_check = session, open_request, output_check
        self._window = window
        self._dialog = OneDialog(self._make)

    @command("file.intake", "Ctrl+Shift+O", place=(1, 3), icon="ph.clipboard-text")
    def open(self) -> IntakeDialog:
        """Open the dialog, or bring the open one to the front."""
        dialog = self._dialog.get()
        dialog.open()
        dialog.activateWindow()
        dialog.text.setFocus()
        return dialog

    def open_text(self, text: str, answers: dict[str, str] | None = None) -> None:
        """Open the dialog with a text.

        Args:
            text: the text.
            answers: answers to questions about it.
        """
        self.open().show_text(text, answers)

    def open_file(self, path: Path) -> None:
        """Open the dialog with a file."""
        self.open().read_file(path)

    def _make(self) -> IntakeDialog:
        from app.dialogs.intake_dialog import IntakeDialog  # start-up time: the dialog is built when first shown

        dialog = IntakeDialog(self._session.document.title, self._window)
        judge = self._session.worker_pool.judge
        dialog.read_wanted.connect(lambda request: judge.ask(request, dialog).then(dialog.show_answer))
        dialog.chosen.connect(self.take)
        dialog.table_wanted.connect(self.table_wanted)
        return dialog

    def take(self, found: CopiedFailure) -> None:
        """Open the grammar of a failed request as a document, and check its output."""
        if found.constraint is not None and not self._open_request(found):
            return
        if found.has_evidence or found.constraint is not None:
            self._output_check.check_case(found.judged())
