"""Texts that are never written, held against looking for them in what was written."""

from __future__ import annotations

import numpy as np
import pytest
from error_keys import raises_key
from hypothesis import given
from hypothesis import strategies as st
from random_model import RandomModel
from real_vocabularies import mistral

from engine.decoding.generate import generate
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.processors import Bias, Context, Suppress
from engine.decoding.values import SamplerSettings
from engine.source import InvariantError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

TOKENS = [
    b"the",
    b"cat",
    b"e",
    b"\xc3",
    b"\xa9",
    b"a",
    b"b",
    b"ab",
    b"ba",
    "é".encode(),
    None,
    b"bab",
    b"\xa9a",
    b"end",
]
WORDS = Vocabulary(TOKENS, [13], {13: "end"})


def test_the_letter_e_is_in_no_token_that_is_left():
    suppress = Suppress(WORDS, ["e"])
    left = [TOKENS[i] for i in np.flatnonzero(suppress.allowed(suppress.start()))]
    assert left == [b"cat", b"\xc3", b"\xa9", b"a", b"b", b"ab", b"ba", "é".encode(), None, b"bab", b"\xa9a", b"end"]


def test_a_character_is_not_written_by_halves_either():
    suppress = Suppress(WORDS, ["é"])
    begun = suppress.advance(suppress.start(), 3)
    assert not suppress.allowed(begun)[[4, 9, 12]].any()
    assert suppress.why_not(begun, 12) == catalogue_text("decoding.suppressed.completes", text="é")
    assert suppress.why_not(suppress.start(), 9) == "it contains `é`"
    assert suppress.allowed(suppress.advance(begun, 5))[[4, 12]].all()
    assert suppress.advance(begun, 4) is None


TEXTS = st.lists(st.sampled_from([b"ab", b"ba", b"bb", b"aba", b"e", b"abba", b"\xc3\xa9a", b"the"]), max_size=3)


@given(TEXTS, st.lists(st.integers(0, len(TOKENS) - 2), max_size=8))
def test_a_token_is_removed_exactly_where_a_text_would_be_written(texts, ids):
    suppress = Suppress(WORDS, texts)
    state, written = suppress.start(), b""
    for token_id in ids:
        allowed = suppress.allowed(state)
        for other, token in enumerate(TOKENS[:-1]):
            whole = written + (token or b"")
            assert allowed[other] == (not any(text in whole for text in texts)), (written, token)
        if not allowed[token_id]:
            continue
        state, written = suppress.advance(state, token_id), written + (TOKENS[token_id] or b"")


def test_ids_and_ends_can_be_suppressed_too():
    suppress = Suppress(WORDS, token_ids=[13, 0])
    assert np.flatnonzero(~suppress.allowed(suppress.start())).tolist() == [0, 13]
    assert suppress.never.tolist() == (~suppress.allowed(suppress.start())).tolist()
    with raises_key(InvariantError, "errors.decoding.no_token_id"):
        Suppress(WORDS, token_ids=[14])
    with raises_key(InvariantError, "errors.decoding.empty_text"):
        Suppress(WORDS, [""])


@pytest.mark.parametrize("text", [b"a", b"b", b"\xc3\xa9", b"\xa9a", b"zz", b"ba", b"t"])
def test_the_tokens_that_begin_with_a_text(text):
    node = WORDS.trie.find(text)
    found = [] if node is None else sorted(WORDS.trie.ids_below(node).tolist())
    assert found == [i for i, token in enumerate(WORDS.tokens) if token and token.startswith(text)]


def test_a_generation_writes_none_of_it():
    for seed in range(30):
        settings = PipelineSettings(suppress=("e", "ab", "é"))
        made = generate(None, RandomModel(WORDS), sampler=SamplerSettings(seed=seed), max_tokens=30, pipeline=settings)
        assert not any(text in made.output for text in (b"e", b"ab", "é".encode()))


def test_of_a_real_vocabulary_exactly_the_tokens_that_hold_it_are_gone():
    tekken = mistral("tekken_240911.json")
    suppress = Suppress(tekken, ["e", "é"])
    gone = {i for i, token in enumerate(tekken.tokens) if token and (b"e" in token or "é".encode() in token)}
    assert set(np.flatnonzero(suppress.never).tolist()) == gone
    begun = suppress.advance(suppress.start(), tekken.tokens.index(b"\xc3"))
    completing = {i for i, token in enumerate(tekken.tokens) if token and token.startswith(b"\xa9")}
    assert completing
    assert set(np.flatnonzero(~suppress.allowed(begun)).tolist()) == gone | completing


def test_a_bias_is_added_to_every_token_that_holds_the_text():
    bias = Bias(WORDS, {"a": 1.0, 6: -np.inf, "ab": 0.5})
    made, _ = bias.process(None, np.zeros((2, WORDS.size + 1)), Context.of([[], []]))
    expected = [0, 1, 0, 0, 0, 1, -np.inf, 1.5, 1, 0, 0, 1.5, 1, 0, 0]
    assert made.tolist() == [expected, expected]
    assert not np.isnan(bias(np.full(WORDS.size, -np.inf), ())).any()
    for value in (np.inf, np.nan):
        with raises_key(InvariantError, "errors.decoding.setting.added"):
            Bias(WORDS, {"a": value})
