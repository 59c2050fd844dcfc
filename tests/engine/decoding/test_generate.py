"""Whole generations, one and many."""

from __future__ import annotations

import pytest
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.generate import generate, sample_many
from engine.decoding.values import Finish, SamplerSettings
from engine.source import CancelledError, CancelToken
from engine.vocabulary import Vocabulary

LINE = compile_grammar("regex", r"[A-Z]{1,3}: [a-z]{1,4}\n")


def test_a_generation_matches_and_tells_its_steps():
    made = generate(LINE, RandomModel(), sampler=SamplerSettings(seed=4))
    assert made.finish is Finish.STOP
    assert LINE.fullmatch(made.output)
    assert b"".join(step.token or b"" for step in made.steps) == made.output
    assert made == generate(LINE, RandomModel(), sampler=SamplerSettings(seed=4))


def test_many_seeds_give_what_each_gives_alone():
    model = RandomModel()
    outcomes = list(sample_many(LINE, model, seeds=range(30), max_tokens=50))
    assert [outcome.seed for outcome in outcomes] == list(range(30))
    assert all(outcome.matches and outcome.finish is Finish.STOP for outcome in outcomes)
    for outcome in outcomes[:5]:
        alone = generate(LINE, RandomModel(), sampler=SamplerSettings(seed=outcome.seed), max_tokens=50)
        assert (alone.text, len(alone.steps)) == (outcome.text, outcome.tokens)
    assert len(model.asked) == len(set(model.asked))


def test_a_text_cut_short_does_not_match():
    outcomes = list(sample_many(LINE, RandomModel(), seeds=range(3), max_tokens=3))
    assert {(outcome.finish, outcome.matches, outcome.tokens) for outcome in outcomes} == {(Finish.LENGTH, False, 3)}


def test_a_dead_end_is_an_outcome():
    outcomes = list(sample_many(compile_grammar("regex", "[A-C]é"), RandomModel(), seeds=range(3)))
    assert {(outcome.finish, outcome.matches) for outcome in outcomes} == {(Finish.DEAD_END, False)}
    assert generate(compile_grammar("regex", "é"), RandomModel()).finish is Finish.DEAD_END


def test_without_a_grammar_there_is_nothing_to_match():
    model = RandomModel(Vocabulary([b"a", b"\n", None], [2]))
    for outcome in sample_many(None, model, seeds=range(5), max_tokens=8):
        assert outcome.matches
        assert outcome.finish is (Finish.STOP if outcome.tokens < 8 else outcome.finish)


def test_it_can_be_cancelled_between_steps():
    heard = []

    def listen(what: str, done: int, total: int | None) -> None:
        heard.append((what, done, total))
        if done == 2:
            cancel.cancel()

    cancel = CancelToken(listen)
    with pytest.raises(CancelledError):
        generate(LINE, RandomModel(), cancel=cancel)
    assert heard == [("generating", 1, 256), ("generating", 2, 256)]


def test_many_can_be_cancelled_and_keep_what_was_given():
    cancel = CancelToken()
    outcomes = sample_many(LINE, RandomModel(), seeds=range(5), cancel=cancel)
    assert next(outcomes).matches
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(outcomes)
