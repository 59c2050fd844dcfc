"""The price of a grammar: one cause for each step, proved where a keyword refuses what the model wanted."""

import json
from math import inf, log

import pytest

from engine.compile import compile_grammar
from engine.decoding.values import PackedMasses, StepMass
from engine.diagnosis.scores.grammar_price import grammar_price
from engine.diagnosis.scores.price_texts import cause_text, nats_text, price_sentence
from engine.diagnosis.scores.price_values import PriceCause
from engine.diagnosis.test_strings.values import CountedText

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^[0-9]+$"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
OUTPUT = b'{"a": "12", "b": 3}'


def priced(notation, source, data, *steps, count=1):
    masses = PackedMasses.of(StepMass(*step) for step in steps)
    return grammar_price(compile_grammar(notation, source), [CountedText(data, count, masses)])


def of_schema(*steps, count=1):
    return priced("json_schema", json.dumps(SCHEMA), OUTPUT, *steps, count=count)


def test_a_step_belongs_to_the_keyword_without_which_the_token_would_be_allowed():
    price = of_schema((7, 0.1, 0.1, b"x", 0.7), (10, 0.5, 0.5, b"}", 0.4), count=3)
    assert [(part.name, part.worst.is_proved) for part in price.parts] == [
        ("/properties/a/pattern", True),
        ("/required", True),
    ]
    assert price.parts[0].nats == pytest.approx((log(10), log(10)))
    assert price.nats == pytest.approx((log(20), log(20)))  # for one of three equal outputs
    assert (price.outputs, price.parts[0].steps, price.parts[1].worst.step) == (3, 3, 1)
    span = price.parts[0].span
    assert json.dumps(SCHEMA)[span.start : span.end] == '"^[0-9]+$"'


@pytest.mark.parametrize(
    ("step", "cause", "name"),
    [
        ((0, 0.1, 0.1, b"Sure", 0.5), PriceCause.FORM, ""),
        ((7, 0.1, 0.1, b"<end>", 0.5, True), PriceCause.PART, "/properties/a/pattern"),  # of the keyword that reads
        ((len(OUTPUT), 0.1, 0.1, b"\n", 0.5), PriceCause.END, ""),
        ((18, 0.1, 0.1), PriceCause.PART, "/properties/b/type"),
    ],
)
def test_other_causes(step, cause, name):
    price = of_schema(step)
    (part,) = price.parts
    assert (part.cause, part.name, part.worst.is_proved) == (cause, name, cause is PriceCause.FORM)
    assert cause_text(part)
    assert nats_text(part.nats) in price_sentence(price)


def test_rules_and_parts_of_other_notations():
    price = priced("gbnf", 'root ::= "a" b\nb ::= "x" | "y"\n', b"ax", (0, 0.5, 0.5), (1, 0.25, 0.5, b"z", 0.3))
    assert [(part.cause, part.name) for part in price.parts] == [(PriceCause.RULE, "b"), (PriceCause.RULE, "root")]
    assert price.parts[0].nats == pytest.approx((log(2), log(4)))
    (part,) = priced("regex", "ab+", b"ab", (1, 0.5, 0.5)).parts
    assert (part.cause, part.name) == (PriceCause.PART, "1:2  b")


def test_unknown_steps_and_free_ones_are_in_no_sum():
    price = priced("regex", "ab", b"ab", (0, 0.0, 1.0), (1, 1.0, 1.0))
    assert (price.nats, price.parts, price.unknown) == ((0, 0), (), 1)
    assert price_sentence(price) == ""
    assert price_sentence(priced("regex", "ab", b"ab", (1, 1.0, 1.0)))
    assert priced("regex", "ab", b"ab", (0, 0.0, 0.5)).nats == (pytest.approx(log(2)), inf)


def test_links_are_made_of_the_part_and_the_step():
    price = of_schema((7, 0.1, 0.1, b"x", 0.7))
    sentence = price_sentence(price, lambda field, text: f"<{field}:{text}>")
    assert "<step:1>" in sentence
    assert "<part:`/properties/a/pattern`>" in sentence
