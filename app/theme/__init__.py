"""Colours, fonts and the look of the window, by role.

    from app import theme

    theme.colour(theme.Role.LIVE)
    theme.themes.changed.connect(self._recolour)

One theme is current per process: Qt's palette and style sheet are per
application too, so an object that pretended otherwise would only mislead.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.theme.roles import DARK, LIGHT, THEMES, Role, Theme, ThemeName
from app.theme.style_sheet import SPACE_L, SPACE_M, SPACE_S, SPACE_XS, style_sheet

__all__ = [
    "DARK",
    "LIGHT",
    "SPACE_L",
    "SPACE_M",
    "SPACE_S",
    "SPACE_XS",
    "Role",
    "Theme",
    "ThemeName",
    "apply",
    "colour",
    "current",
    "mono_font",
    "system_theme",
    "themes",
    "ui_font",
]

_MONO_FAMILIES = ("JetBrains Mono", "Cascadia Mono", "SF Mono", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")


class Themes(QObject):
    """The current theme and its change."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.current: Theme = LIGHT


themes = Themes()


def current() -> Theme:
    """The theme that the window wears now."""
    return themes.current


def colour(role: Role | str) -> QColor:
    """The current theme's colour of a role."""
    return themes.current.colour(role)


def system_theme() -> ThemeName:
    """What the desktop prefers; light where it does not say."""
    return "dark" if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"


def apply(app: QApplication, name: str) -> None:
    """Dress the application in a theme: `"light"`, `"dark"` or `"system"`."""
    theme = THEMES[system_theme() if name == "system" else name]
    themes.current = theme
    if not app.styleSheet():  # once: it dresses every widget anew, as the sheet does after it
        app.setStyle("Fusion")  # the native styles ignore parts of a palette, each a different part
    app.setPalette(_palette(theme))
    app.setFont(ui_font())
    app.setStyleSheet(style_sheet(theme))
    themes.changed.emit()


def ui_font(size_offset: float = 0.0) -> QFont:
    """The desktop's interface font, in points plus an offset."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPointSizeF(max(9.0, min(font.pointSizeF(), 13.0)) + size_offset)
    return font


def mono_font(size_offset: float = 0.0) -> QFont:
    """The font for grammars, tokens and numbers."""
    font = QFont(list(_MONO_FAMILIES))
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    font.setPointSizeF(ui_font(size_offset).pointSizeF())
    return font


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    roles = {
        QPalette.ColorRole.Window: Role.WINDOW,
        QPalette.ColorRole.WindowText: Role.TEXT,
        QPalette.ColorRole.Base: Role.PANEL,
        QPalette.ColorRole.AlternateBase: Role.RAISED,
        QPalette.ColorRole.Text: Role.TEXT,
        QPalette.ColorRole.PlaceholderText: Role.MUTED,
        QPalette.ColorRole.Button: Role.RAISED,
        QPalette.ColorRole.ButtonText: Role.TEXT,
        QPalette.ColorRole.ToolTipBase: Role.RAISED,
        QPalette.ColorRole.ToolTipText: Role.TEXT,
        QPalette.ColorRole.Highlight: Role.SELECTION,
        QPalette.ColorRole.HighlightedText: Role.TEXT,
        QPalette.ColorRole.Link: Role.ACCENT,
        QPalette.ColorRole.Mid: Role.BORDER,
        QPalette.ColorRole.Midlight: Role.GRID,
        QPalette.ColorRole.Dark: Role.BORDER,
        QPalette.ColorRole.Light: Role.RAISED,
        QPalette.ColorRole.Accent: Role.ACCENT,
    }
    for palette_role, role in roles.items():
        palette.setColor(palette_role, theme.colour(role))
    for palette_role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
        palette.setColor(QPalette.ColorGroup.Disabled, palette_role, theme.colour(Role.DISABLED))
    return palette
