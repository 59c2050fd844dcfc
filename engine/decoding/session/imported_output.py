"""An output that was not generated here, as a trace: steps that no model was asked for.

What the grammar says of a step is reckoned; what a model would have said is not
known, and nothing stands in for it: such a step has `chosen_by` `REPLAYED`, and its
probabilities are not to be shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.compile import CompiledGrammar
from engine.decoding.constraints.constraint import constraint_for
from engine.decoding.session.snapshots import unasked_step
from engine.decoding.values import REPLAYED, Trace, TraceNode
from engine.source import EngineError
from engine.vocabulary import Vocabulary


def pasted_trace(ids: Sequence[int], grammar: CompiledGrammar | None, vocabulary: Vocabulary) -> Trace:
    """A trace that stands behind the legal part of an output; what cannot be taken is marked.

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
        step = unasked_step(vocabulary, token_id, allowed, constraint.configuration, REPLAYED, forced=forced)
        nodes.append(TraceNode(index, index - 1 if index else None, step))
    path = tuple(range(len(nodes)))
    illegal = frozenset({legal}) if legal < len(nodes) else frozenset[int]()
    return Trace(tuple(nodes), path, legal - 1 if legal else None, illegal)
