import json
import tracemalloc

import pytest
from catalogue_texts import text_pattern
from hypothesis import given
from hypothesis import strategies as st

from engine import CompileOptions, LimitExceededError, Limits, compile_grammar
from engine.schema_automaton.number_languages.language import NumberLanguage
from engine.schema_automaton.pushdown.item_text import BLOCK, NO_TEXT

PARTS = st.lists(st.binary(max_size=3 * BLOCK), max_size=8)


def joined(parts):
    text = NO_TEXT
    for part in parts:
        text += part
    return text


@given(PARTS, st.data())
def test_a_text_is_the_bytes_that_were_appended(parts, data):
    whole, text = b"".join(parts), joined(parts)
    start = data.draw(st.integers(0, len(whole)))
    assert len(text) == len(whole)
    assert text.since(start) == whole[start:]


@given(PARTS, PARTS)
def test_texts_are_equal_where_their_bytes_are(some, others):
    assert joined(some) == joined([b"".join(some)])
    assert hash(joined(some)) == hash(joined([b"".join(some)]))
    assert (joined(some) == joined(others)) == (b"".join(some) == b"".join(others))


def test_long_texts_that_differ_early_are_not_equal():
    assert joined([b"a", b"x" * 1_000]) != joined([b"b", b"x" * 1_000])


def memory_of(schema, beginning, length):
    automaton = compile_grammar("json_schema", schema).automaton
    configuration = automaton.run(automaton.start, beginning + b"1")
    tracemalloc.start()
    for _ in range(length):
        configuration = automaton.run(configuration, b"1")
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert configuration
    return size


@pytest.mark.parametrize("beginning", [b'["', b"[", b"[[[[", b'[{"a":"'])
def test_the_memory_of_an_item_that_must_differ_grows_with_its_length(beginning):
    schema = '{"type": "array", "uniqueItems": true}'
    assert memory_of(schema, beginning, 8_000) < 3 * memory_of(schema, beginning, 4_000)


def test_an_item_of_many_bytes_is_still_compared_with_the_others():
    automaton = compile_grammar("json_schema", '{"uniqueItems": true, "items": {"type": "string"}}').automaton
    item = b'"' + b"x" * 5_000
    first = automaton.run(automaton.start, b"[" + item + b'",')
    assert first
    assert not automaton.run(first, item + b'"')
    assert automaton.run(first, item + b'y"')


def items_until_the_limit(item, written, count):
    options = CompileOptions(limits=Limits(work=100_000))
    automaton = compile_grammar("json_schema", json.dumps({"uniqueItems": True, "items": item}), options).automaton
    place = automaton.run(automaton.start, b"[")
    for i in range(count):
        try:
            place = automaton.run(place, written(i).encode() + b",")
        except LimitExceededError:
            return i
        assert place
    return count


@pytest.mark.parametrize(
    ("item", "written", "fewest", "most"),
    [
        ({"type": "integer"}, str, 200, 230),
        ({"type": "string"}, lambda i: f'"{i:0100}"', 50, 80),
    ],
)
def test_items_that_must_differ_end_at_a_limit_that_grows_with_their_square(item, written, fewest, most):
    assert fewest <= items_until_the_limit(item, written, 300) <= most


def test_the_ranges_between_items_that_must_differ_are_made_once(monkeypatch):
    made = []
    monkeypatch.setattr(
        NumberLanguage, "__post_init__", lambda self, make=NumberLanguage.__post_init__: made.append(1) or make(self)
    )
    automaton = compile_grammar("json_schema", '{"uniqueItems": true, "items": {"type": "integer"}}').automaton
    assert automaton.run(automaton.start, ("[" + ",".join(map(str, range(300)))).encode())
    assert len(made) < 5 * 300


def test_what_many_texts_leave_is_bounded_by_the_bytes_of_their_items():
    options = CompileOptions(limits=Limits(configurations=2_000))

    def text(number: int) -> bytes:
        return json.dumps([f"{number}{letter}" * 1_000 for letter in "abcd"]).encode()

    grammar = compile_grammar("json_schema", '{"uniqueItems": true}', options)
    accepted: list[int] = []

    def feed() -> None:
        for number in range(100):
            assert grammar.fullmatch(text(number))
            accepted.append(number)

    with pytest.raises(LimitExceededError, match=text_pattern("errors.limit.item_bytes")):
        feed()
    assert 0 < len(accepted) < 20
    assert grammar.fullmatch(text(0))  # what is known stays
    assert compile_grammar("json_schema", '{"uniqueItems": true}', options).fullmatch(text(len(accepted)))


def test_one_text_may_have_many_items_that_must_differ():
    grammar = compile_grammar("json_schema", '{"uniqueItems": true}')
    assert grammar.fullmatch(json.dumps(list(range(400))))
    assert not grammar.fullmatch(json.dumps([*(f"item {i}" for i in range(300)), "item 7"]))
