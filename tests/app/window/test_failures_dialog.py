"""The samples of failed requests, driven as a person does."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.dialogs.failures_dialog import FailuresDialog
from app.dialogs.replay_dialog import ReplayDialog
from app.document.failure_samples import failure_samples
from app.settings import BYTE_MODEL, FIRST_MODEL

CAUSES = ("cut-off", "left-recursion", "speculative-rejection")


def opened(desk, words: str) -> FailuresDialog:
    """Return the dialog, filtered by words."""
    desk.window.commands["help.failures"].trigger()
    dialog = next(one for one in desk.window.findChildren(FailuresDialog) if one.isVisible())
    desk.wait(dialog.field.hasFocus)
    QTest.keyClicks(dialog.field, words)
    return dialog


def diagnosed(desk) -> ReplayDialog:
    """Return the output check once it names a cause."""
    desk.wait(lambda: any(one.isVisible() for one in desk.window.findChildren(ReplayDialog)))
    check = next(one for one in desk.window.findChildren(ReplayDialog) if one.isVisible())
    desk.wait(check.cause.isVisible)
    return check


def test_without_a_match_there_is_nothing_to_open(desk):
    desk.open("[ab]+c")
    dialog = opened(desk, "nothing has these words")
    assert dialog.chosen is None
    assert not dialog.open_button.isEnabled()
    dialog.field.clear()
    QTest.keyClicks(dialog.field, "vllm cut-off")
    assert dialog.chosen.cause == "cut-off"


def test_samples_open_one_after_another_with_a_model_that_can_spell_them(real_desk):
    real_desk.open("[ab]+c", FIRST_MODEL)
    for sample in (one for one in failure_samples() if one.cause in CAUSES):
        dialog = opened(real_desk, sample.title)
        assert dialog.chosen == sample
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)
        check = diagnosed(real_desk)
        assert check.cause.text() == sample.cause
        assert check.place_button.isEnabled() == (sample.cause == "left-recursion")
        assert check.text.toPlainText() == (sample.output or "")
        assert real_desk.document.content.grammar.text == sample.grammar
        assert real_desk.session.decoding.spec == BYTE_MODEL
        check.reject()
    real_desk.wait(lambda: real_desk.document.content.model.spec == BYTE_MODEL)
