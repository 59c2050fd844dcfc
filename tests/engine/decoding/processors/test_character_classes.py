"""Which tokens belong to a class."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from error_keys import raises_key
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.processors.character_classes import CharacterClass, token_set
from engine.source import InvariantError
from engine.vocabulary import Vocabulary

TOKENS = [b"a", b"B", b"AB", b"aB", b"7", b" ", b"\t ", b"\n", b"\r\n", b" \n", b"!", b"+?", "é".encode(), "É".encode()]
TOKENS += ["日本".encode(), b"\xc3", None, b"", b"a1", "\u2028".encode(), "٣".encode(), b"<end>"]
WORDS = Vocabulary(TOKENS, [len(TOKENS) - 1])


def members(name: str) -> list[bytes]:
    return [TOKENS[i] for i in np.flatnonzero(token_set(WORDS, name))]


def test_a_token_belongs_where_all_its_characters_do():
    assert members("UPPER") == [b"B", b"AB", "É".encode()]
    assert members("LOWER") == [b"a", "é".encode()]
    assert members("LETTER") == [b"a", b"B", b"AB", b"aB", "é".encode(), "É".encode(), "日本".encode()]
    assert members("DIGIT") == [b"7", "٣".encode()]
    assert members("PUNCT") == [b"!", b"+?"]


def test_what_ends_a_line_is_no_space():
    assert members("SPACE") == [b" ", b"\t "]
    assert members("NEWLINE") == [b"\n", b"\r\n", "\u2028".encode()]


def test_any_is_whatever_has_bytes():
    assert members("ANY") == [token for token in TOKENS[:-1] if token]


def slow_class(text: str) -> set[str]:
    """The classes that all characters have, one at a time."""
    found = None
    for char in text:
        category, own = unicodedata.category(char), {"ANY"}
        own |= {"UPPER"} if category in ("Lu", "Lt") else set()
        own |= {"LOWER"} if category == "Ll" else set()
        own |= {"LETTER"} if category.startswith("L") else set()
        own |= {"DIGIT"} if category == "Nd" else set()
        own |= {"PUNCT"} if category[0] in "PS" else set()
        is_end = char in "\n\r\v\f\x85\u2028\u2029"
        own |= {"NEWLINE"} if is_end else {"SPACE"} if char == "\t" or category == "Zs" else set()
        found = own if found is None else found & own
    return found or set()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4), min_size=1, max_size=12))
def test_all_at_once_is_what_one_at_a_time_says(texts):
    vocabulary = Vocabulary([text.encode() for text in texts], [])
    for name in CharacterClass:
        expected = [name in slow_class(text) for text in texts]
        if any(expected):
            assert token_set(vocabulary, name).tolist() == expected
        else:
            with raises_key(InvariantError, "errors.decoding.token_set.empty"):
                token_set(vocabulary, name)


def test_other_ways_to_mean_tokens():
    assert np.flatnonzero(token_set(WORDS, "AB")).tolist() == [2]
    assert np.flatnonzero(token_set(WORDS, b"\xc3")).tolist() == [15]
    assert np.flatnonzero(token_set(WORDS, [0, 3])).tolist() == [0, 3]
    mask = np.zeros(WORDS.size, dtype=np.bool_)
    mask[1] = True
    assert token_set(WORDS, mask).tolist() == mask.tolist()
    both = Vocabulary([b"UPPER", b"x", b"X"], [])
    assert np.flatnonzero(token_set(both, b"UPPER")).tolist() == [0]
    assert np.flatnonzero(token_set(both, "UPPER")).tolist() == [0, 2]


@pytest.mark.parametrize("spec", ["zz", b"", [], [99], [-1], np.zeros(3, dtype=np.bool_)])
def test_what_means_nothing_is_refused(spec):
    with pytest.raises(InvariantError):
        token_set(WORDS, spec)
