"""`unevaluatedProperties` and `unevaluatedItems`, expressed by other keywords.

Which members are evaluated depends on which subschemas hold. So what each subschema evaluates is collected with the
condition under which it counts, and the keyword becomes: for every set of keys that no condition separates, either all
such members satisfy the schema, or some condition that covers them holds. This is exact, since more evaluated members
never make an object invalid; and it needs no annotations at run time.

After JSON Schema 2020-12 Core, sections 7.7 and 11.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from engine.notations.json_schema.dialects import SchemaDraft
from engine.notations.json_schema.json_tree import Json
from engine.notations.json_schema.lowering import Schema
from engine.schema_automaton.formula.nodes import And, EnumValues, Formula, Not, Or, names_in
from engine.schema_automaton.formula.values import JsonType

_MOST_PATTERNS = 6
_MOST_CONTAINS = 5


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """What is evaluated if a condition holds: keys of members, a range of items, or items that satisfy a formula."""

    condition: Formula
    keys: Formula | None = None
    first: int = 0
    end: int | None = 0
    contained: Formula | None = None


def _collect(here: Schema, keyword: str | None, seen: tuple[Json, ...] = ()) -> Iterator[_Evaluated]:
    """Yield what a schema evaluates; `keyword` is the unevaluated keyword itself, which does not count."""
    if not isinstance(here.node.value, dict) or here.node in seen:
        return
    yield from _own(here, keyword)
    for node, condition in _in_place_subschemas(here):
        scope = here.lowering.resources.enter(here.scope, node)
        for found in _collect(Schema(here.lowering, node, scope), None, (*seen, here.node)):
            yield replace(found, condition=here.arena.all_of((condition, found.condition)))


def _in_place_subschemas(here: Schema) -> Iterator[tuple[Json, Formula]]:
    """Yield the subschemas for the same value, each with the condition under which it counts."""
    arena = here.arena
    for name in ("$ref", "$dynamicRef", "$recursiveRef"):
        part = here.other(name)
        target = _target(here, name, part) if part is not None else None
        if target is not None:
            yield target, arena.true
    for name in ("allOf", "anyOf", "oneOf"):
        part = here.other(name)
        for item in part.items if part is not None else ():
            yield item, arena.true if name == "allOf" else here.sub(item)
    condition = here.other("if")
    if condition is not None:
        holds = here.sub(condition)
        cases = (("if", holds), ("then", holds), ("else", arena.negate(holds)))
        yield from ((here.node.members[name], case) for name, case in cases if name in here.node.members)
    for name in ("dependentSchemas", "dependencies"):
        part = here.other(name)
        for key, inner in (part.members if part is not None else {}).items():
            if not isinstance(inner.value, list):
                # `has` holds for values that are not objects, but evaluates nothing there.
                is_object = arena.negate(arena.about(JsonType.OBJECT, arena.false, inner))
                yield inner, arena.all_of((is_object, here.has({key: inner})))


def _target(here: Schema, name: str, part: Json) -> Json | None:
    resources = here.lowering.resources
    if not isinstance(part.value, str):
        return None
    if name == "$ref":
        return resources.resolve(here.node, part)
    if name == "$dynamicRef":
        return resources.resolve_dynamic(here.node, part, here.scope) if here.draft >= SchemaDraft.DRAFT_2020 else None
    return resources.resolve_recursive(here.node, part, here.scope) if here.draft is SchemaDraft.DRAFT_2019 else None


def _own(here: Schema, keyword: str | None) -> Iterator[_Evaluated]:
    arena = here.arena
    properties = here.other("properties")
    if properties is not None and properties.members:
        yield _Evaluated(arena.true, arena.enum(list(properties.members), properties))
    for keys, _, _ in here.pattern_keys():
        yield _Evaluated(arena.true, keys)
    if here.other("additionalProperties") is not None:
        yield _Evaluated(arena.true, here.additional_keys())
    if here.other("unevaluatedProperties") is not None and keyword != "unevaluatedProperties":
        yield _Evaluated(arena.true, arena.true)
    prefix = here.prefix_length()
    if prefix:
        yield _Evaluated(arena.true, None, 0, prefix)
    items = here.other("items")
    if items is not None and not isinstance(items.value, list):
        yield _Evaluated(arena.true, None, prefix, None)
    if here.other("additionalItems") is not None and items is not None and isinstance(items.value, list):
        yield _Evaluated(arena.true, None, prefix, None)
    if here.other("unevaluatedItems") is not None and keyword != "unevaluatedItems":
        yield _Evaluated(arena.true, None, 0, None)
    contains = here.other("contains")
    if contains is not None and here.draft >= SchemaDraft.DRAFT_2020:
        yield _Evaluated(arena.true, contained=here.sub(contains))


# ---------------------------------------------------------------------- members


def unevaluated_properties(here: Schema, part: Json) -> Formula:
    """Build the formula of `unevaluatedProperties`."""
    arena, value = here.arena, here.sub(part)
    if value is arena.true:
        return arena.true
    found = [(item.condition, item.keys) for item in _collect(here, "unevaluatedProperties") if item.keys is not None]
    names = dict.fromkeys(name for _, keys in found for name in names_in(keys))
    by_cover: dict[tuple[Formula, ...], list[str]] = {}
    for name in names:
        cover = tuple(dict.fromkeys(condition for condition, keys in found if _holds(here, keys, name)))
        by_cover.setdefault(cover, []).append(name)
    parts = [
        arena.any_of((arena.every_property(arena.enum(group, part), value, part), *cover))
        for cover, group in by_cover.items()
    ]
    unnamed: dict[Formula, list[Formula]] = {}
    for condition, keys in found:
        unnamed.setdefault(arena.elsewhere(keys), []).append(condition)
    unnamed.pop(arena.false, None)
    always = unnamed.pop(arena.true, [])
    if len(unnamed) > _MOST_PATTERNS:
        return here.not_enforced(part, "keys", most=_MOST_PATTERNS)
    others = arena.negate(arena.enum(list(names), part)) if names else arena.true
    for signs in product((True, False), repeat=len(unnamed)):
        keys = arena.all_of(k if sign else arena.negate(k) for sign, k in zip(signs, unnamed, strict=True))
        cover = (*always, *(c for sign, k in zip(signs, unnamed, strict=True) if sign for c in unnamed[k]))
        members = arena.every_property(arena.all_of((others, keys)), value, part)
        parts.append(arena.any_of((members, *dict.fromkeys(cover))))
    return arena.all_of(parts)


def _holds(here: Schema, keys: Formula, name: str) -> bool:
    """Return whether a key is in a set, which consists of names and patterns."""
    match keys:
        case EnumValues():
            return name in keys.members
        case Not():
            return not _holds(here, keys.item, name)
        case And():
            return all(_holds(here, item, name) for item in keys.items)
        case Or():
            return any(_holds(here, item, name) for item in keys.items)
        case _ if keys is here.arena.true or keys is here.arena.false:
            return keys is here.arena.true
        case _:
            return here.lowering.texts.holds(keys, name)


# ---------------------------------------------------------------------- items


def unevaluated_items(here: Schema, part: Json) -> Formula:
    """Build the formula of `unevaluatedItems`."""
    arena, value = here.arena, here.sub(part)
    if value is arena.true:
        return arena.true
    found = [item for item in _collect(here, "unevaluatedItems") if item.keys is None]
    always = [item.contained for item in found if item.contained is not None and item.condition is arena.true]
    value = arena.any_of((value, *always))
    conditional = [item for item in found if item.contained is not None and item.condition is not arena.true]
    if len(conditional) > _MOST_CONTAINS:
        return here.not_enforced(part, "contains", most=_MOST_CONTAINS)
    ranges = [item for item in found if item.contained is None]
    edges = sorted({0, *(item.first for item in ranges), *(item.end for item in ranges if item.end is not None)})
    cases = []
    for signs in product((True, False), repeat=len(conditional)):
        chosen = [item for sign, item in zip(signs, conditional, strict=True) if sign]
        goal = arena.any_of((value, *(item.contained for item in chosen if item.contained is not None)))
        parts = [item.condition for item in chosen]
        for first, end in zip(edges, [*edges[1:], None], strict=True):
            cover = [
                item.condition for item in ranges if item.first <= first and (item.end is None or first < item.end)
            ]
            parts.append(arena.any_of((arena.items(first, end, goal, part), *dict.fromkeys(cover))))
        cases.append(arena.all_of(parts))
    return arena.any_of(cases)
