"""Attaching to a server from the window, and what happens when it fails while its model is stepped."""

from __future__ import annotations

import pytest
from catalogue_texts import shows
from llama_double import LlamaDouble
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from server_double import DoubleReply, served

from app.dialogs.attach_dialog import AttachDialog
from app.dialogs.server_dialog import ServerCheckDialog
from app.document import DocumentFile, GrammarPart, ModelPart
from app.session.decoding import share_request
from engine.document.codec import encode
from engine.servers.keys import remember_key

CONTROL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton
KEY = "planted-key-3141"
GRAMMAR = "[a-z]{30}"


@pytest.fixture
def double():
    with served(LlamaDouble(key=KEY)) as running:
        yield running
        remember_key(running.address, "")


def opened(desk) -> AttachDialog:
    """Open the dialog by its keys, with a grammar and a small model in the window."""
    desk.open(GRAMMAR, "letters")
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_R, CONTROL)
    QTest.keyClick(desk.window, Qt.Key.Key_S)
    return desk.window.findChild(AttachDialog)


def ask(desk, dialog: AttachDialog, address: str, key: str = "") -> None:
    """Type an address and a key, and wait for what the server says."""
    for widget, text in ((dialog.address.lineEdit(), address), (dialog.key, key)):
        widget.clear()
        QTest.keyClicks(widget, text)
    QTest.keyClick(dialog.key, Qt.Key.Key_Return)
    desk.wait(lambda: dialog.answer is not None)


def attach(desk, address: str, key: str = "") -> None:
    """Attach to a server and wait until its model can be stepped."""
    dialog = opened(desk)
    ask(desk, dialog, address, key)
    desk.qtbot.mouseClick(dialog.attach_button, LEFT)
    desk.wait(lambda: desk.session.decoding.spec == address and desk.is_ready())


def step(desk) -> None:
    count = len(desk.output)
    desk.session.decoding.step()
    desk.wait(lambda: desk.output is not None and len(desk.output) > count)


def test_a_server_is_attached_and_its_model_stepped_by_keys_and_clicks(desk, double):
    attach(desk, double.address, KEY)
    assert double.address.partition("//")[2] in desk.window.toolbar.model_button.text()
    step(desk)
    assert desk.output.isalpha()
    assert desk.settings.preferences.servers == [double.address]


def test_the_check_of_a_server_begins_with_the_attached_one_and_its_key(desk, double):
    attach(desk, double.address, KEY)
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_F10, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    page = desk.window.findChild(ServerCheckDialog).page
    assert (page.address.text(), page.address.selectedText()) == (double.address, double.address)
    QTest.keyClick(page.address, Qt.Key.Key_Return)
    desk.wait(lambda: page.report is not None)
    desk.qtbot.mouseClick(page.run_button, LEFT)
    desk.wait(lambda: not page.is_running)


def test_a_key_is_in_no_file_that_is_written(desk, double, tmp_path, caplog):
    caplog.set_level(0)
    attach(desk, double.address, KEY)
    step(desk)
    for name, as_bundle in (("a.html", False), ("a.zip", True)):
        answers = []
        path = str(tmp_path / name)
        desk.session.decoding.share(path, answers.append, as_bundle=as_bundle)
        desk.wait(lambda answers=answers: bool(answers))
    request = share_request("x", desk.document, is_own=True)
    assert KEY not in repr(request)
    assert KEY.encode() not in encode(desk.document.content)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if KEY.encode() in path.read_bytes()]
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("answers", "key"),
    [
        (LlamaDouble(key="another"), "errors.servers.key"),
        (lambda _: DoubleReply({"error": "slow down"}, 429), "errors.servers.busy"),
        (lambda _: DoubleReply({"error": "oops"}, 500), "errors.servers.status"),
        (lambda _: DoubleReply("<html>"), "errors.servers.unknown"),
        (lambda _: DoubleReply({"a": 1}, breaks_off_at=3), "errors.servers.broken_off"),
    ],
)
def test_a_server_that_cannot_be_used_is_explained_and_not_attached(desk, double, answers, key):
    dialog = opened(desk)
    double.answers = answers
    ask(desk, dialog, double.address, KEY)
    assert shows(dialog.verdict.detail_label.text(), key)
    assert not dialog.attach_button.isEnabled()


def test_asking_is_cancelled(desk, double):
    dialog = opened(desk)
    double.answers = lambda _: DoubleReply(waits=True)
    QTest.keyClicks(dialog.key, KEY)
    dialog.address.setEditText(double.address)
    desk.qtbot.mouseClick(dialog.ask_button, LEFT)
    desk.wait(lambda: bool(double.requests))
    assert dialog.is_asking
    desk.qtbot.mouseClick(dialog.ask_button, LEFT)
    assert not dialog.is_asking
    double.answers = LlamaDouble(key=KEY)
    desk.qtbot.mouseClick(dialog.ask_button, LEFT)
    desk.wait(lambda: dialog.answer is not None and dialog.answer.can_step)


def test_a_remote_address_says_that_texts_leave_the_machine(desk):
    dialog = opened(desk)
    for address, is_remote in (("http://192.0.2.7:8080", True), ("http://localhost:8080", False), ("http://", False)):
        dialog.address.setEditText(address)
        assert dialog.remote.isVisible() is is_remote


def test_what_a_server_cannot_do_and_what_is_unknown_is_listed(desk, double):
    dialog = opened(desk)
    double.answers = {"/v1/models": {"data": [{"id": "x", "owned_by": "me"}]}}
    ask(desk, dialog, double.address)
    assert dialog.answer.identity.kind == "openai"
    assert not dialog.attach_button.isEnabled()


def test_a_server_that_dies_during_a_run_loses_no_step_and_is_used_when_it_is_back(desk, double):
    attach(desk, double.address, KEY)
    decoding, answers = desk.session.decoding, double.answers
    count = 0

    def dies_later(request):
        nonlocal count
        count += request.path == "/completion"
        return DoubleReply({"a": 1}, breaks_off_at=2) if count > 5 else answers(request)

    double.answers = dies_later
    decoding.run()
    desk.wait(lambda: not decoding.is_running)
    taken = len(decoding.view.trace.path)
    assert taken >= 5
    assert shows(decoding.view.error, "errors.servers.broken_off")
    double.answers = answers
    decoding.run()
    desk.wait(lambda: not decoding.is_running)
    assert len(desk.output) == 30
    assert len(decoding.view.trace.nodes) == len(decoding.view.trace.path)  # no step was taken twice


def test_a_step_that_waits_for_a_server_is_cancelled_and_the_next_one_works(desk, double):
    attach(desk, double.address, KEY)
    step(desk)
    decoding, answers, taken = desk.session.decoding, double.answers, desk.output
    asked = len(double.requests)
    double.answers = lambda _: DoubleReply(waits=True)
    decoding.step()
    desk.wait(lambda: len(double.requests) > asked)
    desk.session.cancel_background()
    group = desk.session.worker_pool.decode
    pid = group.pid
    desk.wait(lambda: not group.pending)
    assert desk.output == taken
    double.answers = answers
    step(desk)
    assert desk.output.startswith(taken)
    assert group.pid == pid  # nothing had to be killed


def test_a_server_that_restarts_with_another_model_is_not_mixed_in(desk, double):
    attach(desk, double.address, KEY)
    step(desk)
    double.answers = LlamaDouble(name="other.gguf", key=KEY)
    double.end_connections()
    desk.session.decoding.step()
    desk.wait(lambda: bool(desk.session.decoding.view.error))
    assert shows(desk.session.decoding.view.error, "errors.servers.changed")


def test_a_document_does_not_make_the_window_send_anything_to_a_server_of_its_own(desk, double):
    desk.open(GRAMMAR, "letters")
    named = DocumentFile(grammar=GrammarPart("regex", "a+"), model=ModelPart(double.address))
    with desk.qtbot.waitSignal(desk.session.decoding.server_named):
        desk.document.replace(named)
    assert desk.session.decoding.spec == "letters"
    desk.wait(lambda: not desk.panes.generation.banner.isHidden())
    desk.qtbot.mouseClick(desk.panes.generation.banner.button, LEFT)
    assert desk.window.findChild(AttachDialog).address.currentText() == double.address
    assert double.requests == []
