"""What a screen reader is told while the keys stay where they are."""

import pytest
from decode_views import position, trace, view

from app.catalogue import ui_text
from app.session import Notification
from app.window import screen_reader
from engine.decoding.values import Finish


@pytest.fixture
def said(desk, monkeypatch):
    said = []
    monkeypatch.setattr(
        screen_reader, "announce", lambda _source, text, is_urgent=False: said.append((text, is_urgent))
    )
    return said


def test_a_step_says_its_token_and_what_may_follow(desk, said):
    desk.open("a{3}b")
    said.clear()
    desk.window.commands["run.step"].trigger()
    desk.wait(lambda: bool(desk.output))
    assert said[0] == (screen_reader.announcement(desk.session.decoding.view), False)
    assert said[0][0].startswith("a")
    assert said[0][0].endswith(" of 98 allowed")  # the model is a tokenizer alone


def test_a_run_is_told_once_it_is_over(desk, said):
    desk.open("a{9}")
    said.clear()
    desk.window.commands["run.run"].trigger()
    desk.wait(lambda: desk.session.decoding.view.position.finish is Finish.STOP)
    desk.wait(lambda: not desk.session.decoding.is_running)
    assert len(said) <= 2
    assert any("aaaaaaaaa" in text for text, _ in said)


def test_errors_interrupt(desk, said):
    desk.session.notification_raised.emit(Notification("window", "It broke"))
    desk.session.notification_raised.emit(Notification("window", "It is fine", severity="hint"))
    assert said == [("It broke", True), ("It is fine", False)]


def test_what_is_told():
    assert screen_reader.announcement(view(trace((b"a", b"b")))) == "b. 2 of 1,000 allowed, with 50.0%"
    assert screen_reader.announcement(view()) == ui_text(
        "window.screen_reader.start", state="2 of 1,000 allowed, with 50.0%"
    )
    ended = view(trace((b"a",)), position(finish=Finish.LENGTH))
    assert screen_reader.announcement(ended) == "a. " + ui_text("common.generation.budget")


def test_a_grammar_that_breaks_and_is_mended_says_so_once(desk, said):
    desk.open("ab")
    said.clear()
    edit = desk.panes.editor.edit
    edit.setFocus()
    desk.qtbot.keyClicks(edit, "(")
    desk.wait(lambda: bool(desk.session.compiling.stale_reason))
    assert [text for text, _ in said if text.startswith("1 error. Line 1, column ")]
    edit.undo()
    desk.wait(lambda: not desk.session.compiling.stale_reason)
    assert sum("error" in text for text, _ in said) == 2
    assert said[-1] == (ui_text("window.screen_reader.no_error"), False)


def test_an_end_is_told_with_the_output(desk, said):
    desk.open("a{3}")
    desk.window.commands["run.run"].trigger()
    desk.wait(lambda: desk.session.decoding.view.position.finish is Finish.STOP)
    desk.wait(lambda: not desk.session.decoding.is_running)
    assert any(text.endswith("aaa. Complete") for text, _ in said)
