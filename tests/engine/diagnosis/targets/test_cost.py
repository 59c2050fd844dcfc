"""The cost of a grammar by part, and the rewrite of optional parts in a row."""

import json

import pytest

from engine.cli.main import main
from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.targets.cost import grammar_cost
from engine.source import SourceText


def cost(notation, text, sample=b""):
    return grammar_cost(notation, SourceText(text), CompileOptions(), sample)


def test_the_bounds_of_a_schema_are_counted_at_their_pointers():
    schema = {
        "type": "array",
        "maxItems": 10,
        "items": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5000}}},
    }
    found = cost("json_schema", json.dumps(schema))
    assert found.is_forecast
    assert {part.name: part.states for part in found.parts} == {
        "/items/properties/name": 5002,
        "/items": 5008,
        "": 50080,
    }
    assert found.states == 50080


def test_rules_have_states_and_plain_rules():
    found = cost("gbnf", 'root ::= a{1,3} "x"\na ::= "b" | "c"\n')
    parts = {part.name: part for part in found.parts}
    assert not found.is_forecast
    assert parts["root"].states > parts["a"].states
    assert parts["root"].plain_rules > 1
    assert parts["a"].plain_rules == 1


def test_optional_parts_in_a_row_are_one_repetition():
    text = 'root ::= a? a? a? "x" a? a?\na ::= [0-9]\n'
    (rewrite,) = cost("gbnf", text).rewrites
    (edit,) = rewrite.edits
    changed = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    assert changed.startswith('root ::= a{0,3} "x" a? a?')
    for one in ("x", "123x", "1234x", "1x23"):
        assert compile_grammar("gbnf", text).fullmatch(one) == compile_grammar("gbnf", changed).fullmatch(one)
    (rewrite,) = cost("regex", "[ab]?[ab]?[ab]?").rewrites
    assert rewrite.edits[0].replacement == "[ab]{0,3}"


@pytest.mark.parametrize(
    ("text", "sample", "stacks"),
    [
        ('root ::= a? a? a? a? a? "x"\na ::= [0-9]', "123x", (6, 5, 4, 3, 1)),
        ('root ::= a{0,5} "x"\na ::= [0-9]', "123x", (2, 2, 2, 2, 1)),
        ('root ::= [0-9] (b? b? b? b? b? [0-9])*\nb ::= "b"', "1bb2b3", (1, 7, 5, 4, 7, 5, 7)),
        ('root ::= e ("+" e)*\ne ::= [0-9]+ | "(" root ")"', "(1+2)+33", (2, 2, 3, 2, 3, 2, 2, 3, 3)),
        ('root ::= "a" | "ab" | "abc" | [a-z]*', "abcd", (5, 4, 3, 2, 2)),
    ],
)
def test_the_stacks_along_a_text_are_those_of_llama_cpp(text, sample, stacks):
    # `llama_grammar_get_stacks` of llama.cpp b11549, called through xllamacpp, returns these numbers of stacks.
    found = cost("gbnf", text, sample.encode())
    assert found.growth is not None
    assert (found.growth.text, found.growth.stacks) == (sample, stacks)
    assert found.growth.most >= max(stacks)


def test_each_rule_has_its_stacks_and_the_time_of_them():
    found = cost("gbnf", 'root ::= list "x"\nlist ::= a? a? a? a? a?\na ::= [0-9]\nother ::= "y"')
    parts = {part.name: part.stacks for part in found.parts}
    assert parts["list"].parses > parts["list"].stacks > 1
    assert parts["list"].time_ms > 0
    assert parts["other"] is None


def test_the_stacks_of_a_schema_are_at_its_pointers():
    schema = {"type": "object", "properties": {"a": {"enum": ["aa", "ab", "ac"]}, "b": {"type": "array"}}}
    found = cost("json_schema", json.dumps(schema), b'{"a":"ab"}')
    parts = {part.name: part.stacks for part in found.parts}
    assert found.growth.text == '{"a":"ab"}'
    assert parts["/properties/a"].stacks >= 3  # one for each member
    assert (
        cost("json_schema", json.dumps(schema)).growth.stacks == cost("json_schema", json.dumps(schema)).growth.stacks
    )


def test_measures_are_compared_with_the_limits_of_engines():
    found = cost("gbnf", 'root ::= "x"{0,2500} a\na ::= "b"')
    exceeded = {(one.engine, one.measure): one.part for one in found.limits if one.is_exceeded}
    assert exceeded == {
        ("llama.cpp", "repetition"): "root",
        ("outlines-core", "states"): "root",
        ("xgrammar", "states"): "root",
    }
    small = cost("json_schema", '{"type": "string", "maxLength": 3}')
    assert not [one for one in small.limits if one.is_exceeded]


def test_a_condition_of_a_regex_has_no_stacks_of_llama_cpp():
    found = cost("regex", "(?=a)a+")
    assert (found.growth, found.parts[0].stacks) == (None, None)


def test_the_command_counts_along_a_sample(tmp_path, capsys):
    sample = tmp_path / "output.txt"
    sample.write_text("12")
    arguments = ["check", "--notation", "gbnf", "--grammar", "root ::= [0-9]? [0-9]? [0-9]?", "--json"]
    assert main([*arguments, "--cost", "--sample", str(sample)]) == 0
    document = json.loads(capsys.readouterr().out)["cost"]
    assert document["stacks"] == {"text": "12", "stacks": [4, 3, 2], "parses": [4, 6, 4]}
    assert document["parts"][0]["stacks"] == 3
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--sample", str(sample)])
    assert ended.value.code == 2


def test_the_command_prints_the_most_expensive_parts(capsys):
    arguments = ["check", "--notation", "gbnf", "--grammar", "root ::= [a]? [a]? [a]?", "--cost"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "root" in lines[0]
    assert lines[1] == "fix: Write `[a]{0,3}`"
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"]["parts"][0]["name"] == "root"
