"""Which tokens the table shows, and what a search means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding import candidates
from engine.decoding.sampler import decide
from engine.decoding.values import SamplerSettings
from engine.vocabulary import Vocabulary

WORDS = Vocabulary([b"a", b" the", b"the", b"then", b"\n", b"\xc3", b"#1", None, b"", b"lathe"], [7], {7: "<|end|>"})
FLAT = np.zeros(WORDS.size)


def found(text: str, logits: np.ndarray = FLAT) -> list[int]:
    return candidates.find(text, WORDS, logits).tolist()


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=50), st.integers(0, 60))
def test_best_and_ranks_agree_with_a_full_sort(values, count):
    logits = np.array(values, dtype=np.float64)
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    assert candidates.best(logits, count).tolist() == order[:count]
    ids = np.arange(len(values))
    assert candidates.ranks(logits, ids).tolist() == [order.index(i) + 1 for i in range(len(values))]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=60), st.sets(st.integers(0, 59)))
def test_ranks_of_some_agree_with_a_full_sort(values, chosen):
    logits = np.array([-np.inf if value == -3 else value for value in values], dtype=np.float64)
    order = sorted(range(len(values)), key=lambda i: (-logits[i], i))
    ids = np.array([i for i in chosen if i < len(values)], dtype=np.int64)
    assert candidates.ranks(logits, ids).tolist() == [order.index(i) + 1 for i in ids]


@given(st.integers(0, 1_000), st.integers(1, 4_000))
def test_ranks_in_a_vocabulary_agree_with_a_full_sort(seed, size):
    random = np.random.default_rng(seed)
    logits = np.round(random.normal(0, 3, size), 1)
    order = np.lexsort((np.arange(size), -logits))
    places = np.empty(size, dtype=np.int64)
    places[order] = np.arange(1, size + 1)
    ids = random.choice(size, min(size, 300), replace=False)
    assert candidates.ranks(logits, ids).tolist() == places[ids].tolist()
    assert candidates.best(logits, 256).tolist() == order[:256].tolist()


def test_the_table_has_favourites_best_allowed_and_every_end():
    size = 2000
    logits = np.linspace(10, -10, size)
    allowed = np.zeros(size, dtype=np.bool_)
    allowed[1000:1500] = True
    vocabulary = Vocabulary([b"%d" % i for i in range(size)], [1998, 1999])
    decision = decide(logits, allowed, (), SamplerSettings())
    rows = candidates.table(decision, vocabulary)
    assert [row.token_id for row in rows] == [*range(256), *range(1000, 1064), 1998, 1999]
    assert [row.rank for row in rows] == [row.token_id + 1 for row in rows]
    assert [row.token_id for row in rows if row.is_eos] == [1998, 1999]
    assert rows == candidates.rows(decision, np.array([row.token_id for row in rows]), vocabulary)
    assert rows[256].p_masked == pytest.approx(rows[256].p / decision.z)


def test_ids_beyond_the_vocabulary_have_no_bytes():
    decision = decide(np.zeros(WORDS.size + 2), np.ones(WORDS.size, dtype=np.bool_), (), SamplerSettings())
    row = candidates.rows(decision, np.array([WORDS.size + 1]), WORDS)[0]
    assert (row.token, row.name, row.allowed, row.p_masked) == (None, "", False, 0)


def test_equal_ones_come_first_then_beginnings_then_parts():
    assert found("the") == [2, 3, 1, 9]


def test_within_a_kind_the_model_decides():
    logits = FLAT.copy()
    logits[9] = 1
    assert found("the", logits) == [2, 3, 9, 1]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("#3", [3]),
        (" #3 ", [3]),
        ("#99", []),
        ("=the", [2]),
        ("=#1", [6]),
        ("=\\n", [4]),
        ('"the"', []),
        ("\\x0a", [4]),
        ("↵", [4]),
        ("␣the", [1]),
        ("\\xc3", [5]),
        ("\\u000a", [4]),
        ("end", [7]),
        ("zzz", []),
        ("", []),
        ("\\", []),
        ("\udc80", []),
    ],
)
def test_a_search(text, ids):
    assert found(text) == ids


def test_halves_of_a_character_can_be_searched_together():
    assert candidates.unescape("\\xc3\\xa9") == "é".encode()
    assert candidates.unescape("\\ud800x") == b"\\ud800x"
    assert candidates.unescape("\\q") == b"\\q"
