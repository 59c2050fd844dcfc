"""The icons' font: every icon that the application names is in it, and wears the colours of the theme of the time."""

import pytest
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QToolButton

from app import theme
from app.commands import declared_commands
from app.theme import DARK, LIGHT, Role
from app.theme.icons import icon

NAMES = sorted({command.icon for command in declared_commands() if command.icon})


@pytest.fixture(autouse=True)
def in_light_afterwards(qapp):
    theme.apply(qapp, "light")
    yield
    theme.apply(qapp, "light")


def colours(image) -> set[str]:
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


def drawn(shown: QIcon, mode: QIcon.Mode = QIcon.Mode.Normal) -> set[str]:
    return colours(shown.pixmap(96, 96, mode).toImage())


@pytest.mark.parametrize("name", NAMES)
def test_an_icon_is_drawn_in_its_colours(qapp, name):
    assert drawn(icon(name)) == {LIGHT.hex(Role.TEXT)}
    assert drawn(icon(name, Role.ERROR)) == {LIGHT.hex(Role.ERROR)}
    assert drawn(icon(name), QIcon.Mode.Disabled) == {LIGHT.hex(Role.DISABLED)}


def test_an_icon_follows_the_theme_wherever_it_is_shown(qtbot, qapp):
    button = QToolButton()
    qtbot.addWidget(button)
    button.setIcon(icon("ph.square-fill", Role.ERROR))
    button.show()
    assert LIGHT.hex(Role.ERROR) in colours(button.grab().toImage())
    theme.apply(qapp, "dark")
    assert DARK.hex(Role.ERROR) in colours(button.grab().toImage())
    assert LIGHT.hex(Role.ERROR) not in colours(button.grab().toImage())
    button.setEnabled(False)
    assert DARK.hex(Role.DISABLED) in colours(button.grab().toImage())


def test_an_unknown_icon_is_refused(qapp):
    with pytest.raises(KeyError):
        icon("ph.no-such-thing")
