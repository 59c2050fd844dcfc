"""The keywords, types, formats and constructs of JSON Schema, regexes and GBNF, each with a one-line description."""

from __future__ import annotations

from typing import Final

KEYWORDS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "any": {
        "type": ("", "The kind of value: one name, or a list"),
        "enum": ("[|]", "One of these values"),
        "const": ("", "This value and no other"),
        "$ref": ('"|"', "The same as another schema"),
        "anyOf": ("[|]", "At least one of these schemas holds"),
        "oneOf": ("[|]", "Exactly one of these schemas holds"),
        "allOf": ("[|]", "All of these schemas hold"),
        "not": ("{|}", "This schema does not hold"),
        "if": ("{|}", "The condition of then and else"),
        "then": ("{|}", "What holds where the condition does"),
        "else": ("{|}", "What holds where the condition does not"),
        "title": ('"|"', "A name for people"),
        "description": ('"|"', "An explanation for people"),
        "default": ("", "The value if there is none"),
        "examples": ("[|]", "Examples for people"),
        "$defs": ("{|}", "Schemas to refer to"),
        "definitions": ("{|}", "Schemas to refer to, up to draft 7"),
        "$schema": ('"|"', "The draft that the schema is written in"),
        "$id": ('"|"', "The address of this schema"),
        "$anchor": ('"|"', "A name to refer to this schema by"),
        "$dynamicAnchor": ('"|"', "A name that an outer schema may take over"),
        "$dynamicRef": ('"|"', "The outermost schema that has this dynamic anchor"),
        "$comment": ('"|"', "A note"),
    },
    "object": {
        "properties": ("{|}", "The schemas of members, by key"),
        "required": ("[|]", "Keys that must be there"),
        "additionalProperties": ("", "The schema of all other members; false for none"),
        "patternProperties": ("{|}", "The schemas of members, by a pattern of their keys"),
        "propertyNames": ("{|}", "The schema of every key"),
        "minProperties": ("", "Least number of members"),
        "maxProperties": ("", "Greatest number of members"),
        "dependentRequired": ("{|}", "Keys that must be there where another one is"),
        "dependentSchemas": ("{|}", "Schemas that hold where a key is there"),
        "dependencies": ("{|}", "What holds where a key is there, up to draft 7"),
        "unevaluatedProperties": ("", "The schema of members that nothing else spoke of"),
    },
    "array": {
        "items": ("{|}", "The schema of every item"),
        "prefixItems": ("[|]", "The schemas of the first items"),
        "additionalItems": ("", "The schema of the items behind a list, up to 2019-09"),
        "minItems": ("", "Least number of items"),
        "maxItems": ("", "Greatest number of items"),
        "uniqueItems": ("true", "No two items are equal"),
        "contains": ("{|}", "Some item satisfies this schema"),
        "minContains": ("", "Least number of such items"),
        "maxContains": ("", "Greatest number of such items"),
        "unevaluatedItems": ("", "The schema of items that nothing else spoke of"),
    },
    "string": {
        "minLength": ("", "Least number of characters"),
        "maxLength": ("", "Greatest number of characters"),
        "pattern": ('"|"', "A regular expression that is found in it"),
        "format": ('"|"', "A format, such as date"),
    },
    "number": {
        "minimum": ("", "No less than this"),
        "maximum": ("", "No more than this"),
        "exclusiveMinimum": ("", "More than this"),
        "exclusiveMaximum": ("", "Less than this"),
        "multipleOf": ("", "A multiple of this"),
    },
}
"""By the type that they apply to: the start of a value, with `|` for the cursor, and what the keyword does."""

TYPES: Final[dict[str, str]] = {
    "object": "Members with keys",
    "array": "A list of items",
    "string": "A text",
    "number": "Any number",
    "integer": "A whole number",
    "boolean": "true or false",
    "null": "Nothing",
}

FORMATS: Final[dict[str, str]] = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "duration": "P1DT2H",
    "email": "ada@example.org",
    "idn-email": "An address with any letters",
    "hostname": "example.org",
    "idn-hostname": "A host name with any letters",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/a",
    "uri-reference": "/a#b",
    "iri": "A URI with any letters",
    "iri-reference": "A reference with any letters",
    "uri-template": "/a/{id}",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "json-pointer": "/a/0",
    "relative-json-pointer": "1/a",
    "regex": "A regular expression of ECMAScript",
}

DRAFTS: Final[dict[str, str]] = {
    "https://json-schema.org/draft/2020-12/schema": "Draft 2020-12",
    "https://json-schema.org/draft/2019-09/schema": "Draft 2019-09",
    "http://json-schema.org/draft-07/schema#": "Draft 7",
    "http://json-schema.org/draft-06/schema#": "Draft 6",
    "http://json-schema.org/draft-04/schema#": "Draft 4",
}

REGEX_SETS: Final[dict[str, str]] = {
    r"\d": "A digit",
    r"\D": "Anything but a digit",
    r"\w": "A letter, a digit or _",
    r"\W": "Anything else than those",
    r"\s": "White space",
    r"\S": "Anything but white space",
    r"\p{L}": "A letter of any script",
    r"\p{Lu}": "A capital letter of any script",
    r"\p{N}": "A number of any script",
}
REGEX_ESCAPES: Final[dict[str, str]] = {
    r"\n": "A line feed",
    r"\r": "A carriage return",
    r"\t": "A tab",
    r"\\": "A backslash",
    r"\.": "A dot",
    r"\x41": "A character by its number, two digits",
    r"\u0041": "A character by its number, four digits",
}
REGEX_BOUNDARIES: Final[dict[str, str]] = {r"\b": "The edge of a word", r"\B": "Not the edge of a word"}
REGEX_FORMS: Final[dict[str, str]] = {
    ".": "Any character but a line feed",
    "[a-z]": "One of these characters",
    "[^a-z]": "None of these characters",
    "(?:…)": "A group",
    "(…|…)": "One or the other",
    "(?=…)": "Followed by",
    "(?!…)": "Not followed by",
    "(?<=…)": "After",
    "(?<!…)": "Not after",
    "^": "The beginning",
    "$": "The end",
}
REGEX_QUANTIFIERS: Final[dict[str, str]] = {
    "*": "Any number of times",
    "+": "Once or more",
    "?": "Once or not at all",
    "{2}": "Exactly twice",
    "{2,5}": "Two to five times",
}
GBNF_ESCAPES: Final[dict[str, str]] = {
    r"\n": "A line feed",
    r"\r": "A carriage return",
    r"\t": "A tab",
    r"\\": "A backslash",
    r"\"": "A quote",
    r"\[": "A bracket",
    r"\]": "A bracket",
    r"\-": "A hyphen",
    r"\x41": "A character by its number, two digits",
    r"\u0041": "A character by its number, four digits",
    r"\U0001F600": "A character by its number, eight digits",
}
