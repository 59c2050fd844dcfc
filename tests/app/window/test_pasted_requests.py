"""Requests, secrets and responses that are pasted into the window."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.document import GrammarPart

KEY = "sk-" + "proj-AbC123dEf456GhI789jKl012"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def paste(desk, text: str) -> None:
    QApplication.clipboard().setText(text)
    edit = desk.panes.editor.edit
    edit.setFocus()
    desk.qtbot.keyClick(edit, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    desk.qtbot.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)


def tool(name: str, schema: object) -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def test_a_pasted_request_brings_its_prompt_and_settings_and_the_button_takes_them_back(desk):
    desk.open("a+b")
    before = desk.document.content
    body = {"prompt": "Say it", "guided_json": SCHEMA, "max_tokens": 20, "temperature": 0, "seed": 5}
    paste(desk, json.dumps(body))
    content = desk.document.content
    assert json.loads(content.grammar.text) == SCHEMA
    assert (content.grammar.notation, content.grammar.whitespace) == ("json_schema", "any")
    assert (content.prompt, content.max_tokens) == ("Say it", 20)
    assert (content.sampler.temperature, content.sampler.seed) == (0, 5)
    hint = desk.panes.editor.notation_hint
    assert "20" in hint.detail_label.text()
    desk.qtbot.mouseClick(hint.button, Qt.MouseButton.LeftButton)
    content = desk.document.content
    assert content.grammar.text == json.dumps(body)
    assert (content.prompt, content.max_tokens, content.sampler) == (before.prompt, before.max_tokens, before.sampler)


def test_one_of_several_tools_is_chosen_in_the_strip(desk):
    desk.open("a+b")
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [tool("f", SCHEMA), tool("g", {"const": 1})]}
    paste(desk, json.dumps(body))
    menu = desk.window.notation_menu
    assert not menu.tools_button.isHidden()
    assert [action.text() for action in menu.tools_menu.actions()] == ["f", "g"]
    menu.tools_menu.actions()[1].trigger()
    assert json.loads(desk.document.content.grammar.text) == {"const": 1}
    assert not menu.tools_button.isHidden()
    menu.tools_menu.actions()[0].trigger()
    assert json.loads(desk.document.content.grammar.text) == SCHEMA
    desk.qtbot.mouseClick(desk.panes.editor.notation_hint.button, Qt.MouseButton.LeftButton)
    assert desk.document.content.grammar == GrammarPart("regex", json.dumps(body))
    assert menu.tools_button.isHidden()


def test_a_pasted_secret_reaches_neither_document_nor_undo_nor_autosave(desk, tmp_path):
    desk.open("a+b")
    body = json.dumps({"prompt": f"My key: {KEY}", "guided_json": SCHEMA, "api_key": "abcDEF123456"})
    command = f"curl -H 'Authorization: Bearer {KEY}' http://u:abcDEF123456@h:8000/v1/completions -d '{body}'"
    paste(desk, command)
    edit = desk.panes.editor.edit
    seen = [edit.text(), str(desk.document.content)]
    assert json.loads(desk.document.content.grammar.text) == SCHEMA
    for _ in range(4):
        edit.undo()
        seen += [edit.text(), str(desk.document.content)]
    for _ in range(4):
        edit.redo()
        seen += [edit.text(), str(desk.document.content)]
    edit.setFocus()
    edit.appendPlainText("")
    desk.document.autosave_now()
    desk.document.save_for_next_start("test")
    stored = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert stored
    for text in (*seen, *(data.decode("utf-8", "replace") for data in stored)):
        assert KEY not in text
        assert "abcDEF123456" not in text


def test_a_request_in_a_file_is_opened_as_its_grammar(desk, tmp_path):
    desk.open("a+b")
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"prompt": "Say it", "guided_json": SCHEMA, "max_tokens": 20}))
    assert desk.window.files.open(path)
    content = desk.document.content
    assert json.loads(content.grammar.text) == SCHEMA
    assert (content.prompt, content.max_tokens) == ("Say it", 20)
