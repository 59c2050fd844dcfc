"""The find bar of the automaton."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit

from app import theme
from app.actions import set_tip
from app.panes.automaton.finder import Hit
from app.theme.buttons import close_button, icon_button
from app.widgets.elided_label import ElidedLabel
from app.widgets.field_keys import FieldKeys


class AutomatonFindBar(QFrame):
    """A text field, the hits, and the current one; hidden until it is opened.

    Signals:
        searched: the text changed.
        hit_wanted: a `Hit` to go to.
        closed: the bar was closed.
    """

    searched = Signal(str)
    hit_wanted = Signal(object)
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self._hits: Sequence[Hit] = ()
        self._current = -1
        self.field = QLineEdit()
        self.field.setAccessibleName("Find in the automaton")
        self.field.setPlaceholderText('State, rule, byte or "text"')
        self.field.setClearButtonEnabled(True)
        FieldKeys(self.field, self._go, self.close_bar)
        self.says = ElidedLabel(fills=True)
        self.says.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.previous_button = icon_button("ph.caret-up", "Previous hit")
        self.next_button = icon_button("ph.caret-down", "Next hit")
        self.close_button = close_button("Close the search")
        set_tip(self.previous_button, "Previous hit", "find.previous")
        set_tip(self.next_button, "Next hit", "find.next")
        set_tip(self.close_button, "Close", "find.close")
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_XS)
        row.addWidget(self.field, 2)
        row.addWidget(self.says, 3)
        for button in (self.previous_button, self.next_button, self.close_button):
            row.addWidget(button)
        self.hide()
        self.field.textChanged.connect(self.searched)
        self.next_button.clicked.connect(lambda: self._go(1))
        self.previous_button.clicked.connect(lambda: self._go(-1))
        self.close_button.clicked.connect(self.close_bar)

    def open_bar(self) -> None:
        """Show the bar and focus the field."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        if self.field.text():
            self.searched.emit(self.field.text())

    def close_bar(self) -> None:
        """Hide the bar."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def show_hits(self, hits: Sequence[Hit]) -> None:
        """Show the hits; Return goes to the next one."""
        self._hits, self._current = hits, -1
        for button in (self.previous_button, self.next_button):
            button.setEnabled(bool(hits))
        if not self.field.text():
            self.says.set_text("")
        elif not hits:
            self.says.set_text("Nothing found")
        else:
            more = f" · {len(hits):,} found" if len(hits) > 1 else ""
            self.says.set_text(f"{hits[0].says}{more}", hits[0].says)

    def _go(self, step: int) -> None:
        if not self._hits:
            return
        self._current = (
            (self._current + step) % len(self._hits) if self._current >= 0 or step > 0 else len(self._hits) - 1
        )
        hit = self._hits[self._current]
        self.says.set_text(f"{hit.says} · {self._current + 1:,} of {len(self._hits):,}", hit.says)
        self.hit_wanted.emit(hit)
