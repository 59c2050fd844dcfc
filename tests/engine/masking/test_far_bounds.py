"""Masks of strings of bounded length, where only long tokens come near the bound."""

import json

import numpy as np
import pytest
from brute_force import brute_force

from engine import Matcher, Vocabulary, compile_grammar
from engine.masking.token_slices import LONG, long_tokens
from engine.vocabulary.trie import Trie

LETTERS = b'ab -.@1"\\,}\n'
RUNS = [bytes([byte]) * count for byte in b"ab -" for count in (2, 3, LONG - 1, LONG, LONG + 1, 30, 60)]
TOKENS = [
    *(bytes([byte]) for byte in LETTERS),
    *RUNS,
    *(
        b"ab",
        b" a",
        b'a"',
        b'a"}',
        b"ab" * 12,
        b"ab" * 12 + b'"}',
        b"a" * 20 + b'"}',
        b"a@b.b1",
        b"\\u0061",
        b"\xc3",
        b"\xa9",
    ),
]
VOCABULARY = Vocabulary([*dict.fromkeys(TOKENS), None], eos_ids=[len(dict.fromkeys(TOKENS))])
CASES = {
    "a loop": {"pattern": r"^[a\- ]+$", "maxLength": 40},
    "words": {"pattern": r"^(?:\S+\s+){0,9}\S+$", "maxLength": 70, "minLength": 3},
    "what must still come": {"pattern": "^a*b{6}$", "maxLength": 45},
    "an address": {"format": "email", "maxLength": 50},
}


@pytest.mark.parametrize("name", CASES)
def test_they_are_those_of_the_definition(name, walk):
    schema = {"type": "object", "properties": {"a": {"type": "string", **CASES[name]}}, "required": ["a"]}
    grammar = compile_grammar("json_schema", json.dumps(schema))
    matcher = Matcher(grammar, VOCABULARY)
    assert matcher.accept_bytes(b'{"a": "')
    for count in range(CASES[name]["maxLength"] + 1):
        np.testing.assert_array_equal(matcher.bitmask(), brute_force(grammar, matcher), str(count))
        following = b" " if name == "words" and count % 7 == 6 else b"a"
        if not matcher.accept_bytes(following):
            break
    assert count > LONG


def test_the_tokens_that_are_longer():
    trie = VOCABULARY.trie
    part = long_tokens(trie, LONG)
    expected = {i for i, token in enumerate(VOCABULARY.tokens) if token and len(token) > LONG}
    assert isinstance(part.trie, Trie)
    assert set(part.trie.token_ids.tolist()) == expected
    bits = np.unpackbits(part.mask.view(np.uint8), bitorder="little")
    assert set(np.flatnonzero(bits).tolist()) == expected
