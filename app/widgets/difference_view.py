"""A read-only view of the difference of two texts: signs and colours for lines that are removed and added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from app import theme
from app.theme import Role
from engine.refactoring.difference import DifferenceLine, LineChange

_SIGNS: Final[Mapping[LineChange, str]] = {
    LineChange.SAME: "  ",
    LineChange.REMOVED: "− ",
    LineChange.ADDED: "+ ",
    LineChange.GAP: "⋯",
}
_FILLS: Final[Mapping[LineChange, Role]] = {
    LineChange.REMOVED: Role.FORBIDDEN_FILL,
    LineChange.ADDED: Role.ALLOWED_FILL,
}


class DifferenceView(QPlainTextEdit):
    """Shows the lines that differ; a text without a difference is empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: tuple[DifferenceLine, ...] = ()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.document().setDocumentMargin(theme.SPACE_S)
        theme.themes.changed.connect(self._recolour)
        self._recolour()

    def show_lines(self, lines: Sequence[DifferenceLine]) -> None:
        """Show the lines of a difference."""
        self._lines = tuple(lines)
        self.setPlainText("\n".join(_SIGNS[line.change] + line.text for line in self._lines))
        self._recolour()

    def _recolour(self) -> None:
        self.setFont(theme.mono_font())
        selections = []
        block = self.document().firstBlock()
        for line in self._lines:
            if line.change in _FILLS:
                selection = QTextEdit.ExtraSelection()
                selection.cursor = QTextCursor(block)
                selection.format.setBackground(theme.colour(_FILLS[line.change]))
                selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
                selections.append(selection)
            block = block.next()
        self.setExtraSelections(selections)
