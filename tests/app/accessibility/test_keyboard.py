"""The stories of the README without a mouse: keys alone, sent to whatever has them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit

from app.dialogs.replay_dialog import ReplayDialog
from app.document import DocumentFile, GrammarPart, ModelPart
from engine.document.content import ExpectedText

CTRL, SHIFT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)


@pytest.fixture
def keys(desk):
    """An empty document; a function that presses keys."""
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="b"), model=ModelPart("letters")))
    desk.settle()
    desk.window.activateWindow()
    desk.wait(desk.window.isActiveWindow, "the window is active")

    def press(*pressed: Qt.Key | str, modifiers: Qt.KeyboardModifier = NONE) -> None:
        for one in pressed:
            if isinstance(one, str):
                desk.type_in(desk.who_has_the_keys(), one)
            else:
                desk.key(one, modifiers)

    return press


def test_write_a_grammar_step_and_ask_why(desk, keys):
    keys(Qt.Key.Key_1, modifiers=CTRL)
    keys(Qt.Key.Key_A, modifiers=CTRL)
    keys("[ab]{2,5}c")
    desk.settle()
    assert desk.document.content.grammar.text == "[ab]{2,5}c"
    keys(Qt.Key.Key_Return, modifiers=CTRL)
    desk.settle()
    assert desk.session.decoding.view.position.index == 1
    keys(Qt.Key.Key_3, modifiers=CTRL)
    table = desk.window.panes.generation.candidates.table
    assert table.hasFocus()
    row = next(row for row in range(98) if not table.candidates.candidate(row).allowed)
    keys(*[Qt.Key.Key_Down] * (row + 1 - max(table.currentIndex().row(), 0)))
    while table.chosen() is None or table.chosen().allowed:
        keys(Qt.Key.Key_Down)
    keys(Qt.Key.Key_F1)
    desk.settle()
    assert desk.window.panes.generation.why.isVisible()
    keys(Qt.Key.Key_Return, modifiers=CTRL | SHIFT)
    desk.settle()
    assert desk.session.decoding.view.position.index == 0


def test_check_an_output(desk, keys):
    keys(Qt.Key.Key_K, modifiers=CTRL)
    dialog = desk.window.findChild(ReplayDialog)
    dialog.activateWindow()  # what a window manager does
    desk.wait(dialog.isActiveWindow, "the dialog is active")
    assert isinstance(QApplication.focusWidget(), QPlainTextEdit)
    before = dialog.verdict.text()
    keys("ba")
    desk.wait(lambda: dialog.verdict.text() != before, "there is a verdict")
    keys(Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_add_a_test_run_and_set_a_breakpoint(desk, keys):
    keys(Qt.Key.Key_T, modifiers=CTRL)
    desk.qtbot.turns()
    assert isinstance(QApplication.focusWidget(), QLineEdit)
    keys("bb", Qt.Key.Key_Return)
    desk.qtbot.turns()
    desk.settle()
    assert desk.document.content.test_strings == (ExpectedText("bb"),)
    desk.wait(lambda: desk.window.panes.view("tests").model.passes(0) is False, "the test is judged")
    keys(Qt.Key.Key_1, modifiers=CTRL)
    keys(Qt.Key.Key_F9)
    desk.settle()
    assert len(desk.document.content.breakpoints) == 1
    keys(Qt.Key.Key_F9)
    desk.settle()
    keys(Qt.Key.Key_F5)
    desk.settle()
    assert desk.session.decoding.view.position.output == b"b"


def test_the_palette_runs_any_command(desk, keys):
    for name in ("dark", "light"):
        desk.window.activateWindow()  # what a window manager does once a dialog is gone
        desk.wait(desk.window.isActiveWindow, "the window is active")
        keys(Qt.Key.Key_P, modifiers=CTRL | SHIFT)
        desk.qtbot.turns()
        keys(f"{name} theme", Qt.Key.Key_Return)
        assert desk.window.commands[f"view.{name}"].isChecked()


def test_step_has_the_keys_again_once_a_broken_grammar_is_repaired(desk, keys):
    """Else Space, pressed again, would set a breakpoint: Qt hands the keys of a disabled button to its neighbour."""
    button = desk.window.toolbar.step_button
    button.setFocus()
    desk.document.set_text("[xy")
    desk.wait(lambda: not button.isEnabled(), "the grammar is broken")
    assert not button.hasFocus()
    desk.document.set_text("[xy]{9}")
    desk.wait(button.isEnabled, "it is repaired")
    desk.settle()
    assert button.hasFocus()
