"""The rules about the text of an output: what a mask would have excluded, and how the output ended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from engine.diagnosis.case import FinishReason
from engine.diagnosis.failures.counterfactual import ORDER
from engine.diagnosis.failures.diagnosis import Cause, EvidenceWeight, FailurePlace
from engine.diagnosis.failures.examination import EARLY, Examination
from engine.diagnosis.failures.grammar_rules import refusals
from engine.diagnosis.failures.rules import (
    CauseRule,
    Finding,
    all_fixes,
    fix_text,
    names_listed,
    output_place,
    server_name,
    shown,
    where_in_output,
)
from engine.diagnosis.failures.schema_check import DETAILS, KeywordViolation, Schema, holds_value_of_type
from engine.diagnosis.verdicts.wrappers import SurroundingText, suffix_kind
from engine.source.catalogue import catalogue_text, has_text
from engine.source.json_pointer import escape_step, unescape_step
from engine.source.json_scanner import added_properties, is_in_escape, is_in_string, open_path
from engine.source.text import quoted
from engine.targets import ENGINES, Effect

SKELETON: Final = frozenset(("required", "additionalProperties", "unevaluatedProperties"))
"""Keywords about which keys an object has. Engines compile objects from them, and drop none of them alone."""
_MOST_RULES: Final = 4
_REST_OF_KEY: Final = re.compile(rb'(?:[^"\\]|\\.)*":')
_EVERY_END: Final = frozenset((Cause.CUT_OFF, Cause.STOP_TOKEN, Cause.CONTEXT_LIMIT, Cause.COMPLETE))


def _keyword(pointer: str) -> str:
    return unescape_step(pointer.rpartition("/")[2])


def _complete(examined: Examination) -> Finding | None:
    if not examined.is_complete or (examined.is_cut_by_length and examined.may_continue):
        return None
    evidence = []
    if examined.is_cut_by_length:
        evidence.append(catalogue_text("failures.evidence.complete_at_budget"))
    sentence = catalogue_text("failures.sentence.complete.text", count=len(examined.data))
    return Finding(Cause.COMPLETE, sentence, evidence=tuple(evidence))


def _ends_early(examined: Examination) -> bool:
    """Return whether the output is legal and not finished."""
    return examined.is_prefix and (not examined.is_complete or (examined.is_cut_by_length and examined.may_continue))


def _needs(examined: Examination) -> str:
    ending = examined.shortest_ending
    return "" if not ending else catalogue_text("failures.fragment.needs", text=shown(ending))


def _fills_context(examined: Examination) -> str:
    """Return why the context ended an output, and not the budget of the request; empty without evidence."""
    case = examined.case
    used, budget = case.completion_tokens, case.max_tokens
    if case.finish is FinishReason.CONTEXT:
        return catalogue_text("failures.evidence.finish_context")
    if case.finish is not FinishReason.LENGTH or used is None or (budget is not None and used >= budget - 2):
        return ""
    prompt, context = case.prompt_tokens, case.context
    if prompt is not None and context is not None and prompt + used >= context:
        return catalogue_text("failures.evidence.context_sum", prompt=prompt, used=used, context=context)
    return "" if budget is None else catalogue_text("failures.evidence.budget_left", used=used, budget=budget)


def _thoughts_only(examined: Examination) -> bool:
    """Return whether an output is empty behind thoughts."""
    case = examined.case
    return not examined.data.strip() and bool(case.reasoning or case.reasoning_tokens)


def _cut_off(examined: Examination) -> Finding | None:
    if not _ends_early(examined) or examined.case.finish not in (FinishReason.UNKNOWN, FinishReason.LENGTH):
        return None
    if _fills_context(examined):
        return None
    where, needs = where_in_output(examined, len(examined.data)), _needs(examined)
    case = examined.case
    evidence = []
    detail = ""
    if examined.is_cut_by_length and _thoughts_only(examined):
        detail, sentence = "reasoning", catalogue_text("failures.sentence.cut-off.reasoning")
    elif not examined.is_cut_by_length:
        sentence = catalogue_text("failures.sentence.cut-off.open", where=where, needs=needs)
        evidence += [*_open_parts(examined), catalogue_text("failures.evidence.no_finish")]
    elif case.max_tokens is not None:
        sentence = catalogue_text("failures.sentence.cut-off.budget", where=where, needs=needs, budget=case.max_tokens)
        evidence.append(catalogue_text("failures.evidence.budget", budget=case.max_tokens))
    else:
        sentence = catalogue_text("failures.sentence.cut-off.length", where=where, needs=needs)
    if case.finish is FinishReason.LENGTH:
        evidence.append(catalogue_text("failures.evidence.finish_length"))
    unbounded = _unbounded_property(examined)
    fix = fix_text(Cause.CUT_OFF, detail, examined.server)
    if not examined.is_cut_by_length:
        fix = catalogue_text("failures.evidence.if_budget", fix=fix)
    if unbounded:
        fix = catalogue_text("failures.evidence.or_bound", fix=fix, name=quoted(unbounded))
    weight = EvidenceWeight.REPORTED if examined.is_cut_by_length else EvidenceWeight.TEXT
    return Finding(
        Cause.CUT_OFF,
        sentence,
        detail,
        weight=weight,
        fix=fix,
        evidence=tuple(evidence),
        places=(output_place(examined, len(examined.data)),),
    )


def _open_parts(examined: Examination) -> list[str]:
    """Return what a legal beginning ends in, and what the innermost object still needs, in sentences."""
    if not examined.is_json:
        walked, grammar = examined.walked, examined.grammar
        rules = () if walked is None or grammar is None else grammar.automaton.open_rules(walked.last)
        names = " › ".join(map(quoted, reversed(rules[:_MOST_RULES])))
        return [catalogue_text("failures.evidence.open_rules", names=names)] if rules else []
    path = "".join(f"/{escape_step(str(step))}" for step in open_path(examined.data))
    found = [catalogue_text("failures.evidence.open_value", where=quoted(path))] if path else []
    missing = _missing_properties(examined.data, examined.shortest_ending or b"")
    return [*found, catalogue_text("failures.evidence.still_needs", names=names_listed(missing))] if missing else found


def _missing_properties(data: bytes, ending: bytes) -> tuple[str, ...]:
    """Return the properties that an ending adds to the object that is open; an open key is not one of them."""
    if is_in_escape(data):
        return ()
    if not is_in_string(data):
        return added_properties(ending)
    found = added_properties(b'"' + ending)
    return found[1:] if _REST_OF_KEY.match(ending) else found


def _unbounded_property(examined: Examination) -> str:
    """Return the property whose string or array was open at the end and may go on without bound."""
    if not examined.is_json or not isinstance(examined.schema, dict) or not examined.may_continue:
        return ""
    here: Schema = examined.schema
    name = ""
    for step in open_path(examined.data):
        if not isinstance(here, dict):
            return ""
        if isinstance(step, str):
            properties = here.get("properties")
            if not isinstance(properties, dict) or step not in properties:
                return ""
            here, name = properties[step], step
        else:
            here = here.get("items", {})
    if not isinstance(here, dict) or "maxLength" in here or "enum" in here or "const" in here or "pattern" in here:
        return ""
    return name if here.get("type") == "string" else ""


def _context_limit(examined: Examination) -> Finding | None:
    reason = _fills_context(examined)
    if not reason or not _ends_early(examined):
        return None
    where, needs = where_in_output(examined, len(examined.data)), _needs(examined)
    return Finding(
        Cause.CONTEXT_LIMIT,
        catalogue_text("failures.sentence.context-limit.text", where=where, needs=needs),
        weight=EvidenceWeight.REPORTED,
        evidence=(reason,),
        places=(output_place(examined, len(examined.data)),),
    )


def _stop_token(examined: Examination) -> Finding | None:
    finish = examined.case.finish
    ends = (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.FILTER)
    if not examined.is_prefix or examined.is_complete or finish not in ends:
        return None
    where, needs = where_in_output(examined, len(examined.data)), _needs(examined)
    is_filtered = finish is FinishReason.FILTER
    key = "filter" if is_filtered else "text" if examined.data else "empty"
    evidence = [catalogue_text(f"failures.evidence.finish_{'filter' if is_filtered else 'stop'}")]
    evidence += _what_ended(examined)
    return Finding(
        Cause.STOP_TOKEN,
        catalogue_text(
            f"failures.sentence.stop-token.{key}", needs=needs, **({} if key == "empty" else {"where": where})
        ),
        "content-filter" if is_filtered else "",
        weight=EvidenceWeight.REPORTED,
        evidence=tuple(evidence),
        places=(output_place(examined, len(examined.data)),),
    )


def _what_ended(examined: Examination) -> Iterator[str]:
    """Yield what ended the output as the response says, the ends of the request, and how the tokenizer differs."""
    case = examined.case
    ended_by, ids = case.stopped_by, case.stop_ids
    if ended_by and ended_by not in case.stop and ended_by.isascii() and ended_by.isdecimal():
        ids = (int(ended_by), *(one for one in ids if one != int(ended_by)))
        yield catalogue_text("failures.evidence.ended_by_id", id=ended_by)
    elif ended_by:
        yield catalogue_text("failures.evidence.ended_by_string", text=shown(ended_by))
        stopped = examined.data + ended_by.encode("utf-8", "surrogateescape")
        if examined.is_prefix and examined.reach(stopped) == len(stopped):
            yield catalogue_text("failures.evidence.stop_string_is_legal", text=shown(ended_by))
    if case.stop and ended_by not in case.stop:
        yield catalogue_text("failures.evidence.stop_strings", texts=", ".join(map(shown, case.stop)))
    if case.stop_ids:
        yield catalogue_text("failures.evidence.stop_ids", ids=", ".join(map(str, case.stop_ids)))
    own = frozenset() if examined.tokens_from is None else examined.tokens_from.vocabulary.eos_ids
    if own and (others := [one for one in ids if one not in own]):
        yield catalogue_text(
            "failures.evidence.other_end_ids", ids=", ".join(map(str, others)), own=", ".join(map(str, sorted(own)))
        )


def _eos_refused(examined: Examination) -> Finding | None:
    if not examined.is_illegal or not examined.is_accepting or not examined.legal or not examined.rest.strip():
        return None
    if examined.is_json and not _is_value_closed(examined):
        return None
    if examined.later_start or examined.counterfactual is not None:
        return None
    read = examined.read
    if read is not None and any(defect.kind in ("second-value", "code-fence") for defect in read.defects):
        return None
    if suffix_kind(examined.rest) in (SurroundingText.SPECIAL, SurroundingText.FENCE):
        return None
    where = where_in_output(examined, examined.legal)
    sentence = catalogue_text("failures.sentence.eos-refused.text", where=where, text=shown(examined.rest.lstrip()))
    return Finding(
        Cause.EOS_REFUSED,
        sentence,
        evidence=tuple(_what_ended(examined)),
        places=(output_place(examined, examined.legal),),
    )


def _is_value_closed(examined: Examination) -> bool:
    """Return whether the legal part ends a JSON value, and not a number that goes on."""
    return examined.rest[:1] in b" \t\r\n" or examined.data[examined.legal - 1 : examined.legal] in (b"}", b"]", b'"')


def _key_order(examined: Examination) -> Finding | None:
    found = examined.counterfactual
    if not examined.is_illegal or found is None or found.removed != (ORDER,):
        return None
    root = None if examined.read is None else examined.read.root
    order = list(root.value) if root is not None and isinstance(root.value, dict) else []
    sentence = catalogue_text("failures.sentence.key-order.text", where=where_in_output(examined, examined.legal))
    evidence = (catalogue_text("failures.evidence.order", names=names_listed(order, 6)),) if order else ()
    return Finding(Cause.KEY_ORDER, sentence, evidence=evidence, places=(output_place(examined, examined.legal),))


def _end(violation: KeywordViolation) -> int:
    return violation.end


def _first_detail(examined: Examination, removed: tuple[str, ...]) -> str:
    """Return what is wrong in the text: the kind of its first violation among the removed keywords."""
    first = min((one for one in examined.keyword_violations if one.pointer in removed), key=_end, default=None)
    if first is not None:
        return first.detail
    return DETAILS.get(_keyword(removed[0]), _keyword(removed[0])) if removed else ""


def _is_skeleton(removed: tuple[str, ...]) -> bool:
    """Return whether keywords say only which keys or which kind of value the output is."""
    return all(_keyword(pointer) in SKELETON or pointer == "/type" for pointer in removed)


def _keyword_not_enforced(examined: Examination) -> Finding | None:
    found = examined.counterfactual
    if found is None or not found.removed or found.removed == (ORDER,):
        return None
    if examined.read is not None and examined.read.defects and examined.is_json:
        return None  # no set of keywords makes it JSON
    removed = found.removed
    if examined.is_json and _is_skeleton(removed):
        return None
    if not examined.is_json:
        kind = "option" if examined.grammar is not None and examined.grammar.is_expression else "rules"
        sentence = catalogue_text(
            f"failures.sentence.keyword-not-enforced.{kind}", count=len(removed), names=names_listed(removed)
        )
        places: tuple[FailurePlace, ...] = (output_place(examined, examined.legal),)
        detail = removed[0] if kind == "option" else "pattern"
    else:
        sentence = catalogue_text(
            "failures.sentence.keyword-not-enforced.keywords", count=len(removed), names=names_listed(removed)
        )
        places = tuple(FailurePlace(pointer=pointer) for pointer in removed)
        starts = [one.start for one in examined.keyword_violations if one.pointer in removed]
        places += (output_place(examined, examined.byte_of(min(starts)) if starts else examined.legal),)
        detail = _first_detail(examined, removed)
    key = "smallest" if found.is_smallest else "minimal"
    ends = "complete" if found.is_complete else "prefix"
    evidence = (
        catalogue_text(f"failures.evidence.counterfactual.{key}_{ends}"),
        *_values_in_strings(examined, removed),
        *_known_treatments(examined, removed),
    )
    return Finding(Cause.KEYWORD_NOT_ENFORCED, sentence, detail, evidence=evidence, places=places)


def _values_in_strings(examined: Examination, removed: tuple[str, ...]) -> Iterator[str]:
    """Yield what is known about values of a wrong type: a value of the right type in a string."""
    for one in examined.keyword_violations:
        if one.pointer in removed and one.keyword == "type" and holds_value_of_type(one):
            yield catalogue_text("failures.evidence.in_string", where=quoted(one.instance or "/"))


def _known_treatments(examined: Examination, removed: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is known about keywords that were not enforced: of the named target, else of all engines."""
    engines = (examined.server,) if examined.server else ENGINES
    found: dict[str, list[str]] = {}
    for engine in engines:
        for refusal in refusals(examined, engine):
            if refusal.pointer in removed and refusal.effect is not Effect.APPROXIMATES:
                found.setdefault(f"{refusal.effect}.{_keyword(refusal.pointer or '')}", []).append(engine)
    return tuple(
        catalogue_text(
            f"failures.evidence.known.{key.partition('.')[0]}",
            engines=", ".join(map(server_name, dict.fromkeys(names))),
            keyword=quoted(key.partition(".")[2]),
        )
        for key, names in found.items()
    )


def _schema_violation(examined: Examination) -> Finding | None:
    """Find text that is wrong as JSON and legal once it is corrected, or keys that no engine would allow."""
    if not examined.is_illegal:
        return None
    if (inner := _in_string(examined)) is not None and examined.reach(inner.encode()) == len(inner.encode()):
        sentence = catalogue_text("failures.sentence.schema-violation.encoded-twice")
        place = output_place(examined, examined.legal)
        return Finding(Cause.SCHEMA_VIOLATION, sentence, "encoded-twice", places=(place,))
    read, found = examined.read, examined.counterfactual
    if found is not None and not found.removed and read is not None and not read.defects:
        return None
    if read is not None and read.defects and (examined.is_repairable or found is not None):
        first = next((one for one in read.defects if examined.byte_of(one.end) > examined.legal), read.defects[0])
        fenced = next((one for one in read.defects if one.kind == "code-fence"), None)
        first = fenced or first
        where = where_in_output(examined, examined.byte_of(first.start))
        sentence = catalogue_text("failures.sentence.schema-violation.json", what=defect_text(first.kind), where=where)
        place = output_place(examined, examined.byte_of(first.start))
        return Finding(Cause.SCHEMA_VIOLATION, sentence, first.kind, places=(place,))
    if found is not None and examined.is_json and found.removed != (ORDER,) and _is_skeleton(found.removed):
        violations = [one for one in examined.keyword_violations if one.pointer in found.removed]
        first_one = violations[0] if violations else None
        detail = _first_detail(examined, found.removed)
        names = tuple(name for one in violations if one.keyword == (first_one or one).keyword for name in one.names)
        sentence = (
            catalogue_text(f"failures.sentence.schema-violation.{detail}", count=len(names), names=names_listed(names))
            if names and has_text(f"failures.sentence.schema-violation.{detail}")
            else catalogue_text("failures.sentence.schema-violation.keywords", names=names_listed(found.removed))
        )
        start = examined.byte_of(first_one.start) if first_one else examined.legal
        places = (*(FailurePlace(pointer=one) for one in found.removed), output_place(examined, start))
        return Finding(Cause.SCHEMA_VIOLATION, sentence, detail, places=places)
    return None


def _in_string(examined: Examination) -> str | None:
    """Return the text of an output that is a JSON string with an object or an array in it, or is without its quotes."""
    if examined.text.lstrip()[:1] in ("{", "[") and '\\"' in examined.text:
        try:
            return str(json.loads(f'"{examined.text}"', strict=False))
        except ValueError:
            pass  # it has quotes that are not escaped
    root = None if examined.read is None or examined.read.defects else examined.read.root
    text = root.value if root is not None and not root.is_open else None
    return text if isinstance(text, str) and text.lstrip()[:1] in ("{", "[") else None


def defect_text(kind: str) -> str:
    """Return the name of a deviation from JSON."""
    return catalogue_text(f"failures.defect.fragment.{kind}")


def _any_violation(examined: Examination) -> Finding | None:
    """Find an illegal output that no other rule explains."""
    if not examined.is_illegal:
        return None
    read = examined.read
    defects = [] if read is None else list(read.defects)
    violations = examined.keyword_violations
    detail = defects[0].kind if defects else violations[0].detail if violations else ""
    if not detail:
        detail = "syntax" if examined.is_json else "pattern"
    where = where_in_output(examined, examined.legal)
    sentence = catalogue_text("failures.sentence.schema-violation.text", where=where, text=shown(examined.rest))
    places = tuple(FailurePlace(pointer=one.pointer) for one in violations[:6])
    return Finding(Cause.SCHEMA_VIOLATION, sentence, detail, places=(*places, output_place(examined, examined.legal)))


def _has_answer_after_thought(examined: Examination) -> bool:
    """Return whether a text that begins legally follows a thought."""
    end = examined.thought_end
    return end is not None and examined.reach(examined.data[end:].lstrip()) > EARLY


def _is_unconstrained(examined: Examination) -> bool:
    """Return whether the output left the language at once, no legal text begins later, and nothing repairs it."""
    return (
        examined.is_illegal
        and examined.legal <= EARLY
        and not examined.later_start
        and not _has_answer_after_thought(examined)
        and examined.counterfactual is None
        and not examined.is_repairable
        and not (examined.is_accepting and examined.legal and not examined.is_json and not examined.rest[:1].isalnum())
    )


def _text_detail(examined: Examination) -> str:
    read = examined.read
    return read.defects[0].kind if read is not None and read.defects else ""


def _request_ignored(examined: Examination) -> Finding | None:
    ignored = examined.case.ignored
    if not ignored or (examined.part is not None and not examined.is_illegal):
        return None
    if examined.part is not None and examined.counterfactual is not None and not _is_unconstrained(examined):
        return None
    server = examined.server
    sentence = catalogue_text(
        "failures.sentence.request-ignored.text", pointers=names_listed(ignored), server=server_name(server)
    )
    places = tuple(FailurePlace(pointer=pointer) for pointer in ignored)
    is_misplaced = all(pointer.endswith("/json_schema") or pointer == "/response_format/schema" for pointer in ignored)
    if examined.is_illegal:
        places += (output_place(examined, examined.legal),)
    return Finding(
        Cause.REQUEST_IGNORED,
        sentence,
        _text_detail(examined),
        weight=EvidenceWeight.REPORTED,
        fix=catalogue_text("failures.fix.request-ignored.place") if is_misplaced else "",
        places=places,
        explains=frozenset((Cause.CONSTRAINT_OFF,)),
    )


def _constraint_off(examined: Examination) -> Finding | None:
    if not _is_unconstrained(examined):
        return None
    where = where_in_output(examined, examined.legal)
    sentence = catalogue_text("failures.sentence.constraint-off.text", where=where, text=shown(examined.rest, 24))
    return Finding(
        Cause.CONSTRAINT_OFF,
        sentence,
        _text_detail(examined),
        evidence=(examined.verdict_sentence,),
        places=(output_place(examined, examined.legal),),
        explains=frozenset((Cause.SCHEMA_VIOLATION,)),
    )


def _whitespace_loop(examined: Examination) -> Finding | None:
    run = examined.blank_run
    if run is None:
        loop = next((one for one in examined.loops if one.blank and one.at_end), None)
        if examined.is_json or loop is None or examined.grammar is None:
            return None
        start, end = loop.range
    else:
        start, end = run.start, run.end
    if examined.is_illegal and examined.legal < start:
        return None
    if not examined.is_json and examined.walked is None:
        return None
    if not examined.is_json and not any(
        one.blank and one.range[0] <= end and one.range[1] > start for one in examined.loops
    ):
        return None
    before = examined.data[max(0, start - 24) : start]
    size = end - start
    key = "end" if end == len(examined.data) else "middle"
    sentence = catalogue_text(
        f"failures.sentence.whitespace-loop.{key}",
        count=size,
        where=where_in_output(examined, start),
        after=shown(before),
    )
    evidence = [catalogue_text("failures.evidence.blanks", count=size)]
    if examined.case.finish is FinishReason.LENGTH:
        evidence.append(catalogue_text("failures.evidence.finish_length"))
    ending = examined.shortest_ending if end == len(examined.data) else None
    if ending:
        evidence.append(catalogue_text("verdicts.budget.ending", text=shown(ending)))
    if not examined.server:
        settings = (one for one in all_fixes(Cause.WHITESPACE_LOOP) if one.server)
        evidence += [
            catalogue_text("failures.fragment.of_server", server=one.server, text=one.text) for one in settings
        ]
    return Finding(
        Cause.WHITESPACE_LOOP,
        sentence,
        weight=EvidenceWeight.REPORTED,
        evidence=tuple(evidence),
        places=(output_place(examined, start),),
        explains=_EVERY_END,
    )


_LONGEST_PERIOD: Final = 400
_LEAST_TURNS: Final = 4
_LEAST_REPEATED: Final = 60


def repetition_at_end(data: bytes) -> tuple[int, int] | None:
    """Return where a text that is repeated up to the end begins, and the length of one repetition."""
    end = len(data)
    for period in range(1, min(_LONGEST_PERIOD, end // _LEAST_TURNS) + 1):
        if data[end - period : end] != data[end - 2 * period : end - period]:
            continue
        start = end - period
        while start > 0 and data[start - 1] == data[start - 1 + period]:
            start -= 1
        if (end - start) // period >= _LEAST_TURNS and end - start >= _LEAST_REPEATED:
            return start, period
    return None


def _repetition_loop(examined: Examination) -> Finding | None:
    if examined.part is None or examined.grammar is None or examined.case.finish is FinishReason.STOP:
        return None
    if examined.is_complete and not examined.is_cut_by_length:
        return None
    loop = next((one for one in examined.loops if one.at_end and not one.blank), None)
    found = (loop.range[0], loop.period) if loop is not None else repetition_at_end(examined.data)
    if found is None or not examined.data[found[0] :].strip():
        return None
    start, period = found
    turn = examined.data[start : start + period]
    count = (len(examined.data) - start) // period
    sentence = catalogue_text(
        "failures.sentence.repetition-loop.text",
        count=count,
        text=shown(turn),
        where=where_in_output(examined, start),
    )
    # an output that left the language before did so for another reason
    is_later = examined.is_illegal and examined.legal < start
    return Finding(
        Cause.REPETITION_LOOP,
        sentence,
        weight=EvidenceWeight.TEXT if is_later else EvidenceWeight.REPORTED,
        evidence=(catalogue_text("failures.evidence.repeated", text=shown(turn), count=count),),
        places=(output_place(examined, start),),
        explains=_EVERY_END,
    )


WHITESPACE_LOOP: Final = CauseRule(Cause.WHITESPACE_LOOP, _whitespace_loop)
REPETITION_LOOP: Final = CauseRule(Cause.REPETITION_LOOP, _repetition_loop)
REQUEST_IGNORED: Final = CauseRule(Cause.REQUEST_IGNORED, _request_ignored)
CONSTRAINT_OFF: Final = CauseRule(Cause.CONSTRAINT_OFF, _constraint_off)
KEY_ORDER: Final = CauseRule(Cause.KEY_ORDER, _key_order)
KEYWORD_NOT_ENFORCED: Final = CauseRule(Cause.KEYWORD_NOT_ENFORCED, _keyword_not_enforced)
SCHEMA_VIOLATION: Final = CauseRule(Cause.SCHEMA_VIOLATION, _schema_violation)
EOS_REFUSED: Final = CauseRule(Cause.EOS_REFUSED, _eos_refused)
STOP_TOKEN: Final = CauseRule(Cause.STOP_TOKEN, _stop_token)
CONTEXT_LIMIT: Final = CauseRule(Cause.CONTEXT_LIMIT, _context_limit)
CUT_OFF: Final = CauseRule(Cause.CUT_OFF, _cut_off)
COMPLETE: Final = CauseRule(Cause.COMPLETE, _complete)
ANY_VIOLATION: Final = CauseRule(Cause.SCHEMA_VIOLATION, _any_violation)
