"""Spellings side by side on a model."""

from __future__ import annotations

import math

import numpy as np
import pytest
from random_model import GivenModel, RandomModel

from engine.compile import compile_grammar
from engine.decoding.forced.encodings import compare, log_probability, most_probable, query_after
from engine.decoding.forced.lattice import Lattice
from engine.matching import Matcher
from engine.vocabulary import Vocabulary

PIECES = [*"nameJohPul0 ", "na", "am", "me", "nam", "ame", "name", "Jo", "John", "Paul", "Pa"]
TOKENS = Vocabulary([*(piece.encode() for piece in PIECES), None], [len(PIECES)])


def test_a_spelling_is_as_likely_as_its_tokens_one_after_the_other():
    model = RandomModel(TOKENS)
    ask = query_after(model, [3, 1])
    for path in Lattice.of(b"name", TOKENS).paths():
        expected = 0.0
        for i, token_id in enumerate(path):
            logits = model.logits([3, 1, *path[:i]]).astype(float)
            expected += math.log(np.exp(logits[token_id]) / np.exp(logits).sum())
        assert log_probability(path, ask) == pytest.approx(expected)


def test_what_comes_next_is_the_masked_distribution_by_where_it_leads():
    model = RandomModel(TOKENS)
    grammar = compile_grammar("regex", "name(John|Paul)?0")
    lattice = Lattice.of(b"name", TOKENS)
    own = (PIECES.index("name"),)
    outlooks = compare(Matcher(grammar, TOKENS), lattice.paths(), query_after(model, [2]), own)
    assert [one.is_own for one in outlooks] == [True, *[False] * 7]
    for one in outlooks:
        logits = model.logits([2, *one.ids]).astype(float)
        p = np.exp(logits) / np.exp(logits).sum()
        begins = {"John0": ("J", "Jo", "John"), "Paul0": ("P", "Pa", "Paul"), "0": ("0",)}
        masses = {text: sum(p[PIECES.index(token)] for token in tokens) for text, tokens in begins.items()}
        z = sum(masses.values())
        assert one.z == pytest.approx(z)
        assert {said.data.decode(): said.p for said in one.following} == pytest.approx(
            {text: mass / z for text, mass in masses.items()}
        )
        assert [said.p for said in one.following] == sorted((said.p for said in one.following), reverse=True)
        assert one.left_out == 0


def test_an_end_is_one_of_the_continuations():
    after_na = query_after(RandomModel(TOKENS), [2])
    (one,) = compare(Matcher(compile_grammar("regex", "na(me)?"), TOKENS), [(0, 1)], after_na)
    assert {said.data for said in one.following} == {b"", b"me"}
    assert sum(said.p for said in one.following) == pytest.approx(1)


def test_what_the_grammar_refuses_is_not_compared():
    matcher = Matcher(compile_grammar("regex", "name"), TOKENS)
    with pytest.raises(ValueError, match="does not allow"):
        compare(matcher, [(1,)], query_after(RandomModel(TOKENS), [2]))


@pytest.mark.parametrize("start", range(12))
def test_the_likeliest_spelling_is_that_of_brute_force(start):
    model = RandomModel(TOKENS)
    ask = query_after(model, [start])
    lattice = Lattice.of(b"nameJohn", TOKENS)
    found = most_probable(lattice, ask, most_calls=1_000)
    assert found is not None
    assert found.is_exact
    best = max(lattice.paths(), key=lambda path: log_probability(path, ask))
    assert (found.ids, found.log_p) == (best, pytest.approx(log_probability(best, ask)))


@pytest.mark.parametrize("most_calls", [0, 1, 2, 5])
def test_a_search_with_a_bound_finishes_what_it_began(most_calls):
    model = GivenModel(TOKENS, [0.0] * TOKENS.size)
    lattice = Lattice.of(b"nameJohn", TOKENS)
    found = most_probable(lattice, query_after(model, [0]), most_calls)
    assert found is not None
    assert found.ids in set(lattice.paths())
    assert found.calls <= most_calls + 8
    assert found.is_exact == (found.calls <= most_calls)


def test_nothing_is_likeliest_where_nothing_spells_the_text():
    assert most_probable(Lattice.of(b"xyz", TOKENS), query_after(RandomModel(TOKENS), [0])) is None


def test_a_model_that_rules_everything_out_has_no_numbers_but_no_error():
    model = GivenModel(TOKENS, [-math.inf] * TOKENS.size)
    matcher = Matcher(compile_grammar("regex", "name0"), TOKENS)
    (one,) = compare(matcher, [(0, 1, 2, 3)], query_after(model, [0]))
    assert (one.log_p, one.z) == (-math.inf, 0)
    assert all(math.isnan(said.p) for said in one.following)
