"""Connects the export dialog to the processes that answer it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.session import Session

if TYPE_CHECKING:
    from app.dialogs.export_dialog import ExportDialog


class Exporting(QObject):
    """The handler of "Export…".

    Signals:
        closing_wanted(): restrict the schema's objects to their declared properties.
    """

    closing_wanted = Signal()

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window

    def open(self) -> ExportDialog:
        """Open the dialog; exports that need a model go to the model's process, if there is a model."""
        from app.dialogs.export_dialog import ExportDialog

        compiling, decoding = self._session.compiling, self._session.decoding
        dialog = ExportDialog(
            self._session.document.title,
            self._window,
            waits_for=lambda: "the many seeds that are being generated" if decoding.queries.is_sampling else "",
        )
        dialog.list_wanted.connect(
            lambda options: compiling.list_exports(options, has_model=decoding.view.model is not None)
        )
        dialog.wanted.connect(
            lambda target, path, options, number, needs_model: (
                decoding.queries if needs_model and decoding.view.model is not None else compiling
            ).export(target, path, options, number)
        )
        for exports in (compiling, decoding.queries):
            dialog.cancelled.connect(exports.cancel_export)
            exports.exported.connect(dialog.show_answer)
        for failures in (compiling.failed, decoding.failed):
            failures.connect(dialog.show_failure)
        compiling.exports_listed.connect(dialog.show_list)
        compiling.compiled.connect(dialog.show_compiled)
        dialog.closing_wanted.connect(self.closing_wanted)
        self._session.activity_changed.connect(dialog.show_progress)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        dialog.begin()
        return dialog
