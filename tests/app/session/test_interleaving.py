"""Which requests leave a run alone, and which end it and say so."""

import pytest
from model_doubles import decode_handler

from app.catalogue import ui_text
from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart
from app.session import Session, WorkerPool
from app.session.decoding import STOPPED_BY
from app.workers.requests.audit import AuditTokenizer
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import (
    Back,
    Begin,
    FindBreakpoint,
    FollowRecord,
    Force,
    GoTo,
    Lookup,
    OpenModel,
    OpenOutput,
    OpenRecord,
    ReplayOutput,
    ReplayQuestion,
    Restart,
    RestoreTrace,
    RunBaseline,
    SampleMany,
    SetBudget,
    SetGrammar,
    SetPipeline,
    SetPrompt,
    SetSampler,
    ShareTrace,
    ShowTokens,
    StepOnce,
    Take,
    TokensRequest,
    WatchGiven,
    Why,
)
from app.workers.requests.engine_masks import PackVocabulary
from app.workers.requests.export import ExportOptionsMessage, ExportWithModel
from app.workers.requests.forced import CompareSpellings, FindForced, ListIndex, MeasureStrategies
from app.workers.requests.scoring import AttributePrompt, ScoreOutput
from app.workers.requests.strategies import CompareStrategies, ContinuationRequest, SearchTexts
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import Finish, SamplerSettings
from engine.diagnosis.case import FailureCase

A = ord("a") - 0x20
LENGTH = 24
QUESTIONS = {
    Lookup: lambda session: session.decoding.queries.look_up("a", print),
    Why: lambda session: session.decoding.queries.explain(A),
    TokensRequest: lambda session: session.decoding.queries.list_tokens(
        TokensRequest(session.document.revision), print
    ),
    FindBreakpoint: lambda session: session.worker_pool.decode.ask(FindBreakpoint(1), session),
    FindForced: lambda session: session.forced.ask(FindForced(session.document.revision), print, print),
    CompareSpellings: lambda session: session.forced.ask(
        CompareSpellings(session.document.revision, b"", b"a", 4), print, print
    ),
    ListIndex: lambda session: session.forced.ask(ListIndex(session.document.revision), print, print),
    ReplayOutput: lambda session: session.decoding.queries.replay(request_of(session), ReplayQuestion("ab")),
    AuditTokenizer: lambda session: session.decoding.queries.audit(request_of(session)),
    ExportWithModel: lambda session: session.decoding.queries.export("json", "", ExportOptionsMessage(), 1),
    ShowTokens: lambda session: session.worker_pool.decode.ask(ShowTokens((A,), 1), session),
    PackVocabulary: lambda session: session.worker_pool.decode.ask(PackVocabulary(), session),
    ShareTrace: lambda session: session.decoding.share(str(session.folder / "page.html"), print),
}
ENDS = {
    Take: lambda session: session.decoding.choose(A),
    Force: lambda session: session.decoding.choose(A, is_forced=True),
    Back: lambda session: session.decoding.back(),
    Restart: lambda session: session.decoding.restart(),
    GoTo: lambda session: session.decoding.go_to(None),
    OpenOutput: lambda session: session.decoding.open_output((A,)),
    OpenRecord: lambda session: session.decoding.open_record(FailureCase(output=b"a", ids=(A,))),
    FollowRecord: lambda session: session.decoding.follow_record(),
    SetPrompt: lambda session: session.decoding.set_prompt("another"),
    SetPipeline: lambda session: session.decoding.set_pipeline(PipelineSettings(budget=True)),
    SampleMany: lambda session: session.decoding.sample_many(1),
    RunBaseline: lambda session: session.debugging.run_baseline(),
    ScoreOutput: lambda session: session.decoding.score(ScoreOutput(request_of(session), ReplayQuestion("ab"))),
    MeasureStrategies: lambda session: session.decoding.stop_for(MeasureStrategies),
    CompareStrategies: lambda session: session.decoding.stop_for(CompareStrategies),
    ContinuationRequest: lambda session: session.decoding.stop_for(ContinuationRequest),
    SearchTexts: lambda session: session.decoding.stop_for(SearchTexts),
    AttributePrompt: lambda session: session.decoding.stop_for(AttributePrompt),
}


@pytest.fixture
def ready(workers, qtbot, tmp_path):
    session = Session(Document(Autosave(tmp_path / "autosave")), WorkerPool(decode_handler=decode_handler))
    session.folder = tmp_path
    session.start()
    grammar, sampler = GrammarPart(text=f"[ab]{{{LENGTH}}}"), SamplerSettings(seed=3)
    session.document.replace(
        DocumentFile(grammar=grammar, model=ModelPart("letters"), sampler=sampler, max_tokens=LENGTH + 9)
    )
    qtbot.waitUntil(lambda: session.step_refusal == "")
    yield session
    session.close()


def request_of(session) -> CompileRequest:
    return session.compiling.request()


@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
def test_a_question_after_every_step_leaves_a_run_alone(ready, qtbot, kind):
    ended = []
    ready.decoding.run_ended.connect(ended.append)
    ready.decoding.view_changed.connect(lambda _view: QUESTIONS[kind](ready) if ready.decoding.is_running else None)
    ready.debugging.run_until()
    qtbot.waitUntil(lambda: not ready.decoding.is_running)
    assert ready.decoding.view.position.finish is Finish.STOP
    assert not ended


@pytest.mark.parametrize("kind", ENDS, ids=lambda kind: kind.__name__)
def test_what_ends_a_run_says_so(ready, qtbot, kind):
    ended = []
    ready.decoding.run_ended.connect(ended.append)
    ready.debugging.run_until()
    ENDS[kind](ready)
    assert not ready.decoding.is_running
    assert ended == [ui_text("session.run.stopped", reason=ui_text(f"session.run.fragment.{STOPPED_BY[kind]}"))]


def test_a_pause_by_the_user_needs_no_words(ready, qtbot):
    ended = []
    ready.decoding.run_ended.connect(ended.append)
    ready.debugging.run_until()
    ready.decoding.pause()
    assert not ended


def test_an_error_in_the_grammar_ends_a_run_and_is_named(ready, qtbot):
    ended = []
    ready.decoding.run_ended.connect(ended.append)
    ready.debugging.run_until()
    reason = ui_text("session.stale.errors", count=1)
    ready.compiling.stale_changed.emit(True, reason)
    assert ended == [ui_text("session.run.stopped", reason=reason[0].lower() + reason[1:])]


SETTINGS = {OpenModel, SetGrammar, Begin, SetSampler, SetBudget, WatchGiven, RestoreTrace, StepOnce}
"""What a run goes on under: from the next step, or once it has come."""


def test_every_request_of_the_decode_process_is_known_to_interleave_or_not():
    known = [*STOPPED_BY, *SETTINGS, *QUESTIONS]
    assert sorted(kind.__name__ for kind in decode_handler().methods) == sorted(kind.__name__ for kind in known)


@pytest.mark.parametrize("kind", [Lookup, Why], ids=lambda kind: kind.__name__)
def test_a_question_does_not_keep_the_assessment_from_coming(ready, qtbot, kind):
    ready.decoding.view_changed.connect(lambda _view: QUESTIONS[kind](ready))
    with qtbot.waitSignal(ready.decoding.queries.assessed):
        ready.decoding.step()
