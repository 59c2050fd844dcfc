"""Every pane, empty, typical and in trouble, light and dark, held against the picture that somebody looked at.

A change that is meant: `python -m tests.app.snapshots FOLDER` draws all anew, and a
sheet of each theme into the folder, to be looked at before the pictures are committed.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from PySide6.QtGui import QColor, QFontDatabase, QFontInfo, QImage

from app import theme
from app.theme import PALETTES, Role
from tests.app.snapshots.pictures import MOST_DIFFERENT, different, drawn, halved, kept
from tests.app.snapshots.states import STATES

WITH_COLOURS_OF_THEIR_OWN = (  # beside those of the style sheet
    "automaton-typical",
    "banners",
    "breakpoints-typical",
    "check-cut-off",
    "forced-spellings",
    "editor-error",
    "explanation-typical",
    "export-written",
    "find-typical",
    "gallery",
    "generated-typical",
    "generation-typical",
    "notation-typical",
    "probabilities-typical",
    "problems-error",
    "reference-nothing",
    "sample-typical",
    "status-busy",
    "tests-error",
    "timeline-typical",
    "toolbar-wide",
)
MOST_AFTER_A_CHANGE = 0.001  # of all pixels: a button of Qt's that fades in


@pytest.fixture(autouse=True)
def in_light_afterwards(qapp):
    yield
    theme.apply(qapp, "light")


@pytest.mark.parametrize("colours", sorted(PALETTES["standard"]))
@pytest.mark.parametrize("state", STATES)
def test_a_pane_looks_as_it_did(qtbot, qapp, tmp_path, state, colours):
    picture = drawn(qapp, state, colours)
    assert shades(picture) >= 4, "there is next to nothing in the picture"
    assert PALETTES["standard"][colours].colour(Role.TEXT) != PALETTES["standard"][colours].colour(Role.PANEL)
    assert is_dark(picture) == (colours == "dark")
    if sys.platform != "linux":
        pytest.skip("only on Linux does Qt find the fonts of the tests, with fontconfig")
    before = QImage(str(kept(state, colours))).convertToFormat(QImage.Format.Format_RGB888)
    share = different(halved(picture), before)
    if share > MOST_DIFFERENT:
        picture.save(str(tmp_path / f"{state}-{colours}.png"))
        pytest.fail(
            f"{state} in {colours} differs in {share:.1%} of its pixels: see {tmp_path}. If it is meant to, "
            "`python -m tests.app.snapshots FOLDER` draws all pictures anew; look at the sheets in FOLDER."
        )


@pytest.mark.parametrize("state", WITH_COLOURS_OF_THEIR_OWN)
def test_a_theme_that_changes_reaches_all_that_is_shown(qtbot, qapp, tmp_path, state):
    picture, changed = drawn(qapp, state, "dark"), drawn(qapp, state, "dark", built_in="light")
    share = different(picture, changed)
    if share > MOST_AFTER_A_CHANGE:
        changed.save(str(tmp_path / f"{state}.png"))
        pytest.fail(f"{state} differs in {share:.2%} of its pixels from one that was built in dark: see {tmp_path}")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt does not ask fontconfig")
def test_text_is_drawn_in_the_fonts_of_the_tests_alone(qapp):
    assert QFontInfo(theme.ui_font()).family() == "DejaVu Sans"
    assert QFontInfo(theme.mono_font()).family() == "DejaVu Sans Mono"
    aliases = {"Monospace", "Sans Serif", "Serif"}
    assert {family for family in QFontDatabase.families() if "Phosphor" not in family} - aliases == {
        "DejaVu Sans",
        "DejaVu Sans Mono",
    }


def test_there_is_a_picture_of_every_state_and_no_other():
    wanted = {kept(state, colours).name for state in STATES for colours in PALETTES["standard"]}
    assert {path.name for path in kept("x", "light").parent.glob("*.png")} == wanted


def test_a_text_that_moved_is_noticed(qtbot, qapp):
    one = halved(drawn(qapp, "problems-error", "light"))
    other = one.copy()
    other.fill(QColor("white"))
    assert different(one, one) == 0
    assert different(one, other) > MOST_DIFFERENT
    assert different(one, one.copy(0, 0, 10, 10)) == 1


def shades(picture: QImage) -> int:
    """How many colours there are on a coarse grid."""
    step = 3
    lines = np.frombuffer(picture.constBits(), np.uint8).reshape(picture.height(), picture.bytesPerLine())
    pixels = lines[::step, : 3 * picture.width()].reshape(-1, picture.width(), 3)[:, ::step].astype(np.uint32)
    return len(np.unique(pixels @ np.array([1 << 16, 1 << 8, 1], np.uint32)))


def is_dark(picture: QImage) -> bool:
    """Whether the corner is."""
    return picture.pixelColor(picture.width() - 2, picture.height() - 2).lightness() < 128
