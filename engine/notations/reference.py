"""The quick reference: the constructs of each notation, each with a description and an example.

An example is a complete grammar with a text that it accepts; tests compile them all, so every line of the reference is
true. Constructs that a dialect or draft lacks are not listed for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine.notations.editing import words
from engine.notations.json_schema.dialects import SINCE

_HOLE: Final = "…"
_IN_WORDS: Final = ""  # the description is in `words`, shared with completion
_MEANINGS: Final = {
    **words.GBNF_ESCAPES,
    **words.REGEX_SETS,
    **words.REGEX_ESCAPES,
    **words.REGEX_BOUNDARIES,
    **words.REGEX_FORMS,
    **words.REGEX_QUANTIFIERS,
}
_CURSOR: Final = "|"


@dataclass(frozen=True, slots=True)
class ReferenceEntry:
    """One construct of a notation.

    Attributes:
        form: its syntax; `…` marks what goes into it.
        meaning: what it does, in one line.
        example: a complete grammar that uses it.
        takes: a text that the example accepts.
        text: the text to insert.
        caret: the cursor position in `text` after the insertion.
    """

    form: str
    meaning: str
    example: str
    takes: str
    text: str
    caret: int


@dataclass(frozen=True, slots=True)
class ReferenceGroup:
    """Related entries."""

    title: str
    entries: tuple[ReferenceEntry, ...]


def reference(notation: str, dialect: str = "python", draft: int = 2020) -> tuple[ReferenceGroup, ...]:
    """Return the constructs of a notation, in groups.

    Args:
        notation: `regex`, `gbnf` or `json_schema`.
        dialect: the dialect of a pattern.
        draft: the draft of a schema.
    """
    if notation == "regex":
        return tuple(_regex(dialect))
    if notation == "gbnf":
        return tuple(_group(title, rows) for title, rows in _GBNF.items())
    if notation == "json_schema":
        return tuple(_schema(draft))
    return ()


def _group(title: str, rows: tuple[tuple[str, str, str, str], ...]) -> ReferenceGroup:
    return ReferenceGroup(title, tuple(_entry(*row) for row in rows))


def _entry(form: str, meaning: str, example: str, takes: str) -> ReferenceEntry:
    """Build an entry; the holes of its form are removed from the inserted text, and the cursor goes to the first."""
    hole = form.find(_HOLE)
    text = form.replace(_HOLE, "")
    return ReferenceEntry(form, meaning or _MEANINGS[form], example, takes, text, hole if hole >= 0 else len(text))


# --- regular expressions ---------------------------------------------------------------------------------------------

_REGEX: Final[dict[str, tuple[tuple[str, str, str, str], ...]]] = {
    "Characters": (
        (".", _IN_WORDS, "a.c", "abc"),
        ("[a-z]", _IN_WORDS, "[a-z]", "q"),
        ("[^a-z]", _IN_WORDS, "[^a-z]", "Q"),
        ("[0-9]", "An ASCII digit", "[0-9]{2}", "42"),
        (r"\d", _IN_WORDS, r"\d\d", "42"),
        (r"\D", _IN_WORDS, r"\D", "x"),
        (r"\w", _IN_WORDS, r"\w\w", "a_"),
        (r"\W", _IN_WORDS, r"\W", "-"),
        (r"\s", _IN_WORDS, r"a\sb", "a b"),
        (r"\S", _IN_WORDS, r"\S", "x"),
        (r"\p{L}", _IN_WORDS, r"\p{L}\p{L}", "Aß"),
        (r"\P{L}", "Anything but a letter", r"\P{L}", "1"),
        (r"\p{Lu}", _IN_WORDS, r"\p{Lu}", "Ä"),
        (r"\p{N}", _IN_WORDS, r"\p{N}", "4"),
    ),
    "How often": (
        ("*", _IN_WORDS, "ab*", "abbb"),
        ("+", _IN_WORDS, "ab+", "abb"),
        ("?", _IN_WORDS, "ab?", "a"),
        ("{3}", "Exactly three times", "a{3}", "aaa"),
        ("{2,}", "Twice or more", "a{2,}", "aaaa"),
        ("{2,5}", _IN_WORDS, "a{2,5}", "aaa"),
        ("+?", "Lazily: the same texts match, for a match is of the whole text", "ab+?", "abb"),
    ),
    "Groups and choices": (
        ("a|b", "One or the other", "yes|no", "no"),
        ("(?:…)", _IN_WORDS, "(?:ab)+", "abab"),
        ("(…)", "A numbered group; for matching the same as one without a number", "(ab)+", "abab"),
        ("(?P<name>…)", "A named group; for matching the same", "(?P<year>[0-9]{4})", "2026"),
        ("(?<name>…)", "A named group; for matching the same", "(?<year>[0-9]{4})", "2026"),
    ),
    "Conditions": (
        ("^", "The text begins here; a match is of the whole text anyway", "^ab", "ab"),
        ("$", "The text ends here", "ab$", "ab"),
        (r"\A", "The text begins here, whatever the flags", r"\Aab", "ab"),
        (r"\Z", "The text ends here, whatever the flags", r"ab\Z", "ab"),
        (r"\b", _IN_WORDS, r"\ba\b b", "a b"),
        (r"\B", _IN_WORDS, r"a\Bb", "ab"),
        ("(?=…)", _IN_WORDS, "(?=a)[a-z]+", "ab"),
        ("(?!…)", _IN_WORDS, "(?!a)[a-z]+", "ba"),
        ("(?<=…)", _IN_WORDS, "[a-z](?<=a)b", "ab"),
        ("(?<!…)", _IN_WORDS, "[a-z](?<!a)b", "cb"),
    ),
    "Escapes": (
        (r"\n", _IN_WORDS, r"a\nb", "a\nb"),
        (r"\r", _IN_WORDS, r"a\rb", "a\rb"),
        (r"\t", _IN_WORDS, r"a\tb", "a\tb"),
        (r"\\", _IN_WORDS, r"a\\b", "a\\b"),
        (r"\.", "A dot; so with every sign that means something", r"a\.b", "a.b"),
        (r"\x41", _IN_WORDS, r"\x41", "A"),
        (r"\u0041", _IN_WORDS, r"\u0041", "A"),
        (r"\U0001F600", "A character by its number, eight digits", r"\U0001F600", "\U0001f600"),
        (r"\u{1F600}", "A character by its number, any digits", r"\u{1F600}", "\U0001f600"),
        (r"\N{EM DASH}", "A character by its name in Unicode", r"\N{EM DASH}", "\N{EM DASH}"),
        (r"\cJ", "A control character by its letter", r"a\cJ", "a\n"),
    ),
    "Flags": (
        ("(?i)", "From the beginning: letter case does not matter", "(?i)get", "Get"),
        ("(?s)", "From the beginning: . takes line feeds, too", "(?s)a.b", "a\nb"),
        ("(?m)", "From the beginning: ^ and $ are about lines, too", "(?m)a$\nb", "a\nb"),
        ("(?x)", "From the beginning: blanks and comments do not count", "(?x) a b # c", "ab"),
        ("(?a)", r"From the beginning: \d, \w, \s, \b and letter case know ASCII only", r"(?a)\d", "4"),
        ("(?a:…)", r"In the group: \d, \w, \s, \b and letter case know ASCII only", r"(?a:\d)", "4"),
        ("(?i:…)", "In the group: letter case does not matter", "(?i:get) x", "GET x"),
        ("(?s:…)", "In the group: . takes line ends, too", "(?s:a.b)", "a\nb"),
        ("(?-i:…)", "In the group: letter case matters again", "(?i:a(?-i:b))", "Ab"),
        ("(?#…)", "A remark", "a(?#first)b", "ab"),
    ),
}
_PYTHON_ONLY: Final = frozenset(
    (
        *("(?P<name>…)", r"\A", r"\Z", r"\U0001F600", r"\N{EM DASH}", "(?#…)"),
        *("(?i)", "(?s)", "(?m)", "(?x)", "(?a)", "(?a:…)"),
    )
)
_ECMA_ONLY: Final = frozenset(("(?<name>…)", r"\u{1F600}", r"\cJ"))


_UNICODE: Final = {
    r"\d": "A digit of any script, as in re",
    r"\D": "Anything but a digit of any script",
    r"\w": "A letter or digit of any script, or _, as in re",
    r"\W": "Anything else than those",
    r"\s": "White space of any kind, as in re",
    r"\S": "Anything but white space of any kind",
}
"""The meaning of the shorthands in Python's dialect without `(?a)`."""


def _regex(dialect: str) -> Iterator[ReferenceGroup]:
    meanings = _UNICODE if dialect == "python" else {}
    unknown = _ECMA_ONLY if dialect == "python" else _PYTHON_ONLY
    for title, rows in _REGEX.items():
        wanted = ((row[0], meanings.get(row[0], row[1]), *row[2:]) for row in rows if row[0] not in unknown)
        known = _group(title, tuple(wanted))
        if dialect == "ecma" and title == "Characters":
            dot = _entry(".", "Any character but a line end", "a.c", "abc")
            known = ReferenceGroup(title, (dot, *known.entries[1:]))
        yield known


# --- GBNF ------------------------------------------------------------------------------------------------------------

_GBNF: Final[dict[str, tuple[tuple[str, str, str, str], ...]]] = {
    "Rules": (
        ("root ::= …", "The rule with which every match begins", 'root ::= "yes"', "yes"),
        ("name ::= …", "Another rule", 'root ::= name\nname ::= "Ada"', "Ada"),
        ("name", "Whatever that rule matches", 'root ::= name "!"\nname ::= "Ada"', "Ada!"),
        ("# …", "A comment, up to the line's end", 'root ::= "a" # first', "a"),
    ),
    "Texts and characters": (
        ('"…"', "This text", 'root ::= "yes"', "yes"),
        ("[a-z]", "One of these characters", "root ::= [a-z]", "q"),
        ("[^a-z]", "None of these characters", "root ::= [^a-z]", "Q"),
        (".", "Any character", "root ::= .", "x"),
        ("<…>", "A token of the vocabulary by its name, taken whole", 'root ::= <think> "a"', ""),
        ("<[…]>", "A token of the vocabulary by its number, taken whole", 'root ::= <[7]> "a"', ""),
        ("!<…>", "Any token but that one", 'root ::= !<think> "a"', ""),
    ),
    "How often": (
        ("*", "Any number of times", 'root ::= "a"*', "aaa"),
        ("+", "Once or more", 'root ::= "a"+', "aa"),
        ("?", "Once or not at all", 'root ::= "a"? "b"', "b"),
        ("{3}", "Exactly three times", 'root ::= "a"{3}', "aaa"),
        ("{2,}", "Twice or more", 'root ::= "a"{2,}', "aaaa"),
        ("{2,5}", "Two to five times", 'root ::= "a"{2,5}', "aaa"),
    ),
    "Groups and choices": (
        (' | "…"', "Or this; a rule goes on behind it on the next line", 'root ::= "yes" | "no"', "no"),
        ("(…)", "A group; within it, lines may end anywhere", 'root ::= ("a" "b")+', "abab"),
    ),
    "Escapes": (
        (r"\n", _IN_WORDS, r'root ::= "a\nb"', "a\nb"),
        (r"\r", _IN_WORDS, r'root ::= "a\rb"', "a\rb"),
        (r"\t", _IN_WORDS, r'root ::= "a\tb"', "a\tb"),
        (r"\\", _IN_WORDS, r'root ::= "a\\b"', "a\\b"),
        (r"\"", _IN_WORDS, r'root ::= "\"a\""', '"a"'),
        (r"\]", "A bracket, within a class", r"root ::= [\]]", "]"),
        (r"\-", "A hyphen, within a class", r"root ::= [a\-z]", "-"),
        (r"\x41", _IN_WORDS, r'root ::= "\x41"', "A"),
        (r"\u0041", _IN_WORDS, r'root ::= "\u0041"', "A"),
        (r"\U0001F600", _IN_WORDS, r'root ::= "\U0001F600"', "\U0001f600"),
    ),
}

# --- JSON Schema -----------------------------------------------------------------------------------------------------

_TITLES: Final = {
    "any": "Any value",
    "object": "Objects",
    "array": "Arrays",
    "string": "Strings",
    "number": "Numbers",
}
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
    "title": ({"title": "A name", "type": "string"}, "Ada"),
    "description": ({"description": "Who it is", "type": "string"}, "Ada"),
    "default": ({"default": 0, "type": "integer"}, 1),
    "examples": ({"examples": [1, 2], "type": "integer"}, 3),
    "$defs": ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "null"}}}, None),
    "definitions": ({"allOf": [{"$ref": "#/definitions/n"}], "definitions": {"n": {"type": "null"}}}, None),
    "$schema": ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "null"}, None),
    "$id": ({"$id": "https://example.org/a", "type": "null"}, None),
    "$anchor": ({"$ref": "#n", "$defs": {"n": {"$anchor": "n", "type": "null"}}}, None),
    "$dynamicAnchor": ({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}, "type": "array"}, [[]]),
    "$dynamicRef": ({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}, "type": "array"}, [[]]),
    "$comment": ({"$comment": "To be checked", "type": "null"}, None),
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
_ADDRESSES: Final = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
}


def _schema(draft: int) -> Iterator[ReferenceGroup]:
    for about, title in _TITLES.items():
        entries = [
            _keyword(keyword, value, meaning, draft)
            for keyword, (value, meaning) in words.KEYWORDS[about].items()
            if _FIRST.get(keyword, 0) <= draft <= _LAST.get(keyword, draft)
        ]
        yield ReferenceGroup(title, tuple(entries))
    types = tuple(_keyword_value("type", name, meaning, draft) for name, meaning in words.TYPES.items())
    yield ReferenceGroup("Types", types)
    formats = tuple(_keyword_value("format", name, sample, draft) for name, sample in words.FORMATS.items())
    yield ReferenceGroup("Formats", formats)


def _keyword(keyword: str, value: str, meaning: str, draft: int) -> ReferenceEntry:
    schema, takes = _EXAMPLES[keyword]
    written = f"{json.dumps(keyword)}: {value or _CURSOR}"
    caret = written.find(_CURSOR)
    text = written.replace(_CURSOR, "", 1)
    return ReferenceEntry(
        f'"{keyword}"',
        meaning,
        _in_draft(schema, draft),
        json.dumps(takes, ensure_ascii=False),
        text,
        caret if caret >= 0 else len(text),
    )


def _keyword_value(keyword: str, name: str, meaning: str, draft: int) -> ReferenceEntry:
    schema = {"type": "string", keyword: name} if keyword == "format" else {keyword: name}
    takes = _ACCEPTED.get(name, meaning)
    text = f"{json.dumps(keyword)}: {json.dumps(name)}"
    written = json.dumps(takes, ensure_ascii=False)
    return ReferenceEntry(f'"{name}"', meaning, _in_draft(schema, draft), written, text, len(text))


_ACCEPTED: Final[dict[str, object]] = {
    "object": {},
    "array": [],
    "string": "a",
    "number": 1.5,
    "integer": 1,
    "boolean": True,
    "null": None,
    "idn-email": "ää@example.org",
    "idn-hostname": "bücher.example",
    "iri": "https://example.org/ä",
    "iri-reference": "/ä",
    "regex": "^a+$",
}
"""Accepted values of types and formats whose description does not show one."""


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
