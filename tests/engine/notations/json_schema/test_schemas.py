"""Schemas and texts, one line each: what the notation promises beyond the public suites."""

import json

import pytest

from engine import CompileOptions, GrammarError, compile_grammar
from engine.automata.byte_automaton import DEAD

CHOICES = 6
APART = {
    "required": ["kind"],
    "oneOf": [
        {"properties": {"kind": {"const": i}, **{f"p{i}{j}": {"type": "null"} for j in range(CHOICES)}}}
        for i in range(CHOICES)
    ],
}
ADDRESS = {"$id": "https://example.com/s.json"}
NAMES = {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]}

# From the official suite: `then` and `else` reach one dynamic reference over two paths.
PATHS = {
    "$id": "https://example.com/paths",
    "if": {"properties": {"kind": {"const": "numbers"}}, "required": ["kind"]},
    "then": {"$ref": "numbers"},
    "else": {"$ref": "strings"},
    "$defs": {
        "any": {
            "$id": "any",
            "properties": {"list": {"items": {"$dynamicRef": "#item"}}},
            "$defs": {"default": {"$dynamicAnchor": "item"}},
        },
        "numbers": {"$id": "numbers", "$ref": "any", "$defs": {"i": {"$dynamicAnchor": "item", "type": "number"}}},
        "strings": {"$id": "strings", "$ref": "any", "$defs": {"i": {"$dynamicAnchor": "item", "type": "string"}}},
    },
}

CASES = [
    # What a condition declares comes first in `else` as it does in `then`.
    (
        PATHS,
        ['{"kind":"numbers","list":[1.1]}', '{"kind":"strings","list":["a"]}', '{"list":["a"]}', '{"kind":1}'],
        ['{"kind":"numbers","list":["a"]}', '{"kind":"strings","list":[1.1]}', '{"list":["a"],"kind":"strings"}'],
    ),
    # The schema of `not`, and of `if`, declares an order for what does not satisfy it: all of its properties take part.
    (
        {"not": {"properties": {"a": True, "b": {"const": 1}}}},
        ['{"a":0,"b":2}', '{"b":2}', '{"b":2,"c":0}'],
        ['{"a":0,"b":1}', '{"b":2,"a":0}', "{}"],
    ),
    (
        {"if": {"properties": {"a": True, "b": {"const": 1}}}, "else": {"required": ["c"]}},
        ['{"a":0,"b":1}', '{"a":0,"b":2,"c":3}'],
        ['{"a":0,"b":2}', '{"b":2,"a":0,"c":3}'],
    ),
    (
        {"not": {"properties": {"a": {"const": 1}}}, "properties": {"b": {"type": "null"}}},
        ['{"a":2,"b":null}', '{"a":2,"c":1}'],
        ['{"a":1}', '{"b":null,"a":2}', '{"b":null}'],
    ),
    (True, ["{}", '[1, 2.5e3, "a\\n", null, true, {"a": [ ]}]', '"\\ud83d\\ude00"'], ['{"a" 1}', '"', "[1,]", "01"]),
    (NAMES, ['{"a":"x","b":1}', '{"b": 1}', '{"b":1,"c":[]}', '{\n  "\\u0062":1}'], ['{"b":1,"a":"x"}', '{"b":1.0}']),
    (NAMES, ["[]"], ['{"b":1,"b":2}', '{"b":1,"\\u0062":2}', '{"a":"x"}']),
    (
        NAMES | ADDRESS,
        ['{"$schema":"s","a":"x","b":1}', '{"$schema":1,"b":1,"c":2}', '{"b":1,"$schema":"s"}', '{"b":1}'],
        [
            '{"$schema":"s"}',
            '{"$schema":1,"$schema":2,"b":1}',
            '{"a":"x","$schema":"s","b":1}',
            '{"$schema":1,"c":2,"b":1}',
        ],
    ),
    (
        NAMES | ADDRESS | {"additionalProperties": {"type": "null"}},
        ['{"$schema":null,"b":1}'],
        ['{"$schema":"s","b":1}'],
    ),
    (NAMES | ADDRESS | {"maxProperties": 2}, ['{"$schema":1,"b":1}'], ['{"$schema":1,"b":1,"$schema":1}']),
    (NAMES, ['{"b":1,"$schema":"s"}'], ['{"$schema":"s","b":1}']),
    (APART, ['{"kind":2,"p20":null,"p00":1}', '{"kind":0,"p20":1}'], ['{"kind":2,"p20":1}', '{"kind":6}', "{}"]),
    ({"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}, ['{"a": {"a": {}}}'], ['{"b":1}']),
    (
        {"enum": [1, "ab", "ac", None, {"x": [1, 2]}, 2.5]},
        ['"\\u0061c"', '{"x": [1,2]}', "2.5"],
        ['"a"', "2", "25e-1", "2.50"],
    ),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, ["1", "2.5", '"x"'], ["3", "1.5"]),
    ({"type": "string", "pattern": "^a+$", "minLength": 2}, ['"a\\u0061"'], ['"a"', '"ab"']),
    ({"not": {"type": "object", "required": ["a"]}}, ["1", "{}", '{"b":2}'], ['{"a":1}', '{"b":1,"a":1}']),
    (
        {"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 3},
        ["[0,1,2,1]"],
        ["[1]", "[1,1,1,1]"],
    ),
    ({"type": "object", "minProperties": 2}, ['{"a":1,"b":2}'], ['{"a":1}', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}']),
    ({"uniqueItems": True}, ["[1,2]", "[[1],[2]]", "[1,true]"], ["[1, 1.0]", '["a","\\u0061"]']),
    ({"uniqueItems": True}, ['[{"a":1},{"a":2}]'], ['[{"a":1,"b":2},{"b":2,"a":1}]']),
    ({"uniqueItems": True, "minItems": 3, "items": {"enum": [1, 2, 3]}}, ["[2,3,1]"], ["[1,2]", "[1,2,1]"]),
    ({"not": {"type": "integer"}}, ["1.5", "null"], ["1", "1.0", "10e-1"]),
    ({"enum": ["a\nb", 'c"d']}, ['"a\\nb"', '"a\\u000ab"', '"c\\"d"'], ['"a\nb"', '"c"d"', '"c\\d"']),
    ({"minProperties": 3}, ['{"a":1,"b":2,"c":3}'], ['{"a":1,"b":2,"a":3}', '{"a":1,"b":2}', '{"":1,"a":2,"":3}']),
    # An empty array is not the array that is denied, whatever its length.
    ({"not": {"const": [1]}}, ["[]", "[2]", "[1,1]"], ["[1]"]),
    ({"not": {"const": [[]]}}, ["[]", "[1]", "[[],[]]", "[[1]]"], ["[[]]"]),
    ({"not": {"enum": [[], [1, 2]]}}, ["[1]", "[2,1]", "[1,2,3]", "{}"], ["[]", "[1,2]"]),
    ({"if": {"const": ["a"]}, "then": False}, ["[]", '["b"]'], ['["a"]']),
    ({"uniqueItems": True}, ["[[1],[]]", "[[],[1]]", "[{},[]]", "[[1,2],[1],[]]"], ["[[],[]]", "[[1],[],[1]]"]),
    ({"oneOf": [{"minItems": 1}, {"const": [1]}], "unevaluatedItems": False}, ["1"], ["[]", "[1]", "[2]"]),
    ({"not": {"const": {}}}, ['{"a":1}', "[]"], ["{}"]),
    ({"not": {"const": {"a": []}}}, ['{"a":[1]}', "{}", '{"a":[],"b":1}'], ['{"a":[]}']),
    # A dependency asks nothing of an array, and evaluates nothing in one.
    *(
        ({"dependentSchemas": {"x": schema}, "unevaluatedItems": False}, ["[]", '{"x":1}', "1"], ["[1]", "[[]]"])
        for schema in ({"items": True}, {"prefixItems": [True]}, {"contains": True}, {"allOf": [{"items": True}]})
    ),
    ({"dependencies": {"x": {"items": True}}, "unevaluatedItems": False}, ["[]"], ["[1]"]),
    ({"not": {"dependentRequired": {"x": ["y"]}}}, ['{"x":1}'], ["[]", "{}", '{"x":1,"y":2}']),
    ({"type": "string", "pattern": "^a*$", "maxLength": 400}, ['"%s"' % ("a" * 400)], ['"%s"' % ("a" * 401), '"ab"']),
]


@pytest.mark.parametrize("escapes", ["shortest", "any"])
@pytest.mark.parametrize(("schema", "yes", "no"), CASES, ids=lambda value: json.dumps(value)[:60])
def test_a_schema_takes_what_satisfies_it_and_nothing_else(schema, yes, no, escapes):
    grammar = compile_grammar("json_schema", json.dumps(schema), CompileOptions(escapes=escapes))
    needless = [text for text in yes if "\\u00" in text] if escapes == "shortest" else []
    assert [text for text in yes if not grammar.fullmatch(text)] == needless
    assert [text for text in no if grammar.fullmatch(text)] == []


@pytest.mark.parametrize(
    ("schema", "live", "dead"),
    [
        # The second item needs the value 1 (or "a"), so the first may not take it.
        ({"prefixItems": [{"enum": [1, 2]}, {"const": 1}], "minItems": 2}, ["[2,1"], ["[1"]),
        (
            {"prefixItems": [{"enum": ["a", "b"]}, {"const": "a"}, {"type": "string"}], "minItems": 3},
            ['["b'],
            ['["a'],
        ),
        ({"prefixItems": [{"enum": [True, None]}], "contains": {"const": True}, "maxItems": 1}, ["[tr"], ["[n"]),
        ({"const": [3, None, 2], "contains": {"const": 4}}, [], ["["]),
        ({"contains": {"enum": [1, 2, 3]}, "minContains": 3, "maxItems": 3}, ["[3,1,2"], ["[3,1,4", "[0"]),
        ({"contains": {"type": "boolean"}, "minContains": 2}, ["[1,true,false", "[false,2,3"], ["[true,tr"]),
        ({"contains": {"type": "boolean"}, "minContains": 3}, [], ["["]),
        ({"items": {"type": "integer"}, "contains": {"type": "integer"}, "maxContains": 1, "minItems": 2}, [], ["["]),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_items_that_must_differ_lead_to_no_dead_end(schema, live, dead):
    grammar = compile_grammar("json_schema", json.dumps({"type": "array", "uniqueItems": True, **schema}))
    automaton = grammar.automaton
    assert [text for text in live if automaton.run(automaton.start, text.encode()) == DEAD] == []
    assert [text for text in dead if automaton.run(automaton.start, text.encode()) != DEAD] == []


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ("{", "schema-no-json"),
        ('{"type": "kaboom"}', "schema-unknown-type"),
        ('{"type": ["null", {"type": "string"}]}', "schema-invalid-keyword"),
        ('{"$ref": "https://example.com/s.json"}', "schema-remote-reference"),
        ('{"$ref": "#/$defs/x"}', "schema-unresolved-reference"),
        ('{"allOf": [{"$ref": "#"}]}', "schema-endless-reference"),
        ('{"pattern": "^(a$"}', "schema-pattern"),
        ('{"minLength": "2"}', "schema-invalid-keyword"),
        ('{"items": {"not": {"uniqueItems": true}}}', "schema-undecided"),
        ('{"type": "array", "uniqueItems": true, "contains": {"type": "array"}, "minContains": 2}', "schema-undecided"),
    ],
)
def test_what_is_refused_says_why(schema, code):
    with pytest.raises(GrammarError) as caught:
        compile_grammar("json_schema", schema)
    assert [finding.code for finding in caught.value.diagnostics] == [code]


SEVEN = '"$schema": "http://json-schema.org/draft-07/schema#"'


@pytest.mark.parametrize(
    ("schema", "code", "said"),
    [
        ('{"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}', "schema-later-keyword", "/const"),
        (f'{{{SEVEN}, "prefixItems": [{{"const": 1}}]}}', "schema-later-keyword", "/prefixItems"),
        ('{"$recursiveRef": "#"}', "schema-former-keyword", "/$recursiveRef"),
        (f'{{{SEVEN}, "contains": {{}}, "maxContains": 1}}', "schema-later-keyword", "/maxContains"),
        (f'{{{SEVEN}, "$ref": "#/definitions/s", "maxLength": 1, "definitions": {{"s": {{}}}}}}',
         "schema-beside-reference", "/maxLength"),
    ],
)  # fmt: skip
def test_what_a_draft_does_not_read_is_told(schema, code, said):
    (finding,) = compile_grammar("json_schema", schema).diagnostics
    assert (finding.code, finding.severity.name) == (code, "WARNING")
    assert said in finding.message


def test_a_finding_points_at_its_keyword():
    source = '{"properties": {"a/b": {"pattern": "("}}}'
    with pytest.raises(GrammarError) as caught:
        compile_grammar("json_schema", source)
    (finding,) = caught.value.diagnostics
    assert source[finding.span.start : finding.span.end] == '"("'
    assert "/properties/a~1b/pattern" in finding.message


@pytest.mark.parametrize(
    "schema", ["false", '{"properties": {"a": {"$ref": "#"}}, "required": ["a"], "type": "object"}']
)
def test_an_impossible_schema_compiles_to_nothing_with_a_warning(schema):
    grammar = compile_grammar("json_schema", schema)
    assert grammar.is_empty
    assert [finding.code for finding in grammar.diagnostics] == ["matches-nothing"]


@pytest.mark.parametrize(
    ("whitespace", "yes", "no"),
    [
        ("compact", ['{"a":[1,2]}'], ['{"a": [1,2]}']),
        ("one-space", ['{"a": [1, 2]}'], ['{"a":[1,2]}', '{ "a": [1, 2]}']),
        ("flexible", ['{"a":[1,2]}', '{\n\t"a" : [ 1,\n  2 ] }'], ['{  "a":1}', ' {"a":1}', '{"a":1\n\n}']),
        ("any", ['{ \r\n  "a":1}'], [" {}"]),
    ],
)
def test_white_space_is_as_the_option_says(whitespace, yes, no):
    grammar = compile_grammar("json_schema", "{}", CompileOptions(whitespace=whitespace))
    assert [text for text in yes if not grammar.fullmatch(text)] == []
    assert [text for text in no if grammar.fullmatch(text)] == []


def test_any_order_and_closed_objects_are_options():
    schema = json.dumps(NAMES)
    assert compile_grammar("json_schema", schema, CompileOptions(property_order="any")).fullmatch('{"b":1,"a":"x"}')
    assert not compile_grammar("json_schema", schema, CompileOptions(additional="closed")).fullmatch('{"b":1,"c":1}')
