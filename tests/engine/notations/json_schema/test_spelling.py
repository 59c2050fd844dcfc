"""Keywords that were probably meant, and words that were not."""

from __future__ import annotations

import pytest

from engine import compile_grammar
from engine.notations.json_schema.lowering import keywords
from engine.notations.json_schema.spelling import likely_keyword


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("propertes", "properties"),
        ("porperties", "properties"),
        ("requird", "required"),
        ("minlength", "minLength"),
        ("additionalproperties", "additionalProperties"),
        ("item", "items"),
        ("anyof", "anyOf"),
        ("tpye", "type"),
        ("enmu", "enum"),
        ("tape", None),
        ("ref", None),
        ("example", None),
        ("title", None),
        ("x-type", None),
        ("_format", None),
        ("name", None),
        ("unit", None),
        ("", None),
    ],
)
def test_one_letter_makes_the_difference(written: str, meant: str | None) -> None:
    assert likely_keyword(written) == meant


def test_no_keyword_is_taken_for_another() -> None:
    assert [word for word in keywords() if likely_keyword(word) not in {word, None}] == []


def test_a_hint_stands_at_the_key() -> None:
    text = '{"type": "object", "propertes": {}, "title": "A", "properties": {"nam": {"minlength": 2}}}'
    (hint,) = compile_grammar("json_schema", text).diagnostics  # `properties` is there, so `propertes` is no slip
    assert hint.code == "schema-misspelled-keyword"
    assert text[hint.span.start : hint.span.end] == '"minlength"'
    assert hint.hint == "Did you mean minLength?"
