"""Schemas in words: every keyword, held against what the compiled schema takes and refuses."""

from __future__ import annotations

import json
from typing import Any

import corpora
import pytest

from engine.compile import CompileOptions, compile_grammar
from engine.notations.json_schema.dialects import ENFORCED
from engine.source import GrammarError, LimitExceededError
from tests.support.explanations import explain

SEVEN = '"$schema":"http://json-schema.org/draft-07/schema#",'
FOUR = '"$schema":"http://json-schema.org/draft-04/schema#",'
NINETEEN = '"$schema":"https://json-schema.org/draft/2019-09/schema",'
CASES = [
    # schema, the words of the whole, those of the keywords, values that it takes, and that it refuses
    ("true", "any value", [], [1, None], []),
    ("false", "no value at all", [], [], [1]),
    ("{}", "any value", [], [1, "x"], []),
    ('{"type":"integer"}', "an integer", ["An integer"], [1], [1.5, "1"]),
    ('{"type":["string","null"]}', "a string or null", ["A string or null"], ["x", None], [1]),
    ('{"type":"boolean"}', "true or false", ["True or false"], [True, False], [1]),
    ('{"const":5}', "exactly `5`", ["Exactly `5`"], [5], [6]),
    (
        '{"enum":["a",1]}',
        'one of `"a"` or `1`',
        ['One of `"a"` or `1`', 'The value `"a"`', "The value `1`"],
        ["a"],
        [2],
    ),
    ('{"enum":["a"]}', '`"a"`', ['`"a"`'], ["a"], ["b"]),
    (
        '{"type":"integer","minimum":0,"maximum":130}',
        "an integer, from `0` to `130`",
        ["An integer", "At least `0`", "At most `130`"],
        [0, 130],
        [-1, 131],
    ),
    ('{"type":"number","minimum":1.50}', "a number, at least `1.50`", ["A number", "At least `1.50`"], [1.5], [1.4]),
    ('{"type":"number","exclusiveMinimum":1}', "a number, more than `1`", ["A number", "More than `1`"], [2], [1]),
    ('{"type":"number","exclusiveMaximum":1}', "a number, less than `1`", ["A number", "Less than `1`"], [0], [1]),
    ('{"type":"number","multipleOf":5}', "a number, a multiple of `5`", ["A number", "A multiple of `5`"], [10], [7]),
    ('{"minimum":3}', "any value; if it is a number, at least `3`", ["If it is a number, at least `3`"], [3, "x"], [2]),
    (
        "{" + FOUR + '"type":"number","minimum":3,"exclusiveMinimum":true}',
        "a number, more than `3`",
        ["Written in draft 4", "A number", "More than `3`", "The `minimum` itself is excluded"],
        [4],
        [3],
    ),
    (
        '{"type":"string","minLength":2,"maxLength":3}',
        "a string, `2` to `3` characters",
        ["A string", "At least `2` characters", "At most `3` characters"],
        ["ab", "abc"],
        ["a", "abcd"],
    ),
    (
        '{"type":"string","minLength":1,"maxLength":1}',
        "a string, exactly `1` character",
        ["A string", "At least `1` character", "At most `1` character"],
        ["a"],
        ["", "ab"],
    ),
    (
        '{"type":"string","pattern":"b+"}',
        "a string, containing a match of `b+`",
        ["A string", "Containing a match of `b+`", "Once or more: the text `b`"],
        ["abc"],
        ["ac"],
    ),
    (
        '{"type":"string","format":"date"}',
        "a string, in the format `date`",
        ["A string", "In the format `date`"],
        ["2026-01-31"],
        ["x"],
    ),
    ('{"format":"qq"}', "any value", ["`format` is an annotation: the format `qq` is unknown"], ["x"], []),
    (
        '{"type":"array","minItems":1,"maxItems":2,"uniqueItems":true}',
        "an array, `1` to `2` items, no two items are equal",
        ["An array", "At least `1` item", "At most `2` items", "No two items are equal"],
        [[1], [1, 2]],
        [[], [1, 1], [1, 2, 3]],
    ),
    ('{"uniqueItems":false}', "any value", ["If it is an array, items may be equal"], [[1, 1]], []),
    (
        '{"type":"array","items":{"type":"null"}}',
        "an array, each item: null",
        ["An array", "Every item: null", "Null"],
        [[None]],
        [[1]],
    ),
    ('{"type":"array","items":false}', "an array", ["An array", "No items"], [[]], [[1]]),
    (
        '{"type":"array","prefixItems":[{"const":1}],"items":{"const":2}}',
        "an array",
        ["An array", "Item 1: exactly `1`", "Exactly `1`", "Every further item: exactly `2`", "Exactly `2`"],
        [[1, 2, 2], [1], []],
        [[2]],
    ),
    (
        "{" + SEVEN + '"type":"array","items":[{"const":1}],"additionalItems":false}',
        "an array",
        ["Written in draft 7", "An array", "Item 1: exactly `1`", "Exactly `1`", "No further items"],
        [[1], []],
        [[1, 1]],
    ),
    (
        "{" + SEVEN + '"additionalItems":false}',
        "a value as follows",
        ["Written in draft 7", "`additionalItems` has no effect: `items` is not an array"],
        [[1]],
        [],
    ),
    (
        '{"type":"array","contains":{"const":1},"minContains":2,"maxContains":3}',
        "an array",
        [
            "An array",
            "At least 2 and at most 3 of the items: exactly `1`",
            "Exactly `1`",
            "At least `2` such items",
            "At most `3` such items",
        ],
        [[1, 1], [1, 0, 1]],
        [[1], [1, 1, 1, 1]],
    ),
    (
        '{"type":"array","contains":{"const":1}}',
        "an array",
        ["An array", "At least 1 of the items: exactly `1`", "Exactly `1`"],
        [[0, 1]],
        [[]],
    ),
    (
        '{"type":"array","contains":{"const":1},"minContains":0}',
        "an array",
        ["An array", "Any number of the items: exactly `1`", "Exactly `1`", "At least `0` such items"],
        [[]],
        [],
    ),
    ('{"minContains":2}', "any value", ["`minContains` has no effect: there is no `contains` beside it"], [[]], []),
    (
        "{" + FOUR + '"contains":{"const":1}}',
        "a value as follows",
        ["Written in draft 4", "`contains` has no effect: draft 6 introduced it"],
        [[]],
        [],
    ),
    (
        '{"type":"object","properties":{"a":{"type":"integer"},"b":true},"required":["a"],"additionalProperties":false}',
        "an object with 2 properties, 1 of them required, no others",
        [
            "An object",
            "Property `a`, required: an integer",
            "An integer",
            "Property `b`: any value",
            "Required: `a`",
            "No other properties",
        ],
        [{"a": 1}, {"a": 1, "b": 2}],
        [{}, {"a": "x"}, {"a": 1, "c": 1}],
    ),
    (
        '{"properties":{"a":false}}',
        "a value as follows",
        ["If it is an object, property `a`: no value at all"],
        [1, {"b": 1}],
        [{"a": 1}],
    ),
    ('{"required":["a"]}', "a value as follows", ["If it is an object, required: `a`"], [1, {"a": 1}], [{}]),
    (
        '{"type":"object","additionalProperties":{"type":"null"}}',
        "an object",
        ["An object", "Every property: null", "Null"],
        [{"a": None}],
        [{"a": 1}],
    ),
    (
        '{"type":"object","patternProperties":{"^x":{"type":"null"}}}',
        "an object",
        ["An object", "Every property whose name contains a match of `^x`: null", "Null"],
        [{"xa": None, "a": 1}],
        [{"xa": 1}],
    ),
    (
        '{"type":"object","propertyNames":{"maxLength":1}}',
        "an object",
        [
            "An object",
            "Every property name: any value; if it is a string, at most `1` character",
            "If it is a string, at most `1` character",
        ],
        [{"a": 1}],
        [{"ab": 1}],
    ),
    (
        '{"type":"object","minProperties":1,"maxProperties":2}',
        "an object, `1` to `2` properties",
        ["An object", "At least `1` property", "At most `2` properties"],
        [{"a": 1}],
        [{}],
    ),
    (
        '{"type":"object","dependentRequired":{"a":["b"]}}',
        "an object",
        ["An object", "If `a` is present, `b` is also required"],
        [{}, {"a": 1, "b": 1}],
        [{"a": 1}],
    ),
    (
        '{"type":"object","dependentSchemas":{"a":{"required":["b"]}}}',
        "an object",
        [
            "An object",
            "If `a` is present, the object is also: a value as follows",
            "If it is an object, required: `b`",
        ],
        [{}, {"a": 1, "b": 1}],
        [{"a": 1}],
    ),
    (
        '{"type":"object","properties":{"a":true},"unevaluatedProperties":false}',
        "an object with 1 property",
        ["An object", "Property `a`: any value", "Every property that no other keyword describes: no value at all"],
        [{"a": 1}],
        [{"b": 1}],
    ),
    (
        '{"type":"array","prefixItems":[true],"unevaluatedItems":false}',
        "an array",
        ["An array", "Item 1: any value", "Every item that no other keyword describes: no value at all"],
        [[1]],
        [[1, 1]],
    ),
    (
        '{"anyOf":[{"const":1},{"const":2}]}',
        "at least one of these 2 holds",
        [
            "At least one of these 2 holds",
            "Schema 1: exactly `1`",
            "Exactly `1`",
            "Schema 2: exactly `2`",
            "Exactly `2`",
        ],
        [1, 2],
        [3],
    ),
    (
        '{"oneOf":[{"minimum":1},true]}',
        "exactly one of these 2 holds",
        [
            "Exactly one of these 2 holds",
            "Schema 1: any value; if it is a number, at least `1`",
            "If it is a number, at least `1`",
            "Schema 2: any value",
        ],
        [0],
        [1],
    ),
    (
        '{"allOf":[{"minimum":1},{"maximum":2}]}',
        "all of these 2 hold",
        [
            "All of these 2 hold",
            "Schema 1: any value; if it is a number, at least `1`",
            "If it is a number, at least `1`",
            "Schema 2: any value; if it is a number, at most `2`",
            "If it is a number, at most `2`",
        ],
        [1],
        [0, 3],
    ),
    (
        '{"not":{"type":"string"}}',
        "anything but what follows",
        ["Anything but what follows", "Not allowed: a string", "A string"],
        [1],
        ["x"],
    ),
    (
        '{"if":{"type":"string"},"then":{"maxLength":1},"else":{"const":1}}',
        "a value as follows",
        [
            "If it is: a string",
            "A string",
            "Then it is also: any value; if it is a string, at most `1` character",
            "If it is a string, at most `1` character",
            "Otherwise it is also: exactly `1`",
            "Exactly `1`",
        ],
        ["a", 1],
        ["ab", 2],
    ),
    ('{"then":false}', "a value as follows", ["`then` has no effect: there is no `if` beside it"], [1], []),
    (
        '{"$ref":"#/$defs/a","$defs":{"a":{"const":1}}}',
        "whatever `#/$defs/a` allows",
        ["Whatever `#/$defs/a` allows", "1 definition", "Definition `a`: exactly `1`", "Exactly `1`"],
        [1],
        [2],
    ),
    (
        "{"
        + SEVEN
        + '"properties":{"a":{"$ref":"#/definitions/n","type":"string"}},"definitions":{"n":{"type":"null"}}}',
        "a value as follows",
        [
            "Written in draft 7",
            "If it is an object, property `a`: whatever `#/definitions/n` allows",
            "Whatever `#/definitions/n` allows",
            "`type` has no effect: up to draft 7, keywords beside `$ref` are ignored (this is draft 7)",
            "1 definition",
            "Definition `n`: null",
            "Null",
        ],
        [{"a": None}],
        [{"a": "x"}],
    ),
    (
        '{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}},"type":"object"}',
        "an object with 1 property",
        [
            "References can name it `#n`",
            "Property `a`: whatever `#n` allows, resolved in the outermost schema with this dynamic anchor",
            "Whatever `#n` allows, resolved in the outermost schema with this dynamic anchor",
            "An object",
        ],
        [{"a": {}}],
        [{"a": 1}],
    ),
    (
        "{" + NINETEEN + '"properties":{"a":{"$recursiveRef":"#"}},"type":"object"}',
        "an object with 1 property",
        [
            "Written in draft 2019-09",
            "Property `a`: whatever this whole schema allows, or the outermost one with `$recursiveAnchor`",
            "Whatever this whole schema allows, or the outermost one with `$recursiveAnchor`",
            "An object",
        ],
        [{"a": {}}],
        [{"a": 1}],
    ),
    (
        '{"title":"T","description":"D","default":1,"examples":[1],"deprecated":true,"readOnly":false,"colour":"red"}',
        "any value",
        [
            '`title` is an annotation: `"T"`',
            '`description` is an annotation: `"D"`',
            "`default` is an annotation: `1` is the value if none is given",
            "`examples` is an annotation: it enforces nothing",
            "`deprecated` is an annotation: `true`",
            "`readOnly` is an annotation: `false`",
            "`colour` is an annotation: it enforces nothing",
        ],
        [1, "x"],
        [],
    ),
    (
        '{"$id":"http://a.example/b","$anchor":"x"}',
        "any value",
        ['Its address is `"http://a.example/b"`', "References can name it `#x`"],
        [1],
        [],
    ),
    (
        '{"minimum":1,"minimum":2}',
        "any value; if it is a number, at least `2`",
        ["It has no effect, since the key is repeated below", "If it is a number, at least `2`"],
        [2],
        [1],
    ),
]


@pytest.mark.parametrize(("schema", "whole", "parts", "takes", "refuses"), CASES)
def test_every_keyword(schema: str, whole: str, parts: list[str], takes: list[Any], refuses: list[Any]) -> None:
    found = explain("json_schema", schema)
    assert [one.text for one in found.phrases] == [f"The whole text: {whole}", *parts]
    grammar = compile_grammar("json_schema", schema)
    for value in takes:
        assert grammar.fullmatch(json.dumps(value)), value
    for value in refuses:
        assert not grammar.fullmatch(json.dumps(value)), value


def test_every_keyword_that_is_enforced_has_a_case() -> None:
    schemas = "".join(schema for schema, *_ in CASES)
    assert [keyword for keyword in sorted(ENFORCED) if f'"{keyword}":' not in schemas] == ["dependencies"]
    old = "{" + SEVEN + '"type":"object","dependencies":{"a":["b"],"c":{"required":["d"]}}}'
    words = [one.text for one in explain("json_schema", old).phrases]
    assert words[-3:] == [
        "If `a` is present, `b` is also required",
        "If `c` is present, the object is also: a value as follows",
        "If it is an object, required: `d`",
    ]


def test_a_key_that_is_empty_is_no_bound() -> None:
    assert [one.text for one in explain("json_schema", '{"": 5, "const": 1}').phrases][1:] == [
        "`` is an annotation: it enforces nothing",
        "Exactly `1`",
    ]


def test_places_and_targets() -> None:
    schema = '{"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "null"}}}'
    found = explain("json_schema", schema)
    excerpts = {one.text: schema[one.span.start : one.span.end] for one in found.phrases}
    assert excerpts["If it is an object, property `a`: whatever `#/$defs/n` allows"] == '"a": {"$ref": "#/$defs/n"}'
    assert excerpts["Definition `n`: null"] == '"n": {"type": "null"}'
    (target,) = {one.target for one in found.phrases} - {None}
    assert target is not None
    assert schema[target.start : target.end] == '{"type": "null"}'


@pytest.mark.parametrize(
    ("written", "excerpts"),
    [
        (r'"a\u00e9\\d"', [r"a\u00e9", r"\\d"]),
        (r'"[\ud83d\ude00b]+c"', [r"[\ud83d\ude00b]+", "c"]),
        (r'"\\\\ud83d\\."', [r"\\\\ud83d\\."]),
    ],
)
def test_a_pattern_has_its_places_in_the_string(written: str, excerpts: list[str]) -> None:
    schema = f'{{"pattern": {written}}}'
    found = explain("json_schema", schema)
    assert [schema[one.span.start : one.span.end] for one in found.phrases if one.depth == 2] == excerpts


def test_objects_may_be_closed_by_option() -> None:
    schema = '{"type": "object", "properties": {"a": true}}'
    closed = explain("json_schema", schema, CompileOptions(additional="closed"))
    assert closed.phrases[0].text == "The whole text: an object with 1 property, no others"


def test_broken_json_has_no_words() -> None:
    with pytest.raises(GrammarError):
        explain("json_schema", '{"a": }')


def test_nesting_takes_no_call_stack() -> None:
    schema = '{"not":' * 1_200 + "true" + "}" * 1_200
    assert len(explain("json_schema", schema).phrases) == 2_401


def test_every_schema_of_the_corpora_is_told_whole() -> None:
    count = tried = 0
    for name in ("jsts_2020", "jsts_7", "llama", "outlines", "maskbench"):
        for case in corpora.cases(name)[::3]:
            if case.get("kind", "json_schema") != "json_schema":
                continue
            tried += 1
            schema = json.dumps(case["schema"]) if "schema" in case else case["source"]
            try:
                found = explain("json_schema", schema)
            except (GrammarError, LimitExceededError):
                continue
            count += 1
            told = {offset for one in found.phrases for offset in (one.span.start, one.span.end)}
            assert all(0 <= offset <= len(schema) for offset in told)
            for one, following in zip(found.phrases, found.phrases[1:], strict=False):
                if following.depth > one.depth:
                    assert one.span.start <= following.span.start <= following.span.end <= one.span.end
    assert count > 0.9 * tried > 30
