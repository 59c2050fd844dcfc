"""Scrolling a text to a position without moving its cursor."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit


def bring_into_view(edit: QPlainTextEdit, position: int) -> None:
    """Scroll until a position is visible; do nothing if it already is.

    Args:
        edit: the text. Its scroll bar counts wrapped lines.
        position: the position, in UTF-16 units.
    """
    cursor = QTextCursor(edit.document())
    cursor.setPosition(min(max(position, 0), edit.document().characterCount() - 1))
    rect = edit.cursorRect(cursor)
    if rect.top() >= 0 and rect.bottom() <= edit.viewport().height():
        return
    block = cursor.block()
    line = block.layout().lineForTextPosition(cursor.positionInBlock())
    number = block.firstLineNumber() + max(line.lineNumber() if line.isValid() else 0, 0)
    in_view = edit.viewport().height() // max(edit.fontMetrics().lineSpacing(), 1)
    edit.verticalScrollBar().setValue(number - in_view // 3)
