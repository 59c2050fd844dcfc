"""A job that fails, and a process that dies, in each of the four: a message with details to copy, never a dialog."""

import os
import signal
import sys

import pytest
from catalogue_texts import shows
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.graph.layout.types import LayoutRequest
from app.session.session import post_mortem
from app.window.exception_hook import report_uncaught
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import Take
from app.workers.requests.judge import JudgeRequest
from app.workers.requests.layout import LayOutPlainly
from engine.document.content import ExpectedText
from engine.grammar.options import CompileOptions

NONSENSE = CompileRequest(1, "no notation", "a", CompileOptions())
FAILING = {
    "compile": NONSENSE,
    "decode": Take("not a token"),
    "layout": LayOutPlainly(LayoutRequest(1, ((0, "wide", 1.0),), (), 0)),
    "judge": JudgeRequest(NONSENSE, ("a",), (0,)),
}


@pytest.fixture
def busy(desk):
    """A window in which all four processes run."""
    desk.open("a{9}")
    desk.document.set_expected_texts((ExpectedText("aaaaaaaaa"),))
    desk.session.test_runs.set_texts(desk.document.content.test_strings)
    desk.window.commands["view.tests"].trigger()
    desk.wait(lambda: desk.session.worker_pool.judge.pid is not None and not desk.session.worker_pool.judge.pending)
    return desk


def banner_with(desk, key):
    found = [banner for banner in desk.window.banners.banners if shows(banner.notification.text, key)]
    return found[-1] if found else None


def works(desk):
    """Whether a step can be taken and a test judged."""
    return (
        not desk.session.step_refusal
        and not any(group.pending for group in desk.session.worker_pool)
        and desk.panes.view("tests").model.passes(0) is True
    )


@pytest.mark.parametrize("name", ["compile", "decode", "layout", "judge"])
def test_a_dead_process_is_a_message_with_details_and_all_goes_on(busy, name):
    group = getattr(busy.session.worker_pool, name)
    os.kill(group.pid, signal.SIGKILL)
    busy.wait(lambda: banner_with(busy, "session.notification.process_restarted") is not None)
    assert QApplication.activeModalWidget() is None
    banner = banner_with(busy, "session.notification.process_restarted")
    busy.qtbot.mouseClick(banner.copy_button, Qt.MouseButton.LeftButton)
    copied = QApplication.clipboard().text()
    assert copied.startswith(banner.notification.text)
    assert f"process: {name}" in copied
    assert "SIGKILL" in copied
    busy.wait(lambda: works(busy))
    busy.window.commands["run.step"].trigger()
    busy.wait(lambda: bool(busy.output))


@pytest.mark.parametrize("name", ["compile", "decode", "layout", "judge"])
def test_a_bug_in_a_job_is_a_message_with_its_traceback(busy, name):
    busy.wait(lambda: works(busy))
    getattr(busy.session.worker_pool, name).ask(FAILING[name], busy.session)
    busy.wait(lambda: banner_with(busy, "common.internal_error") is not None)
    assert QApplication.activeModalWidget() is None
    banner = banner_with(busy, "common.internal_error")
    assert "Traceback" not in banner.notification.text
    busy.qtbot.mouseClick(banner.copy_button, Qt.MouseButton.LeftButton)
    assert banner.notification.details in QApplication.clipboard().text()
    assert (
        "Traceback (most recent call last)" in banner.notification.details or name == "layout"
    )  # which has a time limit
    busy.wait(lambda: works(busy))


def test_an_exception_in_the_window_is_a_message_too(desk):
    undo = report_uncaught(desk.window.show_notification)
    try:
        error = ZeroDivisionError("as asked")
        sys.excepthook(type(error), error, error.__traceback__)  # what PySide does with what a slot raises
        desk.wait(lambda: banner_with(desk, "window.main.error_continues") is not None)
    finally:
        undo()
    assert "ZeroDivisionError" in banner_with(desk, "window.main.error_continues").notification.details
    assert QApplication.activeModalWidget() is None


def test_a_report_names_kinds_and_no_texts():
    told = post_mortem("compile", "exit code 3", [NONSENSE, NONSENSE])
    assert "requests: CompileRequest\n" in told
    assert "no notation" not in told
    assert "requests: none\n" in post_mortem("compile", "exit code 3", [])


def test_a_home_that_cannot_be_written_is_told_once_and_costs_nothing_else(desk, tmp_path):
    (tmp_path / "preferences.json").mkdir()
    (tmp_path / "autosave").write_text("")
    desk.open("[ab]+")
    for theme_name in ("dark", "light"):
        desk.window.commands[f"view.{theme_name}"].trigger()
    edit = desk.panes.editor.edit
    edit.setFocus()
    desk.qtbot.keyClicks(edit, "c")
    desk.wait(lambda: banner_with(desk, "session.notification.autosave_failed") is not None)
    desk.qtbot.keyClicks(edit, "d")
    desk.session.decoding.step()
    desk.wait(lambda: bool(desk.output))
    told = [banner.notification.text for banner in desk.window.banners.banners]
    keys = ("session.notification.autosave_failed", "window.main.settings_lost")
    assert len(told) == len(keys)
    assert all(any(shows(text, key) for text in told) for key in keys)
    desk.window.close_without_asking()
    assert not desk.window.isVisible()
