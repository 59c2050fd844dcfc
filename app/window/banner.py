"""The notifications above the window's content: what happened, why, and one or two buttons.

One is shown at a time, so that they never take more than a line from the panes: the most severe, and of those the
latest. The others are behind a button that counts them.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.delays import delayed
from app.session import Notification
from app.theme.buttons import push_button
from app.widgets.banner import Banner

_MOST = 3  # older ones are closed
_PASSES_AFTER_MS = 10_000
_SEVERITIES = ("hint", "warning", "error")


class NotificationBanner(Banner):
    """A notification that stays until the user closes it or presses a button, unless it only reports something.

    Attributes:
        passing: closes it after a while, if it leaves by itself.

    Signals:
        removed(NotificationBanner): it was closed.
        next_wanted(): the user wants to read another one.
    """

    removed = Signal(Banner)
    next_wanted = Signal()

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
        self.more_button = push_button(
            "", ui_text("window.banner.more_tip"), role="flat", clicked=self.next_wanted.emit
        )
        self._row.insertWidget(self._row.indexOf(self.close_button), self.more_button)
        self.more_button.hide()
        self.passing = delayed(self, _PASSES_AFTER_MS, self._pass)
        if notification.is_passing:
            self.passing.start()
        self.setTabOrder(self.button, self.other_button)
        self.setTabOrder(self.other_button, self.more_button)
        self.setTabOrder(self.more_button, self.close_button)
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

    def show_others(self, count: int) -> None:
        """Count the notifications that are open, but hidden."""
        self.more_button.setText(ui_text("window.banner.more", count=count) if count else "")
        self.more_button.setVisible(count > 0)

    def _pass(self) -> None:
        """Close the banner, unless it is being read."""
        focused = QApplication.focusWidget()
        if self.underMouse() or (focused is not None and self.isAncestorOf(focused)):
            self.passing.start()
        else:
            self.remove()

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
    """The open notifications, of which one is shown; hidden if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._banners: list[NotificationBanner] = []
        self._chosen: NotificationBanner | None = None  # by the user
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(1)

    @property
    def banners(self) -> list[NotificationBanner]:
        """Return the open banners, oldest first."""
        return list(self._banners)

    @property
    def shown(self) -> NotificationBanner | None:
        """Return the banner that is shown; None if none is open."""
        if self._chosen in self._banners:
            return self._chosen
        return max(reversed(self._banners), key=lambda one: _SEVERITIES.index(one.notification.severity), default=None)

    def withdraw(self, notification: Notification) -> None:
        """Close the banner of a notification that no longer applies, if it is open."""
        for banner in self.banners:
            if banner.notification is notification:
                banner.remove()

    def end_document(self) -> None:
        """Close the banners that belong to the document that was open."""
        for banner in self.banners:
            if banner.notification.is_of_document:
                banner.remove()

    def show_notification(self, notification: Notification) -> NotificationBanner:
        """Add a notification; one with the same text is replaced."""
        shown = self.banners
        for banner in [other for other in shown if other.notification.text == notification.text] or shown[
            : len(shown) + 1 - _MOST
        ]:
            banner.remove()
        banner = NotificationBanner(notification, self)
        banner.removed.connect(self._forget)
        banner.next_wanted.connect(self._show_next)
        self._banners.append(banner)
        self._layout.addWidget(banner)
        self._chosen = None
        self._arrange()
        return banner

    def _forget(self, banner: NotificationBanner) -> None:
        self._banners.remove(banner)
        self._arrange()

    def _show_next(self) -> None:
        """Show the notification before the shown one, or the last one after the first."""
        before = self.shown
        assert before is not None
        self._chosen = self._banners[self._banners.index(before) - 1]
        self._arrange()
        self._chosen.more_button.setFocus()

    def _arrange(self) -> None:
        shown = self.shown
        for banner in self._banners:
            banner.setVisible(banner is shown)
            banner.show_others(len(self._banners) - 1)
