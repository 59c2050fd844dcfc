"""Decisions where the source returns a part of its distribution, against those of the full one.

Every number must be that of the full distribution, or bounds of it, or unknown.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.decoding import candidates
from engine.decoding.answer import Answer, priced, weighed
from engine.decoding.partial import decide_answer, effects, sure_draw
from engine.decoding.processors import Bias, Masking, MinP, Temperature, TopK, TopP
from engine.decoding.processors.partial_logits import PartialLogits
from engine.decoding.sampler import decide, draw_point, entropy, waterfall
from engine.decoding.values import SamplerSettings, masked_share
from engine.models import ModelError
from engine.vocabulary import Vocabulary
from tests.support.error_keys import raises_key
from tests.support.partial_source import PricingSource, WeighingSource, best_only, log_probabilities
from tests.support.random_model import GivenModel

PLAIN, GREEDY = SamplerSettings(), SamplerSettings(temperature=0)
CLOSE = {"rtol": 1e-4, "atol": 2e-6}  # of log-probabilities in float32

seeds = st.integers(0, 2**32)


def words(size: int) -> Vocabulary:
    return Vocabulary([f"t{index}".encode() for index in range(size)], [size - 1])


@st.composite
def cases(draw):
    """Draw full logits, how many of the best are listed, and a mask."""
    random = np.random.default_rng(draw(seeds))
    width = draw(st.integers(2, 60))
    logits = random.normal(0, draw(st.floats(0.1, 9)), width).astype(np.float32)
    if draw(st.booleans()):
        logits[random.random(width) < 0.2] = -np.inf
        logits[int(random.integers(width))] = 0.0
    allowed = random.random(width) < draw(st.floats(0.02, 1.0))
    allowed[int(random.integers(width))] = True
    return logits, draw(st.integers(1, width)), allowed


samplers = st.builds(
    SamplerSettings,
    temperature=st.sampled_from([1.0, 1.0, 0.0, 0.5, 2.0, 0.05]),
    top_k=st.sampled_from([0, 0, 1, 3, 10]),
    top_p=st.sampled_from([1.0, 1.0, 0.3, 0.9]),
    min_p=st.sampled_from([0.0, 0.0, 0.05, 0.5]),
)


def stages_of(sampler: SamplerSettings, allowed: np.ndarray, order: list[int]):
    every = [
        ("mask", Masking(allowed)),
        ("bias", Bias(words(allowed.shape[0]), {0: 2.0, 1: -1.5})),
        *([] if sampler.is_greedy or sampler.temperature == 1 else [("temperature", Temperature(sampler.temperature))]),
        *([("top-k", TopK(sampler.top_k))] if sampler.top_k and not sampler.is_greedy else []),
        *([("top-p", TopP(sampler.top_p))] if sampler.top_p < 1 and not sampler.is_greedy else []),
        *([("min-p", MinP(sampler.min_p))] if sampler.min_p and not sampler.is_greedy else []),
    ]
    return [every[index] for index in order if index < len(every)]


def is_inside(bounds, number: float) -> bool:
    return bool(bounds.low - 3e-6 <= number * (1 + 1e-4) + 1e-9 and number * (1 - 1e-4) <= bounds.high + 3e-6)


@settings(max_examples=300)
@given(cases(), samplers, st.permutations(range(6)), st.booleans())
def test_every_number_is_that_of_the_full_distribution_or_has_bounds_around_it(case, sampler, order, has_default_order):
    logits, listed, allowed = case
    order = list(range(6)) if has_default_order else order
    stages = stages_of(sampler, allowed, order)
    full = decide(logits, allowed, (), sampler, stages)
    part = decide_answer(Answer.of(best_only(logits, listed)), allowed, (), sampler, stages)
    if part.unknown is None:  # all were listed
        np.testing.assert_allclose(part.p, full.p, **CLOSE)
        return
    for mine, other in ((part.p, full.p), (part.p_masked, full.p_masked)):
        known = ~np.isnan(mine)
        np.testing.assert_allclose(mine[known], other[known], **CLOSE)
    assert part.wanted_id == int(np.nanargmax(part.logits))
    assert is_inside(part.unknown.z, full.z)
    if part.z is not None:
        assert part.z == pytest.approx(full.z, rel=1e-4, abs=2e-6)
    assert is_inside(part.unknown.entropy, entropy(full.p, full.logits))
    hidden = np.isnan(part.p)
    assert is_inside(part.unknown.mass, full.p[hidden].sum())
    assert full.p[hidden].max(initial=0.0) <= part.unknown.most * (1 + 1e-5)
    if has_ties(logits):  # rounding to float32 may change what a filter keeps
        return
    if part.unknown.can_sample:
        np.testing.assert_allclose(part.p_sampled, full.p_sampled, **CLOSE)
    assert not full.p_sampled[part.p_sampled == 0].any()


def has_ties(logits: np.ndarray) -> bool:
    finite = np.sort(logits[logits > -np.inf])
    return bool((np.diff(finite) < 1e-4).any())


@settings(max_examples=60)
@given(cases(), samplers)
def test_the_rows_of_the_table_are_those_of_the_full_distribution_as_far_as_they_are_known(case, sampler):
    logits, listed, allowed = case
    vocabulary = words(logits.shape[0])
    full = decide(logits, allowed, (), PLAIN)
    part = decide_answer(Answer.of(best_only(logits, listed)), allowed, (), PLAIN)
    rows = {row.token_id: row for row in candidates.table(full, vocabulary)}
    for row in candidates.table(part, vocabulary):
        other = rows[row.token_id]
        assert row.allowed == other.allowed
        assert row.p is None or row.p == pytest.approx(other.p, rel=1e-4, abs=2e-6)
        assert row.p is not None or other.p <= row.p_most * (1 + 1e-5)
        assert (row.p_masked is None) == (row.masked_bounds is not None)
        if row.masked_bounds is not None:
            assert is_inside(row.masked_bounds, other.p_masked)


@settings(max_examples=60)
@given(cases())
def test_the_effects_of_stages_are_those_of_the_full_distribution_or_unknown(case):
    logits, listed, allowed = case
    sampler = SamplerSettings(temperature=0.7, top_k=3)
    full = decide(logits, allowed, (), sampler)
    part = decide_answer(Answer.of(best_only(logits, listed)), allowed, (), sampler)
    if part.unknown is None:
        return
    other = {effect.name: effect for effect in waterfall(full.p, full.stages, full.p_sampled)}
    for effect in effects(part):
        for name in ("removed", "left", "mass", "moved"):
            mine = getattr(effect, name)
            assert mine is None or mine == pytest.approx(getattr(other[effect.name], name), rel=1e-3, abs=1e-5)


def answer_of(probabilities: list[float | None]) -> Answer:
    return Answer.of(np.log(np.array([np.nan if p is None else p for p in probabilities], dtype=np.float32)))


def bools(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.bool_)


def test_a_mask_that_allows_listed_tokens_alone_leaves_nothing_unknown():
    decision = decide_answer(answer_of([0.5, 0.2, 0.1, None, None]), bools(0, 1, 1, 0, 0), (), PLAIN)
    assert decision.z == pytest.approx(0.3)
    assert decision.kl == pytest.approx(-np.log(0.3))
    assert decision.p_masked.tolist() == pytest.approx([0, 2 / 3, 1 / 3, 0, 0])
    assert decision.unknown.can_sample
    assert decision.draw(0, 0) in (1, 2)


def test_an_unknown_allowed_token_has_bounds_and_prevents_a_draw():
    decision = decide_answer(answer_of([0.5, 0.2, 0.12, None, None]), bools(0, 1, 1, 1, 0), (), PLAIN)
    assert decision.z is None
    assert decision.kl is None
    low, high = decision.unknown.z  # 0.18 on two tokens of 0.12 at most
    assert (low, high) == pytest.approx((0.32 + 0.06, 0.32 + 0.12), abs=1e-5)
    assert not decision.unknown.can_sample
    assert np.isnan(decision.p_sampled).tolist() == [False, True, True, True, False]


def test_bounds_that_meet_make_the_mass_and_the_known_tokens_certain():
    decision = decide_answer(answer_of([0.5, 0.2, 0.1, None, None]), bools(0, 1, 1, 1, 0), (), PLAIN)
    assert decision.z == pytest.approx(0.3 + 0.1, rel=1e-5)  # 0.2 on two tokens of 0.1 at most
    assert decision.p_sampled == pytest.approx([0, 0.2 / 0.4, 0.1 / 0.4, np.nan, 0], rel=1e-4, nan_ok=True)
    assert not decision.unknown.can_sample


def test_without_a_mask_the_allowed_mass_is_one():
    decision = decide_answer(answer_of([0.5, 0.2, None, None]), bools(1, 1, 1, 1), (), PLAIN)
    assert decision.z == 1.0
    assert decision.kl == 0.0


def test_greedy_takes_a_listed_token_that_nothing_can_exceed():
    allowed = bools(0, 1, 0, 1)
    decision = decide_answer(answer_of([0.5, 0.2, None, None]), allowed, (), GREEDY)
    assert decision.unknown.can_sample
    assert decision.draw(0, 0) == 1
    unsure = decide_answer(answer_of([0.5, 0.2, None, None]), bools(0, 0, 1, 1), (), GREEDY)
    assert not unsure.unknown.can_sample


@pytest.mark.parametrize("sampler", [SamplerSettings(top_k=2), SamplerSettings(top_p=0.6), SamplerSettings(min_p=0.5)])
def test_filters_that_keep_listed_tokens_make_the_draw_exact(sampler):
    decision = decide_answer(answer_of([0.5, 0.3, 0.05, None, None]), bools(1, 1, 1, 1, 1), (), sampler)
    assert decision.unknown.can_sample
    assert decision.p_sampled.tolist() == pytest.approx([0.625, 0.375, 0, 0, 0])


@pytest.mark.parametrize("sampler", [SamplerSettings(top_k=4), SamplerSettings(top_p=0.9), SamplerSettings(min_p=0.05)])
def test_filters_that_may_keep_unknown_tokens_are_not_applied(sampler):
    decision = decide_answer(answer_of([0.5, 0.3, 0.05, None, None]), bools(1, 1, 1, 1, 1), (), sampler)
    assert not decision.unknown.can_sample
    assert decision.unknown.stopped_at in ("top-k", "top-p", "min-p")


def test_a_penalty_needs_the_logits_themselves():
    sampler = SamplerSettings(repetition_penalty=1.5)
    decision = decide_answer(answer_of([0.5, 0.3, None, None]), bools(1, 1, 0, 0), [0], sampler)
    assert decision.unknown.stopped_at == "repetition-penalty"
    assert not decision.unknown.can_sample


def test_allowed_tokens_that_the_source_rules_out_are_equally_likely():
    answer = Answer.of(np.array([-0.1, -np.inf, -np.inf, np.nan], dtype=np.float32))
    decision = decide_answer(answer, bools(0, 1, 1, 0), (), PLAIN)
    assert decision.z == 0
    assert decision.p_masked.tolist() == pytest.approx([0, 0.5, 0.5, 0])
    assert decision.draw(0, 0) in (1, 2)


def test_a_list_that_ends_in_a_sentinel_says_that_the_rest_has_no_mass():
    answer = Answer.of(np.array([-0.5, -0.93, -9999.0, np.nan], dtype=np.float32))
    decision = decide_answer(answer, bools(0, 1, 0, 1), (), PLAIN)
    assert decision.z == pytest.approx(np.exp(-0.93))
    nothing = decide_answer(answer, bools(0, 0, 1, 1), (), PLAIN)
    assert nothing.z is None
    assert nothing.unknown.z == (0, 0)
    assert not nothing.unknown.can_sample


def test_priced_tokens_are_known_and_have_no_rank():
    full = np.log(np.array([0.5, 0.2, 0.1, 0.1, 0.06, 0.04]))
    source = PricingSource(GivenModel(words(6), full), listed=2)
    answer = Answer.of(source.logits([0]))
    assert answer.unknown_of(np.array([1, 4, 5])).tolist() == [4, 5]
    answer = priced(answer, source, [0], np.array([1, 4, 5]))
    assert source.asked == [("list",), ("price", 4, 5)]
    decision = decide_answer(answer, bools(0, 1, 0, 0, 1, 1), (), PLAIN)
    assert decision.z == pytest.approx(0.3)
    ranks = {row.token_id: row.rank for row in candidates.table(decision, source.vocabulary)}
    assert ranks == {0: 1, 1: 2, 4: None, 5: None}
    assert decision.unknown.most == pytest.approx(0.2)
    assert decision.unknown.mass == pytest.approx((0.2, 0.2), abs=1e-5)


def test_greedy_takes_the_best_of_priced_tokens_although_unknown_ones_may_be_more_probable():
    source = PricingSource(GivenModel(words(6), np.log(np.array([0.5, 0.2, 0.1, 0.1, 0.06, 0.04]))), listed=2)
    answer = priced(Answer.of(source.logits([0])), source, [0], np.array([4, 5]))
    assert decide_answer(answer, bools(0, 0, 0, 0, 1, 1), (), GREEDY).draw(0, 0) == 4


def test_numbers_that_are_no_distribution_are_refused():
    with raises_key(ModelError, "errors.decoding.partial.nothing_known"):
        Answer.of(np.full(3, np.nan, dtype=np.float32))
    with raises_key(ModelError, "errors.decoding.partial.total"):
        Answer.of(np.array([1.0, 0.5, np.nan], dtype=np.float32))


def test_a_full_answer_is_decided_as_before():
    logits = np.random.default_rng(0).normal(0, 4, 100).astype(np.float32)
    allowed = np.random.default_rng(1).random(100) < 0.5
    full, same = decide(logits, allowed, (), PLAIN), decide_answer(Answer.of(logits), allowed, (), PLAIN)
    assert same.unknown is None
    assert np.array_equal(full.p_sampled, same.p_sampled)
    assert (full.z, full.kl) == (same.z, same.kl)


def test_the_share_after_the_mask_is_unknown_where_the_mass_is():
    assert masked_share(0.2, None) is None
    assert masked_share(0.2, 0.5) == pytest.approx(0.4)
    assert log_probabilities(np.zeros(4)).tolist() == pytest.approx([-np.log(4)] * 4)


@settings(max_examples=60)
@given(cases(), samplers, st.integers(0, 5))
def test_with_the_mass_of_a_mask_the_numbers_and_the_draws_are_those_of_the_full_distribution(case, sampler, seed):
    logits, listed, allowed = case
    full = decide(logits, allowed, (), sampler)
    source = WeighingSource(GivenModel(words(logits.shape[0]), logits), listed)
    assume(full.z > 1e-20)
    answer = weighed(Answer.of(best_only(logits, listed)), source, [0], allowed)
    found = decide_answer(answer, allowed, (), sampler)
    assert found.z == pytest.approx(full.z, rel=1e-4)
    for mine, other in ((found.p_masked, full.p_masked), (found.p_sampled, full.p_sampled)):
        known = ~np.isnan(mine)
        np.testing.assert_allclose(mine[known], other[known], **CLOSE)
    assert not np.isnan(found.p[int(np.argmax(np.where(allowed, full.p, -1.0)))])
    if found.left is not None and not found.unknown.can_sample and not sampler.is_greedy:
        drawn = [sure_draw(found.left, seed, index) for index in range(8)]
        assert all(one in (None, full.draw(seed, index)) for index, one in enumerate(drawn))


def test_a_draw_is_sure_where_the_unknown_tokens_cannot_move_its_point():
    p = np.array([0.3, 0.001, 0.3, 0.001, 0.398])
    left = PartialLogits(np.where(p > 0.01, np.log(p), np.nan), np.log(0.001), 2.0, 2.0)
    drawn = [sure_draw(left, 0, index) for index in range(60)]
    points = [draw_point(0, index) for index in range(60)]
    assert drawn.count(None) < 3
    assert all(
        one in (None, [0, 2, 4][int(np.searchsorted([0.301, 0.602], at))])
        for one, at in zip(drawn, points, strict=True)
    )
