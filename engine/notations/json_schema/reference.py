"""The quick reference of JSON Schema: keywords, types and formats, each with an example.

Completion, explanations and quick fixes read the same lists. A keyword that a draft lacks, or gives another meaning, is
not listed for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Final

from engine.notations.json_schema.dialects import SINCE, SchemaDraft
from engine.notations.reference import ReferenceEntry, ReferenceGroup
from engine.source.catalogue import catalogue_text, has_text

CURSOR: Final = "|"

KEYWORDS: Final[dict[str, dict[str, str]]] = {
    "any": {
        "type": "",
        "enum": "[|]",
        "const": "",
        "$ref": '"|"',
        "anyOf": "[|]",
        "oneOf": "[|]",
        "allOf": "[|]",
        "not": "{|}",
        "if": "{|}",
        "then": "{|}",
        "else": "{|}",
        "title": '"|"',
        "description": '"|"',
        "default": "",
        "examples": "[|]",
        "$defs": "{|}",
        "definitions": "{|}",
        "$schema": '"|"',
        "$id": '"|"',
        "$anchor": '"|"',
        "$dynamicAnchor": '"|"',
        "$dynamicRef": '"|"',
        "$comment": '"|"',
    },
    "object": {
        "properties": "{|}",
        "required": "[|]",
        "additionalProperties": "",
        "patternProperties": "{|}",
        "propertyNames": "{|}",
        "minProperties": "",
        "maxProperties": "",
        "dependentRequired": "{|}",
        "dependentSchemas": "{|}",
        "dependencies": "{|}",
        "unevaluatedProperties": "",
    },
    "array": {
        "items": "{|}",
        "prefixItems": "[|]",
        "additionalItems": "",
        "minItems": "",
        "maxItems": "",
        "uniqueItems": "true",
        "contains": "{|}",
        "minContains": "",
        "maxContains": "",
        "unevaluatedItems": "",
    },
    "string": {
        "minLength": "",
        "maxLength": "",
        "pattern": '"|"',
        "format": '"|"',
    },
    "number": {
        "minimum": "",
        "maximum": "",
        "exclusiveMinimum": "",
        "exclusiveMaximum": "",
        "multipleOf": "",
    },
}
"""By the type that they apply to: the start of a value, with `|` for the cursor."""

TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

FORMATS: Final[dict[str, str]] = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "duration": "P1DT2H",
    "email": "ada@example.org",
    "idn-email": "ää@example.org",
    "hostname": "example.org",
    "idn-hostname": "bücher.example",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/a",
    "uri-reference": "/a#b",
    "iri": "https://example.org/ä",
    "iri-reference": "/ä",
    "uri-template": "/a/{id}",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "json-pointer": "/a/0",
    "relative-json-pointer": "1/a",
    "regex": "^a+$",
}
"""By name: a text of the format."""

DRAFTS: Final = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
)
"""The addresses of the drafts, the default first."""

_EXAMPLES: Final[dict[str, tuple[object, object]]] = {
    "type": ({"type": "integer"}, 7),
    "enum": ({"enum": ["cat", "dog"]}, "dog"),
    "const": ({"const": "on"}, "on"),
    "$ref": ({"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "null"}}}, [None]),
    "anyOf": ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
    "oneOf": ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, 1),
    "allOf": ({"allOf": [{"type": "integer"}, {"minimum": 0}]}, 1),
    "not": ({"not": {"type": "string"}}, 1),
    "if": ({"if": {"type": "string"}, "then": {"maxLength": 3}}, "abc"),
    "then": ({"if": {"type": "string"}, "then": {"maxLength": 3}}, "abc"),
    "else": ({"if": {"type": "string"}, "else": {"const": 0}}, 0),
    "title": ({"title": "Name", "type": "string"}, "Ada"),
    "description": ({"description": "Person", "type": "string"}, "Ada"),
    "default": ({"default": 0, "type": "integer"}, 1),
    "examples": ({"examples": [1, 2], "type": "integer"}, 3),
    "$defs": ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "null"}}}, None),
    "definitions": ({"allOf": [{"$ref": "#/definitions/n"}], "definitions": {"n": {"type": "null"}}}, None),
    "$schema": ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "null"}, None),
    "$id": ({"$id": "https://example.org/a", "type": "null"}, None),
    "$anchor": ({"$ref": "#n", "$defs": {"n": {"$anchor": "n", "type": "null"}}}, None),
    "$dynamicAnchor": ({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}, "type": "array"}, [[]]),
    "$dynamicRef": ({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}, "type": "array"}, [[]]),
    "$comment": ({"$comment": "Unchecked", "type": "null"}, None),
    "properties": ({"properties": {"age": {"type": "integer"}}}, {"age": 7}),
    "required": ({"required": ["name"]}, {"name": "Ada"}),
    "additionalProperties": ({"properties": {"a": True}, "additionalProperties": False}, {"a": 1}),
    "patternProperties": ({"patternProperties": {"^x-": {"type": "string"}}}, {"x-a": "b"}),
    "propertyNames": ({"propertyNames": {"maxLength": 3}}, {"abc": 1}),
    "minProperties": ({"minProperties": 1}, {"a": 1}),
    "maxProperties": ({"maxProperties": 2}, {"a": 1}),
    "dependentRequired": ({"dependentRequired": {"card": ["name"]}}, {"card": 1, "name": "Ada"}),
    "dependentSchemas": ({"dependentSchemas": {"card": {"required": ["name"]}}}, {"card": 1, "name": "Ada"}),
    "dependencies": ({"dependencies": {"card": ["name"]}}, {"card": 1, "name": "Ada"}),
    "unevaluatedProperties": (
        {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False},
        {"a": 1},
    ),
    "items": ({"items": {"type": "integer"}}, [1, 2]),
    "prefixItems": ({"prefixItems": [{"type": "integer"}, {"type": "string"}]}, [1, "a"]),
    "additionalItems": ({"items": [{"type": "integer"}], "additionalItems": False}, [1]),
    "minItems": ({"minItems": 1}, [1]),
    "maxItems": ({"maxItems": 2}, [1]),
    "uniqueItems": ({"uniqueItems": True}, [1, 2]),
    "contains": ({"contains": {"const": 1}}, [0, 1]),
    "minContains": ({"contains": {"const": 1}, "minContains": 2}, [1, 1]),
    "maxContains": ({"contains": {"const": 1}, "maxContains": 1}, [1, 0]),
    "unevaluatedItems": ({"prefixItems": [True], "unevaluatedItems": False}, [1]),
    "minLength": ({"type": "string", "minLength": 1}, "a"),
    "maxLength": ({"type": "string", "maxLength": 3}, "abc"),
    "pattern": ({"type": "string", "pattern": "^[A-Z]"}, "Ada"),
    "format": ({"type": "string", "format": "date"}, "2026-01-31"),
    "minimum": ({"type": "integer", "minimum": 0}, 0),
    "maximum": ({"type": "integer", "maximum": 9}, 9),
    "exclusiveMinimum": ({"type": "number", "exclusiveMinimum": 0}, 0.5),
    "exclusiveMaximum": ({"type": "number", "exclusiveMaximum": 1}, 0.5),
    "multipleOf": ({"type": "integer", "multipleOf": 5}, 10),
}
"""By keyword: a schema, and a value that it accepts."""
_NAMED_SINCE: Final = {  # before these drafts, another keyword had this meaning, or this one meant less
    6: "examples $id exclusiveMinimum exclusiveMaximum".split(),
    7: "then else $comment".split(),
    2019: "$defs dependentRequired dependentSchemas".split(),
}
_FIRST: Final = {
    **{keyword: draft.value for keyword, draft in SINCE.items()},
    **{keyword: draft for draft, keywords in _NAMED_SINCE.items() for keyword in keywords},
}
_LAST: Final = {"definitions": 7, "dependencies": 7, "additionalItems": 2019}
_ADDRESSES: Final = dict(zip((2019, 7, 6, 4), DRAFTS[1:], strict=True))


def keyword_meaning(keyword: str) -> str:
    """Return what a keyword does, in one line."""
    return catalogue_text(f"reference.json_schema.keyword.{keyword}")


def type_meaning(name: str) -> str:
    """Return what values a type has, in one line."""
    return catalogue_text(f"reference.json_schema.type.{name}")


def format_meaning(name: str) -> str:
    """Return an example of a format, or what it allows where an example alone does not show it."""
    if has_text(f"reference.json_schema.format.{name}"):
        return catalogue_text(f"reference.json_schema.format.{name}")
    return FORMATS[name]


@cache
def schema_reference(draft: SchemaDraft) -> tuple[ReferenceGroup, ...]:
    """Return the keywords, types and formats of a draft."""
    groups = [
        ReferenceGroup(catalogue_text(f"reference.json_schema.group.{about}"), tuple(_keywords(about, draft)))
        for about in KEYWORDS
    ]
    types = (_value("type", name, type_meaning(name), _VALUES[name], draft) for name in TYPES)
    formats = (_value("format", name, format_meaning(name), sample, draft) for name, sample in FORMATS.items())
    groups.append(ReferenceGroup(catalogue_text("reference.json_schema.group.types"), tuple(types)))
    groups.append(ReferenceGroup(catalogue_text("reference.json_schema.group.formats"), tuple(formats)))
    return tuple(groups)


def _keywords(about: str, draft: int) -> Iterator[ReferenceEntry]:
    for keyword, value in KEYWORDS[about].items():
        if _FIRST.get(keyword, 0) <= draft <= _LAST.get(keyword, draft):
            schema, takes = _EXAMPLES[keyword]
            written = f"{json.dumps(keyword)}: {value or CURSOR}"
            caret = written.find(CURSOR)
            text = written.replace(CURSOR, "", 1)
            example, accepted = _in_draft(schema, draft), json.dumps(takes, ensure_ascii=False)
            end = caret if caret >= 0 else len(text)
            yield ReferenceEntry(f'"{keyword}"', keyword_meaning(keyword), example, accepted, text, end)


def _value(keyword: str, name: str, meaning: str, takes: object, draft: int) -> ReferenceEntry:
    schema = {"type": "string", keyword: name} if keyword == "format" else {keyword: name}
    text = f"{json.dumps(keyword)}: {json.dumps(name)}"
    accepted = json.dumps(takes, ensure_ascii=False)
    return ReferenceEntry(f'"{name}"', meaning, _in_draft(schema, draft), accepted, text, len(text))


_VALUES: Final[dict[str, object]] = {
    "object": {},
    "array": [],
    "string": "a",
    "number": 1.5,
    "integer": 1,
    "boolean": True,
    "null": None,
}
"""By type: a value."""


def _in_draft(schema: object, draft: int) -> str:
    """Return an example as a text that declares its draft, unless it is the default."""
    address = _ADDRESSES.get(draft)
    if address is None or not isinstance(schema, dict):
        return json.dumps(schema)
    inner = {key: value for key, value in schema.items() if key != "$schema"}
    if draft < _FIRST["prefixItems"]:
        inner = json.loads(json.dumps(inner).replace("prefixItems", "items"))
    if draft < _FIRST["$defs"]:
        inner = json.loads(json.dumps(inner).replace("$defs", "definitions"))
        if "$ref" in inner:  # up to draft 7, siblings of `$ref` are ignored
            inner = {"allOf": [{"$ref": inner.pop("$ref")}], **inner}
    return json.dumps({"$schema": address, **inner})
