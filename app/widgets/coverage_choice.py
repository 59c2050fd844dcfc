"""A control to choose the texts of a coverage: the test strings, or the generated outputs."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import set_tip
from app.theme.buttons import tool_button


class CoverageChoice(QWidget):
    """Two exclusive buttons.

    Signals:
        chosen(generated): the user pressed the other button; whether it is the one for generated outputs.
    """

    chosen = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tests_button = tool_button(
            ui_text("common.word.tests"), ui_text("automaton.choice.tests.tip"), checkable=True
        )
        self.generated_button = tool_button(ui_text("common.word.generated"), checkable=True)
        set_tip(
            self.generated_button,
            ui_text("automaton.choice.generated.tip"),
            "automaton.coverage_generated",
        )
        self._group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XS)
        for button in (self.tests_button, self.generated_button):
            self._group.addButton(button)
            row.addWidget(button)
        self.tests_button.setChecked(True)
        self._group.buttonToggled.connect(self._on_toggled)

    def choose(self, *, generated: bool) -> None:
        """Show a choice that was made elsewhere."""
        with QSignalBlocker(self._group):
            (self.generated_button if generated else self.tests_button).setChecked(True)

    def _on_toggled(self, button: QWidget, is_on: bool) -> None:
        if is_on:
            self.chosen.emit(button is self.generated_button)
