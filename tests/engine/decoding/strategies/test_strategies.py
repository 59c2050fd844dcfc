"""Every strategy against the exact distribution of a small language; `tests/strategy_proofs` has the longer proofs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from chi_squared import p_value
from error_keys import raises_key
from partial_source import PartialSource, PricingSource
from random_model import GivenModel, RandomModel

from engine.compile import compile_grammar
from engine.decoding.strategies.decoders import DECODERS
from engine.decoding.strategies.exact import enumerate_texts, total_variation
from engine.decoding.strategies.prefix_tree import PrefixTree
from engine.decoding.strategies.sampling import RunEnd, report_of, run_strategy
from engine.decoding.strategies.weighted_rejection import draw_checked
from engine.matching import Matcher
from engine.models import ModelError
from engine.source import CancelledError, CancelToken, EngineError, LimitExceededError
from engine.vocabulary import Vocabulary

VOCABULARY = Vocabulary([b"a", b"b", b"c", b"ab", b"ca", None], eos_ids=[5])
GRAMMAR = "a[ab]{0,2}|c(a|bb)"
SEEDS = range(20)


class Together(RandomModel):
    """A model that answers several questions at once."""

    batches = 0

    def logits_of_all(self, many):
        self.batches += 1
        return [self.logits(ids) for ids in many]


class OftenLegal(RandomModel):
    """A model that seldom writes `c`."""

    def logits(self, ids):
        return super().logits(ids) + np.array([3, 3, 0, 0, 0, 2], np.float32)


def tree_of(model=None, grammar=GRAMMAR, notation="regex", **options):
    model = model or RandomModel(VOCABULARY, spread=1.0)
    return PrefixTree(compile_grammar(notation, grammar), model, keeps_rows=True, **options)


def drawn(name, tree, samples, seed=0, **options):
    return run_strategy(DECODERS[name], tree, samples, seed, **options)


def counts_of(run):
    return Counter(draw.prefix.data for draw in run.draws if draw.is_accepted)


@pytest.fixture(scope="module")
def tree():
    return tree_of()


@pytest.fixture(scope="module")
def exact(tree):
    return enumerate_texts(tree)


def test_the_exact_distribution_is_the_sum_over_all_token_sequences():
    model = GivenModel(VOCABULARY, np.log([0.4, 0.1, 0.1, 0.2, 0.1, 0.1]))
    found = enumerate_texts(tree_of(model, "ab?"))
    assert found.p_grammar == pytest.approx(0.4 * 0.1 + 0.4 * 0.1 * 0.1 + 0.2 * 0.1)
    assert found.p[b"ab"] == pytest.approx((0.4 * 0.1 * 0.1 + 0.2 * 0.1) / found.p_grammar)
    assert found.calls == 4


@pytest.mark.parametrize("name", DECODERS.names)
def test_draws_depend_on_seed_and_model_alone(name, tree, exact):
    alone = drawn(name, tree_of(), 12, seed=3)
    after_others = drawn(name, tree, 12, seed=3)
    assert [(one.prefix.ids, one.log_weight) for one in alone.draws] == [
        (one.prefix.ids, one.log_weight) for one in after_others.draws
    ]
    assert alone.inquiry.calls == after_others.inquiry.calls == alone.inquiry.tree.calls


@pytest.mark.parametrize("name", DECODERS.names)
def test_every_text_is_in_the_language_and_nothing_is_asked_twice(name):
    tree = tree_of()
    runs = [drawn(name, tree, 12, seed) for seed in range(3)]
    report = report_of(runs, enumerate_texts(tree))
    language = compile_grammar("regex", GRAMMAR)
    assert report.texts
    assert all(language.fullmatch(one.text) for one in report.texts)
    assert sum(one.weight for one in report.texts) == pytest.approx(1)
    assert report.p_grammar_bounds[0] <= report.p_grammar * (1 + 1e-9)
    assert report.p_grammar <= report.p_grammar_bounds[1] * (1 + 1e-9)
    assert len(tree.model.asked) == len(set(tree.model.asked)) == tree.calls


@pytest.mark.parametrize("name", ["rejection", "cars"])
def test_samples_that_are_exact_pass_chi_squared_and_a_bias_of_two_percent_is_found(name):
    language = "[ab][ab][ab]"
    tree = tree_of(OftenLegal(VOCABULARY, spread=1.2), language)
    exact = enumerate_texts(tree)
    found = sum((counts_of(drawn(name, tree, 60, seed)) for seed in SEEDS), Counter())
    assert p_value(found, exact.p) > 0.01 / 20
    least, *_, most = sorted(found, key=found.__getitem__)
    moved = found.total() // 50
    biased = found + Counter({least: moved})
    biased[most] -= moved
    assert p_value(biased, exact.p) < 0.01 / 20


def test_cars_accepts_ever_more(tree, exact):
    draws = drawn("cars", tree, 200).draws
    half = len(draws) // 2
    early, late = draws[:half], draws[half:]
    assert sum(draw.is_accepted for draw in late) > sum(draw.is_accepted for draw in early)
    assert len(draws) < 400
    assert len(drawn("rejection", tree, 200).draws) > 200 / exact.p_grammar / 2


def test_the_next_draw_of_asap_comes_close_and_that_of_local_masking_does_not(tree, exact):
    asap, local = drawn("asap", tree, 200), drawn("local", tree, 200)
    assert report_of([asap], exact).kl < 0.01
    assert report_of([local], exact).kl > 0.05
    first = report_of([drawn("asap", tree, 1)], exact)
    assert first.is_of_strategy
    assert first.kl > 0.01


def test_texts_of_local_masking_have_the_product_of_their_shares(tree, exact):
    found = report_of([drawn("local", tree, 2_000)])
    shares = exact.under(lambda _, allowed: allowed.shares)
    weights = {one.text: one.weight for one in found.texts}
    assert total_variation(weights, shares) < 0.05


@pytest.mark.parametrize("name", ["local", "rejection", "asap", "smc", "smc-multinomial", "awrs", "lookahead"])
def test_the_estimate_of_the_mass_of_the_grammar_is_unbiased(name, tree, exact):
    estimates = np.array([report_of([drawn(name, tree, 6, seed)]).p_grammar for seed in range(60)])
    error = estimates.std(ddof=1) / math.sqrt(len(estimates))
    assert abs(estimates.mean() - exact.p_grammar) < 3.5 * error + 1e-12


def test_the_estimate_of_awrs_is_unbiased_and_its_tokens_are_those_of_the_mask():
    p = np.array([0.05, 0.3, 0.25, 0.1, 0.2, 0.1])
    matcher = Matcher(compile_grammar("regex", "a|ca"), VOCABULARY)  # allows `a`, `c` and `ca`
    legal = [0, 2, 4]
    rng = np.random.default_rng(1)
    drawn_tokens = [draw_checked(p, matcher, rng) for _ in range(6_000)]
    for token_id in legal:  # proper weighting: E[z · 1(token)] is the token's probability
        weights = np.array([one.z * (one.token_id == token_id) for one in drawn_tokens])
        assert abs(weights.mean() - p[token_id]) < 3 * weights.std() / math.sqrt(len(weights))
    assert {one.token_id for one in drawn_tokens} == set(legal)
    assert draw_checked(np.array([0, 1.0, 0, 0, 0, 0]), matcher, rng).z == 0


@pytest.mark.parametrize("name", ["smc", "smc-multinomial", "awrs", "lookahead"])
def test_pooled_particles_come_closer_with_their_number(name, tree, exact):
    counts = (1, 4, 16)
    distances = []
    for count in counts:
        report = report_of([drawn(name, tree, count, seed) for seed in range(40)], exact)
        distances.append(report.tv)
    assert distances[-1] < 0.1
    assert distances[-1] < distances[0]


@pytest.mark.parametrize("name", ["smc", "smc-multinomial", "awrs", "lookahead"])
def test_the_generations_of_particles_lead_to_the_draws(name):
    run = drawn(name, tree_of(RandomModel(VOCABULARY, spread=3.0)), 30, seed=2)
    generations = run.inquiry.generations
    assert generations[-1].prefixes == tuple(draw.prefix for draw in run.draws)
    for one in generations:
        assert sum(one.shares) == pytest.approx(1)
        assert len(one.copied) in (0, 30)
    before = (run.inquiry.tree.root,) * 30
    for one in generations:
        for prefix, earlier in zip(one.prefixes, before, strict=True):
            assert earlier in (prefix, prefix.parent)
        before = tuple(one.prefixes[i] for i in one.copied) or one.prefixes
    assert not drawn(name, tree_of(), 257).inquiry.generations


def test_greedy_takes_the_first_beam_of_one_and_a_wide_beam_finds_the_best_texts(tree, exact):
    greedy, beam = drawn("greedy", tree, 9), drawn("beam", tree, 5)
    assert len(greedy.draws) == 1
    best = max(exact.p, key=exact.p.__getitem__)
    assert max(beam.weights, key=beam.weights.__getitem__) == best
    everything = report_of([drawn("beam", tree, 100)], exact)
    assert everything.tv == pytest.approx(0, abs=1e-9)


def test_best_of_n_gives_its_weight_to_the_most_probable_of_its_texts(tree):
    run = drawn("best-of-n", tree, 10)
    local = drawn("local", tree, 10)
    best = max(local.draws, key=lambda draw: draw.prefix.log_p).prefix
    assert run.weights[best.data] == 1
    assert counts_of(run) == counts_of(local)


def test_a_vocabulary_without_an_end_token_ends_as_a_session_does():
    vocabulary = Vocabulary([b"a", b"b"], eos_ids=[])
    first = enumerate_texts(tree_of(RandomModel(vocabulary), "ab?a?", stop_at="first"))
    maximal = enumerate_texts(tree_of(RandomModel(vocabulary), "ab?a?"))
    assert set(first.p) == {b"a"}
    assert set(maximal.p) == {b"aa", b"aba"}
    lookahead = drawn("lookahead", tree_of(RandomModel(vocabulary), "ab?a?"), 30)
    assert set(lookahead.weights) == {b"aa", b"aba"}


def test_texts_beyond_the_token_limit_are_not_in_the_language():
    tree = tree_of(OftenLegal(VOCABULARY, spread=0.2), "a*b", max_tokens=4)
    exact = enumerate_texts(tree)
    assert set(exact.p) == {b"b", b"ab", b"aab", b"aaab"}
    report = report_of([drawn("local", tree, 50)], exact)
    assert report.accepted < report.tries == 50


def test_a_run_stops_at_its_limits():
    tree = tree_of()
    assert drawn("local", tree, 500, most_calls=3).end is RunEnd.CALLS
    assert drawn("local", tree, 500, most_calls=3).inquiry.calls <= 3
    rejecting = drawn("rejection", tree, 500, most_tries=20)
    assert rejecting.end is RunEnd.TRIES
    assert len(rejecting.draws) == 20


def test_a_cancelled_run_raises():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        drawn("cars", tree_of(), 5, cancel=cancel)


def test_a_large_language_is_not_enumerated():
    with pytest.raises(LimitExceededError):
        enumerate_texts(tree_of(grammar="[abc]{12}"), most_prefixes=100)


def test_lookahead_needs_a_regular_grammar():
    nested = tree_of(grammar='root ::= "a" root "b" | "c"', notation="gbnf")
    with raises_key(EngineError, "errors.decoding.strategies.not_regular"):
        drawn("lookahead", nested, 5)


def test_particles_are_asked_about_together():
    model = Together(VOCABULARY)
    drawn("smc", tree_of(model), 20)
    assert 0 < model.batches < len(model.asked)


def test_a_model_that_returns_a_part_is_refused_unless_it_prices_tokens():
    whole = RandomModel(VOCABULARY, spread=1.0)
    with raises_key(ModelError, "errors.decoding.partial.full"):
        drawn("cars", tree_of(PartialSource(whole, 2)), 5)
    priced = drawn("cars", tree_of(PricingSource(whole, 2)), 5)
    assert counts_of(priced) == counts_of(drawn("cars", tree_of(whole), 5))
