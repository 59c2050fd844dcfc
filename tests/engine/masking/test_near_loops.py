"""Masks where all but a few bytes lead into a loop: those few are walked apart."""

import json

import numpy as np
import pytest
from brute_force import brute_force

from engine import Matcher, Vocabulary, compile_grammar
from engine.automata.byte_automaton import DEAD
from engine.masking.token_slices import LoopFinder, all_tokens, token_slices_of

PIECES = [
    *(bytes([byte]) for byte in b'0123456789-:ab T."\\u\n'),
    *(b"12", b"2024", b"-1", b"-a", b"--", b"-12", b"-12-", b"-12x", b" -1", b" a", b"a-1", b"ab-12", b"a b", b":-"),
    *("é".encode(), b"-\xc3", b"\xc3", b"\xa9", "-é".encode(), b"4-12", b"-0a", b"-11b-11", b'-"', b'-1"', b"\\u002d"),
]
VOCABULARY = Vocabulary([*dict.fromkeys(PIECES), None], eos_ids=[len(dict.fromkeys(PIECES))])
CASES = {
    "a date somewhere": (r"\d{4}-\d{2}", "ab2024-12x"),
    "a dash that counts": (r"^[^-]*(-\d[^-]*)*$", "a-1b-1"),
    "blanks that count": (r"^\S+( \d\S*)*$", "ab 1a"),
    "a colon may come once": (r"^[^:]*(:[0-4]*)?$", "ab:12"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("notation", ["json_schema", "regex"])
def test_they_are_those_of_the_definition(name, notation, walk):
    pattern, text = CASES[name]
    if notation == "regex":
        grammar = compile_grammar("regex", pattern if pattern[0] == "^" else rf"[\s\S]*{pattern}[\s\S]*")
        begin = b""
    else:
        grammar, begin = compile_grammar("json_schema", json.dumps({"type": "string", "pattern": pattern})), b'"'
    for end in range(len(text) + 1):
        matcher = Matcher(grammar, VOCABULARY)
        assert matcher.accept_bytes(begin + text[:end].encode())
        np.testing.assert_array_equal(matcher.bitmask(), brute_force(grammar, matcher), text[:end])


def test_where_a_loop_is_near():
    automaton = compile_grammar("regex", r"[^-]*x(-[^-]*)?").automaton
    at = automaton.run(automaton.start, b"x")
    home, _, odd = LoopFinder().nearly_loop_at(automaton, at)
    assert home == automaton.run(automaton.start, b"a") != at
    assert automaton.step(at, automaton.classes.of_byte[ord("-")]) != DEAD
    assert LoopFinder().nearly_loop_at(automaton, home)[2] == ()
    assert set(odd) <= {ord("-"), ord("x")}


def test_a_region_without_what_begins_with_some_bytes(kernels):
    trie = VOCABULARY.trie
    regions = token_slices_of(trie)
    loop = np.full((1, 256), -1, np.int8)
    loop[0, list(b"ab- 0123456789")] = 0
    region = regions.loop_slice(kernels, trie, loop)
    cut = regions.without(region, (ord("-"), ord("z")), trie)

    def tokens(mask):
        bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
        return {VOCABULARY.tokens[i] for i in np.flatnonzero(bits)}

    assert tokens(cut.mask) == {token for token in tokens(region.mask) if token[:1] != b"-"}
    roots = {trie.prefix(root) for root in region.roots.tolist()}
    assert {trie.prefix(root) for root in cut.roots.tolist()} == {way for way in roots if way[:1] != b"-"}
    assert [trie.byte[root] for root in cut.roots] == sorted(trie.byte[root] for root in cut.roots)
    assert cut is regions.without(region, (ord("-"), ord("z")), trie)
    dashes = all_tokens(trie, (ord("-"), ord("z")))
    assert [trie.prefix(root) for root in dashes.roots.tolist()] == [b"-"]
    assert not dashes.mask.any()
