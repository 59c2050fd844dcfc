"""A control to choose the texts of a coverage: the test strings, the generated outputs, or those of a log."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import set_tip
from app.theme.buttons import tool_button
from engine.diagnosis.test_strings.values import CoverageSource


class CoverageChoice(QWidget):
    """Exclusive buttons, one for each source.

    Attributes:
        buttons: the buttons.

    Signals:
        chosen(CoverageSource): the user pressed another button.
    """

    chosen = Signal(CoverageSource)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: dict[CoverageSource, QToolButton] = {}
        self._group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XS)
        for source in CoverageSource:
            button = tool_button(ui_text(f"automaton.choice.{source}.label"), checkable=True)
            button.setObjectName(f"coverage-{source}")
            set_tip(button, ui_text(f"automaton.choice.{source}.tip"), f"automaton.coverage_{source}")
            self.buttons[source] = button
            self._group.addButton(button)
            row.addWidget(button)
        self.buttons[CoverageSource.TESTS].setChecked(True)
        self._group.buttonToggled.connect(self._on_toggled)

    def choose(self, source: CoverageSource) -> None:
        """Show a choice that was made elsewhere."""
        with QSignalBlocker(self._group):
            self.buttons[source].setChecked(True)

    def _on_toggled(self, button: QWidget, is_on: bool) -> None:
        if is_on:
            self.chosen.emit(next(source for source, its in self.buttons.items() if its is button))
