"""Colours that carry a meaning: marks stand out from their ground, and no meaning hangs on a hue alone.

Two colours that are to be told apart are far enough apart for everybody (see
`colour_science`), or the same place has a second cue. Whether a second cue is
really there is looked up in the picture: with all colour taken out of it, the
kinds of chips and of candidates still differ.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from decode_views import candidate, position, view
from PySide6.QtGui import QColor, QImage

from app import theme
from app.panes.generation.chip import Chip, ChipKind
from app.panes.generation.chip_colours import ChipColours
from app.panes.generation.chip_view import ChipView
from app.panes.generation.pane import GenerationPane
from app.panes.generation.prompt_words import WARMEST
from app.theme import NOTE_COLOURS, PALETTES, Role
from app.widgets.token_paint import mix
from tests.app.accessibility.colour_science import MACHADO, contrast, distance, seen_with

GROUNDS = (Role.WINDOW, Role.PANEL, Role.RAISED)
MARKS = (
    Role.ACCENT,  # focus, the current chip, what is pointed at
    Role.BAR_MODEL,
    Role.BAR_MASKED,
    Role.LIVE,
    Role.FORCED,
    Role.ERROR,
    Role.WARNING,
    Role.HINT,
    Role.ALLOWED,
    Role.MUTED,  # lines of the drawing at rest, boxes to tick, arrows of spin boxes
)
LEAST_MARK = 3.0  # WCAG 2.1, section 1.4.11
LEAST_DISTANCE = 10.0  # four times what can just be noticed

# What stands side by side and means different things; the cue that it has beside its colour, or none.
MEANINGS = {
    (Role.BAR_MODEL, Role.BAR_MASKED): "outlined and solid, the upper and the lower one",
    (Role.ALLOWED, Role.FORBIDDEN): "a forbidden token is struck through",
    (Role.ALLOWED, Role.ERROR): "✓ and ✗ of different shapes, and the words Pass and Fail",
    (Role.ERROR, Role.WARNING): "icons of different shapes, and the word",
    (Role.WARNING, Role.HINT): "icons of different shapes, and the word",
    (Role.ERROR, Role.HINT): "icons of different shapes, and the word",
    (Role.LIVE, Role.MUTED): None,  # where the match stands, and a state at rest
    (Role.LIVE, Role.ACCENT): None,  # where the match stands, and where a token would take it
    (Role.LIVE, Role.WARNING): "what no test uses is dotted",
    (Role.FORCED, Role.ERROR): "an illegal chip is struck through",
    (Role.SYNTAX_CLASS, Role.SYNTAX_LITERAL): None,
    (Role.SYNTAX_NAME, Role.SYNTAX_LITERAL): None,
    (Role.SYNTAX_QUANTIFIER, Role.SYNTAX_LITERAL): None,
    (Role.SYNTAX_ESCAPE, Role.SYNTAX_LITERAL): None,
}

EVERY_THEME = pytest.mark.parametrize(
    "colours",
    [one for palette in PALETTES.values() for one in palette.values()],
    ids=[f"{palette}-{name}" for palette in PALETTES for name in PALETTES[palette]],
)
SAFE = pytest.mark.parametrize("colours", PALETTES["safe"].values(), ids=PALETTES["safe"])


@EVERY_THEME
def test_marks_stand_out_from_their_grounds(colours):
    weak = {
        (mark.value, ground.value): round(contrast(colours.colour(mark), colours.colour(ground)), 2)
        for mark in MARKS
        for ground in GROUNDS
        if contrast(colours.colour(mark), colours.colour(ground)) < LEAST_MARK
    }
    assert weak == {}


@EVERY_THEME
def test_the_warmest_word_of_a_prompt_can_be_read(colours):
    for role in (Role.WARNING, Role.HINT):
        ground = mix(colours.colour(Role.PANEL), colours.colour(role), WARMEST)
        assert contrast(colours.colour(Role.TEXT), ground) >= 4.5


@EVERY_THEME
@pytest.mark.parametrize("deficiency", ["", *MACHADO])
def test_what_has_no_second_cue_is_told_apart_by_everybody(colours, deficiency):
    def apart(one, other):
        return distance(*(seen_with(deficiency, colours.colour(role)) for role in (one, other)))

    close = {pair: apart(*pair) for pair, cue in MEANINGS.items() if cue is None and apart(*pair) < LEAST_DISTANCE}
    assert close == {}


@SAFE
@pytest.mark.parametrize("deficiency", ["", *MACHADO])
def test_the_palette_for_colour_blindness_needs_no_second_cue(colours, deficiency):
    pairs = [*MEANINGS, *combinations(NOTE_COLOURS, 2)]
    close = {}
    for pair in pairs:
        apart = distance(*(seen_with(deficiency, colours.colour(role)) for role in pair))
        if apart < LEAST_DISTANCE:
            close[pair] = round(apart, 1)
    assert close == {}


@pytest.mark.parametrize("name", ["light", "dark"])
def test_high_contrast_has_borders_that_can_be_seen(name):
    standard, colours = PALETTES["standard"][name], PALETTES["contrast"][name]
    for ground in GROUNDS:
        assert contrast(colours.colour(Role.BORDER), colours.colour(ground)) >= LEAST_MARK
        assert contrast(colours.colour(Role.TEXT), colours.colour(ground)) >= 14
    weaker = [
        mark.value
        for mark in MARKS
        if contrast(colours.colour(mark), colours.colour(Role.PANEL))
        < contrast(standard.colour(mark), standard.colour(Role.PANEL))
    ]
    assert weaker == []


def test_the_simulation_is_the_published_one():
    # The paper's own property: grey stays grey, for each of the three.
    grey = QColor("#808080")
    for deficiency in MACHADO:
        assert distance(seen_with(deficiency, grey), seen_with("", grey)) < 0.5
    red, green = QColor("#b04a4a"), QColor("#7a7a2e")
    assert distance(seen_with("", red), seen_with("", green)) > 2 * distance(
        seen_with("deuteranopia", red), seen_with("deuteranopia", green)
    )


def greys(picture: QImage) -> list[list[int]]:
    grey = picture.convertToFormat(QImage.Format.Format_Grayscale8)
    return [[grey.pixelColor(x, y).red() for x in range(grey.width())] for y in range(grey.height())]


def differing(one, other) -> int:
    """Pixels that differ by more than an eye's least step in lightness, twice over."""
    return sum(
        abs(a - b) > 24 for line, opposite in zip(one, other, strict=True) for a, b in zip(line, opposite, strict=True)
    )


@pytest.mark.parametrize("name", sorted(PALETTES["standard"]))
def test_chips_differ_without_any_colour(qtbot, qapp, name):
    theme.apply(qapp, name)
    chips = ChipView()
    qtbot.addWidget(chips)
    chips.set_colours(ChipColours.PROBABILITY)
    kinds = {
        "free": Chip(0, "word", p=0.9, allowed=9),
        "unwanted": Chip(1, "word", p=0.001, allowed=9),
        "forced": Chip(2, "word", ChipKind.FORCED, p=0.9, allowed=1),
        "illegal": Chip(3, "word", ChipKind.ILLEGAL, p=0.9),
        "by the user": Chip(4, "word", p=0.9, allowed=9, by_user=True),
        "partial": Chip(5, "word", p=0.9, allowed=9, is_partial=True),
    }
    chips.resize(600, 60)
    chips.show()
    chips.show_chips(tuple(kinds.values()), None)
    picture = chips.viewport().grab().toImage()
    painted = {kind: greys(picture.copy(chips.rect_of(i).toRect())) for i, kind in enumerate(kinds)}
    alike = {
        (one, other): differing(painted[one], painted[other])
        for one, other in combinations(painted, 2)
        if differing(painted[one], painted[other]) < 8
    }
    theme.apply(qapp, "light")
    assert alike == {}


@pytest.mark.parametrize("name", sorted(PALETTES["standard"]))
def test_candidates_differ_without_any_colour(qtbot, qapp, name):
    theme.apply(qapp, name)
    pane = GenerationPane()
    qtbot.addWidget(pane)
    pane.resize(600, 700)
    pane.show()
    same = (candidate(1, b"same", 0.3, rank=1), candidate(2, b"same", 0.3, allowed=False, rank=1))
    pane.show_view(view(at=position(same)))
    table = pane.candidates.table
    rows = [greys(table.viewport().grab(table.visualRect(table.candidates.index(row, 1))).toImage()) for row in (0, 1)]
    theme.apply(qapp, "light")
    assert differing(*rows) > 20
