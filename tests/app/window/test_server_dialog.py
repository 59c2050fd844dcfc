"""The check of a server in the window, driven by keys and clicks, with servers that obey, ignore and drop."""

from __future__ import annotations

import json
import zipfile

from catalogue_texts import shows
from doubles_chat import ChatDouble
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from server_double import DoubleReply, served

from app.catalogue import ui_text
from app.dialogs.replay_dialog import ReplayDialog
from app.dialogs.server_dialog import ServerCheckDialog
from app.document import DocumentFile, GrammarPart, ModelPart

KEYS, LEFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, Qt.MouseButton.LeftButton
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"n": {"type": "integer", "multipleOf": 3}},
        "required": ["n"],
        "additionalProperties": False,
    }
)


def without_multiple(schema):
    text = json.dumps(schema).replace('"multipleOf": 3', '"description": "none"')
    return json.loads(text)


def opened(desk, address) -> ServerCheckDialog:
    desk.document.replace(DocumentFile(grammar=GrammarPart("json_schema", SCHEMA), model=ModelPart("letters")))
    desk.wait(lambda: desk.document.content.grammar.text == SCHEMA)
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_F10, KEYS)
    dialog = desk.window.findChild(ServerCheckDialog)
    QTest.keyClicks(dialog.page.address, address)
    return dialog


def checked(desk, dialog):
    QTest.keyClick(dialog.page.address, Qt.Key.Key_Return)
    assert dialog.page.is_running
    desk.wait(lambda: not dialog.page.is_running)
    return dialog.page


def row_of(page, name):
    return next(number for number, row in enumerate(page.model.rows) if row.name == name)


def test_a_dropped_keyword_is_found_and_its_counterexample_opened_and_kept(desk, monkeypatch, tmp_path):
    with served(ChatDouble(weakened=without_multiple)) as server:
        dialog = opened(desk, server.address)
        page = checked(desk, dialog)
        assert page.report is not None
        assert "multipleOf" in page.report.sentence
        assert page.verdict.isVisible()
        row = page.model.rows[row_of(page, "/properties/n/multipleOf")]
        assert (row.section, row.state) == ("keyword", "dropped")
        page.table.selectRow(row_of(page, "/properties/n/multipleOf"))
        desk.qtbot.mouseClick(dialog.test_button, LEFT)
        assert [one.text for one in desk.document.content.test_strings] == [row.text]

        path = tmp_path / "bug.zip"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
        desk.qtbot.mouseClick(dialog.bundle_button, LEFT)
        desk.wait(path.exists)
        with zipfile.ZipFile(path) as bundle:
            assert json.loads(bundle.read("server.json"))["mask"] == "partly"

        desk.qtbot.mouseClick(dialog.copy_button, LEFT)
        assert json.loads(QGuiApplication.clipboard().text())["kind"] == "vllm"
        desk.qtbot.mouseClick(dialog.output_button, LEFT)
        output = desk.window.findChild(ReplayDialog)
        assert output.text.toPlainText() == row.text


def test_request_bodies_come_with_what_was_found_until_the_grammar_changes(desk):
    def readme():
        dialog = desk.window.exporting.open()
        desk.wait(lambda: not dialog.is_waiting)
        dialog.targets.choose("requests")
        desk.wait(lambda: not dialog.is_waiting and bool(dialog.preview.text.toPlainText()))
        text = dialog.preview.text.toPlainText()
        dialog.close()
        return text

    with served(ChatDouble(weakened=without_multiple)) as server:
        dialog = opened(desk, server.address)
        checked(desk, dialog)
        dialog.close()
    (found,) = (one for one in dialog.page.report.keywords if one.keyword == "multipleOf")
    assert f"- /properties/n/multipleOf: {found.note}." in readme()
    changed = GrammarPart("json_schema", SCHEMA.replace("3", "4"))
    desk.document.replace(DocumentFile(grammar=changed, model=ModelPart("letters")))
    desk.wait(lambda: desk.document.content.grammar == changed)
    assert found.note not in readme()


def test_a_row_without_a_counterexample_has_nothing_to_open(desk):
    with served(ChatDouble("openai")) as server:
        dialog = opened(desk, server.address)
        QTest.keyClick(dialog.page.with_grammar, Qt.Key.Key_Space)
        page = checked(desk, dialog)
        assert {row.section for row in page.model.rows} == {"way", "construct"}
        page.table.selectRow(0)
        assert not dialog.output_button.isEnabled()
        assert not dialog.test_button.isEnabled()
        assert dialog.bundle_button.isEnabled()


def test_a_server_that_ignores_constraints_has_no_mask_and_each_row_says_so_in_words(desk):
    with served(ChatDouble(obeys=lambda _: False)) as server:
        page = checked(desk, opened(desk, server.address))
        cell = page.model.index(row_of(page, "response_format"), 2)
        assert cell.data() == ui_text("dialogs.server.state.off")
        assert not cell.data(Qt.ItemDataRole.DecorationRole).isNull()
        assert "hello" in page.verdict.title_label.text()


def test_an_address_without_a_server_is_an_error_and_an_empty_one_is_asked_for(desk):
    dialog = opened(desk, "")
    QTest.keyClick(dialog.page.address, Qt.Key.Key_Return)
    assert not dialog.page.is_running
    assert shows(dialog.page.summary.text(), "dialogs.reduce.no_address")
    with served(ChatDouble()) as server:
        address = server.address
    QTest.keyClicks(dialog.page.address, address)
    page = checked(desk, dialog)
    assert page.report is None
    assert page.verdict.isVisible()
    assert page.model.rows == ()


def test_a_check_is_cancelled_by_its_button(desk):
    def answers(request):
        return ChatDouble()(request) if request.method == "GET" else DoubleReply(waits=True)

    with served(answers) as server:
        dialog = opened(desk, server.address)
        QTest.keyClick(dialog.page.address, Qt.Key.Key_Return)
        desk.wait(lambda: bool(server.requests) and server.requests[-1].method == "POST")
        desk.qtbot.mouseClick(dialog.page.run_button, LEFT)
        desk.wait(lambda: not dialog.page.is_running)
    assert dialog.page.report is None
