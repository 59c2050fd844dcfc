"""The command line on rules: plain rules, stacks, and the automata of rules that nest."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows

from engine.cli.main import main
from engine.source.catalogue import catalogue_text

NESTED = 'root ::= "(" root ")" | digit_rep\ndigit_rep ::= [0-9]+'


def run(capsys: pytest.CaptureFixture[str], command: str, *arguments: str, grammar: str = NESTED) -> tuple[int, str]:
    code = main([command, "--notation", "gbnf", "--grammar", grammar, *arguments])
    said = capsys.readouterr()
    return code, said.out or said.err


def test_plain_rules_are_printed_behind_the_findings(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "check", "--rules")
    assert code == 0
    finding, *rules = out.splitlines()
    assert "gbnf-compat-name" in finding
    assert rules == [
        'root ::= "(" root ")" | digit-rep',
        "digit-rep ::= [0-9] digit-rep-1",
        'digit-rep-1 ::= [0-9] digit-rep-1 | ""',
    ]


def test_plain_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "check", "--rules", "--json", grammar='root ::= "a"?')
    assert code == 0
    assert json.loads(out)["rules"] == [
        {
            "name": "root",
            "origin": "root",
            "line": 1,
            "column": 1,
            "elements": [
                {"type": "RULE_REF", "value": "root-1", "line": 1, "column": 10},
                {"type": "END", "value": None, "line": 1, "column": 1},
            ],
        },
        {
            "name": "root-1",
            "origin": "root",
            "line": 1,
            "column": 10,
            "elements": [
                {"type": "CHAR", "value": 97, "line": 1, "column": 11},
                {"type": "ALT", "value": None, "line": 1, "column": 10},
                {"type": "END", "value": None, "line": 1, "column": 10},
            ],
        },
    ]


def test_of_a_broken_grammar_there_are_findings_only(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "check", "--rules", grammar='root ::= "a')
    assert code == 1
    assert "::=" not in out.splitlines()[-1]


def test_rules_of_a_pattern_are_a_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", "--notation", "regex", "--grammar", "a", "--rules"])
    assert ended.value.code == 2
    assert shows(capsys.readouterr().err, "cli.check.error.rules")


def state(expected: str, ends: str) -> str:
    """Return the lines about the state of a match."""
    return f"{catalogue_text('cli.step.next', bytes=expected)}\n{catalogue_text(f'cli.step.{ends}')}\n"


def test_a_step_says_what_may_come_next_and_on_which_stacks(capsys: pytest.CaptureFixture[str]) -> None:
    stacks = "root `)` > digit_rep `[0-9]`\nroot `)`\n"
    counts = catalogue_text("cli.step.stack_counts", counts="2, 2, 2")
    expected = f"{state('`0-9` or `)`', 'not_accepting')}{stacks}{counts}\n"
    assert run(capsys, "step", "--text", "(1", "--stacks") == (0, expected)
    assert run(capsys, "step", "--text", "1") == (0, state("`0-9`", "accepting"))


def test_a_step_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "step", "--text", "(", "--stacks", "--json")
    document = json.loads(out)
    assert code == 0
    assert (document["accepting"], document["expected"], document["more"]) == (False, [[40, 40], [48, 57]], 0)
    assert [[frame["rule"] for frame in stack["frames"]] for stack in document["stacks"]] == [
        ["root", "digit_rep"],
        ["root", "root"],
    ]
    assert document["stacks"][0]["frames"][0]["next"] == [{"text": ")", "line": 1, "column": 20}]
    assert document["stack_counts"] == [2, 2]
    assert not {"stacks", "stack_counts"} & json.loads(run(capsys, "step", "--json")[1]).keys()


def test_stacks_beyond_the_limit_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    grammar = 'root ::= x x\nx ::= "(" x "1" | "(" x "2" | "a"'
    _, out = run(capsys, "step", "--text", "((((", "--stacks", "--most-stacks", "3", grammar=grammar)
    assert len(out.splitlines()) == 2 + 3 + 1 + 1
    assert catalogue_text("cli.step.more_stacks", count=13) in out.splitlines()
    assert out.splitlines()[-1] == catalogue_text("cli.step.stack_counts", counts="1, 2, 4, 8, 16")


@pytest.mark.parametrize(
    ("text", "where", "fields"),
    [("(1a", "after", {"text": "(1"}), ("x", "at_start", {})],
)
def test_a_text_that_begins_no_match_is_told_where_it_fails(
    text: str, where: str, fields: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = run(capsys, "step", "--text", text)
    assert code == 1
    assert shows(err, "cli.step.illegal", where=catalogue_text(f"cli.message.{where}", **fields))


def test_an_empty_language_has_no_place_to_stand(capsys: pytest.CaptureFixture[str]) -> None:
    code, err = run(capsys, "step", grammar='root ::= "a" root')
    assert (code, shows(err, "cli.message.no_text_begins")) == (1, True)


def test_a_schema_has_no_stacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["step", "--notation", "json_schema", "--grammar", '{"type": "null"}', "--text", "nu"]) == 0
    assert capsys.readouterr().out == state("`l`", "not_accepting")
    assert main(["step", "--notation", "json_schema", "--grammar", "{}", "--stacks"]) == 1
    assert shows(capsys.readouterr().err, "cli.step.no_rules")


def test_rules_that_nest_are_exported_without_a_vocabulary(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "export", "--to", "json", "--output", "-")
    assert (code, json.loads(out)["format"]) == (0, "turnstile-rule-automata")
    code, out = run(capsys, "export", "--to", "dot", "--output", "-")
    assert (code, out.count("subgraph")) == (0, 2)
