"""Parts of the forms in the processors dialog."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QPlainTextEdit, QWidget

from app import theme
from app.theme.labels import Label
from app.theme.plain_text import plain_text

_TEXT_STRETCH = 100  # the stretch of a multi-line text, compared with the empty row at the bottom


class Form(QGridLayout):
    """A form of labelled fields; unlike in a QFormLayout, a label is centred vertically in its row."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.setContentsMargins(0, 0, 0, 0)
        self.setHorizontalSpacing(theme.SPACE_M)
        self.setVerticalSpacing(theme.SPACE_S)
        self.setColumnStretch(1, 1)
        self._rows = 0

    def add(self, name: str, field: QWidget) -> QLabel:
        """Add a field; return its label."""
        label = Label(name)
        label.setBuddy(field)
        self.addWidget(label, self._rows, 0)
        self.addWidget(field, self._rows, 1)
        self._end_row(0)
        return label

    def add_wide(self, field: QWidget) -> None:
        """Add a field without a label that takes a whole row."""
        self.addWidget(field, self._rows, 0, 1, 2)
        self._end_row(_TEXT_STRETCH if isinstance(field, QPlainTextEdit) else 0)

    def _end_row(self, stretch: int) -> None:
        self.setRowStretch(self._rows, stretch)
        self._rows += 1
        self.setRowStretch(self._rows, 1)  # spare height stays empty at the bottom


def code_line(placeholder: str, name: str) -> QLineEdit:
    """Return a field for a line of code."""
    field = QLineEdit(placeholderText=placeholder)
    field.setAccessibleName(name)
    field.setToolTip(plain_text(name))
    field.setFont(theme.mono_font())
    return field


def code_lines(placeholder: str, name: str) -> QPlainTextEdit:
    """Return a field for several lines of code."""
    field = QPlainTextEdit(placeholderText=placeholder)
    field.setAccessibleName(name)
    field.setProperty("role", "field")
    field.setFont(theme.mono_font())
    field.setTabChangesFocus(True)
    return field
