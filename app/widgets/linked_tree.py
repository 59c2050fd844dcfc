"""A tree whose rows are parts of a text: hovered, gone to, followed to what they refer to, and copied."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTreeView

from app import theme
from app.catalogue import ui_text


class LinkedTree(QTreeView):
    """A tree whose rows can be hovered, activated and copied.

    Args:
        name: its name for screen readers.

    Attributes:
        has_target: returns whether a row refers to another one.
        fill_menu: adds commands to the menu of a row.

    Signals:
        pointed, clicked_row, entered_row, target_chosen, copy_wanted: with the row's index; a row is entered by Return.
        left: no row is hovered.
    """

    pointed = Signal(QModelIndex)
    clicked_row = Signal(QModelIndex)
    entered_row = Signal(QModelIndex)
    target_chosen = Signal(QModelIndex)
    copy_wanted = Signal(QModelIndex)
    left = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.has_target: Callable[[QModelIndex], bool] = lambda _index: False
        self.fill_menu: Callable[[QMenu, QModelIndex], None] = lambda _menu, _index: None
        self.setAccessibleName(name)
        self.setUniformRowHeights(True)
        self.setIndentation(theme.SPACE_L)
        self.setMouseTracking(True)
        self.setExpandsOnDoubleClick(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._hovered: QModelIndex | None = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Report the hovered row."""
        super().mouseMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        if not index.isValid():
            self._clear_hovered()
        elif self._hovered is None or index != self._hovered:
            self._hovered = index
            self.pointed.emit(index)

    def leaveEvent(self, event: QEvent) -> None:
        """Report that no row is hovered."""
        super().leaveEvent(event)
        self._clear_hovered()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to the text of a clicked row; with Ctrl, to what it refers to."""
        super().mouseReleaseEvent(event)
        position = event.position().toPoint()
        index = self.indexAt(position)
        if event.button() is Qt.MouseButton.LeftButton and index.isValid() and self._is_on_words(index, position):
            has_ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            (self.target_chosen if has_ctrl else self.clicked_row).emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle keys: Return goes to the text, Shift+Return to what the row refers to, the copy key copies it."""
        index = self.currentIndex()
        if index.isValid() and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            (self.target_chosen if has_shift else self.entered_row).emit(index)
        elif index.isValid() and event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit(index)
        else:
            super().keyPressEvent(event)
            if self.currentIndex() != index and self.currentIndex().isValid():
                self.pointed.emit(self.currentIndex())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the commands of a row."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.currentIndex()
        if not index.isValid():
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(ui_text("editor.explanation.go_to_source"), lambda: self.entered_row.emit(index))
        to_definition = ui_text("editor.explanation.go_to_definition")
        target = menu.addAction(to_definition, lambda: self.target_chosen.emit(index))
        target.setEnabled(self.has_target(index))
        menu.addAction(ui_text("common.button.copy"), lambda: self.copy_wanted.emit(index))
        self.fill_menu(menu, index)
        below = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        menu.popup(event.globalPos() if by_mouse else below)

    def _is_on_words(self, index: QModelIndex, position: QPoint) -> bool:
        return position.x() >= self.visualRect(index).left()

    def _clear_hovered(self) -> None:
        if self._hovered is not None:
            self._hovered = None
            self.left.emit()
