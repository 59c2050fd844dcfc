"""`export --to gbnf` and `--to regex`."""

from __future__ import annotations

import json

import pytest

from engine.cli.main import main
from engine.compile import compile_grammar

SCHEMA = ("--notation", "json_schema", "--whitespace", "compact", "--grammar")
LIST = '{"type": "array", "items": {"$ref": "#"}}'
NAME = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}'
SPELLING = "turnstile: note: spelling is plain: each character in its shortest form, no number with an exponent\n"


def export(*arguments: str) -> int:
    try:
        return main(["export", *arguments, "--output", "-"])
    except SystemExit as leave:  # argparse
        return int(leave.code or 0)


def test_a_schema_as_gbnf(capsys):
    assert export("--to", "gbnf", *SCHEMA, NAME) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1:] == [
        r'root ::= "{\"n\":" integer "}"',
        'integer ::= "-"? ("0" | [1-9] [0-9]*)',
    ]
    assert err == SPELLING
    assert compile_grammar("gbnf", out).fullmatch('{"n":12}')


def test_every_spelling_leaves_nothing_out(capsys):
    assert export("--to", "gbnf", "--spelling", "any", *SCHEMA, NAME) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert compile_grammar("gbnf", out).fullmatch(r'{"\u006E":12}')


def test_the_rules_of_a_schema_in_every_spelling(capsys):
    assert export("--to", "json", "--spelling", "any", *SCHEMA, NAME) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["notes"] == []
    assert ord("\\") in {first for rule in document["rules"] for edge in rule["edges"] for first, _ in edge["bytes"]}


def test_a_regex_as_gbnf(capsys):
    assert export("--to", "gbnf", "--notation", "regex", "--grammar", "[a-z]+!?") == 0
    assert capsys.readouterr() == ('root ::= [a-z]+ "!"?\n', "")


def test_a_schema_as_a_regex(capsys):
    assert export("--to", "regex", *SCHEMA, NAME) == 0
    assert capsys.readouterr() == ('\\{"n":-?(?:0|[1-9][0-9]*)\\}\n', SPELLING)


def test_recursion_is_cut_only_where_that_is_asked_for(capsys):
    assert export("--to", "regex", *SCHEMA, LIST) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "the rule `root` refers to itself (Cut the recursion at a depth, or write GBNF)" in err
    assert export("--to", "regex", "--depth", "2", *SCHEMA, LIST) == 0
    out, err = capsys.readouterr()
    assert out == "\\[(?:\\[\\](?:,\\[\\])*)?\\]\n"
    assert err == f"{SPELLING}turnstile: note: the recursion is cut at 2 levels: what nests deeper is left out\n"


def test_what_no_grammar_can_say_is_an_error_with_its_place(capsys):
    assert export("--to", "gbnf", *SCHEMA, '{"uniqueItems": true}') == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("<grammar>:1:17: error: /uniqueItems cannot be written as a grammar: ")
    assert err.endswith("[export-not-context-free]\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--to", "gbnf", "--notation", "gbnf", "--grammar", 'root ::= "a"'),
        ("--to", "regex", "--notation", "regex", "--grammar", "a"),
        ("--to", "gbnf", "--depth", "2", *SCHEMA, LIST),
        ("--to", "regex", "--depth", "0", *SCHEMA, LIST),
        ("--to", "dot", "--spelling", "any", "--notation", "regex", "--grammar", "a"),
        ("--to", "dot", "--spelling", "any", *SCHEMA, LIST),
        ("--to", "gbnf", "--spelling", "any", "--notation", "regex", "--grammar", "a"),
    ],
)
def test_options_that_mean_nothing_are_refused(arguments, capsys):
    assert export(*arguments) == 2
    assert "error: " in capsys.readouterr().err
