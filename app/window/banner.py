"""The notifications above the window's content: what happened, why, and one or two buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import DECLARED, set_tip
from app.session import Notification
from app.theme.buttons import push_button
from app.widgets.banner import Banner

_MOST = 3  # older ones are closed, so that banners do not hide the content


class NotificationBanner(Banner):
    """A notification that stays until the user closes it or presses a button.

    Signals:
        removed(NotificationBanner): it was closed.
    """

    removed = Signal(Banner)

    def __init__(self, notification: Notification, parent: QWidget) -> None:
        super().__init__(closable=True, parent=parent)
        self.notification = notification
        if notification.details:
            self._add_details(notification.details)
        self.other_button = push_button(
            notification.other_button, clicked=lambda: self._remove_and_call(notification.other_action)
        )
        self._row.insertWidget(self._row.indexOf(self.close_button), self.other_button)
        self.other_button.setVisible(bool(notification.other_button))
        if notification.command:
            self.button.setProperty("role", "primary")
            set_tip(self.button, DECLARED[notification.command].tip, notification.command)
        self.setTabOrder(self.button, self.other_button)
        self.setTabOrder(self.other_button, self.close_button)
        self.accepted.connect(self.remove)
        self.dismissed.connect(self.remove)
        self.show_message(
            notification.text, severity=notification.severity, button=notification.button, action=notification.action
        )

    def remove(self) -> None:
        """Close the banner."""
        self.hide()
        self.removed.emit(self)
        self.deleteLater()

    def _remove_and_call(self, action: Callable[[], object] | None) -> None:
        self.remove()
        if action is not None:
            action()

    def _add_details(self, text: str) -> None:
        details = QPlainTextEdit(text)
        details.setReadOnly(True)
        details.setAccessibleName(ui_text("window.banner.details"))
        details.setTabChangesFocus(True)
        details.setFont(theme.mono_font())
        details.setMaximumHeight(180)
        details.hide()
        toggle = push_button(ui_text("window.banner.details"), role="flat", checkable=True)
        toggle.toggled.connect(details.setVisible)
        self.copy_button = push_button(
            ui_text("window.banner.copy"), ui_text("window.banner.copy_tip"), role="flat", clicked=self._copy
        )
        for button in (toggle, self.copy_button):
            self.add_control(button)
        layout = self.layout()
        assert layout is not None
        layout.addWidget(details)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(f"{self.notification.text}\n\n{self.notification.details}")


class BannerStack(QWidget):
    """The open notifications, the latest at the bottom; hidden if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._banners: list[NotificationBanner] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(1)

    @property
    def banners(self) -> list[NotificationBanner]:
        """Return the open banners, oldest first."""
        return list(self._banners)

    def withdraw(self, notification: Notification) -> None:
        """Close the banner of a notification that no longer applies, if it is open."""
        for banner in self.banners:
            if banner.notification is notification:
                banner.remove()

    def show_notification(self, notification: Notification) -> NotificationBanner:
        """Add a notification; one with the same text is replaced."""
        shown = self.banners
        for banner in [other for other in shown if other.notification.text == notification.text] or shown[
            : len(shown) + 1 - _MOST
        ]:
            banner.remove()
        banner = NotificationBanner(notification, self)
        banner.removed.connect(self._banners.remove)
        self._banners.append(banner)
        self._layout.addWidget(banner)
        return banner
