"""The text widget of the editor: highlighting, line numbers, marks and tool tips."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QMenu, QPlainTextEdit, QToolTip

from app import theme
from app.display_text import unmarked
from app.panes.editor import marks
from app.panes.editor.grammar_text import GrammarEditor
from app.panes.editor.gutter import Gutter
from app.panes.editor.highlighter import Highlighter
from app.panes.editor.invisible import named_at, paint_invisible
from app.panes.editor.tokens import Tokeniser, partners, plain
from app.theme.plain_text import plain_text
from engine.source import Diagnostic, Severity, Span

COLOURED_AT_MOST = 30_000  # code points; a longer text is not highlighted, since that takes too long
READ_AT_MOST = 50_000  # a longer text takes too long to parse at every key, for names and completions
_PAIRED_AT_MOST = 10_000  # a longer text has no bracket matching, which reads it completely at every cursor move
_LIST_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab}
_CURSOR_KEYS = {Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End}
_COMMAND_MODIFIERS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier
_WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.HINT)


class CodeEdit(GrammarEditor):
    """An editor of one grammar.

    Signals, besides those of a `GrammarEditor`:
        offset_hovered: the code point under the pointer, -1 for none.
        typed: a typed character, or an empty text for a deleted one.
        definition_wanted: the code point that was clicked with Ctrl.
    """

    typed = Signal(str)
    definition_wanted = Signal(int)
    offset_hovered = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.notation = ""
        self.fix_told: Callable[[Diagnostic], str] = lambda _finding: ""
        self.fill_menu: Callable[[QMenu, int], None] = lambda _menu, _offset: None
        self.popup_is_open: Callable[[], bool] = lambda: False
        self._tokenise: Tokeniser = plain
        self._highlighter: Highlighter | None = None
        self._pairs: dict[int, int] | None = None
        self._hovered = -1
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._diagnosed_text = ""
        self._found: tuple[Span, ...] = ()
        self._live: tuple[Span, ...] = ()
        self._pointed: tuple[Span, ...] = ()
        self._line_marks: dict[int, Severity] = {}
        self.margin = Gutter(self, self.sign_of_line, self.tip_of_line)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        # White space matters in a grammar, so Tab moves the focus as elsewhere.
        self.setTabChangesFocus(True)
        self.setAccessibleName("Grammar")
        self.blockCountChanged.connect(self._resize_gutter)
        self.updateRequest.connect(self._on_update)
        self.cursorPositionChanged.connect(self._update_marks)
        self._colour_if_short(0)
        self.recolour()

    # --- text --------------------------------------------------------------------------------------------------------

    def set_tokeniser(self, tokenise: Tokeniser) -> None:
        """Highlight another notation."""
        self._tokenise, self._pairs = tokenise, None
        if self._highlighter is not None:
            self._highlighter.set_tokeniser(tokenise)
        self._update_marks()

    def offset_at(self, position: QPoint) -> int:
        """Return the code point at a position of the viewport; -1 if there is no text."""
        cursor = self.cursorForPosition(position)
        line = self.cursorRect(cursor)
        if not line.top() <= position.y() <= line.bottom():
            return -1
        unit = cursor.position() - (1 if position.x() < line.left() else 0)
        if unit < cursor.block().position() or self.document().characterAt(unit) in {"\u2029", "\0", ""}:
            return -1
        return self._offsets.to_code_points(unit)

    def place_of(self, offset: int) -> QPoint:
        """Return the position of a code point in the viewport."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._offsets.to_utf16(offset))
        return self.cursorRect(cursor).center()

    # --- marks -------------------------------------------------------------------------------------------------------

    def show_diagnostics(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Underline the findings."""
        self.diagnostics, self._diagnosed_text = diagnostics, self._text
        self._line_marks.clear()
        for finding in sorted(diagnostics, key=lambda found: _WORST_FIRST.index(found.severity), reverse=True):
            self._line_marks[self._line_of(finding)] = finding.severity
        self._update_marks()
        self.margin.update()

    @property
    def current_diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the findings, if they belong to the current text."""
        return self.diagnostics if self._diagnosed_text == self._text else ()

    def show_found(self, spans: tuple[Span, ...]) -> None:
        """Mark search results."""
        self._found = spans
        self._update_marks()

    def say(self, text: str) -> None:
        """Show a tool tip at the cursor for a moment."""
        QToolTip.showText(
            self.viewport().mapToGlobal(self.cursorRect().bottomLeft()), plain_text(text), self.viewport()
        )

    def show_live(self, spans: tuple[Span, ...]) -> None:
        """Mark the live positions."""
        self._live = spans
        self._update_marks()

    def show_hover(self, spans: tuple[Span, ...]) -> None:
        """Mark the spans of an element that is hovered elsewhere."""
        self._pointed = spans
        self._update_marks()

    def tip_at(self, offset: int) -> str:
        """Return the findings at a code point, and the names of invisible characters there."""
        document = self.document()
        found = [f for f in self.diagnostics if offset in marks.visible_span(f.span, document)]
        hidden = [f"Invisible character: {name}" for name in named_at(self._text, offset)]
        return "\n\n".join((*(self._finding_text(finding) for finding in found), *hidden))

    def _finding_text(self, finding: Diagnostic) -> str:
        """Return a finding for a tool tip: the problem, the hint, and the quick fix."""
        what = f"{finding.severity.capitalize()}: {finding.message}"
        return unmarked("\n".join(part for part in (what, finding.hint, self.fix_told(finding)) if part))

    def sign_of_line(self, number: int) -> Severity | None:
        """Return the most severe finding of a line, counted from 0."""
        return self._line_marks.get(number)

    def tip_of_line(self, number: int) -> str:
        """Return the texts of a line's findings."""
        return "\n\n".join(
            self._finding_text(finding) for finding in self.diagnostics if self._line_of(finding) == number
        )

    def recolour(self) -> None:
        """Apply the colours and the font of the current theme."""
        self.setFont(theme.mono_font(1.0))
        if self._highlighter is not None:
            self._highlighter.recolour()
        self._resize_gutter()
        self._update_marks()

    def _update_marks(self) -> None:
        document, to_utf16 = self.document(), self._offsets.to_utf16
        self.setExtraSelections(
            [
                *marks.live(document, to_utf16, self._live),
                *marks.searched(document, to_utf16, self._found),
                *marks.hovered(document, to_utf16, self._pointed),
                *marks.brackets(document, to_utf16, self.bracket_pair()),
                *marks.squiggles(document, to_utf16, self.diagnostics),
            ]
        )

    def _line_of(self, finding: Diagnostic) -> int:
        return self.document().findBlock(self._offsets.to_utf16(finding.span.start)).blockNumber()

    def bracket_pair(self) -> tuple[int, ...]:
        """Return the bracket at the cursor, or right before it, and its partner; empty while the cursor is hidden."""
        if not self.hasFocus():
            return ()
        if self._pairs is None:
            is_short = len(self._text) <= _PAIRED_AT_MOST
            self._pairs = partners(self._text, self._tokenise) if is_short else {}
        at = self._offsets.to_code_points(self.textCursor().position())
        for position in (at, at - 1):
            if position in self._pairs:
                return position, self._pairs[position]
        return ()

    # --- changes -----------------------------------------------------------------------------------------------------

    def _prepare(self, length: int) -> None:
        self._colour_if_short(length)

    def _on_text_changed(self) -> None:
        self._pairs = None
        self._live = self._pointed = self._found = ()
        self._colour_if_short(len(self._text))
        self._update_marks()

    def _colour_if_short(self, length: int) -> None:
        if length > COLOURED_AT_MOST and self._highlighter is not None:
            self._highlighter.setDocument(None)
            self._highlighter.deleteLater()
            self._highlighter = None
            self._show_spaces(False)
        elif length <= COLOURED_AT_MOST and self._highlighter is None:
            self._highlighter = Highlighter(self.document(), self._tokenise)
            self._show_spaces(True)

    def _show_spaces(self, shown: bool) -> None:
        option = self.document().defaultTextOption()
        option.setFlags(QTextOption.Flag.ShowTabsAndSpaces if shown else QTextOption.Flag(0))
        self.document().setDefaultTextOption(option)

    # --- events ------------------------------------------------------------------------------------------------------

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab accept a completion while the list is open."""
        return not self.popup_is_open() and super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the keys of the completion list to it, and report other typed characters."""
        if self.popup_is_open() and event.key() in _LIST_KEYS:
            event.ignore()
            return
        super().keyPressEvent(event)
        is_deleted = event.key() in {Qt.Key.Key_Backspace, Qt.Key.Key_Delete}
        if is_deleted or (event.text().isprintable() and event.text() and not event.modifiers() & _COMMAND_MODIFIERS):
            self.typed.emit("" if is_deleted else event.text())
        elif self.popup_is_open() and event.text() == "" and event.key() in _CURSOR_KEYS:
            self.typed.emit("")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to the definition of a name that is clicked with Ctrl."""
        super().mouseReleaseEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        if is_left and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            offset = self.offset_at(event.position().toPoint())
            if offset >= 0:
                self.definition_wanted.emit(offset)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the standard menu with the commands of grammars."""
        position = event.pos()
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        if by_mouse and not self.textCursor().hasSelection():
            self.setTextCursor(self.cursorForPosition(position))
        menu = self.make_menu()
        self.fill_menu(menu, self.caret)
        menu.popup(event.globalPos())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Report the code point under the pointer."""
        super().mouseMoveEvent(event)
        self._hover(self.offset_at(event.position().toPoint()))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Mark the bracket at the cursor."""
        super().focusInEvent(event)
        self._update_marks()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove the bracket marks."""
        super().focusOutEvent(event)
        self._update_marks()

    def leaveEvent(self, event: QEvent) -> None:
        """Report that no code point is hovered."""
        super().leaveEvent(event)
        self._hover(-1)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the findings under the pointer as a tool tip."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            offset = self.offset_at(event.pos())
            QToolTip.showText(
                event.globalPos(), plain_text(self.tip_at(offset) if offset >= 0 else ""), self.viewport()
            )
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, and marks over invisible characters."""
        super().paintEvent(event)
        paint_invisible(self, self._blocks_in(event.rect()))

    def _blocks_in(self, rect: QRect) -> Iterator[QTextBlock]:
        block = self.firstVisibleBlock()
        while block.isValid():
            geometry = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if geometry.top() > rect.bottom():
                return
            if geometry.bottom() >= rect.top():
                yield block
            block = block.next()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adjust the gutter to the text's height."""
        super().resizeEvent(event)
        rect = self.contentsRect()
        self.margin.setGeometry(QRect(rect.left(), rect.top(), self.margin.sizeHint().width(), rect.height()))

    def _hover(self, offset: int) -> None:
        if offset != self._hovered:
            self._hovered = offset
            self.offset_hovered.emit(offset)

    def _resize_gutter(self) -> None:
        self.setViewportMargins(self.margin.sizeHint().width(), 0, 0, 0)

    def _on_update(self, rect: QRect, dy: int) -> None:
        if dy:
            self.margin.scroll(0, dy)
        else:
            self.margin.update(0, rect.y(), self.margin.width(), rect.height())
