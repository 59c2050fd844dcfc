"""The explanation of a JSON Schema: one line for each schema, and below it one for each of its keywords.

A schema's own line summarises what it accepts as far as it fits: its type, its bounds, its reference. A keyword for one
type names the type if `type` permits others, since it does not constrain those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Final, TypeAlias

from engine.diagnosis.explanation_tree.nodes import joined
from engine.diagnosis.explanation_tree.phrases import ExplanationEntry, nothing
from engine.diagnosis.explanation_tree.regex import regex_entries
from engine.diagnosis.explanation_tree.schema_words import (
    DESCRIBED,
    FACTS,
    KIND_OF,
    Detail,
    NoEffect,
    Note,
    SchemaContext,
    alone,
    describe_types,
    describe_unknown,
    plural_number,
    type_name,
)
from engine.grammar.options import CompileOptions
from engine.matching.explanation_text import quoted
from engine.notations.json_schema.dialects import SINCE, SchemaDraft, draft_name
from engine.notations.json_schema.findings import SchemaFindings
from engine.notations.json_schema.json_tree import Json, read_json
from engine.notations.json_schema.parser import parse
from engine.notations.json_schema.resources import Resources
from engine.notations.regex.dialect import Dialect
from engine.source import GrammarError, Limits, SourceText, Span
from engine.source.catalogue import catalogue_text

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
    limits = options.limits
    parse(
        source, limits, draft=options.draft, additional=options.additional, unenforced=options.unenforced
    )  # parsed for its errors: every keyword below has a valid value
    root = read_json(source.text, limits.nesting)
    resources = Resources(root, SchemaDraft(options.draft), SchemaFindings(lenient=True))
    writer = _Writer(source, resources, limits, closed=options.additional == "closed")
    return iter((writer.schema(root, catalogue_text("explanation.schema.root")),))


class _Writer:
    """Explains the schemas of one text."""

    def __init__(self, source: SourceText, resources: Resources, limits: Limits, *, closed: bool) -> None:
        self._source = source
        self._resources = resources
        self._limits = limits
        self._closed = closed

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
        target = None if reference is None else self._target(node, reference)
        return ExplanationEntry(f"{name}: {self.summary(node)}", span, inner, target)

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
        for keyword, words in self._facts(here):
            kind = KIND_OF.get(keyword)
            if kind is None or here.is_only(kind):
                parts.append(words)
            else:
                typed.append(_if_type(here, keyword, words))
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
        additional = here.other("additionalProperties")
        is_closed = additional.value is False if additional is not None else self._closed
        if not is_closed or here.other("patternProperties") is not None:
            return words
        return catalogue_text("explanation.schema.closed", words=words)

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

    def _target(self, node: Json, reference: Json) -> Span | None:
        """Return the span of the schema that a reference resolves to."""
        if not isinstance(reference.value, str):
            return None
        found = self._resources.resolve(node, reference)
        return None if found is None else found.span

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

    def _keyword(self, here: SchemaContext, keyword: str, part: Json, begin: int) -> Iterable[ExplanationEntry]:
        span = Span(begin, part.span.end)
        since = SINCE.get(keyword)
        if since is not None and here.draft < since:
            return (_no_effect(keyword, _since(since), span),)
        structure = _STRUCTURES.get(keyword)
        if structure is not None:
            return structure(self, here, part, span)
        words = DESCRIBED.get(keyword, describe_unknown)(here, part)
        if isinstance(words, NoEffect):
            return (_no_effect(keyword, words, span),)
        if isinstance(words, Note):
            text = catalogue_text("explanation.schema.annotation", keyword=quoted(keyword), text=words)
            return (ExplanationEntry(text, span),)
        target = self._target(here.node, part) if keyword in _REFERENCES else None
        text = _if_type(here, keyword, words)
        return (ExplanationEntry(text, span, self._inner(here, keyword, part), target),)

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

    def properties(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain each property."""
        required = here.other("required")
        needed = {item.value for item in required.items} if required is not None else set()
        for name, node in part.members.items():
            words = _name("property_required" if name in needed else "property", name=quoted(name))
            yield self.schema(node, _if_type(here, "properties", words), part.key_spans[name].start)
        if not part.members:
            yield ExplanationEntry(catalogue_text("explanation.schema.keyword.properties_none"), span)

    def definitions(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain each definition."""
        words = catalogue_text("explanation.schema.keyword.definitions", count=len(part.members))
        yield ExplanationEntry(words, span, partial(self._definitions, part))

    def _definitions(self, part: Json) -> Iterator[ExplanationEntry]:
        for name, node in part.members.items():
            yield self.schema(node, _name("definition", name=quoted(name)), part.key_spans[name].start)

    def pattern_properties(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the properties that a pattern selects."""
        for text, node in part.members.items():
            words = _name("pattern", pattern=quoted(text))
            yield self.schema(node, _if_type(here, "patternProperties", words), part.key_spans[text].start)

    def additional_properties(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain all other properties."""
        has_others = any(here.other(name) is not None for name in ("properties", "patternProperties"))
        other = "_other" if has_others else ""
        if isinstance(part.value, bool):
            words = catalogue_text(f"explanation.schema.additional.{'any' if part.value else 'none'}{other}")
            yield ExplanationEntry(_if_type(here, "additionalProperties", words), span)
        else:
            yield self.schema(part, _if_type(here, "additionalProperties", _name(f"additional{other}")), span.start)

    def dependencies(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain what a property requires."""
        for name, node in part.members.items():
            begin = part.key_spans[name].start
            if isinstance(node.value, list | str):
                names = [quoted(str(item.value)) for item in node.items or (node,) if isinstance(item.value, str)]
                words = _dependent_names(quoted(name), names)
                yield ExplanationEntry(_if_type(here, "dependencies", words), Span(begin, node.span.end))
            else:
                words = _name("dependent", name=quoted(name))
                yield self.schema(node, _if_type(here, "dependencies", words), begin)

    def items(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the items of an array."""
        if isinstance(part.value, list):
            yield from self.prefix_items(here, part, span)
            return
        prefix = here.other("prefixItems")
        is_rest = here.draft >= SchemaDraft.DRAFT_2020 and prefix is not None and bool(prefix.items)
        yield self._rest(here, part, "_further" if is_rest else "", span)

    def _rest(self, here: SchemaContext, part: Json, further: str, span: Span) -> ExplanationEntry:
        if isinstance(part.value, bool):
            words = catalogue_text(f"explanation.schema.items.{'any' if part.value else 'none'}{further}")
            return ExplanationEntry(_if_type(here, "items", words), span)
        return self.schema(part, _if_type(here, "items", _name(f"items{further}")), span.start)

    def additional_items(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the items after a list of schemas."""
        items = here.other("items")
        if items is None or not isinstance(items.value, list):
            yield _no_effect("additionalItems", catalogue_text("explanation.schema.reason.items_no_list"), span)
        else:
            yield self._rest(here, part, "_further", span)

    def prefix_items(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the first items, each separately."""
        return self._numbered(part.items, lambda number: _if_type(here, "items", _name("item", number=number)))

    def contains(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the items that must occur."""
        counted = here.draft >= SchemaDraft.DRAFT_2019
        least = here.other("minContains") if counted else None
        most = here.other("maxContains") if counted else None
        fewest = least.value if least is not None and isinstance(least.value, Fraction) else Fraction(1)
        bounds: dict[str, object] = {"least": fewest} if fewest else {}
        if most is not None:
            bounds["most"] = self._source.excerpt(most.span)
        words = _name(f"contains.{'both' if len(bounds) > 1 else next(iter(bounds), 'any')}", **bounds)
        yield self.schema(part, _if_type(here, "contains", words), span.start)

    def branch(self, keyword: str, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain what holds if the condition does, or does not."""
        if here.draft < SchemaDraft.DRAFT_7:
            yield _no_effect(keyword, _since(SchemaDraft.DRAFT_7), span)
        elif here.other("if") is None:
            yield _no_effect(keyword, alone("if"), span)
        else:
            yield self.schema(part, _name(keyword), span.start)

    def single(self, keyword: str, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain a keyword with one schema for many values."""
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


_Structure: TypeAlias = Callable[[_Writer, SchemaContext, Json, Span], Iterator[ExplanationEntry]]


def _branch(keyword: str) -> _Structure:
    return lambda writer, *given: writer.branch(keyword, *given)


def _single(keyword: str) -> _Structure:
    return lambda writer, *given: writer.single(keyword, *given)


_STRUCTURES: Final[dict[str, _Structure]] = {
    "properties": _Writer.properties,
    "$defs": _Writer.definitions,
    "definitions": _Writer.definitions,
    "patternProperties": _Writer.pattern_properties,
    "additionalProperties": _Writer.additional_properties,
    "dependencies": _Writer.dependencies,
    "dependentRequired": _Writer.dependencies,
    "dependentSchemas": _Writer.dependencies,
    "items": _Writer.items,
    "additionalItems": _Writer.additional_items,
    "prefixItems": _Writer.prefix_items,
    "contains": _Writer.contains,
    **{keyword: _branch(keyword) for keyword in ("then", "else")},
    **{keyword: _single(keyword) for keyword in ("if", "propertyNames", "unevaluatedProperties", "unevaluatedItems")},
}
