"""Descriptions of the keywords of a JSON Schema.

A keyword without effect (of another draft, or without its partner) is described as such; so is an annotation. Numbers
and values are quoted from the source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, TypeAlias

from engine.diagnosis.explanation_tree.nodes import joined
from engine.matching.explanation_text import LONGEST_EXCERPT, quoted
from engine.notations.editing import words
from engine.notations.json_schema.dialects import SchemaDraft, draft_name, draft_of
from engine.notations.json_schema.formats import NAMES
from engine.notations.json_schema.json_tree import Json
from engine.source import SourceText
from engine.source.catalogue import catalogue_text, has_text

MOST_LISTED: Final = 6
KINDS: Final = {"integer": "number"}
KIND_OF: Final = {keyword: kind for kind, known in words.KEYWORDS.items() if kind != "any" for keyword in known}
FACTS: Final = tuple(
    """$ref $dynamicRef $recursiveRef const enum format pattern minimum exclusiveMinimum maximum exclusiveMaximum
    multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties allOf anyOf oneOf
    not""".split()
)
"""The keywords in a summary, in its order."""


@dataclass(frozen=True)
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

    @cached_property
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


Describe: TypeAlias = Callable[[SchemaContext, Json], str]


def type_name(name: str) -> str:
    """Return a type with its article."""
    is_known = has_text(f"explanation.schema.type.{name}")
    return catalogue_text(f"explanation.schema.type.{name}") if is_known else quoted(name)


def describe_types(_here: SchemaContext, part: Json) -> str:
    """Describe the types."""
    names = [str(name.value) for name in part.items or (part,)]
    return joined(map(type_name, names), "or") if names else catalogue_text("explanation.schema.type.none")


def _ref(_here: SchemaContext, part: Json) -> str:
    return catalogue_text("explanation.schema.keyword.reference", target=quoted(str(part.value)))


def _dynamic(_here: SchemaContext, part: Json) -> str:
    return catalogue_text("explanation.schema.keyword.dynamicRef", target=quoted(str(part.value)))


def _recursive(here: SchemaContext, _part: Json) -> str:
    if here.draft > SchemaDraft.DRAFT_2019:
        draft = draft_name(SchemaDraft.DRAFT_2019)
        return NoEffect(catalogue_text("explanation.schema.reason.only_draft", draft=draft))
    return catalogue_text("explanation.schema.keyword.recursiveRef")


def _enum(here: SchemaContext, part: Json) -> str:
    values = [here.quote(value) for value in part.items]
    if not values:
        return catalogue_text("explanation.schema.none")
    if len(values) > MOST_LISTED:
        others = len(values) - MOST_LISTED + 1
        values = [*values[: MOST_LISTED - 1], catalogue_text("explanation.schema.keyword.enum_others", others=others)]
    listed = joined(values, "or")
    return catalogue_text("explanation.schema.keyword.enum", values=listed) if len(values) > 1 else listed


def _value(keyword: str) -> Describe:
    """Describe a keyword by its value."""
    return lambda here, part: catalogue_text(f"explanation.schema.keyword.{keyword}", value=here.quote(part))


def _bound(keyword: str, strict: str) -> Describe:
    """Describe a bound, which up to draft 4 another keyword makes strict."""

    def describe(here: SchemaContext, part: Json) -> str:
        beside = here.other(strict)
        is_strict = beside is not None and beside.value is True
        return _value(strict if is_strict else keyword)(here, part)

    return describe


def _strict(keyword: str, plain: str) -> Describe:
    def describe(here: SchemaContext, part: Json) -> str:
        if not isinstance(part.value, bool):
            return _value(keyword)(here, part)
        if here.other(plain) is None:
            return alone(plain)
        state = "excluded" if part.value else "included"
        return Detail(catalogue_text(f"explanation.schema.keyword.bound_{state}", keyword=quoted(plain)))

    return describe


def alone(keyword: str) -> NoEffect:
    """Return the reason of a keyword that lacks its partner."""
    return NoEffect(catalogue_text("explanation.schema.reason.alone", keyword=quoted(keyword)))


def _count(keyword: str) -> Describe:
    return lambda here, part: catalogue_text(
        f"explanation.schema.count.{keyword}", count=plural_number(part), value=here.quote(part)
    )


def plural_number(part: Json) -> int:
    """Return 1 for a value that is 1, however it is written, else 2: the form of the noun that follows it."""
    return 1 if isinstance(part.value, Fraction) and part.value == 1 else 2


def _format(_here: SchemaContext, part: Json) -> str:
    name = quoted(str(part.value))
    if part.value in NAMES:
        return catalogue_text("explanation.schema.keyword.format", name=name)
    return Note(catalogue_text("explanation.schema.keyword.format_unknown", name=name))


def _unique(_here: SchemaContext, part: Json) -> str:
    if part.value is True:
        return catalogue_text("explanation.schema.keyword.unique")
    return Detail(catalogue_text("explanation.schema.keyword.not_unique"))


def _such(keyword: str) -> Describe:
    return lambda here, part: alone("contains") if here.other("contains") is None else _value(keyword)(here, part)


def _required(_here: SchemaContext, part: Json) -> str:
    if not isinstance(part.value, list):
        return NoEffect(catalogue_text("explanation.schema.reason.boolean_required"))
    names = [quoted(str(name.value)) for name in part.items]
    if not names:
        return catalogue_text("explanation.schema.keyword.required_none")
    return catalogue_text("explanation.schema.keyword.required", names=joined(names, "and"))


def _schemas(keyword: str) -> Describe:
    return lambda _here, part: catalogue_text(f"explanation.schema.keyword.{keyword}", count=len(part.items))


def _not(_here: SchemaContext, _part: Json) -> str:
    return catalogue_text("explanation.schema.keyword.not")


def _note(here: SchemaContext, part: Json) -> str:
    return Note(here.quote(part))


def describe_unknown(_here: SchemaContext, _part: Json) -> str:
    """Describe a keyword that is not known, or whose value says nothing here."""
    return Note(catalogue_text("explanation.schema.keyword.annotation"))


def _dialect(here: SchemaContext, part: Json) -> str:
    draft = draft_of(str(part.value))
    if draft is None:
        return catalogue_text("explanation.schema.keyword.dialect_unknown", draft=draft_name(here.draft))
    return catalogue_text("explanation.schema.keyword.dialect", draft=draft_name(draft))


def _address(name: str) -> Describe:
    def describe(here: SchemaContext, part: Json) -> str:
        if (here.draft is SchemaDraft.DRAFT_4) == (name == "id"):
            return _value("address")(here, part)
        keyword = quoted("$id" if name == "id" else "id")
        return NoEffect(
            catalogue_text("explanation.schema.reason.address", draft=draft_name(here.draft), keyword=keyword)
        )

    return describe


def _anchor(_here: SchemaContext, part: Json) -> str:
    return catalogue_text("explanation.schema.keyword.anchor", name=quoted(f"#{part.value}"))


def _pattern(_here: SchemaContext, part: Json) -> str:
    return catalogue_text("explanation.schema.keyword.pattern", pattern=quoted(str(part.value)))


DESCRIBED: Final[dict[str, Describe]] = {
    "type": describe_types,
    "$ref": _ref,
    "$dynamicRef": _dynamic,
    "$recursiveRef": _recursive,
    "enum": _enum,
    "const": _value("const"),
    "minimum": _bound("minimum", "exclusiveMinimum"),
    "maximum": _bound("maximum", "exclusiveMaximum"),
    "exclusiveMinimum": _strict("exclusiveMinimum", "minimum"),
    "exclusiveMaximum": _strict("exclusiveMaximum", "maximum"),
    "multipleOf": _value("multipleOf"),
    "pattern": _pattern,
    "format": _format,
    **{
        keyword: _count(keyword)
        for keyword in ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
    },
    "uniqueItems": _unique,
    "minContains": _such("minContains"),
    "maxContains": _such("maxContains"),
    "required": _required,
    "allOf": _schemas("allOf"),
    "anyOf": _schemas("anyOf"),
    "oneOf": _schemas("oneOf"),
    "not": _not,
    "default": lambda here, part: Note(_value("default")(here, part)),
    **dict.fromkeys(("title", "description", "$comment", "deprecated", "readOnly", "writeOnly"), _note),
    "$schema": _dialect,
    "$id": _address("$id"),
    "id": _address("id"),
    "$anchor": _anchor,
    "$dynamicAnchor": _anchor,
}
"""The keywords without subschemas, and those whose subschemas are listed below them."""
