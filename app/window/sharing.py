"""The handler of sharing: asks for the file, and reports the result."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from app.display_text import count
from app.session import Notification, Session
from app.workers.sharing import ShareAnswer

SUFFIX = ".html"
_FILTER = f"Web pages (*{SUFFIX})"


class Sharing(QObject):
    """The handler of "Share as HTML…"."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        session.decoding.queries.shared.connect(self._on_shared)

    def share_chosen(self) -> None:
        """Ask for a file and write the page to it."""
        document = self._session.document
        folder = document.path.parent if document.path else Path.home()
        name = re.sub(r'[\x00-\x1f/\\:*?"<>|]+', "-", document.title).strip(" .-") or "trace"
        chosen, _ = QFileDialog.getSaveFileName(self._window, "Share as HTML", str(folder / f"{name}{SUFFIX}"), _FILTER)
        if chosen:
            path = Path(chosen)
            self._session.decoding.share(str(path if path.suffix else path.with_suffix(SUFFIX)))

    def _on_shared(self, answer: ShareAnswer) -> None:
        if answer.error:
            alarm = Notification("window", answer.error, button="Share as…", action=self.share_chosen)
        else:
            path = Path(answer.path)
            message = f"Shared as {path.name}: {count(answer.steps, 'step')} in {answer.size / 1000:,.0f} kB. "
            alarm = Notification(
                "window",
                f"{message}It opens in any browser and loads nothing.",
                button="Open",
                action=lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))),
                severity="hint",
            )
        self._session.alarmed.emit(alarm)
