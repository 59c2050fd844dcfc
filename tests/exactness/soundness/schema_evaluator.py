"""A direct evaluator of JSON Schema, written from the specification to be obviously right, not fast.

It evaluates one keyword after the other and collects which members and items are evaluated, as the annotations of the
specification do (Core 2020-12, sections 7.7, 8 and 10; Validation 2020-12, section 6; the older drafts where they
differ). Numbers are exact fractions. Patterns are looked up in a table of predicates, so that no engine of regular
expressions takes part. `format` is asserted by the judges of `format_oracles`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from tests.exactness.soundness.format_oracles import ORACLES

DRAFTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}
SINCE = {
    **dict.fromkeys(("const", "contains", "propertyNames"), 6),
    "if": 7,
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties"), 2019),
    **dict.fromkeys(("minContains", "maxContains", "$anchor", "$recursiveRef"), 2019),
    **dict.fromkeys(("prefixItems", "$dynamicRef", "$dynamicAnchor"), 2020),
}
UNTIL = {"dependencies": 7, "additionalItems": 2019, "$recursiveRef": 2019}
_BASE = "http://root.invalid/root"
_LARGEST_EXPONENT_DIGITS = 3


class UnreadableError(ValueError):
    """A text that is not judged: a key comes twice, a surrogate has no partner, or a number has a huge exponent."""


def read_exactly(text: str) -> Any:
    """Read a JSON text with numbers as fractions.

    Raises:
        ValueError: the text is not JSON.
        UnreadableError: the text is JSON whose meaning is not defined, or whose numbers are out of reach.
    """
    value = json.loads(
        text, parse_int=_exact, parse_float=_exact, parse_constant=_no_constant, object_pairs_hook=_object
    )
    try:
        json.dumps(value, ensure_ascii=False, default=lambda _: None).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UnreadableError("a surrogate has no partner") from error
    return value


def _exact(text: str) -> Fraction:
    _, _, exponent = text.lower().partition("e")
    if len(exponent.lstrip("+-0")) > _LARGEST_EXPONENT_DIGITS:
        raise UnreadableError("a number has a huge exponent")
    return Fraction(Decimal(text))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise UnreadableError("a key comes twice")
    return members


def equal(one: Any, other: Any) -> bool:
    """Compare two JSON values; `true` is not 1, and the order of members does not matter."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    return bool(one == other)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, Fraction),
    "integer": lambda value: isinstance(value, Fraction) and value.denominator == 1,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


@dataclass(slots=True)
class Result:
    """The result of a schema on an instance.

    Attributes:
        valid: whether the instance is valid.
        names: the members that are evaluated.
        items: the indices of the items that are evaluated.
    """

    valid: bool = True
    names: set[str] = field(default_factory=set)
    items: set[int] = field(default_factory=set)

    def require(self, holds: bool) -> None:
        """Make the instance invalid if a condition does not hold."""
        self.valid = self.valid and holds

    def add(self, other: Result) -> None:
        """Take over what a subschema for the same instance evaluates, if the instance is valid by it."""
        if other.valid:
            self.names |= other.names
            self.items |= other.items


@dataclass(eq=False, slots=True)
class _Resource:
    """A schema with an address of its own."""

    address: str
    root: Any
    anchors: dict[str, Any] = field(default_factory=dict)
    dynamic: dict[str, Any] = field(default_factory=dict)


_ONE = """additionalItems additionalProperties contains else if items not propertyNames then unevaluatedItems
    unevaluatedProperties""".split()
_LIST = "allOf anyOf items oneOf prefixItems".split()
_NAMED = "$defs definitions dependencies dependentSchemas patternProperties properties".split()


class Evaluator:
    """One schema, ready to judge instances."""

    def __init__(self, schema: Any, draft: int, patterns: Mapping[str, Callable[[str], bool]]) -> None:
        self._draft = draft
        self._patterns = patterns
        self._root = schema
        self._resources: dict[str, _Resource] = {}
        self._homes: dict[int, _Resource] = {}
        self._index(schema, _Resource(_BASE, schema))

    def is_valid(self, instance: Any) -> bool:
        """Judge an instance that `read_exactly` has read."""
        return self._evaluate(self._root, instance, ()).valid

    # ------------------------------------------------------------------ references

    def _index(self, schema: Any, resource: _Resource) -> None:
        if not isinstance(schema, dict):
            return
        if "$ref" in schema and self._draft <= 7 and schema is not resource.root:
            self._homes[id(schema)] = resource
            return
        address, _, fragment = schema.get("id" if self._draft == 4 else "$id", "").partition("#")
        if address:
            resource = _Resource(urljoin(resource.address, address), schema)
        if fragment and self._draft <= 7:
            resource.anchors[fragment] = schema
        self._resources.setdefault(resource.address, resource)
        self._homes[id(schema)] = resource
        if self._draft >= 2019 and "$anchor" in schema:
            resource.anchors[schema["$anchor"]] = schema
        if self._draft >= 2020 and "$dynamicAnchor" in schema:
            resource.anchors[schema["$dynamicAnchor"]] = resource.dynamic[schema["$dynamicAnchor"]] = schema
        for below in _subschemas(schema):
            self._index(below, resource)

    def _resolve(self, schema: Any, reference: str) -> tuple[Any, _Resource, str]:
        address, fragment = urldefrag(urljoin(self._homes[id(schema)].address, reference))
        resource = self._resources[address]
        if not fragment or fragment.startswith("/"):
            return _at_pointer(resource.root, unquote(fragment)), resource, ""
        return resource.anchors[fragment], resource, fragment

    def _resolve_dynamic(self, schema: Any, reference: str, scope: tuple[_Resource, ...]) -> Any:
        target, resource, anchor = self._resolve(schema, reference)
        if resource.dynamic.get(anchor) is not target:
            return target
        return next(outer.dynamic[anchor] for outer in scope if anchor in outer.dynamic)

    def _resolve_recursive(self, schema: Any, scope: tuple[_Resource, ...]) -> Any:
        root = self._homes[id(schema)].root
        if root.get("$recursiveAnchor") is not True:
            return root
        return next(outer.root for outer in scope if outer.root.get("$recursiveAnchor") is True)

    # ------------------------------------------------------------------ evaluation

    def _evaluate(self, schema: Any, instance: Any, scope: tuple[_Resource, ...]) -> Result:
        if isinstance(schema, bool):
            return Result(schema)
        home = self._homes[id(schema)]
        if not scope or scope[-1] is not home:
            scope = (*scope, home)
        if "$ref" in schema and self._draft <= 7:
            return self._evaluate(self._resolve(schema, schema["$ref"])[0], instance, scope)
        read = {
            name: value
            for name, value in schema.items()
            if SINCE.get(name, 0) <= self._draft <= UNTIL.get(name, self._draft)
        }
        result = Result()
        self._in_place(schema, read, instance, scope, result)
        _any_instance(read, instance, result)
        if isinstance(instance, Fraction):
            _number(read, instance, result)
        if isinstance(instance, str):
            self._string(read, instance, result)
        if isinstance(instance, list):
            self._array(read, instance, scope, result)
        if isinstance(instance, dict):
            self._object(read, instance, scope, result)
        return result

    def _in_place(
        self, schema: Any, read: dict[str, Any], instance: Any, scope: tuple[_Resource, ...], result: Result
    ) -> None:
        """Apply the subschemas that are about the same instance."""

        def apply(below: Any) -> Result:
            return self._evaluate(below, instance, scope)

        def require(below: Any) -> None:
            found = apply(below)
            result.require(found.valid)
            result.add(found)

        for below in (*self._referred(schema, read, scope), *read.get("allOf", ())):
            require(below)
        for name in ("anyOf", "oneOf"):
            if name in read:
                found = [apply(below) for below in read[name]]
                count = sum(one.valid for one in found)
                result.require(count >= 1 if name == "anyOf" else count == 1)
                for one in found:
                    result.add(one)
        if "not" in read:
            result.require(not apply(read["not"]).valid)
        if "if" in read:
            condition = apply(read["if"])
            result.add(condition)
            require(read.get("then" if condition.valid else "else", True))
        dependent = {**read.get("dependentSchemas", {}), **read.get("dependencies", {})}
        for name in dependent if isinstance(instance, dict) else ():
            if name in instance and not isinstance(dependent[name], list):
                require(dependent[name])

    def _referred(self, schema: Any, read: dict[str, Any], scope: tuple[_Resource, ...]) -> Iterator[Any]:
        if "$ref" in read:
            yield self._resolve(schema, read["$ref"])[0]
        if "$dynamicRef" in read:
            yield self._resolve_dynamic(schema, read["$dynamicRef"], scope)
        if "$recursiveRef" in read:
            yield self._resolve_recursive(schema, scope)

    def _string(self, read: dict[str, Any], instance: str, result: Result) -> None:
        result.require(read.get("minLength", 0) <= len(instance) <= read.get("maxLength", len(instance)))
        if "pattern" in read:
            result.require(self._patterns[read["pattern"]](instance))
        if read.get("format") in ORACLES:
            result.require(ORACLES[read["format"]](instance))

    def _array(self, read: dict[str, Any], instance: list[Any], scope: tuple[_Resource, ...], result: Result) -> None:
        size = len(instance)
        result.require(read.get("minItems", 0) <= size <= read.get("maxItems", size))
        if read.get("uniqueItems") is True:
            pairs = ((i, j) for i in range(size) for j in range(i))
            result.require(not any(equal(instance[i], instance[j]) for i, j in pairs))

        def apply(below: Any, index: int) -> bool:
            return self._evaluate(below, instance[index], scope).valid

        def require(below: Any, index: int) -> None:
            result.require(apply(below, index))
            result.items.add(index)

        prefix, rest = read.get("prefixItems", []), read.get("items")
        if isinstance(rest, list):
            prefix, rest = rest, read.get("additionalItems")
        for index, below in enumerate(prefix[:size]):
            require(below, index)
        if rest is not None:
            for index in range(len(prefix), size):
                require(rest, index)
        if "contains" in read:
            found = {index for index in range(size) if apply(read["contains"], index)}
            result.require(read.get("minContains", 1) <= len(found) <= read.get("maxContains", size))
            if self._draft >= 2020:
                result.items |= found
        if "unevaluatedItems" in read:
            for index in set(range(size)) - result.items:
                require(read["unevaluatedItems"], index)

    def _object(
        self, read: dict[str, Any], instance: dict[str, Any], scope: tuple[_Resource, ...], result: Result
    ) -> None:
        _members(read, instance, result)
        if "propertyNames" in read:
            for name in instance:
                result.require(self._evaluate(read["propertyNames"], name, scope).valid)

        def require(below: Any, name: str) -> None:
            result.require(self._evaluate(below, instance[name], scope).valid)

        listed = set(read.get("properties", {})) & set(instance)
        for name in listed:
            require(read["properties"][name], name)
        for pattern, below in read.get("patternProperties", {}).items():
            for name in filter(self._patterns[pattern], instance):
                listed.add(name)
                require(below, name)
        if "additionalProperties" in read:
            for name in set(instance) - listed:
                listed.add(name)
                require(read["additionalProperties"], name)
        result.names |= listed
        if "unevaluatedProperties" in read:
            for name in set(instance) - result.names:
                result.names.add(name)
                require(read["unevaluatedProperties"], name)


def _any_instance(read: dict[str, Any], instance: Any, result: Result) -> None:
    if "type" in read:
        names = read["type"] if isinstance(read["type"], list) else [read["type"]]
        result.require(any(_TYPES[name](instance) for name in names))
    if "enum" in read:
        result.require(any(equal(instance, value) for value in read["enum"]))
    if "const" in read:
        result.require(equal(instance, read["const"]))


def _members(read: dict[str, Any], instance: dict[str, Any], result: Result) -> None:
    size = len(instance)
    result.require(read.get("minProperties", 0) <= size <= read.get("maxProperties", size))
    result.require(all(name in instance for name in read.get("required", ())))
    for name, needed in {**read.get("dependentRequired", {}), **read.get("dependencies", {})}.items():
        if name in instance and isinstance(needed, list):
            result.require(all(other in instance for other in needed))


def _number(read: dict[str, Any], instance: Fraction, result: Result) -> None:
    for name, holds in (("minimum", instance.__ge__), ("maximum", instance.__le__)):
        if name in read:
            result.require(holds(read[name]))
    for name, holds, bound in (
        ("exclusiveMinimum", instance.__gt__, "minimum"),
        ("exclusiveMaximum", instance.__lt__, "maximum"),
    ):
        if read.get(name) is True:  # draft 4
            result.require(bound not in read or holds(read[bound]))
        elif isinstance(read.get(name), Fraction):
            result.require(holds(read[name]))
    if "multipleOf" in read:
        result.require((instance / read["multipleOf"]).denominator == 1)


def _subschemas(schema: dict[str, Any]) -> Iterator[Any]:
    for name in _ONE:
        if isinstance(schema.get(name), dict):
            yield schema[name]
    for name in _LIST:
        if isinstance(schema.get(name), list):
            yield from schema[name]
    for name in _NAMED:
        if isinstance(schema.get(name), dict):
            yield from schema[name].values()


def _at_pointer(schema: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        schema = schema[int(name)] if isinstance(schema, list) else schema[name]
    return schema
