"""A find bar: a field for what to find, what was found, and buttons that step through it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLineEdit, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import local_key, set_tip
from app.theme.buttons import close_button, icon_button
from app.widgets.elided_label import ElidedLabel
from app.widgets.keyboard import FieldKeys

CLOSE = local_key("find.close", "Esc")
NEXT = local_key("find.next", "Return")
PREVIOUS = local_key("find.previous", "Shift+Return")
_FIELD, _RESULT, _BUTTONS = range(3)  # columns


class FindBar(QFrame):
    """A bar to type a search text and to step through results, which the caller finds.

    Return steps forward, Shift+Return back, and Esc closes the bar.

    Args:
        name: the name of the field for screen readers.
        placeholder: the hint in the empty field; the name, where it is left out.
        commands: the ids of the commands whose keys the tips of the two buttons name: previous and next.
        has_long_results: whether results are sentences rather than counts, and take more room than the field.
        is_permanent: whether the bar is always shown; then Esc only emits `escaped`.
        on_down: called when the Down key is pressed in the field.

    Attributes:
        field: what is searched for.
        result_label: what was found.

    Signals:
        text_changed(str): another text is searched for; also emitted when the bar opens with a text.
        step_requested(int): go to the next result (1) or to the previous one (-1).
        escaped: Esc was pressed in the field of a permanent bar.
        closed: the bar was closed.
    """

    text_changed = Signal(str)
    step_requested = Signal(int)
    escaped = Signal()
    closed = Signal()

    def __init__(
        self,
        name: str,
        placeholder: str = "",
        *,
        commands: tuple[str, str] = (PREVIOUS, NEXT),
        has_long_results: bool = False,
        is_permanent: bool = False,
        on_down: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self.field = QLineEdit(placeholderText=placeholder or name, clearButtonEnabled=True)
        self.field.setAccessibleName(name)
        self.field.setMinimumWidth(80)
        FieldKeys(self.field, self.step_requested.emit, self.escaped.emit if is_permanent else self.close_bar, on_down)
        self.result_label = ElidedLabel(fills=has_long_results)
        if not has_long_results:
            self.result_label.setMinimumWidth(
                self.fontMetrics().horizontalAdvance(ui_text("common.find.position", number=10_000, count=10_000))
            )
        self.previous_button = icon_button(
            "ph.caret-up", ui_text("widgets.find_bar.previous"), clicked=lambda: self.step_requested.emit(-1)
        )
        self.next_button = icon_button(
            "ph.caret-down", ui_text("widgets.find_bar.next"), clicked=lambda: self.step_requested.emit(1)
        )
        self.close_button = close_button(ui_text("common.button.close"), clicked=self.close_bar)
        set_tip(self.previous_button, ui_text("widgets.find_bar.previous"), commands[0])
        set_tip(self.next_button, ui_text("widgets.find_bar.next"), commands[1])
        set_tip(self.close_button, ui_text("common.button.close"), CLOSE)
        self._buttons = QHBoxLayout()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        self._grid.setSpacing(theme.SPACE_XS)
        self._grid.setColumnStretch(_FIELD, 2)
        self._grid.setColumnStretch(_RESULT, 3 if has_long_results else 0)
        self._grid.addWidget(self.field, 0, _FIELD)
        self._grid.addWidget(self.result_label, 0, _RESULT)
        self._grid.addLayout(self._buttons, 0, _BUTTONS)
        self._buttons.setSpacing(theme.SPACE_XS)
        for button in (self.previous_button, self.next_button, self.close_button):
            self._buttons.addWidget(button)
        self.set_can_step(can_step=False)
        if is_permanent:
            self.close_button.hide()
        else:
            self.hide()
        self.field.textChanged.connect(self.text_changed)

    def text(self) -> str:
        """Return what is searched for."""
        return self.field.text()

    def set_result(self, text: str, *shorter: str) -> None:
        """Show what was found; `shorter` are texts for less room."""
        self.result_label.set_text(text, *shorter)

    def set_can_step(self, *, can_step: bool) -> None:
        """Enable the two buttons where there is a result to go to."""
        for button in (self.previous_button, self.next_button):
            button.setEnabled(can_step)

    def add_control(self, control: QWidget, *, at_end: bool = False) -> None:
        """Add a control before the two buttons, or behind them."""
        before = self.close_button if at_end else self.previous_button
        self._buttons.insertWidget(self._buttons.indexOf(before), control)

    def add_row(self, field: QLineEdit, *controls: QWidget) -> None:
        """Add a second row: a field under the first one, and controls beside it."""
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XS)
        self._grid.addWidget(field, 1, _FIELD)
        self._grid.addLayout(row, 1, _RESULT, 1, 2)
        for control in controls:
            row.addWidget(control)
        row.addStretch(1)
        fields = self.field, field, *controls
        for before, after in pairwise(fields):
            self.setTabOrder(before, after)

    def open_bar(self) -> None:
        """Show the bar with the focus in its field."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        if self.text():
            self.text_changed.emit(self.text())

    def close_bar(self) -> None:
        """Hide the bar."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()
