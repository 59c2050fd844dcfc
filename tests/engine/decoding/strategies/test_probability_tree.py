"""The search for all outputs above a mass, against enumeration."""

from __future__ import annotations

import math

import pytest
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.strategies.exact import enumerate_texts
from engine.decoding.strategies.found_texts import Measure
from engine.decoding.strategies.prefix_tree import Inquiry, PrefixTree
from engine.decoding.strategies.probability_tree import ProbabilityTree
from engine.source import CancelledError, CancelToken
from engine.vocabulary import Vocabulary

VOCABULARY = Vocabulary([b"a", b"b", b"c", b"ab", b"ca", None], eos_ids=[5])
GRAMMAR = "a[ab]{0,2}|c(a|bb)"


def tree_of(grammar=GRAMMAR, vocabulary=VOCABULARY, **options):
    return PrefixTree(compile_grammar("regex", grammar), RandomModel(vocabulary, spread=1.5), **options)


def searched(tree, measure, mass, *, most_calls=None, cancel=None):
    search = ProbabilityTree(Inquiry(tree, most_calls, cancel), measure, mass)
    while search.advance():
        pass
    return search.report()


def leaves(prefix):
    if prefix.is_complete:
        yield prefix
    for child in prefix.children.values():
        yield from leaves(child)


def value(leaf, measure, p_grammar):
    if measure is Measure.LOCAL:
        return math.exp(leaf.log_p - sum(one.log_z for one in leaf.path[:-1]))
    p = math.exp(leaf.log_p)
    return p / p_grammar if measure is Measure.GIVEN else p


@pytest.fixture(scope="module")
def known():
    tree = tree_of()
    return tree, enumerate_texts(tree)


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("mass", [0.2, 0.01, 1e-6])
def test_every_output_above_the_mass_is_found(known, measure, mass):
    whole, exact = known
    found = searched(tree_of(), measure, mass)
    assert found.is_complete
    wanted = {leaf.data for leaf in leaves(whole.root) if value(leaf, measure, exact.p_grammar) >= mass}
    assert wanted <= {one.text for one in found.texts}
    values = [one.of(measure) for one in found.texts]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("most_calls", [1, 3, 6, None])
def test_all_bounds_hold_at_every_limit(known, measure, most_calls):
    _, exact = known
    found = searched(tree_of(), measure, 0.01, most_calls=most_calls)
    low, high = found.p_grammar
    assert low <= exact.p_grammar * (1 + 1e-9)
    assert exact.p_grammar <= high * (1 + 1e-9)
    for one in found.texts:
        share = one.p / exact.p_grammar
        assert one.p_given[0] <= share * (1 + 1e-9)
        assert share <= one.p_given[1] * (1 + 1e-9)
        assert share <= exact.p[one.text] * (1 + 1e-9)
    if measure is not Measure.LOCAL:
        whole = 1 if measure is Measure.GIVEN else exact.p_grammar
        assert whole - sum(one.of(measure) for one in found.texts) <= found.left + 1e-9
    assert found.calls <= (most_calls or 100)


def test_a_small_mass_gives_the_exact_distribution(known):
    _, exact = known
    found = searched(tree_of(), Measure.GIVEN, 1e-9)
    assert {one.text: pytest.approx(one.p_given[0]) for one in found.texts} == exact.p
    assert found.left == pytest.approx(0, abs=1e-9)
    assert found.p_grammar == pytest.approx((exact.p_grammar, exact.p_grammar))
    assert any(one.spellings > 1 for one in found.texts)


def test_a_search_asks_less_than_enumeration():
    tree = tree_of("[abc]{1,5}")
    found = searched(tree, Measure.MODEL, 0.01)
    assert found.is_complete
    assert found.calls < enumerate_texts(tree_of("[abc]{1,5}")).calls / 5


def test_a_limit_of_calls_is_reported_and_work_can_be_cancelled():
    assert not searched(tree_of(), Measure.GIVEN, 1e-6, most_calls=2).is_complete
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        searched(tree_of(), Measure.GIVEN, 0.1, cancel=cancel)


def test_the_empty_text_may_be_the_only_one():
    vocabulary = Vocabulary([b"a", b"b"], eos_ids=[])
    found = searched(tree_of("", vocabulary), Measure.GIVEN, 0.1)
    assert [one.text for one in found.texts] == [b""]
    assert found.is_complete
