"""A grammar from samples, in a whole window: pasted, from a file, and used as one undo step."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.dialogs.infer_dialog import InferDialog


def test_samples_become_a_grammar_that_undo_takes_back(desk, tmp_path):
    desk.open("ab")
    desk.activate()
    edit = desk.panes.editor.edit
    QTest.keyClick(edit, Qt.Key.Key_X, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(edit, Qt.Key.Key_S)
    dialog = desk.window.findChild(InferDialog)
    assert not dialog.accept_button.isEnabled()
    QTest.keyClicks(dialog.samples, "AB-12")
    QTest.keyClick(dialog.samples, Qt.Key.Key_Return)
    QTest.keyClicks(dialog.samples, "CD-3")
    desk.wait(lambda: dialog.grammar.text() == "[A-Z]{2}-[0-9]{1,2}")
    assert dialog.verdict.text().startswith(ui_text("inference.note.accepted", count=2))
    # A schema needs JSON, which is said.
    dialog.notation.setCurrentIndex(dialog.notation.findData("json_schema"))
    desk.wait(lambda: not dialog.accept_button.isEnabled() and dialog.grammar.text() == "")
    samples = tmp_path / "samples.jsonl"
    samples.write_text('{"a": 1}\n{"a": 2, "b": null}\n', encoding="utf-8")
    dialog.open_path(str(samples))
    desk.wait(dialog.accept_button.isEnabled)
    desk.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    grammar = desk.document.content.grammar
    assert grammar.notation == "json_schema"
    assert json.loads(grammar.text)["required"] == ["a"]
    desk.window.commands["edit.undo"].trigger()
    assert (desk.document.content.grammar.notation, edit.text()) == ("regex", "ab")
