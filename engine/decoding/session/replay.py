"""A trace held against another grammar, without the model.

Every branch is walked once, with accept and rollback. A step that the new grammar
allows, or that was forced, gets its new configuration; its mass and mask numbers are
reckoned anew where the model's answer before it is still kept, else they stay as
they were decided. A step that no model was asked for has nothing but its mask, which
is computed anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.decoding.constraints.constraint import Constraint
from engine.decoding.sampling.sampler import Decision, decide
from engine.decoding.session.tree import StepTree
from engine.decoding.values import FORCE, SamplerSettings, Step

KnownLogits = Callable[[int | None], NDArray[np.floating] | None]

PLAIN = SamplerSettings()


def replay(tree: StepTree, constraint: Constraint, known: KnownLogits) -> tuple[frozenset[int], dict[int, Step]]:
    """Walk all branches.

    Args:
        tree: is only read.
        constraint: at its start, where it is left again.
        known: the model's answer after a node, if it is kept.

    Returns:
        The first illegal node of each branch and those that are forced, and the new account of all that were come to.
    """
    illegal: set[int] = set()
    anew: dict[int, Step] = {}
    line: list[int] = []
    waiting = [(0, node) for node in tree.children(None)]
    while waiting:
        depth, node = waiting.pop()
        constraint.rollback(len(line) - depth)
        del line[depth:]
        decision = _decide(constraint, known(node.parent))
        step = node.step if node.step.was_asked else _masked_anew(node.step, constraint)
        if not constraint.accept(step.token_id):
            illegal.add(node.id)
            if not (step.chosen_by == FORCE and constraint.force(step.token_id)):
                anew[node.id] = step
                continue
        line.append(node.id)
        anew[node.id] = _account(step, decision, constraint.configuration)
        waiting.extend((depth + 1, child) for child in tree.children(node.id))
    constraint.rollback(len(line))
    return frozenset(illegal), anew


def _decide(constraint: Constraint, logits: NDArray[np.floating] | None) -> Decision | None:
    # The sampler changes neither the model's numbers nor the mask's.
    return None if logits is None else decide(logits, constraint.allowed(), (), PLAIN)


def _masked_anew(step: Step, constraint: Constraint) -> Step:
    """A step that no model was asked for, with what the constraint before it allows."""
    allowed = int(np.count_nonzero(constraint.allowed()))
    return replace(step, allowed=allowed, forced=allowed == 1)


def _account(step: Step, decision: Decision | None, configuration: int) -> Step:
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
