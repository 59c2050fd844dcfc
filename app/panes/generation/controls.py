"""Restart, Back, Step and Run, with the sampler and the budget below them."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.actions import set_tip
from app.panes.generation.budget import BudgetField
from app.panes.generation.sampler_popover import SamplerButton
from app.theme.buttons import push_button
from app.theme.plain_text import plain_text


class Controls(QWidget):
    """The buttons.

    Signals:
        step_clicked, back_clicked, restart_clicked: one for each button.
        run_toggled(wanted): start or stop a run.
    """

    step_clicked = Signal()
    back_clicked = Signal()
    restart_clicked = Signal()
    run_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_running = False
        self._refusal = ""
        self.restart = push_button("Restart")
        self.back = push_button("Back")
        set_tip(self.restart, "Go back to before the first token", "run.restart")
        set_tip(self.back, "Undo the last step; it stays as a branch", "run.back")
        self.step = push_button("Step", "", role="primary")
        self.run = push_button("Run", "")
        self.sampler = SamplerButton()
        self.budget = BudgetField()
        row, settings = QHBoxLayout(), QHBoxLayout()
        self._settings = settings
        for line in (row, settings):
            line.setSpacing(theme.SPACE_XS)
        height = self.sampler.sizeHint().height()
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(theme.SPACE_XS)
        rows.addLayout(row)
        for button in (self.restart, self.back, self.step, self.run):
            button.setMinimumHeight(height)
            row.addWidget(button)
        row.addStretch(1)
        rows.addLayout(settings)
        settings.addWidget(self.sampler)
        settings.addWidget(self.budget)
        settings.addStretch(1)
        self.step.clicked.connect(self.step_clicked)
        self.back.clicked.connect(self.back_clicked)
        self.restart.clicked.connect(self.restart_clicked)
        self.run.clicked.connect(lambda: self.run_toggled.emit(not self._is_running))
        self._update()

    def add_setting(self, widget: QWidget) -> None:
        """Add a widget before the sampler."""
        self._settings.insertWidget(0, widget)

    def set_running(self, is_running: bool) -> None:
        """Set whether a run is active, so that Run becomes Pause."""
        self._is_running = is_running
        self._update()

    def set_refusal(self, reason: str) -> None:
        """Set why no step is possible; empty if one is."""
        if reason != self._refusal:
            self._refusal = reason
            self._update()

    def set_can_go_back(self, can_go_back: bool) -> None:
        """Set whether there is a step to undo."""
        self.back.setEnabled(can_go_back)
        self.restart.setEnabled(can_go_back)

    def _update(self) -> None:
        self.step.setEnabled(not self._refusal and not self._is_running)
        self._set_tip(self.step, "Let the sampler take the next token", "run.step", self._refusal)
        self.run.setEnabled(self._is_running or not self._refusal)
        self.run.setText("Pause" if self._is_running else "Run")
        run = "Stop after this token" if self._is_running else "Step until the end, or until you pause"
        self._set_tip(self.run, run, "run.run", "" if self._is_running else self._refusal)

    @staticmethod
    def _set_tip(button: QWidget, tip: str, command_id: str, refusal: str) -> None:
        """Set a button's tip: what it does, or why it is disabled."""
        if refusal:
            button.setToolTip(plain_text(refusal))
        else:
            set_tip(button, tip, command_id)
