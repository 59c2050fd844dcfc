"""The stages between the model and the draw, as the decode group answers about them."""

import pickle
from dataclasses import replace

import pytest
from catalogue_texts import shows
from model_doubles import EOS, decode_handler

from app.catalogue import ui_text
from app.workers.decode import DecodeHandler
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import (
    Assessment,
    Begin,
    Force,
    Lookup,
    OpenModel,
    OpenOutput,
    ReplayOutput,
    ReplayQuestion,
    RestoreTrace,
    SampleMany,
    SetBudget,
    SetGrammar,
    SetPipeline,
    SetSampler,
    StepOnce,
    Take,
    TokensRequest,
    Why,
)
from engine.decoding.pipeline_settings import Afterwards, PipelineSettings, TableSettings, ZoneSettings
from engine.decoding.stage_texts import stage_title
from engine.decoding.values import Finish, SamplerSettings
from engine.grammar.options import CompileOptions
from engine.models.uniform import UniformSource
from engine.source import CancelToken
from engine.vocabulary import Vocabulary

A, B, E = (ord(char) - 0x20 for char in "abe")


class Worker:
    """A handler; every request and answer is pickled on the way."""

    def __init__(self, handler=None):
        self.handler = handler or decode_handler()
        self.told = []

    def __call__(self, request):
        assert pickle.loads(pickle.dumps(request)) == request
        return pickle.loads(pickle.dumps(self.handler.handle(request, CancelToken(), self.told.append)))

    def write(self, text):
        for char in text:
            view = self(Take(ord(char) - 0x20))
        return view


def grammar(text, revision=1):
    return SetGrammar(revision, "regex", text, CompileOptions())


@pytest.fixture
def worker():
    worker = Worker()
    worker(OpenModel("letters"))
    worker(grammar("[a-z]+"))
    return worker


def test_stages_are_put_in_place_and_come_back_with_the_view(worker):
    settings = PipelineSettings(suppress=("e",))
    view = worker(SetPipeline(settings))
    assert (view.pipeline, view.error) == (settings, "")
    assert not next(c for c in view.position.candidates if c.token_id == E).allowed
    assert worker(StepOnce()).pipeline == settings


def test_stages_that_cut_the_output_short_say_so_and_keep_the_rest(worker):
    worker.write("abe")
    view = worker(SetPipeline(PipelineSettings(suppress=("e",))))
    assert view.position.output == b"ab"
    assert view.note == ui_text("workers.decode.processors_kept", kept=2, total=3)
    assert worker(SetPipeline(PipelineSettings())).position.output == b"abe"


@pytest.mark.parametrize(
    ("settings", "stage", "says"),
    [
        (PipelineSettings(pattern="UPER"), "pattern", "unknown class UPER"),
        (PipelineSettings(static="LOWER+"), "static", "fixed positions"),
        (PipelineSettings(suppress_ids=(100_000,)), "suppress", "outside the vocabulary"),
        (PipelineSettings(table=TableSettings(((1, 1, 2), (1, 1, 3)))), "table", "two states"),
        (PipelineSettings(zones=ZoneSettings(after_token="<think>")), "grammar", "<think>"),
    ],
)
def test_a_stage_that_does_not_fit_stays_as_it_was_and_the_others_are_in_force(worker, settings, stage, says):
    before = PipelineSettings(
        pattern="LOWER+",
        static="LOWER{9}",
        suppress=("x",),
        table=TableSettings(((1, A, 1), (1, E, 1))),
        zones=ZoneSettings(after="#"),
    )
    worker(SetPipeline(before))
    view = worker(SetPipeline(replace(settings, budget=True)))
    assert [one.stage for one in view.refused] == [stage]
    assert says in view.refused[0].why
    assert view.pipeline == PipelineSettings(budget=True).with_stages_of(before, (stage,))
    assert worker(SetPipeline(view.pipeline)).refused == ()


def test_several_stages_that_do_not_fit_are_named_each(worker):
    view = worker(SetPipeline(PipelineSettings(pattern="UPER", static="LOWER+", suppress=("e",))))
    assert [one.stage for one in view.refused] == ["static", "pattern"]
    assert view.pipeline == PipelineSettings(suppress=("e",))


def test_why_names_the_stage_that_removes_a_token(worker):
    worker(SetPipeline(PipelineSettings(suppress=("e",))))
    for request in (Why(E), Take(E)):
        answer = worker(request)
        assert answer.removed_by == ("suppress", ui_text("decoding.suppressed.contains", text="e"))
    assert worker(Why(A)).removed_by is None
    assert worker(Why(EOS)).removed_by is None  # that is the grammar's own no
    assert stage_title("suppress") in worker(Lookup("=e")).verdicts[0]
    assert worker(Force(E)).note.startswith(
        ui_text("workers.decode.forced_against.processors", token="e", verdict="").partition("()")[0]
    )


def test_processors_that_leave_no_token_say_so_before_a_step(worker):
    worker(grammar("z"))
    worker(SetSampler(SamplerSettings(top_k=1)))
    order = "bias", "top-k", "grammar"
    view = worker(SetPipeline(PipelineSettings(order=order, bias=(("e", 3.0),))))
    assert (view.position.emptied_by, view.position.finish) == ("grammar", None)
    assert view.dead_end.startswith(f"the stage `{stage_title('grammar')}` leaves no token: earlier stages removed")
    assert worker(SetPipeline(PipelineSettings())).dead_end == ""


def test_a_dead_end_says_which_stage_is_empty(worker):
    worker(SetPipeline(PipelineSettings(pattern="DIGIT+")))
    view = worker(StepOnce())
    assert view.position.finish is Finish.DEAD_END
    assert f"`{stage_title('pattern')}`" in view.dead_end


def test_a_document_brings_its_stages_and_a_new_process_gets_them():
    settings = PipelineSettings(zones=ZoneSettings(after="#"), budget=True)
    first = Worker()
    first(OpenModel("letters"))
    first(grammar("[a-z]+"))
    first(Begin("", SamplerSettings(), 9, settings))
    trace = first.write("1#ab").trace
    second = Worker()
    second(Begin("", SamplerSettings(), 9, settings))
    second(OpenModel("letters"))
    second(grammar("[a-z]+"))
    view = second(RestoreTrace(trace))
    assert (view.position.output, view.position.grammar_text) == (b"1#ab", b"ab")
    assert view.pipeline == settings
    assert not view.trace.illegal


def test_stages_of_a_document_that_do_not_fit_stop_every_step_until_they_change(worker):
    for settings in (PipelineSettings(suppress_ids=(999,)), PipelineSettings(zones=ZoneSettings(after_token="<no>"))):
        view = worker(Begin("", SamplerSettings(), 9, settings))
        assert view.position is None
        assert view.pipeline == settings
        assert view.error == view.pipeline_error
        assert shows(view.pipeline_error, "workers.decode.unfit")
        assert worker(StepOnce()).error == view.pipeline_error
        mended = worker(SetPipeline(PipelineSettings()))
        assert not mended.error
        assert mended.position is not None


def test_zones_may_not_fit_only_once_there_is_a_grammar():
    worker = Worker()
    worker(Begin("", SamplerSettings(), 9, PipelineSettings(zones=ZoneSettings(after_token="<no>"))))
    worker(OpenModel("letters"))
    view = worker(grammar("a"))
    assert "<no>" in view.pipeline_error
    assert view.grammar_revision == 1
    assert worker(SetPipeline(PipelineSettings())).position.allowed == 1


def test_another_model_may_have_what_the_first_lacked():
    vocabularies = {
        "plain": Vocabulary([b"a", None], [1], {1: "<end>"}),
        "thinking": Vocabulary([b"a", None, None], [1], {1: "<end>", 2: "<think>"}),
    }
    worker = Worker(DecodeHandler(lambda spec, _cancel: UniformSource(spec, vocabularies[spec])))
    worker(grammar("a"))
    worker(Begin("", SamplerSettings(), 9, PipelineSettings(zones=ZoneSettings(after_token="<think>"))))
    assert worker(OpenModel("plain")).pipeline_error
    view = worker(OpenModel("thinking"))
    assert not view.error
    assert worker(Take(2)).position.parts == ("grammar",)


def test_what_draws_the_grammar_is_told_what_the_grammar_read(worker):
    worker(SetPipeline(PipelineSettings(zones=ZoneSettings(after="#", then=Afterwards.AGAIN))))
    free = worker(TokensRequest(1))
    assert free.total == 0  # the grammar has no say there
    worker.write("ab#c")
    assert worker(TokensRequest(1)).total == 28  # the letters, `ab` and an end
    assert worker(TokensRequest(1, b"c")).total == 28
    (found,) = (one for one in worker.handler.notices(CancelToken()) if isinstance(one, Assessment))
    assert found.verdict.is_complete


def test_a_run_through_zones_tells_passages_of_the_grammar_alone():
    worker = Worker()
    worker(OpenModel("letters"))
    worker(SetGrammar(1, "gbnf", 'root ::= "x" item\nitem ::= "y"', CompileOptions()))
    worker(SetPipeline(PipelineSettings(zones=ZoneSettings(after="#"), pattern='"a#xy"')))
    passages = [worker(StepOnce(watched=True)).passage for _ in "a#xy"]
    assert passages[0] is None
    assert passages[3] is not None
    assert "item" in {*passages[2].entered, *passages[3].left}


def test_many_seeds_run_through_the_stages(worker):
    worker(SetBudget(6))
    worker(SetPipeline(PipelineSettings(suppress=("e",), budget=True)))
    answer = worker(SampleMany(5))
    assert all(outcome.matches and "e" not in outcome.text for outcome in answer.outcomes)


def test_an_output_that_is_checked_may_think_first(worker):
    worker(SetPipeline(PipelineSettings(zones=ZoneSettings(after="#"))))
    for revision in (1, 2):  # the grammar in force, and one that was edited since
        compiled = CompileRequest(revision, "regex", "[a-z]+", CompileOptions())
        for text, is_complete in (("So: 1#ab", True), ("So: 1#a1", False), ("ab", False)):
            verdict = worker(ReplayOutput(compiled, ReplayQuestion(text))).verdict
            assert verdict.is_complete == is_complete, text
    view = worker(OpenOutput((A, ord("#") - 0x20, A)))
    assert (view.position.grammar_text, view.trace.illegal) == (b"a", frozenset())
