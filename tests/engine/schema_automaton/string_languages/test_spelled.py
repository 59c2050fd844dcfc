"""Languages over letters against their twins over bytes."""

import json
import re
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.compile import compile_grammar
from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.json_encoding.encoded_automaton import EncodedAutomaton
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages import language as language_module
from engine.schema_automaton.string_languages import products
from engine.schema_automaton.string_languages.language import TextLanguage
from engine.schema_automaton.string_languages.products import TooManyClassesError
from engine.schema_automaton.string_languages.witnesses import Witnesses
from engine.source import GrammarError, LimitExceededError, Limits, Span
from tests.engine.schema_automaton.string_formulas import PIECES, build, formulas, node_of


def over_bytes(formula, escapes):
    def begin(*arguments, by_characters):
        if by_characters:
            raise TooManyClassesError
        return products.begin(*arguments, by_characters=False)

    with patch.object(language_module, "begin", begin):
        try:
            language = TextLanguage(formula, Witnesses(Limits(), escapes))
            assert language.automaton is not None
        except LimitExceededError:
            assume(False)  # it looks behind
    return language


def check_in_lockstep(one, other, random, most):
    """Two languages along a random text: the same bytes go on, and it may end at the same places."""
    assert (one.start is None) is (other.start is None)
    mine, theirs = one.start, other.start
    for _ in range(most if mine is not None else 0):
        assert one.accepts(mine) is other.accepts(theirs)
        assert one.is_free(mine) <= one.accepts(mine)
        rows = one.row(mine), other.row(theirs)
        going_on = [byte for byte in range(256) if rows[0][byte] is not None]
        assert going_on == [byte for byte in range(256) if rows[1][byte] is not None]
        if not going_on:
            return
        pieces = [piece for piece in PIECES if piece[0] in going_on]
        for byte in random.choice(pieces or [bytes([random.choice(going_on)])]):
            following = one.step(mine, byte), other.step(theirs, byte)
            assert (following[0] is None) is (following[1] is None)
            assert following[0] == one.row(mine)[byte]
            if following[0] is None:
                return
            mine, theirs = following


@settings(max_examples=150)
@given(formulas, st.sampled_from(Escapes), st.integers(0, 1 << 32))
def test_over_letters_a_language_is_what_it_is_over_bytes(formula, escapes, seed):
    built = build(Arena(), formula)
    check_in_lockstep(TextLanguage(built, Witnesses(Limits(), escapes)), over_bytes(built, escapes), Random(seed), 12)


@pytest.mark.parametrize("pattern", [r"^(?=.*\d)(?!.*ab)\w+$", r"^[^\x00-\x7f]{2,}$", r"^\S+\s\S$"])
def test_conditions_over_letters(pattern):
    text = Arena().text(lambda: node_of(pattern), ("pattern", pattern), Span(0, 1))
    for seed in range(20):
        for escapes in Escapes:
            check_in_lockstep(
                TextLanguage(text, Witnesses(Limits(), escapes)), over_bytes(text, escapes), Random(seed), 12
            )


@given(
    st.sampled_from([r"\bab\b", "(?<=a)b", "(?<!a)b", r"a\B", "(?<=[aé])b"]),
    st.text("abéjñ\t 1", max_size=6),
    st.integers(0, 1 << 32),
)
def test_what_looks_behind_sees_characters_however_they_are_spelled(pattern, text, seed):
    language = TextLanguage(
        Arena().text(lambda: node_of(pattern), ("pattern", pattern), Span(0, 1)), Witnesses(Limits(), Escapes.ANY)
    )
    random, state = Random(seed), language.start
    for character in text:
        raw, escaped = character.encode(), f"\\u{ord(character):04x}".encode()
        for byte in escaped if ord(character) < 0x20 or random.random() < 0.5 else raw:
            state = state and language.step(state, byte)
    found = re.search(f"(?a:{pattern})", text) is not None
    assert (state is not None and language.accepts(state)) is found


def test_a_pattern_of_too_many_letters_that_looks_behind_is_refused():
    letters = "".join(f"[{chr(0x4E00 + i)}]" for i in range(300))
    with pytest.raises((LimitExceededError, GrammarError)):
        compile_grammar("json_schema", json.dumps({"type": "string", "pattern": f"(?<=a){letters}"})).fullmatch('"a"')


@settings(max_examples=60)
@given(formulas, st.integers(0, 1 << 32))
def test_what_is_lacking_is_a_lower_bound(formula, seed):
    language, random = TextLanguage(build(Arena(), formula), Witnesses(Limits(), Escapes.ANY)), Random(seed)
    automaton, state, left = language.automaton, language.start, []
    while state is not None and len(left) < 12 and isinstance(automaton, EncodedAutomaton):
        left.append((automaton.min_remaining(state), language.accepts(state)))
        going_on = [byte for byte, following in enumerate(language.row(state)) if following is not None]
        state = language.step(state, random.choice(going_on)) if going_on else None
    for at, (remaining, _) in enumerate(left):
        for later, (_, accepting) in enumerate(left[at:]):
            if accepting:
                assert remaining.at_least <= later
