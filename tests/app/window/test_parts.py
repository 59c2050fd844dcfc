"""The small parts of the window, each by itself."""

import sys
import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.catalogue import ui_text
from app.graph.match.folding import fold_characters
from app.session import CompiledGrammarView, Notification
from app.window.banner import BannerStack
from app.window.exception_hook import report_uncaught
from app.window.status import StatusLine
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import DecodeView
from engine.compile import CompileOptions, compile_grammar
from engine.decoding.values import ContextState, EosState, Finish, Position


@pytest.fixture
def stack(qtbot):
    stack = BannerStack()
    qtbot.addWidget(stack)
    stack.show()
    return stack


def test_a_banner_acts_once_and_goes(stack, qtbot):
    acted = []
    banner = stack.show_notification(Notification("window", "Trouble", button="Mend", action=lambda: acted.append(1)))
    qtbot.mouseClick(next(b for b in banner.findChildren(QPushButton) if b.text() == "Mend"), Qt.MouseButton.LeftButton)
    assert acted == [1]
    assert stack.banners == []


def test_details_unfold(stack, qtbot):
    banner = stack.show_notification(Notification("window", "Trouble", details="Traceback"))
    button = next(b for b in banner.findChildren(QPushButton) if b.text() == "Details")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert button.isChecked()


def test_there_is_no_wall_of_banners(stack):
    for i in range(6):
        stack.show_notification(Notification("window", f"Trouble {i % 5}"))
    texts = [banner.notification.text for banner in stack.banners]
    assert len(texts) == len(set(texts)) <= 3
    assert texts[-1] == "Trouble 0"


def test_one_banner_is_shown_the_most_severe_and_the_others_are_counted(stack, qtbot):
    first, error, last = (
        stack.show_notification(Notification("window", text, severity=severity))
        for text, severity in (("First", "hint"), ("Error", "error"), ("Last", "hint"))
    )
    assert [banner.isVisible() for banner in (first, error, last)] == [False, True, False]
    assert stack.shown is error
    qtbot.mouseClick(error.more_button, Qt.MouseButton.LeftButton)
    assert stack.shown is first
    assert first.isVisible()
    first.close_button.click()
    assert stack.shown is error
    error.close_button.click()
    assert stack.shown is last
    assert not last.more_button.isVisible()


def test_a_report_leaves_by_itself_and_what_asks_for_something_stays(stack):
    report = stack.show_notification(Notification("window", "Saved", severity="hint", is_passing=True))
    question = stack.show_notification(Notification("window", "Recovered", severity="hint"))
    assert report.passing.isActive()
    assert not question.passing.isActive()
    report.passing.timeout.emit()
    assert stack.banners == [question]


def test_a_report_stays_while_it_is_read(stack, qtbot):
    report = stack.show_notification(Notification("window", "Saved", severity="hint", is_passing=True))
    stack.activateWindow()
    report.close_button.setFocus()
    qtbot.waitUntil(report.close_button.hasFocus)
    report.passing.timeout.emit()
    assert stack.banners == [report]
    assert report.passing.isActive()


def test_what_is_about_a_document_leaves_with_it(stack):
    about = stack.show_notification(Notification("window", "Secrets", is_of_document=True))
    other = stack.show_notification(Notification("window", "Disk full"))
    assert about in stack.banners
    stack.end_document()
    assert stack.banners == [other]


def test_uncaught_exceptions_become_alarms(qtbot):
    alarms = []
    before = sys.excepthook
    undo = report_uncaught(alarms.append)
    try:
        sys.excepthook(ValueError, ValueError("oops"), None)
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
        qtbot.waitUntil(lambda: len(alarms) == 2)
    finally:
        undo()
    assert "ValueError: oops" in alarms[0].text
    assert "ZeroDivisionError" in alarms[1].details
    assert sys.excepthook is before


def drawn(text, too_large=""):
    grammar = compile_grammar("regex", text, CompileOptions())
    request = CompileRequest(1, "regex", text, CompileOptions())
    dfa = grammar.materialise()
    return CompiledGrammarView(request, dfa, b"", 1.25, too_large, fold_characters(dfa))


def position(**changes):
    values = {
        "output": b"",
        "index": 0,
        "configuration": 1,
        "allowed": 1234,
        "vocabulary_size": 49152,
        "z": 0.0312,
        "kl": 3.0,
        "forced": False,
        "forced_bytes": b"",
        "eos": EosState.NOT_YET,
        "accepting": False,
        "finish": None,
        "wanted": None,
        "candidates": (),
        "mask_us": 12.0,
        "logits_ms": 1.0,
    }
    return Position(**{**values, **changes})


@pytest.fixture
def status(qtbot):
    status = StatusLine()
    qtbot.addWidget(status)
    status.show()
    return status


def test_the_status_line_tells_sizes_and_mass(status):
    status.show_automaton(drawn("ab"), "")
    status.show_view(DecodeView(position=position()), drawn("ab"), frozenset({0}))
    assert status.texts[0] == "3 states · 2 edges · compiled in 1.2 ms"
    assert status.texts[1] == "1,234 of 49,152 allowed · Allowed mass 3.1% · mask 12 µs"
    assert status.texts[2] == ui_text("window.status.no_end_expects", expected="“a”")


def test_the_status_line_counts_characters_as_the_header_does(status):
    status.show_automaton(drawn("é"), "")
    assert status.texts[0] == "2 states (3 over bytes) · 1 edge · compiled in 1.2 ms"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (".a", ui_text("explanation.characters.except", characters=ui_text("explanation.character.line_feed"))),
        (
            "(?:[0-9]x|.y)",
            ui_text("explanation.characters.except", characters=ui_text("explanation.character.line_feed")),
        ),
        ("(?:[a-z]| |:)b", "a-z, “:” or a space"),
        ("[12]", "“1” or “2”"),
    ],
)
def test_the_status_line_says_in_words_what_is_expected(status, pattern, expected):
    status.show_view(DecodeView(position=position()), drawn(pattern), frozenset({0}))
    assert status.texts[2] == ui_text("window.status.no_end_expects", expected=expected)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"finish": Finish.STOP, "accepting": True}, "Complete"),
        ({"finish": Finish.STOP}, ui_text("common.generation.ended_early")),
        ({"finish": Finish.LENGTH}, ui_text("common.generation.budget")),
        (
            {"finish": Finish.CONTEXT, "context": ContextState(512, 0)},
            ui_text("common.generation.context_of_full", tokens=512),
        ),
        ({"accepting": True, "eos": EosState.ALLOWED}, ui_text("window.status.may_end")),
        ({"accepting": True, "eos": EosState.NO_EOS}, ui_text("window.status.matches")),
        ({"z": 0.0001}, ui_text("window.status.no_end")),
    ],
)
def test_the_status_line_tells_of_the_end(status, changes, says):
    status.show_view(DecodeView(position=position(**changes)), None, frozenset())
    assert status.texts[2] == says


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.LENGTH, Finish.CONTEXT])
def test_after_the_end_the_status_line_has_no_mask_to_tell_of(status, finish):
    status.show_view(DecodeView(position=position(finish=finish, z=None)), None, frozenset())
    assert status.texts[1] == ""


@pytest.mark.parametrize(
    ("microseconds", "says"), [(3.42, "mask 3.4 µs"), (999.7, "mask 1.0 ms"), (387_350.0, "mask 387 ms")]
)
def test_the_status_line_tells_times_in_a_unit_that_fits(status, microseconds, says):
    status.show_view(DecodeView(position=position(mask_us=microseconds)), None, frozenset())
    assert status.texts[1].endswith(says)


def test_the_status_line_tells_what_is_left_of_a_context_that_ends_before_the_budget(status):
    at = position(context=ContextState(512, 12))
    status.show_view(DecodeView(position=at, max_tokens=200), None, frozenset())
    assert status.texts[2] == ui_text("window.status.no_end") + " · " + ui_text(
        "common.fragment.context_left", count=12
    )
    status.show_view(DecodeView(position=at, max_tokens=at.index + 12), None, frozenset())
    assert status.texts[2] == ui_text("window.status.no_end")


def test_the_status_line_tells_of_a_stale_and_of_a_large_automaton(status):
    status.show_automaton(drawn("a"), ui_text("session.stale.errors", count=1))
    assert status.texts[0] == ui_text("session.stale.errors", count=1)
    status.show_automaton(drawn("a", "3,012 states"), "")
    assert status.texts[0].startswith("3,012 states · compiled")


def test_the_status_line_shows_progress_and_offers_to_cancel(status, qtbot):
    status.show_activity("Loading smollm2", 30_000_000, 98_000_000)
    assert status.texts[3] == "Loading smollm2 · 30 of 98 MB"
    with qtbot.waitSignal(status.cancel_clicked):
        qtbot.mouseClick(status.cancel_button, Qt.MouseButton.LeftButton)
    status.show_activity("Sampling", 3, 12)
    assert status.texts[3] == "Sampling · 3 of 12"
    status.show_activity("", 0, None)
    assert not status.cancel_button.isVisible()
