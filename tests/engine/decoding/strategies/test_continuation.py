"""The probability of a text as a continuation, against the sum over all token sequences, tried one by one."""

from __future__ import annotations

import numpy as np
import pytest
from error_keys import raises_key
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.processors import softmax
from engine.decoding.strategies.continuation import any_text, find_continuation
from engine.decoding.strategies.prefix_tree import Inquiry, PrefixTree
from engine.matching import Matcher
from engine.source import CancelledError, CancelToken, InvariantError
from engine.vocabulary import Vocabulary

VOCABULARY = Vocabulary([b"n", b"o", b"no", b"not", b" ", b" n", b"ot", b"x", b"</s>"], eos_ids=[8])
PROMPT = [7, 4]


def tree(model=None, **settings) -> PrefixTree:
    return PrefixTree(
        any_text(), model or RandomModel(VOCABULARY, spread=1.0), prompt=PROMPT, keeps_rows=True, **settings
    )


def plain_sums(model, text: bytes, grammar=None) -> tuple[float, float]:
    """Try every token at every position."""
    written = begins = 0.0
    matcher = None if grammar is None else Matcher(grammar, VOCABULARY)

    def follow(ids: list[int], data: bytes, p: float) -> None:
        nonlocal written, begins
        shares = softmax(model.logits([*PROMPT, *ids]).astype(np.float64))
        if matcher is not None:
            at = matcher.fork()
            assert all(at.accept(one) for one in ids)
            shares = np.array([share * at.is_allowed(one) for one, share in enumerate(shares)])
            shares /= shares.sum()
        for token_id, share in enumerate(shares):
            if token_id == 8 or not share:
                continue
            after = data + VOCABULARY.tokens[token_id]
            if after.startswith(text):
                begins += p * share
                written += p * share * (after == text)
            elif text.startswith(after):
                follow([*ids, token_id], after, p * share)

    follow([], b"", 1.0)
    return written, begins


@pytest.mark.parametrize("text", [b" no", b"not", b"x", b" noxnot"])
def test_it_is_the_sum_over_all_token_sequences(text):
    model, grammar = RandomModel(VOCABULARY, spread=1.0), compile_grammar("regex", "( (no|not)|not?x?|x)*")
    found = find_continuation(Inquiry(tree()), text, Matcher(grammar, VOCABULARY))
    for mass, expected in ((found.alone, plain_sums(model, text)), (found.masked, plain_sums(model, text, grammar))):
        for bounds, sum_of_all in zip((mass.written, mass.begins), expected, strict=True):
            assert bounds.low - 1e-9 <= sum_of_all <= bounds.high + 1e-9
            assert bounds.high - bounds.low <= 0.002 * bounds.high
    without = find_continuation(Inquiry(tree()), text).alone
    assert without.begins.low == pytest.approx(found.alone.begins.low, rel=2e-3)


def test_a_limit_of_calls_leaves_bounds_that_hold_the_sum():
    written, begins = plain_sums(RandomModel(VOCABULARY, spread=1.0), b" no not")
    for calls in (1, 3, 6):
        found = find_continuation(Inquiry(tree(), calls), b" no not")
        assert found.calls == calls
        assert found.alone.written.low <= written <= found.alone.written.high
        assert found.alone.begins.low <= begins <= found.alone.begins.high
        assert found.alone.written.high - found.alone.written.low > 0


def test_a_text_that_no_token_writes_or_that_the_grammar_forbids_has_no_probability():
    found = find_continuation(Inquiry(tree()), b"y")
    assert found.alone.begins == found.alone.written == (0, 0)
    assert found.masked is None
    no = compile_grammar("regex", "x")
    assert find_continuation(Inquiry(tree()), b"no", Matcher(no, VOCABULARY)).masked.begins == (0, 0)


def test_a_full_context_leaves_the_rest_open():
    model = RandomModel(VOCABULARY, spread=1.0, context_length=len(PROMPT) + 1)
    found = find_continuation(Inquiry(tree(model)), b" no not")
    assert (found.alone.written.low, found.spellings) == (0, 0)
    assert found.alone.written.high > 0


def test_an_empty_text_is_refused_and_the_search_can_be_cancelled():
    with raises_key(InvariantError, "errors.decoding.empty_text"):
        find_continuation(Inquiry(tree()), b"")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        find_continuation(Inquiry(tree(), cancel=cancel), b"no")
