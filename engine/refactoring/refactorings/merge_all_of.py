"""Merge `allOf`: move the keywords of its schemas into the schema around it, as far as they mean the same there.

Keywords that read each other (`properties` and `additionalProperties`, `if` and `then`) move together or not at all.
What cannot move stays in `allOf`: a second `pattern`, an annotation that is there already, a schema with an address.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from engine.notations.editing import Edit
from engine.notations.json_schema.dialects import SchemaDraft
from engine.notations.json_schema.outline import Outline, OutlinePart
from engine.notations.json_schema.targets import DEFINITIONS, key_span, quoted
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, Rewrite
from engine.refactoring.schemas import ANCHORS, SchemaRefactoring, SchemaSource
from engine.source.catalogue import catalogue_text

_OBJECT: Final = ("properties", "patternProperties", "additionalProperties")
_ARRAY: Final = ("prefixItems", "items", "additionalItems")
_GROUPS: Final = (
    _OBJECT,
    _ARRAY,
    ("contains", "minContains", "maxContains"),
    ("if", "then", "else"),
    ("minimum", "exclusiveMinimum"),
    ("maximum", "exclusiveMaximum"),
)
_STAYING: Final = ANCHORS | {"unevaluatedProperties", "unevaluatedItems", *DEFINITIONS}
_REFERRING: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_LARGEST: Final = ("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum")
_SMALLEST: Final = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum")
_SCHEMA_EACH: Final = ("properties", "patternProperties")
_SCHEMA: Final = ("items", "propertyNames")


class MergeAllOf(SchemaRefactoring):
    """Merges the `allOf` around the cursor."""

    id = "merge-all-of"

    def rewrite(self, selection: GrammarSelection) -> Rewrite:
        """Return the edits; see `Refactoring`."""
        source = SchemaSource(selection)
        schema = source.schema_with("allOf", selection.selected.start)
        listed = schema.members["allOf"]
        if not listed.is_array or not listed.items:
            raise RefactoringError("errors.refactoring.no_keyword", keyword="allOf")
        if source.draft <= SchemaDraft.DRAFT_7 and "$ref" in schema.members:
            raise RefactoringError("errors.refactoring.beside_reference", keyword="allOf")
        for reference in source.targets.references:
            if any(step.holder is listed for step in reference.path):
                raise RefactoringError("errors.refactoring.referred_to", reference=reference.part.text)
        merge = _Merge(source, schema)
        left = [rest for part in listed.items if (rest := merge.take(part)) is not None]
        if len(left) == len(listed.items) and not merge.changed:
            raise RefactoringError("errors.refactoring.no_merge", keyword=merge.reason)
        for reference in source.targets.references:
            if any(step.holder is schema and step.name in merge.changed for step in reference.path):
                raise RefactoringError("errors.refactoring.referred_to", reference=reference.part.text)
        note = catalogue_text("refactoring.note.all_of_stays", count=len(left)) if left else ""
        return Rewrite(tuple(merge.edits(listed, left)), (note,) if note else ())


class _Merge:
    """A schema while the schemas of its `allOf` are merged into it.

    Attributes:
        changed: the names of keywords that get another text.
        reason: a keyword that could not move; empty if all could.
    """

    def __init__(self, source: SchemaSource, schema: OutlinePart) -> None:
        self._source, self._schema = source, schema
        self._inner = source.separator(schema).removeprefix("\n") if "\n" in source.separator(schema) else ""
        self._texts = {name: source.moved(part, self._inner) for name, part in schema.members.items()}
        del self._texts["allOf"]
        self._moved: dict[str, None] = {}  # the properties of the schemas in `allOf`, in order
        self.changed: set[str] = set()
        self.reason = ""

    def take(self, part: OutlinePart) -> str | None:
        """Take over what can move; return what is left of the schema as text, None for nothing."""
        source = self._source
        if source.of(part.span) == "true":
            self.changed.add("allOf")
            return None
        is_old_reference = source.draft <= SchemaDraft.DRAFT_7 and "$ref" in part.members
        staying = sorted(_STAYING & part.members.keys())
        if not part.is_object or staying or is_old_reference:
            self.reason = self.reason or (staying[0] if staying else "$ref" if is_old_reference else "false")
            return source.moved(part, self._inner)
        left: dict[str, str] = {}
        for names in self._units(part):
            if not self._take_unit({name: part.members[name] for name in names}):
                self.reason = self.reason or names[0]
                left |= {name: source.member_text(part.members[name]) for name in names}
        if not left:
            self.changed.add("allOf")
            return None
        if len(left) == len(part.members):
            return source.moved(part, self._inner)
        return f"{{{', '.join(left.values())}}}"

    def _units(self, part: OutlinePart) -> Iterator[tuple[str, ...]]:
        """Yield the keywords of a schema that move together."""
        names = sorted(part.members, key=lambda name: part.members[name].span)
        seen: set[str] = set()
        for name in names:
            group = next((group for group in _GROUPS if name in group), (name,))
            if name not in seen:
                seen |= {*group}
                yield tuple(one for one in names if one in group)

    def _take_unit(self, unit: Mapping[str, OutlinePart]) -> bool:
        """Take over keywords that belong together; return False, without a change, if they must stay."""
        names = next((group for group in _GROUPS if not unit.keys().isdisjoint(group)), tuple(unit))
        own = [name for name in names if name in self._texts]
        texts = {name: self._source.moved(part, self._inner) for name, part in unit.items()}
        if own and len(names) > 1 and not self._may_join(names, unit):
            is_same = all(name in self._texts and _same(self._texts[name], text) for name, text in texts.items())
            return is_same and set(own) == set(unit)
        joined: dict[str, str] = {}
        for name, text in texts.items():
            result = text if name not in self._texts else self._joined(name, self._texts[name], text)
            if result is None:
                return False
            joined[name] = result
        for name, text in joined.items():
            if self._texts.get(name) != text:
                self.changed.add(name)
            self._texts[name] = text
        return True

    def _may_join(self, names: tuple[str, ...], unit: Mapping[str, OutlinePart]) -> bool:
        """Return whether the keywords of a group can be joined one by one with those that are there."""
        if names == _OBJECT:
            if "additionalProperties" in unit:
                return False
            if self._texts.get("additionalProperties", "true") == "true":
                return True
            known = _member_texts(self._texts.get("properties", "{}"))
            return "patternProperties" not in unit and unit["properties"].members.keys() <= known.keys()
        if names == _ARRAY:
            return {*unit} == {"items"} and not unit["items"].is_array and not self._has_array_prefix()
        if names[0] in _LARGEST or names[0] in _SMALLEST:
            values = [*(self._source.of(part.span) for part in unit.values()), *map(self._texts.get, names)]
            return not {"true", "false"} & {*values}
        return False

    def _has_array_prefix(self) -> bool:
        return "prefixItems" in self._texts or self._texts.get("items", "").startswith("[")

    def _joined(self, name: str, one: str, other: str) -> str | None:
        """Return the value of a keyword that means two values at once; None if there is none."""
        if _same(one, other):
            return one
        if name in _REFERRING:
            return None
        if name in _LARGEST or name in _SMALLEST:
            first, second = (json.loads(text, parse_float=Decimal) for text in (one, other))
            if isinstance(first, bool) or not isinstance(first, int | Decimal) or not isinstance(second, int | Decimal):
                return None
            return one if (first >= second) == (name in _LARGEST) else other
        if name in _SCHEMA:
            return _both(one, other)
        if name in _SCHEMA_EACH:
            return self._joined_members(one, other)
        joiner = _JOINERS.get(name)
        return None if joiner is None else joiner(json.loads(one), json.loads(other))

    def _joined_members(self, one: str, other: str) -> str:
        """Return objects of schemas as one; what both have is in an `allOf`."""
        known, more = _member_texts(one), _member_texts(other)
        self._moved |= dict.fromkeys(more)
        texts = dict(known)
        for name, value in more.items():
            texts[name] = value if name not in known or _same(known[name], value) else _both(known[name], value)
        order = texts if self._is_first("properties") else dict.fromkeys((*self._moved, *known))
        texts = {name: texts[name] for name in order if name in texts}
        lines = [f"{quoted(name)}: {value}" for name, value in texts.items()]
        if not self._inner or "\n" not in one + other:
            return f"{{{', '.join(lines)}}}"
        inner = f"\n{self._inner * 2}"
        return f"{{{inner}{f',{inner}'.join(lines)}\n{self._inner}}}"

    def _is_first(self, name: str) -> bool:
        """Return whether the schema has a keyword before its `allOf`, or had it before."""
        members = self._schema.members
        return name not in members or members[name].span < members["allOf"].span

    def edits(self, listed: OutlinePart, left: list[str]) -> Iterator[Edit]:
        """Yield the edits: keywords with another value, and in place of `allOf` new ones and what is left."""
        schema = self._schema
        for name in self.changed & schema.members.keys() - {"allOf"}:
            yield Edit(schema.members[name].span, self._texts[name])
        added = [f"{quoted(name)}: {text}" for name, text in self._texts.items() if name not in schema.members]
        if left:
            added.append(f'"allOf": [{", ".join(left)}]')
        if added:
            separator = f",{self._source.separator(schema)}"
            yield Edit(key_span(listed).cover(listed.span), separator.join(added))
        else:
            yield from self._source.without(schema, ("allOf",))


def _member_texts(text: str) -> dict[str, str]:
    """Return the values of an object as text."""
    root = Outline(text).root
    assert root is not None
    return {name: text[part.span.start : part.span.end] for name, part in root.members.items()}


def _same(one: str, other: str) -> bool:
    """Return whether two texts are one JSON value."""
    return _value(one) == _value(other)


def _value(text: str) -> str:
    """Return a JSON value in a form that is the same for equal ones; numbers keep their spelling."""

    def members(pairs: list[tuple[str, object]]) -> tuple[str, list[tuple[str, object]]]:
        return "object", sorted(pairs, key=lambda pair: pair[0])

    return repr(json.loads(text, parse_float=Decimal, object_pairs_hook=members))


def _both(one: str, other: str) -> str:
    return f'{{"allOf": [{one}, {other}]}}'


def _joined_types(one: Any, other: Any) -> str | None:
    """Return the types that two values of `type` have in common; None if there are none."""
    first, second = (value if isinstance(value, list) else [value] for value in (one, other))
    common = [name for name in first if name in second or (name == "integer" and "number" in second)]
    common += [name for name in second if name == "integer" and "number" in first and name not in common]
    if not common:
        return None
    return json.dumps(common[0] if len(common) == 1 else common)


def _joined_names(one: Any, other: Any) -> str | None:
    if not isinstance(one, list) or not isinstance(other, list):
        return None
    return json.dumps(list(dict.fromkeys((*one, *other))), ensure_ascii=False)


def _joined_flags(one: Any, other: Any) -> str | None:
    is_flag = isinstance(one, bool) and isinstance(other, bool)
    return json.dumps(one or other) if is_flag else None


_JOINERS: Final[Mapping[str, Callable[[Any, Any], str | None]]] = {
    "type": _joined_types,
    "required": _joined_names,
    "uniqueItems": _joined_flags,
}


REFACTORING = MergeAllOf()
