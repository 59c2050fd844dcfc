"""The field of the token budget, after which a generation ends."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QSpinBox, QWidget

from app import theme
from engine.decoding.values import DEFAULT_MAX_TOKENS

_MOST = 100_000


class BudgetField(QSpinBox):
    """Shows the budget and lets the user edit it.

    Signals:
        edited(max tokens): the user changed it.
    """

    edited = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, minimum=1, maximum=_MOST, value=DEFAULT_MAX_TOKENS)
        self.setPrefix("budget ")
        self.setKeyboardTracking(False)  # a number is reported when it is complete
        self.setAccelerated(True)
        self.setAccessibleName("Budget in tokens")
        self.setToolTip("The budget: a generation ends after so many tokens, finished or not")
        self.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.valueChanged.connect(self.edited)

    def show_budget(self, max_tokens: int) -> None:
        """Show the budget without a signal; do not overwrite what the user is typing."""
        if max_tokens != self.value() and not self.lineEdit().isModified():
            blocker = QSignalBlocker(self)
            self.setMaximum(max(_MOST, max_tokens))
            self.setValue(max_tokens)
            blocker.unblock()
