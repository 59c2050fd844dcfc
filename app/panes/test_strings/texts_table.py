"""The table of test strings, which turns keys into calls of its owner."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QKeySequence, QPainter, QPen, QUndoStack
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import in_line, shown
from app.panes.test_strings.model import TEXT_ROLE, VERDICT_ROLE, TextsColumn, as_marks, from_marks
from engine.diagnosis.verdicts.verdict import Verdict

Role = theme.Role
_PADDING = 6.0
_VISIBLE_AFTER = 6  # characters that stay visible after the mark
Index = QModelIndex | QPersistentModelIndex


class TextsEditor(Protocol):
    """An editor of the texts, which the keys of the table call."""

    undo_stack: QUndoStack

    def add(self) -> None:
        """Insert a test string."""

    def paste(self) -> None:
        """Add the lines of the clipboard."""

    def remove(self) -> None:
        """Remove the selected ones."""

    def duplicate(self) -> None:
        """Duplicate the selected ones."""

    def toggle(self) -> None:
        """Expect the opposite of the selected ones."""


class TextsTable(QTableView):
    """A table in which whole rows are selected; its keys call an editor."""

    def __init__(self, editor: TextsEditor) -> None:
        super().__init__()
        self._editor = editor
        self.setAccessibleName(ui_text("test_strings.table.name"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.verticalHeader().hide()

    def selected_rows(self) -> list[int]:
        """Return the selected rows, in order."""
        model = self.selectionModel()
        return sorted(index.row() for index in model.selectedRows()) if model is not None else []

    def end_typing(self, *, takes: bool) -> None:
        """Close the open editor before the list changes; `takes` decides whether its text is kept."""
        if self.state() != QAbstractItemView.State.EditingState:
            return
        line = self.indexWidget(self.currentIndex())
        if line is not None:
            if takes:
                self.commitData(line)
            self.closeEditor(line, QAbstractItemDelegate.EndEditHint.NoHint)
        self.setState(QAbstractItemView.State.NoState)  # otherwise no editor could be opened any more

    def edit_text(self) -> None:
        """Open the editor of the current row's text."""
        self.edit(self.currentIndex().siblingAtColumn(TextsColumn.TEXT))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Call the editor."""
        row = self.currentIndex().row()
        key = event.key()
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)  # a key that the open editor does not handle, such as Return
        elif event.matches(QKeySequence.StandardKey.Paste):
            self._editor.paste()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self._editor.undo_stack.undo()
        elif event.matches(QKeySequence.StandardKey.Redo):
            self._editor.undo_stack.redo()
        elif key == Qt.Key.Key_Insert:
            self._editor.add()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._editor.remove()
        elif key == Qt.Key.Key_D and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self._editor.duplicate()
        elif key == Qt.Key.Key_Space:
            self._editor.toggle()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2) and row >= 0 and not event.modifiers():
            self.edit_text()
        else:
            super().keyPressEvent(event)


class TextDelegate(QStyledItemDelegate):
    """Paints and edits a test string."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the text with its first illegal character marked."""
        painter.save()
        box = QRectF(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.colour(Role.SELECTION))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.colour(Role.HOVER))
        painter.setFont(theme.mono_font())
        text, verdict = index.data(TEXT_ROLE), index.data(VERDICT_ROLE)
        inner = box.adjusted(_PADDING, 0, -_PADDING, 0)
        if not text:
            painter.setPen(theme.colour(Role.MUTED))
            painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, ui_text("common.word.empty"))
        else:
            _draw(painter, inner, str(text), verdict if isinstance(verdict, Verdict) else None)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the common height of all rows."""
        return QSize(240, row_height())

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Return an editor in which line ends are shown as `↵`."""
        line = QLineEdit(parent)
        line.setFont(theme.mono_font())
        line.setAccessibleName(ui_text("test_strings.table.field"))
        line.setToolTip(ui_text("test_strings.table.field_tip"))
        line.setStyleSheet("border-radius: 0; padding: 0 4px;")
        return line

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Show the text of the row."""
        assert isinstance(editor, QLineEdit)
        editor.setText(as_marks(str(index.data(TEXT_ROLE))))

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        """Pass the text to the model."""
        assert isinstance(editor, QLineEdit)
        model.setData(index, from_marks(editor.text()), Qt.ItemDataRole.EditRole)


def row_height() -> int:
    """Return the height of a row, in pixels."""
    return round(QFontMetricsF(theme.mono_font()).height()) + 8


class Mark(Enum):
    """How a piece of a text is drawn."""

    LEGAL = Role.TEXT
    DEAD = Role.ERROR
    BEYOND = Role.MUTED


def pieces_of(text: str, verdict: Verdict | None) -> tuple[tuple[str, Mark], ...]:
    """Split a text into visible pieces: what is legal, what is illegal, what follows."""
    data = text.encode("utf-8", "surrogatepass")
    if verdict is None:
        return ((in_line(data), Mark.LEGAL),)
    front = verdict.skipped[0] if verdict.skipped else 0
    start = len(data)
    if verdict.failure is not None:
        start = verdict.legal
        while front < start < len(data) and 0x80 <= data[start] < 0xC0:
            start -= 1  # the character that the byte belongs to
    end = min(start + 1, len(data))
    while end < len(data) and 0x80 <= data[end] < 0xC0:
        end += 1
    parts = (
        (data[:front], Mark.DEAD),
        (data[front:start], Mark.LEGAL),
        (data[start:end], Mark.DEAD),
        (data[end:], Mark.BEYOND),
    )
    return tuple((shown(part) if mark is Mark.DEAD else in_line(part), mark) for part, mark in parts if part)


def _draw(painter: QPainter, box: QRectF, text: str, verdict: Verdict | None) -> None:
    pieces = pieces_of(text, verdict)
    metrics = QFontMetricsF(painter.font())
    baseline = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
    left = box.left()
    for index, (piece, mark) in enumerate(pieces):
        shown_piece = piece
        if mark is Mark.LEGAL and index + 1 < len(pieces):
            # The illegal character must be visible: the text before it is elided.
            behind = "".join(text for text, _ in pieces[index + 1 :])[:_VISIBLE_AFTER]
            available = max(60.0, box.right() - left - metrics.horizontalAdvance(behind))
            shown_piece = metrics.elidedText(piece, Qt.TextElideMode.ElideLeft, available)
        if mark is Mark.DEAD:
            width = min(metrics.horizontalAdvance(piece), box.right() - left)
            background = QRectF(left, box.top() + 3, width, box.height() - 6)
            painter.fillRect(background, theme.colour(Role.ERROR_FILL))
            painter.fillRect(QRectF(left, background.bottom() - 1, width, 2), theme.colour(Role.ERROR))
        left = _draw_piece(painter, QPointF(left, baseline), shown_piece, theme.colour(mark.value), box.right())
    if verdict is not None and verdict.is_prefix and not verdict.is_complete and left < box.right() - 4:
        # More text must follow: an open end.
        painter.setPen(QPen(theme.colour(Role.WARNING), 1.5, Qt.PenStyle.DotLine))
        painter.drawRect(QRectF(left + 2, box.top() + 4, metrics.horizontalAdvance("0"), box.height() - 8))


def _draw_piece(painter: QPainter, at: QPointF, text: str, colour: QColor, right: float) -> float:
    metrics = QFontMetricsF(painter.font())
    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, right - at.x()))
    painter.setPen(colour)
    painter.drawText(at, text)
    return at.x() + metrics.horizontalAdvance(text)
