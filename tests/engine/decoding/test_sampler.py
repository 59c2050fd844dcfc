"""The three distributions of a step and the draw from the last."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.processors import log_sum_exp, softmax
from engine.decoding.sampler import decide
from engine.decoding.values import SamplerSettings
from engine.source import InvariantError

PLAIN = SamplerSettings()


def bools(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.bool_)


@given(seed=st.integers(0, 10**6), width=st.integers(2, 200), share=st.floats(0.05, 1.0))
def test_masking_leaves_the_ratio_of_any_two_allowed_tokens_as_the_model_had_it(seed, width, share):
    random = np.random.default_rng(seed)
    allowed = random.random(width) < share
    allowed[seed % width] = True
    decision = decide(random.normal(0, 5, width).astype(np.float32), allowed, (), PLAIN)
    assert decision.z == pytest.approx(decision.p[allowed].sum())
    assert decision.p_masked.sum() == pytest.approx(1)
    assert not decision.p_masked[~allowed].any()
    np.testing.assert_allclose(decision.p_masked[allowed] * decision.z, decision.p[allowed], rtol=1e-9)
    ratios = decision.p[allowed][:, None] / decision.p[allowed][None, :]
    np.testing.assert_allclose(decision.p_masked[allowed][:, None] / decision.p_masked[allowed][None, :], ratios)


def test_the_divergence_is_minus_the_logarithm_of_the_mass():
    decision = decide(np.log([0.5, 0.25, 0.25]), bools(0, 1, 1), (), PLAIN)
    assert decision.z == pytest.approx(0.5)
    assert decision.kl == pytest.approx(np.log(2))
    assert decision.p_masked.tolist() == pytest.approx([0, 0.5, 0.5])


def test_all_allowed_removes_exactly_nothing():
    decision = decide(np.random.default_rng(1).normal(0, 9, 500), np.ones(500, dtype=np.bool_), (), PLAIN)
    assert decision.z == 1.0
    assert decision.kl == 0.0


@given(seed=st.integers(0, 10**6), gap=st.floats(-40, 900))
def test_dividing_by_the_mass_says_what_logarithms_say(seed, gap):
    random = np.random.default_rng(seed)
    logits, allowed = random.normal(0, 4, 60), random.random(60) < 0.5
    allowed[0] = True
    logits[~allowed] += gap
    decision = decide(logits, allowed, (), PLAIN)
    np.testing.assert_allclose(decision.p_masked, softmax(np.where(allowed, logits, -np.inf)), rtol=1e-9, atol=1e-290)
    divergence = log_sum_exp(logits) - log_sum_exp(logits[allowed])
    assert decision.kl == pytest.approx(divergence, rel=1e-9, abs=1e-12)
    assert decision.z == pytest.approx(np.exp(-divergence))


def test_underflowing_tokens_keep_their_proportions():
    logits = np.array([5000.0, 0.0, np.log(3.0)])
    decision = decide(logits, bools(0, 1, 1), (), PLAIN)
    assert decision.z == 0.0
    assert decision.kl == pytest.approx(5000 - np.log(4))
    assert decision.p_masked.tolist() == pytest.approx([0, 0.25, 0.75])
    drawn = [decision.draw(seed, 0) for seed in range(400)]
    assert set(drawn) == {1, 2}
    assert drawn.count(2) == pytest.approx(300, abs=40)


@pytest.mark.parametrize("settings", [PLAIN, SamplerSettings(temperature=0), SamplerSettings(top_p=0.5, min_p=0.1)])
@pytest.mark.parametrize(
    "logits",
    [
        [0.0, -np.inf, -np.inf],
        [-np.inf, -np.inf, -np.inf],
        [np.nan, np.nan, np.nan],
        [np.inf, 0.0, 0.0],
        [np.nan, -np.inf, np.nan],
    ],
)
def test_allowed_tokens_that_the_model_rules_out_are_still_drawn(logits, settings):
    decision = decide(np.array(logits), bools(0, 1, 1), (), settings)
    for array in (decision.p, decision.p_masked, decision.p_sampled):
        assert np.isfinite(array).all()
    assert decision.z == 0
    assert decision.kl == np.inf
    assert decision.p_sampled.sum() == pytest.approx(1)
    assert decision.draw(0, 0) in {1, 2}


def test_nothing_allowed_is_all_zero_and_cannot_be_drawn():
    decision = decide(np.zeros(3), bools(0, 0, 0), (), PLAIN)
    assert decision.z == 0
    assert not decision.p_masked.any()
    assert not decision.p_sampled.any()
    with pytest.raises(ValueError, match="nothing is allowed"):
        decision.draw(0, 0)


def test_logits_may_be_wider_or_narrower_than_the_vocabulary():
    wide = decide(np.zeros(5), bools(1, 1, 0), (), PLAIN)
    assert wide.p.tolist() == pytest.approx([0.2] * 5)
    assert wide.z == pytest.approx(0.4)
    assert wide.p_masked.tolist() == pytest.approx([0.5, 0.5, 0, 0, 0])
    narrow = decide(np.zeros(2), bools(1, 1, 1), (), PLAIN)
    assert narrow.p.tolist() == [0.5, 0.5, 0]


def test_a_draw_depends_on_seed_and_step_alone():
    decision = decide(np.zeros(1000), np.ones(1000, dtype=np.bool_), (), PLAIN)
    assert decision.draw(3, 5) == decision.draw(3, 5)
    assert len({decision.draw(3, index) for index in range(50)}) > 40
    assert len({decision.draw(seed, 5) for seed in range(50)}) > 40


def test_draws_follow_the_distribution():
    decision = decide(np.log([0.7, 0.2, 0.1]), bools(1, 1, 1), (), PLAIN)
    counts = np.bincount([decision.draw(seed, 0) for seed in range(3000)], minlength=3)
    assert counts / 3000 == pytest.approx([0.7, 0.2, 0.1], abs=0.03)


@pytest.mark.parametrize("size", [1, 511, 512, 513, 3_000])
def test_a_draw_is_what_adding_up_one_by_one_says(size):
    random = np.random.default_rng(size)
    allowed = random.random(size) < 0.7
    allowed[size // 2] = True
    decision = decide(random.normal(0, 6, size), allowed, (), PLAIN)
    cumulative = np.cumsum(decision.p_sampled)
    for seed in range(200):
        point = np.random.default_rng((seed, 0)).random() * cumulative[-1]
        assert decision.draw(seed, 0) == np.searchsorted(cumulative, point, side="right")


def test_a_draw_has_mass_however_it_is_rounded(monkeypatch):
    class Last:
        def random(self) -> float:
            return 1.0

    monkeypatch.setattr(np.random, "default_rng", lambda _seed: Last())
    for size in (3, 512, 1_200):
        allowed = np.zeros(size, dtype=np.bool_)
        allowed[1] = True
        assert decide(np.zeros(size), allowed, (), PLAIN).draw(0, 0) == 1


def test_greedy_takes_the_best_allowed_and_the_lowest_of_equals():
    greedy = SamplerSettings(temperature=0)
    assert decide(np.array([9.0, 1.0, 2.0]), bools(0, 1, 1), (), greedy).draw(0, 0) == 2
    assert decide(np.array([9.0, 2.0, 2.0]), bools(0, 1, 1), (), greedy).p_sampled.tolist() == [0, 1, 0]


def test_greedy_minds_the_repetition_penalty():
    settings = SamplerSettings(temperature=0, repetition_penalty=2.0)
    assert decide(np.array([2.0, 1.5]), bools(1, 1), [0], settings).draw(0, 0) == 1


@pytest.mark.parametrize(
    "nonsense",
    [
        {"temperature": -1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"top_k": -1},
        {"top_p": 0},
        {"top_p": 1.5},
        {"min_p": -0.1},
        {"min_p": 2},
        {"repetition_penalty": 0},
        {"seed": -1},
    ],
)
def test_settings_refuse_nonsense(nonsense):
    with pytest.raises(InvariantError):
        SamplerSettings(**nonsense)
