"""The engines pane in the window: a real comparison in a process of its own, and what it passes to other panes."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QPushButton, QTableView
from tiny_gguf import token_bytes

from app.catalogue import ui_text
from app.panes.engines.pane import CAUSE, EnginesPane
from engine.peers import PEERS
from tests.app.snapshots.engine_states import ANSWER, LISTED
from tests.app.window.test_engine_masks import without_key

LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier
LLAMA = PEERS["llama-cpp"]


@pytest.mark.skipif(LLAMA.version is None, reason=f"not installed: {LLAMA.hint}")
def test_turnstile_is_compared_with_llama_cpp(desk):
    desk.open('root ::= "a" [0-9] | "b"', notation="gbnf")
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_L, CONTROL)
    QTest.keyClick(desk.window, Qt.Key.Key_E)
    desk.wait(lambda: desk.window.findChild(EnginesPane) is not None)
    pane = desk.window.findChild(EnginesPane)
    second, run = pane.findChild(QComboBox, "engine-second"), pane.findChild(QPushButton, "engines-compare")
    desk.wait(lambda: second.findText(LLAMA.name) >= 0)
    second.setCurrentIndex(second.findText(LLAMA.name))
    desk.qtbot.mouseClick(run, LEFT)
    desk.wait(pane.chart.isVisible)
    assert pane.findChild(QTableView, "engine-differences").model().rowCount() == 0
    assert LLAMA.name in pane.chart.accessibleName()
    assert "turnstile" in pane.summary.text()


def test_a_known_server_is_compared_over_its_own_vocabulary(desk, llama_server):
    desk.open('root ::= "ab" [0-9] | "c"', notation="gbnf")
    with without_key(llama_server) as double:
        desk.settings.remember_server(f"{double.address}#tiny.gguf")
        desk.window.commands["view.engines"].trigger()
        pane = desk.window.findChild(EnginesPane)
        second, run = pane.findChild(QComboBox, "engine-second"), pane.findChild(QPushButton, "engines-compare")
        desk.wait(lambda: second.findText(double.address) >= 0)
        second.setFocus()
        QTest.keyClick(second, Qt.Key.Key_End)
        assert second.currentText() == double.address
        desk.qtbot.mouseClick(run, LEFT)
        desk.wait(pane.chart.isVisible)
    assert "llama-server" in pane.summary.text()
    assert ui_text("engines.figures.tokens", count=len(token_bytes())) in pane.chart.accessibleName()
    assert "llama-server" in pane.chart.accessibleName()


def test_a_text_that_shows_a_difference_becomes_a_test_string(desk):
    desk.open("a")
    desk.window.commands["view.engines"].trigger()
    pane = desk.window.findChild(EnginesPane)
    pane.show_engines(LISTED)
    pane.show_answer(ANSWER)
    table = pane.findChild(QTableView, "engine-differences")
    desk.qtbot.mouseClick(table.viewport(), LEFT, pos=table.visualRect(pane.model.index(0, CAUSE)).center())
    desk.qtbot.mouseClick(pane.test_button, LEFT)
    (kept,) = desk.document.content.test_strings
    assert (kept.text, kept.accepts) == ('{"code":"AAAAA"}', False)
