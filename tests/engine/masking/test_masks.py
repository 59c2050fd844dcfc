"""Every mask against its definition: over small vocabularies for any grammar, over whole real ones for some."""

import numpy as np
import pytest
from brute_force import brute_force
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import Matcher, compile_grammar
from engine.automata.actions import ActionTable
from engine.masking.reference_mask import compute_reference_mask
from engine.masking.token_automaton import TokenAutomaton
from engine.source import Limits
from engine.vocabulary import Vocabulary

CASES = {
    "strict": (r"[A-Z]+: [a-z]+\n", b"TITLE: something\n"),
    "counted words": (r"(\d{4}-\d{2}-\d{2})( \w+){1,20}", b"2024-05-17 alpha beta"),
    "email": (r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}", b"jane.doe@mail.example"),
    "string": (r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"', '"é\\u00'.encode()),
    "any character, not any byte": (r".*x", "日".encode()[:2]),
    "all but ASCII": (r"[^\x00-\x7f]+", "日".encode()),
    "another first byte": (r"[a-z][a-z0-9]*(-[a-z0-9]+)*", b"a1-"),
    "look-ahead": (r"(?=.*[0-9])(?=.*[a-z]).{8,64}", b"a1b"),
    "words": (r"(?:\bfoo\b|[a-z ])+", b"foo ba"),
    "letters of all scripts": (r"(\p{Greek}+ ?)+", "αβ".encode()),
    "loop in a loop": (r"([a-z]*,[a-z]*;)*", b"ab,c"),
    "two loops": (r"[a-m]*[h-z]*", b"ah"),
}


@pytest.mark.parametrize("name", CASES)
def test_masks_over_a_small_vocabulary(name, walk, small):
    pattern, text = CASES[name]
    check(pattern, text, small, sorted({0, 1, len(text) // 2, len(text)}))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("vocabulary", ["tekken", "mistral_pieces"])
def test_masks_over_a_real_vocabulary(name, vocabulary, kernels, request):
    pattern, text = CASES[name]
    check(pattern, text, request.getfixturevalue(vocabulary), (1, len(text)))


def test_the_plain_walk_over_a_real_vocabulary(mistral_pieces):
    for pattern, text in CASES.values():
        grammar = compile_grammar("regex", pattern)
        matcher = Matcher(grammar, mistral_pieces)
        assert matcher.accept_bytes(text[:1])
        plain = compute_reference_mask(mistral_pieces.trie, grammar.automaton, matcher.configuration)
        (end,) = mistral_pieces.eos_ids
        plain[end >> 5] |= np.uint32(matcher.is_accepting << (end & 31))
        np.testing.assert_array_equal(plain.view(np.int32), brute_force(grammar, matcher))


def check(pattern, text, vocabulary, ends):
    """Compare masks behind parts of a text, which end at some places."""
    grammar = compile_grammar("regex", pattern)
    for end in ends:
        matcher = Matcher(grammar, vocabulary)
        assert matcher.accept_bytes(text[:end])
        mask, expected = matcher.bitmask(), brute_force(grammar, matcher)
        np.testing.assert_array_equal(mask, expected)


# ---------------------------------------------------------------------- any automaton, any vocabulary


class TableAutomaton:
    """A stand-in for the lazy automaton over a given table; entries are missing until a step asks for them."""

    start = 1
    generation = 0
    token_elements = frozenset()
    string_loops = ()
    limits = Limits()

    def evict_states(self):
        pass

    def __init__(self, table, class_of_byte, accepting):
        self._table = np.array(table, np.int32)
        self.class_of_byte = np.array(class_of_byte, np.uint8)
        self.n_classes = self._table.shape[1]
        self.rows = np.full_like(self._table, -1)
        self.rows[0] = 0
        self.accepting = np.array(accepting, np.uint8)
        self.actions = ActionTable()

    def step(self, configuration, byte_class):
        # A fresh array each time: whoever keeps the old one misses what is added.
        self.rows = self.rows.copy()
        self.rows[configuration, byte_class] = self._table[configuration, byte_class]
        return int(self.rows[configuration, byte_class])

    fill = step

    def complete(self, configuration):
        for byte_class in range(self.n_classes):
            self.step(configuration, byte_class)

    def cursor(self, configuration):
        return configuration

    def advance(self, configuration, byte):
        return self.step(configuration, self.class_of_byte[byte]) or None

    def stack_top(self, configuration, depth):
        return configuration, []

    def loop_at(self, configuration):
        return None

    def widen(self, configuration, longest):
        return configuration

    def may_have_loop(self, configuration):
        return True

    def run(self, configuration, data):
        for byte in data:
            configuration = self.step(configuration, self.class_of_byte[byte])
        return configuration


@st.composite
def automata(draw):
    """Tables with many loops: bytes are few classes, and most entries lead back or to one other configuration."""
    size, classes = draw(st.integers(2, 6)), draw(st.integers(1, 6))
    entry = st.integers(0, size - 1)
    table = [[0] * classes] + [
        [draw(st.one_of(st.just(home), entry)) for _ in range(classes)] for home in range(1, size)
    ]
    borders = sorted(draw(st.lists(st.sampled_from([0x30, 0x61, 0x7B, 0x80, 0xC0, 0xC2, 0xE0, 0xF0]), max_size=8)))
    numbers = draw(st.lists(st.integers(0, classes - 1), min_size=9, max_size=9))
    class_of_byte = [numbers[sum(border <= byte for border in borders)] for byte in range(256)]
    accepting = [0, *(draw(st.integers(0, 1)) for _ in range(size - 1))]
    return TableAutomaton(table, class_of_byte, accepting)


token = st.one_of(
    st.none(),
    st.text("a0 é日😀", max_size=5).map(str.encode),
    st.lists(st.sampled_from([0x00, 0x30, 0x61, 0x7B, 0x80, 0xBF, 0xC3, 0xE6, 0xF0, 0xFF]), max_size=6).map(bytes),
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(automata(), st.lists(token, min_size=1, max_size=60))
def test_kernels_and_plain_walk_agree_on_any_automaton(kernels, automaton, tokens):
    vocabulary = Vocabulary(tokens, eos_ids=[])
    shared = TokenAutomaton(automaton, vocabulary)
    for configuration in range(1, len(automaton.accepting)):
        mask = np.array(shared.mask(shared.state(configuration))).view(np.uint32)
        plain = compute_reference_mask(vocabulary.trie, automaton, configuration)
        np.testing.assert_array_equal(mask, plain)
        allowed = [i for i, text in enumerate(tokens) if text and automaton.run(configuration, text)]
        assert np.flatnonzero(np.unpackbits(plain.view(np.uint8), bitorder="little")).tolist() == allowed


# ---------------------------------------------------------------------- random walks


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pattern=st.sampled_from([pattern for pattern, _ in CASES.values()]), data=st.data())
def test_a_random_walk_ends_where_a_replay_does(small, kernels, pattern, data):
    grammar = compile_grammar("regex", pattern)
    matcher, taken = Matcher(grammar, small), []
    for action in data.draw(st.lists(st.sampled_from(["take", "take", "take", "back", "fork"]), max_size=25)):
        choices = np.flatnonzero(np.unpackbits(matcher.bitmask().view(np.uint8), bitorder="little")).tolist()
        if action == "take" and choices:
            # Seldom a single byte, of which there are most.
            wanted = [i for i in choices if i >= 256] or choices
            token_id = data.draw(st.sampled_from(data.draw(st.sampled_from([wanted, choices]))))
            assert matcher.is_allowed(token_id)
            assert matcher.accept(token_id)
            taken.append(token_id)
        elif action == "back" and taken:
            count = data.draw(st.integers(0, len(taken)))
            matcher.rollback(count)
            taken = taken[: len(taken) - count]
        elif action == "fork":
            left, matcher = matcher, matcher.fork()
            left.accept_bytes(b"a")
    replay = Matcher(compile_grammar("regex", pattern), small)
    assert all(replay.accept(token_id) for token_id in taken)
    assert (replay.is_accepting, replay.is_finished) == (matcher.is_accepting, matcher.is_finished)
    np.testing.assert_array_equal(replay.bitmask(), matcher.bitmask())
    np.testing.assert_array_equal(matcher.bitmask(), brute_force(grammar, matcher))
