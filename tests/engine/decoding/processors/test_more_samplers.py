"""Penalties, DRY, XTC and mirostat, against slow functions written from their formulas."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from error_keys import raises_key
from hypothesis import given
from hypothesis import strategies as st

from engine.compile import compile_grammar
from engine.decoding import processors
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.processors.partial_logits import PartialLogits
from engine.decoding.processors.penalties import Dry, FrequencyPenalty, Lowered, read_breakers
from engine.decoding.processors.shaping import RepetitionPenalty, SamplingRun
from engine.decoding.processors.truncation import Mirostat, Xtc
from engine.decoding.session.session import DecodeSession
from engine.decoding.values import SamplerSettings
from engine.models import load_model
from engine.source import InvariantError
from engine.vocabulary import Vocabulary

HISTORY = [3, 5, 5, 17, 39]
WORDS = Vocabulary([b"a", b"b", b"c", b"d", b":", b"x:", b"<", b">"], eos_ids=[])


def random_logits(seed: int) -> np.ndarray:
    logits = np.random.default_rng(seed).normal(0, 4, 40)
    return np.where(np.arange(40) % 3 == seed % 3, -np.inf, logits)


@pytest.mark.parametrize("window", [1, 3, 4, 100])
def test_a_repetition_window_counts_the_last_tokens_alone(window):
    logits = random_logits(3)
    expected = processors.repetition_penalty(logits, HISTORY[-window:], 1.3)
    np.testing.assert_array_equal(RepetitionPenalty(1.3, window)(logits, HISTORY), expected)


@pytest.mark.parametrize(("window", "counted"), [(-1, [17, 39]), (0, HISTORY), (3, [5, 17, 39])])
def test_frequency_and_presence_are_those_of_the_formula(window, counted):
    logits = random_logits(5)
    expected = [
        logit - Counter(counted)[token] * 0.5 - 0.25 * (token in counted) for token, logit in enumerate(logits.tolist())
    ]
    bound = FrequencyPenalty(0.5, 0.25, window).of_run(SamplingRun(HISTORY, prompt=3))
    np.testing.assert_allclose(bound(logits, HISTORY), expected, rtol=1e-12)


def test_a_penalty_applies_to_log_probabilities_of_which_some_are_unknown():
    given_row = PartialLogits(np.array([-1.0, -2.0, np.nan]), most=-2.0, least_sum=1.0, most_sum=1.0)
    left = Lowered({0: 2.0, 9: 1.0}).on_partial(given_row)
    assert left.logits[:2].tolist() == [-3.0, -2.0]
    assert np.isnan(left.logits[2])
    assert left.most == -2.0


def plain_dry(tokens, breakers, multiplier, base, allowed):
    """Try every length at every place; texts of one byte each, so that a breaker is one token or several."""
    text = b"".join(WORDS.tokens[one] for one in tokens)
    limit = 0
    while limit < len(tokens):
        behind = b"".join(WORDS.tokens[one] for one in tokens[len(tokens) - limit - 1 :])
        cut = len(text) - len(behind)
        if any(text.find(one, at) == at for one in breakers for at in range(len(text)) if at + len(one) > cut):
            break
        limit += 1
    found = {}
    for end in range(len(tokens) - 1):
        for length in range(allowed, limit + 1):
            if end + 1 >= length and tokens[end + 1 - length : end + 1] == tokens[len(tokens) - length :]:
                follower = tokens[end + 1]
                if not any(one in WORDS.tokens[follower] for one in breakers):
                    found[follower] = max(found.get(follower, 0), multiplier * base ** (length - allowed))
    return found


@given(st.lists(st.integers(0, 7), max_size=24), st.sampled_from([(), (":",), (":", "<>")]), st.integers(1, 3))
def test_dry_is_what_trying_every_repetition_gives(tokens, breakers, allowed):
    bound = Dry(WORDS, 0.8, 1.5, allowed, breakers=breakers).of_run(SamplingRun(tokens))
    expected = plain_dry(tokens, [one.encode() for one in breakers], 0.8, 1.5, allowed)
    assert dict(bound.by) == pytest.approx(expected)


def test_dry_of_a_long_repetition_is_finite():
    assert math.isfinite(max(Dry(WORDS, 1.0, 100.0, 1).of_run(SamplingRun([0] * 500)).by.values()))


def test_sequence_breakers_are_a_list_of_texts():
    assert read_breakers('["\\n", "ab"]') == ("\n", "ab")
    assert read_breakers(json.dumps([])) == ()
    assert "\n" in read_breakers(" ")
    for wrong in ("a", "[1]", '[""]', "{}"):
        with raises_key(InvariantError, "errors.decoding.setting.dry_breakers"):
            read_breakers(wrong)


def test_xtc_keeps_the_least_probable_top_choice():
    logits = np.log([0.5, 0.2, 0.15, 0.1, 0.05])
    assert np.isfinite(Xtc(1.0, 0.15)(logits, ())).tolist() == [False, False, True, True, True]
    for nothing in (Xtc(1.0, 0.4), Xtc(1.0, 0.6), Xtc(1.0, 0.15, acts=False), Xtc(0.0, 0.15)):
        np.testing.assert_array_equal(nothing(logits, ()), logits)


def test_xtc_acts_as_often_as_it_is_told_by_seed_and_step_alone():
    acts = [Xtc(0.3, 0.1).of_run(SamplingRun([0] * index, 0, seed=7)).acts for index in range(400)]
    assert acts == [Xtc(0.3, 0.1).of_run(SamplingRun([1] * index + [2], 1, seed=7)).acts for index in range(400)]
    assert 0.2 < sum(acts) / 400 < 0.4


def plain_mirostat(logits, version, mu):
    """As llama.cpp computes it, in plain Python."""
    p = sorted(((math.exp(one), -token) for token, one in enumerate(logits.tolist()) if one > -math.inf), reverse=True)
    total = sum(one for one, _ in p)
    p = [(one / total, -token) for one, token in p]
    if version == 2:
        kept = [token for one, token in p if -math.log2(one) <= mu]
        return kept or [p[0][1]]
    products = squares = 0.0
    for at in range(min(99, len(p) - 1)):
        step, fall = math.log((at + 2) / (at + 1)), math.log(p[at][0] / p[at + 1][0])
        products, squares = products + step * fall, squares + step * step
    exponent = products / squares
    beyond = exponent - 1
    count = ((beyond * 2**mu) / (1 - len(logits) ** -beyond)) ** (1 / exponent)
    return [token for _, token in p[: max(int(count), 1)]]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("tau", [0.2, 1.0, 3.0])
def test_mirostat_is_that_of_the_formula(seed, version, tau):
    logits = random_logits(seed)
    run = SamplingRun(HISTORY, 2, drawn=[0.5, None, 0.125])
    mu = 2 * tau - 0.4 * (1 - tau) - 0.4 * (3 - tau)
    bound = Mirostat(version, tau, 0.4).of_run(run)
    assert np.flatnonzero(np.isfinite(bound(logits, ()))).tolist() == sorted(plain_mirostat(logits, version, mu))


def test_mirostat_of_equal_or_single_tokens_keeps_some():
    for logits in (np.zeros(4), np.array([0.0, -np.inf])):
        for version in (1, 2):
            assert np.isfinite(Mirostat(version, 0.1, 0.1)(logits, ())).any()
    nothing = np.full(3, -np.inf)
    assert np.isneginf(Mirostat(2, 5.0, 0.1)(nothing, ())).all()


@pytest.fixture(scope="module")
def model():
    return load_model("records")


def test_mirostat_draws_the_same_again_after_going_back_and_on_a_branch(model):
    grammar = compile_grammar("regex", "[a-z ]{12}")
    pipeline = PipelineSettings().with_values({"mirostat": 2, "mirostat_tau": 2.0, "mirostat_eta": 0.5})
    session = DecodeSession(grammar, model, pipeline=pipeline, sampler=SamplerSettings(seed=3))
    first = [session.step().token_id for _ in range(5)]
    effects = session.position().stages
    for _ in range(3):
        session.back()
    other = next(one for one in session.position().candidates if one.allowed and one.token_id != first[2])
    session.take(other.token_id)
    session.step()
    for _ in range(2):
        session.back()
    assert [session.step().token_id for _ in range(3)] == first[2:]
    assert session.position().stages == effects


@pytest.mark.parametrize(
    "values",
    [{"typical_p": 0.0}, {"xtc_probability": 1.5}, {"mirostat": 3}, {"dry_base": 0.5}, {"penalty_window": -2}],
)
def test_a_value_out_of_its_bounds_is_refused(values):
    with raises_key(InvariantError, "errors.decoding.stages.number"):
        PipelineSettings(others=values)


def test_a_document_with_fewer_stages_has_the_others_at_their_default_places():
    older = "grammar", "budget", "static", "pattern", "table", "suppress", "bias", "repetition-penalty", "temperature"
    assert PipelineSettings(order=(*older, "top-k", "top-p", "min-p")).stages == PipelineSettings().stages
