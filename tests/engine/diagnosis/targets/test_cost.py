"""The cost of a grammar by part, and the rewrite of optional parts in a row."""

import json

from engine.cli.main import main
from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.targets.cost import grammar_cost
from engine.source import SourceText


def cost(notation, text):
    return grammar_cost(notation, SourceText(text), CompileOptions())


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


def test_the_command_prints_the_most_expensive_parts(capsys):
    arguments = ["check", "--notation", "gbnf", "--grammar", "root ::= [a]? [a]? [a]?", "--cost"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "root" in lines[0]
    assert lines[1] == "fix: Write `[a]{0,3}`"
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"]["parts"][0]["name"] == "root"
