import os
import signal
from types import SimpleNamespace

import pytest
from catalogue_texts import shows
from model_doubles import decode_handler, letters

from app.catalogue import ui_text
from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart
from app.graph.layout.types import LayoutRequest
from app.jobs import group
from app.session import Session, WorkerPool
from app.workers.protocol import sentence
from app.workers.requests.decode import Begin, OpenModel
from app.workers.requests.export import ExportOptionsMessage
from engine import compile_grammar
from engine.decoding.generate import generate
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import Finish, SamplerSettings
from engine.models.source import ModelError

HOUR_MS = 3_600_000

A, B = ord("a") - 0x20, ord("b") - 0x20


@pytest.fixture
def session(workers, qtbot, tmp_path):
    document = Document(Autosave(tmp_path / "autosave"))
    session = Session(document, WorkerPool(decode_handler=decode_handler))
    yield session
    session.close()


@pytest.fixture
def ready(session, qtbot):
    """A session with `a+b` and the letters, before its first step."""
    session.start()
    session.document.replace(DocumentFile(grammar=GrammarPart(text="a+b"), model=ModelPart("letters")))
    qtbot.waitUntil(lambda: can_step(session) and has_workers(session))
    return session


def has_workers(session):
    """Whether the processes run that every window has."""
    return all(
        group.pid for group in (session.worker_pool.compile, session.worker_pool.decode, session.worker_pool.layout)
    )


def can_step(session):
    return session.step_refusal == ""


def output(session):
    position = session.decoding.view.position
    return position.output if position else None


def test_an_edit_becomes_an_automaton_and_a_grammar_to_step_through(session, qtbot):
    session.document.replace(DocumentFile(model=ModelPart("letters")))
    with qtbot.waitSignal(session.compiling.compiled):
        pass
    with qtbot.waitSignal(session.view_changed) as blocker:
        session.document.set_text("a+b")
    assert blocker.args[0].dfa.accepts(b"aab")
    qtbot.waitUntil(lambda: session.decoding.view.grammar_revision == session.document.revision)


def test_quick_edits_compile_once_and_late_answers_are_dropped(ready, qtbot):
    compiled = []
    ready.compiling.compiled.connect(lambda drawn: compiled.append(drawn.request.text))
    for text in ("x", "xy", "xyz"):
        ready.document.set_text(text)
    qtbot.waitUntil(lambda: compiled == ["xyz"])


def test_a_broken_pattern_keeps_the_last_good_automaton_and_stops_the_steps(ready, qtbot):
    good = ready.compiling.last_good
    with qtbot.waitSignal(ready.compiling.stale_changed):
        ready.document.set_text("a+b(")
    assert ready.compiling.last_good is good
    assert "error" in ready.step_refusal
    with qtbot.waitSignal(ready.compiling.stale_changed):
        ready.document.set_text("a+b")
    qtbot.waitUntil(lambda: can_step(ready))


def test_steps_move_the_live_state(ready, qtbot):
    with qtbot.waitSignal(ready.live_changed) as blocker:
        ready.decoding.take(A)
    states, spans = blocker.args
    dfa = ready.compiling.last_good.dfa
    assert states == {dfa.run(b"a")}
    assert spans == dfa.states[dfa.run(b"a")].spans


def test_a_run_goes_on_to_the_end_by_itself(ready, qtbot):
    ready.decoding.set_sampler(SamplerSettings(seed=1))
    with qtbot.waitSignals([ready.decoding.running_changed] * 2):
        ready.decoding.run()
    assert ready.decoding.view.position.finish is Finish.STOP
    assert "complete" in ready.step_refusal


def test_a_pause_ends_a_run_and_so_does_a_step_by_hand(ready, qtbot):
    for interrupt in (ready.decoding.pause, ready.decoding.back):
        ready.decoding.run()
        interrupt()
        assert not ready.decoding.is_running


def test_an_edit_replays_the_trace(ready, qtbot):
    ready.decoding.take(A)
    ready.decoding.take(B)
    qtbot.waitUntil(lambda: output(ready) == b"ab")
    ready.document.set_text("a{3}")
    qtbot.waitUntil(lambda: output(ready) == b"a")
    assert "1 of 2" in ready.decoding.view.note


def test_a_document_with_a_trace_is_restored(ready, qtbot):
    ready.decoding.take(A)
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"aa")
    content = ready.document.content
    ready.document.replace(DocumentFile(grammar=GrammarPart(text="x"), model=ModelPart("letters")))
    qtbot.waitUntil(lambda: output(ready) == b"" and can_step(ready))
    ready.document.replace(content)
    qtbot.waitUntil(lambda: output(ready) == b"aa")
    assert ready.document.content.trace.path == ready.decoding.view.trace.path


def test_a_document_that_is_shown_again_has_its_trace_at_once_and_its_position_once_compiled(ready, qtbot):
    ready.decoding.take(A)
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"aa")
    document, first, trace = ready.document, ready.document.shown, ready.document.content.trace
    document.show(document.add(DocumentFile(grammar=GrammarPart(text="x"), model=ModelPart("letters"))))
    assert ready.decoding.view.trace.nodes == ()
    qtbot.waitUntil(lambda: output(ready) == b"" and can_step(ready))
    document.show(first)
    assert ready.decoding.view.trace == trace
    ready.decoding.back()  # nothing to go back in yet; nothing is lost either
    assert ready.step_refusal == ui_text("session.refusal.compiling")
    qtbot.waitUntil(lambda: output(ready) == b"aa" and can_step(ready))
    assert (document.content.trace, document.content.archived) == (trace, ())


def test_steps_that_wait_for_a_correct_grammar_have_no_position_of_another_text(ready, qtbot):
    ready.decoding.take(A)
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"aa")
    ready.document.set_text("a+b(")
    qtbot.waitUntil(lambda: bool(ready.compiling.stale_reason))
    ready.restart_workers()
    qtbot.waitUntil(lambda: not any(group.pending for group in ready.worker_pool))
    view = ready.decoding.view
    assert view.position is None or view.position.output == b"a" * len(view.trace.path)
    ready.document.set_text("a+b")
    qtbot.waitUntil(lambda: output(ready) == b"aa")


def test_restored_steps_keep_who_chose_them(ready, qtbot):
    ready.decoding.take(A)
    ready.decoding.step()
    qtbot.waitUntil(lambda: len(ready.document.content.trace.nodes) == 2)
    content = ready.document.content
    ready.document.replace(content)
    qtbot.waitUntil(lambda: ready.decoding.view.trace == content.trace)
    assert [node.step.origin for node in content.trace.nodes] == ["user", "sampler"]


def test_another_prompt_and_another_model_leave_what_was_in_the_document(ready, qtbot):
    ready.decoding.take(A)
    ready.decoding.set_prompt("hi")
    qtbot.waitUntil(lambda: ready.decoding.view.prompt == "hi")
    ready.decoding.take(A)
    with qtbot.waitSignal(ready.decoding.model_opened):
        ready.decoding.open_model("endless")
    archived = ready.document.content.archived
    assert [(branch.model, branch.prompt, len(branch.steps)) for branch in archived] == [
        ("Letters", "hi", 1),
        ("Letters", "", 1),
    ]


def test_another_document_knows_nothing_of_the_one_before(ready, qtbot):
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    ready.decoding.set_prompt("hi")  # answered only after the next document is there
    ready.document.replace(DocumentFile(grammar=GrammarPart(text="a+c"), model=ModelPart("letters"), max_tokens=2))
    qtbot.waitUntil(lambda: ready.decoding.view.max_tokens == 2 and can_step(ready))
    assert ready.document.content.archived == ()
    assert ready.document.content.trace.nodes == ()
    assert ready.document.content.prompt == ""


def test_a_late_view_of_the_document_before_is_not_shown_as_of_the_next_one(ready, qtbot, monkeypatch):
    """The answer to `Begin` may come after the compile, while the worker still holds the grammar before."""
    archived, late, begun, ask = ready.decoding.view, [], [], ready.worker_pool.decode.ask

    def keep_begun(request, receiver):
        asked = ask(request, receiver)
        if isinstance(request, Begin):
            begun.append(asked)
        return asked

    def answer_late(_drawn) -> None:
        begun[0].answer(archived)
        late.append((ready.decoding.view.position, ready.step_refusal))

    monkeypatch.setattr(ready.worker_pool.decode, "ask", keep_begun)
    ready.compiling.compiled.connect(answer_late)
    ready.document.replace(DocumentFile(grammar=GrammarPart(text="[xyz]"), model=ModelPart("letters")))
    qtbot.waitUntil(lambda: can_step(ready))
    assert archived.position.allowed == 2
    assert late == [(None, ui_text("session.refusal.compiling"))]
    assert ready.decoding.view.position.allowed == 3


def test_a_document_that_does_not_compile_shows_nothing_of_the_one_before(ready, qtbot):
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    shown = []
    ready.decoding.view_changed.connect(shown.append)
    ready.document.replace(DocumentFile(grammar=GrammarPart(text="a("), model=ModelPart("letters"), max_tokens=2))
    assert ready.decoding.view.position is None
    assert ready.step_refusal
    qtbot.waitUntil(lambda: len(shown) > 1 and ready.compiling.stale_reason != "")
    assert all(view.position is None and not view.trace.nodes for view in shown)
    assert ready.step_refusal == ui_text("session.refusal.stale", reason=ui_text("session.stale.errors", count=1))
    ready.document.set_text("[ab]")
    qtbot.waitUntil(lambda: can_step(ready) and ready.decoding.view.position.allowed == 2)


def test_a_budget_ends_a_run_and_a_larger_one_goes_on(ready, qtbot):
    ready.document.set_text("a{9}")
    ready.decoding.set_max_tokens(2)
    qtbot.waitUntil(lambda: ready.decoding.view.grammar_revision == ready.document.revision)
    ready.decoding.run()
    qtbot.waitUntil(lambda: output(ready) == b"aa")
    assert "raise it" in ready.step_refusal
    ready.decoding.set_max_tokens(20)
    qtbot.waitUntil(lambda: can_step(ready))
    assert ready.document.content.max_tokens == 20


def with_model(content, model):
    fields = {name: getattr(content, name) for name in DocumentFile.__struct_fields__}
    return DocumentFile(**{**fields, "model": model})


def test_a_document_of_another_model_of_the_same_name_says_so(ready, qtbot):
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    content = with_model(ready.document.content, ModelPart("letters", "Letters", "another fingerprint"))
    with qtbot.waitSignal(ready.notification_raised) as blocker:
        ready.document.replace(content)
    assert shows(blocker.args[0].text, "session.notification.model_differs", name="Letters")
    qtbot.waitUntil(lambda: output(ready) == b"a")


def test_a_document_whose_model_does_not_load_keeps_its_trace_until_one_steps(ready, qtbot):
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    content = with_model(ready.document.content, ModelPart("broken"))
    with qtbot.waitSignal(ready.notification_raised):
        ready.document.replace(content)
    qtbot.waitUntil(lambda: can_step(ready) and output(ready) == b"")
    assert ready.document.content.trace == content.trace
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    assert ready.document.content.model.spec == "letters"


def test_a_trace_that_waits_for_its_model_becomes_a_former_branch_when_another_is_chosen(ready, qtbot):
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    content = with_model(ready.document.content, ModelPart("slow", "Slow"))
    ready.document.replace(content)
    qtbot.waitUntil(lambda: ready.decoding.model_is_loading and output(ready) == b"")
    with qtbot.waitSignal(ready.decoding.model_opened):
        ready.decoding.open_model("endless")
    assert [(branch.model, len(branch.steps)) for branch in ready.document.content.archived] == [("Slow", 1)]
    assert ready.document.content.model.spec == "endless"


def test_a_killed_model_process_comes_back_where_it_was(ready, qtbot):
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    with qtbot.waitSignal(ready.notification_raised) as blocker:
        os.kill(ready.worker_pool.decode.pid, signal.SIGKILL)
    assert "SIGKILL" in blocker.args[0].text
    assert "restarted" in blocker.args[0].text
    qtbot.waitUntil(lambda: output(ready) == b"a" and can_step(ready))


def test_a_model_that_cannot_be_cancelled_costs_the_process_and_the_work_comes_back(monkeypatch, request, qtbot):
    monkeypatch.setattr("app.session.session.DECODE_GRACE_MS", 100)
    ready = request.getfixturevalue("ready")
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    first = ready.worker_pool.decode.pid
    stubborn = OpenModel("stubborn")
    with qtbot.waitSignal(
        ready.worker_pool.decode.progressed, check_params_cb=lambda request, _value: request == stubborn
    ):
        ready.decoding.open_model("stubborn")
    with qtbot.waitSignal(ready.notification_raised) as blocker:
        ready.decoding.cancel_model()
    assert ui_text("session.process.fragment.not_ending") in blocker.args[0].text
    qtbot.waitUntil(lambda: output(ready) == b"a" and can_step(ready))
    assert ready.worker_pool.decode.pid not in (None, first)


@pytest.mark.parametrize("name", ["compile", "layout"])
def test_another_killed_process_is_told_and_serves_again(ready, qtbot, name):
    with qtbot.waitSignal(ready.notification_raised):
        os.kill(getattr(ready.worker_pool, name).pid, signal.SIGKILL)
    with qtbot.waitSignal(ready.compiling.compiled):
        ready.document.set_text("a+c")
    with qtbot.waitSignal(ready.compiling.laid_out) as blocker:
        ready.compiling.lay_out(LayoutRequest(5, ((0, 9.0, 9.0),), (), 0))
    assert blocker.args[0].revision == 5


def test_a_model_that_fails_to_load_is_told_and_the_old_one_serves(ready, qtbot):
    with qtbot.waitSignal(ready.notification_raised) as blocker:
        ready.decoding.open_model("broken")
    alarm = blocker.args[0]
    assert alarm.target == "generation"
    assert alarm.details.startswith(sentence(ModelError("errors.models.silent_pip")))
    assert shows(alarm.details, "session.notification.model_failed_still", name="Letters")
    assert can_step(ready)
    assert ready.decoding.spec == "letters"


def test_a_model_that_loads_shows_progress_leaves_the_old_one_and_is_cancelled(ready, qtbot):
    progress = []
    ready.activity_changed.connect(lambda *values: progress.append(values))
    ready.decoding.open_model("slow")
    qtbot.waitUntil(lambda: any(total == 1000 for _, _, total in progress))
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    ready.cancel_background()
    qtbot.waitUntil(lambda: not ready.decoding.model_is_loading and ready.decoding.spec == "letters")
    assert progress[-1][0] == ""


def test_restarting_the_workers_brings_everything_back(ready, qtbot):
    ready.decoding.take(A)
    qtbot.waitUntil(lambda: output(ready) == b"a")
    groups = ready.worker_pool.compile, ready.worker_pool.decode, ready.worker_pool.layout
    before = [group.pid for group in groups]
    ready.restart_workers()
    qtbot.waitUntil(lambda: output(ready) == b"a" and can_step(ready))
    assert all(pid is not None for pid in before)
    assert not set(before) & {group.pid for group in ready.worker_pool}
    assert ready.worker_pool.judge.pid is None  # there are no test strings to judge


def test_many_seeds(ready, qtbot):
    answers = []
    ready.decoding.queries.sampled.connect(answers.append)
    ready.decoding.sample_many(4)
    qtbot.waitUntil(lambda: bool(answers) and answers[-1].done)
    assert all(outcome.matches for outcome in answers[-1].outcomes)


def test_cancelled_seeds_say_that_no_more_will_come(ready, qtbot):
    ready.decoding.queries.sampled.connect(lambda _answer: ready.cancel_background())
    with qtbot.waitSignal(ready.decoding.queries.sampling_stopped) as blocker:
        ready.decoding.sample_many(10_000)
    assert blocker.args == ["Cancelled"]
    assert not ready.decoding.queries.is_sampling


def test_exports_come_from_the_last_good_grammar(ready, qtbot):
    with qtbot.waitSignal(ready.compiling.exported) as graph:
        ready.compiling.export("dot", "", ExportOptionsMessage(), 1)
    with qtbot.waitSignal(ready.decoding.queries.exported) as index:
        ready.decoding.queries.export("json", "", ExportOptionsMessage(), 2)
    with qtbot.waitSignal(ready.compiling.exports_listed) as listed:
        ready.compiling.list_exports(ExportOptionsMessage(), has_model=True)
    assert (graph.args[0].number, index.args[0].number) == (1, 2)
    assert {"dot", "json", "vllm"} <= {entry.name for entry in listed.args[0].entries if not entry.refusal}
    assert "digraph" in graph.args[0].preview
    assert "turnstile-token-index" in index.args[0].preview


def test_a_long_compile_is_told_of_and_can_be_cancelled(ready, qtbot):
    told, refused = [], []

    def cancel_once_told(text, _done, _total) -> None:
        told.append(text)
        if text == "Compiling" and not refused:
            ready.cancel_background()
            refused.append(ready.step_refusal)

    ready.activity_changed.connect(cancel_once_told)
    ready.patience.setInterval(0)
    good = ready.compiling.last_good
    ready.document.set_text("[a-z]+x" * 60_000)
    qtbot.waitUntil(lambda: bool(refused) and told[-1] == "")
    assert "not compiled" in refused[0]
    assert ready.compiling.last_good is good
    ready.document.set_text("a+b")
    qtbot.waitUntil(lambda: can_step(ready))


def test_a_quick_compile_goes_unmentioned(ready, qtbot):
    told = []
    ready.activity_changed.connect(lambda text, _done, _total: told.append(text))
    ready.patience.setInterval(HOUR_MS)  # what is quick is a matter of the machine
    with qtbot.waitSignal(ready.compiling.compiled):
        ready.document.set_text("a+bc")
    ready.patience.stop()
    ready.patience.timeout.emit()
    assert "Compiling" not in told


def test_a_grammar_that_the_model_reads_for_long_is_told_of_and_refuses_steps(ready, qtbot):
    told, refused, refusals = [], [], []

    def cancel_once_told(text, _done, _total) -> None:
        told.append(text)
        if text == ui_text("session.activity.set_grammar") and not refusals:
            refusals.extend((refused[-1], ready.step_refusal))
            ready.cancel_background()

    ready.activity_changed.connect(cancel_once_told)
    ready.step_allowed_changed.connect(refused.append)
    ready.patience.setInterval(0)
    ready.document.set_text("[a-z]+x" * 20_000)
    qtbot.waitUntil(lambda: bool(refusals) and told[-1] == "" and "edit it" in refused[-1])
    assert set(refusals) == {ui_text("session.refusal.compiling_for_model")}
    ready.document.set_text("a+c")
    qtbot.waitUntil(lambda: can_step(ready) and ready.decoding.has_grammar)


def test_a_quick_edit_does_not_refuse_a_step_which_waits_for_the_grammar(ready, qtbot):
    refused = []
    ready.patience.setInterval(HOUR_MS)
    ready.step_allowed_changed.connect(refused.append)
    with qtbot.waitSignal(ready.compiling.compiled):
        ready.document.set_text("b")
    ready.decoding.step()
    qtbot.waitUntil(lambda: output(ready) == b"b")
    assert not any("grammar" in reason for reason in refused)


def test_a_model_process_that_died_twice_says_so_until_it_is_restarted(ready, qtbot, monkeypatch):
    monkeypatch.setattr(group, "time", SimpleNamespace(monotonic=lambda: 100.0))  # both deaths come at one moment
    refused, alarms = [], []
    ready.step_allowed_changed.connect(refused.append)
    ready.notification_raised.connect(alarms.append)
    for count in (1, 2):
        qtbot.waitUntil(lambda: ready.worker_pool.decode.pid is not None)
        os.kill(ready.worker_pool.decode.pid, signal.SIGKILL)
        qtbot.waitUntil(lambda count=count: len(alarms) == count)
    assert refused[-1] == ui_text("session.refusal.process_stopped")
    alarms[-1].action()
    qtbot.waitUntil(lambda: can_step(ready))


def test_an_autosave_that_fails_is_a_banner(session, qtbot):
    with qtbot.waitSignal(session.notification_raised) as blocker:
        session.document.autosave_failed.emit("No space left on device")
    assert "No space left" in blocker.args[0].text


def test_within_a_budget_looking_around_and_a_killed_process_change_no_token(session, qtbot):
    text = 'root ::= "[" (root ("," root)*)? "]" | ("ab" | [0-9]){1,5}'
    pipeline, sampler = PipelineSettings(budget=True), SamplerSettings(seed=4)
    expected = generate(
        compile_grammar("gbnf", text), letters(), sampler=sampler, max_tokens=24, pipeline=pipeline
    ).output
    session.start()
    session.document.replace(
        DocumentFile(
            grammar=GrammarPart("gbnf", text),
            model=ModelPart("letters"),
            sampler=sampler,
            max_tokens=24,
            pipeline=pipeline,
        )
    )
    qtbot.waitUntil(lambda: can_step(session) and has_workers(session))
    position = lambda: session.decoding.view.position  # noqa: E731 - read anew after each answer
    for turn in range(200):
        if position().finish is not None:
            break
        index = position().index
        session.decoding.step()
        qtbot.waitUntil(lambda index=index: position().index == index + 1)
        session.decoding.queries.look_up("1", print)
        if turn % 5 == 1:
            session.decoding.back()
            qtbot.waitUntil(lambda index=index: position().index == index)
        if turn == 7:
            before = output(session)
            with qtbot.waitSignal(session.notification_raised):
                os.kill(session.worker_pool.decode.pid, signal.SIGKILL)
            qtbot.waitUntil(lambda before=before: output(session) == before and can_step(session))
    assert output(session) == expected
