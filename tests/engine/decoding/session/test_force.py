"""A token that is forced against the grammar, and what comes after it."""

from __future__ import annotations

import pytest
from random_model import LETTERS, GivenModel, RandomModel

from engine.compile import compile_grammar
from engine.decoding.errors import FinishedError, NotAllowedError
from engine.decoding.session import DecodeSession
from engine.decoding.values import Finish, StepOrigin
from engine.matching.explanation import Reason
from engine.vocabulary import Vocabulary

WORDS = Vocabulary([b"a", b"b", b"ab", b"c", None], [4], {4: "<end>"})
A, B, C, END = 0, 1, 3, 4


def session(pattern="ab*", **options) -> DecodeSession:
    return DecodeSession(compile_grammar("regex", pattern), GivenModel(WORDS, [1, 2, 3, 4, 5]), **options)


def test_a_forced_token_is_marked_and_the_grammar_has_no_say_behind_it():
    steps = session()
    steps.take(A)
    forced = steps.force(C)
    assert (forced.origin, forced.p_masked, forced.token) == (StepOrigin.FORCED_BY_USER, 0.0, b"c")
    trace = steps.trace
    assert trace.illegal == {trace.current}
    position = steps.position()
    assert position.broken_at == 1
    assert (position.allowed, position.z, position.accepting, position.output) == (5, 1.0, False, b"ac")
    assert position.configuration == 0
    assert steps.explain(B).reason is Reason.ALLOWED
    steps.step()
    assert steps.position().broken_at == 1


def test_forcing_what_is_allowed_is_taking_it():
    steps = session()
    assert steps.force(A).origin == "user"
    assert steps.trace.illegal == frozenset()
    assert steps.position().broken_at is None


def test_going_back_mends_it():
    steps = session()
    steps.force(C)
    steps.take(B)
    steps.back()
    steps.back()
    assert steps.position().broken_at is None
    assert steps.position().allowed == 2
    assert steps.take(A).configuration != 0


def test_one_may_go_to_what_was_forced():
    steps = session()
    steps.take(A)
    steps.force(C)
    last = steps.take(B)
    node = steps.trace.current
    steps.restart()
    steps.take(A)
    steps.take(B)
    steps.go_to(node)
    assert steps.output == b"acb"
    assert steps.position().broken_at == 1
    assert steps.steps[-1] == last


def test_it_ends_with_an_end_or_with_the_budget():
    steps = session(max_tokens=3)
    steps.force(END)
    assert steps.finish is Finish.STOP
    assert not steps.position().accepting
    with pytest.raises(FinishedError):
        steps.force(A)
    steps.back()
    for token in (C, C, C):
        steps.force(token)
    assert steps.finish is Finish.LENGTH
    with pytest.raises(FinishedError):
        steps.force(A)


def test_a_dead_end_can_be_forced_open():
    steps = DecodeSession(compile_grammar("regex", "ax"), RandomModel(WORDS))
    steps.take(A)
    assert steps.finish is Finish.DEAD_END
    steps.force(B)
    assert steps.finish is None
    assert steps.output == b"ab"


def test_there_must_be_such_a_token():
    with pytest.raises(NotAllowedError):
        session().force(99)
    with pytest.raises(NotAllowedError):
        session().force(-1)


def test_another_grammar_may_allow_it():
    steps = session()
    steps.take(A)
    steps.force(C)
    steps.take(B)
    replay = steps.replace_grammar(compile_grammar("regex", "acb"))
    assert (replay.kept, replay.illegal) == (3, None)
    assert steps.trace.illegal == frozenset()
    assert steps.position().accepting
    assert steps.position().broken_at is None


def test_under_another_grammar_it_stays_forced():
    steps = session()
    steps.take(A)
    steps.force(C)
    steps.take(B)
    steps.replace_grammar(compile_grammar("regex", "a[xb]*"))
    assert steps.output == b"acb"
    assert steps.position().broken_at == 1
    steps.replace_grammar(compile_grammar("regex", "x"))
    assert steps.output == b""  # what was not forced is held against the grammar as ever


def test_a_saved_trace_holds_it():
    steps = session()
    steps.take(A)
    steps.force(C)
    steps.take(B)
    other = session()
    assert other.restore(steps.trace) == 0
    assert other.output == b"acb"
    assert other.trace.illegal == steps.trace.illegal
    other.back()
    other.back()
    assert other.position().broken_at is None


def test_without_an_end_token_the_budget_ends_it():
    steps = DecodeSession(compile_grammar("regex", "a"), RandomModel(), max_tokens=2)
    steps.force(LETTERS.index(b"b"))
    assert steps.finish is None
    steps.step()
    assert steps.finish is Finish.LENGTH


def test_a_step_keeps_what_a_look_told():
    steps = session()
    position = steps.position()
    step = steps.take(A)
    assert (step.entropy, step.mask_us, step.logits_ms) == (position.entropy, position.mask_us, position.logits_ms)
    assert [one.token_id for one in step.top] == [c.token_id for c in position.candidates][:5]
    assert [one.allowed for one in step.top] == [c.allowed for c in position.candidates][:5]
    (wanted,) = (unseen := steps.take(B)).top  # nobody looked
    assert wanted.token_id == unseen.wanted_id
