"""The waterfall, held against sums over plain Python lists."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation import logits_process as theirs

from engine.compile import compile_grammar
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.processors import softmax
from engine.decoding.sampler import decide, entropy, waterfall
from engine.decoding.session.session import DecodeSession
from engine.decoding.values import SamplerSettings, mask_shift
from engine.matching import Matcher
from engine.models import load_model

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


@given(st.integers(0, 10_000))
def test_the_shift_by_a_mask_is_the_jensen_shannon_divergence(seed):
    made = decision(SamplerSettings(), seed)
    middle = (made.p + made.p_masked) / 2
    parts = [
        sum(one * math.log(one / mean) for one, mean in zip(p.tolist(), middle.tolist(), strict=True) if one > 0)
        for p in (made.p, made.p_masked)
    ]
    assert mask_shift(made.z) == pytest.approx(sum(parts) / 2)
    assert (mask_shift(0.0), mask_shift(1.0)) == (math.log(2), 0.0)


PIPELINE = {
    "frequency_penalty": 0.3,
    "presence_penalty": 0.2,
    "dry_multiplier": 0.5,
    "dry_allowed_length": 1,
    "typical_p": 0.95,
    "xtc_probability": 1.0,
    "xtc_threshold": 0.3,
    "mirostat": 2,
    "mirostat_tau": 2.0,
}
FILTERS = SamplerSettings(repetition_penalty=1.2, temperature=1.4, top_k=30, top_p=0.97, min_p=0.01, seed=5)


def dry_in_torch(scores, history):
    """Lower what followed the last token where that occurred before, by the length of what both have in common."""
    lengths = {}
    for end in range(len(history) - 1):
        shared = 0
        while shared <= end and history[end - shared] == history[-1 - shared]:
            shared += 1
        if shared:
            lengths[history[end + 1]] = max(lengths.get(history[end + 1], 0), shared)
    for token_id, length in lengths.items():
        scores[0, token_id] -= 0.5 * 1.75 ** (length - 1)
    return scores


def in_torch(model, matcher, history, written, mu):
    """Yield the name of each stage and the scores after it, float64[1, V], computed with torch alone."""
    ids = torch.tensor([history])
    scores = torch.from_numpy(np.array(model.logits(history), np.float64))[None]
    yield "", scores
    allowed = torch.tensor([matcher.is_allowed(token_id) for token_id in range(model.vocabulary.size)])
    scores = scores.masked_fill(~allowed, -math.inf)
    yield "grammar", scores
    scores = theirs.RepetitionPenaltyLogitsProcessor(1.2)(ids, scores)
    yield "repetition-penalty", scores
    counts = torch.bincount(torch.tensor(written, dtype=torch.long), minlength=scores.shape[1])
    scores = scores - 0.3 * counts - 0.2 * (counts > 0)
    yield "frequency-penalty", scores
    scores = dry_in_torch(scores.clone(), history)
    yield "dry", scores
    chain = [("temperature", theirs.TemperatureLogitsWarper(1.4)), ("top-k", theirs.TopKLogitsWarper(30))]
    chain += [("typical", theirs.TypicalLogitsWarper(0.95)), ("top-p", theirs.TopPLogitsWarper(0.97))]
    for name, warper in (*chain, ("min-p", theirs.MinPLogitsWarper(0.01))):
        scores = warper(ids, scores)
        yield name, scores
    p = scores.softmax(-1)
    top = p >= 0.3
    if int(top.sum()) > 1:
        scores = scores.masked_fill(top & (p > p[top].min()), -math.inf)
    yield "xtc", scores
    p = scores.softmax(-1)
    beyond = -p.log2() > mu
    if not bool((~beyond).any()):
        beyond = p < p.max()
    yield "mirostat", scores.masked_fill(beyond, -math.inf)


def test_a_token_after_each_stage_has_the_numbers_that_torch_computes_at_five_steps():
    model, grammar = load_model("records"), compile_grammar("regex", "[a-z ]{30}")
    pipeline = PipelineSettings().with_values(PIPELINE)
    session = DecodeSession(grammar, model, pipeline=pipeline, sampler=FILTERS)
    matcher, mu = Matcher(grammar, model.vocabulary), 4.0
    for _ in range(5):
        written = [step.token_id for step in session.steps]
        expected = list(in_torch(model, matcher, [*session.prompt_ids, *written], written, mu))
        order = expected[0][1][0].argsort(descending=True)[[0, 1, 5, 40]].tolist()
        best_drawn = int(expected[-1][1][0].argmax())
        for token_id in (*order, best_drawn):
            alive = True
            for stage, (name, scores) in zip(session.token_stages(token_id), expected, strict=False):
                row = scores[0]
                assert stage.name == name
                assert alive
                if stage.is_removed:
                    assert row[token_id] == -math.inf
                    alive = False
                    continue
                assert stage.logit == pytest.approx(float(row[token_id]), abs=1e-9)
                assert stage.p == pytest.approx(float(row.softmax(-1)[token_id]), rel=1e-9)
                assert stage.rank == 1 + int((row > row[token_id]).sum() + (row[:token_id] == row[token_id]).sum())
        drawn = session.step()
        mu -= 0.1 * (-math.log2(float(expected[-1][1][0].softmax(-1)[drawn.token_id])) - 2.0)
        matcher.accept(drawn.token_id)
