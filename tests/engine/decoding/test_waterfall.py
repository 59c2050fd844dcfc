"""The waterfall, held against sums over plain Python lists."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.processors import softmax
from engine.decoding.sampler import decide, entropy, waterfall
from engine.decoding.values import SamplerSettings

SETTINGS = SamplerSettings(repetition_penalty=1.3, temperature=0.7, top_k=5, top_p=0.9, min_p=0.05)


def decision(settings: SamplerSettings, seed: int = 1, size: int = 40):
    rng = np.random.default_rng(seed)
    return decide(rng.normal(0, 3, size), rng.random(size) < 0.5, [1, 2, 3], settings)


def test_the_stages_stand_in_the_samplers_order():
    names = [effect.name for effect in waterfall(*both(decision(SETTINGS)))]
    assert names == ["mask", "repetition-penalty", "temperature", "top-k", "top-p", "min-p"]
    assert [effect.name for effect in waterfall(*both(decision(SamplerSettings())))] == ["mask"]
    assert [effect.name for effect in waterfall(*both(decision(SamplerSettings(temperature=0))))] == ["mask", "greedy"]


def both(made):
    return made.p, made.stages


@given(st.integers(0, 10_000))
def test_every_effect_is_what_plain_sums_say(seed):
    made = decision(SETTINGS, seed)
    before = made.p.tolist()
    for effect, (name, logits) in zip(waterfall(*both(made)), made.stages, strict=True):
        after = softmax(logits).tolist()
        gone = [p for p, q in zip(before, after, strict=True) if p > 0 and q == 0]
        assert effect.name == name
        assert effect.removed == len(gone)
        assert effect.left == sum(q > 0 for q in after)
        assert effect.mass == pytest.approx(sum(gone))
        if any(after):
            moved = sum(abs(p - q) for p, q in zip(before, after, strict=True)) / 2
            assert effect.moved == pytest.approx(moved)
        before = after
    assert before == pytest.approx(made.p_sampled.tolist())


@given(st.integers(0, 10_000), st.sampled_from([SETTINGS, SamplerSettings(), SamplerSettings(temperature=0)]))
def test_the_last_distribution_need_not_be_reckoned_again(seed, settings):
    made = decision(settings, seed)
    plain, known = waterfall(made.p, made.stages), waterfall(made.p, made.stages, made.p_sampled)
    for mine, one in zip(known, plain, strict=True):
        assert (mine.name, mine.removed, mine.left) == (one.name, one.removed, one.left)
        assert (mine.mass, mine.moved) == pytest.approx((one.mass, one.moved))


def test_the_mask_moves_what_it_removes():
    (effect,) = waterfall(*both(decision(SamplerSettings())))
    made = decision(SamplerSettings())
    assert effect.mass == pytest.approx(1 - made.z)
    assert effect.moved == pytest.approx(effect.mass)


def test_a_temperature_removes_nothing():
    effect = waterfall(*both(decision(SamplerSettings(temperature=2.0))))[-1]
    assert (effect.name, effect.removed, effect.mass) == ("temperature", 0, 0.0)
    assert effect.moved > 0


def test_where_nothing_is_allowed_all_is_removed():
    made = decide(np.zeros(4), np.zeros(4, dtype=bool), [], SamplerSettings())
    (effect,) = waterfall(*both(made))
    assert (effect.removed, effect.left, effect.mass, effect.moved) == (4, 0, 1.0, 1.0)


@given(st.lists(st.floats(-80, 80) | st.just(-math.inf), min_size=1, max_size=30))
def test_entropy_is_what_the_definition_says(given_logits):
    logits = np.array(given_logits)
    p = softmax(logits)
    expected = -sum(x * math.log(x) for x in p.tolist() if x > 0)
    assert entropy(p, logits) == pytest.approx(expected, abs=1e-9)
