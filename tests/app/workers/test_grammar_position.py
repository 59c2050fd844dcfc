"""The position of an output in a grammar, as the window shows it."""

from __future__ import annotations

import pickle
import random

import pytest

from app.workers.compile import CompileHandler
from app.workers.grammar_position import PositionReader
from app.workers.requests.compile import CompileAnswer, CompileRequest
from app.workers.requests.grammar_position import GrammarPosition
from engine.compile import compile_grammar
from engine.grammar.options import CompileOptions
from engine.source import CancelToken, SourceText

ARITHMETIC = 'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "a" | "(" expr ")" | w\nw ::= [0-9]+'
SCHEMA = '{"properties": {"a": {"items": {"properties": {"b": {"type": "integer"}}}}}}'


def position_after(notation: str, text: str, output: bytes) -> GrammarPosition:
    reader = PositionReader(compile_grammar(notation, text))
    reader.rule_charts(CancelToken())
    return reader.position(output, CancelToken())


WALKED = [
    ("gbnf", ARITHMETIC, b"((1+a)+22)+(a="),
    ("json_schema", SCHEMA, b'{"a": [{"b": 12, "c": "x\\u00e9"}, {"b": -1}], "z": null}'),
    ("regex", "(?:[a-z]+@|\\d{2,4}-)+", b"ab@12-345-zz@"),
]


@pytest.mark.parametrize(("notation", "text", "match"), WALKED)
@pytest.mark.parametrize("draws_part", [False, True])
def test_positions_of_one_reader_are_those_of_a_new_one(
    notation: str, text: str, match: bytes, draws_part: bool
) -> None:
    def reader() -> PositionReader:
        made = PositionReader(compile_grammar(notation, text))
        made.rule_charts(CancelToken())
        return made

    used, chance = reader(), random.Random(7)
    for _ in range(40):
        output = match[: chance.randrange(len(match) + 1)] + chance.choice([b"", b"", b"", b"?", b"1"])
        expected = reader().position(output, CancelToken(), draws_part=draws_part)
        for _ in range(2):
            assert used.position(output, CancelToken(), draws_part=draws_part) == expected
        used.position(output, CancelToken(), draws_part=not draws_part)


@pytest.mark.parametrize(("notation", "text", "match"), [case for case in WALKED if case[0] != "regex"])
def test_rules_that_cross_from_another_process_give_the_positions_of_those_that_are_drawn(
    notation: str, text: str, match: bytes
) -> None:
    handler = CompileHandler()
    answer = handler.handle(CompileRequest(1, notation, text, CompileOptions()), CancelToken(), lambda _value: None)
    assert isinstance(answer, CompileAnswer)
    assert answer.rules is not None
    reader = PositionReader(compile_grammar(notation, text))
    assert reader.position(b"", CancelToken()).rule_positions is None
    reader.follow(pickle.loads(answer.rule_automata))
    assert reader.position(b"", CancelToken()).rule_positions == answer.rule_positions
    for length in range(len(match)):
        expected = position_after(notation, text, match[:length])
        assert reader.position(match[:length], CancelToken()) == expected


def test_each_stack_is_listed_the_innermost_rule_first() -> None:
    answer = position_after("gbnf", ARITHMETIC, b"(1")
    told = {(tuple(frame.name for frame in stack.frames), stack.expects) for stack in answer.stacks}
    assert told == {
        (("w", "expr", "term", "expr", "root"), "0-9"),
        (("expr", "term", "expr", "root"), "+"),
        (("term", "expr", "root"), ")"),
    }
    assert answer.rule_positions is not None
    assert answer.rule_positions.reading
    source = SourceText(ARITHMETIC)
    innermost = next(stack for stack in answer.stacks if stack.expects == "0-9").frames
    assert source.excerpt(innermost[0].spans[0]) == "[0-9]"
    assert source.excerpt(innermost[2].spans[0]) == ")"


def test_a_place_in_a_schema_has_the_schemas_around_it() -> None:
    answer = position_after("json_schema", SCHEMA, b'{"a": [{"b": 1')
    (stack,) = answer.stacks
    assert [frame.name for frame in stack.frames][1:] == [
        "#/properties/a/items/properties/b",
        "#/properties/a/items",
        "#/properties/a",
        "#",
    ]
    assert all(SCHEMA[frame.spans[0].start] == "{" for frame in stack.frames[1:])


@pytest.mark.parametrize(
    ("schema", "names"), [(SCHEMA, ["#"]), ('{"type": "array"}', ["#/type", "#"]), ("true", ["#"])]
)
def test_at_the_start_of_a_schema_its_root_is_listed(schema: str, names: list[str]) -> None:
    answer = position_after("json_schema", schema, b"")
    assert [[frame.name for frame in stack.frames] for stack in answer.stacks] == [names]
    assert not answer.stacks[0].may_end


def test_at_the_end_of_a_schema_nothing_is_open() -> None:
    answer = position_after("json_schema", '{"type": "null"}', b"null")
    assert [stack.frames for stack in answer.stacks if stack.may_end] == [()]


def test_keywords_that_hold_schemas_are_no_schemas() -> None:
    answer = position_after(
        "json_schema",
        '{"properties": {"properties": {"properties": {"x": {"type": "null"}}}}}',
        b'{"properties": {"x": ',
    )
    names = [frame.name for frame in answer.stacks[0].frames]
    assert "#/properties/properties" in names
    assert "#/properties" not in names
    assert "#/properties/properties/properties" not in names


def test_of_a_pattern_each_piece_that_may_come_next_is_a_place() -> None:
    answer = position_after("regex", "[A-Z]+: x", b"A")
    assert [(stack.frames[0].name, stack.expects, stack.may_end) for stack in answer.stacks] == [
        ("[A-Z]", "A-Z", False),
        (":", ":", False),
    ]


def test_where_the_text_may_end_is_told() -> None:
    answer = position_after("regex", "ab?", b"a")
    assert any(stack.may_end for stack in answer.stacks)


@pytest.mark.parametrize("notation", ["regex", "gbnf"])
def test_an_output_that_is_none_of_the_grammars_has_no_stacks(notation: str) -> None:
    text = "ab" if notation == "regex" else 'root ::= "ab"'
    assert position_after(notation, text, b"x").stacks == ()


def test_more_stacks_than_are_listed_are_counted() -> None:
    answer = position_after("regex", "|".join(f"[a-z]{{{count}}}" for count in range(30, 60)), b"")
    assert len(answer.stacks) == 20
    assert answer.more >= 1
