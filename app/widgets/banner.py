"""A banner for a message with its severity and an action, and a progress banner for a loading model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import megabytes
from app.theme.buttons import close_button, push_button
from app.theme.icons import IconLabel
from app.theme.labels import Label

BannerSeverity = Literal["error", "warning", "hint", "allowed"]

_ICON_SIZE = 18  # pixels
_ICONS = {
    "error": ("ph.x-circle-fill", theme.Role.ERROR),
    "warning": ("ph.warning-fill", theme.Role.WARNING),
    "hint": ("ph.info", theme.Role.HINT),
    "allowed": ("ph.check-circle-fill", theme.Role.ALLOWED),
}
_MARGIN = 6  # pixels above and below
_BYTES_FROM = 100_000  # a larger count in a download is in bytes


class Banner(QFrame):
    """A banner with one message; hidden while there is none.

    Args:
        severity: the severity of messages that name none.
        closable: whether the user can close it.
        is_html: whether titles and details are HTML; the caller escapes plain text in them.

    Attributes:
        title_label: what happened.
        detail_label: why, and what to do.
        button: does what the message offers.
        close_button: closes the banner.

    Signals:
        accepted: the user pressed the button; emitted before the action runs.
        dismissed: the user closed it.
    """

    accepted = Signal()
    dismissed = Signal()

    def __init__(
        self,
        severity: BannerSeverity = "hint",
        *,
        closable: bool = False,
        is_html: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._severity: BannerSeverity = severity
        self._action: Callable[[], object] | None = None
        self._icon = IconLabel(_ICON_SIZE)
        self.title_label = Label(wraps=True, is_html=is_html)
        self.detail_label = Label(wraps=True, is_html=is_html)
        for label in (self.title_label, self.detail_label):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.button = push_button(clicked=self._accept)
        self.close_button = close_button(ui_text("widgets.banner.dismiss"), clicked=self.dismiss)
        self._lay_out(closable=closable)
        self.close_button.setVisible(closable)  # not before it has a parent: it would open as a window
        self.set_text("")

    def show_message(
        self,
        title: str,
        detail: str = "",
        *,
        severity: BannerSeverity | None = None,
        button: str = "",
        action: Callable[[], object] | None = None,
        accessible_text: str = "",
    ) -> None:
        """Show a message.

        Args:
            title: what happened; an empty title hides the banner.
            detail: why, and what to do.
            severity: how severe it is; None for the banner's own severity.
            button: the text of the button; empty for none.
            action: called when the button is pressed, after the banner is hidden.
            accessible_text: title and detail for screen readers, if they are HTML.
        """
        severity = severity or self._severity
        self._action = action
        self._icon.show_icon(*_ICONS[severity])
        self.title_label.setText(title)
        self.title_label.setAccessibleName(accessible_text)
        self.detail_label.setText(detail)
        self.detail_label.setVisible(bool(detail))
        self.button.setText(button)
        self.button.setVisible(bool(button))
        _set_style(self.title_label, "role", "heading" if detail else "")
        _set_style(self, "severity", severity)
        message = accessible_text or f"{title} {detail}".strip()
        announcement = ui_text(
            "widgets.banner.announcement", severity=ui_text(f"common.severity.{severity}"), message=message
        )
        self.setAccessibleName(announcement if title else "")
        self.setVisible(bool(title))

    def set_text(self, text: str) -> None:
        """Show a message of one sentence; an empty one hides the banner."""
        self.show_message(text)

    def text(self) -> str:
        """Return the title."""
        return self.title_label.text()

    def add_control(self, control: QWidget) -> None:
        """Add a control between the message and the button."""
        self._row.insertWidget(self._row.indexOf(self.button), control)
        if control.focusPolicy() & Qt.FocusPolicy.TabFocus:
            self.setTabOrder(control, self.button)
            self.setTabOrder(self.button, self.close_button)

    def dismiss(self) -> None:
        """Close the banner, as its close button does."""
        self.hide()
        self.dismissed.emit()

    @property
    def has_action(self) -> bool:
        """Return whether a message with a button is shown, which a hint must not replace."""
        return not self.isHidden() and not self.button.isHidden()

    def _lay_out(self, *, closable: bool) -> None:
        message = QVBoxLayout()  # as high as it must be, in the middle of a row that buttons make higher
        message.setSpacing(0)
        line, texts = QHBoxLayout(), QVBoxLayout()
        line.setSpacing(theme.SPACE_S)
        texts.setSpacing(2)
        self._row = QHBoxLayout()
        self._row.setSpacing(theme.SPACE_S)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.SPACE_M, _MARGIN, theme.SPACE_XS if closable else theme.SPACE_M, _MARGIN)
        outer.setSpacing(theme.SPACE_S)
        outer.addLayout(self._row)
        self._row.addLayout(message, 1)
        message.addStretch()
        message.addLayout(line)
        message.addStretch()
        line.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        line.addLayout(texts, 1)
        texts.addWidget(self.title_label)
        texts.addWidget(self.detail_label)
        self._row.addWidget(self.button)
        self._row.addWidget(self.close_button)

    def _accept(self) -> None:
        action = self._action
        self.hide()
        self.accepted.emit()
        if action is not None:
            action()


class Loading(QFrame):
    """The progress of a loading model, with a Cancel button; the present model stays in use.

    Signals:
        cancelled: the user pressed *Cancel*.
    """

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self.setProperty("severity", "hint")
        self._stage = Label(wraps=True)
        self._bar = QProgressBar(textVisible=False)
        self._bar.setFixedHeight(6)
        tip = ui_text("widgets.banner.cancel_loading_tip")
        cancel = push_button(ui_text("common.button.cancel"), tip, clicked=self.cancelled.emit)
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
        """Show the progress.

        Args:
            stage: what is being done; empty hides the banner.
            done: the amount that is done.
            total: the whole amount; None while unknown.
        """
        self._stage.setText(stage + _amount(done, total) if stage else "")
        self._bar.setRange(0, 1000 if total else 0)
        if total:
            self._bar.setValue(round(1000 * min(done / total, 1.0)))
        self.setVisible(bool(stage))

    @property
    def text(self) -> str:
        """Return the stage and the progress."""
        return self._stage.text()


def _set_style(widget: QWidget, name: str, value: str) -> None:
    """Set a property that the style sheet reads, which it does only when a widget is polished."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def _amount(done: int, total: int | None) -> str:
    if total is None:
        return f" · {ui_text('widgets.loading.megabytes', done=megabytes(done))}" if done >= _BYTES_FROM else ""
    if total >= _BYTES_FROM:
        return f" · {ui_text('widgets.loading.share', done=megabytes(done), total=megabytes(total))}"
    return f" · {ui_text('common.find.position', number=done, count=total)}"
