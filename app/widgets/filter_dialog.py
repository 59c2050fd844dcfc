"""A dialog that lists rows and filters them by what is typed.

The field has the focus: typing filters, the arrow keys move through the rows that are left, Return takes one.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListView, QTableView, QWidget

from app.catalogue import ui_text

_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_PAGES = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


class FilterDialog(QDialog):
    """Filter the rows of a view; subclasses lay the field and the view out, and fill the view in `apply_filter`.

    Args:
        title: the title of the window.
        view: shows the rows; rows that it hides are skipped.
        placeholder: the hint in the empty field.
        field_name: the name of the field for screen readers; by default "Filter".
        parent: as of any dialog.

    Attributes:
        field: what is typed.
    """

    def __init__(
        self,
        title: str,
        view: QListView | QTableView,
        placeholder: str,
        *,
        field_name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._view = view
        self.field = QLineEdit(placeholderText=placeholder, clearButtonEnabled=True)
        self.field.setAccessibleName(field_name or ui_text("widgets.filter.field"))
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self.apply_filter)

    def apply_filter(self, text: str) -> None:
        """Show the rows that match a text, and select one of them.

        Raises:
            NotImplementedError: a subclass must implement it.
        """
        raise NotImplementedError

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move through the rows with the arrow keys of the field, and accept the dialog with Return."""
        if watched is not self.field or not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.accept()
        elif key in _STEPS or key in _PAGES:
            self._move(key)
        else:
            return False
        return True

    def _move(self, key: Qt.Key) -> None:
        """Select another row: the next one, around the end, or one a page further."""
        model = self._view.model()
        rows = [row for row in range(model.rowCount()) if not self._view.isRowHidden(row)]
        if not rows:
            return
        current = self._view.currentIndex().row()
        number = rows.index(current) if current in rows else 0
        if key in _STEPS:
            number = (number + _STEPS[key]) % len(rows)
        else:
            height = self._view.visualRect(model.index(rows[number], 0)).height()
            page = max(1, self._view.viewport().height() // max(1, height))
            number = min(max(number + page * _PAGES[key], 0), len(rows) - 1)
        self._view.setCurrentIndex(model.index(rows[number], 0))
