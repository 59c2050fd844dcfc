"""Findings as SARIF logs and as annotations of GitHub Actions."""

import json

import pytest
from command_line import run

from engine.cli.annotations import Annotation, github_commands, sarif_log

SCHEMA = '{\n "type": "string",\n "patern": "a",\n "minLength": 1, "pattern": "(?<=é)b"\n}'


@pytest.fixture
def schema(tmp_path):
    file = tmp_path / "a schema.json"
    file.write_text(SCHEMA, "utf-8")
    return file


def test_a_sarif_log_has_a_result_for_each_finding(capsys, schema):
    run("check", "--notation", "json_schema", "--grammar-file", schema, "--json")
    diagnostics = json.loads(capsys.readouterr().out)["diagnostics"]
    assert diagnostics
    run("check", "--notation", "json_schema", "--grammar-file", schema, "--format", "sarif")
    log = json.loads(capsys.readouterr().out)
    (analysis,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert [result["ruleId"] for result in analysis["results"]] == [each["code"] for each in diagnostics]
    for result, each in zip(analysis["results"], diagnostics, strict=True):
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("a%20schema.json")
        assert (place["region"]["startLine"], place["region"]["startColumn"]) == (each["line"], each["column"])
        assert (place["region"]["endLine"], place["region"]["endColumn"]) == (each["end_line"], each["end_column"])
        assert result["level"] == {"error": "error", "warning": "warning", "hint": "note"}[each["severity"]]
    assert {rule["id"] for rule in analysis["tool"]["driver"]["rules"]} == {each["code"] for each in diagnostics}


def test_what_a_target_refuses_is_an_error_of_its_own(capsys, schema):
    arguments = ("--notation", "json_schema", "--grammar-file", schema, "--target", "outlines-core")
    run("check", *arguments, "--json")
    parts = json.loads(capsys.readouterr().out)["target"]["parts"]
    effects = [finding["effect"] for part in parts for finding in part["findings"]]
    assert effects
    run("check", *arguments, "--format", "sarif")
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    found = [result["ruleId"] for result in results if result["ruleId"].startswith("target-")]
    assert found == [f"target-{effect}" for effect in effects]


def test_an_error_is_an_annotation(capsys):
    assert run("check", "--notation", "regex", "--grammar", "(a", "--format", "github") == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("::error line=1,col=1,")


def test_special_characters_of_workflow_commands_are_escaped():
    found = Annotation("a:b,c", "note", "100%\nsure", "x,y.json", 3)
    assert github_commands([found]) == ["::notice file=x%2Cy.json,line=3,title=a%3Ab%2Cc::100%25%0Asure"]


def test_a_log_without_findings_is_complete():
    (analysis,) = sarif_log([], "1.0")["runs"]
    assert (analysis["results"], analysis["tool"]["driver"]["rules"]) == ([], [])
