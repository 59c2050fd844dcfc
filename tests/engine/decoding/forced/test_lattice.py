"""All spellings of a text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from engine.decoding.forced.lattice import Lattice
from engine.vocabulary import Vocabulary

NAME = Vocabulary([piece.encode() for piece in "n a m e na am me nam ame name".split()], [])


def spellings(data: bytes, vocabulary: Vocabulary) -> Iterator[tuple[int, ...]]:
    """Brute force: every token that the text begins with, and every way to spell the rest."""
    if not data:
        yield ()
    for token_id, token in enumerate(vocabulary.tokens):
        if token and data.startswith(token):
            yield from ((token_id, *rest) for rest in spellings(data[len(token) :], vocabulary))


def test_the_eight_ways_to_spell_name():
    lattice = Lattice.of(b"name", NAME)
    written = ["·".join((NAME.tokens[i] or b"").decode() for i in path) for path in lattice.paths()]
    assert lattice.count == 8
    assert written[0] == "name"
    assert set(written[1:4]) == {"nam·e", "na·me", "n·ame"}
    assert set(written[4:7]) == {"n·a·me", "n·am·e", "na·m·e"}
    assert written[7] == "n·a·m·e"


@pytest.mark.parametrize("seed", range(40))
def test_paths_are_those_of_brute_force(seed):
    chance = random.Random(seed)
    text = bytes(chance.choices(b"ab\xc3\xa9", k=chance.randint(1, 9)))
    pieces = [bytes(chance.choices(b"ab\xc3\xa9", k=chance.randint(1, 4))) for _ in range(12)]
    pieces += [text[i : i + chance.randint(1, 3)] for i in range(len(text))]
    vocabulary = Vocabulary([*pieces, None, b""], [len(pieces)])
    expected = list(spellings(text, vocabulary))
    lattice = Lattice.of(text, vocabulary)
    found = list(lattice.paths())
    assert sorted(found) == sorted(expected)
    assert lattice.count == len(expected)
    assert [len(path) for path in found] == sorted(map(len, expected))
    assert lattice.fewest[0] == min(map(len, expected), default=0)
    for end in lattice.reached():
        assert lattice.up_to(end).count == len(list(spellings(text[:end], vocabulary))) > 0
    longest = lattice.longest()
    assert longest in expected if expected else longest is None


def test_a_greedy_spelling_does_not_run_into_a_dead_end():
    vocabulary = Vocabulary([b"ab", b"a", b"bc"], [])
    assert Lattice.of(b"abc", vocabulary).longest() == (1, 2)


def test_of_tokens_with_the_same_bytes_the_last_one_is_the_longest():
    vocabulary = Vocabulary([b"a", b"b", b"a"], [])
    assert Lattice.of(b"a", vocabulary).longest() == (2,)
    assert list(Lattice.of(b"a", vocabulary).paths()) == [(0,), (2,)]


def test_many_spellings_are_counted_and_a_few_of_them_listed():
    vocabulary = Vocabulary([b"a" * n for n in range(1, 201)], [])
    lattice = Lattice.of(b"a" * 200, vocabulary)
    assert lattice.count == 2**199
    first = list(islice(lattice.paths(), 10))
    assert first[0] == (199,)
    assert {len(path) for path in first[1:]} == {2}


def test_the_node_of_a_prefix():
    trie = NAME.trie
    for prefix in (b"n", b"na", b"nam", b"am", b"me", b"name"):
        node = trie.find(prefix)
        assert node is not None
        assert trie.prefix(node) == prefix
    assert trie.find(b"names") is None
    assert trie.find(b"x") is None
    assert trie.find(b"nx") is None
