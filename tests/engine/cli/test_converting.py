"""`export --to gbnf` and `--to regex`."""

from __future__ import annotations

import json
import sys

import pytest
from catalogue_texts import shows

from engine.cli.main import main
from engine.compile import compile_grammar
from engine.export import TARGETS
from engine.source.catalogue import catalogue_text

SCHEMA = ("--notation", "json_schema", "--whitespace", "compact", "--grammar")
LIST = '{"type": "array", "items": {"$ref": "#"}}'
NAME = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}'
SPELLING = f"turnstile: note: {catalogue_text('export.note.fragment.plain')}\n"


def export(*arguments: str) -> int:
    try:
        return main(["export", *arguments, "--output", "-"])
    except SystemExit as leave:  # argparse
        return int(leave.code or 0)


def rules(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_a_schema_as_gbnf(capsys):
    assert export("--to", "gbnf", *SCHEMA, NAME) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# Written by Turnstile")
    assert f"#   {NAME}\n" in out
    assert rules(out) == [
        r'root ::= "{\"n\":" integer "}"',
        'integer ::= "-"? ("0" | [1-9] [0-9]*)',
    ]
    assert err.startswith(SPELLING)
    assert shows(err, "export.checked.walks", compared=catalogue_text("export.compared.fragment.gbnf"))
    assert compile_grammar("gbnf", out).fullmatch('{"n":12}')


def test_every_spelling_leaves_nothing_out(capsys):
    for escapes in ("shortest", "any"):
        assert export("--to", "gbnf", "--spelling", "any", "--escapes", escapes, *SCHEMA, NAME) == 0
        out, err = capsys.readouterr()
        assert "note" not in err
        assert compile_grammar("gbnf", out).fullmatch('{"n":12}')
        assert compile_grammar("gbnf", out).fullmatch(r'{"\u006E":12}') is (escapes == "any")


def test_the_rules_of_a_schema_in_every_spelling(capsys):
    for escapes in ("shortest", "any"):
        assert export("--to", "json", "--spelling", "any", "--escapes", escapes, *SCHEMA, NAME) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["notes"] == []
        assert document["options"]["escapes"] == escapes
        used = {first for rule in document["rules"] for edge in rule["edges"] for first, _ in edge["bytes"]}
        assert (ord("\\") in used) is (escapes == "any")


def test_a_regex_as_gbnf(capsys):
    assert export("--to", "gbnf", "--notation", "regex", "--grammar", "[a-z]+!?") == 0
    assert rules(capsys.readouterr().out) == ['root ::= [a-z]+ "!"?']


def test_gbnf_is_written_as_llama_cpp_takes_it(capsys):
    assert export("--to", "gbnf", "--notation", "gbnf", "--grammar", 'root ::= my_rule\nmy_rule ::= "a"') == 0
    assert rules(capsys.readouterr().out) == ["root ::= my-rule", 'my-rule ::= "a"']


def test_a_schema_as_a_regex(capsys):
    assert export("--to", "regex", *SCHEMA, NAME) == 0
    out, err = capsys.readouterr()
    assert out == '\\{"n":-?(?:0|[1-9][0-9]*)\\}'  # a line end would be part of it for who reads the output
    assert err.startswith(SPELLING)


def test_on_a_terminal_a_regex_ends_its_line(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert export("--to", "regex", "--notation", "gbnf", "--grammar", 'root ::= "a"') == 0
    assert capsys.readouterr().out == "a\n"


def test_recursion_is_cut_only_where_that_is_asked_for(capsys):
    assert export("--to", "regex", *SCHEMA, LIST) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert shows(err, "errors.export.recursive", name="root")
    assert shows(err, "diagnostics.export-recursive.hint")
    assert export("--to", "regex", "--depth", "2", *SCHEMA, LIST) == 0
    out, err = capsys.readouterr()
    assert out == "\\[(?:\\[\\](?:,\\[\\])*)?\\]"
    cut = catalogue_text("export.note.fragment.cut", depth=2)
    assert f"{SPELLING}turnstile: note: {cut}\n" in err


def test_what_no_grammar_can_say_is_an_error_with_its_place(capsys):
    assert export("--to", "gbnf", *SCHEMA, '{"uniqueItems": true}') == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("<grammar>:1:17: error: /uniqueItems ")
    assert err.endswith("[export-not-context-free]\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--to", "regex", "--notation", "regex", "--grammar", "a"),
        ("--to", "gbnf", "--depth", "2", *SCHEMA, LIST),
        ("--to", "regex", "--depth", "0", *SCHEMA, LIST),
        ("--to", "dot", "--spelling", "any", "--notation", "regex", "--grammar", "a"),
        ("--to", "dot", "--spelling", "any", *SCHEMA, LIST),
        ("--to", "gbnf", "--spelling", "any", "--notation", "regex", "--grammar", "a"),
        ("--to", "gbnf", "--name", "x", *SCHEMA, LIST),
        ("--to", "requests", "--name", "Not A Name", *SCHEMA, LIST),
        ("--to", "requests", *SCHEMA, LIST),
        ("--to", "safetensors", *SCHEMA, LIST),
        ("--to", "gbnf", "--json", *SCHEMA, LIST),
        ("--list", "--to", "gbnf"),
        ("--list", "--notation", "regex"),
    ],
)
def test_options_that_mean_nothing_are_refused(arguments, capsys):
    assert export(*arguments) == 2
    assert "error: " in capsys.readouterr().err


def listed(*arguments: str) -> int:
    try:
        return main(["export", "--list", *arguments])
    except SystemExit as leave:
        return int(leave.code or 0)


def test_the_list_of_targets(capsys):
    assert listed() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == [
        catalogue_text("export.group.elsewhere") + ":",
        "Text:",
        catalogue_text("export.group.picture") + ":",
    ]
    assert [line.split()[0] for line in lines if line.startswith(" ")] == list(TARGETS.names)


def test_the_list_says_what_fits_a_grammar_and_why_not(capsys):
    assert listed("--notation", "gbnf", "--grammar", 'root ::= "(" root ")" | "a"') == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(
        "regex" in line and "no: " + catalogue_text("export.refusal.fragment.nests_without_bound") in line
        for line in lines
    )
    assert listed("--json", "--depth", "3", "--notation", "gbnf", "--grammar", 'root ::= "(" root ")" | "a"') == 0
    found = {entry["target"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert found["regex"]["fits"]
    assert found["regex"]["reason"] == ""
    assert not found["vllm"]["fits"]


OPEN_SCHEMA = """{
  "type": "object",
  "properties": {"name": {"enum": ["John", "Paul"]}, "age": {"enum": [20, 30]}},
  "required": ["name", "age"]
}"""
"""As Outlines' post on coalescence prints it, without `additionalProperties`."""


def test_an_open_schema_is_a_regex_once_it_is_closed(capsys):
    schema = (*SCHEMA, OPEN_SCHEMA)
    for target in ("regex", "jflap", "safetensors", "bumblebee"):
        assert listed("--json", *schema) == 0
        entry = next(one for one in json.loads(capsys.readouterr().out) if one["target"] == target)
        assert entry["reason"] == catalogue_text("export.refusal.fragment.close_objects")
    assert export("--to", "regex", *schema) == 1
    assert shows(capsys.readouterr().err, "export.refusal.fragment.close_objects")
    assert export("--to", "regex", "--additional", "closed", *schema) == 0
    assert capsys.readouterr().out.strip() == r'\{"name":(?:"John"|"Paul"),"age":(?:20|30)\}'


def test_closing_is_not_offered_where_it_does_not_help(capsys):
    tree = '{"properties": {"next": {"$ref": "#"}}}'
    assert export("--to", "regex", *SCHEMA, tree) == 1
    assert "--additional" not in capsys.readouterr().err


def test_a_target_that_does_not_fit_fails_with_the_reason(tmp_path, capsys):
    rules = 'root ::= other "a" | "(" root ")"\nother ::= root "b" | "c"'
    assert export("--to", "gbnf", "--notation", "gbnf", "--grammar", rules) == 1
    reason = catalogue_text("export.refusal.fragment.gbnf_left_recursion", rule="root")
    said = catalogue_text("export.writing.fragment.no_fit", target="gbnf", reason=reason)
    assert capsys.readouterr().err == f"turnstile: {said}\n"


def test_a_folder_and_a_picture(tmp_path, capsys):
    folder, picture = tmp_path / "requests", tmp_path / "a.png"
    regex = ("--notation", "regex", "--grammar", "[a-z]+")
    assert main(["export", "--to", "requests", "--model", "my/model", *regex, "--output", str(folder)]) == 0
    assert json.loads((folder / "vllm.json").read_text())["model"] == "my/model"
    assert main(["export", "--to", "png", *regex, "--output", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "pixels" in capsys.readouterr().err
    assert sorted(place.name for place in tmp_path.iterdir()) == ["a.png", "requests"]


def test_the_report_of_a_server_goes_into_the_requests(tmp_path, capsys):
    report, wrong = tmp_path / "report.json", tmp_path / "wrong.json"
    keyword = {"pointer": "/minLength", "keyword": "minLength", "note": "Dropped"}
    report.write_text(json.dumps({"kind": "vllm", "version": "0.33", "sentence": "Off.", "keywords": [keyword]}))
    wrong.write_text("{}")
    schema = ["--notation", "json_schema", "--grammar", '{"minLength": 1}']
    export = ["export", *schema, "--output", str(tmp_path / "made")]
    assert main([*export, "--to", "requests", "--server-report", str(report)]) == 0
    assert "- /minLength: Dropped." in (tmp_path / "made" / "README.md").read_text("utf-8")
    assert main([*export, "--to", "requests", "--server-report", str(wrong)]) == 2
    assert catalogue_text("cli.export.fragment.server_report") in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*export, "--to", "gbnf", "--server-report", str(report)])
