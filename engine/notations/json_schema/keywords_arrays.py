"""The keywords for arrays."""

from __future__ import annotations

from typing import Final

from engine.notations.json_schema.dialects import SchemaDraft
from engine.notations.json_schema.evaluated import unevaluated_items
from engine.notations.json_schema.json_tree import Json
from engine.notations.json_schema.lowering import Keyword, Schema
from engine.schema_automaton.formula.nodes import Formula


def prefix_length(here: Schema) -> int:
    """Return how many items have their own schema."""
    for name in ("prefixItems", "items"):
        part = here.other(name)
        if part is not None and isinstance(part.value, list):
            return len(part.value)
    return 0


def _prefix(here: Schema, part: Json) -> Formula:
    if not isinstance(part.value, list):
        return here.invalid(part, "a list of schemas")
    return here.arena.all_of(here.arena.items(i, i + 1, here.sub(item), item) for i, item in enumerate(part.value))


def _items(here: Schema, part: Json) -> Formula:
    if isinstance(part.value, list):
        return _prefix(here, part)  # valid before 2020-12; since then it is unambiguous
    first = prefix_length(here) if here.draft >= SchemaDraft.DRAFT_2020 else 0
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
        return here.invalid(part, "true or false")
    return here.arena.distinct(part) if part.value else here.arena.true


ARRAYS: Final[dict[str, Keyword]] = {
    "prefixItems": _prefix,
    "items": _items,
    "additionalItems": _additional_items,
    "minItems": lambda here, part: here.bound(part, here.arena.item_count, least=True),
    "maxItems": lambda here, part: here.bound(part, here.arena.item_count, least=False),
    "contains": _contains,
    "uniqueItems": _unique_items,
    "unevaluatedItems": unevaluated_items,
}
