"""Banners over a pane or the window: what happened, why, and one button."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions.build import icon
from app.session import Alarm

_ICONS = {
    "error": ("ph.warning-circle", theme.Role.ERROR),
    "warning": ("ph.warning", theme.Role.WARNING),
    "hint": ("ph.info", theme.Role.HINT),
}
_MOST = 3  # older ones make room: a wall of banners hides the work


class AlarmBanner(QFrame):
    """One alarm, until it is dismissed or acted on.

    Signals:
        dismissed(AlarmBanner): it goes.
    """

    dismissed = Signal(object)

    def __init__(self, alarm: Alarm) -> None:
        super().__init__()
        self.alarm = alarm
        self.setProperty("role", "banner")
        self.setProperty("severity", alarm.severity)
        self._icon = QLabel()
        text = QLabel(alarm.text)
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        outer.setSpacing(theme.SPACE_S)
        outer.addLayout(row)
        row.addWidget(self._icon)
        row.addWidget(text, 1)
        if alarm.details:
            outer.addWidget(self._add_details(row))
        self.button = QPushButton(alarm.button)
        if not alarm.button:
            self.button.hide()
        self.button.clicked.connect(self._act)
        row.addWidget(self.button)
        self.close_button = QToolButton()
        self.close_button.setToolTip("Dismiss")
        self.close_button.setAccessibleName("Dismiss")
        self.close_button.setFixedSize(24, 24)
        self.close_button.clicked.connect(self.dismiss)
        row.addWidget(self.close_button)
        self.recolour()

    def recolour(self) -> None:
        """Draw the icons in the current theme's colours."""
        name, role = _ICONS[self.alarm.severity]
        self._icon.setPixmap(icon(name, role).pixmap(16, 16))
        self.close_button.setIcon(icon("ph.x"))

    def dismiss(self) -> None:
        """Go away."""
        self.hide()
        self.dismissed.emit(self)
        self.deleteLater()

    def _act(self) -> None:
        self.dismiss()
        if self.alarm.action is not None:
            self.alarm.action()

    def _add_details(self, row: QHBoxLayout) -> QWidget:
        details = QPlainTextEdit(self.alarm.details)
        details.setReadOnly(True)
        details.setAccessibleName("Details")
        details.setTabChangesFocus(True)
        details.setFont(theme.mono_font())
        details.setMaximumHeight(180)
        details.hide()
        toggle = QPushButton("Details")
        toggle.setProperty("role", "flat")
        toggle.setCheckable(True)
        toggle.toggled.connect(details.setVisible)
        row.addWidget(toggle)
        self.copy_button = QPushButton("Copy details")
        self.copy_button.setProperty("role", "flat")
        self.copy_button.setToolTip("Copy what happened, to report it")
        self.copy_button.clicked.connect(self._copy)
        row.addWidget(self.copy_button)
        return details

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(f"{self.alarm.text}\n\n{self.alarm.details}")


class BannerStack(QWidget):
    """The alarms of one place, the latest below; hidden while there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._banners: list[AlarmBanner] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(1)
        theme.themes.changed.connect(self._recolour)

    @property
    def banners(self) -> list[AlarmBanner]:
        """What is shown, oldest first."""
        return list(self._banners)

    def show_alarm(self, alarm: Alarm) -> AlarmBanner:
        """Add an alarm; one of the same text is replaced."""
        shown = self.banners
        for banner in [other for other in shown if other.alarm.text == alarm.text] or shown[: len(shown) + 1 - _MOST]:
            banner.dismiss()
        banner = AlarmBanner(alarm)
        banner.dismissed.connect(self._banners.remove)
        self._banners.append(banner)
        self._layout.addWidget(banner)
        banner.show()  # now, and not with the next layout: it counts as shown from here on
        return banner

    def _recolour(self) -> None:
        for banner in self.banners:
            banner.recolour()
