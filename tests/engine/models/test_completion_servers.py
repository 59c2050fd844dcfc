"""The models of vLLM and SGLang as logit sources, against doubles whose whole distribution is known."""

from __future__ import annotations

import numpy as np
import pytest
from doubles_completion import (
    BEGIN_ID,
    BYTES_AT,
    CONTEXT,
    END_ID,
    IMPOSSIBLE,
    TOKENS,
    VOCABULARY,
    ByteModel,
    SGLangDouble,
    VllmDouble,
    plain_ids,
)
from error_keys import raises_key
from partial_source import log_probabilities
from server_double import DoubleReply, served

from engine.compile import compile_grammar
from engine.decoding.generate import generate
from engine.decoding.values import SamplerSettings
from engine.models import ModelError
from engine.models.server_source import attach
from engine.models.source import DrawSettings
from engine.servers import ServerClient
from engine.vocabulary import Vocabulary

IDS = [BEGIN_ID, *plain_ids("Once ")]
LISTED = {VllmDouble: 20, SGLangDouble: 100}
DEFAULTS = {"repetition_penalty": 1.9, "temperature": 0.3, "top_k": 2, "top_p": 0.1, "min_p": 0.5}


def attached(double, vocabulary=VOCABULARY):
    return attach(ServerClient(double.address), find_vocabulary=lambda _: vocabulary)


@pytest.fixture(params=[VllmDouble, SGLangDouble])
def double(request):
    with served(request.param()) as running:
        yield running
        assert not running.answers.ignored


def mask(*token_ids):
    allowed = np.zeros(len(TOKENS), np.bool_)
    allowed[list(token_ids)] = True
    return allowed


def exact(ids):
    return log_probabilities(ByteModel().logits(ids))


# Distributions.


@pytest.mark.parametrize("defaults", [{}, DEFAULTS])
def test_the_best_tokens_have_the_models_own_log_probabilities_and_all_others_are_unknown(double, defaults):
    double.answers.defaults = defaults
    source = attached(double)
    for ids in (IDS, [BEGIN_ID], [*IDS, 9, 9, 200]):
        row, prices = source.logits(ids), exact(ids)
        known = np.isfinite(row)
        assert known.sum() == LISTED[type(double.answers)]
        assert np.isnan(row[~known]).all()
        assert np.allclose(row[known], prices[known], atol=1e-5)
        assert prices[known].min() >= prices[~known].max()


def test_a_generated_token_that_is_none_of_the_best_is_not_among_the_known_ones(double):
    source = attached(double)
    double.answers.forced = int(np.argsort(exact(IDS))[3])
    row = source.logits(IDS)
    assert np.isnan(row[double.answers.forced])
    assert np.isfinite(row).sum() == LISTED[type(double.answers)]


@pytest.mark.parametrize("defaults", [{}, DEFAULTS])
def test_named_tokens_are_priced_in_their_order_and_no_other_one_is_asked_for(double, defaults):
    double.answers.defaults = defaults
    source = attached(double)
    named = np.random.default_rng(1).permutation(len(TOKENS))[: min(source.most_priced, len(TOKENS))].tolist()
    assert np.allclose(source.price(IDS, named), exact(IDS)[named], atol=1e-5)
    assert source.price(IDS, [IMPOSSIBLE, END_ID]).tolist() == [-np.inf, pytest.approx(exact(IDS)[END_ID], abs=1e-5)]


# Draws under our mask.


@pytest.mark.parametrize("defaults", [{}, DEFAULTS])
@pytest.mark.parametrize("allowed", [mask(*range(80, 90)), mask(END_ID), ~mask(*range(80, 200)), ~mask(3)])
def test_a_greedy_draw_is_the_best_allowed_token(double, defaults, allowed):
    double.answers.defaults = defaults
    drawn = attached(double).draw(IDS, allowed, DrawSettings(temperature=0))
    assert drawn == int(np.argmax(np.where(allowed, exact(IDS), -np.inf)))


@pytest.mark.parametrize("settings", [{}, {"top_k": 3}, {"top_p": 0.6}, {"min_p": 0.2}])
def test_a_draw_obeys_our_filters_and_seeds_and_not_those_of_the_server(double, settings):
    double.answers.defaults = DEFAULTS | {"repetition_penalty": 1.0}
    source, allowed = attached(double), mask(*range(60, 120))
    drawn = [source.draw(IDS, allowed, DrawSettings(seed=seed, **settings)) for seed in range(15)]
    assert drawn[:3] == [source.draw(IDS, allowed, DrawSettings(seed=seed, **settings)) for seed in range(3)]
    shares = np.where(allowed, np.exp(exact(IDS).astype(np.float64)), 0)
    shares /= shares.sum()
    order = np.argsort(-shares)
    kept = set(order.tolist())
    if "top_k" in settings:
        kept = set(order[:3].tolist())
    elif "top_p" in settings:
        kept = set(order[: 1 + int(np.searchsorted(np.cumsum(shares[order]), 0.6))].tolist())
    elif "min_p" in settings:
        kept = set(np.flatnonzero(shares >= 0.2 * shares.max()).tolist())
    assert set(drawn) <= kept & set(np.flatnonzero(allowed).tolist())
    assert len(set(drawn)) > 2 or len(kept) < 4


def test_a_server_that_ignores_the_mask_is_an_error(double):
    source = attached(double)
    double.answers.forced = 7
    with raises_key(ModelError, "errors.servers.mask_ignored", ids=[7]):
        source.draw(IDS, ~mask(7), DrawSettings())


@pytest.mark.parametrize(
    ("kind", "settings"),
    [(VllmDouble, {"top_p": 0.5, "min_p": 0.1}), (SGLangDouble, {"top_k": 4, "top_p": 0.5})],
)
def test_filters_that_the_server_applies_in_another_order_are_refused(kind, settings):
    with served(kind()) as double, raises_key(ModelError, "errors.servers.filters"):
        attached(double).draw(IDS, mask(5, 6), DrawSettings(**settings))


ROOM = 40
WIDE = mask(*range(70, 180))


def with_little_room(monkeypatch, double):
    """Let the vLLM of a double have room for fewer biases than the vocabulary has tokens."""
    monkeypatch.setattr("engine.servers.vllm_completion.MOST_BIASED", ROOM)
    double.answers.most_biased = ROOM


@pytest.mark.parametrize("allowed", [WIDE, ~mask(*range(80, 80 + ROOM)), mask(*range(80, 80 + ROOM))])
@pytest.mark.parametrize("temperature", [0, 1])
def test_a_mask_for_which_vllm_has_no_room_is_exact_and_does_not_end_the_server(monkeypatch, allowed, temperature):
    with served(VllmDouble()) as double:
        with_little_room(monkeypatch, double)
        source = attached(double)
        drawn = [source.draw(IDS, allowed, DrawSettings(temperature=temperature, seed=seed)) for seed in range(8)]
        assert allowed[drawn].all()
        if not temperature:
            assert set(drawn) == {int(np.argmax(np.where(allowed, exact(IDS), -np.inf)))}
        assert not double.answers.is_dead
        assert not double.answers.ignored


def test_filters_over_a_mask_for_which_vllm_has_no_room_are_refused(monkeypatch):
    with served(VllmDouble()) as double, raises_key(ModelError, "errors.servers.wide_mask", most=ROOM):
        with_little_room(monkeypatch, double)
        attached(double).draw(IDS, WIDE, DrawSettings(top_k=3))


def test_a_mask_that_excludes_all_that_vllm_draws_is_an_error(monkeypatch):
    rare = np.zeros(len(TOKENS), np.bool_)
    rare[np.argsort(exact(IDS))[: ROOM + 1]] = True
    with served(VllmDouble()) as double, raises_key(ModelError, "errors.servers.rarely_allowed"):
        with_little_room(monkeypatch, double)
        monkeypatch.setattr("engine.servers.vllm_completion.MOST_DRAWN", 5)
        attached(double).draw(IDS, rare, DrawSettings(temperature=0))


def test_a_vllm_that_returns_its_mask_can_be_stepped():
    with served(VllmDouble(returns_mask=True)) as double:
        source = attached(double)
        assert np.isfinite(source.logits(IDS)).sum() == 20
        assert source.draw(IDS, mask(9), DrawSettings()) == 9


# Prompts.


def test_a_prompt_is_encoded_by_the_server_and_has_one_begin(double):
    source = attached(double)
    assert source.encode("a ü") == [BEGIN_ID, *plain_ids("a ü")]
    assert source.encode("") == [BEGIN_ID]


def test_the_server_applies_its_template_and_leaves_the_beginning_of_an_answer_open(double):
    source, messages = attached(double), [("system", "Be brief."), ("user", "Hi")]
    begin = "system: Be brief.\nuser: Hi\nassistant: "
    assert source.encode_chat(messages) == [BEGIN_ID, *plain_ids(begin)]
    assert source.encode_chat(messages, "The") == [BEGIN_ID, *plain_ids(f"{begin}The")]


def test_an_old_sglang_applies_no_template():
    with served(SGLangDouble(reads_messages=False)) as double:
        source = attached(double)
        with raises_key(ModelError, "errors.servers.no_template"):
            source.encode_chat([("user", "Hi")])


def test_more_ids_than_leave_room_for_a_token_are_refused_here_and_the_last_that_fit_are_not(double):
    source = attached(double)
    assert np.isfinite(source.logits([5] * (CONTEXT - 1))).any()
    with raises_key(ModelError, "errors.models.context"):
        source.logits([5] * CONTEXT)


# A whole run.


@pytest.mark.parametrize("pattern", ["[a-z]{3,6} (12|ab)+[0-9]{2}!", "[^~]{12}", "(yes|no)", "~a"])
def test_a_greedy_generation_equals_that_with_the_full_distribution(double, pattern):
    grammar, greedy = compile_grammar("regex", pattern), SamplerSettings(temperature=0.0)
    runs = [
        generate(grammar, one, prompt="Once ", sampler=greedy, max_tokens=40) for one in (attached(double), ByteModel())
    ]
    assert runs[0].text == runs[1].text
    assert runs[0].finish == runs[1].finish
    assert [step.token_id for step in runs[0].steps] == [step.token_id for step in runs[1].steps]


# Faults.


@pytest.mark.parametrize(
    ("status", "key"), [(400, "status"), (401, "key"), (429, "busy"), (500, "status"), (503, "status")]
)
def test_a_refusal_is_an_error_with_the_words_of_the_server(double, status, key):
    source = attached(double)
    double.answers.fault = DoubleReply({"error": {"message": "not like this", "code": status}}, status)
    with raises_key(ModelError, f"errors.servers.{key}", status=status, message="not like this"):
        source.logits(IDS)
    double.answers.fault = None
    assert np.isfinite(source.logits(IDS)).any()


def test_a_vllm_that_lists_fewer_tokens_says_so():
    with served(VllmDouble(most_listed=5)) as double, raises_key(ModelError, "errors.servers.status", status=400):
        attached(double)


def test_a_server_that_wants_a_key_says_so(double):
    double.answers.key = "right"
    with raises_key(ModelError, "errors.servers.key"):
        attached(double)


def test_an_answer_without_probabilities_is_an_error(double):
    source = attached(double)
    double.answers.fault = DoubleReply({"choices": [{"token_ids": [1]}], "output_ids": [1]})
    with raises_key(ModelError, "errors.servers.no_probabilities"):
        source.logits(IDS)


# Vocabularies.


def test_a_server_needs_a_tokenizer_here(double):
    with raises_key(ModelError, "errors.servers.needs_tokenizer", model="org/m"):
        attached(double, None)


def test_a_tokenizer_that_spells_the_ids_otherwise_is_refused(double):
    shifted = Vocabulary((*TOKENS[1:], None), [END_ID], {})
    with raises_key(ModelError, "errors.servers.other_tokenizer"):
        attached(double, shifted)


def test_a_token_that_the_vocabulary_does_not_have_is_an_error(double):
    narrow = Vocabulary(TOKENS[: BYTES_AT + 256], [END_ID], {BEGIN_ID: "<s>"})
    ids = next([BEGIN_ID, one] for one in range(BYTES_AT, 256) if np.argmax(exact([BEGIN_ID, one])) >= narrow.size)
    with raises_key(ModelError, "errors.servers.other_vocabulary", width=narrow.size):
        attached(double, narrow).logits(ids)
