"""Logs of requests and responses: their table, its rows as they come, and what is opened from it."""

from __future__ import annotations

import json
import math
import os

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app import theme
from app.catalogue import ui_text
from app.dialogs.batch_dialog import MOST_ROWS, BatchDialog, BatchModel
from app.dialogs.intake_dialog import IntakeDialog
from app.dialogs.replay_dialog import ReplayDialog
from app.workers.batches import BatchHandler
from app.workers.loop import Handler
from app.workers.requests.batches import JudgeBatch, ReadBatchRow
from engine.diagnosis.batch.entries import count_of_records
from engine.diagnosis.batch.rows import AllowedMass, BatchRow, WorstToken
from engine.diagnosis.failures.diagnosis import Cause
from engine.source import CancelledError, CancelToken

LEFT = Qt.MouseButton.LeftButton
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
REQUEST = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
}


def token(text, logprob, *others):
    listed = [{"token": other, "bytes": list(other.encode()), "logprob": value} for other, value in others]
    return {"token": text, "bytes": list(text.encode()), "logprob": logprob, "top_logprobs": listed}


def answer(text, finish="stop", tokens=()):
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    if tokens:
        choice["logprobs"] = {"content": list(tokens)}
    return {"object": "chat.completion", "choices": [choice]}


TOKENS = (
    token("{", -0.01, ("{", -0.01), ("S", -5.0)),
    token('"', -0.02, ('"', -0.02)),
    token("a", -5.5, ("b", -0.1), ("a", -5.5)),
    *(token(letter, -0.01) for letter in '": '),
    token("1", -0.7, ("1", -0.7), ("2", -1.1)),
    token("}", -0.2, ("}", -0.2), (",", -1.9)),
)
RECORDS = [
    {"name": "whole", "request": REQUEST, "response": answer('{"a": 1}', tokens=TOKENS)},
    {"name": "cut", "request": REQUEST, "response": answer('{"a": ', "length")},
    {"name": "chat", "request": REQUEST, "response": answer("Sure! Here is the JSON that you wanted:")},
    {"name": "again", "request": REQUEST, "response": answer('{"a": 1}', tokens=TOKENS[:1])},
    {"name": "lone", "request": REQUEST},
]
CAUSES = [Cause.COMPLETE, Cause.CUT_OFF, Cause.CONSTRAINT_OFF, Cause.COMPLETE, None, Cause.UNKNOWN]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS) + '{"request": ')
    return path


@pytest.fixture
def dialog(desk, log):
    """Return the dialog with all rows of a log, which was dropped on the window."""
    desk.open("a+b")
    drop(desk.window, log)
    found = desk.window.findChild(BatchDialog)
    desk.wait(lambda: len(found.page.rows.found) == len(CAUSES) and not found.page.is_running)
    return found


def drop(widget, *paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    options = (Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, QDragEnterEvent(QPoint(50, 50), *options))
    QApplication.sendEvent(widget, QDropEvent(QPointF(50, 50), *options))


def names(dialog):
    return [row.name for row in dialog.page.model.rows]


def cell(dialog, row, column):
    return dialog.page.table.visualRect(dialog.page.model.index(row, column)).center()


def click_title(dialog, name):
    header = dialog.page.table.horizontalHeader()
    column = dialog.page.model.names.index(name)
    at = QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) // 2, header.height() // 2)
    QTest.mouseClick(header.viewport(), LEFT, pos=at)


def test_a_dropped_log_is_a_table_with_the_causes(desk, dialog):
    assert [row.cause for row in dialog.page.model.rows] == CAUSES
    first = dialog.page.model.rows[0]
    assert (first.worst.index, first.mass.index) == (2, 2)
    assert dialog.page.chosen == first
    assert dialog.check_button.isEnabled()
    assert dialog.replay_button.isEnabled()


def test_a_title_sorts_and_unknown_numbers_come_last(desk, dialog):
    click_title(dialog, "mass")
    assert names(dialog)[:2] == ["whole", "again"]
    click_title(dialog, "cause")
    causes = [row.cause_text for row in dialog.page.model.rows]
    assert causes == sorted(causes)
    click_title(dialog, "name")
    assert names(dialog)[:5] == ["whole", "cut", "chat", "again", "6"]


def test_typing_and_a_cause_filter(desk, dialog):
    QTest.keyClicks(dialog.page.field, "length")
    assert names(dialog) == ["cut"]
    dialog.page.field.clear()
    box = dialog.page.causes
    box.setFocus()
    while box.currentText() != Cause.COMPLETE:
        QTest.keyClick(box, Qt.Key.Key_Down)
        box.activated.emit(box.currentIndex())
    assert names(dialog) == ["whole", "again"]


def test_what_cannot_be_opened_has_no_buttons(desk, dialog):
    dialog.page.table.selectRow(names(dialog).index("6"))
    assert not dialog.check_button.isEnabled()
    assert not dialog.replay_button.isEnabled()
    dialog.page.table.selectRow(names(dialog).index("cut"))
    assert dialog.check_button.isEnabled()
    assert not dialog.replay_button.isEnabled()


def test_a_double_click_opens_the_request_with_its_output_check(desk, dialog):
    at = cell(dialog, names(dialog).index("cut"), 0)
    QTest.mouseClick(dialog.page.table.viewport(), LEFT, pos=at)
    QTest.mouseDClick(dialog.page.table.viewport(), LEFT, pos=at)
    desk.wait(lambda: desk.window.findChild(ReplayDialog) is not None)
    check = desk.window.findChild(ReplayDialog)
    desk.wait(check.cause.isVisible)
    assert check.cause.text() == Cause.CUT_OFF
    assert json.loads(desk.document.content.grammar.text) == SCHEMA


def test_files_that_are_dropped_on_the_dialog_replace_the_rows(desk, dialog, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"name": "new", "request": REQUEST, "response": answer('{"a": 1}')}))
    drop(dialog, other)
    desk.wait(lambda: names(dialog) == ["new"] and not dialog.page.is_running)


def test_a_folder_without_requests_says_so(desk, dialog, tmp_path):
    (tmp_path / "empty").mkdir()
    drop(dialog, tmp_path / "empty")
    desk.wait(lambda: not dialog.page.is_running)
    assert names(dialog) == []
    assert dialog.page.hint.text()
    (tmp_path / "empty").rmdir()
    QTest.mouseClick(dialog.page.run_button, LEFT)
    desk.wait(lambda: not dialog.page.is_running)
    assert "empty" in dialog.page.summary.text()


def test_the_work_can_be_stopped_and_its_rows_stay(desk, dialog, tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text((json.dumps(RECORDS[2]) + "\n") * 20_000)
    drop(dialog, path)
    desk.wait(lambda: len(dialog.page.rows.found) > 0)
    QTest.mouseClick(dialog.page.run_button, LEFT)
    desk.wait(lambda: not dialog.page.is_running)
    assert 0 < len(dialog.page.rows.found) < 20_000


def test_lines_that_are_pasted_where_a_failure_is_pasted_become_a_table(desk, log):
    desk.open("a+b")
    desk.window.commands["file.intake"].trigger()
    intake = desk.window.findChild(IntakeDialog)
    desk.wait(intake.text.hasFocus)
    QApplication.clipboard().setText(log.read_text().rsplit("\n", 1)[0])
    QTest.keyClick(intake.text, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    title = ui_text("dialogs.intake.table")
    desk.wait(lambda: any(one.text() == title for one in intake.findChildren(QPushButton)))
    QTest.mouseClick(next(one for one in intake.findChildren(QPushButton) if one.text() == title), LEFT)
    found = desk.window.findChild(BatchDialog)
    desk.wait(lambda: len(found.page.rows.found) == len(RECORDS) and not found.page.is_running)
    folder = found.page.paths[0].parent
    found.close()
    assert not folder.exists()


@pytest.mark.parametrize("text", ["data: {}\n", '{"choices": []}\n{"choices": []}', "a\nb", '{"request": {}}\n{'])
def test_other_lines_are_no_table(text):
    assert count_of_records(text) == 0


# --- step through


def next_token(desk):
    """Take the next token of the log with its key."""
    taken = desk.session.decoding.view.record.taken
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_F11, Qt.KeyboardModifier.ControlModifier)
    desk.wait(lambda: desk.session.decoding.view.record.taken == taken + 1)


@pytest.fixture
def opened(desk, dialog, monkeypatch):
    """Return the line of a log whose first request is stepped through."""
    dialog.page.table.selectRow(0)
    QTest.mouseClick(dialog.replay_button, LEFT)
    desk.wait(lambda: desk.session.decoding.view.record is not None)
    return desk.panes.generation.output.record


def test_a_request_is_stepped_through_with_the_present_model(desk, opened):
    view, record = desk.session.decoding.view, desk.session.decoding.view.record
    assert json.loads(desk.document.content.grammar.text) == SCHEMA
    assert (desk.document.content.prompt, view.position.output) == ("hi", b"")
    assert (record.taken, record.total, record.token) == (0, len(TOKENS), b"{")
    now = next(one.p for one in view.position.candidates if one.token == b"{")
    assert (record.next.then, record.next.now) == (pytest.approx(math.exp(-0.01)), pytest.approx(now))
    assert opened.isVisible()
    next_token(desk)
    QTest.mouseClick(opened.button, LEFT)
    desk.wait(lambda: desk.session.decoding.view.record.taken == 2)
    assert desk.session.decoding.view.position.output == b'{"'
    desk.window.commands["run.back"].trigger()
    desk.wait(lambda: desk.session.decoding.view.record.taken == 1)
    for _ in TOKENS[1:]:
        next_token(desk)
    record = desk.session.decoding.view.record
    assert (record.token_id, record.has_left, record.largest.index) == (None, False, 0)
    assert desk.session.decoding.view.position.output == b'{"a": 1}'
    assert not opened.button.isVisible()
    assert not desk.window.commands["run.record"].isEnabled()


def test_a_token_of_the_user_leaves_the_log(desk, opened):
    for _ in range(6):
        next_token(desk)
    desk.session.decoding.choose(ord("7") - 0x20)
    desk.wait(lambda: desk.session.decoding.view.record.has_left)
    assert desk.session.decoding.view.record.taken == 6
    desk.window.commands["run.back"].trigger()
    desk.wait(lambda: not desk.session.decoding.view.record.has_left)


def test_the_chips_show_the_probabilities_of_the_log(desk, opened):
    steps = [node.step for node in desk.session.decoding.view.trace.nodes]
    assert [step.p for step in steps[:3]] == [pytest.approx(math.exp(value)) for value in (-0.01, -0.02, -5.5)]
    assert steps[2].z_bounds.high < 0.1
    next_token(desk)
    first = desk.session.decoding.view.trace.nodes[0].step
    assert first.p < 0.05 < first.recorded.p


def test_a_log_with_tokens_of_another_model_says_which(desk, dialog, monkeypatch, tmp_path):
    path = tmp_path / "other.jsonl"
    other = answer('{"a": 1}', tokens=[{**token("{", -0.1), "token": "token_id:3"}])
    path.write_text(json.dumps({"name": "other", "request": REQUEST, "response": other}))
    drop(dialog, path)
    desk.wait(lambda: names(dialog) == ["other"] and not dialog.page.is_running)
    QTest.mouseClick(dialog.replay_button, LEFT)
    desk.wait(lambda: "#3" in desk.session.decoding.view.error)
    assert desk.session.decoding.view.record is None


@pytest.mark.parametrize("name", ["light", "dark"])
def test_picture_of_a_replay(desk, opened, name):
    if not (folder := os.environ.get("PICTURES")):
        return
    theme.apply(QApplication.instance(), name)
    desk.window.resize(1280, 720)
    for _ in range(2):
        next_token(desk)
    desk.window.findChild(BatchDialog).close()
    desk.window.grab().save(f"{folder}/replay-{name}.png")


@pytest.mark.parametrize("name", ["light", "dark"])
def test_picture(desk, dialog, name):
    if not (folder := os.environ.get("PICTURES")):
        return
    theme.apply(QApplication.instance(), name)
    dialog.resize(1120, 480)
    desk.window.resize(1280, 720)
    dialog.grab().save(f"{folder}/batch-{name}.png")


# --- the worker and the model


def handle(handler, request, cancel=None):
    return handler.handle(request, cancel or CancelToken(), lambda _answer: None)


def judged(handler, paths, number, first=0):
    """Return the rows of a batch, each request of which goes on where the last one was."""
    rows = []
    while True:
        answer = handle(handler, JudgeBatch(paths, number, first + len(rows)))
        rows += answer.rows
        if answer.is_complete:
            return rows


def test_the_worker_goes_on_where_it_was_and_begins_anew_if_it_was_lost(log):
    handler, path = Handler(BatchHandler()), (str(log),)
    rows = judged(handler, path, 1)
    assert [row.cause for row in rows] == CAUSES
    assert judged(Handler(BatchHandler()), path, 1, 4) == rows[4:]
    found = handle(handler, ReadBatchRow(rows[1]))
    assert (found.case.output, len(found.case.constraints), found.error) == (b'{"a": ', 1, "")
    assert handle(handler, ReadBatchRow(rows[4])).error
    assert handle(handler, JudgeBatch(("/missing",), 2)).error


def test_a_cancelled_request_of_the_worker_judges_nothing(log):
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        handle(Handler(BatchHandler()), JudgeBatch((str(log),), 1), cancel)


def test_the_model_keeps_so_many_rows_and_counts_the_others():
    model = BatchModel()
    rows = tuple(BatchRow(str(number), "", Cause.COMPLETE) for number in range(MOST_ROWS))
    model.add(rows)
    model.add(rows[:3])
    assert (model.rowCount(), model.left_out, model.causes[Cause.COMPLETE]) == (MOST_ROWS, 3, MOST_ROWS + 3)


def test_bounds_and_numbers_of_tokens_are_shown():
    model = BatchModel()
    mass, worst = AllowedMass(2, 0.1, 0.25), WorstToken(4, 7, b"\n", 9, 0.02)
    model.add((BatchRow("a", "b.jsonl:1", Cause.COMPLETE, mass=mass, worst=worst), BatchRow("b", "", None)))
    texts = [model.index(0, model.names.index(name)).data() for name in ("mass", "worst")]
    assert texts == [mass.text, worst.text]
    assert "5" in worst.text
    assert [model.index(1, column).data() for column in (3, 4)] == ["", ""]
