from dataclasses import replace

import pytest
from decode_views import step, trace, view
from PySide6.QtCore import Qt

from app import theme
from app.catalogue import ui_text
from app.panes.generation.chip import Chip, ChipKind, archived_chips, chips_of
from app.panes.generation.chip_colours import SCALES, ChipColours, Legend, colours_of, share_of
from app.panes.generation.output import OutputBox
from engine.decoding.values import ArchivedBranch, StepOrigin, TopToken, Trace, TraceNode


def chip(**changes) -> Chip:
    return replace(Chip(0, "a", ChipKind.TAKEN, 0.5, allowed=10, time_ms=4.0), **changes)


@pytest.mark.parametrize(
    ("by", "changes", "share"),
    [
        (ChipColours.PROBABILITY, {}, 0.5),
        (ChipColours.PROBABILITY, {"p": None}, None),
        (ChipColours.SURPRISE, {"p": 1.0}, 0.0),
        (ChipColours.SURPRISE, {"p": 0.001}, 1.0),
        (ChipColours.SURPRISE, {"p": 1e-30}, 1.0),
        (ChipColours.SURPRISE, {"p": 0.0}, 1.0),
        (ChipColours.TIME, {}, 0.5),
        (ChipColours.TIME, {"time_ms": None}, None),
        (ChipColours.CHOICE, {"allowed": 1}, 0.0),
        (ChipColours.CHOICE, {"allowed": 1000}, 1.0),
        (ChipColours.CHOICE, {"allowed": 0}, None),
        (ChipColours.PROBABILITY, {"kind": ChipKind.PLAIN}, None),
        (ChipColours.SURPRISE, {"kind": ChipKind.REPLAYED}, None),
    ],
)
def test_the_position_of_a_chip_on_its_scale(by, changes, share):
    assert share_of(chip(**changes), by, 8.0) == pytest.approx(share)


@pytest.mark.parametrize("by", ChipColours)
def test_the_tint_follows_the_value_except_for_illegal_chips(by):
    assert colours_of(chip(), by, 0.1)[0] != colours_of(chip(), by, 0.9)[0]
    illegal = chip(kind=ChipKind.ILLEGAL)
    assert colours_of(illegal, by, 0.5)[0] == theme.colour(theme.Role.ERROR_FILL)


def test_a_part_of_a_character_is_marked():
    shown = trace((b"a",))
    cut = TraceNode(0, None, replace(step(b"a"), token=b"\xc3"))
    (made,), _ = chips_of(Trace((cut,), shown.path, 0))
    assert made.is_partial
    assert made.text == "\\xc3"
    assert ui_text("generation.chip.partial", bytes="C3") in made.tip()
    assert not chips_of(shown)[0][0].is_partial


def test_the_tip_shows_the_top_tokens():
    top = (TopToken(1, b"<b>", "", 0.6, False), TopToken(97, b"a", "", 0.3, True))
    node = TraceNode(0, None, replace(step(b"a"), top=top, mask_us=100.0, logits_ms=2.0))
    (made,), _ = chips_of(Trace((node,), (0,), 0))
    tip = made.tip()
    assert "&lt;b&gt;" in tip
    assert ui_text("common.fragment.masked") in tip
    assert ui_text("common.fragment.taken") in tip
    assert "2.1 ms" in tip
    assert made.time_ms == pytest.approx(2.1)


def test_a_forced_token_stays_marked_where_it_is_only_read():
    forced = replace(step(b"a"), origin=StepOrigin.FORCED_BY_USER)
    (made,) = archived_chips(ArchivedBranch("", "", (forced,)))
    assert made.kind is ChipKind.ILLEGAL
    assert ui_text("common.step.forced_by_user") in made.tip()
    (pasted,) = archived_chips(ArchivedBranch("", "", (replace(step(b"a"), origin=StepOrigin.REPLAYED),)))
    assert pasted.p is None


@pytest.fixture
def output(qtbot):
    box = OutputBox()
    qtbot.addWidget(box)
    box.resize(440, 140)
    box.show()
    return box


def test_the_switch_offers_every_scale(qtbot, output):
    assert output.colours.isHidden()
    output.show_view(view(trace((b"a", b"b"))))
    assert output.colours.isVisible()
    chosen = []
    output.colours_chosen.connect(chosen.append)
    for action in output.colours.menu().actions():
        action.trigger()
    assert chosen == [by.value for by in ChipColours]


@pytest.mark.parametrize("by", ChipColours)
def test_every_scale_has_its_legend(output, by):
    output.show_view(view(trace((b"a", b"b"))))
    output.set_colours(by.value)
    assert output.colours.text() == f"{SCALES[by].title} ▾"
    assert SCALES[by].ends[1] in output.legend.accessibleName()
    assert not output.grab().isNull()


def test_an_unknown_scale_is_the_first(output):
    output.set_colours("nonsense")
    assert output.colours.text() == f"{SCALES[ChipColours.PROBABILITY].title} ▾"


def test_a_broken_output_says_since_when(output):
    shown = view(trace((b"a", b"b")))
    broken = replace(shown, position=replace(shown.position, broken_at=1))
    output.show_view(broken)
    tokens = ui_text("common.count.tokens", count=2)
    assert output.tally.text() == f"{tokens} · {ui_text('generation.output.broken', token=2)}"


def test_a_legend_is_never_cut(qtbot):
    legend = Legend()
    qtbot.addWidget(legend)
    assert legend.minimumSizeHint() == legend.sizeHint()
    assert legend.focusPolicy() is Qt.FocusPolicy.NoFocus
