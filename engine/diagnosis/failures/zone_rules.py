"""The rules about the part of the output that the grammar should constrain: the zone and its trigger."""

from __future__ import annotations

import re
from typing import Final

from engine.diagnosis.failures.diagnosis import Cause, EvidenceWeight
from engine.diagnosis.failures.examination import Examination
from engine.diagnosis.failures.rules import (
    CauseRule,
    Finding,
    fix_text,
    names_listed,
    output_place,
    shown,
    where_in_output,
)
from engine.diagnosis.verdicts.wrappers import SurroundingText, prefix_kind
from engine.source.catalogue import catalogue_text

_OPENING: Final = re.compile(rb"[{\[]")
_MOST_STARTS: Final = 60
_FOLLOW: Final = frozenset((Cause.EOS_REFUSED, Cause.CONSTRAINT_OFF))


def _trigger_never_came(examined: Examination) -> Finding | None:
    part = examined.part
    if part is None:
        return None
    if part.is_waiting:
        triggers = examined.context.triggers
    elif (
        examined.is_illegal
        and not examined.legal
        and examined.thought_end is not None
        and not examined.data[examined.thought_end :].strip()
        and _json_within(examined, 0) is None
    ):
        triggers = ("</think>",)
    else:
        return None
    evidence = [catalogue_text("failures.evidence.no_trigger", names=names_listed(triggers), count=len(examined.data))]
    if examined.is_complete:
        evidence.append(catalogue_text("failures.evidence.ran_without_trigger"))
    within = _json_within(examined, 0)
    if within is not None:
        evidence.append(catalogue_text("failures.evidence.within_thought", where=where_in_output(examined, within)))
    return Finding(
        Cause.TRIGGER_NEVER_CAME,
        catalogue_text("failures.sentence.trigger-never-came.text", names=names_listed(triggers)),
        weight=EvidenceWeight.REPORTED,
        evidence=tuple(evidence),
        places=(output_place(examined, len(examined.data)),),
        explains=frozenset(
            (Cause.CUT_OFF, Cause.CONSTRAINT_OFF, Cause.SCHEMA_VIOLATION, Cause.COMPLETE, Cause.STOP_TOKEN)
        ),
    )


def _json_within(examined: Examination, first: int) -> int | None:
    """Return where a complete legal object or array begins in a text; None if there is none."""
    data = examined.data
    if examined.grammar is None or not examined.is_json:
        return None
    for _, match in zip(range(_MOST_STARTS), _OPENING.finditer(data, first), strict=False):
        size = examined.reach(data[match.start() :])
        if size > 1 and examined.is_match(data[match.start() : match.start() + size]):
            return match.start()
    return None


def _wrong_zone(examined: Examination) -> Finding | None:
    if examined.part is None or examined.part.is_waiting:
        return _in_reasoning(examined)
    if not examined.is_illegal:
        return _in_reasoning(examined) if not examined.data.strip() else None
    return _behind_thought(examined) or _begun_twice(examined) or _behind_prefix(examined)


def _finding(examined: Examination, detail: str, start: int, kind: str = "", **fields: object) -> Finding:
    where = where_in_output(examined, start)
    sentence = catalogue_text(f"failures.sentence.wrong-zone.{kind or detail}", where=where, **fields)
    return Finding(
        Cause.WRONG_ZONE,
        sentence,
        detail,
        fix=fix_text(Cause.WRONG_ZONE, detail, examined.server),
        evidence=(examined.verdict_sentence,) if examined.verdict_sentence else (),
        places=(output_place(examined, start),),
        explains=_FOLLOW | {Cause.SCHEMA_VIOLATION} if detail == "twice" else _FOLLOW,
    )


def _in_reasoning(examined: Examination) -> Finding | None:
    """Find an answer in the channel of the reasoning, or a refusal in its field."""
    refusal = examined.case.refusal
    if refusal and not examined.data.strip():
        return Finding(
            Cause.WRONG_ZONE,
            catalogue_text("failures.sentence.wrong-zone.refusal", text=shown(refusal)),
            "refusal",
            weight=EvidenceWeight.REPORTED,
            explains=frozenset(Cause) - {Cause.WRONG_ZONE},
        )
    reasoning = examined.case.reasoning.encode()
    if not reasoning or examined.case.output or examined.grammar is None:
        return None
    starts = [0, *(match.start() for match in _OPENING.finditer(reasoning))][:_MOST_STARTS]
    start = next((at for at in starts if examined.is_match(reasoning[at:].strip())), None)
    if start is None:
        return None
    sentence = catalogue_text("failures.sentence.wrong-zone.channel")
    return Finding(
        Cause.WRONG_ZONE,
        sentence,
        "reasoning",
        weight=EvidenceWeight.REPORTED,
        fix=fix_text(Cause.WRONG_ZONE, "reasoning", examined.server),
        explains=frozenset((Cause.CUT_OFF, Cause.STOP_TOKEN, Cause.COMPLETE)),
    )


def _behind_thought(examined: Examination) -> Finding | None:
    end = examined.thought_end
    if end is None or examined.legal > 1:
        return None
    if end == len(examined.data):
        within = _json_within(examined, 0)
        return None if within is None else _finding(examined, "reasoning", within, "thought")
    rest = examined.data[end:]
    answer = rest.lstrip()
    if answer and examined.reach(answer) == len(answer):
        return _finding(examined, "reasoning", end + len(rest) - len(answer))
    return None


def _begun_twice(examined: Examination) -> Finding | None:
    """Find an output whose legal beginning is followed by the complete output again."""
    data, legal = examined.data, examined.legal
    if not examined.is_json or not legal:
        return None
    for _, match in zip(range(_MOST_STARTS), _OPENING.finditer(data, 1), strict=False):
        start = match.start()
        if start > legal:
            return None
        if data[start : start + 1] != data.lstrip()[:1] or examined.is_match(data[:start]):
            continue
        rest = data[start:].rstrip()
        if examined.reach(rest) == len(rest) and examined.is_match(rest) and len(rest) * 2 > len(data):
            return _finding(examined, "twice", start)
    return None


def _behind_prefix(examined: Examination) -> Finding | None:
    start = examined.later_start
    if not start:
        return None
    front = examined.data[:start]
    kind = prefix_kind(front)
    if kind is SurroundingText.FENCE or kind is SurroundingText.BYTE_ORDER_MARK:
        return None
    if kind is SurroundingText.BLANKS:
        if front == b" " and not examined.is_json:
            return None  # a space that the tokenizer puts before a word
        return _finding(examined, "blank", start, count=start)
    detail = "reasoning" if kind is SurroundingText.THOUGHTS else "prefix"
    if detail == "reasoning":
        return _finding(examined, detail, start)
    return _finding(examined, detail, start, text=shown(front))


TRIGGER_NEVER_CAME: Final = CauseRule(Cause.TRIGGER_NEVER_CAME, _trigger_never_came)
WRONG_ZONE: Final = CauseRule(Cause.WRONG_ZONE, _wrong_zone)
