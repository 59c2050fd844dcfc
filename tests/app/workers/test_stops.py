"""Runs stop before the token that enters a breakpoint; every answer goes through a pickle, as in a pipe."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from model_doubles import EOS, LETTERS, letters
from partial_source import DrawingSource
from random_model import RandomModel

from app.catalogue import ui_text
from app.workers.decode import DecodeHandler
from app.workers.requests.decode import (
    Back,
    GoTo,
    Lookup,
    OpenModel,
    Restart,
    SetBudget,
    SetGrammar,
    SetPipeline,
    SetPrompt,
    SetSampler,
    StepOnce,
    Take,
)
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, ConditionBreakpoint, entered
from engine.decoding.pipeline_settings import PipelineSettings, ZoneSettings
from engine.decoding.values import Bounds, SamplerSettings
from engine.grammar.options import CompileOptions
from engine.source import CancelToken
from engine.vocabulary import Vocabulary

RECORD = """{"type": "object", "properties": {"a": {"enum": [11, 22]}, "b": {"enum": [33]}, "t": {"type": "array",
"items": {"enum": [7, 8]}, "maxItems": 3}}, "required": ["b"], "additionalProperties": false}"""


def rules(*names: str) -> tuple[Breakpoint, ...]:
    return tuple(Breakpoint(BreakpointKind.RULE, name, label=name) for name in names)


class Worker:
    def __init__(
        self, notation: str, text: str, *more: bytes, pipeline: PipelineSettings | None = None, model=None
    ) -> None:
        self.model = model or letters(more=more)
        self.handler = DecodeHandler(lambda _spec, _cancel: self.model)
        self(OpenModel("letters"))
        self(SetGrammar(1, notation, text, CompileOptions()))
        if pipeline is not None:
            self(SetPipeline(pipeline))

    def __call__(self, request):
        return pickle.loads(pickle.dumps(self.handler.handle(request, CancelToken(), lambda _value: None)))

    def id_of(self, text: bytes) -> int:
        return self.model.vocabulary.tokens.index(text)

    def take(self, *texts: bytes):
        for text in texts:
            view = self(Take(self.id_of(text)))
        return view

    def step(self, *breakpoints: Breakpoint):
        view = self(StepOnce(watched=True, one_by_one=True, breakpoints=breakpoints))
        assert view.error == ""
        return view


def tokens_of(view) -> tuple[int, ...]:
    trace = view.trace
    depth = 0 if trace.current is None else trace.path.index(trace.current) + 1
    return tuple(trace.nodes[node].step.token_id for node in trace.path[:depth])


def plain_run(worker):
    """Step to the end without a breakpoint; the tokens, and what each did to the rules."""
    passages = []
    while (view := worker.step()).position.finish is None:
        passages.append(view.passage)
    return tokens_of(view), [*passages, view.passage]


BUDGET = PipelineSettings(budget=True)
GRAMMARS = [
    ("gbnf", 'root ::= "(" root ")" | "[" (root ("," root)*)? "]" | num\nnum ::= [0-9] num?\n', ("root", "num")),
    ("gbnf", 'root ::= item item item\nitem ::= "-" word\nword ::= [ab]{2}\n', ("item", "word", "absent")),
    ("gbnf", 'root ::= a | b | c\na ::= "xy"\nb ::= "xz"\nc ::= "" "q"\n', ("a", "b", "c")),
    ("json_schema", RECORD, ("", "/properties/a", "/properties/b", "/properties/t", "/properties/t/items")),
]


@pytest.mark.parametrize("pipeline", [None, BUDGET, PipelineSettings(forced="longest")])
@pytest.mark.parametrize(("notation", "text", "names"), GRAMMARS)
def test_a_run_stops_before_each_token_that_enters_and_takes_that_very_token_then(notation, text, names, pipeline):
    more = (b"((", b"[[", b'":2', b'": ', b'{"', b"-a", b"b-", b"xy", b",[")
    plain, stopping = (Worker(notation, text, *more, pipeline=pipeline) for _ in range(2))
    for worker in (plain, stopping):
        worker(SetBudget(60))
    taken, passages = plain_run(plain)
    breakpoints = rules(*names)
    at = 0
    while at < len(taken):
        met = entered(breakpoints, passages[at])
        view = stopping.step(*breakpoints)
        if met:
            assert tokens_of(view) == taken[:at]
            assert len(view.trace.nodes) == at
            assert (view.stop_before.step.token_id, view.stop_before.breakpoints) == (taken[at], met)
            assert view.passage is None
            view = stopping.step(*breakpoints)
        at += 1
        assert view.stop_before is None
        assert tokens_of(view) == taken[:at]
    assert any(entered(breakpoints, passage) for passage in passages)


def test_a_rule_at_the_very_start_is_stopped_at_once_and_then_passed():
    worker = Worker("gbnf", 'root ::= "c" "d"\n')
    stopped = worker.step(*rules("root"))
    assert (stopped.trace.nodes, stopped.trace.current, stopped.stop_before.step.token) == ((), None, b"c")
    assert worker.step(*rules("root")).stop_before is None


def test_a_token_that_ends_one_thing_and_enters_another_is_stopped_at():
    worker = Worker("json_schema", RECORD, b'":3')
    worker.take(b"{", b'"', b"b")
    drawn = set()
    for seed in range(60):  # `"` alone does not enter the property, `":3` does
        worker(Restart())
        worker.take(b"{", b'"', b"b")
        worker(SetSampler(SamplerSettings(seed=seed)))
        view = worker.step(*rules("/properties/b"))
        drawn.add(None if view.stop_before is None else view.stop_before.step.token)
        assert view.position.output == (b'{"b"' if view.stop_before is None else b'{"b')
    assert drawn == {None, b'":3'}


def test_a_repeated_rule_stops_every_time():
    worker = Worker("gbnf", 'root ::= "[" item ("," item)* "]"\nitem ::= "x"\n')
    stops = []
    for _ in range(60):
        view = worker.step(*rules("item"))
        if view.stop_before is not None:
            stops.append(view.position.output)
        if view.position.finish is not None:
            break
    assert all(output.endswith((b"[", b",")) for output in stops)
    assert len(stops) == view.position.output.count(b"x") > 0


@pytest.mark.parametrize("move", [Back(), Restart(), GoTo(None), SetPrompt("other")])
def test_a_position_that_is_left_and_reached_again_stops_again(move):
    worker = Worker("gbnf", 'root ::= "(" word\nword ::= "a"\n')
    worker.take(b"(")
    assert worker.step(*rules("word")).stop_before is not None
    worker(move)
    worker.take(b"(")
    assert worker.step(*rules("word")).stop_before is not None
    assert worker.step(*rules("word")).position.output == b"(a"


def test_questions_and_other_settings_do_not_stop_it_again():
    worker = Worker("gbnf", 'root ::= "(" word\nword ::= "a"\n')
    worker.take(b"(")
    assert worker.step(*rules("word")).stop_before is not None
    worker(Lookup("a"))
    worker(SetBudget(77))
    assert worker.step(*rules("word")).stop_before is None


def test_another_breakpoint_at_the_same_token_stops_once_more():
    worker = Worker("gbnf", 'root ::= "(" word\nword ::= letter\nletter ::= "a"\n')
    worker.take(b"(")
    assert worker.step(*rules("word")).stop_before.breakpoints == rules("word")
    assert worker.step(*rules("word", "letter")).stop_before.breakpoints == rules("word", "letter")
    assert worker.step(*rules("word", "letter")).stop_before is None


def test_every_branch_is_stopped_and_none_is_added_or_lost():
    worker = Worker("gbnf", 'root ::= ("(" | "[") word\nword ::= "ab" | "cd"\n')
    view = worker.take(b"(", b"a", b"b")
    worker(Restart())
    worker.take(b"[")
    before = worker.take(b"c").trace
    worker(Back())
    stopped = worker.step(*rules("word"))
    assert stopped.stop_before is not None
    assert (stopped.trace.nodes, stopped.trace.path) == (before.nodes, before.path)
    first = view.trace.path[0]
    worker(GoTo(first))
    assert worker.step(*rules("word")).stop_before is not None
    assert worker.step(*rules("word")).trace.current is not None


def test_in_a_zone_the_rules_are_those_of_its_grammar():
    zones = ZoneSettings(after="<<")
    worker = Worker("gbnf", 'root ::= word\nword ::= "a"\n', pipeline=PipelineSettings(zones=zones))
    worker.take(b"x", b"<", b"<")
    stopped = worker.step(*rules("word"))
    assert (stopped.position.output, stopped.stop_before.step.token) == (b"x<<", b"a")
    assert worker.step(*rules("word")).position.output == b"x<<a"


def test_a_breakpoint_that_is_off_and_a_step_by_hand_stop_nothing():
    worker = Worker("gbnf", 'root ::= "c" "d"\n')
    off = tuple(replace(one, enabled=False) for one in rules("root"))
    assert worker.step(*off).stop_before is None
    assert worker(StepOnce()).position.output == b"cd"


def test_a_rule_that_cannot_be_followed_is_refused_and_not_run_over():
    worker = Worker("gbnf", 'root ::= <a> word\nword ::= "a"\n', b"<a>")
    view = worker(StepOnce(watched=True, one_by_one=True, breakpoints=rules("word")))
    assert (view.position.output, view.trace.nodes) == (b"", ())
    assert view.error.startswith(ui_text("workers.decode.unfollowed", rule="word", reason="").partition("()")[0])
    worker(SetGrammar(2, "regex", "ab", CompileOptions()))
    assert worker.step(*rules("word")).position.output  # a regular expression has no rules, so none is run over


# --- conditions -------------------------------------------------------------------------------------------------------

WORDS = 'root ::= "(" [a-e]{12} ")"\n'
MODEL = RandomModel(Vocabulary(LETTERS, [EOS], {EOS: "<end>"}))


def stops_of(worker, *conditions):
    """Run to the end: the index of each token before which it stopped, with the conditions that were met."""
    stops = []
    while (view := worker(StepOnce(one_by_one=True, breakpoints=conditions))).position.finish is None:
        assert view.error == ""
        if (stop := view.stop_before) is not None:
            assert stop.breakpoints == ()
            stops.append((view.position.index, stop.step, stop.conditions))
    return view, stops


@pytest.mark.parametrize(
    "worker",
    [
        lambda: Worker("gbnf", WORDS, model=MODEL),
        lambda: Worker("regex", r"\([a-e]{12}\)", model=MODEL, pipeline=PipelineSettings(budget=True)),
        lambda: Worker("json_schema", '{"type": "array", "items": {"enum": [1, 22]}, "maxItems": 4}', model=MODEL),
    ],
)
def test_a_run_stops_before_each_token_of_a_small_mass_or_a_high_rank_and_then_takes_it(worker):
    plain, _ = stops_of(worker())
    mass, rank = ConditionBreakpoint("allowed-mass", 0.02), ConditionBreakpoint("rank", 20)
    view, stops = stops_of(worker(), mass, rank)
    assert tokens_of(view) == tokens_of(plain)
    steps = [plain.trace.nodes[node].step for node in plain.trace.path]
    ranks = [
        1 + sum(one > given[step.token_id] for one in given)
        for at, step in enumerate(steps)
        for given in [MODEL.logits([0, *(before.token_id for before in steps[:at])])]
    ]
    expected = [
        (at, step.token_id, (*[mass] * (step.z < 0.02), *[rank] * int(of_it > 20)))
        for at, (step, of_it) in enumerate(zip(steps, ranks, strict=True))
    ]
    found = [(at, step.token_id, tuple(one.breakpoint for one in met)) for at, step, met in stops]
    assert found == [one for one in expected if one[2]]
    assert {at: met[-1].value.low for at, _, met in stops if met[-1].breakpoint == rank} == {
        at: of_it for at, of_it in enumerate(ranks) if of_it > 20
    }


def test_a_condition_that_lasts_stops_where_it_begins_and_again_after_a_move():
    worker, budget = Worker("gbnf", WORDS), ConditionBreakpoint("budget", 5)
    worker(SetBudget(8))
    _, stops = stops_of(worker, budget)
    assert [(at, met[0].value.low) for at, _, met in stops] == [(4, 4)]
    worker(Back())
    assert worker(StepOnce(one_by_one=True, breakpoints=(budget,))).stop_before is not None


def test_a_loop_is_stopped_before_the_token_that_completes_it():
    worker = Worker("gbnf", 'root ::= "(" ("ab"){20} ")"\n')
    view, stops = stops_of(worker, ConditionBreakpoint("loop", 14))
    (index, step, (met,)) = stops[0]
    output = b"".join(node.step.token for node in view.trace.nodes[:index])
    assert (output + step.token).endswith(b"ab" * 15)
    assert (output.endswith(b"ab" * 15), met.value.low, len(stops)) == (False, 15, 1)


def test_stacks_are_counted_before_the_token():
    worker = Worker("gbnf", 'root ::= a | b | c\na ::= "xy"\nb ::= "xz"\nc ::= "x" "q"\n')
    view = worker(StepOnce(one_by_one=True, breakpoints=(ConditionBreakpoint("stacks", 2),)))
    (met,) = view.stop_before.conditions
    assert (view.position.output, met.value.low >= 3) == (b"", True)


def test_a_part_of_a_distribution_stops_where_a_condition_may_be_met():
    worker = Worker("gbnf", 'root ::= "(" [a-z]{12} ")"\n', model=DrawingSource(MODEL, listed=3))
    mass, rank = ConditionBreakpoint("allowed-mass", 0.9), ConditionBreakpoint("rank", 2)
    _, stops = stops_of(worker, mass, rank)
    values = {
        one: [met.value for _, _, all_met in stops for met in all_met if met.breakpoint == one] for one in (mass, rank)
    }
    assert all(value.low < 0.9 for value in values[mass])
    assert Bounds(4, MODEL.vocabulary.size) in values[rank]
    assert any(value.low < value.high for value in values[mass])


@pytest.mark.parametrize("name", ["allowed-mass", "rank"])
def test_a_condition_of_probabilities_is_refused_with_a_tokenizer_alone(name):
    worker = Worker("gbnf", WORDS)
    one = ConditionBreakpoint(name, 1)
    view = worker(StepOnce(one_by_one=True, breakpoints=(one,)))
    assert view.error == ui_text("workers.decode.needs_model", condition=one.kind.title)
    assert view.trace.nodes == ()
    assert worker(StepOnce(one_by_one=True, breakpoints=(replace(one, enabled=False),))).error == ""
