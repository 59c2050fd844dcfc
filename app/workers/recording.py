"""The tokens of a log in a session: how they are opened, and how they compare with the present model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.workers.requests.decode import RecordDifference, RecordPosition
from engine.decoding.values import StepOrigin
from engine.models.text_encoder import text_encoder_of

if TYPE_CHECKING:
    from engine.decoding.session import DecodeSession
    from engine.decoding.values import Step, Trace
    from engine.diagnosis.case import FailureCase


def opened_record(case: FailureCase, session: DecodeSession) -> tuple[Trace, str]:
    """Return the trace of a log, and a note about what is not as the server had it.

    Args:
        case: the request and its response.
        session: the session with the vocabulary.

    Raises:
        EngineError: its tokens are not known, or are those of another vocabulary.
    """
    from engine.decoding.session.recorded import recorded_trace  # start-up time
    from engine.diagnosis.scores.recorded_output import recorded_output  # start-up time

    model = session.model
    record = recorded_output(case, model.vocabulary, text_encoder_of(model), session.grammar)
    notes = []
    if record.is_encoded:
        notes.append(ui_text("workers.record.encoded"))
    if record.before:
        notes.append(ui_text("workers.record.before", count=record.before))
    if case.prompt_ids and case.prompt_ids != session.prompt_ids:
        notes.append(ui_text("workers.record.prompt", then=len(case.prompt_ids), now=len(session.prompt_ids)))
    return recorded_trace(record.steps, model.vocabulary), "; ".join(notes)


def record_position(session: DecodeSession) -> RecordPosition | None:
    """Return where a session is in the tokens of a log; None if none is open.

    Args:
        session: the session, whose position was computed.
    """
    trace = session.trace
    steps = [trace.nodes[node_id].step for node_id in trace.path]
    total = sum(1 for step in steps if _is_of_log(step))
    if not total:
        return None
    taken = session.steps
    done, largest = sum(1 for step in taken if _is_of_log(step)), _largest(enumerate(taken))
    following = session.next_recorded
    if following is None:
        return RecordPosition(done, total, has_left=done < len(taken), largest=largest)
    candidate, then, found = session.candidate(following.token_id), following.recorded, None
    if then is not None:
        now = None if candidate is None else candidate.p_masked if then.is_masked else candidate.p
        found = RecordDifference(len(taken), then.p, now)
    is_allowed = candidate is None or candidate.allowed
    token = following.token, following.name, following.token_id
    return RecordPosition(done, total, *token, found, is_allowed, largest=largest)


def _is_of_log(step: Step) -> bool:
    return step.recorded is not None or step.origin is StepOrigin.RECORDED


def _largest(steps: Iterable[tuple[int, Step]]) -> RecordDifference | None:
    """Return the step whose present probability differs most from that of the log, as a ratio."""
    found = []
    for index, step in steps:
        if step.recorded is None or step.origin is StepOrigin.RECORDED:
            continue
        now = step.p_masked if step.recorded.is_masked else step.p
        if now is not None:
            found.append(RecordDifference(index, step.recorded.p, now))
    return max(found, key=_ratio, default=None)


def _ratio(one: RecordDifference) -> float:
    least = 1e-30
    return abs(math.log(max(one.now or 0.0, least)) - math.log(max(one.then, least)))
