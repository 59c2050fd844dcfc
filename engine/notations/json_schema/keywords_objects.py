"""The keywords for objects."""

from __future__ import annotations

from typing import Final

from engine.notations.json_schema.evaluated import unevaluated_properties
from engine.notations.json_schema.json_tree import Json, Key
from engine.notations.json_schema.lowering import Keyword, Schema
from engine.schema_automaton.formula.nodes import Formula


def _properties(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, dict):
        return here.invalid(part, "an object of schemas")
    return here.arena.all_of(
        here.arena.members(here.key(name, key), here.sub(inner), key, declares=True)
        for name, inner in part.value.items()
        for key in (Key(part, name),)
    )


def _required(here: Schema, part: Json) -> Formula:
    if isinstance(part.value, bool):
        return here.not_enforced(part, "a boolean here is draft 3") if part.value else here.arena.true
    names = [item.value for item in part.items]
    if not isinstance(part.value, list) or not all(isinstance(name, str) for name in names):
        return here.invalid(part, "a list of names")
    return here.has({str(item.value): item for item in part.items})


def pattern_keys(here: Schema) -> list[tuple[Formula, Json, Key]]:
    """Return the sets of keys of `patternProperties`, with their schemas."""
    part = here.other("patternProperties")
    if part is None:
        return []
    return [
        (here.lowering.texts.pattern(text, inner, key), inner, key)
        for text, inner in part.members.items()
        for key in (Key(part, text),)
    ]


def _pattern_properties(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, dict):
        return here.invalid(part, "an object of schemas")
    return here.arena.all_of(here.arena.members(keys, here.sub(inner), key) for keys, inner, key in pattern_keys(here))


def additional_keys(here: Schema) -> Formula:
    """Return the set of keys that `additionalProperties` applies to."""
    arena = here.arena
    properties = here.other("properties")
    named = [arena.among(list(properties.members), properties)] if properties and properties.members else []
    return arena.all_of(arena.negate(keys) for keys in (*named, *(keys for keys, _, _ in pattern_keys(here))))


def _additional_properties(here: Schema, part: Json) -> Formula:
    return here.arena.members(additional_keys(here), here.sub(part), part)


def _property_names(here: Schema, part: Json) -> Formula:
    return here.arena.members(here.arena.negate(here.sub(part)), here.arena.false, part)


def _dependencies(here: Schema, part: Json) -> Formula:
    """Build the formula of all three keywords: a member requires other members, or a schema."""
    if not isinstance(part.value, dict):
        return here.invalid(part, "an object")
    arena = here.arena
    parts: list[Formula] = []
    for name, inner in part.value.items():
        key = Key(part, name)
        if isinstance(inner.value, list):
            required = here.has({str(item.value): item for item in inner.value})
        elif isinstance(inner.value, str):
            required = here.has({inner.value: inner})
        else:
            required = here.sub(inner)
        parts.append(arena.any_of((here.lacks(name, key), required)))
    return arena.all_of(parts)


OBJECTS: Final[dict[str, Keyword]] = {
    "properties": _properties,
    "required": _required,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "minProperties": lambda here, part: here.bound(part, here.arena.member_count, least=True),
    "maxProperties": lambda here, part: here.bound(part, here.arena.member_count, least=False),
    "dependencies": _dependencies,
    "dependentRequired": _dependencies,
    "dependentSchemas": _dependencies,
    "unevaluatedProperties": unevaluated_properties,
}
