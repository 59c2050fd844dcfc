"""The rows of a batch: the cause of each request, the smallest allowed mass, and the least probable token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from engine.diagnosis.batch.entries import BatchEntry
from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
from engine.diagnosis.failures.diagnosis import Cause, Diagnosis
from engine.diagnosis.scores.output_scores import score_output
from engine.diagnosis.scores.recorded_tokens import recorded_tokens
from engine.diagnosis.scores.response_scores import score_by_response
from engine.diagnosis.scores.token_scores import TokenScore, worst_steps
from engine.models.source import LogitSource
from engine.source import CancelledError, CancelToken, EngineError

CaseJudge: TypeAlias = Callable[[FailureCase], Diagnosis]


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A request of a batch, judged.

    Attributes:
        name: its name.
        place: where it was found: a file, and perhaps a line of it.
        cause: the cause; None if it cannot be read.
        detail: the kind of the cause.
        sentence: the cause in one sentence, or why it cannot be read.
        finish: the reason for the end, as the server reported it.
        lowest: the token before which the fewest probability was allowed, with Z or its bounds; None if unknown.
        worst: the least probable token; None if no probability is known.
        is_masked: whether the probabilities are from behind the mask, so that Z is unknown.
        has_tokens: whether the tokens of the output are known, by ids or by log-probabilities.
    """

    name: str
    place: str
    cause: Cause | None
    detail: str = ""
    sentence: str = ""
    finish: FinishReason = FinishReason.UNKNOWN
    lowest: TokenScore | None = None
    worst: TokenScore | None = None
    is_masked: bool = False
    has_tokens: bool = False


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
        return BatchRow(entry.name, entry.place, None, sentence=_as_sentence(error)), None
    scores, is_masked = _scores(case, found, source, cancel)
    known = [one for one in scores if one.z_most is not None]
    row = BatchRow(
        entry.name,
        entry.place,
        found.cause,
        found.detail,
        found.sentence,
        case.finish,
        min(known, key=_mass, default=None),
        next(iter(worst_steps(scores, 1)), None),
        is_masked,
        bool(case.ids or case.scores),
    )
    return row, found


def _mass(score: TokenScore) -> tuple[float, float]:
    return score.z_most or 0.0, score.z or 0.0


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
