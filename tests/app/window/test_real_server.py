"""The window and a real llama-server: a key in the keyring, a log stepped through, and the check of a server."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows
from file_keyring import configured
from llama_server import connect
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox

from app.dialogs.attach_dialog import AttachDialog
from app.dialogs.batch_dialog import BatchDialog
from app.dialogs.server_dialog import ServerCheckDialog
from app.document import DocumentFile, GrammarPart, ModelPart
from engine.servers.keys import remember_key
from tests.app.window.conftest import Desk

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton
RULES = 'root ::= name " " num\nname ::= [a-z]{1,5}\nnum ::= "-"? [0-9]{1,2}'
SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": ["b", "cd"]}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.fixture
def server(llama_server):
    yield llama_server
    remember_key(llama_server.address, "")


@pytest.fixture
def keyring_file():
    with configured() as file:
        yield file


@pytest.fixture
def open_desk(workers, qtbot, tmp_path, qapp):
    """Return a function that opens a window with the same preferences each time."""
    desks = []

    def opened() -> Desk:
        desks.append(Desk(qtbot, tmp_path, qapp))
        desks[-1].open("[a-z]+")
        return desks[-1]

    yield opened
    desks[-1].close()


def asked(desk, server, key: str = "") -> AttachDialog:
    """Open *Attach to a server…* by its keys, type the address and a key, and wait for the answer."""
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_R, CONTROL)
    QTest.keyClick(desk.window, Qt.Key.Key_S)
    dialog = desk.window.findChild(AttachDialog)
    for widget, text in ((dialog.address.lineEdit(), server.address), (dialog.key, key)):
        widget.clear()
        QTest.keyClicks(widget, text)
    QTest.keyClick(dialog.key, Qt.Key.Key_Return)
    desk.wait(lambda: dialog.answer is not None)
    return dialog


def attach(desk, server, key: str = "", *, keeps_key: bool = False) -> None:
    dialog = asked(desk, server, key)
    if keeps_key:
        click_box(dialog)
    desk.qtbot.mouseClick(dialog.attach_button, LEFT)
    desk.wait(lambda: desk.session.decoding.spec == server.address and desk.is_ready())


def click_box(dialog: AttachDialog) -> None:
    """Click the check box itself; its widget is wider."""
    QTest.mouseClick(dialog.keeps_key, LEFT, pos=QPoint(10, dialog.keeps_key.height() // 2))


def test_a_key_is_kept_in_the_keyring_used_at_the_next_start_and_removed(keyring_file, open_desk, tmp_path, server):
    first = open_desk()
    attach(first, server, server.key, keeps_key=True)
    assert list(json.loads(keyring_file.read_text()).values()) == [server.key]
    assert server.key not in (tmp_path / "preferences.json").read_text()
    first.close()
    remember_key(server.address, "")

    second = open_desk()
    attach(second, server)
    taken = second.output
    second.activate()
    QTest.keyClick(second.window, Qt.Key.Key_F11)
    second.wait(lambda: second.output != taken)
    dialog = asked(second, server)
    assert dialog.keeps_key.isChecked()
    click_box(dialog)
    second.wait(lambda: not json.loads(keyring_file.read_text()))
    second.wait(lambda: dialog.answer is None)
    assert shows(dialog.verdict.title_label.text(), "dialogs.attach.removed")
    assert not dialog.keeps_key.isEnabled()
    QTest.mouseClick(dialog.ask_button, LEFT)
    second.wait(lambda: dialog.answer is not None)
    assert shows(dialog.verdict.detail_label.text(), "errors.servers.key")


def test_a_log_of_the_server_is_stepped_through_until_its_end(desk, server, monkeypatch, tmp_path):
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
    call = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "response_format": form, "max_tokens": 20}
    with connect(server) as client:
        response = client.post("/v1/chat/completions", {**call, "logprobs": True, "top_logprobs": 5, "temperature": 0})
    path = tmp_path / "calls.jsonl"
    path.write_text(json.dumps({"request": call, "response": response}) + "\n")
    written = response["choices"][0]["message"]["content"].encode()

    desk.open("[a-z]+")
    attach(desk, server, server.key)
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_L, CONTROL)
    QTest.keyClick(desk.window, Qt.Key.Key_O)
    dialog = desk.window.findChild(BatchDialog)
    dialog.page.open((path,))
    desk.wait(lambda: len(dialog.page.model.rows) == 1 and not dialog.page.is_running)
    monkeypatch.setattr(QMessageBox, "question", lambda *_: QMessageBox.StandardButton.Discard)
    at = dialog.page.table.visualRect(dialog.page.model.index(0, 0)).center()
    QTest.mouseClick(dialog.page.table.viewport(), LEFT, pos=at)
    QTest.mouseClick(dialog.replay_button, LEFT)
    decoding = desk.session.decoding
    desk.wait(lambda: decoding.view.record is not None)
    assert decoding.spec == server.address
    line = desk.panes.generation.output.record
    while decoding.view.record.token_id is not None:
        taken = decoding.view.record.taken
        desk.activate()
        QTest.mouseClick(line.button, LEFT)
        desk.wait(lambda taken=taken: decoding.view.record.taken > taken)
    assert decoding.view.position.output.strip() == written  # the server strips the text, and not the tokens
    assert not decoding.view.record.has_left
    compared = [node.step for node in decoding.view.trace.nodes]
    assert all(step.p == pytest.approx(step.recorded.p, abs=0.02) for step in compared if step.recorded is not None)


def test_the_rules_of_a_grammar_are_checked_on_the_server(desk, server):
    desk.session.start()
    desk.document.replace(DocumentFile(grammar=GrammarPart("gbnf", RULES), model=ModelPart("letters")))
    desk.wait(lambda: desk.document.content.grammar.text == RULES)
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_F10, CONTROL | SHIFT)
    dialog = desk.window.findChild(ServerCheckDialog)
    QTest.keyClicks(dialog.page.address, server.address)
    QTest.keyClicks(dialog.page.key, server.key)
    desk.qtbot.mouseClick(dialog.page.run_button, LEFT)
    desk.wait(lambda: not dialog.page.is_running)
    rules = {row.name: row.state for row in dialog.page.model.rows if row.section == "rule"}
    assert rules == dict.fromkeys(("root", "name", "num"), "enforced")
