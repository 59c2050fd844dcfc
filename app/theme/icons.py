"""Icons: glyphs of the Phosphor font, at any size and in the colours of the current theme.

An icon looks its colours up whenever it is painted, so its widget does nothing when the theme changes: the style sheet
causes a repaint. A pixmap made from an icon stays as it is.

The font and its names come with qtawesome, of which only the files are read. Rejected: importing it. It imports qtpy,
which creates every class of three Qt modules, and it loads eleven fonts for our one: a sixth of the time to the first
window.
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

_GLYPH_RATIO = 0.875  # the ratio of the glyph's font size to the icon's height: the rest is the font's bearing
PREFIX = "ph."  # qtawesome's prefix for this font


@cache
def icon(name: str, role: theme.Role = theme.Role.TEXT) -> QIcon:
    """Return the icon `ph.NAME` in a role's colour; paler while it is disabled.

    Raises:
        KeyError: the font has no such icon.
    """
    glyph = chr(int(_glyphs()[name.removeprefix(PREFIX)], 16))
    family = _family()
    return QIcon(_Engine(family, glyph, role)) if family else QIcon()


class IconLabel(QWidget):
    """An icon beside a text; screen readers ignore it."""

    def __init__(self, size: int) -> None:
        """Create a label, `size` pixels wide and high."""
        super().__init__()
        self._icon = QIcon()
        self.setFixedSize(size, size)

    def show_icon(self, name: str, role: theme.Role) -> None:
        """Show another icon."""
        self._icon = icon(name, role)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the icon in the current colours."""
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
        font.setPixelSize(max(1, round(_GLYPH_RATIO * rect.height())))
        painter.save()
        painter.setFont(font)
        painter.setPen(theme.colour(theme.Role.DISABLED if mode == QIcon.Mode.Disabled else self._role))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self._glyph)
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return the glyph on a transparent background."""
        pixmap_ = QPixmap(size)
        pixmap_.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap_)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap_


@cache
def _folder() -> Path:
    spec = find_spec("qtawesome")  # finds it without importing it
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "fonts"  # the package itself may be in an archive


@cache
def _glyphs() -> dict[str, str]:
    """Return the code points in hexadecimal, by name."""
    glyphs: dict[str, str] = json.loads(next(_folder().glob("phosphor-charmap-*.json")).read_text("utf-8"))
    return glyphs


@cache
def _family() -> str:
    """Return the font's family name; empty if the system does not let an application add fonts."""
    font_id = QFontDatabase.addApplicationFontFromData(next(_folder().glob("phosphor-[0-9]*.ttf")).read_bytes())
    families = QFontDatabase.applicationFontFamilies(font_id) if font_id >= 0 else []
    if not families:
        _log.warning("the font of the icons could not be loaded, so buttons have their texts alone")
        return ""
    return families[0]
