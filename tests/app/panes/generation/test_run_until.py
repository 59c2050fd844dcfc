import pytest
from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.panes.generation.run_until_popover import RunUntilPopover
from engine.decoding.debugging.run_until import Goal, RunUntil


@pytest.fixture
def popover(qtbot):
    popover = RunUntilPopover()
    qtbot.addWidget(popover)
    popover.show()
    return popover


def wanted(qtbot, popover):
    with qtbot.waitSignal(popover.wanted) as told:
        qtbot.mouseClick(popover.run, Qt.MouseButton.LeftButton)
    return told.args[0]


def test_the_end_is_chosen_first(qtbot, popover):
    assert wanted(qtbot, popover) == RunUntil()
    assert popover.isHidden()


@pytest.mark.parametrize(
    ("goal", "expected"),
    [(Goal.EOS_LEGAL, RunUntil(Goal.EOS_LEGAL)), (Goal.Z_BELOW, RunUntil(Goal.Z_BELOW, z=0.01))],
)
def test_what_needs_no_more(qtbot, popover, goal, expected):
    popover.choices[goal].click()
    assert wanted(qtbot, popover) == expected


def test_a_rule_is_chosen_or_typed(qtbot, popover):
    popover.show_rules(("root", "value"))
    popover.choices[Goal.RULE_EXIT].click()
    assert popover.until() == RunUntil(Goal.RULE_EXIT, name="root")
    popover.choices[Goal.END].click()
    popover.rule.lineEdit().clear()
    qtbot.keyClicks(popover.rule.lineEdit(), "/properties/a")
    assert popover.goal is Goal.RULE_EXIT
    assert wanted(qtbot, popover) == RunUntil(Goal.RULE_EXIT, name="/properties/a")


def test_a_state_must_be_selected(popover):
    popover.choices[Goal.STATE].click()
    assert not popover.run.isEnabled()
    assert popover.why_not.text() == ui_text("generation.run_until.no_state")
    popover.show_state(("number", 2), "state 2 of number")
    assert popover.until() == RunUntil(Goal.STATE, name="number", state=2, label="state 2 of number")
    assert popover.run.isEnabled()


def test_a_token_by_text_or_id(qtbot, popover):
    qtbot.keyClicks(popover.token, "#17")
    assert popover.until() == RunUntil(Goal.TOKEN, token_id=17, label="#17")
    popover.token.clear()
    qtbot.keyClicks(popover.token, "} ")
    with qtbot.waitSignal(popover.wanted) as told:
        qtbot.keyClick(popover.token, Qt.Key.Key_Return)
    assert told.args == [RunUntil(Goal.TOKEN, token="} ", label="“} ”")]


def test_a_number_chooses_its_goal(popover):
    popover.count.setValue(25)
    assert popover.until() == RunUntil(Goal.TOKENS, count=25)
    popover.z.setValue(5)
    assert popover.until() == RunUntil(Goal.Z_BELOW, z=0.05)


def test_another_grammars_rule_is_not_offered_again(popover):
    popover.show_rules(("root", "value"))
    popover.rule.setCurrentText("value")
    popover.show_rules(("value", "more"))
    assert popover.rule.currentText() == "value"
    popover.show_rules(("/properties/a",))
    assert popover.rule.currentText() == "/properties/a"


def test_without_rules_it_says_why_none_can_be_left(popover):
    popover.choices[Goal.RULE_EXIT].setChecked(True)
    popover.show_rules((), ui_text("window.command.no_rules"))
    assert not popover.choices[Goal.RULE_EXIT].isEnabled()
    assert popover.choices[Goal.RULE_EXIT].toolTip() == ui_text("window.command.no_rules")
    assert popover.goal is Goal.END
    popover.show_rules(("root",))
    assert popover.choices[Goal.RULE_EXIT].isEnabled()
