"""The pages of the output check that are computed on request, and the search for the smallest failing part."""

import math

import pytest
from catalogue_texts import shows
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.catalogue import capitalised, ui_text
from app.dialogs.check_pages import EnginesPage, ScoresPage
from app.dialogs.fuzz_dialog import FuzzDialog
from app.dialogs.reduce_dialog import ReduceDialog
from app.dialogs.replay_dialog import ReplayDialog
from app.document import DocumentFile, GrammarPart, ModelPart
from app.workers.engines import EnginesHandler
from app.workers.loop import Job
from app.workers.protocol import Progress
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import ReplayQuestion
from app.workers.requests.engines import (
    CompareEngines,
    CompareMasks,
    EngineList,
    FindSmallest,
    FuzzAnswer,
    FuzzRow,
    FuzzSchema,
    ListEngines,
    SmallestAnswer,
)
from app.workers.requests.scoring import ScoreAnswer, ScoreOutput
from engine.compile import CompileOptions
from engine.diagnosis.case import FailureCase, ListedToken, ScoredToken
from engine.diagnosis.failures.diagnosis import Cause
from engine.peers import PEERS
from engine.peers.adapter import OWN, Peer
from engine.peers.prefixes import EnginePrefix
from engine.peers.report import CaseOutcome
from engine.source import CancelToken
from tests.engine.peers.schema_doubles import ForgetfulAdapter

CONTROL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton
SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer", "maximum": 40}}, "required": ["n"]}'


def page_of(desk, dialog, page):
    """Show a page by a click on its tab."""
    bar = dialog.pages.tabBar()
    at: QPoint = bar.tabRect(dialog.pages.indexOf(page)).center()
    desk.qtbot.mouseClick(bar, LEFT, pos=at)
    assert dialog.pages.currentWidget() is page


def opened(desk, text) -> ReplayDialog:
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_K, CONTROL)
    dialog = desk.window.findChild(ReplayDialog)
    QTest.keyClicks(dialog.text, text)
    return dialog


def test_an_output_is_scored_under_the_model_and_by_its_response(desk):
    desk.open("a[bc]+")
    dialog = opened(desk, "abxc")
    scores = dialog.scores
    page_of(desk, dialog, scores)
    desk.qtbot.mouseClick(scores.run_button, LEFT)
    desk.wait(lambda: not scores.is_running)
    first, second, third = scores.model.rows
    assert [row.token for row in (first, second, third)] == ["ab", "x", "c"]
    assert first.p == pytest.approx(1 / 98)
    assert (first.is_allowed, second.is_allowed, third.is_allowed) == (True, False, None)
    assert shows(scores.summary.text(), "dialogs.check.scores.model", count=3, model="Letters")
    scores.table.selectRow(1)
    assert dialog.text.textCursor().selectedText() == "x"

    QTest.keyClicks(dialog.text, "b")
    assert scores.model.rows == ()
    assert scores.hint.text() == ui_text("dialogs.check.scores.outdated")
    scores.clear()
    desk.qtbot.mouseClick(scores.run_button, LEFT)
    assert scores.is_running
    dialog.show_model_changed()
    assert not scores.is_running
    assert scores.hint.text() == ui_text("dialogs.check.scores.outdated")

    tokens = (
        ScoredToken(b"a", math.log(0.9)),
        ScoredToken(
            b"b", math.log(0.2), alternatives=(ListedToken(b"c", math.log(0.7)), ListedToken(b"b", math.log(0.2)))
        ),
    )
    dialog.show_case(FailureCase(output=b"ab", scores=tokens))
    assert scores.source.isVisible()
    desk.qtbot.mouseClick(scores.run_button, LEFT)
    desk.wait(lambda: not scores.is_running)
    assert [(row.token, round(row.p, 3)) for row in scores.model.rows] == [("a", 0.9), ("b", 0.2)]
    assert scores.model.rows[1].rank == 2
    assert scores.table.currentIndex().row() == 1

    engines = dialog.engines
    page_of(desk, dialog, engines)
    desk.qtbot.mouseClick(engines.run_button, LEFT)
    desk.wait(lambda: not engines.is_running)
    assert engines.model.rows or engines.hint.text() == ui_text("workers.engines.none")


@pytest.mark.parametrize("make", [ScoresPage, EnginesPage])
def test_work_shows_its_progress_and_can_be_cancelled(qtbot, make):
    page = make()
    qtbot.addWidget(page)
    page.show()
    qtbot.mouseClick(page.run_button, LEFT)
    assert page.is_running
    page.show_progress(Progress("scoring", 3, 9))
    assert (page.bar.value(), page.bar.maximum()) == (3, 9)
    with qtbot.waitSignal(page.cancelled):
        qtbot.mouseClick(page.run_button, LEFT)
    with qtbot.waitSignal(page.cancelled):
        page.clear()
    assert not page.is_running
    assert page.hint.text() == ui_text(f"dialogs.check.{'scores' if make is ScoresPage else 'engines'}.teaching")


def test_an_error_is_shown_in_place_of_scores(qtbot):
    page = ScoresPage()
    qtbot.addWidget(page)
    page.start()
    page.show_answer(ScoreAnswer(ScoreOutput(compiled("a"), ReplayQuestion("a")), error="why"))
    assert page.hint.text() == "why"
    assert not page.is_running


# --- engines ---------------------------------------------------------------------------------------------------------


def compiled(text, notation="regex"):
    return CompileRequest(1, notation, text, CompileOptions())


def asked(request):
    return EnginesHandler().begin(request, Job(CancelToken(), lambda _value: None))


def test_engines_that_differ_are_the_cause(monkeypatch):
    mine, other = Peer(OWN, "pytest", ForgetfulAdapter), Peer("other", "pytest", ForgetfulAdapter)
    answers = (
        EnginePrefix(OWN, "1", CaseOutcome.DONE, "", 2),
        EnginePrefix("other", "2", CaseOutcome.DONE, "", 3, is_complete=True),
    )
    monkeypatch.setattr("app.workers.engines.installed_peers", lambda _notation: (mine, other))
    monkeypatch.setattr("app.workers.engines.accepted_prefixes", lambda *_args, **_options: answers)
    answer = asked(CompareEngines(compiled("ab"), ReplayQuestion("abc")))
    assert [(row.engine, row.accepted) for row in answer.rows] == [(OWN, 2), ("other", 3)]
    assert answer.diagnosis.cause is Cause.ENGINE_DIFFERENCE
    assert asked(ListEngines("regex")).engines == (("other", other.version),)
    assert asked(CompareEngines(compiled("ab"), ReplayQuestion(ids=(1,)))).error == ui_text("workers.engines.no_text")
    monkeypatch.setattr("app.workers.engines.installed_peers", lambda _notation: (mine,))
    assert asked(CompareEngines(compiled("ab"), ReplayQuestion("a"))).error == ui_text("workers.engines.none")


def test_masks_that_differ_are_rows_with_their_places(monkeypatch):
    peers = {OWN: PEERS[OWN], "forgetful": Peer("forgetful", "pytest", ForgetfulAdapter)}
    monkeypatch.setattr("app.workers.comparing.PEERS", peers)
    answer = asked(CompareMasks(compiled(SCHEMA, "json_schema"), OWN, ("forgetful",), ('{"n": 41}',)))
    (verdict,), row = answer.verdicts, answer.differences[0]
    assert shows(verdict.sentence, "differences.verdict.looser")
    assert (row.is_gained, row.accepted_by) == (True, "forgetful")
    assert SCHEMA[row.span.start : row.span.end] == "40"
    assert [one.engine for one in answer.figures] == [OWN, "forgetful"]
    assert all(one.compile_ms > 0 and one.token_us > 0 for one in answer.figures)
    assert asked(CompareMasks(compiled("("), OWN, ("forgetful",))).error == ui_text("workers.judge.fix_first")


def test_the_guilty_part_of_a_schema_is_found_with_its_place(monkeypatch):
    forgetful = Peer("forgetful", "pytest", ForgetfulAdapter)
    monkeypatch.setattr("app.workers.engines.find_peers", lambda _names: (forgetful,))
    answer = asked(FindSmallest(compiled(SCHEMA, "json_schema"), engine="forgetful", examples=('{"n": 41}',)))
    assert (answer.part, answer.kind) == ("/properties/n/maximum", "too-loose")
    assert SCHEMA[answer.span.start : answer.span.end] == "40"
    assert len(answer.text) < len(SCHEMA)


def test_the_search_runs_in_a_process_that_may_start_engines(desk):
    """The process is a daemon of the window, and starts a child for the engine."""
    desk.open("a")
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_F8, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    dialog = desk.window.findChild(ReduceDialog)
    desk.wait(lambda: dialog.engine.count() > 0)
    dialog.show_engines(EngineList("regex", ((OWN, ""),)))
    desk.qtbot.mouseClick(dialog.run_button, LEFT)
    assert dialog.is_running
    desk.wait(lambda: not dialog.is_running)
    assert dialog.answer.error == capitalised(ui_text("errors.diagnosis.engine_agrees", engine=OWN))


def test_a_server_needs_an_address_and_a_result_names_the_part(qtbot):
    dialog = ReduceDialog(0)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.show_engines(EngineList("json_schema"))
    assert dialog.by_server.isChecked()
    qtbot.mouseClick(dialog.run_button, LEFT)
    assert dialog.status.text() == ui_text("dialogs.reduce.no_address")
    QTest.keyClicks(dialog.address, "http://localhost:8000/v1")
    with qtbot.waitSignal(dialog.wanted) as wanted:
        QTest.keyClick(dialog.address, Qt.Key.Key_Return)
    assert wanted.args[0].server == "http://localhost:8000/v1"
    request = FindSmallest(compiled(SCHEMA, "json_schema"), server="http://localhost:8000/v1")
    dialog.show_answer(SmallestAnswer(request, '{"maximum": 40}', "/properties/n/maximum", None, "http-400", "no", 12))
    assert "/properties/n/maximum" in dialog.verdict.accessibleName()
    assert dialog.grammar.text() == '{"maximum": 40}'
    assert not dialog.place_button.isEnabled()


# --- fuzzing ---------------------------------------------------------------------------------------------------------


def test_a_schema_is_fuzzed_and_a_difference_becomes_a_test(desk):
    desk.open("a")
    fuzz = desk.window.commands["tests.fuzz"]
    assert not fuzz.isEnabled()
    desk.document.replace(DocumentFile(grammar=GrammarPart("json_schema", SCHEMA), model=ModelPart("letters")))
    desk.wait(lambda: desk.document.content.grammar.text == SCHEMA)
    assert fuzz.isEnabled()
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_F9, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    dialog = desk.window.findChild(FuzzDialog)
    page = dialog.page
    page.texts.setValue(3)
    desk.qtbot.mouseClick(page.run_button, LEFT)
    desk.wait(lambda: not page.is_running)
    assert page.hint.text() == ui_text("dialogs.fuzz.none")
    assert shows(page.summary.text(), "dialogs.fuzz.summary", legal=3)
    page.start()
    request = FuzzSchema(compiled(SCHEMA, "json_schema"), 3, 0)
    page.show_answer(FuzzAnswer(request, (FuzzRow('{"n": 41}', True, "41 is greater"),), 3, 12))
    desk.qtbot.mouseClick(dialog.test_button, LEFT)
    assert [one.text for one in desk.document.content.test_strings] == ['{"n": 41}']
