"""Which words of the prompt make a model want a token, against asking it by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from error_keys import raises_key
from partial_source import PartialSource, PricingSource
from random_model import RandomModel

from engine.decoding.attribution import MOST_WORDS, attribute, prompt_words
from engine.decoding.values import Chat
from engine.models import ModelError
from engine.source import CancelledError, CancelToken


def log_p(model, ids, token_id):
    logits = model.logits(ids).astype(float)
    return float(logits[token_id] - math.log(np.exp(logits).sum()))


def last(words):
    return list(words)[-1]


class WithGradients(RandomModel):
    """Its gradients are the positions of the tokens."""

    def gradients_by_input(self, ids, token_id):
        return [float(at) for at in range(len(ids))]


def test_a_change_is_the_log_probability_with_and_without_a_word():
    model = RandomModel()
    found = last(attribute(model, "Say yes\nor no", [3], 5))
    assert [word.text for word in found] == ["Say ", "yes\n", "or ", "no"]
    whole = log_p(model, [*model.encode("Say yes\nor no"), 3], 5)
    for word, without in zip(found, ("yes\nor no", "Say or no", "Say yes\nno", "Say yes\nor "), strict=True):
        assert word.change == pytest.approx(whole - log_p(model, [*model.encode(without), 3], 5), abs=1e-5)
        assert word.gradient is None


def test_the_words_of_a_chat_are_left_out_of_their_messages():
    model, chat = RandomModel(), Chat((("system", "Be brief"), ("user", "Be kind")))
    found = last(attribute(model, chat, [], 5))
    assert [(word.message, word.start) for word in found] == [(0, 0), (0, 3), (1, 0), (1, 3)]
    without = replace(chat, messages=(("system", "Be brief"), ("user", "kind")))
    expected = log_p(model, model.encode_chat(chat.messages), 5) - log_p(model, model.encode_chat(without.messages), 5)
    assert found[2].change == pytest.approx(expected, abs=1e-5)


def test_changes_come_in_parts_and_can_be_cancelled():
    parts = list(attribute(RandomModel(), "a b c d e f g h i j k l m n o p q r", [], 1))
    known = [sum(word.change is not None for word in words) for words in parts]
    assert known == [16, 18]
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        list(attribute(RandomModel(), "a b", [], 1, cancel))


def test_the_gradient_of_a_word_is_the_sum_over_its_tokens():
    found = last(attribute(WithGradients(), "ab c", [3], 5))
    assert [word.gradient for word in found] == [0 + 1 + 2, 3]


def test_a_long_prompt_has_several_words_at_once():
    words = prompt_words("word " * 1_000)
    assert len(words) == MOST_WORDS
    assert "".join(word.text for word in words) == "word " * 1_000
    assert not list(prompt_words(""))


def test_a_token_without_a_known_probability_is_refused():
    whole = RandomModel()
    with raises_key(ModelError, "errors.decoding.attribution.unknown"):
        last(attribute(PartialSource(whole, 2), "Say yes", [], int(np.argmin(whole.logits(whole.encode("Say yes"))))))
    priced = last(attribute(PricingSource(whole, 2), "Say yes", [], 5))
    assert [word.change for word in priced] == pytest.approx(
        [word.change for word in last(attribute(whole, "Say yes", [], 5))], abs=1e-4
    )
