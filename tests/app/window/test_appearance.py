"""Theme, colours and text size: stored and applied at once, by commands, the wheel and the preferences."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLabel, QMainWindow, QPushButton, QSpinBox, QWidget

import app.window.main_window  # noqa: F401 - declares all commands
from app import theme
from app.commands import ZOOMS, Commands
from app.dialogs.preferences_dialog import PreferencesDialog
from app.settings import Settings
from app.theme import TEXT_SIZES
from app.window.appearance import Appearance


@pytest.fixture
def settings(tmp_path):
    return Settings(tmp_path / "preferences.json")


@pytest.fixture
def window(qtbot, qapp):
    theme.prepare(qapp, "light")
    window = QMainWindow()
    qtbot.addWidget(window)
    yield window
    theme.choose("standard", 0)
    theme.apply(qapp, "light")


@pytest.fixture
def commands(window):
    return Commands(window)


@pytest.fixture
def appearance(window, commands, settings):
    appearance = Appearance(commands, settings, window)
    commands.add(appearance, theme.themes.changed)
    window.setCentralWidget(QWidget())
    window.resize(400, 300)
    window.show()
    return appearance


def turn(window: QMainWindow, at: QPointF, delta: int, modifiers: Qt.KeyboardModifier) -> None:
    phase, buttons = Qt.ScrollPhase.NoScrollPhase, Qt.MouseButton.NoButton
    event = QWheelEvent(at, at, QPoint(), QPoint(0, delta), buttons, modifiers, phase, False)
    QApplication.sendEvent(window.windowHandle(), event)


def test_commands_choose_theme_and_colours_and_are_stored(appearance, commands, settings):
    commands["view.dark"].trigger()
    commands["view.high_contrast"].trigger()
    assert theme.current() is theme.PALETTES["contrast"]["dark"]
    assert [commands[one].isChecked() for one in ("view.dark", "view.light")] == [True, False]
    assert [commands[one].isChecked() for one in ("view.high_contrast", "view.colours")] == [True, False]
    assert (settings.preferences.theme, settings.preferences.palette) == ("dark", "contrast")


def test_the_text_of_everything_grows_and_shrinks_within_limits(appearance, commands, settings, qapp, qtbot):
    usual = qapp.font().pointSizeF()
    for _ in range(2):
        commands["view.text_larger"].trigger()
    qtbot.waitUntil(lambda: qapp.font().pointSizeF() == usual + 2)
    commands["view.text_smaller"].trigger()
    qtbot.waitUntil(lambda: qapp.font().pointSizeF() == usual + 1)
    assert settings.preferences.text_size == 1
    appearance.set_text_size(1_000)
    assert settings.preferences.text_size == TEXT_SIZES[-1]
    commands["view.text_default"].trigger()
    qtbot.waitUntil(lambda: qapp.font().pointSizeF() == usual)


def test_ctrl_and_the_wheel_change_the_text_but_not_over_a_drawing(appearance, window, settings):
    drawing = QLabel("drawing", window.centralWidget())
    drawing.setProperty(ZOOMS, True)
    drawing.setGeometry(200, 100, 100, 100)
    drawing.show()
    control, none = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
    over = QPointF(drawing.mapTo(window, QPoint(50, 50)))
    for at, delta, modifiers, size in (
        (QPointF(50, 50), 120, none, 0),
        (QPointF(50, 50), 60, control, 0),
        (QPointF(50, 50), 60, control, 1),
        (over, 120, control, 1),
        (QPointF(50, 50), -240, control, -1),
    ):
        turn(window, at, delta, modifiers)
        assert settings.preferences.text_size == size, (at, delta)


@pytest.fixture
def dialog(appearance, commands, settings, window):
    settings.change(recent=["/a.gbnf"])
    dialog = PreferencesDialog(commands, settings, appearance.set_text_size, window)
    dialog.show()
    return dialog


def test_preferences_are_applied_at_once(dialog, settings, qapp, qtbot):
    controls = dialog.controls
    colours, size = controls["colours"], controls["text_size"]
    assert isinstance(colours, QComboBox)
    QTest.keyClick(colours, Qt.Key.Key_Down)
    assert theme.current() is theme.PALETTES["safe"]["light"]
    assert isinstance(size, QSpinBox)
    QTest.keyClick(size, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: qapp.font().pointSizeF() == size.value())
    switch, recent = controls["problems"], controls["recent"]
    assert isinstance(switch, QCheckBox)
    QTest.keyClick(switch, Qt.Key.Key_Space)
    assert not settings.preferences.bottom_open
    assert isinstance(recent, QPushButton)
    qtbot.mouseClick(recent, Qt.MouseButton.LeftButton)
    assert settings.preferences.recent == []
    assert not recent.isEnabled()


def test_preferences_are_found_by_title_note_and_the_synonyms_of_commands(dialog):
    def shown() -> list[str]:
        return [name for name, control in dialog.controls.items() if control.isVisible()]

    everything = shown()
    QTest.keyClicks(dialog.field, "protanopia")
    assert shown() == ["colours"]
    dialog.field.clear()
    QTest.keyClicks(dialog.field, "nothing like it")
    assert shown() == []
    assert dialog.nothing.isVisible()
    dialog.field.clear()
    assert shown() == everything
