"""Every processor against the one of the same name in transformers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation import logits_process as theirs

from engine.decoding import processors
from engine.decoding.processors.truncation import Typical
from engine.decoding.sampler import sampler_shapes
from engine.decoding.values import SamplerSettings

WIDTH = 40
HISTORY = [3, 5, 5, 17, 39]


def random_logits(seed: int) -> np.ndarray:
    """Half of them masked, as after a grammar."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 4, WIDTH)
    logits[random.random(WIDTH) < 0.5] = -np.inf
    logits[seed % WIDTH] = 1.5  # never all of them
    return logits


def in_transformers(logits: np.ndarray, *chain: object) -> np.ndarray:
    scores = torch.from_numpy(logits).unsqueeze(0)
    for processor in chain:
        scores = processor(torch.tensor([HISTORY]), scores)
    return scores.squeeze(0).numpy()


def same_probabilities(ours: np.ndarray, other: np.ndarray) -> None:
    np.testing.assert_array_equal(np.isneginf(ours), np.isneginf(other))
    np.testing.assert_allclose(processors.softmax(ours), processors.softmax(other), rtol=1e-9)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("penalty", [0.7, 1.0, 1.3, 5.0])
def test_repetition_penalty(seed, penalty):
    logits = random_logits(seed)
    expected = in_transformers(logits, theirs.RepetitionPenaltyLogitsProcessor(penalty))
    np.testing.assert_allclose(processors.repetition_penalty(logits, HISTORY, penalty), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("degree", [0.1, 0.8, 2.5])
def test_temperature(seed, degree):
    logits = random_logits(seed)
    same_probabilities(
        processors.temperature(logits, degree), in_transformers(logits, theirs.TemperatureLogitsWarper(degree))
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("k", [1, 3, 12, 1000])
def test_top_k(seed, k):
    logits = random_logits(seed)
    same_probabilities(processors.top_k(logits, k), in_transformers(logits, theirs.TopKLogitsWarper(k)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("mass", [1e-9, 0.3, 0.9, 0.999])
def test_top_p(seed, mass):
    logits = random_logits(seed)
    same_probabilities(processors.top_p(logits, mass), in_transformers(logits, theirs.TopPLogitsWarper(mass)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("share", [0.01, 0.2, 1.0])
def test_min_p(seed, share):
    logits = random_logits(seed)
    same_probabilities(processors.min_p(logits, share), in_transformers(logits, theirs.MinPLogitsWarper(share)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("mass", [1e-9, 0.2, 0.7, 0.95])
def test_typical_is_that_of_transformers(seed, mass):
    logits = random_logits(seed)
    same_probabilities(Typical(mass)(logits, ()), in_transformers(logits, theirs.TypicalLogitsWarper(mass)))


@given(
    seed=st.integers(0, 10_000),
    settings=st.builds(
        SamplerSettings,
        repetition_penalty=st.sampled_from([1.0, 1.2]),
        temperature=st.sampled_from([0.5, 1.0, 1.7]),
        top_k=st.sampled_from([0, 5, 15]),
        top_p=st.sampled_from([0.5, 0.95, 1.0]),
        min_p=st.sampled_from([0.0, 0.05]),
    ),
)
def test_the_chain_runs_in_the_order_of_transformers(seed, settings):
    logits = random_logits(seed)
    chain = [theirs.RepetitionPenaltyLogitsProcessor(settings.repetition_penalty)]
    chain.append(theirs.TemperatureLogitsWarper(settings.temperature))
    if settings.top_k:
        chain.append(theirs.TopKLogitsWarper(settings.top_k))
    chain.append(theirs.TopPLogitsWarper(settings.top_p))
    chain.append(theirs.MinPLogitsWarper(settings.min_p))
    expected = in_transformers(logits, *chain)
    for shape in sampler_shapes(settings).values():
        logits = shape(logits, HISTORY)
    same_probabilities(logits, expected)


def test_a_tie_at_the_edge_of_top_p_keeps_the_lower_id():
    kept = processors.top_p(np.zeros(4), 0.5)
    assert np.flatnonzero(np.isfinite(kept)).tolist() == [0, 1]


def test_a_tiny_temperature_does_not_overflow():
    probabilities = processors.softmax(processors.temperature(np.array([1.0, 2.0, -np.inf]), 1e-308))
    assert probabilities.tolist() == [0.0, 1.0, 0.0]


def test_what_a_model_must_not_say_is_repaired():
    np.testing.assert_array_equal(processors.sanitise(np.array([1.0, np.nan]), 3), [1.0, -np.inf, -np.inf])
    np.testing.assert_array_equal(processors.sanitise(np.array([1.0, np.inf, np.inf]), 2), [-np.inf, 0.0, 0.0])


def test_nothing_finite_has_no_mass():
    nothing = np.full(3, -np.inf)
    assert processors.log_sum_exp(nothing) == -np.inf
    assert processors.softmax(nothing).tolist() == [0.0, 0.0, 0.0]
    assert processors.temperature(nothing, 0.5).tolist() == [-np.inf] * 3


def plain_top_p(logits: np.ndarray, mass: float) -> np.ndarray:
    """All tokens sorted, the least first."""
    order = logits.shape[0] - 1 - np.argsort(logits[::-1], kind="stable")
    removed = np.cumsum(processors.softmax(logits)[order]) <= 1.0 - mass
    removed[-1] = False
    kept = logits.copy()
    kept[order[removed]] = -np.inf
    return kept


@pytest.mark.parametrize("spread", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("mass", [0.1, 0.9, 0.9999])
@pytest.mark.parametrize("masked", [0.0, 0.5, 0.999])
def test_top_p_of_a_large_vocabulary_is_what_sorting_all_of_it_gives(spread, mass, masked):
    random = np.random.default_rng(4)
    logits = np.round(random.normal(0, spread, 20_000), 2)  # with many ties
    logits[random.random(20_000) < masked] = -np.inf
    np.testing.assert_array_equal(processors.top_p(logits, mass), plain_top_p(logits, mass))


def test_top_p_of_nothing_is_nothing():
    assert np.isneginf(processors.top_p(np.full(3, -np.inf), 0.5)).all()
