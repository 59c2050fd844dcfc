"""The keywords of JSON Schema, each with the function that returns its formula."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from engine.notations.json_schema.dialects import SchemaDraft, draft_name
from engine.notations.json_schema.evaluated import unevaluated_items, unevaluated_properties
from engine.notations.json_schema.json_tree import Json, Key
from engine.notations.json_schema.lowering import TYPES, Keyword, Schema
from engine.schema_automaton.formula.nodes import Formula
from engine.schema_automaton.formula.values import EVERY_TYPE, HugeNumber, JsonType

# ---------------------------------------------------------------------- references and combinations


def _reference(here: Schema, part: Json) -> Formula:
    here.lowering.refers = True
    if not isinstance(part.value, str):
        return here.invalid(part, "reference")
    return here.referred(here.lowering.resources.resolve(here.node, part))


def _dynamic_reference(here: Schema, part: Json) -> Formula:
    here.lowering.refers = True
    if not isinstance(part.value, str):
        return here.invalid(part, "reference")
    return here.referred(here.lowering.resources.resolve_dynamic(here.node, part, here.scope))


def _recursive_reference(here: Schema, part: Json) -> Formula:
    here.lowering.refers = True
    if here.draft > SchemaDraft.DRAFT_2019:
        here.lowering.findings.add("schema-former-keyword", part, draft=draft_name(here.draft))
        return here.arena.true
    if part.value != "#":
        return here.invalid(part, "root")
    return here.referred(here.lowering.resources.resolve_recursive(here.node, part, here.scope))


def _all_of(here: Schema, part: Json) -> Formula:
    return here.arena.all_of(here.schemas(part))


def _any_of(here: Schema, part: Json) -> Formula:
    schemas = here.schemas(part)
    return here.arena.any_of(schemas) if schemas else here.arena.true


def _one_of(here: Schema, part: Json) -> Formula:
    schemas = here.schemas(part)
    return here.arena.exactly_one(schemas) if schemas else here.arena.true


def _not(here: Schema, part: Json) -> Formula:
    return here.arena.all_of((_declared(here, part), here.arena.negate(here.sub(part))))


def _declared(here: Schema, part: Json) -> Formula:
    """Return the order of the properties that a schema declares, without its conditions.

    The negation of a schema has no declarations. With these beside it, objects that do not satisfy `if` or the schema
    of `not` have the same property order as those that do.
    """
    properties = part.members.get("properties") if isinstance(part.value, dict) else None
    if properties is None or not isinstance(properties.value, dict):
        return here.arena.true
    return here.arena.all_of(
        here.arena.every_property(here.key(name, key), here.arena.true, key, declares=True)
        for name in properties.value
        for key in (Key(properties, name),)
    )


def _if(here: Schema, part: Json) -> Formula:
    arena, condition = here.arena, here.sub(part)
    then, otherwise = here.other("then"), here.other("else")
    yes = arena.true if then is None else here.sub(then)
    no = arena.true if otherwise is None else here.sub(otherwise)
    if yes is arena.true and no is arena.true:
        return arena.true
    return arena.any_of(
        (arena.all_of((condition, yes)), arena.all_of((_declared(here, part), arena.negate(condition), no)))
    )


# ---------------------------------------------------------------------- any value, numbers, strings


def _type(here: Schema, part: Json) -> Formula:
    names = [item.value for item in part.items] if isinstance(part.value, list) else [part.value]
    kinds: set[JsonType] = set()
    for name in names:
        if not isinstance(name, str):
            return here.invalid(part, "type")
        if name not in TYPES:
            here.lowering.findings.add("schema-unknown-type", part, what=name, types=", ".join(TYPES))
            return here.arena.true
        kinds |= TYPES[name]
    arena = here.arena
    parts = [arena.type_in(kinds, part)] if kinds != EVERY_TYPE else []
    if "integer" in names and "number" not in names:
        parts.append(arena.written_whole(part))
    return arena.all_of(parts)


def _enum(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, list):
        return here.invalid(part, "values")
    return _among(here, part.value, part)


def _const(here: Schema, part: Json) -> Formula:
    return _among(here, [part], part)


def _among(here: Schema, listed: list[Json], part: Json) -> Formula:
    if any(map(_has_huge_number, listed)):
        return here.huge_number(part)
    return here.arena.enum([item.to_value() for item in listed], part)


def _has_huge_number(part: Json) -> bool:
    if isinstance(part.value, str):  # first, since most values are strings
        return False
    return isinstance(part.value, HugeNumber) or any(map(_has_huge_number, (*part.items, *part.members.values())))


def _bound(here: Schema, part: Json, *, least: bool) -> Formula:
    make = here.arena.minimum if least else here.arena.maximum
    strict = here.other("exclusiveMinimum" if least else "exclusiveMaximum")
    value = here.number(part)
    # Draft 4: a boolean in the exclusive keyword excludes the bound.
    return here.arena.true if value is None else make(value, strict is not None and strict.value is True, part)


def _strict_bound(here: Schema, part: Json, *, least: bool) -> Formula:
    if isinstance(part.value, bool):
        return here.arena.true
    value = here.number(part)
    return (
        here.arena.true if value is None else (here.arena.minimum if least else here.arena.maximum)(value, True, part)
    )


def _multiple_of(here: Schema, part: Json) -> Formula:
    if isinstance(part.value, HugeNumber):
        return here.huge_number(part)
    if not isinstance(part.value, Fraction) or part.value <= 0:
        return here.invalid(part, "positive")
    return here.arena.multiple_of(part.value, part)


def _pattern(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, str):
        return here.invalid(part, "pattern")
    return here.lowering.texts.pattern(part.value, part)


def _format(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, str):
        return here.invalid(part, "format")
    return here.lowering.texts.format(part.value, part)


# ---------------------------------------------------------------------- arrays


def _prefix(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, list):
        return here.invalid(part, "schemas")
    return here.arena.all_of(here.arena.items(i, i + 1, here.sub(item), item) for i, item in enumerate(part.value))


def _items(here: Schema, part: Json) -> Formula:
    if isinstance(part.value, list):
        return _prefix(here, part)  # valid before 2020-12; since then it is unambiguous
    first = here.prefix_length() if here.draft >= SchemaDraft.DRAFT_2020 else 0
    return here.arena.items(first, None, here.sub(part), part)


def _additional_items(here: Schema, part: Json) -> Formula:
    items = here.other("items")
    if items is None or not isinstance(items.value, list):
        return here.arena.true
    return here.arena.items(len(items.value), None, here.sub(part), part)


def _contains(here: Schema, part: Json) -> Formula:
    arena, value = here.arena, here.sub(part)
    counted = here.draft >= SchemaDraft.DRAFT_2019
    least = here.count(here.other("minContains")) if counted else None
    most = here.count(here.other("maxContains")) if counted else None
    parts = []
    if least != 0:
        parts.append(arena.contains(value, 1 if least is None else least, None, part))
    if most is not None:
        parts.append(arena.contains(value, 0, most, part))
    return arena.all_of(parts)


def _unique_items(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, bool):
        return here.invalid(part, "boolean")
    return here.arena.unique_items(part) if part.value else here.arena.true


# ---------------------------------------------------------------------- objects


def _properties(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, dict):
        return here.invalid(part, "properties")
    return here.arena.all_of(
        here.arena.every_property(here.key(name, key), here.sub(inner), key, declares=True)
        for name, inner in part.value.items()
        for key in (Key(part, name),)
    )


def _required(here: Schema, part: Json) -> Formula:
    if isinstance(part.value, bool):
        return here.not_enforced(part, "draft-3") if part.value else here.arena.true
    names = [item.value for item in part.items]
    if not isinstance(part.value, list) or not all(isinstance(name, str) for name in names):
        return here.invalid(part, "names")
    return here.has({str(item.value): item for item in part.items})


def _pattern_properties(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, dict):
        return here.invalid(part, "properties")
    return here.arena.all_of(
        here.arena.every_property(keys, here.sub(inner), key) for keys, inner, key in here.pattern_keys()
    )


def _additional_properties(here: Schema, part: Json) -> Formula:
    return here.arena.every_property(here.additional_keys(), here.sub(part), part)


def _property_names(here: Schema, part: Json) -> Formula:
    return here.arena.every_property(here.arena.negate(here.sub(part)), here.arena.false, part)


def _dependencies(here: Schema, part: Json) -> Formula:
    """Build the formula of all three keywords: a member requires other members, or a schema."""
    if not isinstance(part.value, dict):
        return here.invalid(part, "object")
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


FUNCTIONS: Final[dict[str, Keyword]] = {
    "$ref": _reference,
    "$dynamicRef": _dynamic_reference,
    "$recursiveRef": _recursive_reference,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": lambda here, part: _bound(here, part, least=True),
    "maximum": lambda here, part: _bound(here, part, least=False),
    "exclusiveMinimum": lambda here, part: _strict_bound(here, part, least=True),
    "exclusiveMaximum": lambda here, part: _strict_bound(here, part, least=False),
    "multipleOf": _multiple_of,
    "minLength": lambda here, part: here.bound(part, here.arena.length, least=True),
    "maxLength": lambda here, part: here.bound(part, here.arena.length, least=False),
    "pattern": _pattern,
    "format": _format,
    "prefixItems": _prefix,
    "items": _items,
    "additionalItems": _additional_items,
    "minItems": lambda here, part: here.bound(part, here.arena.item_count, least=True),
    "maxItems": lambda here, part: here.bound(part, here.arena.item_count, least=False),
    "contains": _contains,
    "uniqueItems": _unique_items,
    "unevaluatedItems": unevaluated_items,
    "properties": _properties,
    "required": _required,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "minProperties": lambda here, part: here.bound(part, here.arena.property_count, least=True),
    "maxProperties": lambda here, part: here.bound(part, here.arena.property_count, least=False),
    "dependencies": _dependencies,
    "dependentRequired": _dependencies,
    "dependentSchemas": _dependencies,
    "unevaluatedProperties": unevaluated_properties,
}
"""The function of each keyword in `dialects.ENFORCED`."""
