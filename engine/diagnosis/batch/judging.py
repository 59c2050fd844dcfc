"""The rows of a batch: the cause of each request, the smallest allowed mass, and the least probable token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from engine.diagnosis.batch.entries import BatchEntry
from engine.diagnosis.batch.rows import AllowedMass, BatchRow, WorstToken
from engine.diagnosis.case import FailureCase, RequestConstraint
from engine.diagnosis.failures.diagnosis import Diagnosis
from engine.diagnosis.scores.output_scores import score_output
from engine.diagnosis.scores.recorded_tokens import recorded_tokens
from engine.diagnosis.scores.response_scores import score_by_response
from engine.diagnosis.scores.token_scores import TokenScore, worst_steps
from engine.models.source import LogitSource
from engine.source import CancelledError, CancelToken, EngineError

CaseJudge: TypeAlias = Callable[[FailureCase], Diagnosis]


def judge_entry(
    entry: BatchEntry,
    judge: CaseJudge,
    constraint: RequestConstraint | None = None,
    source: LogitSource | None = None,
    cancel: CancelToken | None = None,
) -> tuple[BatchRow, Diagnosis | None]:
    """Judge a request of a batch; return its row, and its diagnosis if it can be read.

    Args:
        entry: the request and its response.
        judge: finds the cause of a case.
        constraint: the grammar in place of its own; None for its own.
        source: the model that scores an output without log-probabilities; None for none.
        cancel: cancels the work.

    Raises:
        CancelledError: `cancel` was used.
    """
    try:
        case = entry.case(constraint)
        found = judge(case)
    except CancelledError:
        raise
    except EngineError as error:
        return BatchRow(entry.name, entry.place, None, sentence=_as_sentence(error), sources=entry.sources), None
    scores, is_masked = _scores(case, found, source, cancel)
    row = BatchRow(
        entry.name,
        entry.place,
        found.cause,
        found.detail,
        found.sentence,
        case.finish,
        _least_mass(scores),
        _worst(scores),
        is_masked,
        bool(case.ids or case.scores),
        entry.sources,
    )
    return row, found


def _least_mass(scores: Sequence[TokenScore]) -> AllowedMass | None:
    """Return the smallest allowed mass: of several with bounds, the one that is certainly small."""
    known = [(one.z_most, one.z, one.index) for one in scores if one.z_most is not None and one.z is not None]
    if not known:
        return None
    most, least, index = min(known)
    return AllowedMass(index, least, most)


def _worst(scores: Sequence[TokenScore]) -> WorstToken | None:
    for one in worst_steps(scores, 1):
        return WorstToken(one.index, one.token_id, one.data, one.start, one.p or 0.0)
    return None


def _as_sentence(error: EngineError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _scores(
    case: FailureCase, found: Diagnosis, source: LogitSource | None, cancel: CancelToken | None
) -> tuple[tuple[TokenScore, ...], bool]:
    """Return the scores of the tokens and whether they are from behind the mask: by the response, else by a model."""
    vocabulary = None if source is None else source.vocabulary
    try:
        scored = score_output(case, found, None if case.scores else source, vocabulary=vocabulary, cancel=cancel)
    except CancelledError:
        raise
    except EngineError:  # the model cannot read the prompt or the output
        return (), False
    if scored is not None:
        return scored.scores, scored.is_masked
    # the arguments of a tool call are a part of the tokens, whose beginning is not known
    return score_by_response(case, recorded_tokens(case), None) if case.scores else ((), False)
