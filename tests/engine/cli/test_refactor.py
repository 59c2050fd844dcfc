"""`turnstile refactor`."""

from __future__ import annotations

import json

from catalogue_texts import shows
from command_line import run

import engine.cli.refactor
from engine.analysis.language_comparison import LanguageComparison
from engine.cli.exit_codes import ExitCode


def test_a_file_is_refactored_at_a_position(tmp_path, capsys):
    rules = tmp_path / "rules.gbnf"
    rules.write_text('root ::= "(" ("a" | "b")* ")"\n', encoding="utf-8")
    command = ("refactor", rules, "--do", "extract-rule", "--at", "1:15", "--name", "letters")
    assert run(*command, "--json") == ExitCode.SUCCESS
    found = json.loads(capsys.readouterr().out)
    assert found["text"] == 'root ::= "(" letters* ")"\nletters ::= "a" | "b"\n'
    assert (found["proof"], found["name"], found["written"]) == ("automata", "letters", False)
    assert run(*command, "--write") == ExitCode.SUCCESS
    assert rules.read_text(encoding="utf-8") == found["text"]
    out = capsys.readouterr()
    assert out.out == ""
    assert shows(out.err.splitlines()[-1], "refactoring.proof.automata")


def test_what_is_bounded_and_not_by_construction_has_a_code_of_its_own(tmp_path, capsys, monkeypatch):
    bounded = LanguageComparison(None, None, is_exact=False, n_visited=9, length=7)
    monkeypatch.setattr(engine.cli.refactor, "compare_languages", lambda *_sides, **_options: bounded)
    schema = tmp_path / "schema.json"
    schema.write_text('{"allOf": [{"type": "null"}]}', encoding="utf-8")
    assert run("refactor", schema, "--do", "merge-all-of", "--json") == ExitCode.UNKNOWN
    found = json.loads(capsys.readouterr().out)
    assert (found["proof"], found["bound"]) == ("bounded", 7)
    rules = tmp_path / "rules.gbnf"
    rules.write_text('root ::= a\na ::= "b"', encoding="utf-8")
    assert run("refactor", rules, "--do", "inline-rule", "--at", "1:10", "--json") == ExitCode.SUCCESS
    assert json.loads(capsys.readouterr().out)["proof"] == "construction"


def test_a_text_that_differs_keeps_the_file_unless_forced(tmp_path, capsys):
    # Alternatives in an atomic group are tried in order, so a common prefix means something else.
    pattern = tmp_path / "pattern.txt"
    pattern.write_text("(?>a|ab)c|(?>a|ab)d\n", encoding="utf-8")
    command = ("refactor", pattern, "--do", "factor-prefixes", "--at", "1:4", "--write")
    assert run(*command, "--json") == ExitCode.NEGATIVE
    found = json.loads(capsys.readouterr().out)
    assert found["proof"] == "different"
    assert found["only_after"] is not None
    assert pattern.read_text(encoding="utf-8") == "(?>a|ab)c|(?>a|ab)d\n"
    assert run(*command, "--force") == ExitCode.NEGATIVE
    assert pattern.read_text(encoding="utf-8") == found["text"] + "\n"


def test_a_position_that_is_not_there_is_misuse(tmp_path, capsys):
    pattern = tmp_path / "pattern.txt"
    pattern.write_text("ab|ac", encoding="utf-8")
    for position in ("2:1", "1:9", "x"):
        assert run("refactor", pattern, "--do", "factor-prefixes", "--at", position) == ExitCode.MISUSE
        assert shows(capsys.readouterr().err.strip(), "cli.refactor.error.position", position=position)
