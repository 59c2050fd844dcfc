"""The diagnosis beside a verdict: its case, and the spans of the JSON Pointers that it names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import Cause, Diagnosis
from engine.diagnosis.failures.violations import spans_at
from engine.diagnosis.verdicts.verdict import VerdictOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.workers.requests.compile import CompileRequest
    from app.workers.requests.decode import ReplayAnswer, ReplayQuestion
    from engine.decoding.pipeline_settings import ZoneSettings
    from engine.diagnosis.failures.examination import AcceptedPrefix
    from engine.diagnosis.verdicts.replay import TokenSource
    from engine.source import CancelToken, Span


def with_diagnosis(
    answer: ReplayAnswer,
    compiled: CompileRequest,
    token_source: TokenSource | None,
    zones: ZoneSettings | None,
    cancel: CancelToken,
) -> ReplayAnswer:
    """Return an answer with its diagnosis.

    Args:
        answer: the verdict on an output.
        compiled: the grammar of the editor.
        token_source: the vocabulary of the loaded model.
        zones: the zones of the session.
        cancel: cancels the diagnosis.

    Raises:
        CancelledError: `cancel` was used.
    """
    verdict = answer.verdict
    if answer.error:
        return answer
    output = None if verdict is None else verdict.data
    _, found = diagnosed_case(answer.question, compiled, output, token_source, zones, cancel)
    is_legal = verdict is not None and verdict.outcome is VerdictOutcome.COMPLETE
    if zones is not None and is_legal and found.cause is not Cause.COMPLETE:
        return answer  # further zones, which are not diagnosed, explain the output
    return replace(answer, diagnosis=found, schema_spans=schema_spans(found, compiled.text))


def diagnosed_case(
    question: ReplayQuestion,
    compiled: CompileRequest,
    output: bytes | None,
    token_source: TokenSource | None,
    zones: ZoneSettings | None,
    cancel: CancelToken,
    accepted: Mapping[str, AcceptedPrefix] | None = None,
) -> tuple[FailureCase, Diagnosis]:
    """Return the case of a question, as far as the first zone goes, and its diagnosis.

    Args:
        question: the question.
        compiled: the grammar of the editor.
        output: the bytes of the output; None if there is none.
        token_source: the vocabulary of the loaded model.
        zones: the zones of the session.
        cancel: cancels the diagnosis.
        accepted: what engines accept, by their names.

    Raises:
        CancelledError: `cancel` was used.
    """
    trigger = "" if zones is None else zones.after or zones.after_token
    if output is not None and zones is not None and zones.until and (end := output.find(zones.until.encode())) >= 0:
        output = output[:end]
    case, triggers = _case(question, compiled, output), (trigger,) if trigger else ()
    return case, diagnose(case, token_source=token_source, triggers=triggers, accepted=accepted, cancel=cancel)


def _case(question: ReplayQuestion, compiled: CompileRequest, output: bytes | None) -> FailureCase:
    case = question.case or FailureCase()
    finish = question.finish or (question.saved.finish if question.saved is not None else "")
    return replace(
        case,
        constraints=_constraints(case, compiled),
        output=output,
        ids=question.ids or (),
        max_tokens=question.budget or case.max_tokens,
        finish=FinishReason(finish) if finish else case.finish,
    )


def _constraints(case: FailureCase, compiled: CompileRequest) -> tuple[RequestConstraint, ...]:
    """Return the grammars of a request with that of the editor in place of the one that it was taken from."""
    given = RequestConstraint(compiled.notation, compiled.text, compiled.options)
    asked = case.constraints
    same = [index for index, one in enumerate(asked) if (one.notation, one.text) == (given.notation, given.text)]
    if not same and len(asked) == 1:
        same = [0]
    if not same:
        return (given,)
    at = same[0]
    given = replace(given, way=asked[at].way, pointer=asked[at].pointer, tool=asked[at].tool)
    return (*asked[:at], given, *asked[at + 1 :])


def schema_spans(found: Diagnosis, text: str) -> dict[str, Span]:
    """Return the spans of the JSON Pointers that a diagnosis names."""
    named = [one.pointer for one in found.violations] + [one.pointer for one in found.places]
    pointers = dict.fromkeys(pointer for pointer in named if pointer is not None)
    return spans_at(text, pointers) if pointers else {}
