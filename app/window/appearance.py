"""The appearance of the window: theme, colours and text size.

All of it is stored and applied at once, to all windows. The size of the text belongs to every pane: if only the grammar
had it, the numbers of the candidates would stay as small as they were.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from app import theme
from app.commands import ZOOMS, Commands, command
from app.delays import delayed
from app.settings import Settings
from app.theme import TEXT_SIZES

_WHEEL_STEP = 120  # of a wheel that clicks
_APPLY_MS = 40  # a turn of the wheel by several clicks is one change


def _has_theme(appearance: Appearance, name: str) -> bool:
    return appearance.settings.preferences.theme == name


def _has_palette(appearance: Appearance, name: str) -> bool:
    return appearance.settings.preferences.palette == name


class Appearance(QObject):
    """Handles the commands of the appearance, and Ctrl with the wheel anywhere in the window."""

    def __init__(self, commands: Commands, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._commands, self.settings, self._window = commands, settings, window
        self._wheel_turn = 0
        self._timer = delayed(self, _APPLY_MS, self._apply)
        window.installEventFilter(self)  # its native window, which receives the wheel, is created when it is shown

    @command("view.light", "Ctrl+L, L", place=(5, 1), arguments=("light",), checked=_has_theme)
    @command("view.dark", "Ctrl+L, D", place=(5, 2), arguments=("dark",), checked=_has_theme)
    @command("view.system", "Ctrl+L, S", place=(5, 3), arguments=("system",), checked=_has_theme)
    def choose_theme(self, name: str) -> None:
        """Apply a theme to all windows."""
        self.settings.change(theme=name)
        self._apply()

    @command("view.colours", "Ctrl+L, N", place=(6, 1), arguments=("standard",), checked=_has_palette)
    @command("view.safe_colours", "Ctrl+L, B", place=(6, 2), arguments=("safe",), checked=_has_palette)
    @command("view.high_contrast", "Ctrl+L, C", place=(6, 3), arguments=("contrast",), checked=_has_palette)
    def choose_palette(self, name: str) -> None:
        """Apply other colours to all windows."""
        self.settings.change(palette=name)
        self._apply()

    @command("view.text_larger", "Ctrl++", "Ctrl+=", place=(4, 1), repeats=True, arguments=(1,))
    @command("view.text_smaller", "Ctrl+-", place=(4, 2), repeats=True, arguments=(-1,))
    def change_text_size(self, points: int) -> None:
        """Enlarge the text of all panes by some points."""
        self.set_text_size(self.settings.preferences.text_size + points)

    @command("view.text_default", "Ctrl+0", place=(4, 3), arguments=(0,))
    def set_text_size(self, points: int) -> None:
        """Make the text of all panes some points larger than the desktop's, as far as it stays readable."""
        size = min(max(points, TEXT_SIZES[0]), TEXT_SIZES[-1])
        if size != self.settings.preferences.text_size:
            self.settings.change(text_size=size)
            self._timer.start()

    @command("edit.preferences", "Ctrl+,", place=(8, 1), icon="ph.gear")
    def open_preferences(self) -> None:
        """Open the preferences."""
        from app.dialogs.preferences_dialog import PreferencesDialog  # start-up time: built when first shown

        dialog = PreferencesDialog(self._commands, self.settings, self.set_text_size, self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _apply(self) -> None:
        app, preferences = QApplication.instance(), self.settings.preferences
        if isinstance(app, QApplication):
            theme.choose(preferences.palette, preferences.text_size)
            theme.apply(app, preferences.theme)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Change the text size with Ctrl and the wheel, one point for each click of the wheel."""
        if watched is self._window:
            if event.type() == QEvent.Type.Show:
                self._window.windowHandle().installEventFilter(self)
            return False
        if not isinstance(event, QWheelEvent) or not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return False
        under = self._window.childAt(event.position().toPoint())
        while under is not None:
            if under.property(ZOOMS):
                return False
            under = under.parentWidget()
        self._wheel_turn += event.angleDelta().y()
        steps = int(self._wheel_turn / _WHEEL_STEP)
        self._wheel_turn -= steps * _WHEEL_STEP
        if steps:
            self.change_text_size(steps)
        return True
