"""The output as plain text, with more room than its chips have."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QShowEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from app import theme
from app.catalogue import ui_text
from app.panes.generation.output import ShownOutput
from app.theme.labels import plain_text
from app.widgets.document_text import document_text


class TextPage(QPlainTextEdit):
    """Shows an output as text that can be selected and copied.

    What may be redone is pale, and what the grammar does not allow has the background of errors.

    Args:
        output: returns the output; it is called while the page is visible alone, since it reads all steps.
        parent: as of any widget.

    Signals:
        node_clicked(step id): go to right after this step: Return, or a double click, in its token.
    """

    node_clicked = Signal(int)

    def __init__(self, output: Callable[[], ShownOutput], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._read_output = output
        self._output = ShownOutput()
        self._is_outdated = True
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setAccessibleName(ui_text("generation.text.name"))
        self.setToolTip(plain_text(ui_text("generation.text.tip")))
        self.setPlaceholderText(ui_text("generation.text.empty"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(theme.SPACE_S)
        theme.themes.changed.connect(self._recolour)
        self._recolour()

    def show_output(self) -> None:
        """Show the output anew; a hidden page does so once it is visible."""
        self._is_outdated = True
        if self.isVisible():
            self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Lay out what changed while the page was hidden."""
        super().showEvent(event)
        self._refresh()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go to the step of the token under the pointer."""
        super().mouseDoubleClickEvent(event)
        if event.button() is Qt.MouseButton.LeftButton:
            self._go_to(self.cursorForPosition(event.position().toPoint()).position())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the step of the token at the cursor on Return."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._go_to(self.textCursor().position())
        else:
            super().keyPressEvent(event)

    def _go_to(self, position: int) -> None:
        index = bisect_right(_starts_of(self._output), position) - 1
        if index < len(self._output.tokens) and self._output.can_be_gone_to:
            self.node_clicked.emit(self._output.tokens[index][0])

    def _refresh(self) -> None:
        if not self._is_outdated:
            return
        self._is_outdated = False
        self._output = self._read_output()
        text = b"".join(token for _, token in self._output.tokens).decode("utf-8", "replace").replace("\r", "␍")
        shown = document_text(self.document())
        if text != shown:
            is_at_end = self.verticalScrollBar().value() >= self.verticalScrollBar().maximum()
            if shown and text.startswith(shown):  # a step appends: what is there keeps its layout and the selection
                cursor = QTextCursor(self.document())
                cursor.movePosition(QTextCursor.MoveOperation.End)
                cursor.insertText(text[len(shown) :])
            else:
                self.setPlainText(text)
            if is_at_end:
                self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self._mark()

    def _mark(self) -> None:
        """Mark what is not part of the output now, and what the grammar refuses."""
        is_all_taken = self._output.taken == len(self._output.tokens)
        if is_all_taken and self._output.broken_at is None:
            self.setExtraSelections([])
            return
        starts = _starts_of(self._output)
        ahead = self._range(starts[self._output.taken], starts[-1])
        ahead.format.setForeground(theme.colour(theme.Role.MUTED))
        marks = [ahead]
        if (index := self._output.broken_at) is not None and index < len(self._output.tokens):
            broken = self._range(starts[index], starts[index + 1])
            broken.format.setBackground(theme.colour(theme.Role.ERROR_FILL))
            marks.append(broken)
        self.setExtraSelections(marks)

    def _range(self, start: int, end: int) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor
        return selection

    def _recolour(self) -> None:
        self.setFont(theme.mono_font())
        self._mark()


def _starts_of(output: ShownOutput) -> list[int]:
    """Return the position of each token, and the end of the last, in the UTF-16 units that Qt counts."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    texts = (decode(token) for _, token in output.tokens)
    return [*accumulate((len(text.encode("utf-16-le")) // 2 for text in texts), initial=0)]
