"""The audit of a tokenizer, opened, repaired and copied by keys and clicks."""

import json
from pathlib import Path

import pytest
from catalogue_texts import shows
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.dialogs.audit_dialog import AuditDialog
from app.workers.loop import Job
from app.workers.requests.audit import AuditTokenizer
from app.workers.requests.compile import CompileRequest
from engine.compile import CompileOptions
from engine.source import CancelToken

RECORDS = Path(__file__).parents[3] / "resources/models/records"
GRAMMAR = 'root ::= "<end>" [a-z]*'
CONTROL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton


def codes(dialog):
    return [each.code for each in dialog.answer.faults]


def test_a_special_token_in_quotes_is_shown_in_the_grammar_and_the_audit_repeated_after_the_repair(desk):
    desk.open(GRAMMAR, notation="gbnf")
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_R, CONTROL)
    QTest.keyClick(desk.window, Qt.Key.Key_A)
    dialog = desk.window.findChild(AuditDialog)
    desk.wait(lambda: dialog.answer is not None)
    assert codes(dialog) == ["special-as-text", "special-has-spelling"]
    assert dialog.answer.known_ends == ("#97 <end>",)
    assert shows(dialog.verdict.text(), "dialogs.audit.faults", count=1)
    desk.qtbot.mouseClick(dialog.place_buttons[0], LEFT)
    assert desk.panes.editor.edit.textCursor().selectionStart() == GRAMMAR.index("<end>")
    desk.qtbot.mouseClick(dialog.copy_button, LEFT)
    assert "special-as-text" in QGuiApplication.clipboard().text()

    desk.document.set_text("root ::= [a-z]*")
    desk.wait(desk.is_ready)
    assert shows(dialog.verdict.text(), "dialogs.audit.outdated")
    desk.qtbot.mouseClick(dialog.verdict.button, LEFT)
    desk.wait(lambda: dialog.answer is not None)
    assert codes(dialog) == ["special-has-spelling"]
    assert shows(dialog.verdict.text(), "dialogs.audit.no_fault")

    dialog.audit(str(RECORDS))
    desk.wait(lambda: dialog.answer is not None)
    assert [each.place.partition(":")[0] for each in dialog.answer.ends] == [
        "tokenizer_config.json",
        "generation_config.json",
        "config.json",
    ]
    assert all(each.is_known for each in dialog.answer.ends)
    desk.qtbot.mouseClick(dialog.model_button, LEFT)
    desk.wait(lambda: dialog.answer is not None)
    assert dialog.answer.name == "Letters"


def audited(path="", notation="gbnf"):
    from model_doubles import decode_handler

    request = AuditTokenizer(CompileRequest(1, notation, GRAMMAR, CompileOptions()), str(path))
    return decode_handler().begin(request, Job(CancelToken(), lambda _value: None))


@pytest.mark.parametrize("name", ["", "missing"])
def test_there_is_no_audit_without_a_tokenizer(name, tmp_path):
    answer = audited(tmp_path / name if name else "")
    assert answer.error
    assert not name or name in answer.error
    assert name or answer.error == ui_text("workers.audit.no_tokenizer")


def test_a_grammar_with_errors_is_left_out():
    answer = audited(RECORDS, "json_schema")
    assert not answer.has_grammar
    assert not answer.error


def test_an_end_token_that_the_grammar_does_not_know_is_marked(tmp_path):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((RECORDS / name).read_bytes())
    (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": 5}), "utf-8")
    answer = audited(tmp_path)
    assert [(each.place, each.is_known) for each in answer.ends] == [
        ("tokenizer_config.json: eos_token", True),
        ("config.json: eos_token_id", False),
    ]
    assert "end-unknown" in [each.code for each in answer.faults]
