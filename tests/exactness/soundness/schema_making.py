"""Random schemas: makers of keywords that go together, and what they have in common."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.exactness.soundness.json_values import HUGE_NUMBERS, NUMBERS, PATTERNS, make_value
from tests.exactness.soundness.schema_evaluator import DRAFTS

FORMATS = ("date", "ipv4", "ipv6", "uuid")
"""The formats that jsonschema judges as the standard does, without further packages."""

TYPES = ("null", "boolean", "number", "integer", "string", "array", "object")


@dataclass(slots=True)
class Maker:
    """Makes schemas of one draft.

    Attributes:
        rng: the random numbers.
        draft: the draft that the keywords are chosen from.
        keywords: makers of keywords, by the name of the first; each gets the maker and the depth of subschemas.
        names: the names of members.
        references: subschemas that refer to something in the finished schema.
        references_in_place: those that may also be applied to the same value as the schema that is being made. A
            reference that leads back to that schema is no such reference: its evaluation would never end.
        reference_chance: how often a subschema is one of them.
        value_depth: how deep the values of `enum` and `const` are nested.
    """

    rng: random.Random
    draft: int
    keywords: Mapping[str, Keyword]
    names: Sequence[str]
    references: list[dict[str, str]] = field(default_factory=list)
    references_in_place: list[dict[str, str]] = field(default_factory=list)
    reference_chance: float = 0.15
    value_depth: int = 2
    _is_in_place: bool = True

    def schema(self, depth: int) -> Any:
        """Make a schema of two to four keywords, or a small one where no depth is left."""
        rng = self.rng
        references = self.references_in_place if self._is_in_place else self.references
        if references and rng.random() < self.reference_chance:
            reference = dict(rng.choice(references))
            return reference if depth <= 0 or rng.random() < 0.6 else {**self._combination(depth), **reference}
        if depth <= 0 or rng.random() < 0.15:
            return self._small()
        return self._combination(depth)

    def _combination(self, depth: int) -> dict[str, Any]:
        chosen = self.rng.sample(tuple(self.keywords), min(self.rng.randint(2, 4), len(self.keywords)))
        found, was_in_place = {}, self._is_in_place
        for keyword in chosen:
            self._is_in_place = was_in_place and keyword in _IN_PLACE
            found |= self.keywords[keyword](self, depth - 1)
        self._is_in_place = was_in_place
        return found

    def _small(self) -> Any:
        match self.rng.randrange(7):
            case 0 if self.draft >= 6:
                return True
            case 1 if self.draft >= 6:
                return False
            case 2:
                return {}
            case 3:
                return {"enum": [self.value()]}
            case 4:
                return {"not": {}}
        return {"type": self.rng.choice(TYPES)}

    def schemas(self, depth: int, most: int = 3) -> list[Any]:
        """Make one to `most` schemas."""
        return [self.schema(depth) for _ in range(self.rng.randint(1, most))]

    def value(self) -> Any:
        """Make a value for `enum` and `const`."""
        return make_value(self.rng, self.value_depth, self.names)

    def count(self, most: int = 3) -> Decimal:
        """Make a number of things."""
        return Decimal(self.rng.randint(0, most))

    def name(self) -> str:
        """Choose a name of a member."""
        return self.rng.choice(self.names)

    def some_names(self, least: int = 0, most: int = 3) -> list[str]:
        """Choose some different names."""
        return self.rng.sample(self.names, self.rng.randint(least, min(most, len(self.names))))

    def by_name(self, depth: int, least: int = 0) -> dict[str, Any]:
        """Make schemas for some names."""
        return {name: self.schema(depth) for name in self.some_names(least, 2)}

    def pattern(self) -> str:
        """Choose a regular expression."""
        return self.rng.choice(tuple(PATTERNS))

    def number(self) -> Decimal:
        """Choose a bound."""
        return self.rng.choice(HUGE_NUMBERS if self.rng.random() < 0.1 else NUMBERS)


Keyword = Callable[[Maker, int], dict[str, Any]]


def _type(make: Maker, depth: int) -> dict[str, Any]:
    if make.rng.random() < 0.5:
        return {"type": make.rng.choice(TYPES)}
    return {"type": make.rng.sample(TYPES, make.rng.randint(1, 3))}


def _bounds(make: Maker, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        match make.rng.randrange(4):
            case 0:
                found[name] = make.number()
            case 1 if make.draft == 4:
                found |= {name: make.number(), strict: make.rng.random() < 0.7}
            case 1:
                found[strict] = make.number()
    return found


def _multiple(make: Maker, depth: int) -> dict[str, Any]:
    return {"multipleOf": Decimal(make.rng.choice(("1", "2", "3", "0.5", "0.1", "0.3", "2.5", "1e2", "7", "1e-7")))}


def _lengths(make: Maker, depth: int) -> dict[str, Any]:
    return _some(make, {"minLength": make.count(), "maxLength": make.count()})


def _if(make: Maker, depth: int) -> dict[str, Any]:
    then = _some(make, {"then": make.schema(depth), "else": make.schema(depth)})
    return {"if": make.schema(depth), **then}


def _items(make: Maker, depth: int) -> dict[str, Any]:
    rng = make.rng
    if make.draft >= 2020:
        return _some(make, {"prefixItems": make.schemas(depth), "items": make.schema(depth)})
    if rng.random() < 0.4:
        return {"items": make.schema(depth)}
    rest = {"additionalItems": make.schema(depth)} if rng.random() < 0.6 else {}
    later = {"prefixItems": make.schemas(depth)} if rng.random() < 0.1 else {}  # means nothing before 2020-12
    return {"items": make.schemas(depth), **rest, **later}


def _contains(make: Maker, depth: int) -> dict[str, Any]:
    counts = _some(make, {"minContains": make.count(), "maxContains": make.count()}, least=0)
    return {"contains": make.schema(depth), **counts}


def _item_counts(make: Maker, depth: int) -> dict[str, Any]:
    return _some(make, {"minItems": make.count(2), "maxItems": make.count()})


def _required(make: Maker, depth: int) -> dict[str, Any]:
    return {"required": make.some_names(1 if make.draft == 4 else 0, 2)}


def _properties(make: Maker, depth: int) -> dict[str, Any]:
    parts = {
        "properties": make.by_name(depth),
        "patternProperties": {make.pattern(): make.schema(depth) for _ in range(make.rng.randint(0, 2))},
        "additionalProperties": make.schema(depth),
    }
    return _some(make, parts)


def _member_counts(make: Maker, depth: int) -> dict[str, Any]:
    return _some(make, {"minProperties": make.count(2), "maxProperties": make.count()})


def _dependencies(make: Maker, depth: int) -> dict[str, Any]:
    def needed() -> Any:
        if make.rng.random() < 0.5:
            return make.some_names(1 if make.draft == 4 else 0, 2)
        return make.schema(depth)

    return {"dependencies": {make.name(): needed() for _ in range(make.rng.randint(0, 2))}}


def _dependent_required(make: Maker, depth: int) -> dict[str, Any]:
    return {"dependentRequired": {make.name(): make.some_names() for _ in range(make.rng.randint(0, 2))}}


def _some(make: Maker, parts: dict[str, Any], least: int = 1) -> dict[str, Any]:
    names = make.rng.sample(tuple(parts), make.rng.randint(least, len(parts)))
    return {name: parts[name] for name in names}


ANY: dict[str, Keyword] = {
    "type": _type,
    "enum": lambda make, depth: {"enum": [make.value() for _ in range(make.rng.randint(1, 3))]},
    "const": lambda make, depth: {"const": make.value()},
    "not": lambda make, depth: {"not": make.schema(depth)},
    "allOf": lambda make, depth: {"allOf": make.schemas(depth)},
    "anyOf": lambda make, depth: {"anyOf": make.schemas(depth)},
    "oneOf": lambda make, depth: {"oneOf": make.schemas(depth)},
    "if": _if,
}
NUMBER: dict[str, Keyword] = {"bounds": _bounds, "multipleOf": _multiple}
STRING: dict[str, Keyword] = {
    "lengths": _lengths,
    "pattern": lambda make, depth: {"pattern": make.pattern()},
    "format": lambda make, depth: {"format": make.rng.choice(FORMATS)},
}
ARRAY: dict[str, Keyword] = {
    "items": _items,
    "contains": _contains,
    "item counts": _item_counts,
    "uniqueItems": lambda make, depth: {"uniqueItems": make.rng.random() < 0.8},
    "unevaluatedItems": lambda make, depth: {"unevaluatedItems": make.schema(min(depth, 1))},
}
OBJECT: dict[str, Keyword] = {
    "properties": _properties,
    "required": _required,
    "member counts": _member_counts,
    "propertyNames": lambda make, depth: {"propertyNames": make.schema(min(depth, 1))},
    "dependencies": _dependencies,
    "dependentRequired": _dependent_required,
    "dependentSchemas": lambda make, depth: {"dependentSchemas": make.by_name(depth)},
    "unevaluatedProperties": lambda make, depth: {"unevaluatedProperties": make.schema(min(depth, 1))},
}
EVERY = {**ANY, **NUMBER, **STRING, **ARRAY, **OBJECT}
"""Makers of keywords by group. Each gets the maker and the depth of its subschemas."""

_IN_PLACE = frozenset(("not", "allOf", "anyOf", "oneOf", "if", "dependencies", "dependentSchemas"))
"""The keywords whose subschemas apply to the same value."""

_LATER = ("dependentRequired", "dependentSchemas")


def of_draft(keywords: Mapping[str, Keyword], draft: int) -> dict[str, Keyword]:
    """Choose the keywords that a draft can be compared on.

    Turnstile enforces `dependencies` in every draft, and `dependentRequired` and `dependentSchemas` too: before and
    after the drafts that define them, the specification calls them annotations. That is stricter than the specification
    on purpose, so neither is made where it is an annotation.
    """
    unwanted = _LATER if draft < 2019 else ("dependencies",)
    return {name: keyword for name, keyword in keywords.items() if name not in unwanted}


def choose_draft(rng: random.Random) -> int:
    """Choose a draft; the newest is the most frequent."""
    return rng.choice((4, 6, 7, 2019, 2019, 2020, 2020, 2020, 2020, 2020))


def with_draft(schema: Any, draft: int) -> Any:
    """Name the draft in a schema; the default draft needs no name."""
    return {"$schema": DRAFTS[draft], **schema} if draft != 2020 and isinstance(schema, dict) else schema
