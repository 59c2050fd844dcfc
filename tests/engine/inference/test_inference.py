"""Grammars from samples: what is inferred, and that random samples are all accepted."""

from __future__ import annotations

import json

import pytest
from error_keys import raises_key
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from engine import CompileOptions, compile_grammar
from engine.inference.infer import infer, likely_notation
from engine.inference.samples import InferenceError, SampleForm, read_samples

_JSON = CompileOptions(whitespace="any", escapes="any", property_order="any", numbers="any")


def inferred(text: str, notation: str = "", form: SampleForm = SampleForm.AUTO) -> str:
    samples = read_samples(text, form)
    found = infer(notation or likely_notation(samples), samples)
    assert found.count == samples.count
    return found.text


def schema(*values: object) -> dict[str, object]:
    found = json.loads(inferred("\n".join(map(json.dumps, values)), "json_schema", SampleForm.JSON_LINES))
    del found["$schema"]
    return found


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("2024-01-05\n1999-07-04", "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
        ("AB-12\nCD-345", "[A-Z]{2}-[0-9]{2,3}"),
        ("AB-12\nCD-345\nx", "[A-Z]{2}-[0-9]{2,3}|x"),
        ("a", "a"),
        ("yes\nno\nyes\nno", "yes|no"),
        ("GET /a\nPOST /bc\nGET /d\nPOST /e\nGET /f\nPOST /g", "(?:GET|POST) /[a-z]{1,2}"),
        ("a.b*c", r"a\.b\*c"),
        ("A1\n1b\nC1d\n2E2\nf", "[0-9A-Za-z]{1,3}"),
    ],
)
def test_an_expression_is_inferred_from_lines(lines, expected):
    assert inferred(lines) == expected


def test_rules_are_inferred_from_lines_and_from_json():
    assert inferred("a1\nb23", "gbnf") == "root ::= [a-z] [0-9]{1,2}\n"
    rules = compile_grammar("gbnf", inferred('{"a": 1}\n{"a": 25}', "gbnf"))
    assert rules.fullmatch('{"a": 7}')
    assert not rules.fullmatch('{"a": "x"}')


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], {"type": "integer"}),
        ([1, 2.5], {"type": "number"}),
        ([None, "a"], {"type": ["null", "string"]}),
        (["x", "y", "x", "y"], {"enum": ["x", "y"]}),
        (["x", None, "x", "x", "x"], {"enum": ["x", None]}),
        (["a", "b", "c", "a"], {"type": "string"}),
        (["2024-01-31", "2024-02-29"], {"type": "string", "format": "date"}),
        (["2024-01-31", "2024-02-30"], {"type": "string"}),
        (["a@b.org", "c@d.org"], {"type": "string", "format": "email"}),
        ([[1], [], ["a"]], {"type": "array", "items": {"type": ["integer", "string"]}}),
        ([[]], {"type": "array"}),
        (
            [{"a": 1, "c": True}, {"a": 2, "b": None, "c": False}],
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "null"}, "c": {"type": "boolean"}},
                "required": ["a", "c"],
                "additionalProperties": False,
            },
        ),
        # Keys that are data
        (
            [{f"id{2 * number + one}": number for one in range(2)} for number in range(4)],
            {"type": "object", "additionalProperties": {"type": "integer"}},
        ),
    ],
)
def test_a_schema_is_inferred_from_values(values, expected):
    assert schema(*values) == expected


def test_an_array_has_samples_and_another_value_is_one():
    assert json.loads(inferred("[1, 2]"))["type"] == "integer"
    assert json.loads(inferred('{"a": [1, 2]}'))["type"] == "object"
    assert infer("regex", read_samples("[1, 2]", SampleForm.WHOLE)).text == r"\[1, 2\]"


def test_orders_that_contradict_each_other_are_noted():
    found = infer("json_schema", read_samples('{"a": 1, "b": 2}\n{"b": 1, "a": 2}'))
    assert len(found.notes) == 1
    assert not infer("json_schema", read_samples('{"a": 1}\n{"b": 1, "a": 2}')).notes


@pytest.mark.parametrize(
    ("text", "notation", "form", "key"),
    [
        ("\n \n", "regex", SampleForm.AUTO, "none"),
        ("{", "json_schema", SampleForm.JSON, "no_json"),
        ("1\n{", "json_schema", SampleForm.JSON_LINES, "no_json"),
        ("a", "json_schema", SampleForm.AUTO, "schema_of_texts"),
        ('{"a": 1, "a": 2}', "json_schema", SampleForm.AUTO, "key_twice"),
        (r'["\ud800"]', "json_schema", SampleForm.AUTO, "refused"),
        ("a\n" * 20_001, "regex", SampleForm.LINES, "many"),
    ],
)
def test_what_cannot_be_inferred_is_refused(text, notation, form, key):
    with raises_key(InferenceError, f"errors.inference.{key}"):
        inferred(text, notation, form)


_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.sampled_from(["a", "b", "2024-01-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("notation", ["regex", "gbnf"])
@fuzz(5)
@given(texts=st.lists(_TEXTS.filter(str.strip), min_size=1, max_size=6))
def test_random_texts_are_accepted(notation, texts):
    grammar = compile_grammar(notation, inferred("\n".join(texts), notation, SampleForm.LINES))
    assert all(grammar.fullmatch(text) for text in texts)


@fuzz(5)
@given(values=st.lists(_VALUES, min_size=1, max_size=4))
def test_random_values_are_accepted(values):
    lines = "\n".join(map(json.dumps, values))
    grammar = compile_grammar("json_schema", inferred(lines, "json_schema", SampleForm.JSON_LINES), _JSON)
    assert all(grammar.fullmatch(line) for line in lines.split("\n"))
