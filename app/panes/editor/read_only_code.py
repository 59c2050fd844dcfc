"""A read-only view of text that Turnstile generated, with highlighting."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app import theme
from app.panes.editor import marks
from app.panes.editor.code_edit import bring_into_view
from app.panes.editor.highlighter import Highlighter
from app.panes.editor.offsets import Offsets
from engine.notations import NOTATIONS
from engine.notations.lexing import plain_line
from engine.source import Span


class ReadOnlyCode(QPlainTextEdit):
    """A read-only text view; the mouse and the keys move the cursor.

    Signals:
        chosen(offset): the user moved the cursor to this code point.
        hovered(offset): the code point under the pointer, or -1.
        entered(offset): Return or a double click at a code point.
    """

    chosen = Signal(int)
    hovered = Signal(int)
    entered = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text, self._notation = "", ""
        self._offsets = Offsets("")
        self._highlighted: tuple[Span, ...] = ()
        self._hover_spans: tuple[Span, ...] = ()
        self._hovered = -1
        self._highlighter = Highlighter(self, plain_line)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.document().setDocumentMargin(theme.SPACE_S)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        theme.themes.changed.connect(self._recolour)
        self._recolour()

    def text(self) -> str:
        """Return the text."""
        return self._text

    def show_text(self, text: str, notation: str) -> None:
        """Show a text, highlighted in this notation; keep the scroll position as far as possible."""
        if (text, notation) == (self._text, self._notation):
            return
        self._text, self._notation, self._offsets = text, notation, Offsets(text)
        self._highlighted = self._hover_spans = ()
        scrolled = self.verticalScrollBar().value()
        self.setPlainText(text)
        self._highlighter.set_lexer(NOTATIONS[notation].lex_line, NOTATIONS[notation].resume_at)
        self.verticalScrollBar().setValue(scrolled)
        self._mark()

    def highlight(self, spans: tuple[Span, ...]) -> None:
        """Highlight the spans that correspond to a selection elsewhere."""
        if spans != self._highlighted:
            self._highlighted = spans
            self._mark()

    def point_at(self, spans: tuple[Span, ...]) -> None:
        """Highlight the spans under the pointer."""
        if spans != self._hover_spans:
            self._hover_spans = spans
            self._mark()

    def bring_into_view(self, span: Span) -> None:
        """Scroll to a span; the cursor does not move."""
        bring_into_view(self, self._offsets.to_utf16(span.start))

    @property
    def caret(self) -> int:
        """Return the offset of the cursor, in code points."""
        return self._offsets.to_code_points(self.textCursor().position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Report the clicked offset; a click that selects text reports nothing."""
        super().mouseReleaseEvent(event)
        if event.button() is Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.chosen.emit(self.caret)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Emit `entered`."""
        super().mouseDoubleClickEvent(event)
        if event.button() is Qt.MouseButton.LeftButton:
            self.entered.emit(self.caret)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the cursor; Return emits `entered`."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.entered.emit(self.caret)
            return
        before = self.textCursor().position()
        super().keyPressEvent(event)
        if self.textCursor().position() != before and not self.textCursor().hasSelection():
            self.chosen.emit(self.caret)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Report the offset under the pointer."""
        super().mouseMoveEvent(event)
        position = event.position().toPoint()
        cursor = self.cursorForPosition(position)
        line = self.cursorRect(cursor)
        is_on_text = line.top() <= position.y() <= line.bottom()
        self._hover(self._offsets.to_code_points(cursor.position()) if is_on_text else -1)

    def leaveEvent(self, event: QEvent) -> None:
        """Report that the pointer is on no text."""
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, offset: int) -> None:
        if offset != self._hovered:
            self._hovered = offset
            self.hovered.emit(offset)

    def _recolour(self) -> None:
        self.setFont(theme.mono_font())
        self._highlighter.recolour()
        self._mark()

    def _mark(self) -> None:
        document, to_utf16 = self.document(), self._offsets.to_utf16
        self.setExtraSelections(
            [*marks.live(document, to_utf16, self._highlighted), *marks.hovered(document, to_utf16, self._hover_spans)]
        )
