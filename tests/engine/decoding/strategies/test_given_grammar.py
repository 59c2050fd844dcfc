"""p(token | prefix, grammar) beside enumeration."""

import numpy as np
import pytest
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.strategies import given_grammar
from engine.decoding.strategies.exact import enumerate_texts
from engine.decoding.strategies.given_grammar import given_shares
from engine.decoding.strategies.prefix_tree import PrefixTree
from engine.source import CancelledError, CancelToken

GRAMMAR = compile_grammar("regex", "A[a-e]{2}|B[a-e]|Cccccc")


def tree(after=()):
    return PrefixTree(GRAMMAR, RandomModel(spread=2.0), after=after)


def expected(after=b""):
    exact = enumerate_texts(tree())
    masses = {}
    for text, p in exact.p.items():
        if text.startswith(after) and len(text) > len(after):
            masses[text[len(after)]] = masses.get(text[len(after)], 0.0) + p
    tokens = RandomModel().vocabulary.tokens
    return {tokens.index(bytes([byte])): p / sum(masses.values()) for byte, p in masses.items()}


@pytest.mark.parametrize("after", [b"", b"A", b"Ab"])
def test_a_small_language_is_enumerated(after):
    tokens = RandomModel().vocabulary.tokens
    (found,) = given_shares(tree([tokens.index(bytes([byte])) for byte in after]))
    assert found.is_exact
    assert {token: share.low for token, share in found.shares.items()} == pytest.approx(expected(after))
    assert all(share.low == share.high for share in found.shares.values())


def test_bounds_hold_and_narrow(monkeypatch):
    monkeypatch.setattr(given_grammar, "MOST_DRAWS", 60)
    monkeypatch.setattr(given_grammar, "MOST_ENUMERATED", 2)
    truth = expected()
    before, last = {}, None
    for last in given_shares(tree(), seed=3):
        for token, share in last.shares.items():
            assert share.low - 1e-12 <= truth[token] <= share.high + 1e-12
            if token in before:
                assert share.low >= before[token].low - 1e-12
                assert share.high <= before[token].high + 1e-12
            if share.estimate is not None:
                assert share.low <= share.estimate <= share.high
        before = last.shares
    assert last.is_done
    assert last.draws == 60
    assert all(share.high - share.low < 0.05 for share in last.shares.values())


def test_the_estimate_has_an_error_that_covers_the_truth(monkeypatch):
    monkeypatch.setattr(given_grammar, "MOST_ENUMERATED", 2)
    truth, within, all_ = expected(), 0, 0
    for seed in range(10):
        found = list(given_shares(tree(), seed=seed))[12]
        for token, share in found.shares.items():
            if share.estimate is not None:
                all_ += 1
                within += abs(share.estimate - truth[token]) <= share.error + 0.02
    assert within >= 0.8 * all_ > 0


def test_calls_are_limited_and_work_is_cancelled(monkeypatch):
    monkeypatch.setattr(given_grammar, "MOST_ENUMERATED", 2)
    monkeypatch.setattr(given_grammar, "MOST_CALLS", 4)
    *_, last = given_shares(tree())
    assert last.is_done
    assert not last.is_exact
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        list(given_shares(tree(), cancel))


def test_nothing_follows_a_complete_text():
    tokens = RandomModel().vocabulary.tokens
    (found,) = given_shares(tree([tokens.index(bytes([byte])) for byte in b"Bc"]))
    assert (found.shares, found.is_done) == ({}, True)
    assert np.isfinite(expected()[tokens.index(b"A")])
