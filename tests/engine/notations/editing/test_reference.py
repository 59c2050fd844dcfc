"""Every line of the quick reference, compiled."""

from __future__ import annotations

import json

import pytest

from engine.compile import CompileOptions, compile_grammar
from engine.notations import NOTATIONS
from engine.notations.json_schema.dialects import ENFORCED
from engine.notations.json_schema.reference import FORMATS, TYPES
from engine.notations.reference import ReferenceEntry
from engine.source import GrammarError

READINGS = [
    ("regex", "python", 2020),
    ("regex", "ecma", 2020),
    ("gbnf", "python", 2020),
    *(("json_schema", "python", draft) for draft in (4, 6, 7, 2019, 2020)),
]


def entries(notation: str, dialect: str = "python", draft: int = 2020) -> list[ReferenceEntry]:
    options = CompileOptions(dialect=dialect, draft=draft)  # type: ignore[arg-type]
    return [entry for group in NOTATIONS[notation].reference("", options) for entry in group.entries]


@pytest.mark.parametrize(("notation", "dialect", "draft"), READINGS)
def test_every_example_compiles_and_takes_its_text(notation: str, dialect: str, draft: int) -> None:
    for entry in entries(notation, dialect, draft):
        options = CompileOptions(dialect=dialect)  # type: ignore[arg-type]
        grammar = compile_grammar(notation, entry.example, options)
        assert [found.code for found in grammar.diagnostics if found.severity != "hint"] == [], entry
        if not grammar.automaton.token_elements:
            assert grammar.fullmatch(entry.takes), entry
        assert 0 <= entry.caret <= len(entry.text)
        assert entry.meaning
        assert "\n" not in entry.meaning


@pytest.mark.parametrize(("notation", "dialect", "draft"), READINGS)
def test_an_example_shows_what_it_is_about(notation: str, dialect: str, draft: int) -> None:
    for entry in entries(notation, dialect, draft):
        if notation == "json_schema":
            shown = entry.form if entry.form != '"$defs"' or draft >= 2019 else '"definitions"'
            assert shown in entry.example, entry


def test_what_a_dialect_does_not_know_is_not_listed() -> None:
    python, ecma = ({entry.form: entry for entry in entries("regex", dialect)} for dialect in ("python", "ecma"))
    assert {"(?x)", r"\A", "(?P<name>…)"} <= python.keys() - ecma.keys()
    assert {"(?<name>…)", r"\cJ"} <= ecma.keys() - python.keys()
    for known, other, dialect in ((python, ecma, "ecma"), (ecma, python, "python")):
        for form in known.keys() - other.keys():
            with pytest.raises(GrammarError):
                compile_grammar("regex", known[form].example, CompileOptions(dialect=dialect))  # type: ignore[arg-type]


def test_what_a_draft_does_not_know_is_not_listed() -> None:
    forms = {draft: {entry.form for entry in entries("json_schema", draft=draft)} for draft in (4, 6, 7, 2019, 2020)}
    assert '"const"' not in forms[4]
    assert '"const"' in forms[6]
    assert '"if"' not in forms[6]
    assert '"if"' in forms[7]
    assert '"$defs"' not in forms[7]
    assert '"definitions"' not in forms[2020]
    assert '"prefixItems"' in forms[2020] - forms[2019]
    assert '"additionalItems"' in forms[2019] - forms[2020]


def test_a_schema_names_its_draft() -> None:
    schema = NOTATIONS["json_schema"]
    draft_7 = schema.reference('{"$schema" : "http://json-schema.org/draft-07/schema#"', CompileOptions())
    assert draft_7 == schema.reference("{}", CompileOptions(draft=7))
    assert schema.reference('{"$schema": "unknown"}', CompileOptions()) == schema.reference("", CompileOptions())


def test_every_keyword_that_is_enforced_is_listed_in_some_draft() -> None:
    listed = {entry.form.strip('"') for draft in (4, 2020) for entry in entries("json_schema", draft=draft)}
    assert ENFORCED - listed == {"$recursiveRef"}
    assert {json.loads(entry.form) for entry in entries("json_schema")} >= set(FORMATS) | set(TYPES)
