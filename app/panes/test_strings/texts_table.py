"""The table of test strings, which turns keys into signals."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QTableView

from app.panes.test_strings.model import TextsColumn


class TextsTable(QTableView):
    """A table in which whole rows are selected.

    Signals:
        add_wanted(), paste_wanted(), remove_wanted(), duplicate_wanted(), toggle_wanted(), undo_wanted(),
        redo_wanted(): the key of this command was pressed.
    """

    add_wanted = Signal()
    paste_wanted = Signal()
    remove_wanted = Signal()
    duplicate_wanted = Signal()
    toggle_wanted = Signal()
    undo_wanted = Signal()
    redo_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Test strings")
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit the signals of the commands."""
        row = self.currentIndex().row()
        key = event.key()
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)  # a key that the open editor does not handle, such as Return
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste_wanted.emit()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo_wanted.emit()
        elif event.matches(QKeySequence.StandardKey.Redo):
            self.redo_wanted.emit()
        elif key == Qt.Key.Key_Insert:
            self.add_wanted.emit()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_wanted.emit()
        elif key == Qt.Key.Key_D and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.duplicate_wanted.emit()
        elif key == Qt.Key.Key_Space:
            self.toggle_wanted.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2) and row >= 0 and not event.modifiers():
            self.edit(self.currentIndex().siblingAtColumn(TextsColumn.TEXT))
        else:
            super().keyPressEvent(event)
