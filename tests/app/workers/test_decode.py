import functools
import pickle
import platform
import sys
import weakref
from dataclasses import replace

import psutil
import pytest
from model_doubles import EOS, letters, load

from app.catalogue import ui_text
from app.workers.decode import DecodeHandler, return_free_memory
from app.workers.protocol import sentence
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import (
    Back,
    Begin,
    GoTo,
    Lookup,
    OpenModel,
    Restart,
    RestoreTrace,
    SampleMany,
    SetBudget,
    SetGrammar,
    SetPrompt,
    SetSampler,
    StepOnce,
    Take,
    Why,
)
from app.workers.requests.export import ExportWithModel
from engine.decoding.values import Chat, EosState, Finish, SamplerSettings
from engine.grammar.options import CompileOptions
from engine.matching.explanation import Reason
from engine.models.source import ModelError
from engine.models.uniform import UniformSource
from engine.source import CancelledError, CancelToken
from engine.source.cancel import check_cancelled
from engine.vocabulary import Vocabulary

A, B = ord("a") - 0x20, ord("b") - 0x20


class Worker:
    """A handler, asked as the loop asks it; every answer is pickled on the way, as in a pipe."""

    def __init__(self, loader=load):
        self.handler = DecodeHandler(self.load)
        self.loader = loader
        self.models = []
        self.told = []

    def load(self, spec, cancel):
        self.models.append(self.loader(spec, cancel))
        return self.models[-1]

    def __call__(self, request, cancel=None):
        assert pickle.loads(pickle.dumps(request)) == request
        return pickle.loads(pickle.dumps(self.handler.handle(request, cancel or CancelToken(), self.told.append)))


def grammar(text, revision=1):
    return SetGrammar(revision, "regex", text, CompileOptions())


def count_of_logits(worker, monkeypatch):
    """A list that grows with every question to the model."""
    model, asked = worker.models[-1], []
    plain = model.logits
    monkeypatch.setattr(model, "logits", lambda ids: asked.append(len(ids)) or plain(ids), raising=False)
    return asked


@pytest.fixture
def worker():
    worker = Worker()
    worker(grammar("a+b"))
    worker(OpenModel("letters"))
    return worker


def test_without_a_model_a_step_is_refused_in_a_sentence():
    view = Worker()(StepOnce())
    assert view.model is None
    assert view.error == ui_text("workers.decode.no_model")


def test_a_model_that_was_replaced_is_not_kept():
    models = []

    def load(spec, cancel):
        model = letters(spec)
        models.append(weakref.ref(model))
        return model

    handler = DecodeHandler(load)
    for request in (grammar("a+b"), OpenModel("first"), StepOnce(watched=True), StepOnce(), OpenModel("second")):
        handler.handle(request, CancelToken(), lambda _value: None)
    assert [model() is None for model in models] == [True, False]


@pytest.mark.skipif(sys.platform != "linux" or platform.libc_ver()[0] != "glibc", reason="only glibc keeps free memory")
def test_free_memory_is_returned_to_the_system():
    this, size = psutil.Process(), 100_000  # bytes: below the size from which glibc maps each block by itself
    blocks = [bytearray(size) for _ in range(4_000)]
    last = blocks.pop()
    held = this.memory_info().rss
    blocks.clear()
    return_free_memory()
    assert len(last) == size
    assert held - this.memory_info().rss > 200_000_000


def test_a_model_is_summed_up_and_the_position_computed():
    worker = Worker()
    worker(grammar("a+b", revision=3))
    view = worker(OpenModel("letters"))
    assert (view.model.name, view.model.spec) == ("Letters", "letters")
    assert (view.grammar_revision, view.position.allowed) == (3, 2)
    assert view.position.eos is EosState.NOT_YET


def test_steps_take_back_and_restart(worker):
    assert worker(Take(A)).position.output == b"a"
    assert worker(Take(B)).position.accepting
    assert worker(Back()).position.output == b"a"
    view = worker(Restart())
    assert view.position.index == 0
    assert len(view.trace.nodes) == 2


def test_the_sampler_steps_to_the_end_and_then_stays(worker):
    while (view := worker(StepOnce())).position.finish is None:
        assert not view.error
    assert view.position.finish is Finish.STOP
    assert worker(StepOnce()).trace == view.trace


def test_taking_a_forbidden_token_explains_it_instead(worker):
    answer = worker(Take(B))
    assert (answer.token_id, answer.explanation.reason) == (B, Reason.DEAD_BYTE)
    assert "a" in answer.prose
    assert worker(Why(EOS)).explanation.reason is Reason.NOT_ACCEPTING


def test_going_to_a_step(worker):
    first = worker(Take(A)).trace.current
    worker(Take(A))
    assert worker(GoTo(first)).position.output == b"a"
    assert worker(GoTo(None)).position.output == b""
    assert worker(GoTo(first)).error == ""


def test_a_step_whose_answer_is_forgotten_is_shown_from_memory_until_the_model_answers(worker, monkeypatch):
    for _ in range(3):
        view = worker(StepOnce())
    worker(RestoreTrace(view.trace))
    asked, told = count_of_logits(worker, monkeypatch), len(worker.told)
    view = worker(GoTo(view.trace.path[0]))
    (remembered,) = worker.told[told:]
    assert len(asked) == 1
    assert remembered.position.is_remembered
    assert not view.position.is_remembered
    assert remembered.trace.current == view.trace.current == view.trace.path[0]
    shown = {one.token_id: one.p for one in view.position.candidates}
    assert {one.token_id: pytest.approx(one.p) for one in remembered.position.candidates} == shown
    assert worker(GoTo(None)).position.index == 0
    assert len(worker.told) == told + 2


def test_another_grammar_keeps_the_legal_prefix_and_says_so(worker):
    worker(Take(A))
    worker(Take(B))
    view = worker(grammar("a{3}", revision=2))
    assert (view.position.output, view.grammar_revision) == (b"a", 2)
    assert "1 of 2" in view.note
    assert len(view.trace.illegal) == 1


def test_a_look_up_finds_what_no_table_shows(worker):
    found = worker(Lookup("=ab")).candidates
    assert [(row.token, row.allowed) for row in found] == [(b"ab", True)]


def test_a_prompt_and_a_sampler_outlive_a_model(worker):
    worker(SetPrompt("hi"))
    worker(SetSampler(SamplerSettings(temperature=0.5)))
    view = worker(OpenModel("endless"))
    assert (view.prompt, view.sampler.temperature) == ("hi", 0.5)
    assert [shown for _, shown in view.prompt_tokens] == ["h", "i"]


@pytest.mark.parametrize("prompt", ["é", Chat((("user", "hello"),))])
def test_a_prompt_that_the_model_cannot_take_stays_typed_and_stops_the_steps(worker, prompt):
    view = worker(SetPrompt(prompt))
    assert view.error
    assert (view.prompt, view.position) == (prompt, None)
    assert worker(StepOnce()).error == view.error
    assert worker(SetPrompt("hi")).position.output == b""


def test_a_prompt_is_cancelled_while_the_model_reads_it(worker, monkeypatch):
    cancel = CancelToken()

    def encode_chat(*_):  # as a chat template that takes long
        cancel.cancel()
        check_cancelled()
        raise AssertionError

    monkeypatch.setattr(worker.models[-1], "encode_chat", encode_chat, raising=False)
    with pytest.raises(CancelledError):
        worker(SetPrompt(Chat((("user", "hello"),))), cancel)
    assert worker(StepOnce()).error == ui_text("workers.decode.prompt_cancelled")
    assert worker(SetPrompt("hi")).position.output == b""


def test_a_prompt_that_only_the_next_model_can_take_waits_for_it(worker):
    worker.loader = lambda spec, _cancel: UniformSource(spec, Vocabulary([b"a", b"b", "é".encode()], []))
    assert worker(SetPrompt("é")).error
    view = worker(OpenModel("next"))
    assert (view.error, view.prompt, view.position.allowed) == ("", "é", 1)


def test_a_model_that_does_not_load_leaves_the_old_one(worker):
    view = worker(OpenModel("broken"))
    assert view.error == sentence(ModelError("errors.models.silent_pip"))
    assert view.model.spec == "letters"


def test_loading_is_cancelled_and_tells_its_progress():
    progress = []
    token = CancelToken(lambda *values: (progress.append(values), token.cancel()))
    with pytest.raises(CancelledError):
        Worker()(OpenModel("slow"), token)
    assert progress[0] == ("download", 1, 1000)


def test_only_loading_is_prepared_beside_other_jobs(worker):
    assert worker.handler.begins_in_thread(OpenModel("letters"))
    assert not worker.handler.begins_in_thread(StepOnce())


def test_many_seeds_come_one_by_one(worker):
    answer = worker(SampleMany(3, first_seed=5))
    assert answer.done
    assert [outcome.seed for outcome in answer.outcomes] == [5, 6, 7]
    assert all(outcome.matches for outcome in answer.outcomes)
    assert len(worker.told) == 6


def test_a_saved_trace_comes_back_as_it_was_without_the_model(worker, monkeypatch):
    for request in (Take(A), Take(A), Back(), StepOnce(), Back()):
        saved = worker(request).trace
    worker(Begin("", SamplerSettings(), 256))
    asked = count_of_logits(worker, monkeypatch)
    view = worker(RestoreTrace(saved))
    assert view.trace == saved
    assert {node.step.origin for node in view.trace.nodes} == {"user", "sampler"}
    assert view.position.output == b"a"
    assert len(asked) == 1  # for what stands now


def test_a_saved_trace_may_be_longer_than_the_budget(worker):
    worker(Take(A))
    saved = worker(Take(A)).trace
    worker(Begin("", SamplerSettings(), 1))
    view = worker(RestoreTrace(saved))
    assert (view.position.output, view.position.finish) == (b"aa", Finish.LENGTH)


def test_saved_steps_that_the_grammar_does_not_allow_any_more_are_marked(worker):
    worker(Take(A))
    saved = worker(Take(B)).trace
    worker(Begin("", SamplerSettings(), 256))
    worker(grammar("a{3}", revision=2))
    view = worker(RestoreTrace(saved))
    assert (view.position.output, len(view.trace.nodes), len(view.trace.illegal)) == (b"a", 2, 1)


def test_saved_steps_of_another_vocabulary_are_left_out_and_counted(worker):
    worker(Take(A))
    saved = worker(Take(A)).trace
    strange = replace(saved.nodes[1], step=replace(saved.nodes[1].step, token=b"other"))
    view = worker(RestoreTrace(replace(saved, nodes=(saved.nodes[0], strange))))
    assert view.position.output == b"a"
    assert view.note == ui_text("workers.decode.lost_steps", count=1)


# --- the budget, and what another prompt or model puts aside ---------------------------------------------------------


def test_a_budget_ends_the_steps_and_the_many_seeds_and_outlives_a_model(worker):
    worker(grammar("a*", revision=2))
    worker(SetBudget(2))
    worker(Take(A))
    view = worker(Take(A))
    assert (view.max_tokens, view.position.finish) == (2, Finish.LENGTH)
    assert {outcome.tokens <= 2 for outcome in worker(SampleMany(4)).outcomes} == {True}
    assert worker(SetBudget(3)).position.finish is None
    view = worker(OpenModel("endless"))
    assert view.max_tokens == 3
    assert max(outcome.tokens for outcome in worker(SampleMany(4)).outcomes) == 3


def test_another_prompt_puts_the_shown_path_aside(worker):
    worker(Take(A))
    worker(Take(B))
    archived = worker(SetPrompt("hi")).archived
    assert (archived.model, archived.prompt) == ("Letters", "")
    assert [(step.token, step.origin) for step in archived.steps] == [(b"a", "user"), (b"b", "user")]
    assert worker(StepOnce()).archived is None


def test_another_model_puts_the_shown_path_aside(worker):
    worker(SetPrompt("hi"))
    worker(Take(A))
    archived = worker(OpenModel("endless")).archived
    assert (archived.model, archived.prompt, len(archived.steps)) == ("Letters", "hi", 1)


def test_nothing_is_put_aside_where_nothing_was_stepped(worker):
    assert worker(SetPrompt("hi")).archived is None
    assert worker(OpenModel("endless")).archived is None


def test_a_refused_prompt_puts_nothing_aside_until_another_is_taken(worker):
    worker(Take(A))
    assert worker(SetPrompt("é")).archived is None
    assert len(worker(SetPrompt("hi")).archived.steps) == 1


def test_another_document_begins_with_nothing_of_the_old_one(worker):
    worker(Take(A))
    view = worker(Begin("é", SamplerSettings(seed=3), 7))
    assert (view.sampler.seed, view.max_tokens, view.archived) == (3, 7, None)
    assert "é" in view.prompt
    view = worker(SetPrompt("hi"))
    assert (view.error, view.archived, view.trace.nodes) == ("", None, ())


def test_the_token_index_is_exported(worker, tmp_path):
    request = ExportWithModel(CompileRequest(1, "regex", "a+b", CompileOptions()), "json", str(tmp_path / "a.json"))
    answer = worker(request)
    assert answer.error == ""
    assert (tmp_path / "a.json").stat().st_size == answer.size


def test_rules_that_nest_are_exported_as_their_automata(worker):
    nested = 'root ::= "(" root ")" | "a"'
    worker(SetGrammar(2, "gbnf", nested, CompileOptions()))
    answer = worker(ExportWithModel(CompileRequest(2, "gbnf", nested, CompileOptions()), "json"))
    assert answer.error == ""
    assert "turnstile-rule-automata" in answer.preview


def test_an_unknown_request_is_a_bug(worker):
    with pytest.raises(TypeError):
        worker.handler.handle("nonsense", CancelToken(), print)


class _Template(UniformSource):
    chat_template = True

    def encode_chat(self, messages, assistant_prefix=""):
        if not messages:
            raise ModelError("errors.models.template.refused", message="no first message")
        return [0]


def test_an_empty_chat_asks_for_a_message():
    handler = DecodeHandler(lambda _spec, _cancel: _Template("chat", letters().vocabulary))
    ask = functools.partial(handler.handle, cancel=CancelToken(), emit=lambda _value: None)
    ask(OpenModel("chat"))
    assert ask(SetPrompt(Chat(()))).error == ui_text("workers.decode.no_message")
    assert ask(SetPrompt(Chat((("user", "Hello"),)))).error == ""
    ask(SetPrompt(Chat(())))
    assert ask(OpenModel("chat")).error == ui_text("workers.decode.no_message")


def test_a_model_computes_ahead_in_a_run_until_it_ends_or_something_else_is_asked():
    worker, expected = Worker(), []
    worker(OpenModel("letters"))
    worker(grammar("[ab]{3}"))
    worker.models[-1].expect = expected.append
    worker(StepOnce(in_run=True))
    assert not expected, "draws are another token too often"
    worker(Back())
    worker(SetSampler(SamplerSettings(temperature=0.0)))
    expected.clear()
    worker(StepOnce(in_run=True))
    worker(Lookup("a"))
    worker(StepOnce(in_run=True))
    assert [(run.begin, run.end, run.form) for run in expected] == [(1, 33, "grammar"), (1, 34, "grammar")]
    worker(Back())
    assert expected.pop() is None
    worker(StepOnce())
    assert expected.pop() is None
    while worker(StepOnce(in_run=True)).position.finish is None:
        assert expected[-1] is not None
    assert expected[-1] is None
