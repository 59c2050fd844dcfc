"""Products of conditions on strings, against all short strings and Python's `re`."""

import json
import re
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.automata.json.arena import Arena
from engine.automata.json.strings.language import TextLanguage
from engine.compile import compile_grammar
from engine.notations import regex
from engine.notations.json_schema.texts import search
from engine.source import LimitExceededError, Limits, SourceText, Span

HERE = Span(0, 1)
LENGTH = 4
# Every condition below is decided within so many characters, and tells no others apart than these.
TEXTS = ["".join(letters) for length in range(LENGTH + 1) for letters in product("abé", repeat=length)]
PATTERNS = [
    "a",
    "b",
    "^a",
    "b$",
    "^[ab]{1,3}$",
    "ab",
    "^(a|b)*$",
    r"^a\b",
    "^(?!ab)",
    "(?=.b)a",
    "é",
    "a{2}",
    "^.?$",
    "",
]

leaves = st.one_of(
    st.sampled_from(PATTERNS).map(lambda text: ("pattern", text)),
    st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 3))).map(lambda pair: ("length", *pair)),
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4).map(lambda texts: ("among", *texts)),
)
formulas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(lambda one: ("not", one)),
        st.lists(inner, min_size=2, max_size=4).map(lambda some: ("all", *some)),
        st.lists(inner, min_size=2, max_size=4).map(lambda some: ("some", *some)),
    ),
    max_leaves=6,
)


@cache
def node_of(text):
    return search(regex.parse(SourceText(text), "ecma", Limits())[0])


def build(arena, formula):
    match formula:
        case ("pattern", text):
            return arena.text(lambda: node_of(text), ("pattern", text), HERE)
        case ("length", least, most):
            return arena.length(least, most, HERE)
        case ("among", *texts):
            return arena.among(texts, HERE)
        case ("not", inner):
            return arena.negate(build(arena, inner))
        case ("all", *items):
            return arena.all_of(build(arena, item) for item in items)
        case ("some", *items):
            return arena.any_of(build(arena, item) for item in items)


def holds(formula, text):
    match formula:
        case ("pattern", pattern):
            return re.search(pattern.replace(r"\b", r"(?a:\b)"), text) is not None
        case ("length", least, most):
            return least <= len(text) and (most is None or len(text) <= most)
        case ("among", *texts):
            return text in texts
        case ("not", inner):
            return not holds(inner, text)
        case ("all", *items):
            return all(holds(item, text) for item in items)
        case ("some", *items):
            return any(holds(item, text) for item in items)


@settings(max_examples=150)
@given(formulas)
def test_a_formula_holds_what_its_conditions_say(formula):
    language = TextLanguage(build(Arena(), formula), Limits())
    expected = [text for text in TEXTS if holds(formula, text)]
    assert [text for text in TEXTS if language.holds(text)] == expected
    if expected:
        assert language.start is not None


@settings(max_examples=60)
@given(formulas)
def test_no_state_is_a_dead_end(formula):
    language = TextLanguage(build(Arena(), ("all", formula, ("length", 0, 3))), Limits())
    possible = {text[:end] for text in TEXTS if len(text) <= 3 and holds(formula, text) for end in range(len(text) + 1)}
    for text in TEXTS:
        state = language.start
        for byte in text.encode():
            state = state and language.step(state, byte)
        # Beyond the letters of TEXTS there are others, which may complete what these do not.
        assert state is not None or text not in possible
        if state is not None and len(text) <= 3:
            assert any_completion(language, state)


def any_completion(language, start):
    seen, todo = {start}, [start]
    while todo:
        state = todo.pop()
        if language.accepts(state):
            return True
        new = {language.step(state, byte) for byte in range(256)} - seen - {None}
        seen |= new
        todo += new
    return False


@pytest.mark.parametrize(
    ("formula", "empty"),
    [
        (("all", ("pattern", "^a+$"), ("pattern", "b")), True),
        (("all", ("pattern", "^a+$"), ("length", 3, None), ("not", ("among", "aaa"))), False),
        (("all", *(("pattern", letter) for letter in "abcdefghijkl")), False),
        (("all", *(("pattern", letter) for letter in "abcde"), ("length", 0, 4)), True),
        (("not", ("pattern", "")), True),
        (("some", ("all", ("pattern", "^a"), ("pattern", "^b")), ("length", 2, 1)), True),
    ],
)
def test_emptiness(formula, empty):
    assert (TextLanguage(build(Arena(), formula), Limits()).start is None) is empty


def test_a_search_that_outgrows_its_limit_says_so():
    formula = ("all", ("pattern", "^.{0,40}a.{40}$"), ("pattern", "^.{0,40}b.{40}$"))
    with pytest.raises(LimitExceededError):
        TextLanguage(build(Arena(), formula), Limits(search=50))


def test_what_is_open_is_where_the_match_stands():
    arena = Arena()
    first = arena.text(lambda: node_of("^a"), ("pattern", "^a"), Span(1, 2))
    second = arena.text(lambda: node_of("b$"), ("pattern", "b$"), Span(3, 4))
    language = TextLanguage(arena.all_of((first, second)), Limits())
    assert language.spans(language.start) == (Span(1, 2), Span(3, 4))
    assert language.spans(language.step(language.start, ord("a"))) == (Span(3, 4),)


def test_more_characters_than_are_remembered_are_still_spelled_as_json():
    text = "".join(chr(0x4E00 + i) for i in range(5_000)) + '"'
    grammar = compile_grammar("json_schema", json.dumps({"type": "string", "pattern": f"^{text}$"}))
    assert grammar.fullmatch(json.dumps(text))
    assert grammar.fullmatch(json.dumps(text, ensure_ascii=False))
    assert not grammar.fullmatch(f'"{text}"')
