"""The rules about messages of servers and engines: a recognised line outweighs the text of the output.

Whether a refused draft or a failed grammar matters depends on the output, so a message alone does not decide the cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.diagnosis.case import LogFinding
from engine.diagnosis.failures.diagnosis import Cause, EvidenceWeight, FailurePlace
from engine.diagnosis.failures.examination import Examination
from engine.diagnosis.failures.grammar_rules import refusals
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
_IS: Final = re.IGNORECASE


@dataclass(frozen=True, slots=True)
class MessagePattern:
    """A kind of message.

    Attributes:
        detail: its name, the detail of the cause.
        cause: the cause that it is evidence of.
        found: finds it in a line.
        needs_illegal: whether it is evidence only if the output is not legal.
    """

    detail: str
    cause: Cause
    found: re.Pattern[str]
    needs_illegal: bool = False


MESSAGES: Final = (
    MessagePattern("refused-draft", Cause.SPECULATIVE_REJECTION, re.compile(r"failed to advance FSM", _IS)),
    MessagePattern(
        "refused-draft", Cause.SPECULATIVE_REJECTION, re.compile(r"draft tokens?.*(reject|refus|invalid)", _IS)
    ),
    MessagePattern(
        "empty-stack", Cause.CONSTRAINT_OFF, re.compile(r"unexpected empty grammar stack after accepting piece", _IS)
    ),
    MessagePattern("left-recursion", Cause.LEFT_RECURSION, re.compile(r"left recursion|left-recursi", _IS)),
    MessagePattern(
        "unsupported",
        Cause.UNSUPPORTED_CONSTRUCT,
        re.compile(r"unsupported|not supported|unimplemented|does not support.*(schema|regex|grammar|pattern)", _IS),
    ),
    MessagePattern(
        "grammar",
        Cause.GRAMMAR_ERROR,
        re.compile(
            r"failed to parse grammar|error parsing grammar|failed to convert.*grammar|invalid grammar|unknown escape"
            r"|invalid json schema|failed to compile|EBNF (?:lexer|parser) error|undefined rule|unclosed",
            _IS,
        ),
    ),
    MessagePattern("min-tokens", Cause.SAMPLER_CONFLICT, re.compile(r"min_tokens", _IS)),
    MessagePattern(
        "logits-width",
        Cause.SAMPLER_CONFLICT,
        re.compile(r"size of tensor a .* must match the size of tensor b|mask.*(?:shape|size).*logits", _IS),
    ),
    MessagePattern(
        "no-token",
        Cause.SAMPLER_CONFLICT,
        re.compile(r"no (?:valid|allowed) tokens?|all logits .*-?inf|probabilit(?:y|ies).*(?:nan|inf)", _IS),
    ),
    MessagePattern("too-slow", Cause.SLOW_COMPILE, re.compile(r"compil\w+ .*(?:timed? ?out|took too long)", _IS)),
    MessagePattern(
        "context", Cause.CONTEXT_LIMIT, re.compile(r"context (?:size|window|length) .*(?:exceed|full)", _IS)
    ),
    MessagePattern(
        "ignored",
        Cause.REQUEST_IGNORED,
        re.compile(r"(?:fields? (?:were )?|is )(?:present in the request but )?ignored", _IS),
    ),
)
"""The messages, in the order in which they decide."""


@dataclass(frozen=True, slots=True)
class _LogEvidence:
    """A line of a log that is evidence of a cause; `known` is its entry in the catalogue, if it has one."""

    line: LogFinding
    detail: str
    known: KnownMessage | None = None


def _evidence_of(examined: Examination, cause: Cause) -> _LogEvidence | None:
    """Return the first line that is evidence of a cause; the patterns here are for lines without an entry."""
    catalogue = known_messages()
    for line in examined.case.log:
        known = catalogue.get(line.message)
        if known is not None and known.cause == cause:
            return _LogEvidence(line, known.detail or known.id, known)
    for message in MESSAGES:
        for line in examined.case.log if message.cause is cause else ():
            if message.found.search(line.text):
                return _LogEvidence(line, message.detail)
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
        return _with_entry(Cause.CONSTRAINT_OFF, found)
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
            return _with_entry(cause, _LogEvidence(line, known.detail, known))
    return None


def _with_entry(cause: Cause, found: _LogEvidence) -> Finding:
    """Return a finding in the words of the message's entry in the catalogue, or with the line alone."""
    evidence = [_quoted_line(found.line)]
    sentence, fix = catalogue_text("failures.sentence.log.text", text=_shown_line(found.line.text)), ""
    if found.known is not None:
        sentence, fix = found.known.sentence, found.known.setting
        evidence.append(catalogue_text("failures.evidence.paste_next", text=found.known.next.rstrip(".")))
    return Finding(cause, sentence, found.detail, weight=EvidenceWeight.LOG, fix=fix, evidence=tuple(evidence))


def _from_log(cause: Cause) -> Callable[[Examination], Finding | None]:
    """Return the function that finds a cause whose message needs nothing else."""

    def find(examined: Examination) -> Finding | None:
        found = _evidence_of(examined, cause)
        return None if found is None else _with_entry(cause, found)

    return find


def _engine_difference(examined: Examination) -> Finding | None:
    accepted = sorted(examined.context.accepted.items(), key=lambda pair: pair[1])
    if len(accepted) < 2 or accepted[0][1] == accepted[-1][1]:
        return None
    (other, other_bytes), (one, one_bytes) = accepted[0], accepted[-1]
    sentence = catalogue_text(
        "failures.sentence.engine-difference.text",
        one=server_name(one),
        one_bytes=one_bytes,
        other=server_name(other),
        other_bytes=other_bytes,
        where=where_in_output(examined, other_bytes),
    )
    evidence = tuple(
        catalogue_text("failures.evidence.accepted", engine=server_name(engine), count=count)
        for engine, count in accepted
    )
    return Finding(
        Cause.ENGINE_DIFFERENCE,
        sentence,
        weight=EvidenceWeight.REPORTED,
        evidence=evidence,
        places=(output_place(examined, other_bytes),),
    )


ENGINE_DIFFERENCE: Final = CauseRule(Cause.ENGINE_DIFFERENCE, _engine_difference)
LOG_RULES: Final = (
    CauseRule(Cause.SPECULATIVE_REJECTION, _speculative_rejection),
    CauseRule(Cause.CONSTRAINT_OFF, _empty_stack),
    CauseRule(Cause.LEFT_RECURSION, _from_log(Cause.LEFT_RECURSION)),
    CauseRule(Cause.GRAMMAR_ERROR, _grammar_refused),
    CauseRule(Cause.SAMPLER_CONFLICT, _from_log(Cause.SAMPLER_CONFLICT)),
    CauseRule(Cause.SLOW_COMPILE, _from_log(Cause.SLOW_COMPILE)),
    CauseRule(Cause.UNSUPPORTED_CONSTRUCT, _from_log(Cause.UNSUPPORTED_CONSTRUCT)),
    CauseRule(Cause.CONTEXT_LIMIT, _from_log(Cause.CONTEXT_LIMIT)),
    CauseRule(Cause.REQUEST_IGNORED, _from_log(Cause.REQUEST_IGNORED)),
)
