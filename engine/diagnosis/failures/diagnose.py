"""`diagnose`: find the cause of a failed request.

The judged part of the output is found first: the arguments of a tool call, or what follows a trigger. Every rule then
looks for the evidence of its cause. The finding with the strongest evidence is the cause; among equals, the first of
`RULES`, which are in the order in which one cause explains the next. The other findings are listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from engine.diagnosis.case import FailureCase, JudgedOutput, RequestConstraint
from engine.diagnosis.failures import grammar_rules, output_rules, token_rules, tool_rules, zone_rules
from engine.diagnosis.failures.counterfactual import MOST_EFFORT, ORDER
from engine.diagnosis.failures.diagnosis import (
    ENFORCEABLE,
    Cause,
    Diagnosis,
    EvidenceWeight,
    FailurePlace,
    LegalPrefix,
    OtherCause,
    Violation,
)
from engine.diagnosis.failures.examination import AcceptedPrefix, Examination, ExaminationContext, without_line_end
from engine.diagnosis.failures.log_rules import ENGINE_DIFFERENCE, LOG_RULES, message_alone
from engine.diagnosis.failures.refusal import refusal_of
from engine.diagnosis.failures.rules import (
    CauseRule,
    Finding,
    fix_text,
    names_listed,
    server_text,
    shown,
    where_in_output,
)
from engine.diagnosis.failures.violations import first_beginning, violations_of
from engine.diagnosis.fixes import fixes
from engine.diagnosis.intake.written_calls import written_calls
from engine.diagnosis.verdicts.replay import TokenSource
from engine.matching.explanation import RefusalKind
from engine.source import CancelToken, GrammarError, LimitExceededError, Limits, Severity, SourceText
from engine.source.catalogue import catalogue_text

_CALL_MARK: Final = re.compile(r"<tool_call>|<function=|\[TOOL_CALLS\]|<\|python_")
"""The texts that only tool calls have."""
_ABOUT_KEYWORDS: Final = frozenset((Cause.SCHEMA_VIOLATION, Cause.KEYWORD_NOT_ENFORCED))
BLANKS: Final = b" \t\r\n"
LIMITS: Final = Limits(configurations=100_000, work=2_000_000)
"""The limits of each compile: a diagnosis takes at most some seconds."""

RULES: Final[tuple[CauseRule, ...]] = (
    *LOG_RULES,
    ENGINE_DIFFERENCE,
    grammar_rules.SAMPLER_CONFLICT,
    tool_rules.UNKNOWN_TOOL,
    tool_rules.CALL_IN_TEXT,
    tool_rules.NO_CALL,
    zone_rules.TRIGGER_NEVER_CAME,
    zone_rules.WRONG_ZONE,
    output_rules.WHITESPACE_LOOP,
    output_rules.REQUEST_IGNORED,
    tool_rules.NOT_CONSTRAINED,
    token_rules.TOKENIZER_MISMATCH,
    token_rules.ENCODING,
    token_rules.SPECIAL_TOKEN_TEXT,
    token_rules.TOKEN_BOUNDARY,
    output_rules.KEY_ORDER,
    output_rules.SCHEMA_VIOLATION,
    output_rules.KEYWORD_NOT_ENFORCED,
    output_rules.REPETITION_LOOP,
    output_rules.CONSTRAINT_OFF,
    output_rules.EOS_REFUSED,
    output_rules.STOP_TOKEN,
    output_rules.CONTEXT_LIMIT,
    output_rules.CUT_OFF,
    output_rules.COMPLETE,
    grammar_rules.LEFT_RECURSION,
    grammar_rules.STATE_EXPLOSION,
    grammar_rules.SLOW_COMPILE,
    grammar_rules.UNSUPPORTED_CONSTRUCT,
)
"""The rules, in the order in which one cause explains the next."""


def diagnose(
    case: FailureCase,
    *,
    token_source: TokenSource | None = None,
    target: str = "",
    triggers: Sequence[str] = (),
    allows_blanks: bool = True,
    accepted: Mapping[str, AcceptedPrefix] | None = None,
    limits: Limits = LIMITS,
    cancel: CancelToken | None = None,
) -> Diagnosis:
    """Find the cause of a failed request.

    Args:
        case: the request, the response and the log.
        token_source: the vocabulary, for evidence in tokens.
        target: the server or engine, as `NAME` or `NAME@VERSION`; by default that of the case.
        triggers: the texts after which the grammar begins, beside those of the case.
        allows_blanks: whether white space may precede the grammar behind a trigger.
        accepted: the part of the output that other engines accept, by name.
        limits: the limits of each compile.
        cancel: cancels the diagnosis.

    Raises:
        CancelledError: `cancel` was used.
    """
    if not target and case.server:
        target = f"{case.server}@{case.version}" if case.version else case.server
    given = _triggers(case, triggers)
    context = ExaminationContext(target, given, token_source, accepted or {}, limits, cancel)
    parts = _parts(case, given, allows_blanks=allows_blanks)
    found = [_judge(Examination(case, constraint, part, context)) for constraint, part in parts]
    best = max(found, key=_interest)
    same = [one.sentence for one in found if one.cause is best.cause and one.tool != best.tool and not one.zone]
    return replace(best, evidence=(*best.evidence, *same)) if same and best.cause is not Cause.UNKNOWN else best


def _triggers(case: FailureCase, triggers: Sequence[str]) -> tuple[str, ...]:
    return (*triggers, *(case.triggers if case.is_lazy or case.triggers else ()))


# --- the judged parts


def _parts(
    case: FailureCase, triggers: tuple[str, ...], *, allows_blanks: bool
) -> Iterator[tuple[RequestConstraint | None, JudgedOutput | None]]:
    """Yield each grammar with the part of the output that it should match."""
    tools = tool_rules.tool_constraints(case.constraints)
    calls = list(_calls(case)) if tools else []
    for call in calls:
        yield tools.get(call.tool), call
    if calls:
        return
    part = _judged_part(case, triggers, allows_blanks=allows_blanks)
    for constraint in case.constraints or (None,):
        yield constraint, part if part is None or constraint is None else replace(part, tool=constraint.tool)


def _calls(case: FailureCase) -> Iterator[JudgedOutput]:
    """Yield the arguments of each tool call: those that the server reports, else those in the text of the answer."""
    for call in case.tool_calls:
        yield JudgedOutput(call.arguments.encode(), zone=tool_rules.ARGUMENTS, tool=call.name)
    if case.tool_calls:
        return
    text = (case.output or b"").decode("utf-8", "replace")
    tools = tool_rules.tool_constraints(case.constraints)
    for written in written_calls(text):
        if written.name not in tools and _CALL_MARK.search(text) is None:
            continue  # an answer may have the form of a call
        start = len(text[: written.start].encode())
        arguments = (written.arguments or "").encode()
        yield JudgedOutput(arguments, start, zone=tool_rules.ARGUMENTS, tool=written.name, family=written.family)


def _judged_part(case: FailureCase, triggers: tuple[str, ...], *, allows_blanks: bool) -> JudgedOutput | None:
    if case.output is None and not case.tool_calls and not case.reasoning:
        return None
    data = case.output or b""
    if not triggers:
        return JudgedOutput(data)
    found = [(data.find(trigger.encode()), trigger) for trigger in triggers]
    ends = [(at, at + len(trigger.encode()), trigger) for at, trigger in found if at >= 0]
    if not ends:
        return JudgedOutput(data, is_waiting=True)
    _, start, trigger = min(ends)
    rest = data[start:]
    answer = rest.lstrip(BLANKS) if allows_blanks else rest
    return JudgedOutput(answer, start + len(rest) - len(answer), zone=trigger, blanks=len(rest) - len(answer))


def _interest(found: Diagnosis) -> tuple[int, int, int]:
    """Return which of several diagnoses to show: for tools, the failed call; for grammars, the one that fits best."""
    rank = 1 if found.cause is Cause.COMPLETE else 0
    if found.zone == tool_rules.ARGUMENTS:
        rank = -rank
    return rank, 0 if found.legal_prefix is None else found.legal_prefix.bytes, len(found.places)


# --- the judgement


def _judge(examined: Examination) -> Diagnosis:
    examined = _choose_reading(examined)
    findings = list(_findings(examined))
    if not findings:
        findings = [message_alone(examined) or _unknown(examined)]
    first = _with_other_keywords(examined, min(enumerate(findings), key=lambda pair: (pair[1].weight, pair[0]))[1])
    others = _others(first, findings)
    part = examined.part
    server = examined.server
    fix = first.fix or fix_text(first.cause, first.detail, server)
    evidence = [*first.evidence, *_consequences(examined, first)]
    violations = _violations(examined, first)
    constraint = examined.constraint
    return Diagnosis(
        first.cause,
        first.detail,
        first.sentence,
        fix,
        tuple(dict.fromkeys(one for one in evidence if one)),
        first.tool or ("" if part is None else part.tool) or ("" if constraint is None else constraint.tool),
        "" if part is None else part.zone,
        examined.context.target,
        first.places,
        others,
        _legal_prefix(examined),
        violations,
        constraint,
        part,
    )


def _with_other_keywords(examined: Examination, first: Finding) -> Finding:
    """Return a finding about a keyword that no written value violates, with the others that forbid the same byte.

    After `{"role": "viewer",` the comma is illegal since no property may follow. Several keywords may say so together,
    each of the properties that it is about; leaving out any one of them allows the comma.
    """
    found, grammar, part = examined.counterfactual, examined.grammar, examined.part
    if first.cause not in _ABOUT_KEYWORDS or found is None or len(found.removed) != 1:
        return first
    if grammar is None or part is None or not grammar.describes_json or found.removed[0] == ORDER:
        return first
    if any(one.pointer in found.removed for one in examined.keyword_violations):
        return first
    at = examined.legal
    refusal = refusal_of(grammar, part.data[:at], part.data[at : at + 1], examined.cancel, most_effort=MOST_EFFORT)
    others = {one.pointer for one in refusal.keywords}.difference(found.removed)
    if refusal.kind is not RefusalKind.KEYWORDS or refusal.option or not others:
        return first
    names = sorted((*found.removed, *others), key=lambda one: (-one.count("/"), one))  # the innermost says most
    where = where_in_output(examined, at)
    sentence = catalogue_text("failures.sentence.schema-violation.together", where=where, names=names_listed(names))
    places = (*map(FailurePlace, names), *(one for one in first.places if one.pointer is None))
    return replace(first, sentence=sentence, places=places)


def _violations(examined: Examination, first: Finding) -> tuple[Violation, ...]:
    if first.cause is Cause.GRAMMAR_ERROR:
        return ()
    if (first.cause, first.detail) == (Cause.WRONG_ZONE, "twice") and (second := first.places[0].offset) is not None:
        return first_beginning(examined, second)  # repairs of both texts as one would not help
    return violations_of(examined)


def _choose_reading(examined: Examination) -> Examination:
    """Return the examination with the prefill before the output, or without a last line end, if it fits better."""
    part, case = examined.part, examined.case
    if part is None or examined.grammar is None:
        return examined
    readings = [part]
    if case.prefill and part.start == 0 and not part.is_waiting:
        readings.append(replace(part, data=case.prefill.encode() + part.data))
    if examined.is_illegal and (shorter := without_line_end(part.data, is_legal=False)) != part.data:
        readings.append(replace(part, data=shorter))
    if part.zone in examined.context.triggers and (at := case.output or b""):
        start = part.start - part.blanks - len(part.zone.encode())
        readings.append(replace(part, data=at[start:], start=start, blanks=0))  # the grammar may include its trigger
    if len(readings) == 1:
        return examined
    best = max(readings[1:], key=lambda one: _fit(examined, one))
    if _fit(examined, best) > _fit(examined, part):
        examined = _with_part(examined, best)
    return examined


def _fit(examined: Examination, part: JudgedOutput) -> tuple[bool, float]:
    legal = examined.reach(part.data)
    return legal == len(part.data), legal / (len(part.data) or 1)


def _with_part(examined: Examination, part: JudgedOutput) -> Examination:
    made = Examination(examined.case, examined.constraint, part, examined.context)
    made.__dict__["grammar"] = examined.grammar
    return made


def _findings(examined: Examination) -> Iterator[Finding]:
    grammar = examined.grammar
    if examined.error is not None:
        yield _grammar_error(examined, examined.error)
        return
    if grammar is not None and grammar.is_empty:
        sentence = catalogue_text("verdicts.empty.text")
        yield Finding(Cause.GRAMMAR_ERROR, sentence, "empty", weight=EvidenceWeight.GRAMMAR)
        return
    is_explained = False
    for rule in (*RULES, output_rules.ANY_VIOLATION):
        try:
            found = None if is_explained and rule is output_rules.ANY_VIOLATION else rule.find(examined)
        except (LimitExceededError, RecursionError):
            continue
        if found is not None:
            is_explained = True
            yield found


def _grammar_error(examined: Examination, error: GrammarError) -> Finding:
    first = next(one for one in error.diagnostics if one.severity is Severity.ERROR)
    source: SourceText = error.source
    line, column = source.line_column(first.span.start)
    sentence = catalogue_text("verdicts.grammar.error", line=line, column=column, message=first.message)
    fix = catalogue_text("verdicts.grammar.hint", hint=first.hint) if first.hint else ""
    if examined.holds_schema:
        fix = catalogue_text("failures.fix.grammar-error.schema")
    elif not fix and (repairs := fixes(source.text, first)):
        fix = catalogue_text("verdicts.grammar.hint", hint=repairs[0].title)
    place = FailurePlace(line=line, column=column, offset=first.span.start)
    excerpt = source.text.splitlines()[line - 1 : line]
    return Finding(
        Cause.GRAMMAR_ERROR,
        sentence,
        first.code,
        weight=EvidenceWeight.GRAMMAR,
        fix=fix or fix_text(Cause.GRAMMAR_ERROR, "", examined.server),
        evidence=(catalogue_text("failures.evidence.line", text=shown(excerpt[0])),) if excerpt else (),
        places=(place,),
    )


def _unknown(examined: Examination) -> Finding:
    is_refused = examined.part is None and bool(examined.case.status)
    fix = catalogue_text("failures.fix.unknown.status") if is_refused else ""
    return Finding(Cause.UNKNOWN, _unknown_sentence(examined), fix=fix)


def _unknown_sentence(examined: Examination) -> str:
    if examined.is_too_long:
        return catalogue_text("failures.sentence.unknown.long", count=examined.legal)
    if examined.part is None and examined.case.status:
        return catalogue_text("failures.sentence.unknown.status", text=shown(examined.case.status, 240))
    if examined.constraint is None:
        return catalogue_text("failures.sentence.unknown.no_grammar")
    if examined.part is None:
        return catalogue_text("failures.sentence.unknown.no_output")
    return catalogue_text("failures.sentence.unknown.text")


def _others(first: Finding, findings: Sequence[Finding]) -> tuple[OtherCause, ...]:
    hidden = first.explains | {first.cause, Cause.COMPLETE}
    found = [OtherCause(one.cause, one.detail) for one in findings if one.cause not in hidden]
    return tuple(dict.fromkeys(found))


def _consequences(examined: Examination, first: Finding) -> Iterator[str]:
    """Yield what follows from an illegal output: no mask was in force, what to check, and a request that settles it."""
    if first.cause not in ENFORCEABLE or not examined.is_illegal:
        return
    if first.cause is Cause.EOS_REFUSED:
        yield catalogue_text("failures.evidence.follows_eos")
    else:
        yield catalogue_text("failures.evidence.follows")
    if not examined.server and tool_rules.is_free_call(examined):
        yield catalogue_text("failures.evidence.free_call")
    yield server_text("check", examined.server)
    yield server_text("canary", examined.server)


def _legal_prefix(examined: Examination) -> LegalPrefix | None:
    if examined.walked is None or examined.part is None:
        return None
    tokens = examined.tokens
    count = None
    if tokens is not None:
        starts = tokens.starts
        count = sum(1 for index in range(tokens.text_count) if starts[index + 1] <= examined.legal)
    return LegalPrefix(examined.legal, count)
