"""Texts that Qt must not interpret as HTML, and labels that show a text unchanged.

Qt guesses whether the text of a label or of a tool tip is HTML (`Qt.mightBeRichText`) and then loads the images that it
names. The texts of grammars, models and files are not HTML, so `plain_text` inserts an invisible character where Qt
would see a tag. `Label` never guesses.

Rejected: an event filter on the application, which Python would run for every event; escaping as HTML, which a screen
reader would read out.
"""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import QLabel, QWidget

_JOINER = "\N{WORD JOINER}"  # no glyph, no width, no line break
_MARK = re.compile(r"[<&]")


def plain_text(text: str) -> str:
    """Return a text that Qt treats as plain text; most texts are returned unchanged."""
    return _MARK.sub(rf"\g<0>{_JOINER}", text) if GuiQt.mightBeRichText(text) else text


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
