"""Banners over a pane or the window: what happened, why, and one button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app import theme
from app.session import Notification
from app.theme.buttons import close_button, push_button
from app.theme.icons import IconLabel
from app.theme.labels import Label

_SIGN = 16  # pixels
_SIGNS = {
    "error": ("ph.warning-circle", theme.Role.ERROR),
    "warning": ("ph.warning", theme.Role.WARNING),
    "hint": ("ph.info", theme.Role.HINT),
}
_MOST = 3  # older ones make room: a wall of banners hides the work


class NotificationBanner(QFrame):
    """One alarm, until it is dismissed or acted on.

    Signals:
        dismissed(AlarmBanner): it goes.
    """

    dismissed = Signal(object)

    def __init__(self, alarm: Notification) -> None:
        super().__init__()
        self.alarm = alarm
        self.setProperty("role", "banner")
        self.setProperty("severity", alarm.severity)
        sign = IconLabel(_SIGN)
        sign.show_icon(*_SIGNS[alarm.severity])
        text = Label(alarm.text)
        text.setWordWrap(True)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        outer.setSpacing(theme.SPACE_S)
        outer.addLayout(row)
        row.addWidget(sign)
        row.addWidget(text, 1)
        if alarm.details:
            outer.addWidget(self._add_details(row))
        self.button = push_button(alarm.button)
        if not alarm.button:
            self.button.hide()
        self.button.clicked.connect(lambda: self._act(self.alarm.action))
        self.other_button = push_button(alarm.other_button)
        if not alarm.other_button:
            self.other_button.hide()
        self.other_button.clicked.connect(lambda: self._act(self.alarm.other_action))
        row.addWidget(self.button)
        row.addWidget(self.other_button)
        self.close_button = close_button("Dismiss")
        self.close_button.clicked.connect(self.dismiss)
        row.addWidget(self.close_button)

    def dismiss(self) -> None:
        """Go away."""
        self.hide()
        self.dismissed.emit(self)
        self.deleteLater()

    def _act(self, action: Callable[[], object] | None) -> None:
        self.dismiss()
        if action is not None:
            action()

    def _add_details(self, row: QHBoxLayout) -> QWidget:
        details = QPlainTextEdit(self.alarm.details)
        details.setReadOnly(True)
        details.setAccessibleName("Details")
        details.setTabChangesFocus(True)
        details.setFont(theme.mono_font())
        details.setMaximumHeight(180)
        details.hide()
        toggle = push_button("Details", role="flat", checkable=True)
        toggle.toggled.connect(details.setVisible)
        row.addWidget(toggle)
        self.copy_button = push_button("Copy details", "Copy what happened, to report it", role="flat")
        self.copy_button.clicked.connect(self._copy)
        row.addWidget(self.copy_button)
        return details

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(f"{self.alarm.text}\n\n{self.alarm.details}")


class BannerStack(QWidget):
    """The alarms of one place, the latest below; hidden while there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._banners: list[NotificationBanner] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(1)

    @property
    def banners(self) -> list[NotificationBanner]:
        """What is shown, oldest first."""
        return list(self._banners)

    def withdraw(self, alarm: Notification) -> None:
        """Close the banner of an alarm that no longer holds, if it is open."""
        for banner in self.banners:
            if banner.alarm is alarm:
                banner.dismiss()

    def show_alarm(self, alarm: Notification) -> NotificationBanner:
        """Add an alarm; one of the same text is replaced."""
        shown = self.banners
        for banner in [other for other in shown if other.alarm.text == alarm.text] or shown[: len(shown) + 1 - _MOST]:
            banner.dismiss()
        banner = NotificationBanner(alarm)
        banner.dismissed.connect(self._banners.remove)
        self._banners.append(banner)
        self._layout.addWidget(banner)
        banner.show()  # now, and not with the next layout: it counts as shown from here on
        return banner
