"""An output from elsewhere as a trace of steps without model answers.

The grammar's numbers of a step are computed; the model's are unknown and are not invented: such a step has the origin
`REPLAYED`, and its probabilities must not be shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.compile import CompiledGrammar
from engine.decoding.constraints.constraint import constraint_for
from engine.decoding.session.snapshots import unqueried_step
from engine.decoding.values import StepOrigin, Trace, TraceNode
from engine.source import EngineError
from engine.vocabulary import Vocabulary


def imported_trace(ids: Sequence[int], grammar: CompiledGrammar | None, vocabulary: Vocabulary) -> Trace:
    """Build a trace whose current step ends the legal prefix of an output; the first illegal step is marked.

    Args:
        ids: the tokens of the output.
        grammar: the grammar; None for free generation.
        vocabulary: the vocabulary of the ids.

    Raises:
        EngineError: an id is not in the vocabulary.
    """
    constraint = constraint_for(grammar, vocabulary)
    nodes: list[TraceNode] = []
    legal = len(ids)
    for index, token_id in enumerate(ids):
        if not 0 <= token_id < vocabulary.size:
            raise EngineError(f"token {index + 1} is #{token_id}, which this vocabulary does not have")
        allowed = int(np.count_nonzero(constraint.allowed())) if index <= legal else 0
        if index < legal and not constraint.accept(token_id):
            legal = index
        forced = allowed == 1 and index < legal
        step = unqueried_step(
            vocabulary, token_id, allowed, constraint.configuration, StepOrigin.REPLAYED, forced=forced
        )
        nodes.append(TraceNode(index, index - 1 if index else None, step))
    path = tuple(range(len(nodes)))
    illegal = frozenset({legal}) if legal < len(nodes) else frozenset[int]()
    return Trace(tuple(nodes), path, legal - 1 if legal else None, illegal)
