from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox

from app.catalogue import ui_text
from app.panes.breakpoints.pane import ON, WHAT, BreakpointsPane
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, ConditionBreakpoint
from engine.decoding.debugging.conditions import CONDITIONS

LEFT = Qt.MouseButton.LeftButton
RULE = Breakpoint(BreakpointKind.RULE, "value", label="value", offset=12)
STATE = Breakpoint(BreakpointKind.STATE, "number", state=1)
PLACE = Breakpoint(BreakpointKind.POSITION, offset=3, label="[a-z]", enabled=False)
ALL = (RULE, STATE, PLACE)


@pytest.fixture
def pane(qtbot):
    pane = BreakpointsPane()
    qtbot.addWidget(pane)
    pane.resize(700, 200)
    pane.show()
    pane.show_breakpoints(ALL)
    return pane


def test_it_lists_what_each_is_on(pane, qtmodeltester):
    qtmodeltester.check(pane.model)
    rows = range(pane.model.rowCount())
    assert [pane.model.index(row, WHAT).data() for row in rows] == ["value", "number · 1", "[a-z]"]
    checks = [pane.model.index(row, ON).data(Qt.ItemDataRole.CheckStateRole) for row in rows]
    assert checks == [Qt.CheckState.Checked, Qt.CheckState.Checked, Qt.CheckState.Unchecked]
    names = [pane.model.index(row, ON).data(Qt.ItemDataRole.AccessibleTextRole) for row in rows]
    keys = [f"breakpoints.pane.{key}" for key in ("enabled", "enabled", "disabled")]
    kinds = [ui_text(f"breakpoints.fragment.{kind}") for kind in ("rule", "state", "position")]
    elements = ("value", "number · 1", "[a-z]")
    expected = zip(keys, elements, kinds, strict=True)
    assert names == [ui_text(key, breakpoint=f"{element}, {kind}") for key, element, kind in expected]


def test_an_empty_list_says_how_to_set_one(pane):
    pane.show_breakpoints(())
    assert "F9" in pane.empty_label.text()
    assert pane.empty_label.isVisible()
    assert not pane.clear.isEnabled()


def test_space_switches_and_del_removes(qtbot, pane):
    pane.table.selectRow(1)
    with qtbot.waitSignal(pane.changed) as changed:
        qtbot.keyClick(pane.table, Qt.Key.Key_Space)
    assert changed.args[0] == (RULE, replace(STATE, enabled=False), PLACE)
    with qtbot.waitSignal(pane.changed) as changed:
        qtbot.keyClick(pane.table, Qt.Key.Key_Delete)
    assert changed.args[0] == (RULE, PLACE)


def test_a_click_on_the_box_switches(qtbot, pane):
    box = pane.table.visualRect(pane.model.index(2, ON))
    with qtbot.waitSignal(pane.changed) as changed:
        qtbot.mouseClick(pane.table.viewport(), LEFT, pos=box.center())
    assert changed.args[0][2].enabled


def test_return_goes_to_the_place(qtbot, pane):
    pane.table.selectRow(0)
    with qtbot.waitSignal(pane.activated) as gone:
        qtbot.keyClick(pane.table, Qt.Key.Key_Return)
    assert gone.args == [RULE]


def test_the_buttons(qtbot, pane):
    assert not pane.remove.isEnabled()
    pane.table.selectRow(0)
    with qtbot.waitSignal(pane.changed) as changed:
        qtbot.mouseClick(pane.remove, LEFT)
    assert changed.args[0] == (STATE, PLACE)
    with qtbot.waitSignal(pane.changed) as changed:
        qtbot.mouseClick(pane.clear, LEFT)
    assert changed.args[0] == ()
    with qtbot.waitSignal(pane.add_wanted):
        qtbot.mouseClick(pane.add, LEFT)


def test_the_one_that_was_hit_is_selected(pane):
    pane.show_hit(Breakpoint(BreakpointKind.STATE, "number", state=1))
    assert pane.table.currentIndex().row() == 1
    pane.show_breakpoints((STATE,))
    assert pane.table.currentIndex().row() == 0


RANK = ConditionBreakpoint("rank", 10)
MASS = ConditionBreakpoint("allowed-mass", 0.01, enabled=False)


def limit_field(pane):
    return pane.table.viewport().findChild(QAbstractSpinBox, "condition.limit")


def test_conditions_are_listed_with_their_limits_and_switched_as_the_others(qtbot, pane, qtmodeltester):
    pane.show_breakpoints((RULE, RANK, MASS))
    qtmodeltester.check(pane.model)
    assert pane.model.index(1, WHAT).data() == ui_text("breakpoints.condition.row", title=RANK.kind.title, limit="10")
    assert pane.model.index(2, WHAT).data().endswith("1.0%")
    pane.table.selectRow(2)
    with qtbot.waitSignal(pane.changed) as changed:
        qtbot.keyClick(pane.table, Qt.Key.Key_Space)
    assert changed.args[0] == (RULE, RANK, replace(MASS, enabled=True))


@pytest.mark.parametrize(("row", "typed", "limit"), [(1, "25", 25), (2, "0.5", 0.005), (1, "0", 10)])
def test_return_edits_a_limit_within_its_bounds(qtbot, pane, row, typed, limit):
    pane.show_breakpoints((RULE, RANK, MASS))
    pane.changed.connect(pane.show_breakpoints)  # as the document does
    pane.table.selectRow(row)
    qtbot.keyClick(pane.table, Qt.Key.Key_Return)
    field = limit_field(pane)
    field.selectAll()
    qtbot.keyClicks(field, typed)
    with qtbot.waitSignal(pane.changed) as changed:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert changed.args[0][row].limit == pytest.approx(limit)


def test_the_menu_adds_a_condition_once_and_then_edits_it(qtbot, pane):
    pane.changed.connect(pane.show_breakpoints)
    actions = {action.objectName(): action for action in pane.conditions.actions()}
    actions["condition.rank"].trigger()
    assert pane.model.rows == (*ALL, RANK)
    assert limit_field(pane).value() == 10
    qtbot.keyClick(limit_field(pane), Qt.Key.Key_Escape)
    actions["condition.rank"].trigger()
    assert pane.model.rows == (*ALL, RANK)
    assert set(actions) == {f"condition.{name}" for name in CONDITIONS.names}
