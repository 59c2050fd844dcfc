"""The handlers of the commands that export the grammar and share the trace."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from app.catalogue import ui_text
from app.commands import command
from app.session import Notification, Session
from app.workers.requests.decode import ShareAnswer
from app.workers.requests.export import ExportOptionsMessage

if TYPE_CHECKING:
    from app.dialogs.export_dialog import ExportDialog

SUFFIX = ".html"


class Sharing(QObject):
    """The handler of "Share as HTML…" and "Save bug bundle…"."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window

    @command("file.share", "Ctrl+Shift+H", place=(3, 2), icon="ph.share-network")
    def share_chosen(self) -> None:
        """Ask for a file and write the page to it."""
        title, kinds = ui_text("window.command.share_title"), ui_text("window.command.share_filter", patterns="*.html")
        if path := self._choose(title, kinds, SUFFIX):
            self._session.decoding.share(path, self._on_shared)

    @command("file.bundle", "Ctrl+Shift+B", place=(3, 3))
    def bundle_chosen(self) -> None:
        """Ask for a file and write the bug bundle to it."""
        self.bundle_with("")

    def bundle_with(self, server_report: str) -> None:
        """Ask for a file and write the bug bundle to it, with what a check of a server found."""
        title, kinds = ui_text("window.command.bundle_title"), ui_text("window.command.bundle_filter", patterns="*.zip")
        if path := self._choose(title, kinds, ".zip"):
            self._session.decoding.share(path, self._on_shared, as_bundle=True, server_report=server_report)

    def _choose(self, title: str, kinds: str, suffix: str) -> str:
        """Ask for a file to write; return its path, or an empty text.

        Args:
            title: the title of the dialog.
            kinds: its filter.
            suffix: the suffix of a file that has none.
        """
        document = self._session.document
        folder = document.path.parent if document.path else Path.home()
        name = re.sub(r'[\x00-\x1f/\\:*?"<>|]+', "-", document.title).strip(" .-") or "trace"
        chosen, _ = QFileDialog.getSaveFileName(self._window, title, str(folder / f"{name}{suffix}"), kinds)
        path = Path(chosen)
        return "" if not chosen else str(path if path.suffix else path.with_suffix(suffix))

    def _on_shared(self, answer: ShareAnswer) -> None:
        if answer.as_bundle:
            again = ui_text("common.button.save_as")
            if answer.error:
                notification = Notification("window", answer.error, button=again, action=self.bundle_chosen)
            else:
                name, left_out = Path(answer.path).name, ", ".join(answer.left_out)
                key = "bundled_without" if left_out else "bundled"
                fields = {"left_out": left_out} if left_out else {}
                text = ui_text(f"window.command.{key}", name=name, count=answer.steps, **fields)
                notification = Notification("window", text, severity="hint", is_passing=True)
        elif answer.error:
            notification = Notification(
                "window", answer.error, button=ui_text("window.command.share_as"), action=self.share_chosen
            )
        else:
            path = Path(answer.path)
            notification = Notification(
                "window",
                ui_text("window.command.shared", name=path.name, count=answer.steps, kilobytes=answer.size / 1000),
                button=ui_text("common.button.open"),
                action=lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))),
                severity="hint",
                is_passing=True,
            )
        self._session.notification_raised.emit(notification)


class Exporting(QObject):
    """The handler of "Export…"."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window

    @command("file.export", "Ctrl+E", place=(3, 1), icon="ph.export")
    def open(self) -> ExportDialog:
        """Open the dialog; exports that need a model go to the model's process, if there is a model."""
        from app.dialogs.export_dialog import ExportDialog  # start-up time: the dialog is built when first shown

        compiling, decoding = self._session.compiling, self._session.decoding
        dialog = ExportDialog(
            self._session.document.title,
            self._window,
            is_sampling=lambda: decoding.queries.is_sampling,
        )
        dialog.list_wanted.connect(
            lambda options: compiling.list_exports(options, has_model=decoding.view.model is not None)
        )
        dialog.wanted.connect(
            lambda target, path, options, number, needs_model: (
                decoding.queries if needs_model and decoding.view.model is not None else compiling
            ).export(target, path, self._with_report(options), number)
        )
        for exports in (compiling, decoding.queries):
            dialog.cancelled.connect(exports.cancel_export)
            exports.exported.connect(dialog.show_answer)
        for failures in (compiling.failed, decoding.failed):
            failures.connect(dialog.show_failure)
        compiling.exports_listed.connect(dialog.show_list)
        compiling.compiled.connect(dialog.show_compiled)
        dialog.closing_wanted.connect(self._session.links.closing_wanted)
        self._session.activity_changed.connect(dialog.show_progress)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        dialog.begin()
        return dialog

    def _with_report(self, options: ExportOptionsMessage) -> ExportOptionsMessage:
        """Add what the last check of a server found about this grammar; a target without requests ignores it."""
        report = self._session.engines.server_report_about(self._session.compiling.request())
        return replace(options, server_report=report)
