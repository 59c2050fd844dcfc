"""The audit of the tokenizer: its one dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.commands import command
from app.presenters.one_dialog import OneDialog
from app.session import Session

if TYPE_CHECKING:
    from app.dialogs.audit_dialog import AuditDialog


class TokenizerAudits(QObject):
    """The handler of "Audit the tokenizer…"."""

    def __init__(self, session: Session, window: QWidget) -> None:
        """Create the handler.

        Args:
            session: the session whose model and grammar are audited.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._window = session, window
        self._dialog = OneDialog(self._make, lambda _dialog: session.decoding.queries.cancel_audit())
        session.document.changed.connect(lambda _revision: self._outdate())
        session.decoding.model_opened.connect(self._outdate)

    @command("run.audit", "Ctrl+R, A", place=(5, 3), icon="ph.magnifying-glass")
    def open(self) -> AuditDialog:
        """Open the dialog with the tokenizer of the loaded model, or bring the open one to the front."""
        return self._dialog.show()

    def _make(self) -> AuditDialog:
        from app.dialogs.audit_dialog import AuditDialog  # start-up time: the dialog is built when first shown

        dialog = AuditDialog(self._window)
        dialog.wanted.connect(self._ask)
        dialog.span_wanted.connect(self._session.links.span_chosen)
        dialog.span_wanted.connect(lambda _span: self._dialog.uncover(self._window))
        self._session.decoding.queries.audited.connect(dialog.show_answer)
        dialog.audit()
        return dialog

    def _ask(self, path: str) -> None:
        self._session.decoding.queries.audit(self._session.compiling.request(), path)

    def _outdate(self) -> None:
        if self._dialog.current is not None:
            self._dialog.current.show_outdated()
