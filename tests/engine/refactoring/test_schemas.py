"""Refactorings of schemas: what each does, what it refuses, and that nothing is dropped without a note."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from error_keys import raises_key

from engine import CompileOptions, compile_grammar
from engine.analysis.equivalence import compare_languages
from engine.refactoring import REFACTORINGS
from engine.refactoring.proof import ProofKind, proof_of
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, Rewrite, refactored
from engine.source import Span

CASES = tomllib.loads((Path(__file__).parents[2] / "data" / "refactorings.toml").read_text(encoding="utf-8"))["case"]
_MARK = "§"  # the cursor


def rewritten(refactoring: str, marked: str, *, name: str = "", draft: int = 2020) -> tuple[str, Rewrite]:
    """Return a schema after a refactoring; the automata before and after are compared."""
    offset, text = max(marked.find(_MARK), 0), marked.replace(_MARK, "")
    options = CompileOptions(draft=draft)
    selection = GrammarSelection("json_schema", text, Span(offset, offset), options, name)
    after, rewrite = refactored(REFACTORINGS[refactoring], selection)
    before, changed = (compile_grammar("json_schema", one, options) for one in (text, after))
    kind = proof_of(compare_languages(before, changed, effort=3_000), keeps_language=False)
    assert kind is ProofKind.AUTOMATA
    return after, rewrite


def of_refactoring(case: dict[str, Any]) -> str:
    return f"{case['refactoring']}: {case['before']}"


@pytest.mark.parametrize("case", [case for case in CASES if "after" in case], ids=of_refactoring)
def test_a_schema_is_refactored(case):
    after, rewrite = rewritten(case["refactoring"], case["before"])
    assert json.loads(after) == json.loads(case["after"])
    assert len(rewrite.notes) == case.get("notes", len(rewrite.notes))


@pytest.mark.parametrize("case", [case for case in CASES if "refused" in case], ids=of_refactoring)
def test_what_cannot_be_done_is_refused(case):
    with raises_key(RefactoringError, f"errors.refactoring.{case['refused']}"):
        rewritten(case["refactoring"], case["before"])


def test_the_layout_around_all_of_is_kept():
    head = '{\n  "title" :  "x",\n'
    merged = '  "allOf": [\n    {"type": "object",\n     "maxProperties": 0}\n  ],\n'
    after, _ = rewritten("merge-all-of", f'{head}{merged}  "description":"y"\n}}\n')
    assert after == f'{head}  "type": "object",\n  "maxProperties": 0,\n  "description":"y"\n}}\n'


def test_a_named_schema_is_indented_where_it_goes():
    before = '{\n  "type": "array",\n  "items": {\n    "not": {\n      "type": §"null"\n    }\n  }\n}'
    after, rewrite = rewritten("name-schema", before, name="nothing")
    assert rewrite.name == "nothing"
    head = '{\n  "type": "array",\n  "items": {\n    "not": {"$ref": "#/$defs/nothing"}\n  },\n'
    assert after == f'{head}  "$defs": {{\n    "nothing": {{\n      "type": "null"\n    }}\n  }}\n}}'


def test_a_draft_that_only_the_options_name_is_upgraded_too():
    after, _ = rewritten("upgrade-draft", '{"id": "http://x.org/", "enum": [1]}', draft=4)
    assert json.loads(after)["$id"] == "http://x.org/"
    assert json.loads(after)["$schema"].endswith("2020-12/schema")


def test_a_difference_is_no_proof():
    one, other = (compile_grammar("json_schema", json.dumps({"maxLength": most})) for most in (2, 3))
    assert proof_of(compare_languages(one, other, effort=500), keeps_language=True) is ProofKind.DIFFERENT
