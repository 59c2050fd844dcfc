"""Outputs that are pasted, in the decode group's handler."""

import pytest
from model_doubles import EOS, decode_handler

from app.catalogue import ui_text
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import (
    Assessment,
    Back,
    Begin,
    ForcedText,
    OpenModel,
    OpenOutput,
    ReplayOutput,
    ReplayQuestion,
    SetGrammar,
    StepOnce,
)
from engine.compile import CompileOptions
from engine.decoding.values import SamplerSettings, StepOrigin
from engine.diagnosis.verdicts.verdict import VerdictOutcome
from engine.source import CancelledError, CancelToken

A, B, X = (ord(letter) - 0x20 for letter in "abx")


@pytest.fixture
def handler():
    handler = decode_handler()
    ask(handler, SetGrammar(1, "regex", "a+b", CompileOptions()))
    ask(handler, OpenModel("letters"))
    return handler


def ask(handler, request):
    return handler.handle(request, CancelToken(), lambda _value: None)


def question(text="", ids=None, grammar="a+b", revision=1, **more):
    compiled = CompileRequest(revision, "regex", grammar, CompileOptions())
    return ReplayOutput(compiled, ReplayQuestion(text, ids, **more))


def test_a_text_is_judged_in_the_model_s_tokens(handler):
    answer = ask(handler, question("aax", budget=4))
    assert (answer.verdict.outcome, answer.verdict.failure.place.token) == (VerdictOutcome.ILLEGAL, 2)
    assert [token.token_id for token in answer.verdict.tokens] == [A, A, X]
    assert answer.tokens_of == "Letters"


def test_the_grammar_is_the_one_in_the_editor(handler):
    assert ask(handler, question("aax", grammar="a+x", revision=2)).verdict.is_complete
    broken = ask(handler, question("aax", grammar="(a", revision=3))
    assert broken.verdict.outcome is VerdictOutcome.GRAMMAR_ERROR


def test_ids_need_a_model():
    handler = decode_handler()
    assert ask(handler, question(ids=(A,))).error == ui_text("workers.decode.ids_need_model")
    assert ask(handler, question("ab")).verdict.is_complete


def test_ids_that_are_not_there_are_told_of(handler):
    assert ask(handler, question(ids=(A, 9_999))).error.startswith("Token 2 is #9999")


def test_an_output_becomes_a_trace_and_the_old_one_stays_to_be_read(handler):
    ask(handler, StepOnce())
    view = ask(handler, OpenOutput((A, A, X, B)))
    assert view.position.output == b"aa"
    assert [node.step.origin for node in view.trace.nodes] == [StepOrigin.REPLAYED] * 4
    assert len(view.trace.illegal) == 1
    assert len(view.archived.steps) == 1
    assert ask(handler, Back()).position.output == b"a"


def assessment(handler):
    """Return the assessment among the notices about the last view; None without one."""
    found = list(handler.notices(CancelToken()))
    return next((one for one in found if isinstance(one, Assessment)), None)


def test_the_output_so_far_is_assessed(handler):
    ask(handler, Begin("", SamplerSettings(), 3))
    view = ask(handler, OpenOutput((A, A)))
    found = assessment(handler)
    assert found.is_about(view)
    assert (found.verdict.ending.used, found.verdict.ending.least_tokens, found.verdict.ending.left) == (2, 1, 1)
    assert list(handler.notices(CancelToken())) == []  # once for each view
    ask(handler, OpenOutput((A, B, EOS)))
    assert assessment(handler).verdict.is_complete
    ask(handler, SetGrammar(2, "regex", "a$b", CompileOptions()))
    assert assessment(handler) is None


def test_notices_that_were_cancelled_come_later(handler):
    view, cancel = ask(handler, OpenOutput((A, A))), CancelToken()
    notices = handler.notices(cancel)
    assert isinstance(next(notices), ForcedText)
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(notices)
    ask(handler, question("ab"))
    assert [type(one) for one in handler.notices(CancelToken())] == [ForcedText, Assessment]
    assert view.position is not None


def test_a_notice_is_about_one_step_of_one_grammar(handler):
    first = ask(handler, OpenOutput((A, A)))
    (_, found) = handler.notices(CancelToken())
    stepped, edited = ask(handler, Back()), ask(handler, SetGrammar(2, "regex", "a+b", CompileOptions()))
    assert [found.is_about(view) for view in (first, stepped, edited)] == [True, False, False]
