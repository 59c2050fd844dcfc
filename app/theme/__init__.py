"""Colours, fonts and the style of the window, by role.

    from app import theme

    theme.colour(theme.Role.LIVE)
    theme.themes.changed.connect(self._recolour)

One theme is current per process: Qt's palette and style sheet belong to the application, too.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from app.theme.roles import DARK, LIGHT, NOTE_COLOURS, PALETTES, PaletteName, Role, Theme, ThemeName
from app.theme.style_sheet import SPACE_L, SPACE_M, SPACE_S, SPACE_XS, style_sheet

__all__ = [
    "DARK",
    "LIGHT",
    "NOTE_COLOURS",
    "PALETTES",
    "SPACE_L",
    "SPACE_M",
    "SPACE_S",
    "SPACE_XS",
    "TEXT_SIZES",
    "PaletteName",
    "Role",
    "Theme",
    "ThemeName",
    "apply",
    "apply_font",
    "choose",
    "colour",
    "current",
    "look",
    "mono_font",
    "prepare",
    "system_theme",
    "themes",
    "ui_font",
]

_MONO_FAMILIES = ("JetBrains Mono", "Cascadia Mono", "SF Mono", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")
TEXT_SIZES = range(-3, 13)
"""The points by which the text may be larger than the desktop's."""
_LEAST_POINTS = 5.0
_TITLE_OFFSET = 4.0  # points more than the interface font
_HAS_STYLE_SHEET = "isDressed"  # a property of windows that have a style sheet of their own


class Themes(QObject):
    """The current theme, with a signal for its change.

    Attributes:
        current: the theme.
        palette: the palette of the next theme.
        text_size: the points by which the text is larger than the desktop's.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.current: Theme = LIGHT
        self.palette: PaletteName = "standard"
        self.text_size = 0


themes = Themes()


def current() -> Theme:
    """Return the current theme."""
    return themes.current


def colour(role: Role | str) -> QColor:
    """Return the current theme's colour of a role."""
    return themes.current.colour(role)


def system_theme() -> ThemeName:
    """Return the desktop's preferred theme; light if it has none."""
    return "dark" if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"


def choose(palette: PaletteName, text_size: int) -> None:
    """Set the palette and the size of the text; `prepare` or `apply` shows them."""
    themes.palette = palette
    themes.text_size = min(max(text_size, TEXT_SIZES[0]), TEXT_SIZES[-1])


def look() -> str:
    """Return a key that differs whenever colours or the size of the text do."""
    return f"{themes.current.name} {themes.palette} {themes.text_size}"


def _named(name: str) -> Theme:
    """Return the theme `"light"`, `"dark"`, or the desktop's for `"system"`, in the chosen palette."""
    return PALETTES[themes.palette]["dark" if (system_theme() if name == "system" else name) == "dark" else "light"]


def prepare(app: QApplication, name: str) -> None:
    """Set an application's style, palette and font; its windows get their style sheet once they are built."""
    themes.current = _named(name)
    if app.styleSheet():
        app.setStyleSheet("")
    app.setStyle("Fusion")  # the native styles ignore parts of a palette, each a different part
    app.setPalette(_palette(themes.current))
    app.setFont(ui_font())


def apply_font(window: QWidget) -> None:
    """Set the style sheet of a window, and update it with every change of the theme.

    A popup that Qt detaches from its parent needs a call of its own. A style sheet of the application looks the same
    and takes five times as long, because it is applied to all widgets one by one. And widgets that are built under a
    style sheet are styled again with every new parent: so a window is built first.
    """
    window.setProperty(_HAS_STYLE_SHEET, True)
    window.setStyleSheet(_sheet(themes.current))


def apply(app: QApplication, name: str) -> None:
    """Apply a theme to all windows: `"light"`, `"dark"` or `"system"`; without such windows, to the application."""
    theme = _named(name)
    themes.current = theme
    styled = [widget for widget in app.topLevelWidgets() if widget.property(_HAS_STYLE_SHEET)]
    windows = [widget for widget in styled if widget.windowType() != Qt.WindowType.Popup]
    if (
        not windows and not app.styleSheet()
    ):  # only once: a new style is applied to every widget, as the sheet is after it
        app.setStyle("Fusion")
    app.setPalette(_palette(theme))
    app.setFont(ui_font())
    for widget in styled:
        widget.setStyleSheet(_sheet(theme))
    if not windows or app.styleSheet():
        app.setStyleSheet(_sheet(theme))
    themes.changed.emit()


def _sheet(theme: Theme) -> str:
    return style_sheet(theme, ui_font(_TITLE_OFFSET).pointSizeF())


def ui_font(size_offset: float = 0.0) -> QFont:
    """Return the desktop's interface font in the chosen size, with an offset in points."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    usual = max(9.0, min(font.pointSizeF(), 13.0))
    font.setPointSizeF(max(usual + themes.text_size + size_offset, _LEAST_POINTS))
    return font


def mono_font(size_offset: float = 0.0) -> QFont:
    """Return the font for grammars, tokens and numbers, without ligatures.

    Characters of the same width need no shaping beyond what their script requires: a long line of JSON is laid out in
    two thirds of the time without it.
    """
    font = QFont(list(_MONO_FAMILIES))
    font.setStyleStrategy(QFont.StyleStrategy.PreferNoShaping)
    font.setKerning(False)
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
