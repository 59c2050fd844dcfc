"""What a step keeps: enough to show its candidates again before the model has answered anew."""

import math

import pytest
from random_model import RandomModel

from engine import Vocabulary, compile_grammar
from engine.decoding.candidates import TOP
from engine.decoding.session import DecodeSession
from engine.decoding.values import SamplerSettings, TopTokens
from engine.source import InvariantError

WORDS = [bytes([first, second]) for first in range(97, 123) for second in range(97, 123)]  # 676 tokens
VOCABULARY = Vocabulary([*WORDS, b"1", None], [len(WORDS) + 1], {len(WORDS) + 1: "<end>"})


def session(pattern="[a-m]{40}", **options):
    model = RandomModel(VOCABULARY)
    return DecodeSession(compile_grammar("regex", pattern), model, **options), model


def stepped(steps=6, **options):
    made, model = session(**options)
    for _ in range(steps):
        made.position()
        made.step()
    made.position()
    return made, model


def test_it_is_what_the_model_says_again():
    made, model = stepped()
    trace = made.trace
    made.restore(trace)
    asked = len(model.asked)
    for node in (None, *trace.path[:-1]):
        made.go_to(node)
        remembered = made.remembered()
        assert len(model.asked) == asked
        full = made.position()
        asked = len(model.asked)
        shown = [one for one in full.candidates if one.rank <= TOP]
        assert len(remembered.candidates) == len(shown) == TOP
        for mine, one in zip(remembered.candidates, shown, strict=True):
            for fact in ("token_id", "token", "name", "rank", "allowed", "is_eos"):
                assert getattr(mine, fact) == getattr(one, fact)
            assert mine.p == pytest.approx(one.p, rel=1e-6)
            assert mine.p_masked == pytest.approx(one.p_masked, rel=1e-5)
        for number in ("z", "kl", "entropy", "allowed", "output", "index", "eos", "forced", "forced_bytes"):
            assert getattr(remembered, number) == pytest.approx(getattr(full, number)), number
        assert remembered.is_remembered
        assert not full.is_remembered
        assert made.remembered() is None  # now the full answer is at hand


def test_nothing_is_remembered_where_no_step_was_taken():
    made, _ = stepped()
    made.restore(made.trace)
    assert made.remembered() is None


def test_a_mask_of_another_grammar_is_not_mixed_with_old_numbers():
    made, _ = stepped()
    made.restore(made.trace)
    made.replace_grammar(compile_grammar("regex", "[a-z]{40}"))
    made.go_to(None)
    assert made.remembered() is None


def test_a_step_that_was_never_looked_at_keeps_nothing():
    made, _ = session()
    made.step()
    made.restore(made.trace)
    made.restart()
    assert made.remembered() is None


def test_no_mass_is_an_infinite_divergence():
    made, _ = stepped(1, pattern="1+", sampler=SamplerSettings(seed=2))
    made.restore(made.trace)
    made.restart()
    remembered = made.remembered()
    assert remembered.kl == pytest.approx(-math.log(remembered.z))


def test_nonsense_is_refused():
    with pytest.raises(InvariantError):
        TopTokens(b"\0" * 4, b"\0" * 8)
    with pytest.raises(InvariantError):
        TopTokens(b"\0" * 3, b"\0" * 3)
