"""Number languages against fractions: every short spelling, random ones, and no dead end."""

from __future__ import annotations

import heapq
import itertools
import json
import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.schema_automaton.number_languages.language import LARGEST, NUMERIC, NumberLanguage, number_language
from engine.schema_automaton.number_languages.listed import ListedNumbers
from engine.schema_automaton.number_languages.mantissa import DigitAutomaton, Mantissa
from engine.source import LimitExceededError

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")


def run(language, text):
    state = language.start
    for byte in text.encode():
        if state is None:
            return None
        state = language.step(state, byte)
    return state


def accepts(language, text):
    state = run(language, text)
    return state is not None and language.accepts(state)


# Beyond it an exponent no longer matters to any language tested here: bounds and divisors have at most six digits,
# mantissas fewer than a hundred. The oracle would otherwise write out a number of 10**40 digits.
FAR = 1000


def value_of(text):
    mantissa, _, exponent = text.lower().partition("e")
    power = max(-FAR, min(FAR, int(exponent or 0)))
    return Fraction(mantissa) * (Fraction(10) ** power)


def expected(language, text):
    form = INTEGER if language.integer else NUMBER
    return bool(form.fullmatch(text)) and value_of(text) in language


SHORT = [
    "".join(letters)
    for length in range(1, 6)
    for letters in itertools.product("-0125.e", repeat=length)
    if not ({".", "e"} & set(letters[:1]))
]

simple = st.builds(lambda n, s: Fraction(n, 10**s), st.integers(-1200, 1200), st.integers(0, 4))
divisors = st.builds(
    lambda n, s: Fraction(n, 10**s), st.sampled_from((*range(1, 9), 12, 15, 20, 25)), st.integers(0, 2)
)
languages = st.builds(
    NumberLanguage,
    minimum=st.none() | simple,
    exclusive_minimum=st.none() | simple,
    maximum=st.none() | simple,
    exclusive_maximum=st.none() | simple,
    multiple_of=st.lists(divisors, max_size=2).map(tuple),
    not_multiple_of=st.lists(divisors, max_size=2).map(tuple),
    integer=st.booleans(),
)
exponents = [
    "",
    *(f"{e}{sign}{zero}{power}" for e in "eE" for sign in ("", "+", "-") for zero in ("", "0") for power in range(10)),
]
# Made of four draws: `st.from_regex` takes one for every character, and took most of the time.
spellings = st.builds(
    lambda sign, whole, digits, exponent: f"{sign}{whole}{'.' * bool(digits)}{digits}{exponent}",
    st.sampled_from(("", "-")),
    st.integers(0, 99_999),
    st.text("0123456789", max_size=5),
    st.sampled_from(exponents),
)


@pytest.mark.parametrize(
    "language",
    [
        NumberLanguage(),
        NumberLanguage(integer=True),
        NumberLanguage(minimum=0),
        NumberLanguage(exclusive_minimum=0),
        NumberLanguage(minimum=-5, maximum=Decimal("12.5")),
        NumberLanguage(exclusive_minimum=1, exclusive_maximum=2),
        NumberLanguage(minimum=10, maximum=10),
        NumberLanguage(multiple_of=(5,)),
        NumberLanguage(multiple_of=(Decimal("0.25"),), maximum=2),
        NumberLanguage(multiple_of=(2,), not_multiple_of=(5,)),
        NumberLanguage(not_multiple_of=(1,)),
        NumberLanguage(not_multiple_of=(1,), minimum=1, maximum=2),
        NumberLanguage(minimum=2, maximum=50, integer=True),
        NumberLanguage(minimum=Decimal("1.5"), integer=True, multiple_of=(3,)),
        NumberLanguage(integer=True, multiple_of=(Decimal("1.5"),), maximum=-1),
    ],
    ids=repr,
)
def test_every_short_spelling(language):
    for text in SHORT:
        assert accepts(language, text) == expected(language, text), text


@settings(max_examples=150, deadline=None)
@given(languages, st.lists(spellings, min_size=1, max_size=20))
def test_agrees_with_fractions(language, texts):
    for text in texts:
        assert accepts(language, text) == expected(language, text), text
        state = run(language, text[:-1])
        if expected(language, text):
            assert state is not None


def completion(language, state):
    """A way to accept, found by looking and not by reasoning: nearest first, exponents before more digits."""
    seen, queue, order = {state}, [(0, 0, state, b"")], itertools.count()
    while queue and len(seen) < 40_000:
        _, _, one, text = heapq.heappop(queue)
        if language.accepts(one):
            return text
        for byte in b"0123456789.e-":
            after = language.step(one, byte)
            if after is not None and after not in seen:
                seen.add(after)
                effort = len(text) + 1 + 1000 * isinstance(after, Mantissa)
                heapq.heappush(queue, (effort, next(order), after, text + bytes([byte])))
    assume(not queue)  # whoever looks without reasoning may have to give up
    return None


@settings(max_examples=75, deadline=None)
@given(languages, st.lists(st.sampled_from(b"0123456789.e-"), max_size=8))
def test_no_dead_end(language, bytes_):
    state = language.start
    assert (state is None) == (language.witness() is None)
    if state is None:
        return
    text = b""
    for byte in bytes_:
        after = language.step(state, byte)
        if after is not None:
            state, text = after, text + bytes([byte])
    rest = completion(language, state)
    assert rest is not None, text
    assert expected(language, (text + rest).decode())


@settings(max_examples=75, deadline=None)
@given(languages)
def test_the_witness_is_in_the_set(language):
    witness = language.witness()
    if witness is None:
        assert language.start is None
    else:
        assert value_of(witness) in language
        assert accepts(language, witness)


@settings(max_examples=60, deadline=None)
@given(languages, st.integers(1, 8), st.lists(st.sampled_from(b"0123456789.e-"), max_size=14))
def test_at_the_edge_of_the_reach_there_is_no_dead_end_and_no_wrong_accept(language, beyond, bytes_):
    positive, negative = language.digits.sides
    short = max(positive.reach, negative.reach) - 64 + beyond
    object.__setattr__(language, "digits", DigitAutomaton(positive, negative, whole=language.integer, reach=short))
    state = language.start
    text = b""
    for byte in bytes_ * 3:
        after = state and language.step(state, byte)
        if after is not None:
            state, text = after, text + bytes([byte])
    if state is not None:
        rest = completion(language, state)
        assert rest is not None, text
        assert expected(language, (text + rest).decode())


@pytest.mark.parametrize("text", ["1e2", "100.0", "0.1e3", "10000e-0002", "1E+02", "0.001e0005", "100"])
def test_one_number_in_many_spellings(text):
    assert accepts(NumberLanguage(minimum=100, maximum=100), text)
    assert accepts(NumberLanguage(multiple_of=(100,)), text)
    assert not accepts(NumberLanguage(exclusive_maximum=100), text)
    assert not accepts(NumberLanguage(multiple_of=(1000,)), text)
    assert not accepts(NumberLanguage(not_multiple_of=(Decimal("0.5"),)), text)


def test_exponents_of_any_size():
    assert accepts(NumberLanguage(minimum=1), "1e" + "9" * 500)
    assert not accepts(NumberLanguage(minimum=1), "1e-" + "9" * 500)
    assert accepts(NumberLanguage(multiple_of=(7,)), "14e" + "9" * 500)
    assert not accepts(NumberLanguage(multiple_of=(7,)), "15e" + "9" * 500)
    assert accepts(NumberLanguage(maximum=0), "0e" + "9" * 500)
    assert accepts(NumberLanguage(maximum=0), "-0.0e-1")


def test_bounds_beyond_floating_point():
    big = NumberLanguage(maximum=18446744073709551615, integer=True)
    assert accepts(big, "18446744073709551615")
    assert not accepts(big, "18446744073709551616")
    assert run(big, "18446744073709551616") is None
    tiny = NumberLanguage(exclusive_minimum=Decimal("1e-400"), exclusive_maximum=Decimal("2e-400"))
    assert accepts(tiny, "1.5e-400")
    assert tiny.witness() is not None
    assert accepts(NumberLanguage(multiple_of=(Decimal("1e-8"),)), "0.0075")
    assert accepts(NumberLanguage(multiple_of=(Decimal("0.0001"),)), "0.0075")
    assert not accepts(NumberLanguage(multiple_of=(Decimal("0.0001"),)), "0.00751")


def test_numbers_of_any_length_where_nothing_binds():
    long = "123456789" * 100
    for language in (NumberLanguage(), NumberLanguage(minimum=1), NumberLanguage(integer=True, multiple_of=(3,))):
        assert accepts(language, long)
    assert accepts(NumberLanguage(), f"{long}.{long}e{long}")
    assert accepts(NumberLanguage(minimum=1), f"{long}.{long}")


def test_states_are_finitely_many():
    language = NumberLanguage(minimum=-90, maximum=90)
    assert run(language, "12.34567") == run(language, "12.3456789")
    whole = NumberLanguage(minimum=10, integer=True)
    assert run(whole, "1" + "0" * 50) == run(whole, "9" * 20)


def test_what_is_refused():
    with pytest.raises(LimitExceededError):
        NumberLanguage(minimum=Decimal(f"1e{LARGEST + 5}"))
    with pytest.raises(LimitExceededError):
        NumberLanguage(multiple_of=(Decimal(f"1e-{LARGEST + 5}"),))
    with pytest.raises(LimitExceededError):
        NumberLanguage(minimum=Decimal("1e1000000000"))
    with pytest.raises(ValueError, match="decimal"):
        NumberLanguage(minimum=Fraction(1, 3))
    with pytest.raises(ValueError, match="zero"):
        NumberLanguage(multiple_of=(0,))


def test_json_reads_what_is_accepted():
    assert 3 < json.loads(NumberLanguage(minimum=3, exclusive_maximum=4, not_multiple_of=(1,)).witness()) < 4


def test_a_row_is_all_steps_and_equal_languages_are_one():
    language = number_language(minimum=Fraction(-3), maximum=Fraction(12), integer=True)
    assert number_language(minimum=Fraction(-3), maximum=Fraction(12), integer=True) is language
    todo = [language.start]
    seen = set(todo)
    while todo:
        state = todo.pop()
        row = language.row(state)
        assert row == tuple(language.step(state, byte) for byte in NUMERIC) == language.row(state)
        todo += {following for following in row if following is not None} - seen
        seen.update(todo)
    assert len(seen) > 5


FINITE = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6)


@settings(deadline=None)
@given(st.lists(st.one_of(FINITE, st.integers(-99, 99).map(Decimal)), max_size=8))
def test_listed_numbers_have_one_form_each(numbers):
    values = [Fraction(each) for each in dict.fromkeys(numbers)]
    language = ListedNumbers(values)
    assert [Fraction(text) for text in language.texts] == values
    forms = [NUMBER.fullmatch(text) for text in language.texts]
    assert all(form is not None and form[3] is None and not (form[2] or "").endswith("0") for form in forms)
    texts, todo = [], [] if language.start is None else [(language.start, "")]
    while todo:
        state, text = todo.pop()
        row = language.row(state)
        assert row == tuple(language.step(state, byte) for byte in NUMERIC)
        assert language.accepts(state) or any(following is not None for following in row)
        texts += [text] if language.accepts(state) else []
        todo += [(to, text + chr(byte)) for byte, to in zip(NUMERIC, row, strict=True) if to is not None]
    assert sorted(texts) == sorted(set(language.texts))
    assert language.witness() == (language.texts[0] if values else None)
