"""Labels that show a text unchanged.

A `QLabel` guesses whether its text is HTML, as tool tips do (see `plain_text`). These labels never guess.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget


class Label(QLabel):
    """A label of plain text.

    Args:
        text: the text.
        parent: as of any widget.
        wraps: whether a long text is wrapped.
        is_html: whether the text is HTML; then the caller escapes plain parts.
    """

    def __init__(
        self, text: str = "", parent: QWidget | None = None, *, wraps: bool = False, is_html: bool = False
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.RichText if is_html else Qt.TextFormat.PlainText)
        self.setWordWrap(wraps)
        self.setText(text)
