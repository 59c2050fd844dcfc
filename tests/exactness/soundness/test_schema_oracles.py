"""The direct evaluator of schemas says what the specification says, and the trial finds planted mistakes."""

import json
import random
from decimal import Decimal

import pytest

from engine import CompiledGrammar
from tests.exactness.soundness.json_values import PATTERNS, any_number, plain_number, spell
from tests.exactness.soundness.registry import GENERATORS
from tests.exactness.soundness.runner import Effort, run
from tests.exactness.soundness.schema_evaluator import Evaluator, UnreadableError, read_exactly

TREE = {
    "$id": "https://example.com/strict",
    "$dynamicAnchor": "node",
    "$ref": "tree",
    "unevaluatedProperties": False,
    "$defs": {
        "tree": {
            "$id": "tree",
            "$dynamicAnchor": "node",
            "properties": {"children": {"items": {"$dynamicRef": "#node"}}},
        }
    },
}
CASES = [
    (2020, {"type": "integer"}, ["1", "1.0", "10e-1", "-0"], ["1.5", "true", '"1"']),
    (2020, {"enum": [0.5, [1, {"a": 1}]]}, ["0.50", '[1.0,{"a":1e0}]'], ["1", "[1]", "[true]"]),
    (2020, {"multipleOf": 0.1}, ["0.3", "1e2"], ["0.35"]),
    (2020, {"uniqueItems": True}, ["[[1],[]]", "[1,true]", "[0,false]"], ["[1,1.0]", '[{"a":1,"b":2},{"b":2,"a":1}]']),
    (2020, {"contains": {"const": 1}, "minContains": 0}, ["[]", "[2]"], []),
    (2020, {"contains": {"const": 1}, "unevaluatedItems": False}, ["[1,1]"], ["[]", "[1,2]"]),
    (2019, {"contains": {"const": 1}, "unevaluatedItems": False}, [], ["[]", "[1]"]),
    (2020, {"if": {"properties": {"a": True}}, "unevaluatedProperties": False}, ['{"a":1}'], ['{"b":1}']),
    (2020, {"dependentSchemas": {"x": {"items": True}}, "unevaluatedItems": False}, ["[]"], ["[1]"]),
    (2020, {"minLength": 1, "maxLength": 1}, ['"\U0001f600"'], ['""', '"ab"']),
    (4, {"minimum": 1, "exclusiveMinimum": True}, ["2"], ["1"]),
    (7, {"$ref": "#/definitions/a", "maximum": 0, "definitions": {"a": {"type": "number"}}}, ["1"], ['"a"']),
    (7, {"items": [{"const": 1}], "additionalItems": False}, ["[]", "[1]"], ["[2]", "[1,1]"]),
    (6, {"if": True, "then": False}, ["1"], []),
    (2020, TREE, ['{"children":[{}]}'], ['{"x":1}', '{"children":[{"x":1}]}']),
    (
        2019,
        {"$recursiveAnchor": True, "anyOf": [{"type": "integer"}, {"items": {"$recursiveRef": "#"}, "type": "array"}]},
        ["[1,[2]]"],
        ["[null]"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("draft", "schema", "valid", "invalid"), CASES, ids=lambda value: json.dumps(value)[:50])
def test_the_direct_evaluator(draft, schema, valid, invalid):
    evaluator = Evaluator(read_exactly(json.dumps(schema)), draft, PATTERNS)
    assert [text for text in valid if not evaluator.is_valid(read_exactly(text))] == []
    assert [text for text in invalid if evaluator.is_valid(read_exactly(text))] == []


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '"\\ud800"', "1e10000"])
def test_texts_that_are_not_judged(text):
    with pytest.raises(UnreadableError):
        read_exactly(text)


def test_numbers_keep_their_value_in_every_form():
    rng = random.Random(1)
    for text in ("0", "-1", "0.5", "2.50", "1e2", "1e-7", "1e300", "-0.1234567890123456789012345"):
        value = Decimal(text)
        assert Decimal(plain_number(value)) == value
        assert all(Decimal(any_number(value, rng)) == value for _ in range(30))
    assert spell({"a": [Decimal("1.50"), Decimal("-0"), "é\n"]}) == '{"a":[1.5,0,"é\\n"]}'


@pytest.mark.parametrize("name", [name for name in GENERATORS if name.startswith("schema-")])
@pytest.mark.parametrize("verdict", [True, False])
def test_a_wrong_verdict_is_found(name, verdict, monkeypatch):
    monkeypatch.setattr(CompiledGrammar, "fullmatch", lambda grammar, data: verdict)
    kinds = {found.kind for found in run(name, Effort(seed=1, cases=20)).differences}
    assert ("false accept" if verdict else "false reject") in kinds
