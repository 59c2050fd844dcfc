"""Masks of schemas along valid texts, against their definition."""

import json

import numpy as np
import pytest
from brute_force import brute_force

from engine import Matcher, Vocabulary, compile_grammar

PIECES = [
    '"}',
    '": ',
    '", "',
    "true,",
    "\\u00",
    '\\"',
    'a"',
    " {",
    "[[",
    "]]",
    "12",
    "1.5",
    "\n  ",
    "name",
    "é",
    "日本",
]
WORDS = list(dict.fromkeys([*(bytes([byte]) for byte in range(256)), *(piece.encode() for piece in PIECES)]))
VOCABULARY = Vocabulary([*WORDS, None], eos_ids=[len(WORDS)])

CASES = [
    ({}, '{"a": [1, "é\\u00e9"], "b": {}}'),
    ({"properties": {"name": {"type": "string", "maxLength": 4}}, "required": ["name"]}, '{"name": "日本"}'),
    ({"type": "object", "minProperties": 2, "patternProperties": {"^a": {"type": "integer"}}}, '{"ab": 12, "c": "x"}'),
    ({"type": "array", "uniqueItems": True, "items": {"enum": ["a", "ab", 1]}}, '["a", "ab", 1]'),
    ({"oneOf": [{"type": "number", "multipleOf": 0.5}, {"minimum": 2}]}, "1.5"),
]


@pytest.mark.parametrize(("schema", "text"), CASES, ids=lambda value: json.dumps(value)[:50])
def test_every_mask_along_a_text_is_right(schema, text):
    grammar = compile_grammar("json_schema", json.dumps(schema))
    matcher = Matcher(grammar, VOCABULARY)
    for byte in text.encode():
        assert np.array_equal(matcher.bitmask(), brute_force(grammar, matcher))
        assert matcher.accept(byte)
    assert matcher.is_accepting
