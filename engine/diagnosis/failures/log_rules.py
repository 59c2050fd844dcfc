"""The rules about messages of servers and engines: a recognised line outweighs the text of the output.

Whether a refused draft or a failed grammar matters depends on the output, so a message alone does not decide the cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.diagnosis.case import LogFinding
from engine.diagnosis.failures.diagnosis import Cause, EvidenceWeight, FailurePlace
from engine.diagnosis.failures.examination import Examination
from engine.diagnosis.failures.grammar_rules import refusal_sentence, refusals
from engine.diagnosis.failures.rules import (
    CauseRule,
    Finding,
    fix_text,
    output_place,
    server_name,
    shown,
    where_in_output,
)
from engine.diagnosis.intake.log_reader import KnownMessage, known_messages
from engine.source.catalogue import catalogue_text
from engine.source.text import quoted
from engine.targets import Effect

LONGEST_LINE: Final = 160
OLDEST: Final = "0"
"""A version that is older than all that the data on engines distinguish."""


@dataclass(frozen=True, slots=True)
class _LogEvidence:
    """A line of a log that is evidence of a cause, and its entry in the catalogue."""

    line: LogFinding
    known: KnownMessage


def _evidence_of(examined: Examination, cause: Cause) -> _LogEvidence | None:
    """Return the first line that is evidence of a cause."""
    catalogue = known_messages()
    for line in examined.case.log:
        known = catalogue.get(line.message)
        if known is not None and known.cause == cause:
            return _LogEvidence(line, known)
    return None


def _shown_line(line: str) -> str:
    text = " ".join(line.split())
    return quoted(text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…")


def _quoted_line(line: LogFinding) -> str:
    return catalogue_text("failures.evidence.log", line=line.line, text=_shown_line(line.text))


def _speculative_rejection(examined: Examination) -> Finding | None:
    found = _evidence_of(examined, Cause.SPECULATIVE_REJECTION)
    if found is None:
        return None
    count = sum(1 for line in examined.case.log if line.message == found.line.message)
    ids = [one for line in examined.case.log for one in re.findall(r"for tokens? \[?(\d+)", line.text)]
    if examined.part is None:
        key = "open"
    elif examined.is_complete:
        key = "harmless"
    else:
        key = "harmful"
    evidence = [_quoted_line(found.line)]
    if ids:
        evidence.append(catalogue_text("failures.evidence.draft_ids", ids=", ".join(ids[:12])))
        texts = _texts_of(examined, [int(one) for one in ids[:12]])
        if texts:
            evidence.append(catalogue_text("failures.evidence.draft_texts", texts=", ".join(texts)))
    return Finding(
        Cause.SPECULATIVE_REJECTION,
        catalogue_text(f"failures.sentence.speculative-rejection.{key}", count=count),
        key if key != "open" else "",
        weight=EvidenceWeight.LOG,
        fix=fix_text(Cause.SPECULATIVE_REJECTION, key, examined.server),
        evidence=tuple(evidence),
    )


def _texts_of(examined: Examination, ids: Sequence[int]) -> list[str]:
    """Return the texts of token ids; empty if one is not in the vocabulary, which is that of another model then."""
    if examined.tokens_from is None or max(ids) >= examined.tokens_from.vocabulary.size:
        return []
    pieces = [examined.tokens_from.vocabulary.token_bytes(one) for one in ids]
    return [shown(piece) for piece in pieces if piece]


def _grammar_refused(examined: Examination) -> Finding | None:
    """Find a grammar that the server did not take: the cause without an output; with one, that none was in force."""
    found = _evidence_of(examined, Cause.GRAMMAR_ERROR)
    if found is None:
        return None
    evidence = [_quoted_line(found.line)]
    engine = examined.server or ("llama.cpp" if "grammar" in found.line.text else "")
    # The log proves that the server refused it; a release that is older than the examined one may be the reason.
    versions = (None, OLDEST) if "@" not in examined.context.target else (None,)
    found_by_version = ([*refusals(examined, engine, version)] for version in versions)
    refused = next(
        filter(None, ([one for one in found if one.effect is Effect.REFUSES] for found in found_by_version)), []
    )
    evidence += [one.note for one in refused[:4] if one.note]
    if examined.part is not None and examined.is_illegal:
        return Finding(
            Cause.CONSTRAINT_OFF,
            catalogue_text("failures.sentence.constraint-off.log"),
            "grammar-refused",
            weight=EvidenceWeight.LOG,
            fix=fix_text(Cause.CONSTRAINT_OFF, "", engine),
            evidence=tuple(evidence),
            explains=frozenset((Cause.SCHEMA_VIOLATION,)),
        )
    sentence = catalogue_text("failures.sentence.grammar-error.log", text=_shown_line(found.line.text))
    if refused and examined.constraint is not None:
        first = refused[0]
        sentence = catalogue_text(
            f"failures.sentence.grammar-error.{'tool' if examined.constraint.tool else 'refused'}",
            engine=server_name(engine),
            keyword=first.shown_keyword,
            place=quoted(first.pointer or ""),
            **({"tool": quoted(examined.constraint.tool)} if examined.constraint.tool else {}),
        )
    return Finding(
        Cause.GRAMMAR_ERROR,
        sentence,
        "refused-by-server",
        weight=EvidenceWeight.LOG,
        fix=fix_text(Cause.GRAMMAR_ERROR, "refused-by-server", engine),
        evidence=tuple(evidence),
        places=tuple(FailurePlace(pointer=one.pointer) for one in refused[:8] if one.pointer is not None),
    )


def _empty_stack(examined: Examination) -> Finding | None:
    found = _evidence_of(examined, Cause.CONSTRAINT_OFF)
    if found is None:
        return None
    piece = found.line.values.get("piece") or found.line.text.partition("after accepting piece:")[2].strip()
    if not piece:
        return _with_entry(Cause.CONSTRAINT_OFF, found, found.known.detail or found.known.id)
    sentence = catalogue_text("failures.sentence.constraint-off.accepted", text=quoted(piece))
    return Finding(
        Cause.CONSTRAINT_OFF,
        sentence,
        "accepted-illegal-token",
        weight=EvidenceWeight.LOG,
        fix=fix_text(Cause.CONSTRAINT_OFF, "accepted-illegal-token", examined.server or "llama.cpp"),
        evidence=(_quoted_line(found.line),),
        explains=frozenset((Cause.SCHEMA_VIOLATION, Cause.SPECIAL_TOKEN_TEXT)),
    )


def message_alone(examined: Examination) -> Finding | None:
    """Return what the first known message of the log means, where no rule found a cause.

    Its cause is unknown if the message is only a hint, such as the error of a client that parsed the output.
    """
    catalogue = known_messages()
    for line in examined.case.log:
        known = catalogue.get(line.message)
        if known is not None:
            cause = Cause(known.cause) if known.cause else Cause.UNKNOWN
            return _with_entry(cause, _LogEvidence(line, known), known.detail)
    return None


def _with_entry(cause: Cause, found: _LogEvidence, detail: str) -> Finding:
    """Return a finding in the words of the message's entry in the catalogue."""
    known = found.known
    next_text = catalogue_text("failures.evidence.paste_next", text=known.next.rstrip("."))
    evidence = (_quoted_line(found.line), next_text)
    return Finding(cause, known.sentence, detail, weight=EvidenceWeight.LOG, fix=known.setting, evidence=evidence)


def _from_log(cause: Cause) -> Callable[[Examination], Finding | None]:
    """Return the function that finds a cause whose message needs nothing else."""

    def find(examined: Examination) -> Finding | None:
        found = _evidence_of(examined, cause)
        return None if found is None else _with_entry(cause, found, found.known.detail or found.known.id)

    return find


def _unsupported(examined: Examination) -> Finding | None:
    """Find a construct that a message refuses; the grammar names it, if the message does not."""
    found = _evidence_of(examined, Cause.UNSUPPORTED_CONSTRUCT)
    if found is None:
        return None
    finding = _with_entry(Cause.UNSUPPORTED_CONSTRUCT, found, found.known.detail or found.known.id)
    engine = examined.server or found.known.engine
    refused = [one for one in refusals(examined, engine) if one.effect is Effect.REFUSES and one.pointer is not None]
    if not refused:
        return finding
    first = refused[0]
    sentence = refusal_sentence(first, (engine,))
    notes = dict.fromkeys(one.note for one in refused if one.note)
    places = dict.fromkeys(one.pointer for one in refused)
    return replace(
        finding,
        sentence=sentence,
        evidence=(finding.evidence[0], finding.sentence, *notes),
        places=tuple(FailurePlace(pointer=pointer) for pointer in places)[:8],
    )


def _without_output(cause: Cause) -> Callable[[Examination], Finding | None]:
    """Return the function that finds a cause by a message where there is no output, which would tell more."""

    def find(examined: Examination) -> Finding | None:
        found = _evidence_of(examined, cause) if examined.part is None else None
        return None if found is None else _with_entry(cause, found, found.known.detail or found.known.id)

    return find


def _engine_difference(examined: Examination) -> Finding | None:
    """Find engines that accept other parts of the output, or do not agree whether it may end there."""
    accepted = sorted(examined.context.accepted.items(), key=lambda pair: pair[1])
    if len({prefix for _, prefix in accepted}) < 2:
        return None
    (other, least), (one, most) = accepted[0], accepted[-1]
    is_end = least.bytes == most.bytes
    sentence = catalogue_text(
        f"failures.sentence.engine-difference.{'end' if is_end else 'text'}",
        one=server_name(one),
        other=server_name(other),
        where=where_in_output(examined, least.bytes),
        **({} if is_end else {"one_bytes": most.bytes, "other_bytes": least.bytes}),
    )
    evidence = tuple(
        catalogue_text(
            f"failures.evidence.{'accepted_complete' if prefix.is_complete else 'accepted'}",
            engine=server_name(engine),
            count=prefix.bytes,
        )
        for engine, prefix in accepted
    )
    return Finding(
        Cause.ENGINE_DIFFERENCE,
        sentence,
        "end" if is_end else "",
        weight=EvidenceWeight.REPORTED,
        evidence=evidence,
        places=(output_place(examined, least.bytes),),
    )


ENGINE_DIFFERENCE: Final = CauseRule(Cause.ENGINE_DIFFERENCE, _engine_difference)
LOG_RULES: Final = (
    CauseRule(Cause.SAMPLER_CONFLICT, _from_log(Cause.SAMPLER_CONFLICT)),
    CauseRule(Cause.SPECULATIVE_REJECTION, _speculative_rejection),
    CauseRule(Cause.CONSTRAINT_OFF, _empty_stack),
    CauseRule(Cause.LEFT_RECURSION, _from_log(Cause.LEFT_RECURSION)),
    CauseRule(Cause.GRAMMAR_ERROR, _grammar_refused),
    CauseRule(Cause.SLOW_COMPILE, _from_log(Cause.SLOW_COMPILE)),
    CauseRule(Cause.UNSUPPORTED_CONSTRUCT, _unsupported),
    CauseRule(Cause.TOKENIZER_MISMATCH, _from_log(Cause.TOKENIZER_MISMATCH)),
    CauseRule(Cause.STATE_EXPLOSION, _from_log(Cause.STATE_EXPLOSION)),
    CauseRule(Cause.CONTEXT_LIMIT, _from_log(Cause.CONTEXT_LIMIT)),
    CauseRule(Cause.REQUEST_IGNORED, _from_log(Cause.REQUEST_IGNORED)),
    *(
        CauseRule(cause, _without_output(cause))
        for cause in (
            Cause.CUT_OFF,
            Cause.STOP_TOKEN,
            Cause.WRONG_ZONE,
            Cause.TRIGGER_NEVER_CAME,
            Cause.EOS_REFUSED,
            Cause.TOKEN_BOUNDARY,
            Cause.SPECIAL_TOKEN_TEXT,
        )
    ),
)
