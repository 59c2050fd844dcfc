"""Lowering of schemas to formulas, keyword by keyword.

Each schema becomes one definition; a schema that accepts all values or none becomes that constant. A work list of
definitions replaces recursion, so neither nesting nor recursive schemas use Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final, TypeAlias

from engine.notations.json_schema.advice import embedded_schema, is_annotation, likely_keyword
from engine.notations.json_schema.dialects import SINCE, SchemaDraft, draft_name
from engine.notations.json_schema.findings import SchemaFindings
from engine.notations.json_schema.json_tree import Json, Key
from engine.notations.json_schema.resources import Resources, Scope
from engine.notations.json_schema.string_languages import StringLanguages
from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import Formula, Location
from engine.schema_automaton.formula.values import LARGEST, HugeNumber, JsonType
from engine.source import Limits, checkpoint

TYPES: Final = {
    "null": frozenset({JsonType.NULL}),
    "boolean": frozenset({JsonType.FALSE, JsonType.TRUE}),
    "number": frozenset({JsonType.NUMBER}),
    "integer": frozenset({JsonType.NUMBER}),
    "string": frozenset({JsonType.STRING}),
    "array": frozenset({JsonType.ARRAY}),
    "object": frozenset({JsonType.OBJECT}),
}
_SCALARS: Final = frozenset(TYPES) - {"array", "object"}
_OPENING: Final = frozenset({"additionalProperties", "unevaluatedProperties", "patternProperties"})


class Lowering:
    """Writes the definitions of one text.

    Attributes:
        closed: whether objects are closed where `additionalProperties` is absent.
        refers: whether there are references; without them no schema is recursive.
        nodes: the schema of each definition.
    """

    def __init__(
        self,
        keywords: Mapping[str, Keyword],
        arena: Arena,
        resources: Resources,
        findings: SchemaFindings,
        limits: Limits,
        *,
        closed: bool = False,
    ) -> None:
        """Begin a lowering.

        Args:
            keywords: the function of each keyword.
            arena: receives the definitions.
            resources: the resources of the text.
            findings: receives the findings.
            limits: the limits of patterns.
            closed: whether objects are closed where `additionalProperties` is absent.
        """
        self._keywords = keywords
        self._keywords_of: dict[SchemaDraft, dict[str, Keyword]] = {}
        self.arena = arena
        self.resources = resources
        self.findings = findings
        self.closed = closed
        self.refers = False
        self.texts = StringLanguages(arena, findings, limits)
        self._subs: dict[tuple[int, Scope], Formula] = {}
        self._plain: dict[int, Formula] = {}
        self._todo: list[tuple[Json, Scope, int]] = []
        self.nodes: list[Json] = []

    # ------------------------------------------------------------------ definitions

    def schema(self, node: Json, scope: Scope, *, referred: bool = False) -> Formula:
        """Return the formula of a schema: a constant, a type, or a reference to its definition.

        Args:
            node: the schema.
            scope: the dynamic scope.
            referred: whether it is reached by a reference, and so has a name.
        """
        arena, value = self.arena, node.value
        if not isinstance(value, dict):
            if isinstance(value, bool):
                return arena.constant(value)
            self.findings.add("schema-no-schema", node)
            return arena.true
        if not value:
            return arena.true
        if not referred and self._is_only_type(node, value):
            return self._of_type(node, value["type"])
        scope = self.resources.enter(scope, node)
        key = node.number, scope
        known = self._subs.get(key)
        if known is None:
            number = len(arena.definitions)
            known = self._subs[key] = arena.define(node)
            self.nodes.append(node)
            self._todo.append((node, scope, number))
        return known

    def run(self, root: Json) -> Formula:
        """Write all definitions that the root needs, and return its formula."""
        goal = self.schema(root, ())
        while self._todo:
            checkpoint()
            node, scope, number = self._todo.pop()
            self.arena.definitions[number] = self._write(node, scope)
        self.arena.is_written = True
        if self.resources.has_address:  # an instance may name its schema by this address
            goal = self.arena.all_of((goal, self.arena.may_begin("$schema")))
        return goal

    def _write(self, node: Json, scope: Scope) -> Formula:
        here, members = Schema(self, node, scope), node.members
        table = self._table(here.draft)
        for span in node.duplicate_keys:
            self.findings.add("schema-doubled-key", span, where=node.pointer or "of the schema")
        if "$ref" in members and here.draft <= SchemaDraft.DRAFT_7:
            for name, part in members.items():
                if name != "$ref" and name in table:
                    self.findings.add("schema-beside-reference", part)
            return table["$ref"](here, members["$ref"])
        parts = [table[name](here, part) for name, part in members.items() if name in table]
        if len(parts) < len(members):
            self._report_annotations(node, here.draft, table)
        if self.closed and "properties" in members and not _OPENING & members.keys():
            parts.append(self._close(here, members["properties"]))
        return self.arena.all_of(parts)

    def _table(self, draft: SchemaDraft) -> dict[str, Keyword]:
        """Return the keywords that a draft enforces."""
        known = self._keywords_of.get(draft)
        if known is None:
            known = {name: keyword for name, keyword in self._keywords.items() if draft >= SINCE.get(name, draft)}
            self._keywords_of[draft] = known
        return known

    def _is_only_type(self, node: Json, members: dict[str, Json]) -> bool:
        """Return whether a schema names a scalar type, and has nothing else that is enforced or worth a finding."""
        named = members.get("type")
        if named is None or not isinstance(named.value, str) or named.value not in _SCALARS:
            return False
        for name in members:
            if name != "type" and not is_annotation(name):
                return False
        return not node.duplicate_keys

    def _of_type(self, node: Json, part: Json) -> Formula:
        """Return the values of one type, with its own source location.

        Most schemas are no more than a type, and so need no definition.
        """
        known = self._plain.get(node.number)
        if known is None:
            known = self.arena.separate_type_in(TYPES[str(part.value)], part)
            if part.value == "integer":
                known = self.arena.all_of((known, self.arena.written_whole(part)))
            self._plain[node.number] = known
        return known

    def _report_annotations(self, node: Json, draft: SchemaDraft, table: dict[str, Keyword]) -> None:
        """Report the members of a schema that no keyword enforces, except known annotations."""
        members = node.members
        unknown: list[str] = []
        for name in members:
            if name in table:
                continue
            since = SINCE.get(name, draft)
            if draft < since:
                self.findings.add(
                    "schema-later-keyword", members[name], draft=draft_name(draft), since=draft_name(since)
                )
            elif not is_annotation(name):
                unknown.append(name)
        for name in unknown:
            meant = likely_keyword(name)
            if meant is None or meant in members:
                self.findings.add("schema-unknown-keyword", Key(node, name), what=name)
            else:
                self.findings.add("schema-misspelled-keyword", Key(node, name), what=name, meant=meant)
        if unknown and not any(name in table or name in SINCE for name in members):
            is_bare = len(unknown) == len(members)
            if is_bare or (node.number == 0 and embedded_schema(node) is not None):
                self.findings.add("schema-no-keyword", node)

    def _close(self, here: Schema, properties: Json) -> Formula:
        names = self.arena.enum(list(properties.members), properties)
        return self.arena.every_property(self.arena.negate(names), self.arena.false, properties)


class Schema:
    """One schema that is being lowered."""

    __slots__ = ("arena", "draft", "lowering", "node", "scope")

    def __init__(self, lowering: Lowering, node: Json, scope: Scope) -> None:
        self.lowering = lowering
        self.arena = lowering.arena
        self.node = node
        self.scope = scope
        self.draft = lowering.resources.home(node).draft

    def sub(self, node: Json) -> Formula:
        """Return the formula of a subschema."""
        return self.lowering.schema(node, self.scope)

    def referred(self, node: Json | None) -> Formula:
        """Return the formula of a referenced schema; true if it was not found."""
        return self.arena.true if node is None else self.lowering.schema(node, self.scope, referred=True)

    def other(self, keyword: str) -> Json | None:
        """Return another keyword of this schema."""
        return self.node.members.get(keyword)

    def invalid(self, part: Json, expected: str) -> Formula:
        """Report a keyword with an invalid value.

        Args:
            part: the value.
            expected: what it should be, a variant of `schema-invalid-keyword`.
        """
        self.lowering.findings.add(f"schema-invalid-keyword.{expected}", part)
        return self.arena.true

    def not_enforced(self, part: Json, reason: str, **fields: int) -> Formula:
        """Report a keyword that is not enforced.

        Args:
            part: its value.
            reason: a variant of `schema-not-enforced`.
            fields: the fields of that variant.
        """
        self.lowering.findings.add(f"schema-not-enforced.{reason}", part, **fields)
        return self.arena.true

    def number(self, part: Json) -> Fraction | None:
        """Return the number of a keyword; None, with a finding, if it has none or an unusable one."""
        if isinstance(part.value, HugeNumber):
            self.huge_number(part)
            return None
        if isinstance(part.value, Fraction):
            return part.value
        self.invalid(part, "number")
        return None

    def huge_number(self, part: Json) -> Formula:
        """Report a number that is too large or too precise."""
        self.lowering.findings.add("schema-huge-number", part, most=LARGEST)
        return self.arena.true

    def count(self, part: Json | None) -> int | None:
        """Return a count; None, with a finding, if the value is none."""
        if part is None:
            return None
        value = part.value
        if isinstance(value, HugeNumber):
            self.huge_number(part)
            return None
        if isinstance(value, Fraction) and value.denominator == 1 and value >= 0:
            return int(value)
        self.invalid(part, "count")
        return None

    def bound(self, part: Json, make: Callable[[int, int | None, Location], Formula], *, least: bool) -> Formula:
        """Return the formula of a lower or upper bound of a count.

        Args:
            part: the keyword's value.
            make: builds the formula from a minimum, a maximum and the location.
            least: whether it is a lower bound.
        """
        count = self.count(part)
        if count is None or (least and count == 0):
            return self.arena.true
        return make(count if least else 0, None if least else count, part)

    def schemas(self, part: Json) -> list[Formula]:
        """Return the formulas of a list of schemas."""
        if not isinstance(part.value, list) or not part.value:
            self.invalid(part, "schemas")
            return []
        return [self.sub(item) for item in part.value]

    def key(self, name: str, place: Location) -> Formula:
        """Return the set of keys that contains one name."""
        return self.arena.named(name, place)

    def has(self, names: Mapping[str, Location]) -> Formula:
        """Require members with some names of objects; other values are accepted."""
        arena = self.arena
        members = [arena.some_property(self.key(name, place), arena.true, place) for name, place in names.items()]
        if not members:
            return arena.true
        return arena.about(JsonType.OBJECT, arena.all_of(members), self.node)

    def lacks(self, name: str, place: Location) -> Formula:
        """Require that an object has no member with a name."""
        return self.arena.every_property(self.key(name, place), self.arena.false, place)

    def prefix_length(self) -> int:
        """Return how many items have their own schema."""
        for name in ("prefixItems", "items"):
            part = self.other(name)
            if part is not None and isinstance(part.value, list):
                return len(part.value)
        return 0

    def pattern_keys(self) -> list[tuple[Formula, Json, Key]]:
        """Return the sets of keys of `patternProperties`, with their schemas."""
        part = self.other("patternProperties")
        if part is None:
            return []
        return [
            (self.lowering.texts.pattern(text, inner, key), inner, key)
            for text, inner in part.members.items()
            for key in (Key(part, text),)
        ]

    def additional_keys(self) -> Formula:
        """Return the set of keys that `additionalProperties` applies to."""
        arena = self.arena
        properties = self.other("properties")
        named = [arena.enum(list(properties.members), properties)] if properties and properties.members else []
        return arena.all_of(arena.negate(keys) for keys in (*named, *(keys for keys, _, _ in self.pattern_keys())))


Keyword: TypeAlias = Callable[[Schema, Json], Formula]
"""The function of a keyword: the formula of its value in a schema."""
