"""Numbers that are too large for arithmetic: read, compared, excluded and listed by their digits."""

import json
import random
from decimal import Context, Decimal
from fractions import Fraction

import pytest

from engine import GrammarError, Matcher, Vocabulary, compile_grammar, warm
from engine.schema_automaton.formula.values import LARGEST, HugeNumber, integer, number
from engine.schema_automaton.number_languages.huge import is_above, is_multiple, language_of, without
from engine.schema_automaton.number_languages.language import number_language

EXACT = Context(prec=20_000)


def spelled(value, rng):
    """The same number in another form."""
    shift = rng.choice((0, 0, 1, -1, 7, -2000, 1500))
    mantissa = value.scaleb(-shift, EXACT)
    text = f"{mantissa:f}" if abs(mantissa.adjusted()) < 8_000 else f"{mantissa:E}"
    if rng.random() < 0.3 and "." in text and "E" not in text:
        text += "0" * rng.randint(1, 3)
    if "E" in text:
        head, _, tail = text.partition("E")
        return f"{head}e{int(tail) + shift}"
    return f"{text}e{rng.choice(('', '+'))}{shift}" if shift > 0 else text + (f"E{shift}" if shift else "")


def accepts(language, text):
    state = language.start
    for byte in text.encode():
        state = language.step(state, byte)
        if state is None:
            return False
    return language.accepts(state)


def test_a_number_is_a_fraction_up_to_the_largest_size():
    assert number("1e1000") == HugeNumber(False, "1", 1001)
    assert number("1e999") == 10**999
    assert number("1e-1000") == Fraction(1, 10**1000)
    assert number("-1e-1001") == HugeNumber(True, "1", -1000)
    assert number("-" + "9" * LARGEST) == -(10**1000 - 1)
    assert number("1.5E0000000000000000000001") == 15
    assert number("0.000e99999999999") == 0
    assert number("-0.0") == 0


@pytest.mark.parametrize("text", ["1e99999", "-1e-99999", "9" * 5_000, "1e" + "9" * 5_000, "0." + "0" * 2_000 + "1"])
def test_all_forms_of_a_huge_number_are_one_value(text):
    one = number(text)
    assert isinstance(one, HugeNumber)
    assert repr(one)
    if len(text) < 3_000:
        rng = random.Random(text)
        assert {number(spelled(Decimal(text), rng)) for _ in range(30)} == {one}


def test_long_digits_are_read_as_an_integer():
    digits = "123456789" * 2_000
    assert integer(digits) == int(Decimal(digits))


def test_a_huge_number_is_compared_with_bounds_and_divisors_exactly():
    large, fine = number("12e2000"), number("0.5" + "0" * 1_500 + "1")
    assert is_above(large, Fraction(10) ** 999)
    assert not is_above(number("-12e2000"), Fraction(0))
    assert is_above(fine, Fraction(1, 2))
    assert not is_above(fine, Fraction(1, 2) + Fraction(1, 10**1000))
    assert not is_above(number("-0.5" + "0" * 1_500 + "1"), Fraction(-1, 2))
    assert is_above(number("1e-5000"), Fraction(0))
    assert is_multiple(large, Fraction(3))
    assert not is_multiple(large, Fraction(7))
    assert is_multiple(number("7e5000"), Fraction(7, 10))
    assert not is_multiple(fine, Fraction(1, 10**900))


@pytest.mark.parametrize("seed", range(5))
def test_languages_with_and_without_huge_numbers(seed):
    rng = random.Random(seed)
    values = [
        Decimal(rng.choice(("", "-")) + str(rng.randint(1, 999))).scaleb(rng.choice((1500, 2000, -1500, -2500)), EXACT)
        for _ in range(4)
    ]
    chosen = frozenset(number(f"{value:E}") for value in values[:2])
    apart, listed = without(number_language(), chosen), language_of(chosen, written=False)
    for value in values:
        for _ in range(6):
            text = spelled(value, rng)
            assert accepts(apart, text) is (number(text) not in chosen)
            assert accepts(listed, text) is (number(text) in chosen)
    assert accepts(apart, "0") is accepts(apart, "-12.5e3") is True
    assert accepts(listed, "0") is accepts(listed, "15") is False


@pytest.mark.parametrize(
    ("base", "excluded"),
    [
        (number_language(), "1e5000"),
        (number_language(minimum=0), "15e-3000"),
        (number_language(integer=True), "1e1200"),
        (number_language(minimum=2, exclusive_maximum=3), "2." + "0" * 1_200 + "1"),
        (number_language(multiple_of=(7,)), "7e3000"),
    ],
)
def test_no_state_beside_an_excluded_number_is_a_dead_end(base, excluded):
    language = without(base, frozenset((number(excluded),)))
    for text in (excluded, "0." + excluded if "." not in excluded and "e" not in excluded else excluded):
        state = language.start
        for byte in text.encode():
            following = language.step(state, byte)
            if following is None:
                break
            state = following
            assert language.accepts(state) or any(each is not None for each in language.row(state))


def test_the_only_exponent_left_is_not_begun():
    # Between 2 and 3, this mantissa needs the exponent 1500: excluded, it must not even get its mark.
    digits = "0." + "0" * 1_499 + "2" + "0" * 1_200 + "1"
    base = number_language(minimum=2, exclusive_maximum=3, multiple_of=())
    excluded = frozenset((number(digits + "e1500"),))
    assert accepts(without(base, frozenset((number("1e5000"),))), "2." + "0" * 1_200 + "1")
    language = without(base, excluded)
    assert not accepts(language, "2." + "0" * 1_200 + "1")
    assert accepts(language, "2." + "0" * 1_200 + "11")
    state = language.start
    for byte in ("2." + "0" * 1_200 + "1").encode():
        state = language.step(state, byte)
    assert language.step(state, ord("e")) is None
    assert base.step(state.base, ord("e")) is not None


# ---------------------------------------------------------------------- schemas


BYTES = Vocabulary([bytes([byte]) for byte in range(256)] + [None], eos_ids=[256])
NINES = "9" * 5_000


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("[1e5000,2]", True),
        ("[1e99999,2,1e99998]", True),
        ("[1e99999,1E+099999]", False),
        ("[10.0e99998,1e99999]", False),
        ("[1e99999,[1e99999],-1e99999]", True),
        ("[[1e99999],[10e99998]]", False),
        ("[[1e99999],[1e99998]]", True),
        ('[{"a":1e99999},{"a":10e99998}]', False),
        ('[{"a":1e99999},{"a":1e99998},{"b":1e99999}]', True),
        ("[1e-99999,0,1e-99998]", True),
        ("[1e-99999,10e-100000]", False),
        (f"[{NINES},{NINES}]", False),
        (f"[{NINES},{NINES[1:]}8]", True),
        (f"[1e{NINES},1e{NINES}]", False),
        (f"[1e{NINES},1e{NINES}9]", True),
    ],
    ids=lambda value: str(value)[:40],
)
def test_items_with_huge_numbers_must_be_unique(text, accepted):
    grammar = compile_grammar("json_schema", '{"uniqueItems":true}')
    assert grammar.fullmatch(text) is accepted
    if len(text) < 1_000:
        warm(wait=True)
        matcher = Matcher(grammar, BYTES)
        taken = all(matcher.is_allowed(byte) and matcher.accept(byte) for byte in text.encode())
        assert (taken and matcher.is_accepting) is accepted
        assert matcher.bitmask().any() or not taken


@pytest.mark.parametrize(
    "schema",
    [
        {"const": "HUGE"},
        {"enum": [1, [{"a": "HUGE"}]]},
        {"minimum": "HUGE"},
        {"exclusiveMaximum": "HUGE"},
        {"multipleOf": "HUGE"},
        {"maxLength": "HUGE"},
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("huge", ["1e1000", "1e99999999999", "1e-1001", NINES])
def test_a_huge_number_in_a_keyword_is_refused_with_its_place(schema, huge):
    with pytest.raises(GrammarError) as caught:
        compile_grammar("json_schema", json.dumps(schema).replace('"HUGE"', huge))
    assert [found.code for found in caught.value.diagnostics] == ["schema-huge-number"]


def test_a_huge_number_in_an_annotation_is_no_matter():
    assert compile_grammar("json_schema", '{"default":1e99999,"examples":[1e-99999],"type":"null"}').fullmatch("null")


@pytest.mark.parametrize(
    ("constant", "accepted"), [("1.25E-000001", "0.125"), ("12E0000000000000000001", "120"), ("0e99999999", "0")]
)
def test_zeros_in_an_exponent_do_not_count(constant, accepted):
    assert compile_grammar("json_schema", f'{{"const":{constant}}}').fullmatch(accepted)


@pytest.mark.parametrize("index", ["9" * 5_000, "٠", "00", "1"])
def test_an_index_in_a_reference_is_plain_digits(index):
    with pytest.raises(GrammarError, match="does not exist"):
        compile_grammar("json_schema", json.dumps({"$ref": f"#/allOf/{index}", "allOf": [True]}))
