"""Answers of the decode group about rules, breakpoints and the baseline; each goes through a pickle, as in a pipe."""

import pickle

import pytest
from model_doubles import EOS, decode_handler

from app.catalogue import ui_text
from app.workers.requests.decode import (
    Back,
    BreakpointAnswer,
    FindBreakpoint,
    Force,
    Lookup,
    OpenModel,
    RunBaseline,
    SetGrammar,
    StepOnce,
    Take,
)
from engine.decoding.debugging.breakpoints import BreakpointKind
from engine.decoding.values import Finish, StepOrigin
from engine.grammar.options import CompileOptions
from engine.source import CancelledError, CancelToken

A, B = ord("a") - 0x20, ord("b") - 0x20
GBNF = 'root ::= word " " word\nword ::= [ab]+\n'
SCHEMA = '{"type": "object", "properties": {"a": {"items": {"type": "null"}}}, "$defs": {"x": {"anyOf": [{}, true]}}}'


class Worker:
    def __init__(self, notation, text):
        self.handler = decode_handler()
        self.told = []
        self(OpenModel("letters"))
        self(SetGrammar(1, notation, text, CompileOptions()))

    def __call__(self, request, cancel=None):
        assert pickle.loads(pickle.dumps(request)) == request
        return pickle.loads(pickle.dumps(self.handler.handle(request, cancel or CancelToken(), self.told.append)))


def test_a_watched_step_tells_what_it_did_to_the_rules():
    worker = Worker("gbnf", GBNF)
    first = worker(StepOnce(watched=True))
    assert first.passage.entered == ("root", "word")
    assert worker(StepOnce()).passage is None
    worker(Take(0))  # the space
    assert worker(StepOnce(watched=True)).passage.entered == ("word",)


def test_an_unconstrained_step_tells_nothing():
    worker = Worker("regex", "ab")
    worker(Force(B))
    assert worker(StepOnce(watched=True)).passage is None


def test_forcing_marks_the_step_and_going_back_mends_it():
    worker = Worker("regex", "ab")
    view = worker(Force(B))
    assert view.trace.nodes[0].step.origin == StepOrigin.FORCED_BY_USER
    assert view.trace.illegal == {0}
    assert view.position.broken_at == 0
    assert "expected `a`" in view.note
    assert worker(Back()).position.broken_at is None
    assert "over" in worker(Force(999)).error or "allow" in worker(Force(999)).error


def test_a_look_up_says_legal_or_why_not():
    worker = Worker("regex", "ab")
    answer = worker(Lookup("#" + str(A)))
    assert answer.verdicts == (ui_text("generation.why.fragment.allowed"),)
    assert worker(Lookup("#" + str(B))).verdicts == (
        ui_text("workers.verdict.fragment.stops", byte="`b`", expected="`a`"),
    )
    assert worker(Lookup("#" + str(EOS))).verdicts == (ui_text("workers.verdict.fragment.not_accepting"),)
    found = worker(Lookup("ab"))
    assert len(found.verdicts) == len(found.candidates)


def test_the_baseline_comes_in_parts_and_then_whole():
    worker = Worker("regex", "[ab]{6}")
    for _ in range(3):
        worker(StepOnce())
    whole = worker(RunBaseline())
    assert whole.run.finish in (Finish.STOP, Finish.LENGTH)
    assert len(whole.run.written) == 3
    assert [len(part.run.free) for part in worker.told if hasattr(part, "run")][:2] == [4, 8]
    assert worker(StepOnce()).position.index == 4


def test_the_baseline_can_be_cancelled():
    worker, cancel = Worker("regex", "[ab]{6}"), CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        worker(RunBaseline(), cancel)
    assert worker(StepOnce()).position.index == 1


@pytest.mark.parametrize(
    ("notation", "text", "at", "kind", "name"),
    [
        ("gbnf", GBNF, GBNF.index("word"), BreakpointKind.RULE, "word"),
        ("gbnf", GBNF, 0, BreakpointKind.RULE, "root"),
        ("gbnf", GBNF, GBNF.index("[ab]"), BreakpointKind.RULE, "word"),
        ("json_schema", SCHEMA, 3, BreakpointKind.RULE, ""),
        ("json_schema", SCHEMA, SCHEMA.index('"a"') + 1, BreakpointKind.RULE, "/properties/a"),
        ("json_schema", SCHEMA, SCHEMA.index('"null"'), BreakpointKind.RULE, "/properties/a/items"),
        ("json_schema", SCHEMA, SCHEMA.index("true"), BreakpointKind.RULE, "/$defs/x/anyOf/1"),
        ("regex", "x[ab]+y", 2, BreakpointKind.POSITION, ""),
    ],
)
def test_what_a_breakpoint_at_a_place_is_on(notation, text, at, kind, name):
    answer = Worker(notation, text)(FindBreakpoint(at))
    assert (answer.breakpoint.kind, answer.breakpoint.name) == (kind, name)
    if kind is BreakpointKind.POSITION:
        assert (answer.breakpoint.offset, answer.breakpoint.label) == (1, "[ab]")


def test_where_nothing_is_read_no_breakpoint_stands():
    answer = Worker("regex", "a   # no\n")(FindBreakpoint(0))
    assert answer.breakpoint is not None
    assert Worker("regex", "(?x)a   # no\n")(FindBreakpoint(9)) == BreakpointAnswer(
        None, ui_text("workers.decode.nothing_read")
    )
