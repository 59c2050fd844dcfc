from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.panes.breakpoints.pane import ON, WHAT, BreakpointsPane
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind

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
