"""The cost of a grammar by rule or JSON Pointer, before another engine compiles it.

For a grammar of rules, a part is a rule: the states of its automaton, and the plain rules that llama.cpp makes of it.
For a schema, a part is a subschema: the states of an automaton that has one for each character, each item and each
property, as outlines-core builds it. The states of a part include those within it.

The stacks of llama.cpp are counted along a text (`llama_stacks`); those of a schema in the rules that the export to
GBNF writes for it, which have the positions of the subschemas. Optional parts in a row, such as `a? a? a?`, match the
same text in many ways; `a{0,3}` matches it in one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Final

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.targets.findings import TargetRewrite
from engine.diagnosis.targets.llama_stacks import RuleStacks, StackCounter, StackGrowth, stack_growth
from engine.diagnosis.test_strings.suggestions import random_texts
from engine.export.schema.settings import NumberSpelling
from engine.export.text.conversion import rules_of
from engine.grammar import Grammar, Lookaround, Node, Repeat
from engine.grammar import Sequence as Items
from engine.grammar.nodes import parts
from engine.notations.editing import Edit
from engine.notations.gbnf.plain_rules import plain_rules
from engine.notations.json_schema.mapping import schema_map
from engine.notations.json_schema.outline import Outline, OutlinePart, OutlineRole
from engine.notations.json_schema.targets import key_span
from engine.source import GrammarError, LimitExceededError, SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.source.json_pointer import escape_step
from engine.source.json_scanner import JSON_NUMBER

MANY_STACKS: Final = 48
"""The number of stacks of llama.cpp from which a grammar is slow: usual grammars have fewer than 20."""
MANY_STATES: Final = 1_500
"""The states of bounded repetitions from which outlines-core 0.2.14 and xgrammar 0.2.8 take seconds."""
MANY_REPETITIONS: Final = 2_000
"""llama.cpp's `MAX_REPETITION_THRESHOLD`: it refuses a repetition of so many, and since b11549 has no upper bound for
one of more."""
_MOST_STATES: Final = 20_000
_FEWEST_OPTIONAL: Final = 3
_MOST_COUNTED: Final = 2**62
_SAMPLES: Final = 4
_SAMPLE_LENGTH: Final = 160
_SEED: Final = 0
_BOUNDS: Final = ("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties")


class CostMeasure(StrEnum):
    """A quantity for which an engine has a known limit."""

    REPETITION = "repetition"  # the largest count of one repetition
    STACKS = "stacks"  # different stacks at one position
    STATES = "states"  # states of a finite automaton


@dataclass(frozen=True, slots=True)
class EngineLimit:
    """A measure of a grammar beside the limit of an engine.

    Attributes:
        engine: the id of the engine, a name of `engine.targets.ENGINES`.
        measure: what is counted.
        value: the count.
        limit: the smallest count that the engine refuses, or for which it takes seconds.
        part: the rule or JSON Pointer with the largest count.
    """

    engine: str
    measure: CostMeasure
    value: int
    limit: int
    part: str

    @property
    def is_exceeded(self) -> bool:
        """Return whether the engine refuses the grammar or is slow."""
        return self.value >= self.limit


@dataclass(frozen=True, slots=True)
class PartCost:
    """The cost of one part.

    Attributes:
        name: the name of the rule, or the JSON Pointer of the subschema.
        span: the rule or the key of the subschema in the text.
        states: the number of states.
        plain_rules: the number of plain rules that llama.cpp makes of it; None for a schema.
        stacks: the stacks of llama.cpp that are in the part or return to it; None if none was counted.
    """

    name: str
    span: Span
    states: int
    plain_rules: int | None = None
    stacks: RuleStacks | None = None


@dataclass(frozen=True, slots=True)
class GrammarCost:
    """The cost of a grammar.

    Attributes:
        compile_ms: milliseconds in which our own engine compiles it.
        states: the number of states of all parts together.
        is_forecast: whether the states were computed from bounds, and not counted.
        parts: the costs of the parts, the largest first.
        rewrites: equivalent forms with fewer stacks.
        growth: the stacks of llama.cpp along the text on which most were counted; None if there are none.
        limits: the measures beside the known limits of engines.
    """

    compile_ms: float
    states: int
    is_forecast: bool
    parts: tuple[PartCost, ...]
    rewrites: tuple[TargetRewrite, ...] = ()
    growth: StackGrowth | None = None
    limits: tuple[EngineLimit, ...] = ()


def grammar_cost(notation: str, source: SourceText, options: CompileOptions, sample: bytes = b"") -> GrammarCost:
    """Return the cost of a grammar.

    Args:
        notation: the id of its notation.
        source: the text.
        options: the compile options.
        sample: the text along which stacks are counted; empty for texts of the grammar.

    Raises:
        GrammarError: it has an error.
    """
    began = time.perf_counter()
    compiled = compile_grammar(notation, source, options)
    compile_ms = (time.perf_counter() - began) * 1e3
    if compiled.grammar is None:
        outline = list(_subschema_parts(source.text, options.draft))
        found = [part for part, _, _ in outline]
        states = max((part.states for part in found), default=0)
        growths, names = _schema_stacks(compiled, outline, sample)
        bounds = [(part.name, bound) for part, _, bound in outline]
        rewrites: tuple[TargetRewrite, ...] = ()
    else:
        found = list(_rules(compiled, compiled.grammar))
        states = sum(part.states for part in found)
        growths, names = _rule_stacks(compiled, compiled.grammar, sample), {part.name: (part.name,) for part in found}
        bounds = [(rule.name, _largest_count(rule.node)) for rule in compiled.grammar.rules]
        rewrites = tuple(optional_runs(compiled.grammar, source.text))
    stacks = _by_part(growths, names)
    growth = max(growths, key=lambda one: (max(one.stacks), one.most), default=None)
    costs = sorted((replace(part, stacks=stacks.get(part.name)) for part in found), key=lambda part: -part.states)
    limits = tuple(_limits(costs, states, bounds, growth, stacks))
    return GrammarCost(compile_ms, states, compiled.grammar is None, tuple(costs), rewrites, growth, limits)


def _limits(
    costs: Sequence[PartCost],
    states: int,
    bounds: Sequence[tuple[str, int]],
    growth: StackGrowth | None,
    stacks: Mapping[str, RuleStacks],
) -> Iterator[EngineLimit]:
    """Yield each measure beside the limit of an engine."""
    if bounds:
        name, count = max(bounds, key=lambda pair: pair[1])
        yield EngineLimit("llama.cpp", CostMeasure.REPETITION, count, MANY_REPETITIONS, name)
    if growth is not None:
        part = max(stacks, key=lambda name: (stacks[name].stacks, stacks[name].parses), default="")
        yield EngineLimit("llama.cpp", CostMeasure.STACKS, max(growth.stacks), MANY_STACKS, part)
    if costs:
        # A root has the states of all parts; the part to change is the smallest that has most of them.
        guilty = min(
            (part for part in costs if 2 * part.states >= states), key=lambda part: part.states, default=costs[0]
        )
        for engine in ("outlines-core", "xgrammar"):
            yield EngineLimit(engine, CostMeasure.STATES, states, MANY_STATES, guilty.name)


# ---------------------------------------------------------------------- stacks


def _rule_stacks(compiled: CompiledGrammar, grammar: Grammar, sample: bytes) -> list[StackGrowth]:
    """Return the stacks of a grammar of rules, along a sample or the characters that most stacks accept."""
    if _has_conditions(grammar) or compiled.automaton.token_elements:
        return []  # llama.cpp has no conditions, and a token is no text
    try:
        return list(filter(None, [stack_growth(grammar, sample)]))
    except (LimitExceededError, RecursionError):
        return []


def _schema_stacks(
    compiled: CompiledGrammar, outline: Sequence[tuple[PartCost, Span, int]], sample: bytes
) -> tuple[list[StackGrowth], dict[str, tuple[str, ...]]]:
    """Return the stacks of the rules of a schema, and the JSON Pointers of each rule."""
    if compiled.is_empty:
        return [], {}
    try:
        written = rules_of(compiled, NumberSpelling.PLAIN)
        texts = [sample] if sample else _samples(compiled)
        growths = list(filter(None, (stack_growth(written.grammar, text) for text in texts)))
    except (GrammarError, LimitExceededError, RecursionError):
        return [], {}
    names: dict[str, tuple[str, ...]] = {}
    for rule in written.grammar.rules:
        ends = {place.end: place.start for place in written.places.get(rule.name, (rule.span,)) if place.end}
        names[rule.name] = tuple(
            part.name for part, span, _ in outline if ends.get(span.end, -1) in (span.start, part.span.start)
        )
    return growths, names


def stack_counter(compiled: CompiledGrammar) -> StackCounter | None:
    """Return a counter of the stacks of a grammar, or of its export to GBNF; None if llama.cpp cannot have it."""
    grammar = compiled.grammar
    if compiled.is_empty or compiled.automaton.token_elements or (grammar is not None and _has_conditions(grammar)):
        return None
    try:
        return StackCounter(grammar or rules_of(compiled, NumberSpelling.PLAIN).grammar)
    except (GrammarError, LimitExceededError, RecursionError):
        return None


def _samples(compiled: CompiledGrammar) -> list[bytes]:
    drawn = random_texts(compiled, _SAMPLES, _SEED, longest=_SAMPLE_LENGTH)
    return [one.text.encode() for one in drawn]


def _by_part(growths: Sequence[StackGrowth], names: Mapping[str, tuple[str, ...]]) -> dict[str, RuleStacks]:
    """Return the stacks of each part over several texts: the largest numbers, and the whole time."""
    found: dict[str, RuleStacks] = {}
    for growth in growths:
        for rule, one in growth.rules.items():
            for name in names.get(rule, ()):
                known = found.get(name, RuleStacks(0, 0, 0.0))
                found[name] = RuleStacks(
                    max(known.stacks, one.stacks), max(known.parses, one.parses), known.time_ms + one.time_ms
                )
    return found


def _has_conditions(grammar: Grammar) -> bool:
    return any(isinstance(part, Lookaround) for rule in grammar.rules for part in parts(rule.node))


def _largest_count(node: Node) -> int:
    """Return the largest count of a repetition in a rule."""
    repeats = (part for part in parts(node) if isinstance(part, Repeat))
    return max((max(one.minimum, one.maximum or 0) for one in repeats), default=0)


# ---------------------------------------------------------------------- rules


def _rules(compiled: CompiledGrammar, grammar: Grammar) -> Iterator[PartCost]:
    plain: Counter[str] = Counter()
    states = dict.fromkeys((rule.name for rule in grammar.rules), _MOST_STATES)
    try:
        if not _has_conditions(grammar):
            plain = Counter(rule.origin for rule in plain_rules(grammar))
        if compiled.has_rules:
            states = {rule.name: len(rule.dfa.states) for rule in compiled.rule_automata(_MOST_STATES).rules}
        else:
            states = {grammar.start: len(compiled.materialise(_MOST_STATES).states)}
    except LimitExceededError:
        pass  # it has more than can be counted
    for rule in grammar.rules:
        yield PartCost(rule.name, rule.span, states.get(rule.name, 0), plain[rule.name])


def optional_runs(grammar: Grammar, text: str) -> Iterator[TargetRewrite]:
    """Yield a rewrite for each run of the same optional part."""
    for rule in grammar.rules:
        for node in parts(rule.node):
            if not isinstance(node, Items):
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


def _subschema_parts(text: str, draft: int) -> Iterator[tuple[PartCost, Span, int]]:
    """Yield each subschema with its span and its largest bound."""
    mapped = schema_map(text, draft)
    states = {} if mapped is None else dict(zip(mapped.values, mapped.states, strict=True))
    root = Outline(text).root
    for part in root.walk() if root is not None else ():
        if part.role is OutlineRole.SCHEMA and part.is_object:
            span = key_span(part) if part.holder is not None else Span(part.span.start, part.span.start + 1)
            bound = max((_bound(part, name, text) for name in _BOUNDS), default=0)
            yield PartCost(_pointer(part), span, states.get(part.span.start, 1)), part.span, bound


def _bound(part: OutlinePart, keyword: str, text: str) -> int:
    value = part.members.get(keyword)
    written = "" if value is None else text[value.span.start : value.span.end]
    return int(min(max(float(written), 0), _MOST_COUNTED)) if JSON_NUMBER.fullmatch(written) else 0


def _pointer(part: OutlinePart) -> str:
    steps: list[str] = []
    here: OutlinePart | None = part
    while here is not None and here.holder is not None:
        steps.append(escape_step(str(here.name)))
        here = here.holder
    return "".join(f"/{step}" for step in reversed(steps))
