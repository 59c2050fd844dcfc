"""The drafts of JSON Schema, and their differences."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final


class SchemaDraft(IntEnum):
    """A draft, ordered by age."""

    DRAFT_4 = 4
    DRAFT_6 = 6
    DRAFT_7 = 7
    DRAFT_2019 = 2019
    DRAFT_2020 = 2020


_BY_ADDRESS: Final = {
    "json-schema.org/draft-04/schema": SchemaDraft.DRAFT_4,
    "json-schema.org/draft-05/schema": SchemaDraft.DRAFT_4,
    "json-schema.org/draft-06/schema": SchemaDraft.DRAFT_6,
    "json-schema.org/draft-07/schema": SchemaDraft.DRAFT_7,
    "json-schema.org/schema": SchemaDraft.DRAFT_2020,
    "json-schema.org/draft/2019-09/schema": SchemaDraft.DRAFT_2019,
    "json-schema.org/draft/2020-12/schema": SchemaDraft.DRAFT_2020,
}


_NAMED: Final = re.compile(r'"\$schema"\s*:\s*"([^"]*)"')


def draft_of(address: str) -> SchemaDraft | None:
    """Return the draft that `$schema` names, or None."""
    plain = address.split("://", 1)[-1].rstrip("#").rstrip("/")
    return _BY_ADDRESS.get(plain)


def draft_named_in(text: str, default: SchemaDraft) -> SchemaDraft:
    """Return the draft that a schema's text names first, valid or not; the default if it names none."""
    found = _NAMED.search(text)
    return (draft_of(found[1]) if found else None) or default


def draft_name(draft: SchemaDraft) -> str:
    """Return the common name of a draft."""
    return (
        f"draft {draft.value}"
        if draft <= SchemaDraft.DRAFT_7
        else {2019: "draft 2019-09", 2020: "draft 2020-12"}[draft]
    )


SINCE: Final = {
    "const": SchemaDraft.DRAFT_6,
    "contains": SchemaDraft.DRAFT_6,
    "propertyNames": SchemaDraft.DRAFT_6,
    "if": SchemaDraft.DRAFT_7,
    "$anchor": SchemaDraft.DRAFT_2019,
    "$recursiveRef": SchemaDraft.DRAFT_2019,
    "maxContains": SchemaDraft.DRAFT_2019,
    "minContains": SchemaDraft.DRAFT_2019,
    "unevaluatedItems": SchemaDraft.DRAFT_2019,
    "unevaluatedProperties": SchemaDraft.DRAFT_2019,
    "prefixItems": SchemaDraft.DRAFT_2020,
    "$dynamicAnchor": SchemaDraft.DRAFT_2020,
    "$dynamicRef": SchemaDraft.DRAFT_2020,
}
"""Keywords that earlier drafts treat as annotations."""

# The keywords that contain subschemas.
ONE: Final = frozenset(
    """additionalItems additionalProperties contains contentSchema else if items not propertyNames then
    unevaluatedItems unevaluatedProperties""".split()
)
LIST: Final = frozenset("allOf anyOf items oneOf prefixItems".split())
NAMED: Final = frozenset("$defs definitions dependencies dependentSchemas patternProperties properties".split())
BELOW: Final = ONE | LIST | NAMED

ENFORCED: Final = frozenset(
    """$dynamicRef $recursiveRef $ref additionalItems additionalProperties allOf anyOf const contains dependencies
    dependentRequired dependentSchemas enum exclusiveMaximum exclusiveMinimum format if items maxItems maxLength
    maxProperties maximum minItems minLength minProperties minimum multipleOf not oneOf pattern patternProperties
    prefixItems properties propertyNames required type unevaluatedItems unevaluatedProperties uniqueItems""".split()
)
"""The keywords that are enforced (see `keywords`, which has a function for each)."""
