"""The command line with the notations beyond regular expressions."""

from __future__ import annotations

import io
import json
import sys

import pytest
from catalogue_texts import shows

import engine.models
from engine.cli.main import main
from engine.models.uniform import UniformSource
from engine.vocabulary import Vocabulary

BRACKETS = 'root ::= "(" root ")" | "a"'
SCHEMA = '{"enum": [[true, false]]}'


@pytest.fixture
def model(monkeypatch):
    source = UniformSource("ASCII", Vocabulary([bytes([code]) for code in range(0x80)], []))
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)
    return source


def type_in(monkeypatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize(("notation", "text"), [("gbnf", BRACKETS), ("json_schema", SCHEMA)])
def test_a_good_grammar_is_silent_from_a_file_and_from_stdin(notation, text, tmp_path, monkeypatch, capsys):
    file = tmp_path / "grammar"
    file.write_text(text + "\n")
    type_in(monkeypatch, text)
    assert main(["check", "--notation", notation, "--grammar-file", str(file)]) == 0
    assert main(["check", "--notation", notation, "--grammar-file", "-"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("notation", "text"), [("gbnf", 'root ::= "a'), ("json_schema", '{"type": 3}')])
def test_a_bad_one_is_told_with_its_place(notation, text, capsys):
    assert main(["check", "--notation", notation, "--grammar", text]) == 1
    assert "<grammar>:1:" in capsys.readouterr().out


@pytest.mark.parametrize(("whitespace", "length"), [("compact", 12), ("one-space", 13)])
def test_a_schema_is_written_with_the_white_space_that_is_asked_for(whitespace, length, model, capsys):
    arguments = ["--notation", "json_schema", "--grammar", SCHEMA, "--model", "any", "--whitespace", whitespace]
    assert main(["generate", *arguments]) == 0
    text = capsys.readouterr().out
    assert json.loads(text) == [True, False]
    assert len(text) == length


@pytest.mark.parametrize(("target", "notes"), [("json", 1), ("dot", 2)])
def test_a_schema_is_exported_by_its_rules_and_says_what_they_leave_out(target, notes, capsys):
    arguments = ["--notation", "json_schema", "--grammar", SCHEMA, "--to", target, "--output", "-"]
    assert main(["export", *arguments]) == 0
    out = capsys.readouterr().out
    assert '"root"' in out
    assert shows(out, "export.note.fragment.plain") + shows(out, "export.note.fragment.compact") == notes


@pytest.mark.parametrize("target", ["json", "dot"])
def test_a_schema_that_no_rules_can_say_is_not_exported(target, capsys):
    arguments = ["--notation", "json_schema", "--grammar", '{"uniqueItems": true}', "--to", target, "--output", "-"]
    assert main(["export", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert shows(err, "diagnostics.export-not-context-free.message", where="/uniqueItems")


def test_a_regular_gbnf_grammar_is_exported(capsys):
    arguments = ["--notation", "gbnf", "--grammar", 'root ::= "a" | "b"', "--to", "dot", "--output", "-"]
    assert main(["export", *arguments]) == 0
    assert "\ndigraph" in capsys.readouterr().out
