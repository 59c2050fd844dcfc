"""`turnstile check --target`: findings for an engine, in a grammar and in the tools of a request."""

from __future__ import annotations

import json

from engine.cli.main import main

SCHEMA = '{"type": "string", "pattern": "^\\\\d+$"}'


def test_findings_are_printed_with_their_place_and_fix(capsys):
    assert main(["check", "--notation", "json_schema", "--grammar", SCHEMA, "--target", "llama.cpp@b10034"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(": ")[1] == "refuses"
    assert "/pattern" in lines[0]
    assert lines[1].endswith("Write `^[0-9]+$`")
    assert lines[2] == "llama.cpp b10034: 1 refused"


def test_json_has_counts_pointers_and_edits(capsys):
    request = json.dumps({"tools": [{"name": "t", "parameters": json.loads(SCHEMA)}]})
    arguments = ["check", "--notation", "json_schema", "--grammar", request, "--target", "llama.cpp", "--json"]
    assert main(arguments) == 0
    target = json.loads(capsys.readouterr().out)["target"]
    assert target["counts"] == {"drops": 1}
    (part,) = target["parts"]
    assert part["tool"] == "t"
    (finding,) = part["findings"]
    assert finding["pointer"] == "/tools/0/parameters/pattern"
    assert finding["rewrite"]["edits"][0]["replacement"] == '"^[0-9]+$"'


def test_an_unknown_target_is_misuse(capsys):
    assert main(["check", "--notation", "regex", "--grammar", "a", "--target", "frob"]) == 2
    assert "frob" in capsys.readouterr().err
