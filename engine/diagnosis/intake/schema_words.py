"""The words by which an object is known as a JSON Schema.

This is a short list of what constrains a value, and no list of all keywords: a request has a `description` and a
`format`, too, and an output may have any of the names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_KEYWORDS: Final = frozenset(
    """$schema $ref $defs $dynamicRef definitions properties patternProperties additionalProperties required items
    prefixItems anyOf oneOf allOf not if enum const propertyNames minProperties maxProperties minItems maxItems
    uniqueItems contains minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
    unevaluatedProperties unevaluatedItems dependentRequired dependentSchemas dependencies""".split()
)
_TYPES: Final = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))


def has_schema_keyword(value: Any) -> bool:
    """Return whether an object has a keyword of JSON Schema that constrains a value."""
    if not isinstance(value, Mapping):
        return False
    named = value.get("type")
    types = named if isinstance(named, list) else [named]
    return bool(value.keys() & _KEYWORDS) or any(isinstance(one, str) and one in _TYPES for one in types)
