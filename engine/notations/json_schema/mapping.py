"""Builds the map of a JSON Schema (`engine.notations.schema_map`), also of one that cannot be enforced."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from typing import Final

from engine.notations.json_schema.dialects import LIST, NAMED, ONE, SchemaDraft
from engine.notations.json_schema.findings import SchemaFindings
from engine.notations.json_schema.json_tree import Json, JsonTextError, read_json
from engine.notations.json_schema.resources import Resources
from engine.notations.schema_map import NO_ROW, SchemaMap
from engine.source import checkpoint
from engine.source.catalogue import catalogue_text
from engine.source.json_pointer import escape_step
from engine.source.text import shortened

_GROUPS: Final = frozenset(("$defs", "definitions"))
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_ARGUMENTS: Final = frozenset(("arguments", "parameters"))
_APPLICATORS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_BRANCHES: Final = ("anyOf", "oneOf", "allOf")
_SWITCHES: Final = {
    "uniqueItems": (True, "unique"),
    "additionalProperties": (False, "closed"),
    "unevaluatedProperties": (False, "closed"),
}
_RANGES: Final = (
    ("minLength", "maxLength", "length"),
    ("minItems", "maxItems", "items"),
    ("minProperties", "maxProperties", "members"),
    ("minimum", "maximum", "number"),
)
_ENDS: Final = 2  # states before and behind a string or a property
_LONGEST: Final = 32
_OFFSETS: Final = "l"


def schema_map(text: str, draft: int) -> SchemaMap | None:
    """Return the map of a schema; None if the text is no JSON object.

    Args:
        text: the text, which may have findings of any severity.
        draft: the draft if `$schema` names none.
    """
    try:
        root = read_json(text)
    except JsonTextError:
        return None
    return _Mapper(text, root, draft).map() if root.members else None


class _Mapper:
    """Collects the rows of one text."""

    def __init__(self, text: str, root: Json, draft: int) -> None:
        self._text = text
        self._root = root
        self._resources = Resources(root, SchemaDraft(draft), SchemaFindings(lenient=True))
        self._nodes: list[Json] = []
        self._rows: dict[int, int] = {}  # by the number of the node
        self._names: list[str] = []
        self._steps: list[str] = []
        self._required = bytearray()
        self._groups = bytearray()
        self._parents = array(_OFFSETS)
        self._starts = array(_OFFSETS)

    def map(self) -> SchemaMap:
        """Return the map."""
        todo = [(NO_ROW, "#", "", self._root, self._root.span.start, 0, 0)]
        while todo:
            checkpoint()
            parent, name, step, node, start, required, group = todo.pop()
            row = len(self._nodes)
            self._rows[node.number] = row
            self._nodes.append(node)
            self._names.append(name)
            self._steps.append(step)
            self._parents.append(parent)
            self._starts.append(start)
            self._required.append(required)
            self._groups.append(group)
            inner = self._definitions(node) if group else self._subschemas(node)
            todo += reversed([(row, *one) for one in inner])
        spans = [node.span for node in self._nodes]
        return SchemaMap(
            tuple(self._names),
            tuple(self._steps),
            tuple("" if self._groups[row] else self._type(node) for row, node in enumerate(self._nodes)),
            tuple(self._constraints(row, node) for row, node in enumerate(self._nodes)),
            bytes(self._required),
            bytes(self._groups),
            self._parents,
            self._sizes(),
            self._starts,
            array(_OFFSETS, [span.start for span in spans]),
            array(_OFFSETS, [span.end for span in spans]),
            array(_OFFSETS, [NO_ROW if self._groups[row] else self._target(n) for row, n in enumerate(self._nodes)]),
            self._states(),
        )

    # --- rows --------------------------------------------------------------------------------------------------------

    def _definitions(self, node: Json) -> Iterator[tuple[str, str, Json, int, int, int]]:
        for name, part in node.members.items():
            yield name, escape_step(name), part, node.key_spans[name].start, 0, 0

    def _subschemas(self, node: Json) -> Iterator[tuple[str, str, Json, int, int, int]]:
        """Yield what is directly within a schema: name, steps, value, start, whether it is required, or a group."""
        named = node.members.get("required")
        required = {one.value for one in named.items} if named is not None else set()
        for key, part in node.members.items():
            start = node.key_spans[key].start
            if key in _GROUPS and part.members:
                yield key, key, part, start, 0, 1
            elif key in NAMED and part.members:
                for name, inner in part.members.items():
                    if _is_schema(inner):
                        must = key == "properties" and name in required
                        steps = f"{key}/{escape_step(name)}"
                        yield _name_in(key, name), steps, inner, part.key_spans[name].start, int(must), 0
            elif key in LIST and part.items:
                for index, inner in enumerate(part.items):
                    if _is_schema(inner):
                        yield _branch(key, index, inner), f"{key}/{index}", inner, inner.span.start, 0, 0
            elif key in ONE and part.members:
                yield key, key, part, start, 0, 0

    def _sizes(self) -> array[int]:
        sizes = array(_OFFSETS, bytes(self._parents.itemsize * len(self._parents)))
        for row in range(len(sizes) - 1, 0, -1):
            sizes[self._parents[row]] += 1 + sizes[row]
        return sizes

    def _target(self, node: Json) -> int:
        reference = self._reference(node)
        found = None if reference is None else self._resources.resolve(node, reference)
        return NO_ROW if found is None else self._rows.get(found.number, NO_ROW)

    @staticmethod
    def _reference(node: Json) -> Json | None:
        found = (node.members[key] for key in _REFERENCES if key in node.members)
        return next((part for part in found if isinstance(part.value, str)), None)

    # --- texts -------------------------------------------------------------------------------------------------------

    def _type(self, node: Json) -> str:
        if isinstance(node.value, bool):
            return catalogue_text(f"notations.map.fragment.{'any' if node.value else 'never'}")
        named = node.members.get("type")
        types = [str(one.value) for one in named.items or (named,)] if named is not None else []
        reference = self._reference(node)
        if reference is not None:
            types.insert(0, f"→ {str(reference.value).rsplit('/', 1)[-1].removeprefix('#') or '#'}")
        return " | ".join(types)

    def _constraints(self, row: int, node: Json) -> str:
        checkpoint()
        if self._groups[row]:
            return str(len(node.members))
        return ", ".join(self._facts(node)) if node.members else ""

    def _facts(self, node: Json) -> Iterator[str]:
        """Yield each constraint of a schema in a few words."""
        has = node.members
        constants = has["enum"].items if "enum" in has else [has["const"]] if "const" in has else []
        if constants:
            is_one = len(constants) == 1
            yield f"= {self._quote(constants[0])}" if is_one else _fact("enum", count=len(constants))
        for keyword in ("format", "pattern"):
            if keyword in has:
                yield _fact(keyword, value=shortened(str(has[keyword].value), _LONGEST))
        for least, most, kind in _RANGES:
            if least in has or most in has:
                yield self._range(has.get(least), has.get(most), kind)
        for keyword in ("exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
            if keyword in has and not isinstance(has[keyword].value, bool):
                yield _fact(keyword, value=self._quote(has[keyword]))
        for keyword, (value, fact) in _SWITCHES.items():
            if keyword in has and has[keyword].value is value:
                yield _fact(fact)
        yield from (_fact(key, count=len(has[key].items)) for key in _BRANCHES if key in has and has[key].items)
        yield from (key for key in ("not", "if") if key in has)

    def _range(self, least: Json | None, most: Json | None, kind: str) -> str:
        low = None if least is None else self._quote(least)
        high = None if most is None else self._quote(most)
        if low is None:
            bounds = f"≤ {high}"
        elif high is None:
            bounds = f"≥ {low}"
        else:
            bounds = low if low == high else f"{low}–{high}"
        return bounds if kind == "number" else _fact(kind, count=1 if (high or low) == "1" else 2, bounds=bounds)

    def _quote(self, part: Json) -> str:
        return shortened(" ".join(self._text[part.span.start : part.span.end].split()), _LONGEST)

    # --- states ------------------------------------------------------------------------------------------------------

    def _states(self) -> array[int]:
        """Return the states of each subschema, of which each bound makes so many; those within it come first."""
        states = array("q", bytes(8 * len(self._nodes)))
        for row in range(len(self._nodes) - 1, -1, -1):
            checkpoint()
            if not self._groups[row]:
                states[row] = min(self._own_states(self._nodes[row], states), 2**62)
        return states

    def _own_states(self, schema: Json, states: array[int]) -> int:
        has = schema.members
        if not has:
            return 1

        def inner(part: Json) -> int:
            return states[self._rows[part.number]] if part.number in self._rows else 1

        constants = [*(has["enum"].items if "enum" in has else ()), *([has["const"]] if "const" in has else ())]
        total = sum(self._length(value) for value in constants)
        length = max(_bound(schema, "maxLength"), _bound(schema, "minLength"))
        is_string = "type" in has and has["type"].value == "string"
        total += length + _ENDS if length or is_string else 0
        for name, value in has["properties"].members.items() if "properties" in has else ():
            total += len(name) + _ENDS + inner(value)
        for keyword in _APPLICATORS:
            total += sum(inner(value) for value in has[keyword].items) if keyword in has else 0
        if "items" in has or ("type" in has and has["type"].value == "array"):
            times = max(_bound(schema, "maxItems"), _bound(schema, "minItems"), 1)
            total += times * (inner(has["items"]) if "items" in has and has["items"].members else 1)
        if "additionalProperties" in has and has["additionalProperties"].members:
            total += inner(has["additionalProperties"])
        return max(total, 1)

    def _length(self, value: Json) -> int:
        """Return the number of characters of a value as JSON without line breaks."""
        written = self._text[value.span.start : value.span.end]
        try:
            return len(json.dumps(json.loads(written)))
        except RecursionError:
            return len(written)


def _is_schema(part: Json) -> bool:
    return isinstance(part.value, dict | bool)


def _name_in(key: str, name: str) -> str:
    """Return the name of a member of a keyword that has named schemas."""
    if key == "properties":
        return name
    return _fact("pattern_property", value=name) if key == "patternProperties" else _fact("depends", name=name)


def _branch(key: str, index: int, part: Json) -> str:
    """Return the name of a branch: a tool that is called, or its number with what distinguishes it from others."""
    properties = part.members["properties"].members if "properties" in part.members else {}
    constants = {name: inner.members["const"].value for name, inner in properties.items() if "const" in inner.members}
    called = constants.get("name")
    if isinstance(called, str) and not _ARGUMENTS.isdisjoint(properties):
        return _fact("tool", name=called)
    title = part.members["title"].value if "title" in part.members else None
    known = [title, *constants.values()]
    label = next((shortened(one, _LONGEST) for one in known if isinstance(one, str) and one), "")
    return _fact("branch", key=key, number=index + 1, label=f" · {label}" if label else "")


def _bound(schema: Json, keyword: str) -> int:
    value = schema.members[keyword].value if keyword in schema.members else 0
    try:
        return int(value) if not isinstance(value, bool) and value > 0 else 0  # type: ignore[operator,arg-type]
    except TypeError:
        return 0  # no number


def _fact(key: str, /, **fields: object) -> str:
    return catalogue_text(f"notations.map.fragment.{key}", **fields)
