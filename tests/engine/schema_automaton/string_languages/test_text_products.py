"""Products of conditions on strings, against all short strings and Python's `re`."""

import json

import pytest
from hypothesis import given, settings

from engine.automata.byte_automaton import DEAD
from engine.compile import CompileOptions, compile_grammar
from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.language import TextLanguage
from engine.schema_automaton.string_languages.plainly_inhabited import is_plainly_inhabited
from engine.schema_automaton.string_languages.witnesses import Witnesses
from engine.source import LimitExceededError, Limits, Span
from tests.engine.schema_automaton.string_formulas import TEXTS, build, formulas, holds, node_of


@settings(max_examples=60)
@given(formulas)
def test_a_formula_holds_what_its_conditions_say(formula):
    language = TextLanguage(build(Arena(), formula), Witnesses(Limits(), Escapes.ANY))
    expected = [text for text in TEXTS if holds(formula, text)]
    assert [text for text in TEXTS if language.holds(text)] == expected
    if expected:
        assert language.start is not None


@settings(max_examples=60)
@given(formulas)
def test_some_strings_are_some_of_them(formula):
    language = TextLanguage(build(Arena(), formula), Witnesses(Limits(), Escapes.ANY))
    for most in (1, 3):
        found = language.some_strings(most)
        assert bool(found) is (language.start is not None)
        assert len(found) == len(set(found)) <= most
        assert all(map(language.holds, found))


@settings(max_examples=60)
@given(formulas)
def test_a_row_is_what_single_steps_come_to(formula):
    by_rows, by_steps = (
        TextLanguage(build(Arena(), formula), Witnesses(Limits(), Escapes.ANY)).automaton for _ in range(2)
    )
    rows, steps = getattr(by_rows, "inner", by_rows), getattr(by_steps, "inner", by_steps)
    same, todo = {rows.start: steps.start}, [rows.start]
    while todo and len(same) < 100:
        state = todo.pop()
        for byte_class, following in enumerate(rows.row(state)):
            other = steps.step(same[state], byte_class)
            assert (following == DEAD) is (other == DEAD)
            if following not in same:
                todo.append(following)
            assert same.setdefault(following, other) == other
            assert rows.min_remaining(following) == steps.min_remaining(other)


@settings(max_examples=60)
@given(formulas)
def test_what_is_lacking_is_never_more_than_a_string_needs(formula):
    language = TextLanguage(build(Arena(), formula), Witnesses(Limits(), Escapes.ANY))
    for text in [text for text in TEXTS if language.holds(text)][:200]:
        state, data = language.start, text.encode()
        for at, byte in enumerate(data):
            lacks = language.automaton.min_remaining(state)
            assert lacks.at_least is not None
            assert lacks.at_least <= len(data) - at
            state = language.step(state, byte)


@settings(max_examples=60)
@given(formulas)
def test_no_state_is_a_dead_end(formula):
    language = TextLanguage(build(Arena(), ("all", formula, ("length", 0, 3))), Witnesses(Limits(), Escapes.ANY))
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
    assert (TextLanguage(build(Arena(), formula), Witnesses(Limits(), Escapes.ANY)).start is None) is empty


def test_a_search_that_outgrows_its_limit_says_so():
    formula = ("all", ("pattern", "^.{0,40}a.{40}$"), ("pattern", "^.{0,40}b.{40}$"))
    with pytest.raises(LimitExceededError):
        TextLanguage(build(Arena(), formula), Witnesses(Limits(search=50), Escapes.ANY))


def test_what_is_open_is_where_the_match_stands():
    arena = Arena()
    first = arena.text(lambda: node_of("^a"), ("pattern", "^a"), Span(1, 2))
    second = arena.text(lambda: node_of("b$"), ("pattern", "b$"), Span(3, 4))
    language = TextLanguage(arena.all_of((first, second)), Witnesses(Limits(), Escapes.ANY))
    assert language.spans(language.start) == (Span(1, 2), Span(3, 4))
    assert language.spans(language.step(language.start, ord("a"))) == (Span(3, 4),)


def test_more_characters_than_are_remembered_are_still_spelled_as_json():
    text = "".join(chr(0x4E00 + i) for i in range(4_100)) + '"'
    schema = json.dumps({"type": "string", "pattern": f"^{text}$"})
    assert compile_grammar("json_schema", schema, CompileOptions(escapes="any")).fullmatch(json.dumps(text))
    grammar = compile_grammar("json_schema", schema)
    assert grammar.fullmatch(json.dumps(text, ensure_ascii=False))
    assert not grammar.fullmatch(f'"{text}"')


@pytest.mark.parametrize(
    ("formula", "plain"),
    [
        (("all", ("pattern", "^a+$"), ("not", ("among", "a", "aa"))), True),
        (("all", ("pattern", "^(a|b{2,})$"), ("not", ("among", "a"))), True),
        (("all", ("pattern", "^a{1,2}$"), ("not", ("among", "a", "aa"))), False),
        (("all", ("pattern", "^a+$"), ("length", 0, 2), ("not", ("among", "a", "aa"))), False),
        (("all", ("pattern", "^a+$"), ("length", 7, None), ("not", ("among", "a"))), True),
        (("all", ("pattern", "^(?!b)a+$"), ("not", ("among", "a"))), False),
        (("all", ("length", 0, 1), ("not", ("among", "a", "b"))), True),
    ],
)
def test_what_is_inhabited_at_a_glance_has_strings(formula, plain):
    built = build(Arena(), formula)
    assert is_plainly_inhabited(built) is plain
    if plain:
        assert TextLanguage(built, Witnesses(Limits(), Escapes.ANY)).automaton.start
