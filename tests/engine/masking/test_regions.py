import numpy as np
import pytest
from brute_force import brute_force

from engine import Matcher, clear_caches, compile_grammar
from engine.masking import token_slices
from engine.masking.token_slices import LoopFinder, token_slices_of
from engine.vocabulary import Vocabulary
from engine.vocabulary.trie import Trie


def loop_of(pattern, text=b""):
    automaton = compile_grammar("regex", pattern).automaton
    configuration = automaton.run(automaton.start, text)
    found = LoopFinder().loop_at(automaton, configuration)
    return automaton, configuration, found


def staying(loop):
    return bytes(np.flatnonzero(loop[0] >= 0).tolist())


def test_a_loop_is_found_at_its_home():
    _, configuration, (home, loop) = loop_of("[a-z]*,", b"a")
    assert home == configuration
    assert staying(loop) == bytes(range(ord("a"), ord("z") + 1))


def test_a_loop_is_found_one_byte_before_it():
    automaton, configuration, (home, loop) = loop_of("[a-z]+,")
    assert home == automaton.run(configuration, b"a") != configuration
    assert len(staying(loop)) == 26


def test_other_bytes_into_a_loop_are_no_loop():
    _, _, found = loop_of("[a-y][a-z]*")
    assert found is None


def test_characters_of_many_bytes_belong_to_a_loop():
    _, _, (_, loop) = loop_of(r'[^"\x00-\x1f]*"')
    assert len(loop) == 8  # home, and within characters: 1, 2 or 3 bytes to come, and the four special second bytes
    assert staying(loop) == bytes(b for b in range(0x20, 0xF5) if b != ord('"') and not 0x80 <= b <= 0xC1)


def test_characters_that_lead_elsewhere_do_not():
    _, _, (_, loop) = loop_of("[a-zà-ü]*ý?!", b"a")
    assert len(loop) == 1
    assert staying(loop) == bytes(range(ord("a"), ord("z") + 1))


@pytest.mark.parametrize("pattern", ["[a-g]*x", "abc", "[a-z]{3}"])
def test_small_loops_and_none(pattern):
    assert loop_of(pattern)[2] is None


def test_grammars_share_the_region_of_a_loop(kernels, small, monkeypatch):
    found = []
    monkeypatch.setattr(
        token_slices, "find_loop_slice", lambda *args, find=token_slices.find_loop_slice: found.append(1) or find(*args)
    )
    for pattern in ("[k-t]*x", "foo[k-t]+", "[k-t]*(a|bc)*"):
        matcher = Matcher(compile_grammar("regex", pattern), small)
        matcher.accept_bytes(b"foo")
        matcher.bitmask()
    clear_caches()
    Matcher(compile_grammar("regex", "[k-t]*x"), small).bitmask()
    assert len(found) == 1


def test_the_regions_kept_are_few(kernels, small, monkeypatch):
    kept = token_slices_of(small.trie).by_loop
    monkeypatch.setattr(kept, "capacity", 2)
    kept.clear()
    for first in "abcd":
        Matcher(compile_grammar("regex", f"[{first}-z]*"), small).bitmask()
    assert len(kept) == 2
    kept.clear()


def test_a_loop_behind_a_common_first_byte_is_found_once(kernels, monkeypatch):
    words = ["the", "of", "and", "to", "in", "that", "it", "two words", "né"]
    tokens = [*(bytes((byte,)) for byte in range(256)), *(f" {word}".encode() for word in words * 20)]
    tokens += [f" {a}{b}".encode() for a in "abcdefghij" for b in "klmnopqrst"]
    vocabulary = Vocabulary(tokens, eos_ids=[])
    assert token_slices_of(vocabulary.trie).broad_bytes == [ord(" ")]
    roots = []
    find = token_slices.find_loop_slice
    monkeypatch.setattr(token_slices, "find_loop_slice", lambda *args: roots.append(args[-1]) or find(*args))
    for pattern in (r"x( [a-z]+)*", r"y( [a-z]+){2}!", r" [a-z]+\d"):
        grammar = compile_grammar("regex", pattern)
        matcher = Matcher(grammar, vocabulary)
        assert pattern[0] == " " or matcher.accept_bytes(pattern[:1].encode())
        np.testing.assert_array_equal(matcher.bitmask(), brute_force(grammar, matcher))
        assert matcher.is_allowed(tokens.index(b" two words")) == ("(" in pattern)
    assert roots == [vocabulary.trie.top[ord(" ")]]


def test_the_first_mask_of_a_vocabulary_prepares_the_strings_of_items_that_must_differ(kernels, small, monkeypatch):
    vocabulary = Vocabulary(small.tokens, small.eos_ids)
    Matcher(compile_grammar("json_schema", '{"type": "string"}'), vocabulary).bitmask()
    matcher = Matcher(compile_grammar("json_schema", '{"uniqueItems": true, "items": {"type": "string"}}'), vocabulary)
    matcher.accept_bytes(b'["a", "')
    made = []
    monkeypatch.setattr(Trie, "below", lambda *_: made.append(1))
    assert matcher.bitmask().any()
    assert not made
