"""The pane of branches, by mouse and keys."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLineEdit, QMenu

from app.panes.branches.pane import PART, TEXT, BranchesPane
from engine.decoding.values import ArchivedBranch, Step, StepOrigin, Trace, TraceNode

LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier


def step(letter):
    return Step(ord(letter), letter.encode(), "", 0.1, 0.25, 0.4, 3, False, 0, StepOrigin.SAMPLER, 0)


NODES = (TraceNode(0, None, step("a")), TraceNode(1, 0, step("b")), TraceNode(2, 0, step("c")))
TRACE = Trace(NODES, (0, 2), 2)  # `ab` and `ac`, of which the latter is shown
KEPT = ArchivedBranch("M", "hello", tuple(map(step, "axy")), "the kept one")
UNNAMED = ArchivedBranch("M", "hello", tuple(map(step, "az")))


@pytest.fixture
def pane(qtbot):
    pane = BranchesPane()
    qtbot.addWidget(pane)
    pane.resize(900, 320)
    pane.show()
    pane.show_branches(TRACE, (KEPT, UNNAMED), "M")
    qtbot.waitUntil(lambda: pane.model.rowCount() == 2)
    return pane


def rows(pane):
    """Return the indices of all parts by their titles and texts."""
    found, waiting = {}, [pane.model.index(row, 0) for row in range(pane.model.rowCount())]
    while waiting:
        index = waiting.pop(0)
        if index.parent().isValid():
            found[index.data(), index.siblingAtColumn(TEXT).data()] = index
        waiting += [pane.model.index(row, PART, index) for row in range(pane.model.rowCount(index))]
    return found


def click(qtbot, pane, row, modifiers=Qt.KeyboardModifier.NoModifier):
    place = pane.tree.visualRect(rows(pane)[row]).center()
    qtbot.mouseClick(pane.tree.viewport(), LEFT, modifiers, place)


def test_present_and_archived_branches_are_trees(pane):
    assert list(rows(pane)) == [("a", "a"), ("b", "b"), ("c", "c"), ("the kept one", "xy"), ("z", "z")]
    bold = {title: index.data(Qt.ItemDataRole.FontRole).bold() for (title, _), index in rows(pane).items()}
    assert bold == {"a": False, "b": False, "c": True, "the kept one": False, "z": False}


def test_a_click_opens_a_branch_and_an_archived_one(qtbot, pane):
    with qtbot.waitSignal(pane.node_chosen) as gone:
        click(qtbot, pane, ("b", "b"))
    assert gone.args == [1]
    with qtbot.waitSignal(pane.archived_chosen) as read:
        click(qtbot, pane, ("the kept one", "xy"))
    assert read.args == [KEPT]


def test_two_selected_branches_are_side_by_side_and_nothing_is_opened(qtbot, pane):
    click(qtbot, pane, ("c", "c"))
    with qtbot.assertNotEmitted(pane.node_chosen), qtbot.assertNotEmitted(pane.archived_chosen):
        click(qtbot, pane, ("the kept one", "xy"), CONTROL)
    assert (pane.steps.columnCount(), pane.steps.common, pane.steps.rowCount()) == (5, 1, 3)
    assert {pane.steps.index(1, column).data() for column in (1, 3)} == {"c", "x"}
    pane.table.setCurrentIndex(pane.steps.index(1, 1))
    with qtbot.waitSignal(pane.node_chosen) as gone:
        pane.table.activated.emit(pane.steps.index(1, 1))
    assert gone.args == [2]


def test_the_selection_stays_while_the_trace_grows(qtbot, pane):
    click(qtbot, pane, ("c", "c"))
    grown = Trace((*NODES, TraceNode(3, 2, step("d"))), (0, 2, 3), 3)
    pane.show_branches(grown, (KEPT, UNNAMED), "M")
    qtbot.waitUntil(lambda: ("c", "cd") in rows(pane))
    assert pane.tree.selectionModel().isSelected(rows(pane)["c", "cd"])
    assert pane.steps.rowCount() == 3


def test_return_opens_and_f2_names(qtbot, pane):
    pane.tree.setFocus()
    pane.tree.setCurrentIndex(rows(pane)["z", "z"])
    with qtbot.waitSignal(pane.archived_chosen) as read:
        qtbot.keyClick(pane.tree, Qt.Key.Key_Return)
    assert read.args == [UNNAMED]
    qtbot.keyClick(pane.tree, Qt.Key.Key_F2)
    field = pane.tree.viewport().findChild(QLineEdit, "branch-name")
    field.setText("another")
    with qtbot.waitSignal(pane.renamed) as named:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert named.args == [UNNAMED, "another"]


def test_del_removes_an_archived_branch_and_no_other(qtbot, pane):
    click(qtbot, pane, ("b", "b"))
    assert not pane.remove.isEnabled()
    with qtbot.assertNotEmitted(pane.removed):
        qtbot.keyClick(pane.tree, Qt.Key.Key_Delete)
    click(qtbot, pane, ("the kept one", "xy"))
    with qtbot.waitSignal(pane.removed) as removed:
        qtbot.keyClick(pane.tree, Qt.Key.Key_Delete)
    assert removed.args == [KEPT]


def test_the_selected_branch_is_kept_or_else_the_shown_one(qtbot, pane):
    with qtbot.waitSignal(pane.keep_wanted) as kept:
        qtbot.mouseClick(pane.keep, LEFT)
    assert [one.token for one in kept.args[0]] == [b"a", b"c"]
    click(qtbot, pane, ("b", "b"))
    with qtbot.waitSignal(pane.keep_wanted) as kept:
        qtbot.mouseClick(pane.keep, LEFT)
    assert [one.token for one in kept.args[0]] == [b"a", b"b"]


def test_the_menu_has_the_commands_of_a_row(qtbot, pane):
    click(qtbot, pane, ("z", "z"))
    pane.tree.menu_wanted.emit(rows(pane)["z", "z"], pane.mapToGlobal(QPoint(5, 5)))
    menu = pane.findChild(QMenu)
    with qtbot.waitSignal(pane.removed) as removed:
        menu.actions()[-1].trigger()
    menu.close()
    assert removed.args == [UNNAMED]


def test_without_branches_it_says_how_there_are_some(qtbot, pane):
    pane.show_branches(Trace(), (), "")
    qtbot.waitUntil(lambda: pane.model.rowCount() == 0)
    assert not pane.tree.isVisible()
    assert not pane.keep.isEnabled()
