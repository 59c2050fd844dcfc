"""The cost of a grammar by rule or JSON Pointer, before another engine compiles it.

For a grammar of rules, a part is a rule: the states of its automaton, and the plain rules that llama.cpp makes of it.
For a schema, a part is a subschema: the states of an automaton that has one for each character, each item and each
property, as outlines-core builds it. The states of a part include those within it.

Optional parts in a row, such as `a? a? a?`, match the same text in many ways, for each of which llama.cpp keeps a
stack; `a{0,3}` matches it in one.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.targets.findings import TargetRewrite
from engine.grammar import Grammar, Repeat, Sequence
from engine.grammar.nodes import parts
from engine.notations.editing import Edit
from engine.notations.gbnf.plain_rules import plain_rules
from engine.notations.json_schema.outline import Outline, OutlinePart, OutlineRole
from engine.notations.json_schema.targets import key_span
from engine.source import LimitExceededError, SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.source.json_pointer import escape_step

_MOST_STATES: Final = 20_000
_FEWEST_OPTIONAL: Final = 3
_ENDS: Final = 2  # states before and behind a string or a property
_APPLICATORS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")


@dataclass(frozen=True, slots=True)
class PartCost:
    """The cost of one part.

    Attributes:
        name: the name of the rule, or the JSON Pointer of the subschema.
        span: the rule or the key of the subschema in the text.
        states: the number of states.
        plain_rules: the number of plain rules that llama.cpp makes of it; None for a schema.
    """

    name: str
    span: Span
    states: int
    plain_rules: int | None = None


@dataclass(frozen=True, slots=True)
class GrammarCost:
    """The cost of a grammar.

    Attributes:
        compile_ms: milliseconds in which our own engine compiles it.
        states: the number of states of all parts together.
        is_forecast: whether the states were computed from bounds, and not counted.
        parts: the costs of the parts, the largest first.
        rewrites: equivalent forms with fewer stacks.
    """

    compile_ms: float
    states: int
    is_forecast: bool
    parts: tuple[PartCost, ...]
    rewrites: tuple[TargetRewrite, ...] = ()


def grammar_cost(notation: str, source: SourceText, options: CompileOptions) -> GrammarCost:
    """Return the cost of a grammar.

    Args:
        notation: the id of its notation.
        source: the text.
        options: the compile options.

    Raises:
        GrammarError: it has an error.
    """
    began = time.perf_counter()
    compiled = compile_grammar(notation, source, options)
    compile_ms = (time.perf_counter() - began) * 1e3
    if compiled.grammar is None:
        found = sorted(_subschemas(source.text), key=lambda part: -part.states)
        return GrammarCost(compile_ms, found[0].states if found else 0, True, tuple(found))
    found = sorted(_rules(compiled, compiled.grammar), key=lambda part: -part.states)
    rewrites = tuple(_optional_runs(compiled.grammar, source.text))
    return GrammarCost(compile_ms, sum(part.states for part in found), False, tuple(found), rewrites)


# ---------------------------------------------------------------------- rules


def _rules(compiled: CompiledGrammar, grammar: Grammar) -> Iterator[PartCost]:
    plain: Counter[str] = Counter()
    states = dict.fromkeys((rule.name for rule in grammar.rules), _MOST_STATES)
    try:
        plain = Counter(rule.origin for rule in plain_rules(grammar))
        if compiled.has_rules:
            states = {rule.name: len(rule.dfa.states) for rule in compiled.rule_automata(_MOST_STATES).rules}
        else:
            states = {grammar.start: len(compiled.materialise(_MOST_STATES).states)}
    except LimitExceededError:
        pass  # it has more than can be counted
    for rule in grammar.rules:
        yield PartCost(rule.name, rule.span, states.get(rule.name, 0), plain[rule.name])


def _optional_runs(grammar: Grammar, text: str) -> Iterator[TargetRewrite]:
    """Yield a rewrite for each run of the same optional part."""
    for rule in grammar.rules:
        for node in parts(rule.node):
            if not isinstance(node, Sequence):
                continue
            for body, run in groupby(node.items, key=lambda item: _optional_body(item, text)):
                spans = [item.span for item in run]
                if body and len(spans) >= _FEWEST_OPTIONAL:
                    replacement = f"{body}{{0,{len(spans)}}}"
                    title = catalogue_text("targets.rewrite.pattern", pattern=replacement)
                    yield TargetRewrite(title, (Edit(Span(spans[0].start, spans[-1].end), replacement),))


def _optional_body(node: object, text: str) -> str:
    """Return the text of what is optional; empty if the node is nothing of this kind."""
    if not isinstance(node, Repeat) or (node.minimum, node.maximum) != (0, 1):
        return ""
    body = node.node.span
    written = text[body.start : body.end]
    return written if written and text[body.end : body.end + 1] == "?" else ""


# ---------------------------------------------------------------------- schemas


def _subschemas(text: str) -> Iterator[PartCost]:
    root = Outline(text).root
    for part in root.walk() if root is not None else ():
        if part.role is OutlineRole.SCHEMA and part.is_object:
            data = json.loads(text[part.span.start : part.span.end])
            span = key_span(part) if part.holder is not None else Span(part.span.start, part.span.start + 1)
            yield PartCost(_pointer(part), span, _states(data))


def _states(schema: Any) -> int:
    """Return the states of a subschema, of which each bound makes so many."""
    if not isinstance(schema, dict):
        return 1
    constants = [*_listed(schema.get("enum")), *([schema["const"]] if "const" in schema else [])]
    total = sum(len(json.dumps(value)) for value in constants)
    length = max(_bound(schema, "maxLength"), _bound(schema, "minLength"))
    total += length + _ENDS if length or schema.get("type") == "string" else 0
    properties = schema.get("properties")
    for name, value in properties.items() if isinstance(properties, dict) else ():
        total += len(name) + _ENDS + _states(value)
    for keyword in _APPLICATORS:
        total += sum(_states(value) for value in _listed(schema.get(keyword)))
    if schema.get("type") == "array" or "items" in schema:
        total += max(_bound(schema, "maxItems"), _bound(schema, "minItems"), 1) * _states(schema.get("items"))
    total += _states(schema["additionalProperties"]) if isinstance(schema.get("additionalProperties"), dict) else 0
    return max(total, 1)


def _bound(schema: dict[str, Any], keyword: str) -> int:
    value = schema.get(keyword, 0)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _pointer(part: OutlinePart) -> str:
    steps: list[str] = []
    here: OutlinePart | None = part
    while here is not None and here.holder is not None:
        steps.append(escape_step(str(here.name)))
        here = here.holder
    return "".join(f"/{step}" for step in reversed(steps))
