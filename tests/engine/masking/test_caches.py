import gc
import weakref

import numpy as np
import pytest

import engine
from engine import Matcher, compile_grammar
from engine.masking import token_automaton as module
from engine.masking.token_automaton import MaskCache, mask_cache, token_automaton
from engine.vocabulary import Vocabulary


@pytest.fixture(autouse=True)
def empty_caches():
    engine.clear_caches()
    yield
    engine.clear_caches()


def token_state(matcher, vocabulary):
    """The state in which a matcher is, which all matchers of its grammar share."""
    return token_automaton(matcher.grammar.automaton, vocabulary).state(matcher.configuration)


def test_matchers_of_a_grammar_share_their_masks(small):
    grammar = compile_grammar("regex", "a*")
    one, other = Matcher(grammar, small), Matcher(grammar, small)
    one.bitmask()
    assert other.configuration == one.configuration
    assert token_state(other, small).mask is not None


def test_equal_masks_are_held_once(small):
    text = Matcher(compile_grammar("regex", "(ab){5}"), small)
    masks = set()
    for _ in range(5):
        text.bitmask()
        masks.add(id(token_state(text, small).mask))
        assert text.accept_bytes(b"ab")
    # No token is longer than "ab", so none of these masks knows how many times it may still follow.
    assert len(masks) == 1


def test_a_grammar_takes_its_states_with_it(small):
    grammar = compile_grammar("regex", "ab*")
    matcher = Matcher(grammar, small)
    matcher.bitmask()
    shared = weakref.ref(token_automaton(grammar.automaton, small))
    del grammar
    gc.collect()
    assert shared() is not None  # the matcher lives
    assert matcher.accept_bytes(b"ab")
    del matcher
    gc.collect()
    assert shared() is None


def test_a_vocabulary_takes_its_states_and_regions_with_it():
    grammar = compile_grammar("regex", "[a-z]*")
    vocabulary = Vocabulary([b"a", b"b"], [])
    Matcher(grammar, vocabulary).bitmask()
    gone = [
        weakref.ref(vocabulary),
        weakref.ref(vocabulary.trie),
        weakref.ref(token_automaton(grammar.automaton, vocabulary)),
    ]
    del vocabulary
    gc.collect()
    assert [reference() for reference in gone] == [None, None, None]


def test_clearing_forgets_grammars_and_keeps_matchers_going(small):
    grammar = compile_grammar("regex", "ab*")
    matcher = Matcher(grammar, small)
    before, state = matcher.bitmask(), token_state(matcher, small)
    engine.clear_caches()
    assert token_state(Matcher(grammar, small), small) is not state
    assert state.mask is None
    np.testing.assert_array_equal(matcher.bitmask(), before)
    assert matcher.accept_bytes(b"ab")


def test_the_store_is_bounded(small, monkeypatch):
    size = 4 * ((small.size + 31) // 32)
    bounded = MaskCache(budget=3 * size)
    monkeypatch.setattr(module, "mask_cache", bounded)
    matcher = Matcher(compile_grammar("regex", "0123456789"), small)
    masks = []
    for digit in b"0123456789":
        masks.append(matcher.bitmask())
        assert bounded.used_bytes <= 3 * size
        assert matcher.accept_bytes(bytes((digit,)))
    assert [sum(map(int.bit_count, mask.view(np.uint32).tolist())) for mask in masks] == [1] * 10
    held = [state for state in token_automaton(matcher.grammar.automaton, small).states.values() if state.mask]
    assert len(held) <= 3


def test_masks_that_only_hash_alike_are_not_mixed_up(monkeypatch):
    monkeypatch.setattr("engine.masking.token_automaton.hash", lambda content: 7, raising=False)
    shared = MaskCache()
    one, two = (shared.share(np.array([value], np.uint32)) for value in (1, 2))
    assert (one[0], two[0]) == (1, 2)


def test_remembered_steps_are_bounded(small, monkeypatch):
    monkeypatch.setattr(module, "MAX_STEPS", 4)
    matcher = Matcher(compile_grammar("regex", "[a-z]*"), small)
    for letter in b"abcdefghij":
        assert matcher.accept(letter)
    shared = token_automaton(matcher.grammar.automaton, small)
    assert sum(len(state.next_states) for state in shared.states.values()) <= 4


def test_the_store_knows_no_dead_user():
    gc.collect()
    assert len(mask_cache.users) == 0
