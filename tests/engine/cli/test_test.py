"""`turnstile test`."""

import json
from xml.etree import ElementTree as ET

import pytest
from command_line import run

import engine.models
from engine.models.uniform import UniformSource
from engine.vocabulary import Vocabulary

CASES = """
[[case]]
name = "a date"
notation = "regex"
grammar = '[0-9]{4}-[0-9]{2}'
accept = ["2024-01", "2024"]
refuse = ["2024-1", "2024-02"]
prefix = ["2024-", "x"]
forced = [["2024", "-"], ["20", "2"], ["2024-01", ""]]
allowed = [["20", "2"], ["20", "x"]]

[[case]]
notation = "gbnf"
grammar = '''
root ::= a | b
a ::= "x"
b ::= "y"
'''
accept = ["x"]
"""
FAILED = {
    ("accept", "2024", ""),
    ("refuse", "2024-02", ""),
    ("prefix", "x", ""),
    ("forced", "20", "2"),
    ("allowed", "20", "x"),
}


@pytest.fixture
def cases(tmp_path):
    file = tmp_path / "cases.toml"
    file.write_text(CASES, "utf-8")
    return file


def results(capsys, *files):
    code = run("test", "--json", *files)
    return code, json.loads(capsys.readouterr().out)


def test_each_text_is_a_check(capsys, cases):
    code, found = results(capsys, cases)
    assert code == 1
    assert (found["holds"], found["checks"], found["failed"]) == (False, 14, 5)
    first, second = found["cases"]
    assert (first["name"], first["line"], second["name"], second["line"]) == ("a date", 2, "2", 12)
    assert {(each["kind"], each["text"], each["expected"]) for each in first["checks"] if each["failure"]} == FAILED
    assert [each["kind"] for each in second["checks"] if not each["failure"]] == ["compiles", "accept"]


def test_the_coverage_names_the_rules_that_no_text_uses(capsys, cases):
    _, found = results(capsys, cases)
    coverage = found["cases"][1]["coverage"]
    assert coverage["unused_rules"] == ["b"]
    assert (coverage["covered_rules"], coverage["rules"]) == (2, 3)
    assert 0 < coverage["covered_edges"] < coverage["edges"]
    assert run("test", cases) == 1
    assert "b" in capsys.readouterr().out.splitlines()[-2]


def test_a_schema_has_coverage_whatever_its_white_space(capsys, tmp_path):
    file = tmp_path / "cases.toml"
    file.write_text(
        """
[[case]]
notation = "json_schema"
grammar = '''
{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}
'''
accept = ['{"a": 1}']
refuse = ['{"a": 1.5}', '{}']
""",
        "utf-8",
    )
    code, found = results(capsys, file)
    assert code == 0
    assert found["cases"][0]["coverage"]["covered_edges"] > 0


def test_the_tokens_of_a_vocabulary_can_be_named(capsys, tmp_path, monkeypatch):
    source = UniformSource("two", Vocabulary([b"a", b"ab", b"c", None], [3], {3: "<end>"}))
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)
    file = tmp_path / "cases.toml"
    file.write_text(
        """
[[case]]
notation = "regex"
grammar = 'abc'
tokenizer = "two"
allowed = [["", "ab"], ["", "c"], ["", "b"], ["abc", "<end>"], ["ab", "<end>"]]
""",
        "utf-8",
    )
    code, found = results(capsys, file)
    assert code == 1
    failed = [(each["text"], each["expected"]) for each in found["cases"][0]["checks"] if each["failure"]]
    assert failed == [("", "c"), ("", "b"), ("ab", "<end>")]


def test_a_document_is_tested_by_its_test_strings(capsys, tmp_path):
    file = tmp_path / "work.turnstile"
    document = {
        "format": "turnstile",
        "version": 3,
        "title": "letters",
        "grammar": {"notation": "regex", "text": "[ab]+"},
        "test_strings": [
            {"text": "ab", "accepts": True},
            {"text": "c", "accepts": False},
            {"text": "", "accepts": True},
        ],
    }
    file.write_text(json.dumps(document), "utf-8")
    code, found = results(capsys, file)
    assert (code, found["checks"], found["failed"]) == (1, 4, 1)
    assert found["cases"][0]["name"] == "letters"


def test_a_grammar_that_does_not_compile_is_a_failed_check(capsys, tmp_path):
    file = tmp_path / "cases.toml"
    file.write_text('[[case]]\nnotation = "regex"\ngrammar = "(a"\naccept = ["a"]\n', "utf-8")
    code, found = results(capsys, file)
    assert (code, found["checks"], found["failed"]) == (1, 1, 1)


def test_junit_has_a_suite_for_each_case(cases, tmp_path, capsys):
    report = tmp_path / "results.xml"
    assert run("test", cases, "--junit", report) == 1
    root = ET.parse(report).getroot()
    assert (root.get("tests"), root.get("failures")) == ("14", "5")
    assert [suite.get("failures") for suite in root] == ["5", "0"]
    failed = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert len(failed) == len(FAILED)
    assert all(case.find("failure").get("message") for case in failed)
    assert {case.get("line") for case in failed} == {"2"}


def test_characters_that_xml_does_not_allow_are_replaced(tmp_path):
    file, report = tmp_path / "cases.toml", tmp_path / "results.xml"
    file.write_text('[[case]]\nnotation = "regex"\ngrammar = "a"\naccept = ["\\u0000\\u001b"]\n', "utf-8")
    assert run("test", file, "--junit", report) == 1
    assert ET.parse(report).getroot().get("failures") == "1"


def test_github_gets_an_annotation_for_each_failure(capsys, cases):
    assert run("test", cases, "--format", "github") == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::error ")]
    assert len(lines) == len(FAILED)
    assert all(",line=2," in line and "title=a date::" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[[case]]\nnotation = 'regex'\ngrammar = 'a'\n\n[[case]]\nnotation = 'regex'\ngrammar = 'a'\nfoo = 1\n", 5),
        ("[[case]]\nnotation = 'regex'\n", 1),
        ("[[case]]\nnotation = 'regex'\ngrammar = 'a'\ngrammar_file = 'b'\n", 1),
        ("\n[[case]]\nnotation = 'lark'\ngrammar = 'a'\n", 2),
        ("[[case]]\nnotation = 'regex'\ngrammar = 'a'\noptions = { dialect = 'perl' }\n", 1),
        ("[[case]]\nnotation = 'regex'\ngrammar = 'a'\noptions = { nothing = 'x' }\n", 1),
        ("[[case]]\nnotation = 'regex'\ngrammar_file = 'missing.txt'\n", 1),
        ("[[case]]\nnotation = 'regex'\ngrammar = 'a'\naccept = [1]\n", 1),
        ("[[case]]\nnotation = 'regex'\ngrammar = 'a'\nforced = [['a']]\n", 1),
    ],
)
def test_a_mistake_in_a_file_has_its_line(capsys, tmp_path, text, line):
    file = tmp_path / "cases.toml"
    file.write_text(text, "utf-8")
    assert run("test", file) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"cases.toml:{line}: " in err


@pytest.mark.parametrize("data", [b"[[case", b"\xff\xfe", b"case = 3", b""])
def test_what_is_no_list_of_cases_is_misuse(capsys, tmp_path, data):
    file = tmp_path / "cases.toml"
    file.write_bytes(data)
    assert run("test", file) == 2
    assert "cases.toml" in capsys.readouterr().err


def test_a_grammar_can_be_in_a_file_beside_the_cases(capsys, tmp_path):
    (tmp_path / "g.gbnf").write_text('root ::= "a"\n', "utf-8")
    (tmp_path / "r.txt").write_text("ab\n", "utf-8")
    file = tmp_path / "cases.toml"
    file.write_text(
        '[[case]]\nnotation = "gbnf"\ngrammar_file = "g.gbnf"\naccept = ["a"]\n'
        '[[case]]\nnotation = "regex"\ngrammar_file = "r.txt"\naccept = ["ab"]\n',
        "utf-8",
    )
    assert results(capsys, file)[1]["failed"] == 0
