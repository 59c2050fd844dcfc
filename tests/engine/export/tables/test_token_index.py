"""The token index against the matcher, state by state, and the file that carries it."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from error_keys import raises_key
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.compile import CompiledGrammar, compile_grammar
from engine.export.provenance import generator
from engine.export.tables.token_index import TokenIndex, build_token_index, forecast_of, index_document, index_of
from engine.export.target import ExportJob
from engine.matching import Matcher
from engine.source import CancelledError, CancelToken, LimitExceededError
from engine.vocabulary import Vocabulary

TOKENS = Vocabulary(
    [
        b"a",
        b"b",
        b"ab",
        b"ba",
        b"abc",
        b"A",
        b"AB",
        b": ",
        b":",
        b" a",
        b"\n",
        b":\n",
        None,
        b"",
        b"\xc3",
        b"\xa9",
        "é".encode(),
        b"a",
        b"\xa9\xc3",
        b"aaaaaaaaaaaaaaaaaaaa",
    ],
    [12],
    {12: "<end>"},
)
PATTERNS = [
    r"[A-Z]+: [a-z]+\n",
    "(ab|ba)*c?",
    "é+|a{3,5}",
    r"\bab\b: .*",
    "(?=.*b)[ab]{2,6}",
    "",
    r"a\bb",
    "x",
    ".",
]


def allowed_by(matcher: Matcher) -> list[int]:
    bits = np.unpackbits(matcher.bitmask().view(np.uint8), bitorder="little", count=TOKENS.size)
    return np.flatnonzero(bits).tolist()


@settings(max_examples=60)
@given(st.sampled_from(PATTERNS), st.lists(st.integers(0, 50), max_size=8))
def test_it_equals_what_the_matcher_says(pattern, picks):
    grammar = compile_grammar("regex", pattern)
    index = build_token_index(grammar, TOKENS)
    matcher = Matcher(grammar, TOKENS)
    state = index.dfa.start
    if state is None:
        assert allowed_by(matcher) == []
        return
    for pick in [*picks, 0]:
        accepting = index.dfa.states[state].accepting
        assert matcher.is_accepting == accepting
        ends = list(TOKENS.eos_ids) if accepting else []
        assert sorted([*index.tokens[state].tolist(), *ends]) == allowed_by(matcher)
        if not index.tokens[state].size:
            return
        token_id = int(index.tokens[state][pick % index.tokens[state].size])
        assert matcher.accept(token_id)
        following = index.step(state, token_id)
        assert following is not None
        state = following


def test_a_token_that_is_not_allowed_leads_nowhere():
    index = build_token_index(compile_grammar("regex", "ab"), TOKENS)
    assert index.dfa.start == 0
    assert index.step(0, 1) is None
    assert index.step(0, 12) is None
    assert index.step(0, 2) == index.step(index.step(0, 0) or 0, 1)


def through_json(index: TokenIndex, grammar: CompiledGrammar):
    return json.loads(json.dumps(index_document(index, ExportJob(grammar, TOKENS))))


def test_the_file_says_all_that_an_engine_needs():
    grammar = compile_grammar("regex", "(ab)+")
    index = build_token_index(grammar, TOKENS)
    assert through_json(index, grammar) == {
        "format": "turnstile-token-index",
        "version": 2,
        "generator": generator(),
        "notation": "regex",
        "source": "(ab)+",
        "options": {"dialect": "python"},
        "vocabulary": {"fingerprint": TOKENS.fingerprint, "size": TOKENS.size, "eos": [12]},
        "notes": [],
        "start": 0,
        "accepting": [2],
        "transitions": {"0": {"0": 1, "2": 2, "17": 1}, "1": {"1": 2, "3": 1}, "2": {"0": 1, "2": 2, "17": 1}},
        "automaton": [
            {"source": 0, "target": 1, "bytes": [[97, 97]]},
            {"source": 1, "target": 2, "bytes": [[98, 98]]},
            {"source": 2, "target": 1, "bytes": [[97, 97]]},
        ],
    }


def test_an_empty_language_has_no_start():
    grammar = compile_grammar("regex", r"a\bb")
    document = through_json(build_token_index(grammar, TOKENS), grammar)
    assert (document["start"], document["transitions"], document["accepting"]) == (None, {}, [])


def test_limits_are_told_with_their_numbers():
    grammar = compile_grammar("regex", "[ab]{30}")
    with raises_key(LimitExceededError, "errors.limit.automaton_states", limit=10):
        build_token_index(grammar, TOKENS, most_states=10)
    with raises_key(LimitExceededError, "errors.limit.index_transitions"):
        build_token_index(grammar, TOKENS, most_transitions=20)


def test_it_can_be_cancelled():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        build_token_index(compile_grammar("regex", "a"), TOKENS, cancel=cancel)


class Looks(CancelToken):
    """Counts how often the work looks whether it should stop."""

    count = 0

    def check(self) -> None:
        self.count += 1
        super().check()


def test_every_state_is_a_chance_to_cancel():
    compiled, looks = compile_grammar("regex", "[a-z]{40}"), Looks()
    dfa = compiled.materialise(cancel=looks)
    assert looks.count > len(dfa.states) > 40
    index, looks = index_of(dfa, TOKENS), Looks()
    with looks.scope():
        forecast_of(dfa, TOKENS, 10, lambda ids, targets: ids.nbytes + targets.nbytes)
    assert looks.count >= len(dfa.states)
    looks = Looks()
    with looks.scope():
        index_document(index, ExportJob(compiled, TOKENS))
    assert looks.count >= len(dfa.states)


def test_a_forecast_is_exact_where_every_state_is_looked_at_and_near_elsewhere():
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [b"ab", b"abc", b"zz"], [])

    def size(ids, targets):
        return ids.nbytes + targets.nbytes

    for pattern in ("[a-z]{5}", "(?:[a-z]{1,9}-){20}x", '"[^"]{200}"'):
        dfa = compile_grammar("regex", pattern).materialise()
        index = index_of(dfa, vocabulary)
        actual = sum(row.shape[0] for row in index.tokens)
        forecast = forecast_of(dfa, vocabulary, 10, size)
        assert forecast == forecast_of(dfa, vocabulary, 10, size)
        assert forecast.size == pytest.approx(8 * forecast.count, abs=8 * len(dfa.states))
        if len(dfa.states) <= 48:
            assert forecast.count == actual
        else:
            assert forecast.count == pytest.approx(actual, rel=0.1)


def test_a_forecast_is_near_where_states_that_are_alike_come_at_equal_distances():
    pairs = [bytes(pair) for pair in itertools.product(b"abcdefghij-XYZ0123", repeat=2)]
    triples = [bytes(three) for three in itertools.islice(itertools.product(b"abcdefghij-XYZ0123", repeat=3), 3000)]
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), *pairs, *triples], [])
    for pattern in ("(?:[a-z]{1,9}-){20}x", "(?:[a-z]{70}-[A-Z]{20}){1,3}", "[a-j]{0,130}[0-9]{5,60}"):
        dfa = compile_grammar("regex", pattern).materialise()
        actual = sum(row.shape[0] for row in index_of(dfa, vocabulary).tokens)
        assert forecast_of(dfa, vocabulary, 10, lambda ids, _: ids.nbytes).count == pytest.approx(actual, rel=0.1)


def test_the_heaviest_states_are_run_first_and_the_index_is_the_same():
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)], [])
    dfa = compile_grammar("regex", "ab[^x]{3}c").materialise()
    index = index_of(dfa, vocabulary)
    assert [row.tolist() for row in index.tokens][dfa.start] == [ord("a")]
    with pytest.raises(LimitExceededError) as caught:
        index_of(dfa, vocabulary, most_transitions=100)
    assert caught.value.given > 100  # the first state that was run was a heavy one
    assert caught.value.name == "table_transitions"
