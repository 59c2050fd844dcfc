"""What went wrong, why, and one way on; and a model on its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app import theme
from app.display_text import megabytes
from app.theme.buttons import close_button, push_button
from app.theme.labels import Label

Severity = Literal["error", "warning", "hint"]
_MARKS = {"error": "!", "warning": "!", "hint": "i"}
_BYTES_FROM = 100_000  # a count of this size in a download is one of bytes


class Banner(QFrame):
    """One banner.

    Signals:
        dismissed: the user closed it.
    """

    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._action: Callable[[], object] | None = None
        self._mark = Label()
        self._mark.setProperty("role", "heading")
        self.what = Label(wraps=True)
        self.why = Label(wraps=True)
        self.button = push_button()
        self.close_button = close_button("Dismiss")
        texts = QVBoxLayout()
        texts.setSpacing(2)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_XS, theme.SPACE_S)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._mark)
        row.addLayout(texts, 1)
        texts.addWidget(self.what)
        texts.addWidget(self.why)
        row.addWidget(self.button)
        row.addWidget(self.close_button)
        self.button.clicked.connect(self._act)
        self.close_button.clicked.connect(self._dismiss)
        self.hide()

    def show_trouble(
        self,
        what: str,
        why: str = "",
        *,
        severity: Severity = "error",
        button: str = "",
        action: Callable[[], object] | None = None,
    ) -> None:
        """Open.

        Args:
            what: what happened; empty closes the banner.
            why: why, and what to do.
            severity: how it looks.
            button: what the one button says; empty for none.
            action: what the button does, before the banner closes.
        """
        self._action = action
        self._mark.setText(_MARKS[severity])
        self.what.setText(what)
        self.why.setText(why)
        self.why.setVisible(bool(why))
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.what.setProperty("role", "heading" if why or severity == "error" else "")
        self.setProperty("severity", severity)
        for widget in (self, self.what):  # the style sheet looks at properties only then
            widget.style().unpolish(widget)
            widget.style().polish(widget)
        self.setAccessibleName(f"{severity}: {what} {why}".strip())
        self.setVisible(bool(what))

    @property
    def offers_a_way_on(self) -> bool:
        """Whether it is open and has a button, which a mere remark must not take away."""
        return not self.isHidden() and not self.button.isHidden()

    def _act(self) -> None:
        self.hide()
        if self._action is not None:
            self._action()

    def _dismiss(self) -> None:
        self.hide()
        self.dismissed.emit()


class Loading(QFrame):
    """A model on its way: the stage, how far, and a way out; the old one serves meanwhile.

    Signals:
        cancelled: the user does not want it any more.
    """

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self.setProperty("severity", "hint")
        self._stage = Label()
        self._stage.setWordWrap(True)
        self._bar = QProgressBar(textVisible=False)
        self._bar.setFixedHeight(6)
        cancel = push_button("Cancel", "Keep the model that serves now")
        cancel.clicked.connect(self.cancelled)
        texts = QVBoxLayout()
        texts.setSpacing(theme.SPACE_XS)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        row.setSpacing(theme.SPACE_M)
        row.addLayout(texts, 1)
        texts.addWidget(self._stage)
        texts.addWidget(self._bar)
        row.addWidget(cancel, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def show_progress(self, stage: str, done: int, total: int | None) -> None:
        """Show how far it is; an empty stage closes it."""
        self._stage.setText(stage + _amount(done, total) if stage else "")
        self._bar.setRange(0, 1000 if total else 0)
        if total:
            self._bar.setValue(round(1000 * min(done / total, 1.0)))
        self.setVisible(bool(stage))

    @property
    def text(self) -> str:
        """What it says."""
        return self._stage.text()


def _amount(done: int, total: int | None) -> str:
    if total is None:
        return f" · {megabytes(done)} MB" if done >= _BYTES_FROM else ""
    if total >= _BYTES_FROM:
        return f" · {megabytes(done)} of {megabytes(total)} MB"
    return f" · {done:,} of {total:,}"
