"""Descriptions of the keywords of a JSON Schema.

A keyword without effect (of another draft, or without its partner) is described as such; so is an annotation. Numbers
and values are quoted from the source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from engine.diagnosis.explanation_tree.nodes import joined
from engine.matching.explanation_text import LONGEST_EXCERPT, quoted
from engine.notations.json_schema.dialects import SchemaDraft, draft_name, draft_of
from engine.notations.json_schema.formats import NAMES
from engine.notations.json_schema.json_tree import Json
from engine.source import SourceText

MOST_LISTED: Final = 6
TYPES: Final = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "null": "null",
}
KINDS: Final = {"integer": "number"}
ABOUT: Final = {
    "object": """properties required additionalProperties patternProperties propertyNames minProperties maxProperties
        dependentRequired dependentSchemas dependencies unevaluatedProperties""".split(),
    "array": """items prefixItems additionalItems minItems maxItems uniqueItems contains minContains maxContains
        unevaluatedItems""".split(),
    "string": "minLength maxLength pattern format".split(),
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split(),
}
KIND_OF: Final = {keyword: kind for kind, keywords in ABOUT.items() for keyword in keywords}
FACTS: Final = tuple(
    """$ref $dynamicRef $recursiveRef const enum format pattern minimum exclusiveMinimum maximum exclusiveMaximum
    multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties allOf anyOf oneOf
    not""".split()
)
"""The keywords in a summary, in its order."""


@dataclass(frozen=True, slots=True)
class SchemaContext:
    """The schema of a keyword, with its context."""

    node: Json
    source: SourceText
    draft: SchemaDraft

    def other(self, keyword: str) -> Json | None:
        """Return another keyword of the same schema."""
        return self.node.members.get(keyword)

    def quote(self, part: Json) -> str:
        """Return a value as written, in one line."""
        text = " ".join(self.source.excerpt(part.span).split())
        return quoted(text if len(text) <= LONGEST_EXCERPT else text[: LONGEST_EXCERPT - 1] + "…")

    @property
    def kinds(self) -> frozenset[str]:
        """The types that `type` permits; empty if it is absent."""
        part = self.other("type")
        names = () if part is None else part.items or (part,)
        return frozenset(KINDS.get(str(name.value), str(name.value)) for name in names)

    def is_only(self, kind: str) -> bool:
        """Return whether every value has one type."""
        return self.kinds == {kind}


class NoEffect(str):
    """The reason why a keyword has no effect, instead of its description."""

    __slots__ = ()


class Note(str):
    """The content of an annotation, which enforces nothing."""

    __slots__ = ()


class Detail(str):
    """A description that another keyword includes already, or a default."""

    __slots__ = ()


Words: TypeAlias = Callable[[SchemaContext, Json], str]


def type_words(_here: SchemaContext, part: Json) -> str:
    """Describe the types."""
    names = [str(name.value) for name in part.items or (part,)]
    return joined([TYPES.get(name, quoted(name)) for name in names], "or") if names else "no type at all"


def _ref(_here: SchemaContext, part: Json) -> str:
    return f"whatever {quoted(str(part.value))} allows"


def _dynamic(_here: SchemaContext, part: Json) -> str:
    return f"whatever {quoted(str(part.value))} allows, as the outermost schema with this dynamic anchor says it"


def _recursive(here: SchemaContext, _part: Json) -> str:
    if here.draft > SchemaDraft.DRAFT_2019:
        return NoEffect("only draft 2019-09 has it")
    return "whatever this whole schema allows, or the outermost one that is `$recursiveAnchor`"


def _enum(here: SchemaContext, part: Json) -> str:
    values = [here.quote(value) for value in part.items]
    if len(values) > MOST_LISTED:
        values = [*values[: MOST_LISTED - 1], f"{len(values) - MOST_LISTED + 1:,} other values"]
    return f"{'one of ' if len(values) > 1 else ''}{joined(values, 'or')}" if values else "no value at all"


def _const(here: SchemaContext, part: Json) -> str:
    return f"exactly {here.quote(part)}"


def _bound(word: str, strict_word: str, strict: str) -> Words:
    def words(here: SchemaContext, part: Json) -> str:
        beside = here.other(strict)
        is_strict = beside is not None and beside.value is True
        return f"{strict_word if is_strict else word} {here.quote(part)}"

    return words


def _strict(word: str, plain: str) -> Words:
    def words(here: SchemaContext, part: Json) -> str:
        if not isinstance(part.value, bool):
            return f"{word} {here.quote(part)}"
        if here.other(plain) is None:
            return NoEffect(f"there is no {quoted(plain)} beside it")
        return Detail(f"the {quoted(plain)} itself {'is left out' if part.value else 'counts'}")

    return words


def _count(word: str, noun: str) -> Words:
    def words(here: SchemaContext, part: Json) -> str:
        is_one = isinstance(part.value, Fraction) and part.value == 1
        plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
        return f"{word} {here.quote(part)} {noun if is_one else plural}"

    return words


def _format(_here: SchemaContext, part: Json) -> str:
    name = quoted(str(part.value))
    return f"in the format {name}" if part.value in NAMES else Note(f"the format {name} is not known")


def _unique(_here: SchemaContext, part: Json) -> str:
    return "no two items are equal" if part.value is True else Detail("items may be equal")


def _such(word: str) -> Words:
    def words(here: SchemaContext, part: Json) -> str:
        if here.other("contains") is None:
            return NoEffect("there is no `contains` beside it")
        return f"{word} {here.quote(part)} such items"

    return words


def _required(_here: SchemaContext, part: Json) -> str:
    if not isinstance(part.value, list):
        return NoEffect("a boolean here is draft 3")
    names = [quoted(str(name.value)) for name in part.items]
    return f"must be there: {joined(names, 'and')}" if names else "no property must be there"


def _all(_here: SchemaContext, part: Json) -> str:
    return f"all of these {len(part.items):,} hold" if len(part.items) > 1 else "this holds, too"


def _any(_here: SchemaContext, part: Json) -> str:
    return f"at least one of these {len(part.items):,} holds"


def _one(_here: SchemaContext, part: Json) -> str:
    return f"exactly one of these {len(part.items):,} holds"


def _not(_here: SchemaContext, _part: Json) -> str:
    return "anything but what follows"


def _note(here: SchemaContext, part: Json) -> str:
    return Note(here.quote(part))


def _dialect(here: SchemaContext, part: Json) -> str:
    draft = draft_of(str(part.value))
    if draft is None:
        return f"a draft that is not known, so it is read as {draft_name(here.draft)}"
    return f"written in {draft_name(draft)}"


def _address(name: str) -> Words:
    def words(here: SchemaContext, part: Json) -> str:
        if (here.draft is SchemaDraft.DRAFT_4) == (name == "id"):
            return f"its address is {here.quote(part)}"
        return NoEffect(f"in {draft_name(here.draft)} it is {quoted('$id' if name == 'id' else 'id')}")

    return words


def _anchor(_here: SchemaContext, part: Json) -> str:
    return f"references may call it {quoted(f'#{part.value}')}"


WORDS: Final[dict[str, Words]] = {
    "type": type_words,
    "$ref": _ref,
    "$dynamicRef": _dynamic,
    "$recursiveRef": _recursive,
    "enum": _enum,
    "const": _const,
    "minimum": _bound("at least", "more than", "exclusiveMinimum"),
    "maximum": _bound("at most", "less than", "exclusiveMaximum"),
    "exclusiveMinimum": _strict("more than", "minimum"),
    "exclusiveMaximum": _strict("less than", "maximum"),
    "multipleOf": lambda here, part: f"a multiple of {here.quote(part)}",
    "minLength": _count("at least", "character"),
    "maxLength": _count("at most", "character"),
    "pattern": lambda _here, part: f"somewhere in it, a match of {quoted(str(part.value))}",
    "format": _format,
    "minItems": _count("at least", "item"),
    "maxItems": _count("at most", "item"),
    "uniqueItems": _unique,
    "minContains": _such("at least"),
    "maxContains": _such("at most"),
    "required": _required,
    "minProperties": _count("at least", "property"),
    "maxProperties": _count("at most", "property"),
    "allOf": _all,
    "anyOf": _any,
    "oneOf": _one,
    "not": _not,
    "title": _note,
    "description": _note,
    "$comment": _note,
    "default": lambda here, part: Note(f"{here.quote(part)} is the value if there is none"),
    "examples": lambda _here, _part: Note("examples"),
    "example": lambda _here, _part: Note("an example"),
    "deprecated": _note,
    "readOnly": _note,
    "writeOnly": _note,
    "$schema": _dialect,
    "$id": _address("$id"),
    "id": _address("id"),
    "$anchor": _anchor,
    "$dynamicAnchor": _anchor,
}
"""The keywords without subschemas, and those whose subschemas are listed below them."""
