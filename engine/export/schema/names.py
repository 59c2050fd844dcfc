"""Names and source positions of a schema's rules, and which parts of it are copies of one another."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields

from engine.export.rules.rule_builder import kebab
from engine.notations.json_schema.json_tree import Json, read_json
from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import And, ExactlyOne, Formula, Not, Or, Ref, span_of, span_of_location
from engine.source import SourceText, Span, check_cancelled, checkpoint
from engine.source.json_pointer import NAMED_SUBSCHEMAS, unescape_step

_DEFINITIONS = ("$defs", "definitions")
_NUMBERED = re.compile(r"(?P<plain>.*)-\d+")
_PARTS = ("key", "rest", "other", "value")
_CHOICES = ("anyOf", "oneOf")


class SchemaNames:
    """Finds the definition of a formula, its name and its source position."""

    def __init__(self, arena: Arena, source: SourceText) -> None:
        self._arena = arena
        self._schemas: dict[Span, Json] = {}
        self._keys: dict[Span, Span] = {}
        self._of_type: dict[Span, Span] = {}  # a schema with only a type has no definition
        todo = [read_json(source.text)]
        while todo:
            check_cancelled()
            node = todo.pop()
            self._schemas.setdefault(node.span, node)
            self._keys.update((node.members[name].span, key) for name, key in node.key_spans.items())
            if "type" in node.members:
                self._of_type[node.members["type"].span] = node.span
            todo += [*node.members.values(), *node.items]

    def resolved(self, formula: Formula) -> Formula:
        """Follow definitions that only refer to another definition."""
        while isinstance(formula, Ref):
            definition = self._arena.definitions[formula.number]
            if not isinstance(definition, Ref):
                return formula
            formula = definition
        return formula

    def name(self, formula: Formula, context: str) -> str:
        """Return a name for a formula's rule: that of its definition, or else one by its use."""
        node = self._node(formula)
        steps = node.pointer.split("/") if node is not None else []
        if len(steps) > 2 and steps[-2] in _DEFINITIONS:
            return kebab(unescape_step(steps[-1])) or context
        return context

    def title(self, formula: Formula) -> str:
        """Return the title of a schema as a name; empty if it has none."""
        node = self._node(formula)
        title = node.members.get("title") if node is not None else None
        return kebab(title.value) if title is not None and isinstance(title.value, str) else ""

    def span(self, formula: Formula) -> Span:
        """Return the position of a formula: its definition, or the first of its parts that has one."""
        todo = [formula]
        while todo:
            part = todo.pop()
            if isinstance(part, Ref):
                return span_of_location(self._arena.definition_locations[part.number])
            if isinstance(part, And | Or | ExactlyOne):
                todo += reversed(part.items)
            elif span_of(part).end:
                return self._of_type.get(span_of(part), span_of(part))
        return Span(0, 0)

    def places(self, formula: Formula, *, follows: bool = True) -> tuple[Span, ...]:
        """Return the positions of a formula's schemas, each with its key, and of the definitions that they name."""
        found: dict[Span, None] = {}
        todo = [formula]
        while todo:
            part = todo.pop()
            if isinstance(part, Ref):
                found[self.with_key(span_of_location(self._arena.definition_locations[part.number]))] = None
                definition = self._arena.definitions[part.number]
                if follows and isinstance(definition, Ref):
                    todo.append(definition)
            elif isinstance(part, And | Or | ExactlyOne):
                todo += reversed(part.items)
            elif span_of(part) in self._of_type:
                found[self.with_key(self._of_type[span_of(part)])] = None
        return tuple(found)

    def with_key(self, span: Span) -> Span:
        """Extend the span of a member's value to its key."""
        return Span(self._keys.get(span, span).start, span.end)

    def pointer(self, span: Span) -> str:
        """Return the JSON Pointer of the value at a span."""
        node = self._schemas.get(span)
        return node.pointer if node is not None else ""

    def _node(self, formula: Formula) -> Json | None:
        if not isinstance(formula, Ref):
            return None
        return self._schemas.get(span_of_location(self._arena.definition_locations[formula.number]))


class FormulaClasses:
    """Numbers formulas: those with the same number have the same values, property order included.

    The arena has one formula for equal assertions, but a definition for each subschema, so copies of a subschema differ
    in the numbers of their definitions. In a bundled schema of 300 KB, three quarters of all subschemas are copies.
    """

    def __init__(self, arena: Arena) -> None:
        self._definitions = arena.definitions
        self._of: dict[Formula, int] = {}
        self._numbers: dict[object, int] = {}
        self._open: set[int] = set()

    def number(self, formula: Formula) -> int:
        """Return the number of a formula's class."""
        known = self._of.get(formula)
        if known is not None:
            return known
        checkpoint()
        if isinstance(formula, Ref):
            definition = self._definitions[formula.number]
            if definition is None or formula.number in self._open:  # a recursion is equal to itself alone
                return self._numbers.setdefault(("open", formula.number), len(self._numbers))
            self._open.add(formula.number)
            found = self.number(definition)
            self._open.discard(formula.number)
        else:
            found = self._numbers.setdefault(self._key(formula), len(self._numbers))
        self._of[formula] = found
        return found

    def _key(self, formula: Formula) -> object:
        match formula:
            case And() | Or() | ExactlyOne():
                return type(formula), tuple(map(self.number, formula.items))
            case Not():
                return Not, self.number(formula.item)
            case _:
                return type(formula), tuple(
                    ("class", self.number(value)) if isinstance(value, Formula) else value
                    for field in fields(formula)
                    if field.name != "location" and (value := getattr(formula, field.name), True)
                )


def shown_names(rules: Mapping[str, Span], source: SourceText) -> dict[str, str]:
    """Return other names for rules that have only a number to tell them apart: the paths of their schemas.

    `address-2` becomes `shipping-address`, `object-3` the `option-2` of an `anyOf`, and the rules that are parts of
    one (`object-3-key`) are renamed with it. Paths are as short as is unique.

    Args:
        rules: the names of the rules, each with the position of its schema.
        source: the schema.
    """
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for name, span in rules.items():
        if span.end and (found := _NUMBERED.fullmatch(name)) and found["plain"].rpartition("-")[2] not in _PARTS:
            alike[found["plain"]].append(name)
    if not alike:
        return {}
    pointers = _pointers(source.text)
    shown: dict[str, str] = {}
    taken = set(rules)
    for plain, names in sorted(alike.items()):
        members = [plain, *names] if plain in rules and rules[plain].end else names
        paths = {name: _path(pointers.get(rules[name], "")) for name in members}
        for length in range(1, 1 + max(map(len, paths.values()))):
            found_names = {name: _joined(path, length) for name, path in paths.items()}
            others = taken - {*members}
            if len({*found_names.values()}) == len(members) and others.isdisjoint({*found_names.values(), ""}):
                shown |= found_names
                taken |= {*found_names.values()}
                break
    for name in sorted(rules.keys() - shown.keys()):
        owner = max((one for one in shown if name.startswith(f"{one}-")), key=len, default=None)
        part = "" if owner is None else shown[owner] + name[len(owner) :]
        if part and part not in taken:
            shown[name] = part
            taken.add(part)
    return shown


def _pointers(text: str) -> dict[Span, str]:
    found: dict[Span, str] = {}
    todo = [read_json(text)]
    while todo:
        node = todo.pop()
        found[node.span] = node.pointer
        todo += [*node.members.values(), *node.items]
    return found


def _path(pointer: str) -> tuple[str, ...]:
    """Return the steps to a schema in words, from the last definition on: `tags`, `item`, `option-2`."""
    steps = [unescape_step(step) for step in pointer.split("/")[1:]]
    words: list[str] = []
    at = 0
    while at < len(steps):
        keyword, following = steps[at], steps[at + 1 : at + 2]
        at += 1
        if following and keyword in NAMED_SUBSCHEMAS:
            words = [] if keyword in _DEFINITIONS else words
            words.append("other" if keyword == "patternProperties" else kebab(following[0]))
            at += 1
        elif keyword in ("additionalProperties", "unevaluatedProperties"):
            words.append("other")
        elif following and following[0].isdecimal() and keyword in (*_CHOICES, "prefixItems", "items"):
            words.append(f"{'option' if keyword in _CHOICES else 'item'}-{int(following[0]) + 1}")
            at += 1
        elif keyword in ("items", "then", "else"):
            words.append("item" if keyword == "items" else keyword)
    return tuple(filter(None, words))


def _joined(path: tuple[str, ...], least: int) -> str:
    """Return the last steps of a path as a name, at least so many, beginning with a name that the schema has."""
    start = max(0, len(path) - least)
    while start > 0 and re.fullmatch(r"(option|item)(-\d+)?|other|then|else", path[start]):
        start -= 1
    return "-".join(path[start:])
