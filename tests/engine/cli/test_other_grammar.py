"""`turnstile diff` with two grammars."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows
from command_line import run

from engine.cli.exit_codes import ExitCode
from engine.source.catalogue import catalogue_text


@pytest.mark.parametrize(
    ("first", "second", "code", "expected"),
    [
        ("a+", "aa*", ExitCode.SUCCESS, {"verdict": "equal", "exact": True, "bound": None, "text": None}),
        ("ab", "ab|ac", ExitCode.NEGATIVE, {"verdict": "looser", "prefix": "a", "text": "ac", "accepted_by": "second"}),
        ("a?", "a", ExitCode.NEGATIVE, {"verdict": "stricter", "prefix": "", "text": "", "accepted_by": "first"}),
        ("ab|c", "ab|dé", ExitCode.NEGATIVE, {"verdict": "different", "only_first": "c", "only_second": "dé"}),
    ],
)
def test_two_expressions_are_compared(tmp_path, capsys, first, second, code, expected):
    other = tmp_path / "other.txt"
    other.write_text(second + "\n", encoding="utf-8")
    command = ("diff", "--notation", "regex", "--grammar", first, "--other-grammar-file", other)
    assert run(*command, "--json") == code
    found = json.loads(capsys.readouterr().out)
    assert {key: found[key] for key in expected} == expected
    assert run(*command) == code
    lines = capsys.readouterr().out.splitlines()
    assert shows(lines[0], f"cli.diff.grammars.{found['verdict']}")
    assert shows(lines[-1], "cli.diff.grammars.exact", count=found["checked"])


def test_a_schema_is_compared_with_rules_of_another_notation(tmp_path, capsys):
    rules = tmp_path / "rules.gbnf"
    rules.write_text('root ::= "1" | "\\"a\\""', encoding="utf-8")
    schema = ("--notation", "json_schema", "--grammar", '{"enum": ["a", 1, 2]}')
    assert run("diff", *schema, "--other-grammar-file", rules, "--other-notation", "gbnf", "--json") == 1
    assert json.loads(capsys.readouterr().out)["only_first"] == "2"


def test_a_bounded_search_that_finds_nothing_has_an_exit_code_of_its_own(tmp_path, capsys):
    other = tmp_path / "other.gbnf"
    other.write_text('root ::= "x" | "(" root ")"', encoding="utf-8")
    command = ("diff", "--notation", "gbnf", "--grammar", 'root ::= "(" root ")" | "x"', "--pairs", "50")
    assert run(*command, "--other-grammar-file", other, "--json") == ExitCode.UNKNOWN
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["exact"], found["checked"]) == ("unknown", False, 50)
    assert found["bound"]["bytes"] > 20


@pytest.mark.parametrize("extra", [("--engine", "turnstile"), ("--text", "a"), ("--model", "records")])
def test_grammars_are_compared_without_engines_texts_or_vocabularies(tmp_path, capsys, extra):
    (tmp_path / "other.txt").write_text("a", encoding="utf-8")
    command = ("diff", "--notation", "regex", "--grammar", "a", "--other-grammar-file", tmp_path / "other.txt")
    assert run(*command, *extra) == ExitCode.MISUSE
    assert catalogue_text("cli.diff.error.only_grammars") in capsys.readouterr().err


def test_an_error_in_the_other_grammar_is_reported_with_its_file(tmp_path, capsys):
    (tmp_path / "other.txt").write_text("(a", encoding="utf-8")
    command = ("diff", "--notation", "regex", "--grammar", "a", "--other-grammar-file", tmp_path / "other.txt")
    assert run(*command) != ExitCode.SUCCESS
    assert "other.txt" in capsys.readouterr().err
