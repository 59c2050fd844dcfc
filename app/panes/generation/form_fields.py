"""What the forms of the processors dialog are made of."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QPlainTextEdit, QWidget

from app import theme
from app.theme.labels import Label
from app.theme.plain_text import plain_text

_GREEDY = 100  # the stretch of a text of many lines, beside that of the empty bottom


class Form(QGridLayout):
    """Names in front of fields, that fill a widget; unlike in a QFormLayout, a name stands in the middle of its row."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.setContentsMargins(0, 0, 0, 0)
        self.setHorizontalSpacing(theme.SPACE_M)
        self.setVerticalSpacing(theme.SPACE_S)
        self.setColumnStretch(1, 1)
        self._rows = 0

    def add(self, name: str, field: QWidget) -> QLabel:
        """Add a field; returns the label of its name."""
        label = Label(name)
        label.setBuddy(field)
        self.addWidget(label, self._rows, 0)
        self.addWidget(field, self._rows, 1)
        self._end_row(0)
        return label

    def add_wide(self, field: QWidget) -> None:
        """Add what has no name and takes a whole row."""
        self.addWidget(field, self._rows, 0, 1, 2)
        self._end_row(_GREEDY if isinstance(field, QPlainTextEdit) else 0)

    def _end_row(self, stretch: int) -> None:
        self.setRowStretch(self._rows, stretch)
        self._rows += 1
        self.setRowStretch(self._rows, 1)  # what is too high stays empty at the bottom


def code_line(placeholder: str, name: str) -> QLineEdit:
    """A line of code."""
    field = QLineEdit(placeholderText=placeholder)
    field.setAccessibleName(name)
    field.setToolTip(plain_text(name))
    field.setFont(theme.mono_font())
    return field


def code_lines(placeholder: str, name: str) -> QPlainTextEdit:
    """Some lines of code."""
    field = QPlainTextEdit(placeholderText=placeholder)
    field.setAccessibleName(name)
    field.setProperty("role", "field")
    field.setFont(theme.mono_font())
    field.setTabChangesFocus(True)
    return field
