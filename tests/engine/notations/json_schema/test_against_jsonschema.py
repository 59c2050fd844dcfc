"""Random schemas and values: `jsonschema` says what is valid."""

import json
import re

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import CompileOptions, GrammarError, LimitExceededError, compile_grammar
from engine.automata.byte_automaton import DEAD

KEYS = st.sampled_from(["a", "b", "ab", "c"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 3, 1.5, "", "a", "ab", "b"])
values = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
small = st.integers(0, 3)


def keywords(inner):
    return st.one_of(
        st.fixed_dictionaries({"type": st.sampled_from(["object", "array", "string", "integer", "number", "boolean"])}),
        st.fixed_dictionaries({"enum": st.lists(values, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"minimum": small, "maximum": small}),
        st.fixed_dictionaries({"multipleOf": st.sampled_from([1, 2, 0.5])}),
        st.fixed_dictionaries({"pattern": st.sampled_from(["a", "^a", "b$", "^$"])}),
        st.fixed_dictionaries({"maxLength": small}),
        st.fixed_dictionaries(
            {"properties": st.dictionaries(KEYS, inner, max_size=2)}, optional={"additionalProperties": inner}
        ),
        st.fixed_dictionaries({"patternProperties": st.dictionaries(st.sampled_from(["a", "^b"]), inner, max_size=2)}),
        st.fixed_dictionaries({"required": st.lists(KEYS, max_size=2, unique=True)}),
        st.fixed_dictionaries({"propertyNames": inner}),
        st.fixed_dictionaries({"minProperties": small}),
        st.fixed_dictionaries({"maxProperties": small}),
        st.fixed_dictionaries({"items": inner}, optional={"prefixItems": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"contains": inner}, optional={"maxContains": small, "minContains": small}),
        st.fixed_dictionaries({"minItems": small}),
        st.fixed_dictionaries({"maxItems": small}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"if": inner, "then": inner}, optional={"else": inner}),
        st.fixed_dictionaries({"dependentRequired": st.dictionaries(KEYS, st.lists(KEYS, max_size=2), max_size=2)}),
        st.fixed_dictionaries({"dependentSchemas": st.dictionaries(KEYS, inner, max_size=2)}),
        st.fixed_dictionaries({"unevaluatedProperties": inner}),
        st.fixed_dictionaries({"unevaluatedItems": inner}),
    )


def merged(parts):
    return {key: value for part in parts for key, value in part.items()}


schemas = st.recursive(
    st.one_of(st.booleans(), st.just({})),
    lambda inner: st.lists(keywords(inner), min_size=1, max_size=3).map(merged),
    max_leaves=6,
)
SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def compiled(schema, order):
    try:
        return compile_grammar("json_schema", json.dumps(schema), CompileOptions(property_order=order))
    except GrammarError as error:
        if not all(finding.code in {"limit-exceeded", "schema-undecided"} for finding in error.diagnostics):
            raise
        return None


@SETTINGS
@given(schemas, st.lists(values, min_size=1, max_size=6))
def test_in_any_order_exactly_the_valid_values_are_accepted(schema, instances):
    grammar = compiled(schema, "any")
    if grammar is None:
        return
    validator = jsonschema.Draft202012Validator(schema)
    for instance in instances:
        try:
            taken = grammar.fullmatch(json.dumps(instance))
        except LimitExceededError:
            return
        assert taken == validator.is_valid(instance), (schema, instance)


@SETTINGS
@given(schemas, st.lists(st.dictionaries(KEYS, values, max_size=4), min_size=1, max_size=6))
def test_a_text_may_begin_with_the_name_of_its_schema(schema, instances):
    if isinstance(schema, bool):
        return
    grammar = compiled({"$id": "https://example.com/s.json", **schema}, "declared")
    validator = jsonschema.Draft202012Validator(schema)
    for instance in instances if grammar is not None else ():
        named = {"$schema": "s.json", **instance}
        try:
            plain, begun = grammar.fullmatch(json.dumps(instance)), grammar.fullmatch(json.dumps(named))
        except LimitExceededError:
            return
        valid = validator.is_valid(named)
        assert valid or not begun, (schema, named)
        assert begun or not (plain and valid), (schema, named)


@SETTINGS
@given(schemas, st.randoms(use_true_random=False))
def test_what_is_written_along_the_mask_ends_and_is_valid(schema, random):
    grammar = compiled(schema, "declared")
    if grammar is None or grammar.is_empty:
        return
    automaton, configuration, text = grammar.automaton, grammar.automaton.start, bytearray()
    try:
        for _ in range(60):
            choices = [byte for first, last in automaton.expected(configuration) for byte in range(first, last + 1)]
            if not choices:
                assert automaton.accepts(configuration), (schema, bytes(text))
                break
            assert len(choices) > 0
            plain = [byte for byte in choices if byte in b'{}[]":,abnultrefs0123']
            byte = random.choice(plain or choices)
            text.append(byte)
            configuration = automaton.step(configuration, byte)
            assert configuration != DEAD
    except LimitExceededError:
        return
    if automaton.accepts(configuration) and not re.search(rb"[0-9]e", text):  # the oracle knows floats only
        instance = json.loads(text)
        assert jsonschema.Draft202012Validator(schema).is_valid(instance), (schema, bytes(text))


@pytest.mark.parametrize("name", ["jsts_2020", "jsts_7", "jsts_2020_typed", "jsts_7_typed"])
def test_the_public_suite_is_right(name):
    from corpora import cases

    wrong = []
    for case in cases(name):
        if "remote" in case.get("tags", ()):
            continue
        try:
            grammar = compile_grammar("json_schema", case["source"])
        except GrammarError as error:
            wrong.append((case["id"], str(error)))
            continue
        wrong += [(case["id"], text) for text in case["accept"] if not grammar.fullmatch(text)]
        wrong += [(case["id"], text) for text in case["reject"] if grammar.fullmatch(text)]
    assert wrong == []
