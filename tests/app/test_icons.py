"""The icons' font: every icon that the application names is in it, and has both its colours."""

import pytest
from PySide6.QtGui import QIcon

from app.actions import COMMANDS
from app.theme.icons import draw_icon

NAMES = sorted({command.icon for command in COMMANDS if command.icon})


def colours(icon: QIcon, mode: QIcon.Mode) -> set[str]:
    image = icon.pixmap(96, 96, mode).toImage()
    pixels = (image.pixelColor(x, y) for x in range(96) for y in range(96))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


@pytest.mark.parametrize("name", NAMES)
def test_an_icon_is_drawn_in_its_colours(qapp, name):
    icon = draw_icon(name, "#112233", "#ccbbaa")
    assert colours(icon, QIcon.Mode.Normal) == {"#112233"}
    assert colours(icon, QIcon.Mode.Disabled) == {"#ccbbaa"}


def test_an_unknown_icon_is_refused(qapp):
    with pytest.raises(KeyError):
        draw_icon("ph.no-such-thing", "#112233", "#ccbbaa")
