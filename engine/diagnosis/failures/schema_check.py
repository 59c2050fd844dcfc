"""All keywords of a JSON Schema that a value violates, each with the pointers to keyword and value.

The automaton of a schema stops at the first illegal byte, and a user wants to know all of them. The list need not be
exact: it gives candidates, and `engine.diagnosis.failures.counterfactual` proves on the automaton which of them matter.
Patterns and formats are judged by the automaton itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.failures.tolerant_json import OutputValue, read_output
from engine.schema_automaton.formula.values import HugeNumber, number
from engine.source import GrammarError, LimitExceededError
from engine.source.json_pointer import escape_step, resolve_pointer, unescape_step

Schema: TypeAlias = Any
"""A schema as JSON data: an object or a boolean."""

_RANGE: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_LENGTH: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
DETAILS: Final[Mapping[str, str]] = {
    "type": "type",
    **dict.fromkeys(("enum", "const"), "enum"),
    **dict.fromkeys(_RANGE, "range"),
    **dict.fromkeys((*_LENGTH, "additionalItems", "unevaluatedItems", "items", "prefixItems"), "length"),
    **dict.fromkeys(("pattern", "format"), "pattern"),
    **dict.fromkeys(("required", "dependentRequired", "dependencies", "dependentSchemas"), "missing-required"),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "propertyNames"), "extra-property"),
}
"""The kind of a violation by keyword; other keywords are their own kind."""
COMPOSITE: Final = frozenset("allOf anyOf oneOf not if contains dependentSchemas dependencies propertyNames".split())
"""Keywords that contain the keywords that failed, so that they are removed last."""
_DEPTH: Final = 60
_MOST: Final = 400
_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, Fraction | HugeNumber),
    "integer": lambda value: isinstance(value, HugeNumber) or (isinstance(value, Fraction) and value.denominator == 1),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


@dataclass(frozen=True, slots=True)
class KeywordViolation:
    """A keyword that a value violates.

    Attributes:
        keyword: the keyword.
        pointer: the JSON Pointer of the keyword in the schema.
        instance: the JSON Pointer of the value.
        value: the value.
        expected: what the keyword says, as JSON data.
        names: the properties that are missing or not allowed.
        start, end: the part of the output, in code points.
    """

    keyword: str
    pointer: str
    instance: str
    value: OutputValue = field(compare=False)
    expected: Any = field(compare=False)
    names: tuple[str, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def detail(self) -> str:
        """Return the kind of the violation."""
        return DETAILS.get(self.keyword, self.keyword)


def violated_keywords(root: Schema, value: OutputValue, options: CompileOptions) -> tuple[KeywordViolation, ...]:
    """Return the keywords of a schema that a value violates, in the order of the output.

    Args:
        root: the schema, as JSON data.
        value: the value; keywords about the end of an open value are not judged.
        options: the options of the compile, for patterns.
    """
    known: dict[tuple[str, str], KeywordViolation] = {}
    for one in _SchemaCheck(root, options, root, "", value, "").violations():
        known.setdefault((one.pointer, one.instance), one)
        if len(known) >= _MOST:
            break
    return tuple(sorted(known.values(), key=lambda one: one.start))


def applied_subschemas(root: Schema, value: OutputValue, options: CompileOptions) -> dict[str, str]:
    """Return the pointers of the subschemas that judge a value or a part of it, each with that of the part.

    Args:
        root: the schema, as JSON data.
        value: the value.
        options: the options of the compile, for patterns.
    """
    applied: dict[str, str] = {}
    for _ in _SchemaCheck(root, options, root, "", value, "", applied=applied).violations():
        pass
    return applied


@dataclass(frozen=True, slots=True)
class _SchemaCheck:
    """The judgement of one value by one subschema."""

    root: Schema
    options: CompileOptions
    schema: Schema
    pointer: str
    value: OutputValue
    path: str
    depth: int = 0
    applied: dict[str, str] = field(default_factory=dict)

    def violations(self) -> Iterator[KeywordViolation]:
        """Yield the violations of this subschema and those below it."""
        self.applied.setdefault(self.pointer, self.path)
        if self.schema is False:
            keyword = unescape_step(self.pointer.rpartition("/")[2])
            yield KeywordViolation(
                keyword, self.pointer, self.path, self.value, False, (), self.value.start, self.value.end
            )
        elif isinstance(self.schema, dict) and self.depth <= _DEPTH:
            for keyword, expected in self.schema.items():
                judge = _JUDGES.get(keyword)
                if judge is not None:
                    yield from judge(self, keyword, expected)

    def violated(self, keyword: str, *names: str, key: str | None = None) -> KeywordViolation:
        """Return the violation of a keyword by this value, or by one of its keys."""
        start, end = self.value.start, self.value.end
        if key is not None:
            start, end = self.value.keys.get(key, (start, end))
        pointer = f"{self.pointer}/{escape_step(keyword)}"
        return KeywordViolation(keyword, pointer, self.path, self.value, self.schema[keyword], names, start, end)

    def below(self, schema: Schema, pointer: str, step: str | int | None = None) -> list[KeywordViolation]:
        """Return the violations of a subschema, by this value or by a member of it.

        Args:
            schema: the subschema.
            pointer: its pointer from here, or the complete one after `#`.
            step: the key or index of the member; None for this value.
        """
        value, path = self.value, self.path
        if isinstance(step, str) and isinstance(value.value, dict):
            value, path = value.value[step], f"{path}/{escape_step(step)}"
        elif isinstance(step, int) and isinstance(value.value, list):
            value, path = value.value[step], f"{path}/{step}"
        where = pointer[1:] if pointer.startswith("#") else f"{self.pointer}{pointer}"
        deeper = replace(self, schema=schema, pointer=where, value=value, path=path, depth=self.depth + 1)
        return list(deeper.violations())

    def members(self) -> dict[str, OutputValue]:
        """Return the members of an object; none of other values."""
        return self.value.value if isinstance(self.value.value, dict) else {}

    def items(self) -> list[OutputValue]:
        """Return the items of an array; none of other values."""
        return self.value.value if isinstance(self.value.value, list) else []

    def matches(self, keyword: str, expected: object, text: str) -> bool:
        """Return whether a string satisfies `pattern` or `format`, by the automaton."""
        head = {"$schema": self.root["$schema"]} if isinstance(self.root, dict) and "$schema" in self.root else {}
        try:
            grammar = compile_grammar("json_schema", json.dumps({**head, keyword: expected}), self.options)
            return grammar.fullmatch(json.dumps(text, ensure_ascii=False))
        except (GrammarError, LimitExceededError, UnicodeError):
            return True


_Found: TypeAlias = Iterator[KeywordViolation]


def _reference(here: _SchemaCheck, _keyword: str, expected: Any) -> _Found:
    target = _target(here.root, expected)
    if target is not None:
        yield from here.below(resolve_pointer(here.root, target), f"#{target}")


def _target(root: Schema, reference: object) -> str | None:
    """Return the JSON Pointer that a reference names; None if it is not in this schema."""
    if not isinstance(reference, str):
        return None
    _, mark, fragment = reference.partition("#")
    if mark and (not fragment or fragment.startswith("/")):
        return fragment
    name = fragment or reference
    return next((pointer for pointer, part in parts_of(root) if name in _names_of(part)), None)


def parts_of(root: Schema, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all parts of JSON data with their pointers, in the order of the text."""
    pending: list[tuple[str, Any]] = [(pointer, root)]
    while pending:
        where, part = pending.pop()
        yield where, part
        if isinstance(part, dict):
            below = [(f"{where}/{escape_step(str(name))}", inner) for name, inner in part.items()]
            pending += reversed(below)
        elif isinstance(part, list):
            pending += reversed([(f"{where}/{index}", inner) for index, inner in enumerate(part)])


def _names_of(part: Any) -> tuple[object, ...]:
    if not isinstance(part, dict):
        return ()
    return tuple(part[key] for key in ("$anchor", "$dynamicAnchor", "$id", "id") if isinstance(part.get(key), str))


def _all_of(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    for index, branch in enumerate(_list(expected)):
        yield from here.below(branch, f"/{keyword}/{index}")


def _branches(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    """Yield the violation of the keyword and those of the branch that fails least."""
    tried = [here.below(branch, f"/{keyword}/{index}") for index, branch in enumerate(_list(expected))]
    fitting = sum(1 for one in tried if not one)
    if not tried or fitting == 1 or (fitting and (keyword == "anyOf" or here.value.is_open)):
        return
    yield here.violated(keyword)
    if not fitting:
        yield from min(tried, key=lambda one: (any(v.keyword in ("type", "const", "enum") for v in one), len(one)))


def _not(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    if not here.value.is_open and not here.below(expected, "/not"):
        yield here.violated(keyword)


def _condition(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    name = "else" if here.below(expected, "/if") else "then"
    if name in here.schema and (found := here.below(here.schema[name], f"/{name}")):
        yield here.violated(keyword)
        yield from found


def _type(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    names = [expected] if isinstance(expected, str) else _list(expected)
    given = here.value
    fits = not given.is_number_missing and any(
        _TYPES[name](given.value) for name in names if isinstance(name, str) and name in _TYPES
    )
    is_cut = given.is_open and not isinstance(given.value, dict | list | str)
    if not fits and not is_cut:
        yield here.violated(keyword)


def holds_value_of_type(found: KeywordViolation) -> bool:
    """Return whether a string that violates `type` holds, as JSON text, a value of this type."""
    text = found.value.value
    inner = read_output(text) if isinstance(text, str) else None
    if inner is None or inner.root is None or inner.defects or inner.broken_at is not None or inner.root.is_open:
        return False
    value, expected = inner.root.value, found.expected
    names = [expected] if isinstance(expected, str) else _list(expected)
    return any(isinstance(name, str) and name in _TYPES and _TYPES[name](value) for name in names)


def _enum(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    plain = here.value.plain()
    if not here.value.is_open and not any(_equal(_comparable(member), plain) for member in _list(expected)):
        yield here.violated(keyword)


def _const(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    if not here.value.is_open and not _equal(_comparable(expected), here.value.plain()):
        yield here.violated(keyword)


def _bound(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    given, limit = here.value.value, _as_number(expected)
    if limit is None or not isinstance(given, Fraction) or here.value.is_open:
        return
    fits = {
        "minimum": given >= limit and not (here.schema.get("exclusiveMinimum") is True and given == limit),
        "maximum": given <= limit and not (here.schema.get("exclusiveMaximum") is True and given == limit),
        "exclusiveMinimum": given > limit,
        "exclusiveMaximum": given < limit,
        "multipleOf": limit == 0 or (given / limit).denominator == 1,
    }
    if not fits[keyword]:
        yield here.violated(keyword)


def _size(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    kinds: dict[str, type] = {"Length": str, "Items": list, "Properties": dict}
    limit, given = _as_number(expected), here.value.value
    if limit is None or not isinstance(given, str | list | dict) or not isinstance(given, kinds[keyword[3:]]):
        return
    size = len(given)
    if size > limit if keyword.startswith("max") else size < limit and not here.value.is_open:
        yield here.violated(keyword)


def _string(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    text = here.value.value
    if isinstance(text, str) and not here.value.is_open and not here.matches(keyword, expected, text):
        yield here.violated(keyword)


def _required(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    if isinstance(here.value.value, dict) and not here.value.is_open:
        missing = [name for name in _list(expected) if isinstance(name, str) and name not in here.value.value]
        if missing:
            end = here.value.end
            yield replace(here.violated(keyword, *missing), start=max(here.value.start, end - 1), end=end)


def _dependent(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    if not isinstance(expected, dict):
        return
    for name in here.members():
        needs = expected.get(name)
        if isinstance(needs, list) and not here.value.is_open:
            missing = [one for one in needs if one not in here.members()]
            if missing:
                yield here.violated(keyword, *missing)
        elif isinstance(needs, dict | bool) and (found := here.below(needs, f"/{keyword}/{escape_step(name)}")):
            yield here.violated(keyword)
            yield from found


def _properties(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    for name in here.members():
        if isinstance(expected, dict) and name in expected:
            yield from here.below(expected[name], f"/{keyword}/{escape_step(name)}", name)


def _pattern_properties(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    for pattern, schema in expected.items() if isinstance(expected, dict) else ():
        for name in here.members():
            if here.matches("pattern", pattern, name):
                yield from here.below(schema, f"/{keyword}/{escape_step(pattern)}", name)


def _additional(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    patterns = here.schema.get("patternProperties")
    declared = here.schema.get("properties")
    for name in here.members():
        if isinstance(declared, dict) and name in declared:
            continue
        if isinstance(patterns, dict) and any(here.matches("pattern", one, name) for one in patterns):
            continue
        if expected is False:
            yield here.violated(keyword, name, key=name)
        else:
            yield from here.below(expected, f"/{keyword}", name)


def _unevaluated(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    """Yield the properties that no subschema declares; conditions and branches are taken together."""
    if expected is not False:
        return
    declared, patterns = set[str](), set[str]()
    todo, seen = [here.schema], 0
    while todo and seen < _MOST:
        part, seen = todo.pop(), seen + 1
        if not isinstance(part, dict):
            continue
        if part is not here.schema and ("additionalProperties" in part or "unevaluatedProperties" in part):
            return
        declared |= set(part.get("properties", ()))
        patterns |= set(part.get("patternProperties", ()))
        for name in ("allOf", "anyOf", "oneOf"):
            todo += _list(part.get(name))
        todo += [part[name] for name in ("if", "then", "else") if name in part]
        todo += list(part["dependentSchemas"].values()) if isinstance(part.get("dependentSchemas"), dict) else []
        target = _target(here.root, part.get("$ref"))
        todo += [] if target is None else [resolve_pointer(here.root, target)]
    for name in here.members():
        if name not in declared and not any(here.matches("pattern", one, name) for one in patterns):
            yield here.violated(keyword, name, key=name)


def _property_names(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    for name in here.members():
        start, end = here.value.keys.get(name, (here.value.start, here.value.end))
        key = replace(here, value=OutputValue(name, start, end))
        if found := key.below(expected, f"/{keyword}"):
            yield here.violated(keyword, name, key=name)
            yield from found


def _items(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    if isinstance(expected, list):
        for index, schema in enumerate(expected[: len(here.items())]):
            yield from here.below(schema, f"/{keyword}/{index}", index)
        return
    first = len(_list(here.schema.get("prefixItems"))) if keyword == "items" else 0
    if keyword == "additionalItems":
        first = len(_list(here.schema.get("items")))
    for index in range(first, len(here.items())):
        if expected is False:
            yield here.violated(keyword)
            return
        yield from here.below(expected, f"/{keyword}", index)


def _unique(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    plain = [item.plain() for item in here.items()]
    if expected is True and any(_equal(one, other) for at, one in enumerate(plain) for other in plain[:at]):
        yield here.violated(keyword)


def _contains(here: _SchemaCheck, keyword: str, expected: Any) -> _Found:
    if not isinstance(here.value.value, list) or here.value.is_open:
        return
    count = sum(1 for index in range(len(here.items())) if not here.below(expected, f"/{keyword}", index))
    least, most = _as_number(here.schema.get("minContains", 1)), _as_number(here.schema.get("maxContains"))
    if least is not None and count < least:
        yield here.violated("minContains" if "minContains" in here.schema and count else keyword)
    elif most is not None and count > most:
        yield here.violated("maxContains")


_JUDGES: Final[Mapping[str, Callable[[_SchemaCheck, str, Any], _Found]]] = {
    "$ref": _reference,
    "$dynamicRef": _reference,
    "$recursiveRef": _reference,
    "allOf": _all_of,
    "anyOf": _branches,
    "oneOf": _branches,
    "not": _not,
    "if": _condition,
    "type": _type,
    "enum": _enum,
    "const": _const,
    **dict.fromkeys(_RANGE, _bound),
    **dict.fromkeys(_LENGTH, _size),
    "pattern": _string,
    "format": _string,
    "required": _required,
    "dependentRequired": _dependent,
    "dependentSchemas": _dependent,
    "dependencies": _dependent,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "unevaluatedProperties": _unevaluated,
    "propertyNames": _property_names,
    "prefixItems": _items,
    "items": _items,
    "additionalItems": _items,
    "uniqueItems": _unique,
    "contains": _contains,
}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _as_number(value: Any) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return Fraction(str(value))
    except ValueError:
        return None


def _comparable(value: Any) -> object:
    """Return JSON data with numbers as the reader of outputs has them."""
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if isinstance(value, dict):
        return {name: _comparable(item) for name, item in value.items()}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return number(json.dumps(value))
    except ValueError:
        return value


def _equal(one: object, other: object) -> bool:
    """Return whether two values are equal in JSON, where `true` is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    return one == other
