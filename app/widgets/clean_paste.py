"""Fields without secrets: they are removed from what is pasted or dropped, before it reaches undo and autosave.

What is typed stays, since a text that changes under the hand helps nobody.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QSignalBlocker, Signal
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from engine.diagnosis.intake.secrets import remove_secrets


def without_secrets(source: QMimeData) -> tuple[QMimeData, int]:
    """Return pasted data whose text has no secrets, and their number; the same data if there are none."""
    text, removed = remove_secrets(source.text())
    if not removed:
        return source, 0
    clean = QMimeData()
    clean.setText(text)
    return clean, removed


class CleanTextField(QPlainTextEdit):
    """A field for plain text.

    Signals:
        secrets_removed(int): so many were removed from pasted text.
    """

    secrets_removed = Signal(int)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste without secrets."""
        clean, removed = without_secrets(source)
        super().insertFromMimeData(clean)
        if removed:
            self.secrets_removed.emit(removed)


class CleanLineField(QLineEdit):
    """A field for one line.

    Signals:
        secrets_removed(int): so many were removed from pasted text.
    """

    secrets_removed = Signal(int)

    def __init__(self, placeholder: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(placeholder)
        self._before = 0  # characters before the last change
        self.textChanged.connect(self._clean)

    def _clean(self, text: str) -> None:
        """Clean what grew by more than a key: a line has no handler of its own for pasted data."""
        grown, self._before = len(text) - self._before, len(text)
        if grown <= 1:
            return
        clean, removed = remove_secrets(text)
        if removed:
            with QSignalBlocker(self):
                self.setText(clean)  # this forgets what undo would bring back
            self._before = len(clean)
            self.secrets_removed.emit(removed)
