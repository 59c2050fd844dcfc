"""Breakpoints by source offset: what a breakpoint at a position of the grammar text refers to.

In GBNF it is a rule: the one referenced at the offset, else the one defined there. In a JSON Schema it is the innermost
subschema. In a regular expression, whose parts have no names, it is the source position itself, if something is read
there.
"""

from __future__ import annotations

from engine.compile import CompiledGrammar
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind
from engine.grammar import Chars, Grammar, RuleReference, TokenSet
from engine.grammar.nodes import parts
from engine.notations.json_schema.json_tree import Json, read_json
from engine.source import SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.source.json_pointer import NAMED_SUBSCHEMAS, escape_step

_LONGEST_LABEL = 24
_BY_INDEX = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_ALONE = frozenset(
    (
        *("items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties"),
        *("propertyNames", "not", "if", "then", "else"),
    )
)


def breakpoint_at(grammar: CompiledGrammar, offset: int) -> Breakpoint | None:
    """Return the breakpoint for an offset in the source; None if nothing is read there."""
    if grammar.describes_json:
        return _in_schema(grammar.source, offset)
    if grammar.grammar is None:
        return None
    if grammar.has_named_rules:
        return _in_rules(grammar.grammar, offset)
    return _in_expression(grammar.grammar, grammar.source, offset)


def _in_rules(grammar: Grammar, offset: int) -> Breakpoint | None:
    for rule in grammar.rules:
        for part in parts(rule.node):
            if isinstance(part, RuleReference) and _holds(part.span, offset):
                return _on_rule(part.name, next(found.span for found in grammar.rules if found.name == part.name))
    started = [rule for rule in grammar.rules if rule.span.end and rule.span.start <= offset]
    if not started:
        return None
    rule = max(started, key=lambda found: found.span)
    return _on_rule(rule.name, rule.span)


def _on_rule(name: str, span: Span) -> Breakpoint:
    return Breakpoint(BreakpointKind.RULE, name, offset=span.start, label=name)


def _in_expression(grammar: Grammar, source: SourceText, offset: int) -> Breakpoint | None:
    spans = (
        part.span
        for rule in grammar.rules
        for part in parts(rule.node)
        if isinstance(part, Chars | TokenSet) and part.span.end and _holds(part.span, offset)
    )
    # The cursor is between two characters: prefer the one after it, else the one before it.
    found = min(spans, key=lambda span: (offset not in span, span.end - span.start), default=None)
    if found is None:
        return None
    text = source.excerpt(found)
    label = text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
    return Breakpoint(BreakpointKind.POSITION, offset=found.start, label=label)


def _holds(span: Span, offset: int) -> bool:
    return span.start <= offset <= span.end


def _in_schema(source: SourceText, offset: int) -> Breakpoint | None:
    value, pointer = read_json(source.text), ""
    best = value, pointer
    todo: list[tuple[Json, list[str]]] = [(value, [])]
    while todo:
        value, path = todo.pop()
        if not _holds(value.span, offset) and path:
            continue
        if _is_subschema(path):
            best = value, "".join(f"/{part}" for part in path)
        for name, member in value.members.items():
            below = [*path, escape_step(name)]
            if _holds(value.key_spans[name], offset) and _is_subschema(below):
                return _on_pointer("".join(f"/{part}" for part in below), member)
            todo.append((member, below))
        todo += ((item, [*path, str(index)]) for index, item in enumerate(value.items))
    value, pointer = best
    return _on_pointer(pointer, value)


def _on_pointer(pointer: str, value: Json) -> Breakpoint:
    return Breakpoint(
        BreakpointKind.RULE, pointer, offset=value.span.start, label=pointer or catalogue_text("decoding.whole_schema")
    )


def _is_subschema(path: list[str]) -> bool:
    """Return whether the keywords on a path from the root lead to a subschema."""
    at = 0
    while at < len(path):
        key = path[at]
        if key in NAMED_SUBSCHEMAS or key in _BY_INDEX:
            at += 2
        elif key in _ALONE:
            at += 2 if key == "items" and at + 1 < len(path) and path[at + 1].isdecimal() else 1
        else:
            return False
    return at == len(path)
