import pytest
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.generate import diverges_at, run_baseline
from engine.decoding.session import DecodeSession
from engine.decoding.values import Finish, SamplerSettings
from engine.source import CancelledError, CancelToken

LINE = compile_grammar("regex", r"[A-Z]+: [a-z]+\n")
SAMPLER = SamplerSettings(seed=4, temperature=0.8)


def written(grammar, steps=8):
    session = DecodeSession(grammar, RandomModel(), prompt="A", sampler=SAMPLER)
    while session.finish is None and len(session.steps) < steps:
        session.step()
    return session.steps


def last(steps, **options):
    *_, found = run_baseline(RandomModel(), steps, prompt="A", sampler=SAMPLER, max_tokens=12, **options)
    return found


def test_it_is_what_the_model_writes_alone():
    free = DecodeSession(None, RandomModel(), prompt="A", sampler=SAMPLER, max_tokens=12)
    while free.finish is None:
        free.step()
    found = last(written(LINE))
    assert found.free == free.steps
    assert found.finish is Finish.LENGTH


def test_it_parts_where_the_grammar_takes_another_token():
    steps = written(LINE)
    found = last(steps)
    at = found.diverges
    assert at is not None
    assert [step.token_id for step in found.free[:at]] == [step.token_id for step in steps[:at]]
    assert found.free[at].token_id != steps[at].token_id
    assert steps[at].z < 1


def test_a_grammar_that_forbids_nothing_has_the_same_twin():
    steps = written(compile_grammar("regex", r"(?s).*"))
    assert last(steps).diverges is None


def test_it_comes_step_by_step_and_can_be_cancelled():
    cancel = CancelToken()
    begun = run_baseline(RandomModel(), written(LINE), prompt="A", sampler=SAMPLER, max_tokens=12, cancel=cancel)
    assert len(next(begun).free) == 1
    assert len(next(begun).free) == 2
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(begun)


def test_where_two_texts_part():
    steps = written(LINE)
    assert diverges_at(steps, steps[:3]) is None
    assert diverges_at((), steps) is None
    assert diverges_at(steps[:2], (steps[0], steps[3])) == (None if steps[1].token_id == steps[3].token_id else 1)
