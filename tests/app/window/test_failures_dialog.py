"""The samples of failed requests, driven as a person does."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.dialogs.failures_dialog import FailuresDialog
from app.dialogs.replay_dialog import ReplayDialog


def test_a_chosen_failure_opens_with_its_cause(desk):
    desk.open("[ab]+c")
    desk.window.commands["help.failures"].trigger()
    dialog = desk.window.findChild(FailuresDialog)
    desk.wait(dialog.field.hasFocus)
    QTest.keyClicks(dialog.field, "nothing has these words")
    assert dialog.chosen is None
    assert not dialog.open_button.isEnabled()
    dialog.field.clear()
    QTest.keyClicks(dialog.field, "vllm cut-off")
    sample = dialog.chosen
    assert sample.cause == "cut-off"
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    desk.wait(lambda: desk.window.findChild(ReplayDialog) is not None)
    check = desk.window.findChild(ReplayDialog)
    desk.wait(lambda: check.found is not None and check.cause.isVisible())
    assert check.cause.text() == sample.cause
    assert check.text.toPlainText() == sample.output
    assert desk.document.content.grammar.text == sample.grammar


def test_a_failure_without_an_output_is_judged_by_its_grammar(desk):
    desk.open("[ab]+c")
    desk.window.commands["help.failures"].trigger()
    dialog = desk.window.findChild(FailuresDialog)
    QTest.keyClicks(dialog.field, "left-recursion")
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    desk.wait(lambda: desk.window.findChild(ReplayDialog) is not None)
    check = desk.window.findChild(ReplayDialog)
    desk.wait(check.cause.isVisible)
    assert check.cause.text() == "left-recursion"
    assert check.place_button.isEnabled()
