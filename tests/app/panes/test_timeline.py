"""The timeline, by mouse and keys."""

import math
from dataclasses import replace

import pytest
from decode_views import step, trace
from PySide6.QtCore import QCoreApplication, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QScrollArea

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
    with qtbot.waitSignal(drawn.before_wanted) as clicked:
        qtbot.mouseClick(drawn.worst, LEFT)
    assert clicked.args == [1]


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
    with qtbot.waitSignal(drawn.before_wanted) as gone:
        qtbot.keyClick(drawn, Qt.Key.Key_W)
    assert gone.args == [1]


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
    assert unknown("model", "stacks") in drawn.tip_of(2)
    drawn.show_stacks(())
    qtbot.waitUntil(lambda: len(drawn.plot.tops) == len(ROWS) - 1)
    assert name not in drawn.tip_of(1)


def test_the_strips_of_a_low_pane_scroll(qtbot, drawn):
    drawn.resize(900, 120)
    area = drawn.findChild(QScrollArea)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    turn = QWheelEvent(
        QPointF(200, 20),
        QPointF(drawn.plot.widget.viewport().mapToGlobal(QPoint(200, 20))),
        QPoint(0, 0),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(drawn.plot.widget.viewport(), turn)
    assert area.verticalScrollBar().value() > 0
    drawn.resize(900, 400)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)


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
    assert unknown("entropy", "mask", "model") in pane.tip_of(0)
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
    assert unknown("z", "entropy", "kl", "mask", "model") in pane.tip_of(1)
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
    assert unknown("z", "entropy", "allowed", "kl", "mask", "model") in pane.tip_of(3)


def changed(shown, **by_index):
    """Return a trace with other values of its steps: for each field, those from the first step on."""
    steps = [
        replace(node.step, **{name: values[index] for name, values in by_index.items()})
        for index, node in enumerate(shown.nodes)
    ]
    return replace(shown, nodes=tuple(replace(node, step=one) for node, one in zip(shown.nodes, steps, strict=True)))


def test_the_divergence_is_minus_ln_z_and_may_be_infinite_or_bounded(qtbot, pane):
    zs = (1.0, math.exp(-2), 0.0, None, None)
    bounds = (None, None, None, Bounds(math.exp(-3), math.exp(-1)), Bounds(0.0, math.exp(-1)))
    pane.show_trace(changed(path(current=4), z=zs, z_bounds=bounds))
    qtbot.waitUntil(lambda: pane.plot is not None and bool(pane.plot.tops))
    number = [row.id for row in ROWS].index("kl")
    assert pane.plot.tops[number] == pytest.approx(3.0)
    assert bars_of(pane, number)[2] == 1.0  # beyond the scale
    assert bars_of(pane, number)[1] == pytest.approx(2 / 3)
    name = ui_text("common.measure.kl.name")
    assert f"{name} ∞" in pane.tip_of(2)
    assert ui_text("timeline.fragment.between", low="1.00 nats", high="3.00 nats") in pane.tip_of(3)
    assert ui_text("timeline.fragment.between", low="1.00 nats", high="∞") in pane.tip_of(4)


def test_a_tip_has_the_exact_values(drawn):
    assert "(0.001)" in drawn.tip_of(2)
    assert "(%.6g)" % -math.log(0.001) in drawn.tip_of(2)


def test_the_steps_have_numbers_from_1_and_scales_have_ticks_with_room(drawn):
    first = ui_text("timeline.fragment.first", number="1")
    assert drawn.plot.step_ticks(4) == [(0, first), (2, "3"), (3, "4")]
    assert [text for _, text in drawn.plot.step_ticks(100)] == [first, *map(str, range(10, 101, 10))]
    assert len(drawn.plot.step_ticks(98_765)) <= 13
    z, allowed = ROWS[0], ROWS[2]
    assert [text for _, text in z.ticks(1.0, 60)] == ["0%", "50.0%", "100%"]
    assert z.ticks(1.0, 24) == [(0.5, "100%")]
    decades = allowed.ticks(allowed.height(32_000), 200)
    assert {text for _, text in decades} == {"0", "1", "10", "100", "1,000", "10,000"}


def test_zones_are_a_band_and_each_kind_is_explained(qtbot, pane):
    pane.show_free_zones(frozenset({1}))
    pane.show_trace(changed(path(current=4), zone=(-1, 1, 1, 0, None)))
    qtbot.waitUntil(lambda: pane.plot is not None and bool(pane.plot.band.items))
    bars = {tuple(item.opts["x"]): item.opts["height"][0] for item in pane.plot.band.items}
    assert set(bars) == {(0,), (1, 2), (3,)}
    assert len(set(bars.values())) == 3
    for kind in ("free", "thinking", "constrained"):
        assert ui_text(f"timeline.legend.fragment.{kind}") in pane.legend.text()
    assert ui_text("timeline.zone", zone=ui_text("timeline.legend.fragment.thinking")) in pane.tip_of(1)
    pane.show_trace(path(current=4))
    qtbot.waitUntil(lambda: not pane.plot.band.isVisible())


def test_the_legend_explains_what_occurs(drawn):
    names = ("ahead", "illegal", "bounds", "unknown")
    shown = {name for name in names if ui_text(f"timeline.legend.fragment.{name}") in drawn.legend.text()}
    assert shown == {"ahead", "unknown"}
