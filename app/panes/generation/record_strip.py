"""The line of a log that is stepped through: its next token, with the probability then and now."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import percent, token_text
from app.theme.buttons import push_button
from app.widgets.elided_label import ElidedLabel
from app.widgets.stable_widget import StableWidget
from app.workers.requests.decode import RecordPosition


def record_text(record: RecordPosition) -> str:
    """Return what is said about a position in the tokens of a log."""
    parts = []
    if record.token_id is not None:
        token = token_text(record.token, record.name, record.token_id)
        parts.append(ui_text("generation.record.next", number=record.taken + 1, total=record.total, token=token))
        if record.next is not None:
            parts.append(ui_text("generation.record.then", p=percent(record.next.then)))
            parts.append(ui_text("generation.record.now", p=percent(record.next.now)))
        if not record.is_allowed:
            parts.append(ui_text("generation.record.forbidden"))
    else:
        parts.append(ui_text(f"generation.record.{'left' if record.has_left else 'end'}", total=record.total))
        if (one := record.largest) is not None:
            fields = {"number": one.index + 1, "then": percent(one.then), "now": percent(one.now)}
            parts.append(ui_text("generation.record.largest", **fields))
    return " · ".join(parts)


class RecordStrip(QWidget):
    """Shows where an output is in the tokens of a log; hidden while none is open.

    Signals:
        wanted(): take the next token of the log.
    """

    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.label = ElidedLabel(fills=True)
        self.button = push_button(
            ui_text("generation.record.button"),
            ui_text("commands.run.record.tip"),
            role="link",
            clicked=self.wanted.emit,
        )
        policy = self.button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.button.setSizePolicy(policy)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(StableWidget.around(self.label), 1)
        row.addWidget(self.button)
        self.hide()

    def show_record(self, record: RecordPosition | None) -> None:
        """Show a position in the tokens of a log; None hides the line."""
        self.setVisible(record is not None)
        if record is not None:
            self.label.set_text(record_text(record))
            self.button.setVisible(record.token_id is not None)
