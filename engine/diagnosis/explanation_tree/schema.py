"""The explanation of a JSON Schema: one line for each schema, and below it one for each of its keywords.

A schema's own line summarises what it accepts as far as it fits: its type, its bounds, its reference. A keyword for one
type names the type if `type` permits others, since it does not constrain those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Final

from engine.diagnosis.explanation_tree.nodes import joined
from engine.diagnosis.explanation_tree.phrases import ExplanationEntry, nothing
from engine.diagnosis.explanation_tree.regex import regex_entries
from engine.diagnosis.explanation_tree.schema_words import (
    FACTS,
    KIND_OF,
    TYPES,
    WORDS,
    Detail,
    NoEffect,
    Note,
    SchemaContext,
    type_words,
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

_RANGES: Final = {
    "minimum": ("maximum", "from {} to {}", ""),
    "minLength": ("maxLength", "{} to {} characters", "exactly {} characters"),
    "minItems": ("maxItems", "{} to {} items", "exactly {} items"),
    "minProperties": ("maxProperties", "{} to {} properties", "exactly {} properties"),
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
    return iter((writer.schema(root, "the whole text"),))


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
            return "any value" if node.value else "no value at all"
        here = self.here(node)
        if "$ref" in node.members and here.draft <= SchemaDraft.DRAFT_7:
            return WORDS["$ref"](here, node.members["$ref"])
        parts = [self._type(here)] if "type" in node.members else []
        typed: list[str] = []
        for keyword, words in self._facts(here):
            kind = KIND_OF.get(keyword)
            if kind is None or here.is_only(kind):
                parts.append(words)
            else:
                typed.append(f"if it is {TYPES[kind]}, {words}")
        items = here.other("items")
        is_for_all = here.is_only("array") and here.other("prefixItems") is None
        if room > 1 and is_for_all and items is not None and items.members:
            parts.append(f"each item {self.summary(items, room - 1)}")
        return "; ".join([", ".join(parts) or self._any(here), *typed])

    def _any(self, here: SchemaContext) -> str:
        """Return the start of a line without a type: "any value" only if nothing below it restricts the value."""
        says_more = "required" in here.node.members or here.node.members.keys() & _STRUCTURES.keys() - _KEPT
        return "a value as follows" if says_more else "any value"

    def _type(self, here: SchemaContext) -> str:
        words = type_words(here, here.node.members["type"])
        if not here.is_only("object"):
            return words
        properties, required = here.other("properties"), here.other("required")
        count = len(properties.members) if properties is not None else 0
        if count:
            needed = {item.value for item in required.items} if required is not None else set()
            known = sum(name in needed for name in properties.members) if properties is not None else 0
            every = ", required" if count == 1 else ", all required"
            must = every if known == count else f", {known:,} of them required" if known else ""
            words += f" with {count:,} {'property' if count == 1 else 'properties'}{must}"
        additional = here.other("additionalProperties")
        is_closed = additional.value is False if additional is not None else self._closed and count > 0
        return f"{words}, no others" if is_closed and count and here.other("patternProperties") is None else words

    def _facts(self, here: SchemaContext) -> Iterator[tuple[str, str]]:
        """Yield the keywords that fit into a schema's line; lower and upper bounds are combined."""
        combined: set[str] = set()
        for keyword in FACTS:
            part = here.other(keyword)
            if part is None or keyword in combined or here.draft < SINCE.get(keyword, here.draft):
                continue
            other, both, same = _RANGES.get(keyword, ("", "", ""))
            end = here.other(other) if other else None
            if end is not None and not (_EXCLUDES & here.node.members.keys() and keyword == "minimum"):
                combined.add(other)
                low, high = self._source.excerpt(part.span), self._source.excerpt(end.span)
                is_same = bool(same) and part.value == end.value
                yield keyword, same.format(quoted(low)) if is_same else both.format(quoted(low), quoted(high))
                continue
            words = WORDS[keyword](here, part)
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
            ExplanationEntry("does not count: the key comes again", span) for span in node.duplicate_keys
        ]
        for keyword, part in node.members.items():
            begin = keys[keyword].start
            if is_reference and keyword not in {"$ref", "$schema", "definitions", "$defs", "title", "description"}:
                why = f"up to draft 7, nothing beside `$ref` does (this is {draft_name(here.draft)})"
                entries.append(_idle(keyword, why, Span(begin, part.span.end)))
            else:
                entries += self._keyword(here, keyword, part, begin)
        return iter(sorted(entries, key=lambda entry: entry.span))

    def _keyword(self, here: SchemaContext, keyword: str, part: Json, begin: int) -> Iterable[ExplanationEntry]:
        span = Span(begin, part.span.end)
        since = SINCE.get(keyword)
        if since is not None and here.draft < since:
            return (_idle(keyword, f"it begins with {draft_name(since)}", span),)
        structure = _STRUCTURES.get(keyword)
        if structure is not None:
            return structure(self, here, part, span)
        words = WORDS.get(keyword)
        if words is None:
            return (ExplanationEntry(f"{quoted(keyword)} is a note: nothing is enforced by it", span),)
        words_or_note = words(here, part)
        if isinstance(words_or_note, NoEffect):
            return (_idle(keyword, words_or_note, span),)
        if isinstance(words_or_note, Note):
            return (ExplanationEntry(f"{quoted(keyword)} is a note: {words_or_note}", span),)
        target = self._target(here.node, part) if keyword in _REFERENCES else None
        return (
            ExplanationEntry(_if_it_is(here, keyword) + words_or_note, span, self._inner(here, keyword, part), target),
        )

    def _inner(self, here: SchemaContext, keyword: str, part: Json) -> Callable[[], Iterable[ExplanationEntry]]:
        """Return the entries below a keyword."""
        if keyword in {"allOf", "anyOf", "oneOf"}:
            return partial(self._numbered, part.items, "schema")
        if keyword == "not":
            return lambda: (self.schema(part, "not allowed"),)
        if keyword == "enum" and len(part.items) > 1:
            return lambda: (ExplanationEntry(f"the value {here.quote(item)}", item.span) for item in part.items)
        if keyword == "pattern" and isinstance(part.value, str):
            return partial(self._pattern, part)
        return nothing

    def _numbered(self, items: Iterable[Json], noun: str, first: int = 1) -> Iterator[ExplanationEntry]:
        return (self.schema(item, f"{noun} {number:,}") for number, item in enumerate(items, first))

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
        before = _if_it_is(here, "properties")
        for name, node in part.members.items():
            must = ", required" if name in needed else ""
            yield self.schema(node, f"{before}property {quoted(name)}{must}", part.key_spans[name].start)
        if not part.members:
            yield ExplanationEntry("no property is described", span)

    def definitions(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain each definition."""
        count = len(part.members)
        words = f"{count:,} {'definition' if count == 1 else 'definitions'} to refer to"
        yield ExplanationEntry(words, span, partial(self._by_name, part, "definition"))

    def _by_name(self, part: Json, noun: str) -> Iterator[ExplanationEntry]:
        for name, node in part.members.items():
            yield self.schema(node, f"{noun} {quoted(name)}", part.key_spans[name].start)

    def pattern_properties(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the properties that a pattern selects."""
        before = _if_it_is(here, "patternProperties")
        for text, node in part.members.items():
            name = f"{before}every property whose key holds a match of {quoted(text)}"
            yield self.schema(node, name, part.key_spans[text].start)

    def additional_properties(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain all other properties."""
        before = _if_it_is(here, "additionalProperties")
        others = any(here.other(name) is not None for name in ("properties", "patternProperties"))
        if isinstance(part.value, bool):
            many = "other properties" if others else "properties"
            yield ExplanationEntry(f"{before}{'any' if part.value else 'no'} {many}", span)
        else:
            yield self.schema(part, f"{before}every {'other ' if others else ''}property", span.start)

    def dependencies(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain what a property requires."""
        before = _if_it_is(here, "dependencies")
        for name, node in part.members.items():
            begin = part.key_spans[name].start
            where = f"{before}where {quoted(name)} is there"
            if isinstance(node.value, list | str):
                names = [quoted(str(item.value)) for item in node.items or (node,) if isinstance(item.value, str)]
                must = f"{joined(names, 'and')} must be there, too" if names else "nothing else must be there"
                yield ExplanationEntry(f"{where}, {must}", Span(begin, node.span.end))
            else:
                yield self.schema(node, f"{where}, the object is also", begin)

    def items(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the items of an array."""
        before = _if_it_is(here, "items")
        if isinstance(part.value, list):
            yield from self._numbered(part.items, f"{before}item")
            return
        prefix = here.other("prefixItems")
        is_rest = here.draft >= SchemaDraft.DRAFT_2020 and prefix is not None and bool(prefix.items)
        yield self._rest(part, before, "further " if is_rest else "", span)

    def _rest(self, part: Json, before: str, further: str, span: Span) -> ExplanationEntry:
        if isinstance(part.value, bool):
            return ExplanationEntry(f"{before}{'any' if part.value else 'no'} {further}items", span)
        return self.schema(part, f"{before}every {further}item", span.start)

    def additional_items(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the items after a list of schemas."""
        items = here.other("items")
        if items is None or not isinstance(items.value, list):
            yield _idle("additionalItems", "`items` is no list", span)
        else:
            yield self._rest(part, _if_it_is(here, "items"), "further ", span)

    def prefix_items(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the first items, each separately."""
        return self._numbered(part.items, f"{_if_it_is(here, 'items')}item")

    def contains(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the items that must occur."""
        counted = here.draft >= SchemaDraft.DRAFT_2019
        least = here.other("minContains") if counted else None
        most = here.other("maxContains") if counted else None
        fewest = least.value if least is not None and isinstance(least.value, Fraction) else Fraction(1)
        bounds = [f"at least {fewest}"] if fewest else []
        bounds += [f"at most {self._source.excerpt(most.span)}"] if most is not None else []
        count = joined(bounds, "and") if bounds else "any number"
        yield self.schema(part, f"{_if_it_is(here, 'contains')}{count} of the items", span.start)

    def condition(self, here: SchemaContext, part: Json, span: Span) -> Iterator[ExplanationEntry]:
        """Explain the condition of `then` and `else`."""
        yield self.schema(part, "if it is", span.start)

    def branch(
        self, keyword: str, name: str, here: SchemaContext, part: Json, span: Span
    ) -> Iterator[ExplanationEntry]:
        """Explain what holds if the condition does, or does not."""
        if here.draft < SchemaDraft.DRAFT_7 or here.other("if") is None:
            why = "it begins with draft 7" if here.draft < SchemaDraft.DRAFT_7 else "there is no `if` beside it"
            yield _idle(keyword, why, span)
        else:
            yield self.schema(part, name, span.start)

    def single(
        self, keyword: str, name: str, here: SchemaContext, part: Json, span: Span
    ) -> Iterator[ExplanationEntry]:
        """Explain a keyword with one schema for many values."""
        yield self.schema(part, _if_it_is(here, keyword) + name, span.start)


def _idle(keyword: str, why: str, span: Span) -> ExplanationEntry:
    return ExplanationEntry(f"{quoted(keyword)} does not count: {why}", span)


def _if_it_is(here: SchemaContext, keyword: str) -> str:
    """Return the prefix of a keyword for one type, if other types are permitted."""
    kind = KIND_OF.get(keyword)
    return "" if kind is None or here.is_only(kind) else f"if it is {TYPES[kind]}, "


def _character_offsets(text: str, span: Span) -> list[int]:
    """Return the offset of each character of a JSON string, and of its closing quote."""
    characters = _JSON_CHARACTER.finditer(text, span.start + 1, span.end - 1)
    return [*(character.start() for character in characters), span.end - 1]


def _moved(entry: ExplanationEntry, offsets: list[int]) -> ExplanationEntry:
    """Return an entry of a pattern with its spans in the schema."""
    span = Span(offsets[entry.span.start], offsets[entry.span.end])
    inner = nothing if entry.is_leaf else lambda: (_moved(one, offsets) for one in entry.inner())
    return ExplanationEntry(entry.text, span, inner)


_UNTOLD: Final = "that nothing else here describes"
_STRUCTURES: Final[dict[str, Callable[[_Writer, SchemaContext, Json, Span], Iterator[ExplanationEntry]]]] = {
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
    "if": _Writer.condition,
    "then": lambda writer, *given: writer.branch("then", "then it is also", *given),
    "else": lambda writer, *given: writer.branch("else", "otherwise it is also", *given),
    "propertyNames": lambda writer, *given: writer.single("propertyNames", "every key", *given),
    "unevaluatedProperties": lambda writer, *given: writer.single(
        "unevaluatedProperties", f"every property {_UNTOLD}", *given
    ),
    "unevaluatedItems": lambda writer, *given: writer.single("unevaluatedItems", f"every item {_UNTOLD}", *given),
}
