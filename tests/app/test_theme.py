from importlib.resources import files

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QFrame, QLabel, QSpinBox

from app import theme
from app.theme import DARK, LIGHT, PALETTES, TEXT_SIZES, Role
from app.theme.style_sheet import style_sheet

GROUNDS = (Role.WINDOW, Role.PANEL, Role.RAISED)
FILLS = {
    Role.LIVE: Role.LIVE_FILL,
    Role.ALLOWED: Role.ALLOWED_FILL,
    Role.FORBIDDEN: Role.FORBIDDEN_FILL,
    Role.FORCED: Role.FORCED_FILL,
    Role.ERROR: Role.ERROR_FILL,
    Role.WARNING: Role.WARNING_FILL,
    Role.HINT: Role.HINT_FILL,
}
TEXTS = (Role.TEXT, Role.MUTED, Role.ACCENT, *FILLS, *(role for role in Role if role.value.startswith("syntax")))


def luminance(colour):
    def linear(channel):
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


def contrast(one, other):
    """WCAG 2.1, section 1.4.3."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


ALL = [one for palette in PALETTES.values() for one in palette.values()]
EVERY_THEME = pytest.mark.parametrize("colours", ALL, ids=[f"{p}-{name}" for p in PALETTES for name in PALETTES[p]])
LEAST_TEXT = {"contrast": 7.0}  # WCAG 2.1, section 1.4.6; section 1.4.3 asks for 4.5

PAIRS = [
    *((text, ground) for text in TEXTS for ground in GROUNDS),
    *FILLS.items(),
    *((Role.TEXT, fill) for fill in (*FILLS.values(), Role.HOVER, Role.SELECTION)),
    (Role.ON_ACCENT, Role.ACCENT),
]


@EVERY_THEME
def test_texts_can_be_read_on_their_grounds(colours):
    least = next((LEAST_TEXT.get(name, 4.5) for name, palette in PALETTES.items() if colours in palette.values()), 4.5)
    weak = {
        (text.value, ground.value): round(contrast(colours.colour(text), colours.colour(ground)), 2)
        for text, ground in PAIRS
        if contrast(colours.colour(text), colours.colour(ground)) < least
    }
    assert weak == {}


@EVERY_THEME
def test_every_role_has_a_colour_and_the_sheet_leaves_none_open(colours):
    assert set(colours.values) == set(Role)
    sheet = style_sheet(colours)
    assert not any("{" + role.value + "}" in sheet for role in Role)


def test_a_theme_is_applied_and_told(qapp, qtbot):
    assert isinstance(qapp, QApplication)
    with qtbot.waitSignal(theme.themes.changed):
        theme.apply(qapp, "dark")
    assert theme.current() is DARK
    assert theme.colour("live") == DARK.colour(Role.LIVE)
    assert qapp.palette().base().color() == DARK.colour(Role.PANEL)
    theme.apply(qapp, "system")
    assert theme.current().name == theme.system_theme()
    theme.apply(qapp, "light")


def test_palette_and_text_size_come_with_the_next_theme(qapp, qtbot):
    usual = theme.ui_font().pointSizeF()
    theme.choose("contrast", 3)
    try:
        theme.apply(qapp, "dark")
        assert theme.current() is PALETTES["contrast"]["dark"]
        assert theme.ui_font().pointSizeF() == qapp.font().pointSizeF() == usual + 3
        assert theme.mono_font(1).pointSizeF() == usual + 4
        theme.choose("safe", 1_000)
        theme.apply(qapp, "light")
        assert theme.current() is PALETTES["safe"]["light"]
        assert theme.ui_font().pointSizeF() == usual + TEXT_SIZES[-1]
    finally:
        theme.choose("standard", 0)
        theme.apply(qapp, "light")
    assert theme.ui_font().pointSizeF() == usual


def test_a_dressed_window_wears_every_theme_by_itself(qapp, qtbot):
    theme.prepare(qapp, "light")
    window, popup = QFrame(), QFrame(None, Qt.WindowType.Popup)
    label = QLabel("text", window)
    label.setProperty("role", "muted")
    for widget in (window, popup):
        theme.apply_font(widget)
    for name, colours in (("dark", DARK), ("light", LIGHT)):
        theme.apply(qapp, name)
        assert not qapp.styleSheet()
        assert window.styleSheet() == popup.styleSheet() == style_sheet(colours, theme.ui_font(4.0).pointSizeF())
        window.show()
        label.grab()
        assert label.palette().windowText().color() == colours.colour(Role.MUTED)
    for widget in (window, popup):  # else they would be dressed instead of what later tests show
        shiboken6.delete(widget)


def test_what_has_no_window_is_dressed_with_the_application(qapp, qtbot):
    theme.prepare(qapp, "light")
    pane = QLabel("text")
    qtbot.addWidget(pane)
    theme.apply(qapp, "dark")
    assert qapp.styleSheet() == style_sheet(DARK, theme.ui_font(4.0).pointSizeF())
    theme.apply(qapp, "light")


def test_the_fixed_font_is_fixed(qapp):
    assert theme.mono_font().fixedPitch()
    assert theme.ui_font(2.0).pointSizeF() == theme.ui_font().pointSizeF() + 2.0


def test_a_spin_box_has_arrows(qtbot):
    box = QSpinBox()
    qtbot.addWidget(box)
    box.setStyleSheet(style_sheet(LIGHT))
    box.resize(100, 30)
    picture = box.grab().toImage()
    muted = LIGHT.colour(Role.MUTED)
    rows = {y for y in range(30) for x in range(80, 98) if picture.pixelColor(x, y) == muted}
    assert min(rows) < 15 < max(rows)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda colours: colours.name)
def test_a_box_that_is_ticked_has_a_mark_in_the_themes_colours(colours, qtbot, qapp):
    icons = files("resources") / "icons"
    for name, role in (("", Role.ON_ACCENT), ("-disabled", Role.DISABLED)):
        assert colours.hex(role) in (icons / f"check-{colours.name}{name}.svg").read_text("utf-8")
    box = QCheckBox()
    qtbot.addWidget(box)
    box.setStyleSheet(style_sheet(colours))
    box.setChecked(True)
    picture = box.grab().toImage()
    seen = {picture.pixelColor(x, y).name() for x in range(16) for y in range(picture.height())}
    assert {colours.hex(Role.ACCENT), colours.hex(Role.ON_ACCENT)} <= seen
