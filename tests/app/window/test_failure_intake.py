"""Pasted failures are recognised, asked about and diagnosed, and never run."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QPushButton

from app.catalogue import ui_text
from app.dialogs.intake_dialog import IntakeDialog
from app.dialogs.replay_dialog import ReplayDialog
from engine.diagnosis.intake import known_messages, read_failure, remarks_of
from engine.source.catalogue import catalogue_text

KEY = "sk-" + "proj-AbC123dEf456GhI789jKl012"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
PYDANTIC = "from pydantic import BaseModel\nclass Answer(BaseModel):\n    name: str\n"
ZOD = "const Answer = z.object({ name: z.string() });\n"
TYPESCRIPT = "export interface Answer {\n  name: string;\n}\n"
LARK = 'start: "a" word\nword: /x+/\n'
XGRAMMAR = 'root ::= TagDispatch(("<a>", rule))\nrule ::= "b"\n'
LOG = "parse: error parsing grammar: unknown escape at \\d\n"


def paste_into(desk, widget, text: str) -> None:
    QApplication.clipboard().setText(text)
    widget.setFocus()
    desk.qtbot.keyClick(widget, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    desk.qtbot.keyClick(widget, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)


@pytest.fixture
def intake(desk):
    """Return the open dialog of a window with a grammar."""
    desk.open("a+b")
    desk.window.commands["file.intake"].trigger()
    dialog = desk.window.findChild(IntakeDialog)
    desk.wait(dialog.text.hasFocus)
    return dialog


def shows_answer(dialog, count: int = 1) -> bool:
    """Return whether so many banners are about the text."""
    return len(dialog.banners) >= count and (dialog.diagnose_button.isEnabled() or bool(buttons(dialog)))


def buttons(dialog):
    return [*dialog.copy_buttons, *dialog.answer_buttons]


@pytest.mark.parametrize("text", [PYDANTIC, ZOD, TYPESCRIPT, XGRAMMAR])
def test_the_command_that_prints_the_schema_is_copied(desk, intake, text):
    paste_into(desk, intake.text, text)
    desk.wait(lambda: bool(intake.copy_buttons))
    (remark,) = remarks_of(read_failure([text]))
    desk.qtbot.mouseClick(intake.copy_buttons[0], Qt.MouseButton.LeftButton)
    assert remark.command
    assert QApplication.clipboard().text() == remark.command
    assert not intake.diagnose_button.isEnabled()


def test_a_message_of_a_log_has_its_setting_and_what_to_paste_next(desk, intake):
    paste_into(desk, intake.text, LOG)
    desk.wait(intake.diagnose_button.isEnabled)
    known = known_messages()["llama-unknown-escape"]
    shown = intake.banners[-1]
    assert known.next in shown.detail_label.text()
    desk.qtbot.mouseClick(intake.diagnose_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.window.findChild(ReplayDialog) is not None)
    check = desk.window.findChild(ReplayDialog)
    desk.wait(check.cause.isVisible)
    assert check.cause.text() == known.cause


def test_an_unclear_value_is_asked_about_and_the_answer_is_taken(desk, intake):
    paste_into(desk, intake.text, '{"foo": 1}')
    desk.wait(lambda: bool(intake.answer_buttons))
    assert not intake.diagnose_button.isEnabled()
    names = [button.objectName() for button in intake.answer_buttons]
    assert names == ["output", "json_schema", "request"]
    desk.qtbot.mouseClick(intake.answer_buttons[0], Qt.MouseButton.LeftButton)
    desk.wait(intake.diagnose_button.isEnabled)
    assert intake.answer_buttons == []
    warning = ui_text("dialogs.intake.no_grammar", title=desk.document.title)
    assert any(warning in sentence for sentence in intake.sentences)
    desk.qtbot.keyClick(intake, Qt.Key.Key_Return)
    desk.wait(lambda: desk.window.findChild(ReplayDialog) is not None)
    check = desk.window.findChild(ReplayDialog)
    assert check.text.toPlainText() == '{"foo": 1}'
    assert desk.document.content.grammar.text == "a+b"


def test_a_request_with_its_response_is_opened_and_judged(desk, intake, monkeypatch):
    tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in "fg"]
    call = {"function": {"name": "g", "arguments": '{"a": "x"}'}}
    response = {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    body = {"model": "m", "tools": tools, "max_tokens": 50, "api_key": KEY}
    paste_into(desk, intake.text, f"{json.dumps(body)}\n{json.dumps(response)}")
    assert KEY not in intake.text.toPlainText()
    desk.wait(intake.diagnose_button.isEnabled)
    assert intake.tools.currentText() == "g"
    assert len(intake.banners) == 1
    desk.qtbot.mouseClick(intake.diagnose_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.window.findChild(ReplayDialog) is not None)
    check = desk.window.findChild(ReplayDialog)
    desk.wait(check.cause.isVisible)
    assert json.loads(desk.document.content.grammar.text) == SCHEMA
    assert desk.document.content.max_tokens == 50
    assert check.text.toPlainText() == '{"a": "x"}'
    desk.wait(lambda: check.cause.text() == "keyword-not-enforced")


def test_all_tools_open_as_calls_in_the_format_of_the_model(desk, intake, monkeypatch):
    tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in "fg"]
    body = {"model": "Qwen/Qwen3-8B", "messages": [{"role": "user", "content": "x"}], "tools": tools}
    paste_into(desk, intake.text, json.dumps(body | {"tool_choice": "required"}))
    desk.wait(intake.diagnose_button.isEnabled)
    shown = [intake.tools.itemText(index) for index in range(intake.tools.count())]
    calls = ui_text("dialogs.intake.calls", format=catalogue_text("failures.tool_format.hermes"))
    assert shown == ["f", "g", calls]
    desk.qtbot.keyClick(intake.tools, Qt.Key.Key_End)
    desk.qtbot.mouseClick(intake.diagnose_button, Qt.MouseButton.LeftButton)
    content = desk.document.content
    assert [call["properties"]["name"] for call in json.loads(content.grammar.text)["anyOf"]] == [
        {"const": "f"},
        {"const": "g"},
    ]
    assert content.pipeline.zones.after == "<tool_call>\n"
    assert content.pipeline.zones.required


def test_a_dropped_log_opens_the_intake_without_its_secrets(desk, tmp_path):
    desk.open("a+b")
    path = tmp_path / "server.log"
    path.write_text(f"Authorization: Bearer {KEY}\n{LOG}")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, button, nothing = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(desk.window, QDragEnterEvent(QPoint(5, 5), copy, data, button, nothing))
    QApplication.sendEvent(desk.window, QDropEvent(QPointF(5, 5), copy, data, button, nothing))
    dialog = desk.window.findChild(IntakeDialog)
    desk.wait(dialog.diagnose_button.isEnabled)
    assert KEY not in dialog.text.toPlainText()
    assert LOG in dialog.text.toPlainText()
    assert desk.document.content.grammar.text == "a+b"


def test_a_file_that_cannot_be_read_is_named(desk, intake, tmp_path):
    intake.read_file(tmp_path / "missing.log")
    assert "missing.log" in intake.sentences[-1]
    (tmp_path / "large.log").write_bytes(b"x" * 2_000_001)
    intake.read_file(tmp_path / "large.log")
    assert "large.log" in intake.sentences[-1]
    (tmp_path / "picture.png").write_bytes(bytes(4096))
    intake.read_file(tmp_path / "picture.png")
    desk.wait(lambda: len(intake.banners) == 1 and "large.log" not in intake.sentences[0])
    assert not intake.diagnose_button.isEnabled()


# --- in the editor


def strip_buttons(desk):
    hint = desk.panes.editor.notation_hint
    return {one.objectName(): one for one in hint.findChildren(QPushButton) if one.objectName() and one.isVisible()}


@pytest.mark.parametrize("text", [PYDANTIC, ZOD, TYPESCRIPT])
def test_a_program_that_is_pasted_into_the_editor_is_named_with_its_command(desk, text):
    desk.open("a+b")
    paste_into(desk, desk.panes.editor.edit, text)
    (remark,) = remarks_of(read_failure([text]))
    desk.qtbot.mouseClick(strip_buttons(desk)["copy"], Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == remark.command
    assert desk.document.content.grammar.notation == "regex"


def test_a_lark_grammar_in_the_editor_is_named(desk):
    desk.open("a+b")
    paste_into(desk, desk.panes.editor.edit, LARK)
    assert "Lark" in desk.panes.editor.notation_hint.text()


def test_a_log_in_the_editor_is_diagnosed_and_the_grammar_stays(desk):
    desk.open("a+b")
    paste_into(desk, desk.panes.editor.edit, LOG)
    desk.qtbot.mouseClick(strip_buttons(desk)["diagnose"], Qt.MouseButton.LeftButton)
    dialog = desk.window.findChild(IntakeDialog)
    desk.wait(dialog.diagnose_button.isEnabled)
    assert dialog.text.toPlainText() == LOG
    assert desk.document.content.grammar.text == "a+b"
    assert strip_buttons(desk) == {}


def test_an_object_without_keywords_is_never_taken_as_a_schema_silently(desk):
    desk.open("{}", notation="json_schema")
    paste_into(desk, desk.panes.editor.edit, '{"foo": 1}')
    assert list(strip_buttons(desk)) == ["output", "json_schema", "request"]
    problems = desk.panes.problems.model
    desk.wait(lambda: "schema-no-keyword" in {problems.finding(row).code for row in range(problems.rowCount())})
    desk.qtbot.mouseClick(strip_buttons(desk)["json_schema"], Qt.MouseButton.LeftButton)
    assert not desk.panes.editor.notation_hint.isVisible()
    assert desk.document.content.grammar.text == '{"foo": 1}'
