"""Two orders of keys, tried with a model that wants one of them."""

import json

import pytest
from error_keys import raises_key
from random_model import RandomModel

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.scores.key_order import KeyOrderError, compare_orders, exchange
from engine.diagnosis.scores.price_texts import greedy_sentence, order_sentence
from engine.diagnosis.scores.price_values import Estimate, KeyPair, student_quantile
from engine.notations.editing import apply_edits
from engine.vocabulary import Vocabulary

SCHEMA = """{
  "type": "object",
  "properties": {
    "why": {"enum": [1]},
    "x": {"properties": {"p": {}, "q": {}}},
    "yes": {"enum": [2]}
  },
  "required": ["why", "yes"]
}
"""
TOKENS = [*(bytes([byte]) for byte in b"{}:,12 "), b'"why"', b'"yes"', b"<end>"]
PROPERTIES = {"why": {"enum": [1, 2, 12]}, "yes": {"enum": [2]}}
CLOSED = {"type": "object", "properties": PROPERTIES, "required": ["why", "yes"], "additionalProperties": False}


class Eager(RandomModel):
    """Wants the key `yes` first."""

    def __init__(self) -> None:
        super().__init__(Vocabulary(TOKENS, [len(TOKENS) - 1]), spread=0.5)

    def logits(self, ids):
        found = super().logits(ids)
        found[TOKENS.index(b'"yes"')] += 4.0 if TOKENS.index(b'"yes"') not in ids else -4.0
        return found

    def encode(self, text):
        return []


def compiled(**options):
    return compile_grammar("json_schema", json.dumps(CLOSED), CompileOptions(whitespace="compact", **options))


@pytest.mark.parametrize(("first", "second", "is_present"), [("why", "yes", True), ("yes", "why", False)])
def test_the_later_key_moves_before_the_earlier_one(first, second, is_present):
    edit, found = exchange(SCHEMA, KeyPair("", first, second))
    text = apply_edits(SCHEMA, [edit])
    assert found is is_present
    assert list(json.loads(text)["properties"]) == ["yes", "why", "x"]
    assert json.loads(text) == json.loads(SCHEMA)
    assert text.splitlines()[3] == '    "yes": {"enum": [2]},'


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        (KeyPair("", "why", "no"), "no_key"),
        (KeyPair("/properties/none", "p", "q"), "no_key"),
        (KeyPair("", "why", "why"), "same"),
    ],
)
def test_missing_keys_are_named(keys, key):
    with raises_key(KeyOrderError, f"errors.diagnosis.key_order.{key}"):
        exchange(SCHEMA, keys)


def test_the_order_that_the_model_wants_costs_less():
    found = compare_orders(compiled(), KeyPair("", "yes", "why"), Eager(), samples=6, max_tokens=60)
    assert found == compare_orders(compiled(), KeyPair("", "yes", "why"), Eager(), samples=6, max_tokens=60)
    assert not found.is_present
    assert found.asked.ended == found.other.ended == 6
    assert found.difference.count == 6
    assert found.difference.low < found.difference.mean < found.difference.high < 0
    assert found.greedy_difference < -1
    assert order_sentence(found, 60) != greedy_sentence(found)
    swapped = compare_orders(compiled(), KeyPair("", "why", "yes"), Eager(), samples=6, max_tokens=60)
    assert swapped.difference.mean == pytest.approx(-found.difference.mean)
    assert (swapped.is_present, swapped.edit) == (True, found.edit)


def test_outputs_that_do_not_end_have_no_price():
    found = compare_orders(compiled(), KeyPair("", "yes", "why"), Eager(), samples=2, max_tokens=5)
    assert (found.asked.price, found.difference, found.greedy_difference) == (None, None, None)
    assert "5" in order_sentence(found, 5)
    assert greedy_sentence(found) == ""


def test_what_has_no_order_is_refused():
    keys = KeyPair("", "yes", "why")
    with raises_key(KeyOrderError, "errors.diagnosis.key_order.any_order"):
        compare_orders(compiled(property_order="any"), keys, Eager())
    with raises_key(KeyOrderError, "errors.diagnosis.key_order.notation"):
        compare_orders(compile_grammar("regex", "a"), keys, Eager())


def test_the_interval_is_that_of_student():
    assert [round(student_quantile(degrees), 3) for degrees in (1, 2, 3, 5, 10, 30, 1000)] == [
        12.706,
        4.303,
        3.182,
        2.571,
        2.228,
        2.042,
        1.962,
    ]
    found = Estimate.of([1.0, 2.0, 3.0])
    assert (found.mean, found.high - found.mean) == (2.0, pytest.approx(4.303 / 3**0.5, abs=1e-3))
    assert Estimate.of([]) is None
    assert Estimate.of([4.0]).low is None
