"""The explanation of a JSON Schema: one line for each schema, and below it one for each of its keywords.

A schema's own line summarises what it accepts as far as it fits: its type, its bounds, its reference. A keyword for one
type names the type if `type` permits others, since it does not constrain those. A keyword without effect (of another
draft, or without its partner) is described as such; so is an annotation. Numbers and values are quoted from the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Final, TypeAlias

from engine.grammar.options import CompileOptions
from engine.notations.explanation import ExplanationEntry, nothing
from engine.notations.json_schema.dialects import SINCE, SchemaDraft, draft_name, draft_of
from engine.notations.json_schema.findings import SchemaFindings
from engine.notations.json_schema.formats import NAMES
from engine.notations.json_schema.json_tree import Json, read_json
from engine.notations.json_schema.parser import parse
from engine.notations.json_schema.reference import KEYWORDS
from engine.notations.json_schema.resources import Resources
from engine.notations.node_explanation import joined
from engine.notations.regex.dialect import Dialect
from engine.notations.regex.explanation import regex_entries
from engine.source import GrammarError, Limits, SourceText, Span
from engine.source.catalogue import catalogue_text, has_text
from engine.source.text import quoted, shortened

MOST_LISTED: Final = 6
KINDS: Final = {"integer": "number"}
KIND_OF: Final = {keyword: kind for kind, known in KEYWORDS.items() if kind != "any" for keyword in known}
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

    def span(self, keyword: str) -> Span:
        """Return the span of a keyword with its value."""
        return Span(self.node.key_spans[keyword].start, self.node.members[keyword].span.end)

    def quote(self, part: Json) -> str:
        """Return a value as written, in one line."""
        return quoted(shortened(" ".join(self.source.excerpt(part.span).split())))

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

_RANGES: Final = {
    "minimum": "maximum",
    "minLength": "maxLength",
    "minItems": "maxItems",
    "minProperties": "maxProperties",
}
_KEPT: Final = {"$defs", "definitions"}
_EXCLUDES: Final = {"exclusiveMinimum", "exclusiveMaximum"}
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_JSON_CHARACTER: Final = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u.{4}|\\.|.", re.DOTALL)


def schema_entries(source: SourceText, options: CompileOptions) -> Iterator[ExplanationEntry]:
    """Explain a schema.

    Raises:
        GrammarError: it is not JSON, or not a schema that can be enforced.
        LimitExceededError: it is too long.
    """
    writer = SchemaWriter.of(source, options)
    return iter((writer.schema(writer.root, catalogue_text("explanation.schema.root")),))


class SchemaWriter:
    """Explains the schemas of one text.

    Attributes:
        root: the schema of the whole text.
    """

    def __init__(self, source: SourceText, root: Json, resources: Resources, limits: Limits, *, closed: bool) -> None:
        self.root = root
        self._source = source
        self._resources = resources
        self._limits = limits
        self._closed = closed

    @classmethod
    def of(cls, source: SourceText, options: CompileOptions) -> SchemaWriter:
        """Return the writer of a text; see `schema_entries`."""
        limits = options.limits
        parse(
            source, limits, draft=options.draft, additional=options.additional, unenforced=options.unenforced
        )  # parsed for its errors: every keyword below has a valid value
        root = read_json(source.text, limits.nesting)
        resources = Resources(root, SchemaDraft(options.draft), SchemaFindings(lenient=True))
        return cls(source, root, resources, limits, closed=options.additional == "closed")

    # --- schemas -----------------------------------------------------------------------------------------------------

    def schema(self, node: Json, name: str, begin: int | None = None) -> ExplanationEntry:
        """Explain a schema under a name.

        Args:
            node: the schema.
            name: what it is the schema of.
            begin: the start of its key, if it has one.
        """
        span = node.span if begin is None else Span(begin, node.span.end)
        inner = partial(self._keywords, node) if node.members else nothing
        reference = next((node.members[key] for key in _REFERENCES if key in node.members), None)
        target = None if reference is None else self.target(node, reference)
        target_span = None if target is None else target.span
        return ExplanationEntry(f"{name}: {self.summary(node)}", span, inner, target_span)

    def here(self, node: Json) -> SchemaContext:
        """Return a schema with the context of its keywords."""
        return SchemaContext(node, self._source, self._resources.home(node).draft)

    def summary(self, node: Json, room: int = 2) -> str:
        """Summarise a schema in one line."""
        if isinstance(node.value, bool):
            return catalogue_text("explanation.schema.any" if node.value else "explanation.schema.none")
        here = self.here(node)
        if "$ref" in node.members and here.draft <= SchemaDraft.DRAFT_7:
            return DESCRIBED["$ref"](here, node.members["$ref"])
        parts = [self._type(here)] if "type" in node.members else []
        typed: list[str] = []
        for keyword, fact in self._facts(here):
            kind = KIND_OF.get(keyword)
            if kind is None or here.is_only(kind):
                parts.append(fact)
            else:
                typed.append(_if_type(here, keyword, fact))
        items = here.other("items")
        is_for_all = here.is_only("array") and here.other("prefixItems") is None
        if room > 1 and is_for_all and items is not None and items.members:
            parts.append(catalogue_text("explanation.schema.each_item", summary=self.summary(items, room - 1)))
        return "; ".join([", ".join(parts) or self._any(here), *typed])

    def _any(self, here: SchemaContext) -> str:
        """Return the start of a line without a type: "any value" only if nothing below it restricts the value."""
        says_more = "required" in here.node.members or here.node.members.keys() & _STRUCTURES.keys() - _KEPT
        return catalogue_text("explanation.schema.follows" if says_more else "explanation.schema.any")

    def _type(self, here: SchemaContext) -> str:
        words = describe_types(here, here.node.members["type"])
        properties, required = here.other("properties"), here.other("required")
        if not here.is_only("object") or properties is None or not properties.members:
            return words
        count = len(properties.members)
        needed = {item.value for item in required.items} if required is not None else set()
        known = sum(name in needed for name in properties.members)
        if known == count:
            words = catalogue_text("explanation.schema.object.all_required", type=words, count=count)
        elif known:
            words = catalogue_text("explanation.schema.object.some_required", type=words, count=count, required=known)
        else:
            words = catalogue_text("explanation.schema.object.plain", type=words, count=count)
        if not self.is_closed(here) or here.other("patternProperties") is not None:
            return words
        return catalogue_text("explanation.schema.closed", words=words)

    def is_closed(self, here: SchemaContext) -> bool:
        """Return whether an object has no other properties than those that are declared."""
        additional = here.other("additionalProperties")
        return additional.value is False if additional is not None else self._closed

    def _facts(self, here: SchemaContext) -> Iterator[tuple[str, str]]:
        """Yield the keywords that fit into a schema's line; lower and upper bounds are combined."""
        combined: set[str] = set()
        for keyword in FACTS:
            part = here.other(keyword)
            if part is None or keyword in combined or here.draft < SINCE.get(keyword, here.draft):
                continue
            end = here.other(_RANGES[keyword]) if keyword in _RANGES else None
            if end is not None and not (_EXCLUDES & here.node.members.keys() and keyword == "minimum"):
                combined.add(_RANGES[keyword])
                low, high = quoted(self._source.excerpt(part.span)), quoted(self._source.excerpt(end.span))
                if part.value == end.value and keyword != "minimum":
                    number = plural_number(part)
                    yield keyword, catalogue_text(f"explanation.schema.exactly.{keyword}", count=number, low=low)
                else:
                    yield keyword, catalogue_text(f"explanation.schema.range.{keyword}", low=low, high=high)
                continue
            words = DESCRIBED[keyword](here, part)
            if not isinstance(words, NoEffect | Note | Detail):
                yield keyword, words

    def target(self, node: Json, reference: Json) -> Json | None:
        """Return the schema that a reference resolves to; None if it depends on the evaluation."""
        return self._resources.resolve(node, reference) if isinstance(reference.value, str) else None

    # --- keywords ----------------------------------------------------------------------------------------------------

    def _keywords(self, node: Json) -> Iterator[ExplanationEntry]:
        """Explain each keyword of a schema, in source order."""
        here = self.here(node)
        is_reference = "$ref" in node.members and here.draft <= SchemaDraft.DRAFT_7
        keys = node.key_spans
        entries: list[ExplanationEntry] = [
            ExplanationEntry(catalogue_text("explanation.schema.duplicate"), span) for span in node.duplicate_keys
        ]
        for keyword, part in node.members.items():
            begin = keys[keyword].start
            if is_reference and keyword not in {"$ref", "$schema", "definitions", "$defs", "title", "description"}:
                why = catalogue_text("explanation.schema.reason.beside_ref", draft=draft_name(here.draft))
                entries.append(_no_effect(keyword, why, Span(begin, part.span.end)))
            else:
                entries += self._keyword(here, keyword, part, begin)
        return iter(sorted(entries, key=lambda entry: entry.span))

    def restrictions(self, node: Json, keyword: str) -> Iterable[ExplanationEntry]:
        """Explain a keyword if it restricts values by itself."""
        here, part = self.here(node), node.members[keyword]
        is_new = here.draft < SINCE.get(keyword, here.draft)
        is_simple = keyword not in _STRUCTURES
        if is_new or (
            is_simple and isinstance(DESCRIBED.get(keyword, describe_unknown)(here, part), NoEffect | Note | Detail)
        ):
            return ()
        return self._keyword(here, keyword, part, node.key_spans[keyword].start)

    def _keyword(self, here: SchemaContext, keyword: str, part: Json, begin: int) -> Iterable[ExplanationEntry]:
        span = Span(begin, part.span.end)
        since = SINCE.get(keyword)
        if since is not None and here.draft < since:
            return (_no_effect(keyword, _since(since), span),)
        structure = _STRUCTURES.get(keyword)
        if structure is not None:
            return structure(self, here, keyword)
        words = DESCRIBED.get(keyword, describe_unknown)(here, part)
        if isinstance(words, NoEffect):
            return (_no_effect(keyword, words, span),)
        if isinstance(words, Note):
            text = catalogue_text("explanation.schema.annotation", keyword=quoted(keyword), text=words)
            return (ExplanationEntry(text, span),)
        target = self.target(here.node, part) if keyword in _REFERENCES else None
        text = _if_type(here, keyword, words)
        inner = self._inner(here, keyword, part)
        return (ExplanationEntry(text, span, inner, None if target is None else target.span),)

    def _inner(self, here: SchemaContext, keyword: str, part: Json) -> Callable[[], Iterable[ExplanationEntry]]:
        """Return the entries below a keyword."""
        if keyword in {"allOf", "anyOf", "oneOf"}:
            return lambda: self._numbered(part.items, lambda number: _name("schema", number=number))
        if keyword == "not":
            return lambda: (self.schema(part, _name("not")),)
        if keyword == "enum" and len(part.items) > 1:
            return lambda: (ExplanationEntry(_name("value", value=here.quote(item)), item.span) for item in part.items)
        if keyword == "pattern" and isinstance(part.value, str):
            return partial(self._pattern, part)
        return nothing

    def _numbered(self, items: Iterable[Json], name: Callable[[int], str]) -> Iterator[ExplanationEntry]:
        return (self.schema(item, name(number)) for number, item in enumerate(items, 1))

    def _pattern(self, part: Json) -> Iterator[ExplanationEntry]:
        """Explain a pattern, with the spans of its parts inside the JSON string; nothing for an invalid one."""
        offsets = _character_offsets(self._source.text, part.span)
        try:
            inner = list(regex_entries(SourceText(str(part.value)), Dialect.ECMA, self._limits))
        except GrammarError:
            return iter(())
        return (_moved(entry, offsets) for entry in inner)

    # --- keywords with schemas ---------------------------------------------------------------------------------------

    def properties(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain each property."""
        part = here.node.members[keyword]
        span = here.span(keyword)
        required = here.other("required")
        needed = {item.value for item in required.items} if required is not None else set()
        for name, node in part.members.items():
            words = _name("property_required" if name in needed else "property", name=quoted(name))
            yield self.schema(node, _if_type(here, "properties", words), part.key_spans[name].start)
        if not part.members:
            yield ExplanationEntry(catalogue_text("explanation.schema.keyword.properties_none"), span)

    def definitions(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain each definition."""
        part = here.node.members[keyword]
        span = here.span(keyword)
        words = catalogue_text("explanation.schema.keyword.definitions", count=len(part.members))
        yield ExplanationEntry(words, span, partial(self._definitions, part))

    def _definitions(self, part: Json) -> Iterator[ExplanationEntry]:
        for name, node in part.members.items():
            yield self.schema(node, _name("definition", name=quoted(name)), part.key_spans[name].start)

    def pattern_properties(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain the properties that a pattern selects."""
        part = here.node.members[keyword]
        for text, node in part.members.items():
            words = _name("pattern", pattern=quoted(text))
            yield self.schema(node, _if_type(here, "patternProperties", words), part.key_spans[text].start)

    def additional_properties(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain all other properties."""
        part = here.node.members[keyword]
        span = here.span(keyword)
        has_others = any(here.other(name) is not None for name in ("properties", "patternProperties"))
        other = "_other" if has_others else ""
        if isinstance(part.value, bool):
            words = catalogue_text(f"explanation.schema.additional.{'any' if part.value else 'none'}{other}")
            yield ExplanationEntry(_if_type(here, "additionalProperties", words), span)
        else:
            yield self.schema(part, _if_type(here, "additionalProperties", _name(f"additional{other}")), span.start)

    def dependencies(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain what a property requires."""
        part = here.node.members[keyword]
        for name, node in part.members.items():
            begin = part.key_spans[name].start
            if isinstance(node.value, list | str):
                names = [quoted(str(item.value)) for item in node.items or (node,) if isinstance(item.value, str)]
                words = _dependent_names(quoted(name), names)
                yield ExplanationEntry(_if_type(here, "dependencies", words), Span(begin, node.span.end))
            else:
                words = _name("dependent", name=quoted(name))
                yield self.schema(node, _if_type(here, "dependencies", words), begin)

    def items(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain the items of an array."""
        part = here.node.members[keyword]
        span = here.span(keyword)
        if isinstance(part.value, list):
            yield from self.prefix_items(here, keyword)
            return
        prefix = here.other("prefixItems")
        is_rest = here.draft >= SchemaDraft.DRAFT_2020 and prefix is not None and bool(prefix.items)
        yield self._rest(here, part, "_further" if is_rest else "", span)

    def _rest(self, here: SchemaContext, part: Json, further: str, span: Span) -> ExplanationEntry:
        if isinstance(part.value, bool):
            words = catalogue_text(f"explanation.schema.items.{'any' if part.value else 'none'}{further}")
            return ExplanationEntry(_if_type(here, "items", words), span)
        return self.schema(part, _if_type(here, "items", _name(f"items{further}")), span.start)

    def additional_items(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain the items after a list of schemas."""
        part = here.node.members[keyword]
        span = here.span(keyword)
        items = here.other("items")
        if items is None or not isinstance(items.value, list):
            yield _no_effect("additionalItems", catalogue_text("explanation.schema.reason.items_no_list"), span)
        else:
            yield self._rest(here, part, "_further", span)

    def prefix_items(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain the first items, each separately."""
        part = here.node.members[keyword]
        return self._numbered(part.items, lambda number: _if_type(here, "items", _name("item", number=number)))

    def contains(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain the items that must occur."""
        part = here.node.members[keyword]
        span = here.span(keyword)
        counted = here.draft >= SchemaDraft.DRAFT_2019
        least = here.other("minContains") if counted else None
        most = here.other("maxContains") if counted else None
        fewest = least.value if least is not None and isinstance(least.value, Fraction) else Fraction(1)
        bounds: dict[str, object] = {"least": fewest} if fewest else {}
        if most is not None:
            bounds["most"] = self._source.excerpt(most.span)
        words = _name(f"contains.{'both' if len(bounds) > 1 else next(iter(bounds), 'any')}", **bounds)
        yield self.schema(part, _if_type(here, "contains", words), span.start)

    def branch(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain what holds if the condition does, or does not."""
        part = here.node.members[keyword]
        span = here.span(keyword)
        if here.draft < SchemaDraft.DRAFT_7:
            yield _no_effect(keyword, _since(SchemaDraft.DRAFT_7), span)
        elif here.other("if") is None:
            yield _no_effect(keyword, alone("if"), span)
        else:
            yield self.schema(part, _name(keyword), span.start)

    def single(self, here: SchemaContext, keyword: str) -> Iterator[ExplanationEntry]:
        """Explain a keyword with one schema for many values."""
        part = here.node.members[keyword]
        span = here.span(keyword)
        yield self.schema(part, _if_type(here, keyword, _name(keyword)), span.start)


def _name(kind: str, **fields: object) -> str:
    return catalogue_text(f"explanation.schema.name.{kind}", **fields)


def _no_effect(keyword: str, reason: str, span: Span) -> ExplanationEntry:
    text = catalogue_text("explanation.schema.no_effect", keyword=quoted(keyword), reason=reason)
    return ExplanationEntry(text, span)


def _since(draft: SchemaDraft) -> str:
    return catalogue_text("explanation.schema.reason.draft", draft=draft_name(draft))


def _if_type(here: SchemaContext, keyword: str, words: str) -> str:
    """Add the type that a keyword is about to its description, if other types are permitted."""
    kind = KIND_OF.get(keyword)
    if kind is None or here.is_only(kind):
        return words
    return catalogue_text("explanation.schema.if_type", type=type_name(kind), words=words)


def _dependent_names(name: str, names: list[str]) -> str:
    if not names:
        return catalogue_text("explanation.schema.dependent.none", name=name)
    return catalogue_text("explanation.schema.dependent.names", name=name, names=joined(names, "and"), count=len(names))


def _character_offsets(text: str, span: Span) -> list[int]:
    """Return the offset of each character of a JSON string, and of its closing quote."""
    characters = _JSON_CHARACTER.finditer(text, span.start + 1, span.end - 1)
    return [*(character.start() for character in characters), span.end - 1]


def _moved(entry: ExplanationEntry, offsets: list[int]) -> ExplanationEntry:
    """Return an entry of a pattern with its spans in the schema."""
    span = Span(offsets[entry.span.start], offsets[entry.span.end])
    inner = nothing if entry.is_leaf else lambda: (_moved(one, offsets) for one in entry.inner())
    return ExplanationEntry(entry.text, span, inner)


_Structure: TypeAlias = Callable[[SchemaWriter, SchemaContext, str], Iterator[ExplanationEntry]]

_STRUCTURES: Final[dict[str, _Structure]] = {
    "properties": SchemaWriter.properties,
    "$defs": SchemaWriter.definitions,
    "definitions": SchemaWriter.definitions,
    "patternProperties": SchemaWriter.pattern_properties,
    "additionalProperties": SchemaWriter.additional_properties,
    "dependencies": SchemaWriter.dependencies,
    "dependentRequired": SchemaWriter.dependencies,
    "dependentSchemas": SchemaWriter.dependencies,
    "items": SchemaWriter.items,
    "additionalItems": SchemaWriter.additional_items,
    "prefixItems": SchemaWriter.prefix_items,
    "contains": SchemaWriter.contains,
    **dict.fromkeys(("then", "else"), SchemaWriter.branch),
    **dict.fromkeys(("if", "propertyNames", "unevaluatedProperties", "unevaluatedItems"), SchemaWriter.single),
}
