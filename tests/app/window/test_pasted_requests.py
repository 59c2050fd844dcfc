"""Requests, secrets and responses that are pasted into the window."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart
from app.document import file as document_file
from engine.decoding.values import Chat
from engine.document.content import ExpectedText

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


def everything_of(desk, folder) -> list[str]:
    """Return all that the window keeps of its document: content, undo, and the files that it wrote."""
    edit = desk.panes.editor.edit
    seen = [edit.text(), str(desk.document.content), str(desk.window.banners.banners[-1].notification)]
    edit.undo()
    seen.append(edit.text())
    edit.redo()
    desk.document.autosave_now()
    desk.document.save_for_next_start("test")
    desk.window.files.keep_for_next_time()
    stored = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert stored
    return [*seen, *(data.decode("utf-8", "replace") for data in stored)]


@pytest.mark.parametrize("name", ["request.json", "schema.json", "rules.gbnf", "work.turnstile"])
@pytest.mark.parametrize("is_dropped", [False, True])
def test_a_secret_of_an_opened_file_reaches_nothing_that_the_window_keeps(desk, tmp_path, name, is_dropped):
    desk.open("a+b")
    folder = tmp_path / "theirs"
    folder.mkdir()
    path = folder / name
    texts = {
        "request.json": json.dumps({"prompt": f"My key: {KEY}", "guided_json": SCHEMA, "api_key": "abcDEF123456"}),
        "schema.json": json.dumps({**SCHEMA, "description": f"Authorization: Bearer {KEY}"}),
        "rules.gbnf": f'root ::= "a" # {KEY}\n',
    }
    if name in texts:
        path.write_text(texts[name])
    else:
        chat = Chat((("user", f"My key: {KEY}"),), KEY)
        expected = (ExpectedText(KEY),)
        document_file.write_document(
            path, DocumentFile(grammar=GrammarPart("gbnf", texts["rules.gbnf"]), prompt=chat, test_strings=expected)
        )
    before = path.read_bytes()
    if is_dropped:
        desk.window.files.open_dropped(path)
    else:
        assert desk.window.files.open(path)
    removed = 4 if name == "work.turnstile" else 2 if name == "request.json" else 1
    notice = ui_text("window.files.secrets", name=name, count=removed)
    assert notice in [banner.notification.text for banner in desk.window.banners.banners]
    path.unlink()  # what is left was written by the window
    for text in everything_of(desk, tmp_path):
        assert KEY not in text
        assert "abcDEF123456" not in text
    assert KEY.encode() in before


def test_a_secret_in_a_checked_output_is_removed(desk, tmp_path):
    desk.open("a+b")
    dialog = desk.window.output_check.open()
    QApplication.clipboard().setText(f"Bearer {KEY}")
    desk.qtbot.keyClick(dialog.text, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert KEY not in dialog.text.toPlainText()
    assert dialog.secrets.text() == ui_text("window.notation.secrets", count=1)
    path = tmp_path / "output.txt"
    path.write_text(f"{KEY} {KEY}")
    dialog.read_file(path)
    assert KEY not in dialog.text.toPlainText()
    assert dialog.secrets.text() == ui_text("window.notation.secrets", count=2)


def test_a_worker_reads_a_long_text_that_is_pasted_or_opened(desk, tmp_path):
    desk.open("a+b")
    body = json.dumps({"prompt": "x" * 250_000, "guided_json": SCHEMA, "max_tokens": 20})
    paste(desk, body)
    content = desk.document.content
    assert content.grammar.text == body
    assert ui_text("window.notation.reading", count=len(body)) in desk.panes.editor.notation_hint.title_label.text()
    desk.wait(lambda: desk.document.content.max_tokens == 20)
    assert json.loads(desk.document.content.grammar.text) == SCHEMA
    path = tmp_path / "request.json"
    path.write_text(body.replace("20}", "21}"))
    assert desk.window.files.open(path)
    desk.wait(lambda: desk.document.content.max_tokens == 21)
    assert json.loads(desk.document.content.grammar.text) == SCHEMA


def test_the_answer_about_a_long_text_is_dropped_once_the_text_is_another(desk):
    desk.open("a+b")
    paste(desk, json.dumps({"prompt": "x" * 250_000, "guided_json": SCHEMA, "max_tokens": 20}))
    paste(desk, "c+d")
    desk.wait(lambda: not desk.session.worker_pool.judge.pending)
    assert desk.document.content.grammar.text == "c+d"
    assert desk.document.content.max_tokens != 20
