"""What every stage reckons with, each clever way held against the plain one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.processors.logits import kth_best, mask, sanitise, softmax

VALUES = st.sampled_from([-np.inf, -2.5, -1.0, 0.0, 0.5, 3.0])
ROWS = st.lists(VALUES, min_size=1, max_size=300).map(np.array)


@given(ROWS, st.integers(0, 2**32))
def test_a_mask_is_what_a_choice_for_each_token_says(logits, seed):
    allowed = np.random.default_rng(seed).random(logits.shape[0]) < 0.5
    np.testing.assert_array_equal(mask(logits, allowed), np.where(allowed, logits, -np.inf))


def test_a_mask_serves_a_batch():
    logits = np.arange(2 * 11.0).reshape(2, 11)
    one, each = np.arange(11) % 3 == 0, logits % 2 == 0
    np.testing.assert_array_equal(mask(logits, one), np.where(one, logits, -np.inf))
    np.testing.assert_array_equal(mask(logits, each), np.where(each, logits, -np.inf))
    assert mask(np.zeros((2, 0)), np.zeros((2, 0), dtype=np.bool_)).shape == (2, 0)


@given(ROWS, st.data())
def test_the_kth_best_is_that_of_a_full_sort(logits, data):
    k = data.draw(st.integers(1, logits.shape[0]))
    assert kth_best(logits, k) == sorted(logits.tolist(), reverse=True)[k - 1]


@pytest.mark.parametrize("left", [0, 1, 3, 40, 4_000])
@pytest.mark.parametrize("k", [1, 3, 50, 1_024])
def test_the_kth_best_of_a_vocabulary_of_which_little_is_left(left, k):
    logits = np.full(5_000, -np.inf)
    logits[np.random.default_rng(left).choice(5_000, left, replace=False)] = np.arange(left)
    assert kth_best(logits, k) == np.sort(logits)[-k]


@given(ROWS)
def test_probabilities_are_what_plain_sums_say(logits):
    weights = [float(np.exp(value)) for value in logits]
    expected = [weight / sum(weights) if sum(weights) else 0.0 for weight in weights]
    assert softmax(logits).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("left", [0, 1, 5, 400])
def test_where_little_is_left_the_others_have_no_probability(left):
    logits = np.full(1_000, -np.inf)
    logits[:left] = np.random.default_rng(1).normal(0, 9, left)
    p = softmax(logits)
    assert p.sum() == pytest.approx(1 if left else 0)
    assert not p[left:].any()
    np.testing.assert_allclose(p[:left], softmax(logits[:left]))


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ([1.0, np.nan, -np.inf], [1.0, -np.inf, -np.inf, -np.inf]),
        ([np.inf, 2.0, np.inf], [0.0, -np.inf, 0.0, -np.inf]),
        ([np.nan, np.inf], [-np.inf, 0.0, -np.inf, -np.inf]),
        ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0]),
        ([], [-np.inf] * 4),
    ],
)
def test_no_nan_and_no_infinity_is_left(given, clean):
    assert sanitise(np.array(given, dtype=np.float32), 4).tolist() == clean
