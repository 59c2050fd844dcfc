"""Schemas that between them use every part of the conversion, each with some instances."""

from __future__ import annotations

from typing import Any

PERSON = {
    "type": "object",
    "properties": {
        "fullName": {"type": "string"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "address": {"$ref": "#/$defs/PostalAddress"},
    },
    "required": ["fullName"],
    "additionalProperties": False,
    "$defs": {
        "PostalAddress": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
            "required": ["city", "zip"],
            "additionalProperties": False,
        }
    },
}
TREE = {
    "type": "object",
    "properties": {"value": {"type": "number"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["value"],
    "additionalProperties": False,
}
SHAPES = {
    "anyOf": [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Square"}, {"type": "null"}],
    "$defs": {
        "Circle": {
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "r": {"type": "number", "exclusiveMinimum": 0}},
            "required": ["kind", "r"],
            "additionalProperties": False,
        },
        "Square": {
            "type": "object",
            "properties": {"kind": {"const": "square"}, "side": {"type": "integer"}},
            "required": ["kind", "side"],
            "additionalProperties": False,
        },
    },
}
OPTIONAL = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "null"}, "d": {"const": "x"}},
    "additionalProperties": False,
}

SCHEMAS: dict[str, Any] = {
    "anything": {},
    "nothing": False,
    "person": PERSON,
    "tree": TREE,
    "shapes": SHAPES,
    "optional": OPTIONAL,
    "open": {"type": "object", "properties": {"ab": {"type": "integer"}, "b\n": {"type": "null"}}},
    "required but not declared": {
        "type": "object",
        "required": ["q", "p"],
        "additionalProperties": {"type": "integer"},
    },
    "dependent": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}},
        "dependentRequired": {"a": ["c"]},
        "additionalProperties": False,
    },
    "patterns": {
        "type": "object",
        "patternProperties": {"^x": {"type": "integer"}, "y$": {"type": "integer", "minimum": 3}},
        "additionalProperties": False,
        "maxProperties": 3,
    },
    "one member at least": {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 1},
    "some member": {
        "type": "object",
        "not": {"additionalProperties": {"type": ["string", "object"]}},
        "maxProperties": 1,
    },
    "any order": {
        "type": "object",
        "propertyNames": {"enum": ["k", "l"]},
        "additionalProperties": {"type": "null"},
        "minProperties": 2,
    },
    "enum": {"enum": ["a", "b/c", 'q"\\\u0007', "é😀", 1, 2.5, None, True, [1, {"a": []}]]},
    "const object": {"const": {"b": 1, "a": [True, "x"]}},
    "not": {"type": ["string", "integer", "null"], "not": {"enum": ["ab", "abc", 7, None]}},
    "one of": {"oneOf": [{"type": "integer", "minimum": 3}, {"type": "integer", "multipleOf": 2}]},
    "conjunction": {"type": "string", "pattern": "[ab]+", "minLength": 2, "maxLength": 3, "not": {"pattern": "bb"}},
    "look": {"type": "string", "pattern": "^(?!ab)[abc]{1,3}$"},
    "class": {"type": "string", "pattern": '^["\\\\/\\u0000-\\u0020é-ö\\u{1F600}-\\u{1F64F}]{0,2}$'},
    "formats": {"anyOf": [{"type": "string", "format": f} for f in ("date", "uuid", "ipv4", "duration")]},
    "numbers": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "integer", "multipleOf": 5}]},
    "tuple": {"type": "array", "prefixItems": [{"const": 1}, {"type": "boolean"}], "items": {"type": "null"}},
    "counted": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4},
    "contains": {
        "type": "array",
        "items": {"enum": [1, 2]},
        "contains": {"const": 1},
        "minContains": 2,
        "maxContains": 3,
    },
    "distinct": {"type": "array", "items": {"enum": [1, "x", None]}, "uniqueItems": True},
    "if": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "additionalProperties": False,
        "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
        "then": {"required": ["b"]},
    },
    "unevaluated": {
        "type": "object",
        "allOf": [{"properties": {"a": {"type": "null"}}}],
        "unevaluatedProperties": False,
    },
    "long": {"type": "string", "minLength": 2, "maxLength": 4500},
    "many": {"type": "array", "items": {"type": ["integer", "null"]}, "maxItems": 2500},
}

INSTANCES = [
    *("null", "true", "false", "0", "-0", "1", "2", "4", "5", "7", "10", "1.0", "2.5", "-5", "1e1", "1E-2", "150"),
    *(
        '""',
        '"a"',
        '"ab"',
        '"abc"',
        '"abb"',
        '"bab"',
        '"b/c"',
        '"b\\/c"',
        '"q\\"\\\\\\u0007"',
        '"\\u00e9\\ud83d\\ude00"',
    ),
    *('"é😀"', '"\\u0061b"', '"2024-02-29"', '"2023-02-29"', '"127.0.0.1"', '"P1D"', '" "', '"\\n"', '"é\\"'),
    *(
        "[]",
        "[1]",
        "[1,1]",
        "[1, 1]",
        "[1, 2, 1]",
        '[1, "x"]',
        "[1, true, null]",
        "[1,2,3,4]",
        "[1,2,3,4,5]",
        "[[], {}]",
    ),
    *(
        "{}",
        '{"a": 1}',
        '{"a":1}',
        '{"a": 1, "c": 2}',
        '{"a": 1, "b": 2}',
        '{"b": 1, "a": 1}',
        '{"ab": 1}',
        '{"\\u0061b": 1}',
    ),
    *('{"a": null}', '{"a": 1, "b": true, "c": null, "d": "x"}', '{"b": true, "d": "x"}', '{"d": "x", "a": 1}'),
    *(
        '{"p": 1, "q": 2}',
        '{"q": 1, "r": 2, "p": 2}',
        '{"x": 1, "xy": 5}',
        '{"xy": 1}',
        '{"k": null, "l": null}',
        '{"l": null, "k": null}',
    ),
    *('{"fullName": "A B"}', '{"fullName": "A", "age": 151}', '{"fullName": "A", "age": 15}', '{"age": 3}'),
    *('{"fullName": "A", "address": {"city": "B", "zip": "12345"}}', '{"fullName": "A", "address": {"city": "B"}}'),
    *('{"value": 1, "children": [{"value": 2.5, "children": []}]}', '{"value": 1, "children": [{}]}'),
    *(
        '{"kind": "circle", "r": 1}',
        '{"kind": "circle", "r": 0}',
        '{"kind": "square", "side": 1}',
        '{"kind":"square","r":1}',
    ),
    *(
        '{"b": 1, "a": [true, "x"]}',
        '{\n  "a": 1,\n  "b": 2\n}',
        '{ "a" : 1 }',
        '{"a":  1}',
        "[1,\t2]",
        "[ ]",
        "[1 ,1]",
    ),
]
