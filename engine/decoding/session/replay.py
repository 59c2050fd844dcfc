"""Replay of a trace against another grammar, without the model.

Every branch is walked once, with accept and rollback. A step that the new grammar allows, or that was forced, gets its
new configuration; its mass and mask numbers are recomputed if the model's answer before it is still cached, else they
keep their old values. A step without a model answer has only a mask, which is recomputed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.decoding.constraints.constraint import Constraint
from engine.decoding.sampling.sampler import Decision, decide
from engine.decoding.session.tree import StepTree
from engine.decoding.values import SamplerSettings, Step, StepOrigin

KnownLogits = Callable[[int | None], NDArray[np.floating] | None]

PLAIN = SamplerSettings()


def replay(tree: StepTree, constraint: Constraint, known: KnownLogits) -> tuple[frozenset[int], dict[int, Step]]:
    """Walk all branches.

    Args:
        tree: the tree; read only.
        constraint: a constraint at its start; it is returned to the start.
        known: the model's answer after a node, if it is cached.

    Returns:
        The first illegal node of each branch and the forced ones, and the new steps of all nodes that were reached.
    """
    illegal: set[int] = set()
    refreshed: dict[int, Step] = {}
    line: list[int] = []
    waiting = [(0, node) for node in tree.children(None)]
    while waiting:
        depth, node = waiting.pop()
        constraint.rollback(len(line) - depth)
        del line[depth:]
        decision = _decide(constraint, known(node.parent))
        step = node.step if node.step.was_queried else _with_mask(node.step, constraint)
        if not constraint.accept(step.token_id):
            illegal.add(node.id)
            if not (step.origin == StepOrigin.FORCED_BY_USER and constraint.force(step.token_id)):
                refreshed[node.id] = step
                continue
        line.append(node.id)
        refreshed[node.id] = _with_numbers(step, decision, constraint.configuration)
        waiting.extend((depth + 1, child) for child in tree.children(node.id))
    constraint.rollback(len(line))
    return frozenset(illegal), refreshed


def _decide(constraint: Constraint, logits: NDArray[np.floating] | None) -> Decision | None:
    # The sampler does not change the model's numbers or the mask's.
    return None if logits is None else decide(logits, constraint.allowed(), (), PLAIN)


def _with_mask(step: Step, constraint: Constraint) -> Step:
    """Return a step without a model answer, with the number of tokens that the constraint allows before it."""
    allowed = int(np.count_nonzero(constraint.allowed()))
    return replace(step, allowed=allowed, forced=allowed == 1)


def _with_numbers(step: Step, decision: Decision | None, configuration: int) -> Step:
    if decision is None:
        return replace(step, configuration=configuration)
    allowed = int(np.count_nonzero(decision.allowed))
    return replace(
        step,
        p_masked=float(decision.p_masked[step.token_id]),
        z=decision.z,
        allowed=allowed,
        forced=allowed == 1,
        configuration=configuration,
    )
