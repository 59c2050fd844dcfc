"""Real patterns: strings labelled by Python's engines, and the patterns of real JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from corpora import cases
from language import matches

from engine.notations.regex.parser import parse
from engine.source import Diagnostic, GrammarError, Limits, Severity, SourceText

# The matcher is the slow and obvious one; longer strings say nothing more about the parse.
LONGEST_TEXT = 60
# `a\-b` and the like: what V8 refuses with the u flag, and this engine takes with a warning.
TAKEN_WITH_A_WARNING = {"regex-needless-escape"}
NOT_A_PATTERN = {"^(a$"}


def test_labelled_patterns() -> None:
    for case in cases("regex"):
        node, _ = parse(SourceText(case["source"]), "python", Limits())
        for text in case["accept"]:
            assert len(text) > LONGEST_TEXT or matches(node, text), case["source"]
        for text in case["reject"]:
            assert len(text) > LONGEST_TEXT or not matches(node, text), case["source"]


def patterns(schema: Any) -> Iterator[str]:
    """Every `pattern`, and every key of `patternProperties`, anywhere in a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        if isinstance(schema.get("patternProperties"), dict):
            yield from schema["patternProperties"]
        for value in schema.values():
            yield from patterns(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from patterns(value)


def schema_patterns() -> set[str]:
    suites = ("jsts_2020", "jsts_7", "jsts_2020_optional", "jsts_7_optional")
    found = {pattern for case in cases("maskbench") for pattern in patterns(case["schema"])}
    return found | {
        pattern for suite in suites for case in cases(suite) for pattern in patterns(json.loads(case["source"]))
    }


def errors(pattern: str) -> tuple[Diagnostic, ...]:
    try:
        _, found = parse(SourceText(pattern), "ecma", Limits())
    except GrammarError as error:
        found = error.diagnostics
    assert {f.code for f in found if f.severity is Severity.WARNING} <= TAKEN_WITH_A_WARNING
    return tuple(finding for finding in found if finding.severity is Severity.ERROR)


def test_patterns_of_real_schemas() -> None:
    assert {pattern for pattern in schema_patterns() if errors(pattern)} <= NOT_A_PATTERN


@pytest.mark.parametrize("suite", ["jsts_2020_optional", "jsts_7_optional"])
def test_what_the_standard_test_suite_says_of_patterns(suite: str) -> None:
    for case in cases(suite):
        schema = json.loads(case["source"])
        if not isinstance(schema.get("pattern"), str):
            continue
        # `pattern` is a search.
        node, _ = parse(SourceText(f"[^]*(?:{schema['pattern']})[^]*"), "ecma", Limits())
        for verdict, texts in ((True, case["accept"]), (False, case["reject"])):
            values = [value for value in map(json.loads, texts) if isinstance(value, str)]
            assert [value for value in values if matches(node, value) != verdict] == [], schema["pattern"]
