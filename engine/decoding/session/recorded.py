"""The trace of a log: the tokens that a server wrote, with the probabilities that it reported.

A log lists a few tokens of each step, and knows nothing of the others: what does not follow from the list is unknown.
Once the present model was queried at a step, the step has its numbers, and the probability of the log beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.decoding.candidates import KEPT, token_bytes
from engine.decoding.session.snapshots import unqueried_step
from engine.decoding.values import (
    Bounds,
    RecordedProbability,
    Step,
    StepOrigin,
    TopToken,
    TopTokens,
    Trace,
    TraceNode,
)
from engine.source import EngineError
from engine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A token of a log.

    Attributes:
        token_id: its id.
        recorded: its probability; None if the log has none.
        listed: the ids and the probabilities of the most probable tokens, best first, as far as they are known.
    """

    token_id: int
    recorded: RecordedProbability | None = None
    listed: tuple[tuple[int, float], ...] = ()


def recorded_trace(tokens: Sequence[RecordedStep], vocabulary: Vocabulary) -> Trace:
    """Build the trace of a log, before its first step; `DecodeSession.restore` adds what follows from the grammar.

    Args:
        tokens: the tokens of the output.
        vocabulary: the vocabulary of the ids.

    Raises:
        EngineError: an id is not in the vocabulary.
    """
    nodes = []
    for index, token in enumerate(tokens):
        if not 0 <= token.token_id < vocabulary.size:
            raise EngineError("errors.decoding.replayed_id", position=index + 1, id=token.token_id)
        nodes.append(TraceNode(index, index - 1 if index else None, _recorded_step(token, vocabulary)))
    return Trace(tuple(nodes), tuple(range(len(nodes))))


def _recorded_step(token: RecordedStep, vocabulary: Vocabulary) -> Step:
    listed = [(one, p) for one, p in token.listed if 0 <= one < vocabulary.size]
    is_masked = token.recorded is not None and token.recorded.is_masked
    p = None if token.recorded is None else token.recorded.p
    step = unqueried_step(vocabulary, token.token_id, 0, 0, StepOrigin.RECORDED, forced=False)
    ids = np.array([one for one, _ in listed], dtype="<i4")
    return replace(
        step,
        p=None if is_masked else p,
        p_masked=p if is_masked else None,
        z=None,
        wanted_id=listed[0][0] if listed else token.token_id,
        top=tuple(
            TopToken(one, token_bytes(vocabulary, one), vocabulary.special.get(one, ""), listed_p, True)
            for one, listed_p in listed[:KEPT]
        ),
        kept=TopTokens(ids.tobytes(), np.array([p for _, p in listed], dtype="<f4").tobytes()) if listed else None,
        recorded=token.recorded,
    )


def recorded_under(step: Step, allowed: NDArray[np.bool_]) -> Step:
    """Return a step of a log with what follows for a mask from the tokens that the log lists.

    Args:
        step: the step.
        allowed: bool[V], the mask before it.
    """
    count, is_masked = int(np.count_nonzero(allowed)), step.recorded is not None and step.recorded.is_masked
    top = tuple(replace(one, allowed=bool(allowed[one.token_id])) for one in step.top)
    bounds = None
    if step.kept is not None and not is_masked:
        ids, p = np.frombuffer(step.kept.ids, "<i4"), np.frombuffer(step.kept.p, "<f4").astype(np.float64)
        can = allowed[ids]
        low = min(1.0, float(p[can].sum()))
        bounds = Bounds(low, max(low, 1.0 - float(p[~can].sum())))
    return replace(step, allowed=count, forced=count == 1, top=top, z_bounds=bounds)
