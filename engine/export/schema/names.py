"""Names and source positions of a schema's rules, and which parts of it are copies of one another."""

from __future__ import annotations

from dataclasses import fields

from engine.export.rules.rule_builder import kebab
from engine.notations.json_schema.json_tree import Json, read_json
from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import And, ExactlyOne, Formula, Not, Or, Ref, span_of, span_of_location
from engine.source import SourceText, Span, checkpoint
from engine.source.json_pointer import unescape_step

_DEFINITIONS = ("$defs", "definitions")


class SchemaNames:
    """Finds the definition of a formula, its name and its source position."""

    def __init__(self, arena: Arena, source: SourceText) -> None:
        self._arena = arena
        self._schemas: dict[Span, Json] = {}
        self._keys: dict[Span, Span] = {}
        self._of_type: dict[Span, Span] = {}  # a schema with only a type has no definition
        todo = [read_json(source.text)]
        while todo:
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
