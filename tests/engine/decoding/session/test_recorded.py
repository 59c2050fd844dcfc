"""The trace of a log: what it knows, what follows from a grammar, and what the present model adds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from error_keys import raises_key
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.errors import FinishedError
from engine.decoding.session import DecodeSession
from engine.decoding.session.recorded import RecordedStep, recorded_trace
from engine.decoding.values import Bounds, RecordedProbability, StepOrigin
from engine.document.codec import decode, encode
from engine.document.content import DocumentFile
from engine.source import EngineError
from engine.vocabulary import Vocabulary

VOCABULARY = Vocabulary([b"a", b"b", b"c", b"ab", None], [4], {4: "<end>"})
A, B, C, AB, END = range(5)
STEPS = (
    RecordedStep(A, RecordedProbability(0.5), ((A, 0.5), (C, 0.25), (B, 0.125))),
    RecordedStep(B, RecordedProbability(0.25), ((AB, 0.5), (B, 0.25))),
    RecordedStep(END),
)


def session_of(grammar="ab?", steps=STEPS):
    session = DecodeSession(compile_grammar("regex", grammar), RandomModel(VOCABULARY))
    session.restore(recorded_trace(steps, VOCABULARY))
    return session


def test_a_log_is_opened_before_its_first_step_without_the_model():
    session = session_of()
    assert (session.output, session.model.asked) == (b"", [])
    first, second, third = (node.step for node in session.trace.nodes)
    assert {one.origin for one in (first, second, third)} == {StepOrigin.RECORDED}
    assert (first.p, first.z, first.z_bounds, first.allowed) == (0.5, None, Bounds(0.5, 0.625), 2)
    assert (second.p, second.wanted_id, second.z_bounds) == (0.25, AB, Bounds(0.25, 0.5))
    assert [one.allowed for one in first.top] == [True, False, False]
    assert (third.p, third.recorded, third.z_bounds, third.name) == (None, None, None, "<end>")
    assert third.p_masked is None


def test_each_token_of_the_log_is_taken_with_the_numbers_of_the_model_beside_it():
    session = session_of()
    for recorded in STEPS:
        p = session.candidate(recorded.token_id).p
        assert session.next_recorded.token_id == recorded.token_id
        step = session.follow_record()
        assert (step.token_id, step.p, step.origin) == (recorded.token_id, p, StepOrigin.USER)
    assert [step.recorded for step in session.steps] == [one.recorded for one in STEPS]
    assert session.next_recorded is None
    assert session.follow_record() is None
    session.back()
    session.back()
    assert session.next_recorded.recorded == STEPS[1].recorded


def test_a_token_that_the_grammar_forbids_is_forced():
    session = session_of("ac")
    assert len(session.trace.illegal) == 1
    session.follow_record()
    step = session.follow_record()
    assert (step.token_id, step.origin, session.broken_at) == (B, StepOrigin.FORCED_BY_USER, 1)


def test_another_token_leaves_the_log_and_back_returns_to_it():
    session = session_of("[abc]+")
    session.take(C)
    assert session.next_recorded is None
    session.go_to(0)
    assert session.output == b"a"
    assert session.next_recorded.token_id == B


def test_the_bounds_follow_from_another_grammar():
    session = session_of()
    session.replace_grammar(compile_grammar("regex", "[ac]+"))
    first, second = (node.step for node in session.trace.nodes[:2])
    assert (first.z_bounds, first.allowed) == (Bounds(0.75, 0.875), 2)
    assert second.z_bounds == Bounds(0.0, 0.25)


def test_probabilities_from_behind_the_mask_say_nothing_of_those_before_it():
    steps = (RecordedStep(A, RecordedProbability(0.5, is_masked=True), ((A, 0.5),)),)
    session = session_of(steps=steps)
    step = session.trace.nodes[0].step
    assert (step.p, step.p_masked, step.z, step.z_bounds, step.z_range) == (None, 0.5, None, None, None)
    assert session.follow_record().recorded == RecordedProbability(0.5, is_masked=True)


def test_the_end_of_the_generation_ends_the_log():
    session = session_of()
    session.set_max_tokens(1)
    session.follow_record()
    with pytest.raises(FinishedError):
        session.follow_record()


def test_an_id_of_another_vocabulary_is_an_error():
    with raises_key(EngineError, "errors.decoding.replayed_id"):
        recorded_trace((RecordedStep(9),), VOCABULARY)
    known = recorded_trace((RecordedStep(A, RecordedProbability(0.5), ((9, 0.5), (A, 0.25))),), VOCABULARY)
    assert [one.token_id for one in known.nodes[0].step.top] == [A]


def test_a_document_keeps_what_a_log_has():
    session = session_of()
    session.follow_record()
    content = decode(encode(DocumentFile(trace=session.trace)), "log")
    assert content.trace == session.trace


def test_the_probabilities_of_the_log_are_kept_as_they_are():
    session = session_of()
    kept = session.trace.nodes[0].step.kept
    assert np.frombuffer(kept.p, "<f4").tolist() == [0.5, 0.25, 0.125]
    assert math.isclose(sum(np.frombuffer(kept.p, "<f4")), 0.875)
