"""The timeline, by mouse and keys."""

from dataclasses import replace

import pytest
from decode_views import step, trace
from PySide6.QtCore import QPointF, Qt

from app.catalogue import ui_text
from app.panes.timeline.pane import ROWS, TimelinePane, worst_of
from engine.decoding.values import Bounds, StepOrigin, Trace, TraceNode

LEFT = Qt.MouseButton.LeftButton
ZS = (0.9, 0.2, 0.001, 1.0, 0.5)


def path(current=None, **changes) -> Trace:
    shown = trace(tuple(bytes((97 + i,)) for i in range(len(ZS))), current=current, forced=(3,))
    nodes = tuple(
        TraceNode(
            node.id, node.parent, replace(node.step, z=z, entropy=1.0 + node.id, mask_us=10.0 * node.id, **changes)
        )
        for node, z in zip(shown.nodes, ZS, strict=True)
    )
    return replace(shown, nodes=nodes)


@pytest.fixture
def pane(qtbot):
    pane = TimelinePane()
    qtbot.addWidget(pane)
    pane.resize(900, 180)
    pane.show()
    return pane


@pytest.fixture
def drawn(qtbot, pane):
    pane.show_trace(path(current=2))
    qtbot.waitUntil(lambda: pane.plot is not None and bool(pane.plot.tops))
    return pane


def place_of(pane, index):
    plot = pane.plot
    view = plot.strips[0].getViewBox()
    scene = view.mapViewToScene(QPointF(index, 0.5))
    return plot.widget.mapFromScene(scene)


def test_it_starts_empty_and_imports_nothing(pane):
    assert pane.plot is None
    assert pane.worst.isHidden()
    assert pane.facts.text() == ""


def test_a_hidden_one_draws_nothing(qtbot):
    pane = TimelinePane()
    qtbot.addWidget(pane)
    pane.show_trace(path())
    qtbot.turns()
    assert pane.plot is None


def test_it_says_what_was_worst(drawn):
    worst = ui_text("timeline.fragment.worst", step=3, token="c", mass="0.10%")
    steps, forced = ui_text("common.count.steps", count=5), ui_text("timeline.forced", total=1)
    assert drawn.facts.text() == f"{steps} · {forced} · {worst}"
    assert drawn.accessibleDescription() == drawn.facts.text()
    assert worst_of(()) is None


def test_a_click_goes_to_a_step(qtbot, drawn):
    with qtbot.waitSignal(drawn.node_clicked) as clicked:
        qtbot.mouseClick(drawn.plot.widget.viewport(), LEFT, pos=place_of(drawn, 1))
    assert clicked.args == [1]


def test_a_click_beside_the_steps_goes_nowhere(qtbot, drawn):
    with qtbot.assertNotEmitted(drawn.node_clicked):
        qtbot.mouseClick(drawn.plot.widget.viewport(), LEFT, pos=place_of(drawn, 20))
        qtbot.mouseClick(drawn.plot.widget.viewport(), LEFT, pos=place_of(drawn, -2))


def test_the_button_goes_to_the_worst_step(qtbot, drawn):
    with qtbot.waitSignal(drawn.node_clicked) as clicked:
        qtbot.mouseClick(drawn.worst, LEFT)
    assert clicked.args == [2]


@pytest.mark.parametrize(
    ("key", "to"),
    [(Qt.Key.Key_Left, 1), (Qt.Key.Key_Right, 3), (Qt.Key.Key_Home, 0), (Qt.Key.Key_End, 4)],
)
def test_keys_go_along_the_steps(qtbot, drawn, key, to):
    with qtbot.waitSignal(drawn.node_clicked) as gone:
        qtbot.keyClick(drawn, key)
    assert gone.args == [to]


def test_w_goes_to_the_worst(qtbot, drawn):
    drawn.show_trace(path(current=0))
    with qtbot.waitSignal(drawn.node_clicked) as gone:
        qtbot.keyClick(drawn, Qt.Key.Key_W)
    assert gone.args == [2]


def test_every_strip_is_scaled_to_its_own_end(drawn):
    assert drawn.plot.tops[0] == 1.0
    assert drawn.plot.tops[1] == 5.0
    assert len(drawn.plot.tops) == len(drawn.rows) == len(ROWS) - 1


def test_the_stacks_have_a_strip_once_they_are_counted(qtbot, drawn):
    drawn.show_stacks((3, 7, None, None, None))
    qtbot.waitUntil(lambda: len(drawn.plot.tops) == len(ROWS))
    assert sorted(bars_of(drawn, len(ROWS) - 1)) == [0, 1]
    name = ui_text("common.measure.stacks.name")
    assert f"{name} 7" in drawn.tip_of(1)
    assert unknown("stacks") in drawn.tip_of(2)
    drawn.show_stacks(())
    qtbot.waitUntil(lambda: len(drawn.plot.tops) == len(ROWS) - 1)
    assert name not in drawn.tip_of(1)


def test_a_low_pane_has_fewer_strips(qtbot, drawn):
    drawn.resize(900, 80)
    qtbot.waitUntil(lambda: drawn.plot.shown < len(ROWS))
    assert drawn.plot.shown >= 1


def test_a_pasted_output_has_no_worst_step(qtbot, pane):
    pane.show_trace(path(origin=StepOrigin.REPLAYED))
    assert worst_of(tuple(node.step for node in path(origin=StepOrigin.REPLAYED).nodes)) is None
    assert not pane.worst.isEnabled()
    qtbot.waitUntil(lambda: pane.plot is not None)


def test_it_clears(drawn):
    drawn.show_trace(trace(()))
    assert drawn.worst.isHidden()
    assert drawn.facts.text() == ""


def test_old_steps_without_times_are_drawn(qtbot, pane):
    pane.show_trace(trace((b"a", b"b")))
    qtbot.waitUntil(lambda: pane.plot is not None and bool(pane.plot.tops))
    assert unknown("entropy", "mask") in pane.tip_of(0)
    assert step(b"a").entropy is None


def bars_of(pane, number):
    """The places and heights of the bars in a strip, without the mark of the current step."""
    items = [item for item in pane.plot.strips[number].items if type(item).__name__ == "BarGraphItem"]
    return {x: height for item in items[1:] for x, height in zip(item.opts["x"], item.opts["height"], strict=True)}


def unknown(*names):
    """Return the line of a tool tip about values that are not known."""
    titles = ", ".join(ui_text(f"common.measure.{name}.name") for name in names)
    return f"{titles}: {ui_text('timeline.fragment.unknown')}"


def side_of(pane, number):
    return pane.plot.side_text(number)


def test_an_unknown_value_is_a_gap_and_not_zero(qtbot, pane):
    shown = path()
    nodes = tuple(
        replace(node, step=replace(node.step, origin=StepOrigin.REPLAYED, z=0.0, mask_us=None))
        if node.id in (1, 2)
        else node
        for node in shown.nodes
    )
    pane.show_trace(replace(shown, nodes=nodes))
    qtbot.waitUntil(lambda: pane.plot is not None and bool(pane.plot.tops))
    assert sorted(bars_of(pane, 0)) == [0, 3, 4]
    assert sorted(bars_of(pane, 1)) == [0, 3, 4]
    assert sorted(bars_of(pane, 2)) == [0, 1, 2, 3, 4]  # what the grammar allows is known
    assert unknown("z", "entropy", "mask") in pane.tip_of(1)
    assert ui_text("common.step.replayed") in pane.tip_of(1)


def test_an_unknown_mass_is_drawn_with_its_bounds(qtbot, pane):
    shown = path(current=4)
    nodes = tuple(
        replace(node, step=replace(node.step, z=None, z_bounds=Bounds(0.25, 0.75))) if node.id == 2 else node
        for node in shown.nodes
    )
    pane.show_trace(replace(shown, nodes=nodes))
    qtbot.waitUntil(lambda: pane.plot is not None and bool(pane.plot.tops))
    bars = [item.opts for item in pane.plot.strips[0].items if type(item).__name__ == "BarGraphItem"]
    assert [list(bar["height"]) for bar in bars if list(bar["x"]) == [2]] == [[0.25], [0.75]]
    name = ROWS[0].name
    assert f"{name} 25.0–75.0%" in pane.tip_of(2)
    assert unknown("z") not in pane.tip_of(2)
    assert worst_of(tuple(node.step for node in nodes)) == 1  # it may be 0.75, and another is certainly 0.2


def test_a_strip_without_known_values_has_no_scale(qtbot, pane):
    pane.show_trace(path(origin=StepOrigin.REPLAYED))
    qtbot.waitUntil(lambda: pane.plot is not None and bool(pane.plot.tops))
    unknown_scale = ui_text("timeline.fragment.unknown")
    assert all(side_of(pane, number).endswith(unknown_scale) for number in range(2))
    assert not bars_of(pane, 0)


def test_many_steps_leave_gaps_too(qtbot, pane):
    steps = trace(tuple(b"a" for _ in range(500)))
    nodes = tuple(
        replace(node, step=replace(node.step, origin=StepOrigin.REPLAYED)) if node.id % 2 else node
        for node in steps.nodes
    )
    pane.show_trace(replace(steps, nodes=nodes))
    qtbot.waitUntil(lambda: pane.plot is not None and bool(pane.plot.tops))
    (curve,) = [item for item in pane.plot.strips[0].items if type(item).__name__ == "PlotCurveItem"]
    assert curve.yData[::2].min() > 0
    assert curve.yData[1::2].max() == 0


def test_it_says_how_the_generation_ended(pane):
    pane.show_trace(path(), ui_text("common.generation.context_of_full", tokens=512))
    assert pane.facts.text().endswith(" · " + ui_text("common.generation.context_of_full", tokens=512))


def test_after_an_illegal_step_of_a_pasted_output_nothing_is_known(qtbot, pane):
    pane.show_trace(replace(path(origin=StepOrigin.REPLAYED), illegal=frozenset({2})))
    qtbot.waitUntil(lambda: pane.plot is not None and bool(pane.plot.tops))
    assert sorted(bars_of(pane, 2)) == [0, 1, 2]
    assert unknown("z", "entropy", "allowed", "mask") in pane.tip_of(3)
