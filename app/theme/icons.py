"""Icons: glyphs of the Phosphor font, at whatever size a widget asks for and in the colours of the theme at that time.

An icon looks its colours up whenever it is painted, so what shows it does nothing when the theme changes: the style
sheet has it painted anew. A pixmap made of an icon stays as it is.

The font and its names come with qtawesome, whose files alone are read. Rejected:
importing it. It brings qtpy, which makes every class of three Qt modules, and it
loads eleven fonts for our one: a sixth of the time to the first window.
"""

from __future__ import annotations

import json
import logging
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from app import theme

_log = logging.getLogger(__name__)

_SHARE = 0.875  # of an icon's height that its glyph's size takes: the rest is the font's own bearing
PREFIX = "ph."  # what qtawesome calls this font, and its documentation its icons


@cache
def icon(name: str, role: theme.Role = theme.Role.TEXT) -> QIcon:
    """The icon `ph.NAME` in a role's colour; paler while it is disabled.

    Raises:
        KeyError: the font has no such icon.
    """
    glyph = chr(int(_glyphs()[name.removeprefix(PREFIX)], 16))
    family = _family()
    return QIcon(_Engine(family, glyph, role)) if family else QIcon()


class IconLabel(QWidget):
    """Shows an icon beside a text; it is empty to a screen reader."""

    def __init__(self, size: int) -> None:
        """Build it, `size` pixels wide and high."""
        super().__init__()
        self._icon = QIcon()
        self.setFixedSize(size, size)

    def show_icon(self, name: str, role: theme.Role) -> None:
        """Show another icon."""
        self._icon = icon(name, role)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it in the colours of the time."""
        painter = QPainter(self)
        self._icon.paint(painter, self.rect())
        painter.end()


class _Engine(QIconEngine):
    """Draws one glyph."""

    def __init__(self, family: str, glyph: str, role: theme.Role) -> None:
        super().__init__()
        self._family, self._glyph, self._role = family, glyph, role

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, _state: QIcon.State) -> None:
        """Draw the glyph in the middle of a rectangle."""
        font = QFont(self._family)
        font.setPixelSize(max(1, round(_SHARE * rect.height())))
        painter.save()
        painter.setFont(font)
        painter.setPen(theme.colour(theme.Role.DISABLED if mode == QIcon.Mode.Disabled else self._role))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self._glyph)
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """The glyph on no ground."""
        drawn = QPixmap(size)
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return drawn


@cache
def _folder() -> Path:
    spec = find_spec("qtawesome")  # finds it without importing it
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "fonts"


@cache
def _glyphs() -> dict[str, str]:
    """Code points in hexadecimal, by name."""
    glyphs: dict[str, str] = json.loads(next(_folder().glob("phosphor-charmap-*.json")).read_text("utf-8"))
    return glyphs


@cache
def _family() -> str:
    """The font's name to Qt; empty where the system does not let an application bring fonts."""
    font_id = QFontDatabase.addApplicationFontFromData(next(_folder().glob("phosphor-[0-9]*.ttf")).read_bytes())
    families = QFontDatabase.applicationFontFamilies(font_id) if font_id >= 0 else []
    if not families:
        _log.warning("the font of the icons could not be loaded, so buttons have their texts alone")
        return ""
    return families[0]
