"""The sample text in the window: it is judged while one types, follows the grammar, and is kept in the document."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.panes.sample.pane import SamplePane
from app.workers.requests.judge import SampleMode


def test_a_sample_is_judged_while_one_types_and_follows_the_grammar(desk) -> None:
    desk.open("[a-c]+", notation="regex")
    QTest.keyClick(desk.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(desk.window, Qt.Key.Key_M)
    desk.wait(lambda: desk.window.findChild(SamplePane) is not None)
    pane = desk.window.findChild(SamplePane)
    QTest.keyClicks(pane.field, "abc")
    QTest.keyClick(pane.field, Qt.Key.Key_Return)
    QTest.keyClicks(pane.field, "adc")
    desk.wait(lambda: (pane.field.sign_of(0), pane.field.sign_of(1)) == ("match", "fails"))
    assert pane.verdict.text()
    desk.qtbot.mouseClick(pane.add_test, Qt.MouseButton.LeftButton)
    assert [(one.text, one.accepts) for one in desk.session.document.content.test_strings] == [("adc", False)]

    desk.panes.editor.edit.setPlainText("a[a-d]*")
    desk.wait(lambda: pane.field.sign_of(1) == "match")
    pane.modes.setFocus()
    while pane.mode is not SampleMode.SEARCH:
        QTest.keyClick(pane.modes, Qt.Key.Key_Down)
    desk.wait(lambda: len(pane.field.extraSelections()) == 2)

    assert desk.session.document.content.sample == "abc\nadc"
    desk.open("x", notation="regex")
    assert pane.text == ""
