"""The placement of the window on the screen.

A window manager uses the requested size, and Qt's `restoreGeometry` ignores the frame, and restores nothing on a screen
of another size. So the initial size is one that fits the screen, frame included; when the window gets its frame, it is
moved and cut to the screen, unless the user resized it.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QMargins, QObject, QRect, QSize, Qt, QTimer
from PySide6.QtWidgets import QMainWindow

from app.settings import Settings

WANTED = QSize(1600, 1000)
LEAST = QSize(900, 500)  # less than a screen of 1920 by 1080 at 200%
_FRAME = QMargins(8, 40, 8, 8)  # a typical frame, before there is one
# An X11 window manager adds the frame some time after the window is shown, and Qt has no event for it.
_CHECKED = {QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Paint, QEvent.Type.WindowActivate}
_STATES = {"maximised": Qt.WindowState.WindowMaximized, "full screen": Qt.WindowState.WindowFullScreen}


class WindowPlacement(QObject):
    """Restores and saves the geometry of a window, and keeps it on the screen."""

    def __init__(self, window: QMainWindow, settings: Settings) -> None:
        super().__init__(window)
        self._window, self._settings = window, settings
        available = window.screen().availableGeometry()
        available_size = available.marginsRemoved(_FRAME).size()
        window.setMinimumSize(LEAST.boundedTo(available_size))  # a larger minimum would keep it from fitting
        window.resize(WANTED.boundedTo(available_size))
        self._set_size = window.size()
        self._margins = QMargins()  # of the frame, as far as known
        window.installEventFilter(self)

    def restore(self) -> None:
        """Restore the window's position as far as it fits the screen, and its maximised or full screen state."""
        preferences, window = self._settings.preferences, self._window
        if preferences.geometry:
            window.restoreGeometry(QByteArray(preferences.geometry))
        window.setWindowState(_STATES.get(preferences.window_state, Qt.WindowState.WindowNoState))
        self._set_size = window.size()

    def save(self) -> None:
        """Store the window's position."""
        shown = self._window.windowState()
        state = next((name for name, flag in _STATES.items() if shown & flag), "")
        self._settings.change(geometry=bytes(self._window.saveGeometry().data()), window_state=state)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Detect that the window gets its frame, which is after it is shown, or is no longer maximised."""
        if event.type() in _CHECKED:
            margins = self._frame_margins()
            if margins != self._margins:
                self._margins = margins
                QTimer.singleShot(0, self, self.keep_on_screen)
        elif event.type() == QEvent.Type.WindowStateChange:
            self._set_size = QSize()  # the following size is the one from before, whoever set it
            QTimer.singleShot(0, self, self.keep_on_screen)
        return False

    def _frame_margins(self) -> QMargins:
        frame, inner = self._window.frameGeometry(), self._window.geometry()
        return QMargins(
            inner.left() - frame.left(),
            inner.top() - frame.top(),
            frame.right() - inner.right(),
            frame.bottom() - inner.bottom(),
        )

    def keep_on_screen(self) -> None:
        """Cut and move the window to fit the screen, unless the user gave it its size."""
        window = self._window
        is_given = self._set_size.isEmpty() or self._set_size == window.size()
        if window.windowState() & ~Qt.WindowState.WindowActive or not window.isVisible() or not is_given:
            return
        available = window.screen().availableGeometry()
        frame = window.frameGeometry()
        fitting = fitted(frame, available)
        if fitting != frame:
            window.setGeometry(fitting.marginsRemoved(self._frame_margins()))
            self._set_size = window.size()


def fitted(frame: QRect, available: QRect) -> QRect:
    """Return a frame cut and moved to fit the screen."""
    size = frame.size().boundedTo(available.size())
    x = min(max(frame.left(), available.left()), available.right() + 1 - size.width())
    y = min(max(frame.top(), available.top()), available.bottom() + 1 - size.height())
    return QRect(x, y, size.width(), size.height())
