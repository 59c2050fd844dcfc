"""Forced runs as the decode group takes, lists, compares and measures them."""

import ast
import json
import pickle

import pytest
from model_doubles import decode_handler
from random_model import RandomModel

from app.catalogue import ui_text
from app.workers.decode import DecodeHandler
from app.workers.requests.decode import (
    ForcedText,
    GoTo,
    OpenModel,
    SetBudget,
    SetGrammar,
    SetPipeline,
    StepOnce,
    Take,
)
from app.workers.requests.forced import (
    CompareSpellings,
    FindForced,
    ListedForm,
    ListIndex,
    MeasureStrategies,
)
from engine.compile import compile_grammar
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.forced.values import savings_of
from engine.decoding.pipeline_settings import PipelineSettings
from engine.grammar.options import CompileOptions
from engine.source import CancelledError, CancelToken
from engine.vocabulary import Vocabulary

PEOPLE = r'\{"name":"(John|Paul)","age":(20|30)\}'
SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["John", "Paul"]}, "age": {"enum": [20, 30]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
PIECES = ["na", "am", "me", "nam", "ame", "name", "John", "Paul", '{"', '":"', '","', "20", "30"]
WHOLE = [bytes((byte,)) for byte in range(256)]
WORDS = Vocabulary([*WHOLE, *(piece.encode() for piece in PIECES), None], [256 + len(PIECES)])


class Reader(RandomModel):
    """Spells texts by the longest tokens, and counts how often it is asked."""

    def encode(self, text):
        data, ids, at = text.encode(), [], 0
        while at < len(data):
            token_id = max(
                (i for i, token in enumerate(WORDS.tokens) if token and data.startswith(token, at)),
                key=lambda i: len(WORDS.tokens[i]),
            )
            ids.append(token_id)
            at += len(WORDS.tokens[token_id])
        return ids


class Worker:
    """A handler; every request and answer is pickled on the way."""

    def __init__(self):
        self.model = Reader(WORDS)
        self.handler = DecodeHandler(lambda spec, cancel: self.model)
        self.told = []
        self(OpenModel("any"))

    def __call__(self, request, cancel=None):
        assert pickle.loads(pickle.dumps(request)) == request
        return pickle.loads(pickle.dumps(self.handler.handle(request, cancel or CancelToken(), self.told.append)))

    def grammar(self, text, notation="regex", revision=1):
        self(SetGrammar(revision, notation, text, CompileOptions()))
        return self

    def output(self, view):
        return view.position.output.decode()


@pytest.fixture
def worker():
    return Worker().grammar(PEOPLE)


def with_strategy(worker, strategy):
    worker(SetPipeline(PipelineSettings(forced=strategy)))
    return worker


@pytest.mark.parametrize("strategy", ["longest", "own", "probable"])
def test_a_step_takes_a_whole_run(worker, strategy):
    with_strategy(worker, strategy)
    view = worker(StepOnce())
    outputs = [worker.output(view)]
    while view.position.finish is None:
        view = worker(StepOnce())
        outputs.append(worker.output(view))
    assert outputs[0] in ('{"name":"', '{"name":', '{"name')
    assert len(outputs) <= 6
    assert compile_grammar("regex", PEOPLE).fullmatch(outputs[-1])
    kinds = [node.step.origin for node in view.trace.nodes if node.id in view.trace.path]
    assert {"fast-forwarded", "sampler"} == set(kinds)


def test_behind_a_drawn_token_the_run_is_taken_at_once(worker):
    with_strategy(worker, "longest")
    worker(StepOnce())
    asked = len(worker.model.asked)
    view = worker(StepOnce())
    assert worker.output(view).endswith(',"age":')
    assert len(worker.model.asked) == asked + 1  # where the next choice is
    steps = [view.trace.nodes[node].step for node in view.trace.path]
    saved = savings_of(steps)
    drawn = [step for step in steps if step.origin == "sampler"]
    assert (saved.tokens, saved.forced) == (len(steps), len(steps) - len(drawn))
    # The window looked at the first place, so that was no saving.
    assert saved.calls == saved.forced - 1
    assert saved.seconds is None or saved.seconds >= 0


def test_one_by_one_nothing_is_passed_over(worker):
    with_strategy(worker, "longest")
    for count in range(1, 8):
        view = worker(StepOnce(one_by_one=True))
        assert view.position.index == count
    assert savings_of([view.trace.nodes[node].step for node in view.trace.path]).calls == 0
    view = worker(StepOnce(watched=True))
    assert view.position.index == 8


def test_without_a_strategy_nothing_changes(worker):
    view = worker(StepOnce())
    assert view.position.index == 1
    assert view.trace.nodes[0].step.origin == "sampler"


def test_what_is_forced_here_is_told_of_a_schema_too(worker):
    assert next(worker.handler.notices(CancelToken())) == ForcedText(1, None, b'{"name":"')
    worker.grammar(json.dumps(SCHEMA), "json_schema", 2)
    assert next(worker.handler.notices(CancelToken())) == ForcedText(2, None, b'{"name":"')


@pytest.mark.parametrize("notation", ["regex", "json_schema"])
def test_the_runs_of_a_grammar(worker, notation):
    if notation == "json_schema":
        worker.grammar(json.dumps(SCHEMA), "json_schema", 2)
    answer = worker(FindForced(2))
    assert answer.runs[0].data == b'{"name":"'
    assert answer.runs[-1].data in (b"0}", b"}")
    assert answer.runs[0].before == b""
    assert "".join(answer.runs[0].own) == '{"name":"'
    assert answer.runs[0].count > 8
    assert answer.states[1] < answer.states[0]
    assert answer.form is (ListedForm.COMPACT if notation == "json_schema" else ListedForm.GRAMMAR)
    matcher = compile_grammar("regex", PEOPLE).automaton
    for row in answer.runs:
        assert matcher.run(matcher.start, row.before + row.data)


def test_the_eight_ways_to_spell_name(worker):
    answer = worker(CompareSpellings(1, b"", "name"))
    assert answer.count == 8
    assert len(answer.rows) == 8
    assert {"".join(row.tokens) for row in answer.rows} == {"name"}
    assert [row.tokens for row in answer.rows if row.is_own] == [("name",)]
    assert sum(row.is_likeliest for row in answer.rows) == 1
    assert answer.rows[0].is_likeliest
    assert [row.log_p for row in answer.rows] == sorted((row.log_p for row in answer.rows), reverse=True)
    assert set(answer.following) == {b'John","age":', b'Paul","age":'}
    for row in answer.rows:
        assert sum(row.following) + row.other == pytest.approx(1)


def test_where_the_session_stands_its_own_tokens_stand_in_front(worker):
    for token_id in worker.model.encode('{"name":"J'):
        worker(Take(token_id))
    answer = worker(CompareSpellings(1, None))
    assert answer.run == b'ohn","age":'
    assert answer.part == (0, len(answer.run))
    assert answer.rows[0].log_p < 0
    assert worker(CompareSpellings(1, None, "name")).why_not == ui_text("workers.forced.no_part", part="name")
    for token_id in worker.model.encode('ohn","age":'):
        worker(Take(token_id))
    assert worker(CompareSpellings(1, None)).why_not == ui_text("workers.forced.nothing_here")


def test_a_schemas_own_place_has_spellings_too(worker):
    worker.grammar(json.dumps(SCHEMA), "json_schema", 2)
    here, listed = worker(CompareSpellings(2, None, "name")), worker(CompareSpellings(2, b"", "name"))
    assert [row.ids for row in here.rows] == [row.ids for row in listed.rows]
    assert len(here.rows) == 8
    assert {data[:4] for data in listed.following} == {b"John", b"Paul"}


def test_every_strategy_is_measured(worker):
    answer = worker(MeasureStrategies())
    assert [row.strategy for row in answer.rows] == list(STRATEGIES.names)
    none, longest = answer.rows[:2]
    assert none.calls == none.tokens
    assert longest.calls < none.calls
    assert longest.unasked == longest.tokens - longest.calls
    assert [len(told.rows) for told in worker.told] == [1, 2, 3]
    language = compile_grammar("regex", PEOPLE)
    assert all(language.fullmatch(row.text) for row in answer.rows)


def test_measuring_can_be_cancelled(worker):
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        worker(MeasureStrategies(), cancel)
    assert worker(StepOnce()).position.index == 1


def test_the_index_leads_through_every_text(worker):
    answer = worker(ListIndex(1))
    index = ast.literal_eval(answer.whole)
    assert (len(index), sum(map(len, index.values()))) == (answer.states - 1, answer.transitions)
    state = 0
    for token_id in worker.model.encode('{"name":"Paul","age":30}'):
        state = index[state][token_id]
    assert state not in index  # nothing may follow
    first = answer.shown.splitlines()[0]
    assert first.startswith("0: {")
    assert '{"' in first


def test_what_cannot_be_listed_is_told(worker):
    worker.grammar('root ::= "(" root? ")"', "gbnf", 2)
    for request in (FindForced(2), ListIndex(2)):
        assert worker(request).why_not == ui_text("workers.forced.needs_stack")
    assert worker(CompareSpellings(2, None)).run == b"("
    worker.grammar('root ::= <[97]> "b"', "gbnf", 3)
    for request in (FindForced(3), ListIndex(3)):
        assert worker(request).why_not == ui_text("workers.forced.names_tokens")
    worker(SetBudget(0))
    assert worker(CompareSpellings(3, None)).why_not == ui_text("workers.forced.nothing_here")
    assert decode_handler().handle(FindForced(1), CancelToken(), print).error


def test_going_back_into_a_run(worker):
    with_strategy(worker, "longest")
    view = worker(StepOnce())
    view = worker(GoTo(view.trace.path[0]))
    assert view.position.index == 1
    assert worker.output(worker(StepOnce())) == '{"name":"'
