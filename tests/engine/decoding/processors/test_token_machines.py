"""Static masks, guides by hand and by pattern: machines over tokens, held against each other and the regex."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from catalogue_texts import shows
from error_keys import raises_key
from hypothesis import given, settings
from hypothesis import strategies as st
from random_model import LETTERS

from engine.compile import compile_grammar
from engine.decoding.errors import EmptyMaskError
from engine.decoding.processors import (
    ENDED,
    Context,
    DfaTable,
    FiniteStateGuide,
    MaskProcessor,
    StaticMask,
    compile_pattern,
    parse_pattern,
)
from engine.decoding.processors.pattern import fixed_sets
from engine.export.tables.token_index import build_token_index
from engine.source import InvariantError, LimitExceededError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

CHARACTERS = Vocabulary(LETTERS, [])
WITH_END = Vocabulary([b"a", b"b", b"ab", b"\n", None], [4], {4: "<end>"})


def of_the_regex(source: str, vocabulary: Vocabulary) -> FiniteStateGuide:
    """The regex's token automaton as a guide."""
    index = build_token_index(compile_grammar("regex", source), vocabulary)
    guide = FiniteStateGuide(vocabulary, start=index.dfa.start)
    for state, (tokens, targets) in enumerate(zip(index.tokens, index.targets, strict=True)):
        for target in sorted(set(targets.tolist())):
            guide.add_transition(state, tokens[targets == target], target)
        if index.dfa.states[state].accepting:
            guide.add_final(state)
    return guide


def by_hand() -> FiniteStateGuide:
    guide = FiniteStateGuide(CHARACTERS, start="line")
    guide.add_transition("line", "UPPER", "name")
    guide.add_transition("name", "UPPER", "name")
    guide.add_transition("name", ":", "colon")
    guide.add_transition("colon", "SPACE", "blank")
    guide.add_transition("blank", "LOWER", "word")
    guide.add_transition("word", "LOWER", "word")
    guide.add_transition("word", "NEWLINE", "end")
    return guide


PATTERN = [("UPPER", "+"), (":", "1"), (" ", "1"), ("LOWER", "+"), ("\n", "1")]


def test_by_hand_by_pattern_and_by_regex_are_one_machine():
    hand, compiled = by_hand(), compile_pattern(CHARACTERS, PATTERN)
    regex = of_the_regex(r"[A-Z]+: [a-z]+\n", CHARACTERS)
    assert hand.is_same_machine(compiled)
    assert compiled.is_same_machine(regex)
    assert regex.is_same_machine(hand)
    assert compile_pattern(CHARACTERS, r'UPPER+ ":" " " LOWER+ NEWLINE').is_same_machine(hand)
    assert len(compiled.states) == len(hand.states) == 6


def test_machines_that_differ_are_told_apart():
    hand = by_hand()
    assert not hand.is_same_machine(compile_pattern(CHARACTERS, r'UPPER* ":" " " LOWER+ NEWLINE'))
    assert not hand.is_same_machine(compile_pattern(CHARACTERS, r'UPPER+ ":" " " LOWER+ NEWLINE+'))
    assert not hand.is_same_machine(compile_pattern(CHARACTERS, r'UPPER+ ":" " " LETTER+ NEWLINE'))
    longer = by_hand()
    longer.add_final("word")
    assert not hand.is_same_machine(longer)
    doubled = FiniteStateGuide(CHARACTERS, start=1)  # the same language, one state more
    doubled.add_transition(1, "UPPER", 2)
    doubled.add_transition(2, "UPPER", 3)
    doubled.add_transition(3, "UPPER", 3)
    single = FiniteStateGuide(CHARACTERS)
    single.add_transition(0, "UPPER", 1)
    single.add_transition(1, "UPPER", 1)
    assert not single.is_same_machine(doubled)
    assert not doubled.is_same_machine(single)


ELEMENTS = st.tuples(
    st.sampled_from(["UPPER", "LOWER", "LETTER", ":", "ab", "\n", "SPACE", "ANY"]),
    st.sampled_from(["1", "?", "*", "+", "2", "{0,2}", "{1,3}", "{2,}"]),
)
AS_REGEX = {"UPPER": "[A-Z]", "LOWER": "[a-z]", "LETTER": "[A-Za-z]", "SPACE": " ", "ANY": r"[A-Za-z:\n ]"}


@given(st.lists(ELEMENTS, max_size=5))
@settings(max_examples=60, deadline=None)
def test_a_pattern_is_the_token_automaton_of_its_regex(pattern):
    source = "".join(f"(?:{AS_REGEX.get(what, re.escape(what))}){_as_regex(count)}" for what, count in pattern)
    assert compile_pattern(CHARACTERS, pattern).is_same_machine(of_the_regex(source, CHARACTERS)), source


def _as_regex(count: str) -> str:
    return f"{{{count}}}" if count.isdecimal() else count


@given(st.lists(ELEMENTS, min_size=1, max_size=3), st.text("AaBb:\n ", max_size=5))
@settings(max_examples=60, deadline=None)
def test_a_pattern_takes_what_pythons_own_regex_takes(pattern, text):
    source = "".join(f"(?:{AS_REGEX.get(what, re.escape(what))}){_as_regex(count)}" for what, count in pattern)
    guide = compile_pattern(CHARACTERS, pattern)
    state = guide.start()
    for char in text:
        state = None if state is None else guide.advance(state, LETTERS.index(char.encode()))
    assert (state is not None and guide.is_accepting(state)) == bool(re.fullmatch(source, text))


def test_a_text_may_be_spelled_by_any_tokens_but_none_that_reaches_beyond_it():
    vocabulary = Vocabulary([b"a", b"b", b"ab", b"bc", b"abc", b"c"], [])
    guide = compile_pattern(vocabulary, [("ab", "1"), ("c", "1")])
    spellings = [ids for n in range(1, 4) for ids in itertools.product(range(6), repeat=n) if takes(guide, ids)]
    assert spellings == [(2, 5), (0, 1, 5)]


def takes(machine: MaskProcessor[int], ids: tuple[int, ...]) -> bool:
    state: int | None = machine.start()
    for token_id in ids:
        state = None if state is None else machine.advance(state, token_id)
    return state is not None and machine.is_accepting(state)


def test_classes_are_repeated_in_tokens():
    vocabulary = Vocabulary([b"a", b"ab", b"A"], [])
    guide = compile_pattern(vocabulary, "LOWER{2}")
    assert takes(guide, (1, 1))
    assert not takes(guide, (1,))


@pytest.mark.parametrize(
    ("text", "position", "key"),
    [
        ("UPER+", 1, "unknown_class"),
        ('UPPER "a', 7, "element"),
        ("UPPER+LOWER", 7, "no_blank"),
        (r'"a\q"', 3, "escape"),
    ],
)
def test_a_broken_pattern_says_where(text, position, key):
    with raises_key(InvariantError, "errors.decoding.pattern.unreadable", position=position) as caught:
        compile_pattern(CHARACTERS, text)
    assert shows(caught.value.fields["reason"], f"errors.decoding.pattern.{key}")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("UPPER{3,2}", "errors.decoding.pattern.order"),
        ('""', "errors.decoding.pattern.empty"),
        ('"zz9"', "errors.decoding.pattern.not_spelled"),
        ("DIGIT", "errors.decoding.token_set.empty"),
    ],
)
def test_a_pattern_that_means_nothing_is_refused(text, key):
    with raises_key(InvariantError, key):
        compile_pattern(CHARACTERS, text)


def test_a_pattern_that_is_too_large_is_refused_with_its_numbers():
    with raises_key(LimitExceededError, "errors.limit.pattern_states", limit=10000):
        compile_pattern(CHARACTERS, "LOWER{20000}")


def test_a_written_pattern_is_read_as_it_is_meant():
    assert parse_pattern(r'UPPER+ "a\n\"" LOWER{2,} "x"?') == (
        ("UPPER", "+"),
        (b'a\n"', "1"),
        ("LOWER", "{2,}"),
        (b"x", "?"),
    )


# Static masks.


def test_a_static_mask_is_its_sets_one_after_the_other():
    masks = StaticMask(CHARACTERS, ["LOWER"] * 2 + ["NEWLINE"])
    state = masks.start()
    for char, count in ((b"x", 26), (b"y", 26), (b"\n", 1)):
        assert masks.allowed(state).sum() == count
        assert masks.advance(state, LETTERS.index(b"A")) is None
        state = masks.advance(state, LETTERS.index(char))
    assert masks.is_accepting(state)
    assert not masks.allowed(state).any()
    assert masks.is_over(state)


def test_behind_the_last_set_comes_the_end_where_there_is_one():
    masks = StaticMask(WITH_END, ["LOWER"])
    state = masks.step(masks.start(), 2)
    assert np.flatnonzero(masks.allowed(state)).tolist() == [4]
    assert masks.step(masks.start(), 4) is None
    assert masks.step(state, 4) is ENDED


def test_fixed_sets_refuse_what_varies():
    assert len(fixed_sets(CHARACTERS, "LOWER{5} NEWLINE")) == 6
    with raises_key(InvariantError, "errors.decoding.pattern.variable", count="+"):
        fixed_sets(CHARACTERS, "LOWER+")


# Guides.


def test_a_token_leads_to_one_state():
    guide = FiniteStateGuide(WITH_END)
    guide.add_transition(0, "LOWER", 1)
    guide.add_transition(0, [0], 1)
    with raises_key(InvariantError, "errors.decoding.table.another_state", state="0", token=0):
        guide.add_transition(0, [0, 3], 2)


def test_a_guide_can_grow_after_it_was_used():
    guide = FiniteStateGuide(WITH_END)
    guide.add_transition(0, [0], 1)
    assert guide.is_accepting(1)
    guide.add_transition(1, [1], 0)
    assert not guide.is_accepting(1)
    assert np.flatnonzero(guide.allowed(1)).tolist() == [1]
    guide.add_final(1)
    assert np.flatnonzero(guide.allowed(1)).tolist() == [1, 4]


@pytest.mark.parametrize("vocabulary", [CHARACTERS, WITH_END], ids=["characters", "with an end"])
def test_a_guide_as_a_table_allows_the_same(vocabulary):
    guide = compile_pattern(vocabulary, 'LOWER{1,2} NEWLINE LOWER* "a"')
    table = DfaTable(guide.transitions(), 1, vocabulary=vocabulary)
    for seed in range(10):
        rng, state, row = np.random.default_rng(seed), guide.start(), table.start()
        for _ in range(8):
            np.testing.assert_array_equal(guide.allowed(state), table.allowed(row))
            if vocabulary.eos_ids or not guide.allowed(state).any():
                assert guide.is_accepting(state) == table.is_accepting(row)
            going_on = [i for i in np.flatnonzero(guide.allowed(state)) if i not in vocabulary.eos_ids]
            if not going_on:
                break
            token_id = int(rng.choice(going_on))
            state, row = guide.advance(state, token_id), table.advance(row, token_id)


# As processors.


def test_a_batch_is_its_rows_each_by_itself():
    guide, rng = by_hand(), np.random.default_rng(3)
    histories, states = [[], [], []], [guide.start()] * 3
    batch = guide.init(3)
    for _ in range(12):
        logits = rng.normal(size=(3, CHARACTERS.size))
        masked, batch = guide.process(batch, logits, Context.of(histories))
        assert not np.isnan(masked).any()
        for row in range(3):
            allowed = guide.allowed(states[row])
            if allowed.any():
                np.testing.assert_array_equal(masked[row], np.where(allowed, logits[row], -np.inf))
            else:  # it has ended, and is left with one token
                assert np.flatnonzero(np.isfinite(masked[row])).tolist() == [guide.pad_id]
            token_id = int(np.argmax(masked[row]))
            histories[row].append(token_id)
            if allowed.any():
                states[row] = guide.advance(states[row], token_id)


def test_the_prompt_moves_nothing_and_an_older_state_goes_back():
    guide = by_hand()
    logits = np.zeros((1, CHARACTERS.size))
    prompt = [LETTERS.index(b"x")]
    first, after_first = guide.process(guide.init(1), logits, Context.of([prompt]))
    assert np.isfinite(first).sum() == 26
    upper = [*prompt, LETTERS.index(b"Q")]
    second, _ = guide.process(after_first, logits, Context.of([upper]))
    assert np.isfinite(second).sum() == 27
    again, _ = guide.process(after_first, logits, Context.of([upper]))
    np.testing.assert_array_equal(second, again)


def test_a_token_that_was_not_allowed_is_an_error_with_what_was_expected():
    guide = compile_pattern(CHARACTERS, '":" UPPER')
    _, state = guide.process(guide.init(2), np.zeros((2, CHARACTERS.size)), Context.of([[], []]))
    colon, letter = LETTERS.index(b":"), LETTERS.index(b"x")
    with raises_key(
        EmptyMaskError,
        "errors.decoding.empty_mask",
        cause=catalogue_text("decoding.empty.taken", tokens="`x`"),
        expected=catalogue_text("errors.decoding.fragment.expected", expected="`:`"),
    ):
        guide.process(state, np.zeros((2, CHARACTERS.size)), Context.of([[colon], [letter]]))


def test_logits_that_rule_out_all_that_is_allowed_are_an_error():
    guide = compile_pattern(CHARACTERS, '":"')
    logits = np.where(np.arange(CHARACTERS.size) == LETTERS.index(b":"), -np.inf, 0.0)[None]
    with raises_key(
        EmptyMaskError,
        "errors.decoding.empty_mask",
        expected=catalogue_text("errors.decoding.fragment.expected", expected="`:`"),
    ):
        guide.process(guide.init(1), logits, Context.of([[]]))


def test_wide_logits_with_nan_come_out_clean():
    guide = compile_pattern(CHARACTERS, "UPPER")
    logits = np.full((1, CHARACTERS.size + 7), np.nan)
    logits[0, :3] = 1.0
    masked, _ = guide.process(guide.init(1), logits, Context.of([[]]))
    assert np.flatnonzero(np.isfinite(masked)).tolist() == [0, 1, 2]
    assert not np.isnan(masked).any()
