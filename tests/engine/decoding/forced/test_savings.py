"""What forced runs saved: a call for each token that stands where nobody had asked."""

from __future__ import annotations

from random_model import RandomModel

from engine import Vocabulary
from engine.compile import compile_grammar
from engine.decoding import PipelineSettings, SamplerSettings
from engine.decoding.fast_forward import FastForward, forced_here
from engine.decoding.forced.values import savings_of
from engine.decoding.generate import generate, sample_many
from engine.decoding.session import DecodeSession

BYTES = Vocabulary([*(bytes((byte,)) for byte in range(256)), b"name", None], [257])
GRAMMAR = compile_grammar("regex", "my name: [ab], your name: [cd]")
LONGEST = PipelineSettings(forced="longest")


def test_tokens_less_calls_is_what_is_saved():
    for seed in range(5):
        model = RandomModel(BYTES)
        made = generate(GRAMMAR, model, sampler=SamplerSettings(seed=seed), pipeline=LONGEST)
        saved = savings_of(made.steps)
        assert saved.tokens == len(made.steps)
        assert saved.calls == len(made.steps) - len(model.asked)
        assert saved.forced == saved.calls


def test_where_somebody_had_looked_no_call_was_saved():
    session = DecodeSession(GRAMMAR, RandomModel(BYTES), pipeline=LONGEST)
    fast_forward = FastForward.of(session)
    session.position()
    fast_forward.extend(session)
    first = savings_of(session.steps)
    assert first.calls == first.forced - 1
    session.restart()
    for _ in range(first.tokens):
        fast_forward.extend(session, 1)
        session.position()
    assert savings_of(session.steps).calls == 0


def test_the_time_is_that_of_the_calls_that_were_made():
    session = DecodeSession(GRAMMAR, RandomModel(BYTES), pipeline=LONGEST)
    fast_forward = FastForward.of(session)
    while session.finish is None:
        session.position()
        fast_forward.advance(session)
    saved = savings_of(session.steps)
    asked = [step.logits_ms for step in session.steps if step.was_queried]
    assert 0 < saved.seconds <= saved.calls * max(asked) / 1_000
    assert savings_of(()).seconds is None


def test_many_seeds_take_forced_runs_too():
    model = RandomModel(BYTES)
    outcomes = list(sample_many(GRAMMAR, model, seeds=range(4), pipeline=LONGEST))
    assert all(outcome.matches for outcome in outcomes)
    assert len(model.asked) <= 4 * 2 + 4


def test_what_must_come_here():
    session = DecodeSession(GRAMMAR, RandomModel(BYTES))
    assert forced_here(session) == b"my name: "
    assert forced_here(DecodeSession(None, RandomModel(BYTES))) == b""
    for byte in b"my name: ":
        session.take(byte)
    assert forced_here(session) == b""
