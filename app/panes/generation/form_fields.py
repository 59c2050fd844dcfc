"""What the forms of the processors dialog are made of."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLineEdit, QPlainTextEdit, QWidget

from app import theme


def form(widget: QWidget) -> QFormLayout:
    """A form that fills a widget."""
    layout = QFormLayout(widget)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setHorizontalSpacing(theme.SPACE_M)
    layout.setVerticalSpacing(theme.SPACE_S)
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
    layout.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return layout


def code_line(placeholder: str, name: str) -> QLineEdit:
    """A line of code."""
    field = QLineEdit(placeholderText=placeholder)
    field.setAccessibleName(name)
    field.setToolTip(name)
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
