from dataclasses import replace

import pytest
from decode_views import step, trace, view
from PySide6.QtCore import QPoint, Qt

from app import theme
from app.catalogue import ui_text
from app.display_text import unmarked
from app.panes.generation import chip_view
from app.panes.generation.chip import ChipKind, chips_of, prompt_chips
from app.panes.generation.chip_view import ChipView, flow
from app.panes.generation.output import BranchStrip, branches_of
from app.workers.requests.decode import Respelling
from engine.decoding.values import ArchivedBranch, StepOrigin, Trace, TraceNode


def test_lines_wrap_and_break():
    laid = flow([30, 30, 30, 10], [False, False, True, False], line_width=70, gap=4)
    assert laid.left == (0.0, 34.0, 0.0, 0.0)
    assert laid.line == (0, 0, 1, 2)
    assert list(laid.in_lines(0, 0)) == [0, 1]
    assert list(laid.in_lines(1, 9)) == [2, 3]
    assert list(laid.in_lines(-5, -1)) == []


def test_a_chip_wider_than_a_line_is_cut_to_it():
    laid = flow([500, 10], [False, False], line_width=70, gap=4)
    assert laid.width == (70, 10)
    assert laid.line == (0, 1)


def test_a_chip_is_found_by_its_position():
    laid = flow([30, 30, 30], [False] * 3, line_width=70, gap=4)
    assert laid.at(0, 0) == 0
    assert laid.at(31, 0) is None  # the gap
    assert laid.at(34, 0) == 1
    assert laid.at(5, 1) == 2
    assert laid.at(5, 7) is None
    assert laid.at(5, -1) is None
    assert flow([], [], 70, 4).at(0, 0) is None


def test_chips_say_what_happened_to_their_step():
    chips, current = chips_of(trace((b"a", b" b", b"\n", b"c"), current=1, illegal=(2,), forced=(1,)))
    assert current == 1
    assert [chip.text for chip in chips] == ["a", "␣b", "↵", "c"]
    assert [chip.kind for chip in chips] == [ChipKind.TAKEN, ChipKind.FORCED, ChipKind.ILLEGAL, ChipKind.TAKEN]
    assert [chip.ahead for chip in chips] == [False, False, True, True]
    assert [chip.breaks for chip in chips] == [False, False, True, False]
    assert ui_text("common.step.forced") in chips[1].tip()
    assert ui_text("generation.chip.illegal") in chips[2].tip()


def test_before_the_first_step_all_chips_are_ahead():
    shown = trace((b"a", b"b"))
    chips, current = chips_of(Trace(shown.nodes, shown.path, None))
    assert current is None
    assert all(chip.ahead for chip in chips)


def test_branches_leave_the_shown_path():
    shown = trace((b"a", b"b", b"c"))
    beside = (TraceNode(3, 0, step(b"x")), TraceNode(4, 3, step(b"y")), TraceNode(5, None, step(b"z")))
    found = branches_of(Trace(shown.nodes + beside, shown.path, 2, frozenset({4})))
    assert [(b.leaf, b.after, b.text, b.steps, b.illegal) for b in found] == [
        (5, 0, "z", 1, False),
        (4, 1, "xy", 2, True),
    ]
    assert branches_of(shown) == ()


@pytest.fixture
def chips(qtbot):
    view = ChipView("nothing yet")
    qtbot.addWidget(view)
    view.resize(300, 120)
    view.show()
    return view


def click(qtbot, view, index):
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.rect_of(index).center().toPoint())


def test_a_click_goes_to_a_step(qtbot, chips):
    chips.show_chips(*chips_of(trace((b"a", b"b", b"c"))))
    with qtbot.waitSignal(chips.chip_clicked) as clicked:
        click(qtbot, chips, 1)
    assert clicked.args == [1]


def test_a_click_beside_the_chips_does_nothing(qtbot, chips):
    chips.show_chips(*chips_of(trace((b"a",))))
    with qtbot.assertNotEmitted(chips.chip_clicked):
        qtbot.mouseClick(chips.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 90))


def test_arrows_go_along_the_steps(qtbot, chips):
    chips.show_chips(*chips_of(trace((b"a", b"b", b"c"), current=1)))
    gone = []
    chips.chip_clicked.connect(gone.append)
    qtbot.keyClick(chips, Qt.Key.Key_Left)
    qtbot.keyClick(chips, Qt.Key.Key_Right)
    assert gone == [0, 2]
    chips.show_chips(*chips_of(trace((b"a", b"b", b"c"), current=0)))
    qtbot.keyClick(chips, Qt.Key.Key_Left)
    assert gone == [0, 2]


def test_the_current_chip_is_scrolled_into_view(chips):
    chips.show_chips(*chips_of(trace(tuple(b"word%d" % i for i in range(400)))))
    assert chips.viewport().rect().contains(chips.rect_of(399).toRect())
    assert not chips.viewport().rect().intersects(chips.rect_of(0).toRect())


def test_only_visible_chips_are_painted(chips, monkeypatch):
    painted = []
    share_of = chip_view.share_of
    monkeypatch.setattr(chip_view, "share_of", lambda chip, *others: painted.append(chip.id) or share_of(chip, *others))
    chips.show_chips(*chips_of(trace(tuple(b"word%d" % i for i in range(2000)))))
    chips.viewport().repaint()
    assert 0 < len(painted) < 60


def test_chips_of_the_prompt_cannot_be_clicked(qtbot, chips):
    chips.show_chips(prompt_chips(((5, "␣a"), (6, "b"))), None)
    with qtbot.assertNotEmitted(chips.chip_clicked):
        click(qtbot, chips, 0)


def test_the_strip_shows_the_latest_branches_and_a_menu_of_the_rest(qtbot):
    shown = trace((b"a",))
    beside = tuple(TraceNode(1 + i, None, step(b"b%d&" % i)) for i in range(5))
    strip = BranchStrip()
    qtbot.addWidget(strip)
    strip.show_branches(branches_of(Trace(shown.nodes + beside, shown.path, 0)))
    assert [button.text() for button in strip.buttons] == ["b4&&", "b3&&", "b2&&"]
    with qtbot.waitSignal(strip.branch_clicked) as clicked:
        qtbot.mouseClick(strip.buttons[0], Qt.MouseButton.LeftButton)
    assert clicked.args == [5]
    archived = ArchivedBranch("Letters & more", "", (step(b"z"),))
    strip.show_archived((archived,), "Records")
    assert len(strip.buttons) == 3
    assert strip.more.text() == "+3"
    with qtbot.waitSignal(strip.archived_clicked) as clicked:
        strip.more.menu().actions()[-1].trigger()
    assert clicked.args == [archived]
    strip.show_branches(())
    (button,) = strip.buttons
    assert button.text().startswith("Letters && more")
    strip.show_archived((archived,), "Letters & more")
    (button,) = strip.buttons
    assert button.text() == f"{ui_text('generation.branches.fragment.no_prompt')}: z"
    strip.show_archived((), "")
    assert strip.isHidden()


def test_cached_chips_are_equal_to_new_ones():
    known = []
    shown = trace((b"a", b"b", b"c", b"d"))
    others = [
        shown,
        Trace(shown.nodes, shown.path, 1),
        Trace(shown.nodes, shown.path, 2, frozenset({1})),
        Trace(shown.nodes, shown.path[:2], 1),
        trace((b"a", b"x"), forced=(0,)),
        Trace(),
        shown,
    ]
    for one in others:
        assert [chip.text for chip in chips_of(one, known)[0]] == [chip.text for chip in chips_of(one)[0]]
        assert [(c.kind, c.ahead) for c in chips_of(one, known)[0]] == [(c.kind, c.ahead) for c in chips_of(one)[0]]


def test_a_fast_forwarded_run_is_joined_by_a_band(qtbot):
    shown = trace((b"na", b"me", b"x"), current=2)
    nodes = tuple(
        replace(node, step=replace(node.step, origin=StepOrigin.FAST_FORWARDED)) if node.id < 2 else node
        for node in shown.nodes
    )
    chips, _ = chips_of(replace(shown, nodes=nodes))
    assert [chip.kind for chip in chips] == [ChipKind.FAST_FORWARDED, ChipKind.FAST_FORWARDED, ChipKind.TAKEN]
    assert [chip.p is None for chip in chips] == [True, True, False]
    tip = chips[0].tip()
    assert ui_text("common.step.fast_forwarded") in tip
    assert ui_text("generation.chip.model", p="0%", masked="0%").partition("0%")[0] not in tip
    view = ChipView()
    qtbot.addWidget(view)
    view.resize(300, 60)
    view.show_chips(chips, 2)
    picture = view.viewport().grab().toImage()
    ratio = picture.devicePixelRatio()
    gap = (view.rect_of(0).right() + view.rect_of(1).left()) / 2
    band = picture.pixelColor(round(gap * ratio), round((view.rect_of(0).top() + 1.5) * ratio))
    free = (view.rect_of(1).right() + view.rect_of(2).left()) / 2
    ground = picture.pixelColor(round(free * ratio), round((view.rect_of(2).top() + 1.5) * ratio))
    assert band == theme.colour(theme.Role.FORCED)
    assert ground == theme.colour(theme.Role.PANEL)


def test_a_respelled_part_is_marked_and_its_tip_says_what_the_tokenizer_writes(pane):
    pane.show_view(view(trace((b"n", b"o", b"x"))))
    output = pane.output
    part = Respelling(0, 2, (b"no",), 0.25, is_exact=True)
    output.show_respellings((part,))
    assert [chip.is_respelled for chip in output.chips.chips] == [True, True, False]
    line = ui_text("generation.chip.respelled.exact", count=2, tokens="`no`", p="25.0%")
    assert unmarked(line) in output.chips.chips[0].tip()
    marked = output.chips.chips[0]
    pane.show_view(replace(view(trace((b"n", b"o", b"x"))), max_tokens=7))
    assert output.chips.chips[0].is_respelled
    output.show_respellings(())
    assert not output.chips.chips[0].is_respelled
    assert marked.is_respelled
