"""The rules about the grammar itself: what an engine refuses, and what makes it slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from engine.diagnosis.case import FinishReason
from engine.diagnosis.failures.diagnosis import Cause, EvidenceWeight, FailurePlace
from engine.diagnosis.failures.examination import Examination, bounded_repetitions
from engine.diagnosis.failures.rules import CauseRule, Finding, server_name
from engine.diagnosis.failures.schema_check import parts_of
from engine.diagnosis.targets.cost import MANY_STACKS, MANY_STATES, optional_runs
from engine.diagnosis.targets.findings import TargetFinding
from engine.diagnosis.targets.lint import lint_grammar
from engine.diagnosis.targets.llama_stacks import StackGrowth, stack_growth
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.source import Diagnostic, LimitExceededError
from engine.source.catalogue import catalogue_text, has_text
from engine.source.json_pointer import NAMED_SUBSCHEMAS, unescape_step
from engine.source.text import quoted
from engine.targets import ENGINES, Effect

_DATA: Final = frozenset(("enum", "const", "default", "examples"))
_LLAMA: Final = frozenset(("llama.cpp", "ollama"))


# --- what an engine refuses


@dataclass(frozen=True, slots=True)
class EngineRefusal:
    """A part of a grammar that an engine does not take as written.

    Attributes:
        engine: the engine.
        keyword: the keyword or construct.
        pointer: the JSON Pointer of the keyword; None for other notations.
        note: a sentence about it.
        effect: how the engine treats it.
    """

    engine: str
    keyword: str
    pointer: str | None
    note: str
    effect: Effect = Effect.REFUSES

    @property
    def shown_keyword(self) -> str:
        """Return the keyword in backticks, or the name of the construct."""
        if has_text(f"failures.fragment.construct.{self.keyword}"):
            return catalogue_text(f"failures.fragment.construct.{self.keyword}")
        return quoted(self.keyword or "schema")


def refusals(examined: Examination, engine: str, version: str | None = None) -> Iterator[EngineRefusal]:
    """Yield what an engine does not take as written, what it refuses first.

    Args:
        examined: the grammar.
        engine: the name of the engine; nothing is yielded if there are no data on it.
        version: its version; by default that of the target, if it is the engine, or the examined one.
    """
    constraint = examined.constraint
    if constraint is None or engine not in ENGINES or NOTATIONS[constraint.notation].has_named_rules:
        return  # the diagnostics of rules say what llama.cpp refuses
    if version is None:
        version = examined.context.target.partition("@")[2] if engine == examined.server else ""
    patterns = {f"{pointer}/pattern": str(part.get("pattern")) for pointer, part in subschemas(examined.schema)}
    found = _linted(constraint.notation, constraint.text, engine, version, constraint.options)
    for one in sorted(found, key=lambda one: one.effect is not Effect.REFUSES):
        note = catalogue_text("failures.evidence.finding", text=one.sentence.removesuffix("."))
        if one.construct:
            pattern = patterns.get(one.pointer, constraint.text)
            note = catalogue_text(f"failures.evidence.construct.{one.construct}", pattern=quoted(pattern))
        pointer = one.pointer if examined.is_json else None
        yield EngineRefusal(engine, one.construct or one.keyword, pointer, note, one.effect)


@lru_cache(maxsize=16)
def _linted(notation: str, text: str, engine: str, version: str, options: CompileOptions) -> tuple[TargetFinding, ...]:
    """Return the findings of a lint; a diagnosis needs those of each engine several times."""
    return lint_grammar(notation, text, engine, version, options=options, rewrites=False)


def refusal_sentence(refused: EngineRefusal, engines: Sequence[str]) -> str:
    """Return what engines do with a part of a grammar."""
    names = ", ".join(map(server_name, engines))
    if refused.keyword == "properties" and refused.pointer and refused.note:  # no engine refuses them: it is the object
        place = quoted(refused.pointer.rpartition("/")[0] or "/")
        note = refused.note.removesuffix(".")
        return catalogue_text("failures.sentence.unsupported-construct.object", engines=names, place=place, note=note)
    place = quoted(refused.pointer) if refused.pointer else catalogue_text("failures.fragment.expression")
    return catalogue_text(
        f"failures.sentence.unsupported-construct.{refused.effect}",
        engines=names,
        keyword=refused.shown_keyword,
        place=place,
    )


def subschemas(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a schema and its subschemas with their pointers; data and maps of names are not schemas."""
    for pointer, part in parts_of(schema):
        steps = [unescape_step(step) for step in pointer.split("/")[1:]]
        is_map = bool(steps) and steps[-1] in NAMED_SUBSCHEMAS and (len(steps) < 2 or steps[-2] not in NAMED_SUBSCHEMAS)
        if isinstance(part, dict) and not is_map and not _DATA & set(steps):
            yield pointer, part


def _unsupported(examined: Examination) -> Finding | None:
    """Find what the named target refuses, or without an output and a target, what any engine refuses."""
    if examined.constraint is None:
        return None
    if compat := _compatibility(examined, ("gbnf-compat-name", "gbnf-compat-line", "gbnf-compat-repetition")):
        if not examined.server or examined.server in _LLAMA:
            return _of_diagnostic(examined, Cause.UNSUPPORTED_CONSTRUCT, compat)
        return None
    if examined.server:
        found = list(refusals(examined, examined.server))
        if examined.part is not None or examined.case.log:
            found = [one for one in found if one.effect is Effect.REFUSES]
    elif examined.part is None:
        found = [
            one
            for engine in ENGINES
            for one in refusals(examined, engine)
            if one.effect is Effect.REFUSES and engine != "openai"
        ]
    else:
        return None
    if not found:
        return None
    first = found[0]
    same = [one for one in found if (one.keyword, one.pointer) == (first.keyword, first.pointer)]
    engines = list(dict.fromkeys(one.engine for one in same))
    sentence = refusal_sentence(first, engines)
    fix = ""
    if has_text(f"failures.fix.unsupported-construct.{first.keyword}"):
        fix = catalogue_text(f"failures.fix.unsupported-construct.{first.keyword}")
    pointers = list(dict.fromkeys(one.pointer for one in found if one.pointer is not None))
    return Finding(
        Cause.UNSUPPORTED_CONSTRUCT,
        sentence,
        first.keyword,
        fix=fix,
        evidence=tuple(dict.fromkeys(one.note for one in found if one.note))[:8],
        places=tuple(FailurePlace(pointer=pointer) for pointer in pointers[:8]),
    )


# --- left recursion


def _compatibility(examined: Examination, codes: tuple[str, ...]) -> Diagnostic | None:
    if examined.grammar is None:
        return None
    return next((one for one in examined.grammar.diagnostics if one.code in codes), None)


def _of_diagnostic(examined: Examination, cause: Cause, found: Diagnostic, detail: str | None = None) -> Finding:
    assert examined.grammar is not None
    line, column = examined.grammar.source.line_column(found.span.start)
    sentence = catalogue_text("failures.sentence.unsupported-construct.diagnostic", line=line, message=found.message)
    place = FailurePlace(line=line, column=column, offset=found.span.start)
    fix = catalogue_text("verdicts.grammar.hint", hint=found.hint)
    return Finding(cause, sentence, found.code.split("-", 2)[2] if detail is None else detail, fix=fix, places=(place,))


def _left_recursion(examined: Examination) -> Finding | None:
    found = _compatibility(examined, ("gbnf-compat-left-recursion", "gbnf-compat-empty-loop"))
    if found is None:
        return None
    detail = "" if found.code.endswith("left-recursion") else "empty-loop"
    return _of_diagnostic(examined, Cause.LEFT_RECURSION, found, detail)


# --- cost


def _state_explosion(examined: Examination) -> Finding | None:
    grammar = examined.grammar
    if grammar is None or grammar.grammar is None or not grammar.has_named_rules or grammar.automaton.token_elements:
        return None
    if _compatibility(examined, ("gbnf-compat-left-recursion", "gbnf-compat-empty-loop")) is not None:
        return None  # llama.cpp refuses it before
    try:
        growth: StackGrowth | None = stack_growth(grammar.grammar, examined.data[: examined.legal])
    except (LimitExceededError, RecursionError):
        return None
    if growth is None or growth.most < MANY_STACKS:
        return None
    fix = ""
    evidence = [catalogue_text("failures.evidence.stacks", counts=", ".join(f"{one:,}" for one in growth.counts[:12]))]
    name = growth.rule
    for rewrite in optional_runs(grammar.grammar, grammar.source.text):
        (edit,) = rewrite.edits
        written = grammar.source.text[edit.span.start : edit.span.end]
        count = len(written.split())
        evidence.append(catalogue_text("failures.evidence.optional", text=quoted(written), count=count))
        fix = catalogue_text("failures.fix.state-explosion.optional", text=quoted(edit.replacement))
        before = [rule for rule in grammar.grammar.rules if rule.span.start <= edit.span.start]
        name = max(before, key=lambda rule: rule.span.start).name if before else name
        break
    span = next((rule.span for rule in grammar.grammar.rules if rule.name == name), None)
    places: tuple[FailurePlace, ...] = ()
    if span is not None:
        line, column = grammar.source.line_column(span.start)
        places = (FailurePlace(line=line, column=column, offset=span.start),)
    sentence = catalogue_text("failures.sentence.state-explosion.text", rule=quoted(name), count=growth.most)
    evidence.append(catalogue_text("failures.evidence.merged", count=max(growth.stacks)))
    return Finding(Cause.STATE_EXPLOSION, sentence, name, fix=fix, evidence=tuple(evidence), places=places)


def _slow_compile(examined: Examination) -> Finding | None:
    costs = sorted(_costs(examined), reverse=True)
    total = sum(cost for cost, _, _ in costs)
    if total < MANY_STATES:
        return None
    cost, pointer, keyword = costs[0]
    place = quoted(pointer) if pointer else quoted(keyword)
    sentence = catalogue_text("failures.sentence.slow-compile.text", place=place, cost=cost, total=total)
    evidence = tuple(
        catalogue_text("failures.evidence.states", place=quoted(where or name), cost=part)
        for part, where, name in costs[:6]
    )
    places = tuple(FailurePlace(pointer=where) for _, where, _ in costs[:6] if where)
    return Finding(Cause.SLOW_COMPILE, sentence, keyword, evidence=evidence, places=places)


def _costs(examined: Examination) -> Iterator[tuple[int, str, str]]:
    """Yield the states that bounded repetitions make in a finite automaton, with pointer and keyword."""
    if examined.constraint is None:
        return
    if examined.grammar is not None and examined.grammar.is_expression:
        for match in bounded_repetitions(examined.constraint.text):
            yield int(match[2] or match[1]), "", match[0]
        return
    for pointer, part in subschemas(examined.schema):
        factor = _items_around(examined.schema, pointer)
        for keyword in ("maxLength", "minLength"):
            value = part.get(keyword)
            if isinstance(value, int) and not isinstance(value, bool):
                yield value * factor, f"{pointer}/{keyword}", keyword
                break
        if isinstance(part.get("maxItems"), int) and isinstance(part.get("items"), dict):
            yield int(part["maxItems"]) * factor, f"{pointer}/maxItems", "maxItems"
        if isinstance(part.get("pattern"), str):
            size = sum(int(match[2] or match[1]) for match in bounded_repetitions(part["pattern"]))
            yield size * factor, f"{pointer}/pattern", "pattern"


def _items_around(schema: Any, pointer: str) -> int:
    """Return how many times the arrays around a subschema repeat it."""
    factor, here = 1, schema
    for step in pointer.split("/")[1:]:
        if step == "items" and isinstance(here, dict) and isinstance(here.get("maxItems"), int):
            factor *= max(1, int(here["maxItems"]))
        name = unescape_step(step)
        if isinstance(here, list):
            here = here[int(name)] if name.isdigit() and int(name) < len(here) else None
        else:
            here = here.get(name) if isinstance(here, dict) else None
    return factor


# --- samplers


def _sampler_conflict(examined: Examination) -> Finding | None:
    case = examined.case
    is_answered = examined.part is not None and bool(examined.data)
    if examined.grammar is None:
        return None
    if case.top_k is not None and 0 < case.top_k <= 2 and not is_answered:
        sentence = catalogue_text("failures.sentence.sampler-conflict.top_k", value=case.top_k)
        return Finding(Cause.SAMPLER_CONFLICT, sentence, "top-k", weight=EvidenceWeight.REPORTED)
    least = case.min_tokens
    if least is None or least < 1 or case.finish is FinishReason.STOP:
        return None
    automaton = examined.grammar.automaton
    text = examined.data if examined.is_complete else automaton.shortest_completion(automaton.start, 2_000).text
    if text is None or len(text) >= least or (is_answered and not examined.is_complete):
        return None
    after = automaton.run(automaton.start, text)
    if automaton.expected(after) and any(last > 0x20 for _, last in automaton.expected(after)):
        return None
    sentence = catalogue_text("failures.sentence.sampler-conflict.min_tokens", value=least, text=quoted(text.decode()))
    return Finding(Cause.SAMPLER_CONFLICT, sentence, "min-tokens", weight=EvidenceWeight.REPORTED)


LEFT_RECURSION: Final = CauseRule(Cause.LEFT_RECURSION, _left_recursion)
UNSUPPORTED_CONSTRUCT: Final = CauseRule(Cause.UNSUPPORTED_CONSTRUCT, _unsupported)
STATE_EXPLOSION: Final = CauseRule(Cause.STATE_EXPLOSION, _state_explosion)
SLOW_COMPILE: Final = CauseRule(Cause.SLOW_COMPILE, _slow_compile)
SAMPLER_CONFLICT: Final = CauseRule(Cause.SAMPLER_CONFLICT, _sampler_conflict)
