"""Moves along a tree of steps together with a constraint: from one branch to another, and under another grammar.

The tree records which tokens were taken, the constraint whether they are allowed; either both move or neither does.
"""

from __future__ import annotations

from itertools import takewhile

from engine.decoding.constraints.constraint import Constraint
from engine.decoding.errors import NotAllowedError
from engine.decoding.session.replay import KnownLogits, replay
from engine.decoding.session.tree import StepTree
from engine.decoding.values import Replay, Step, StepOrigin


def walk(constraint: Constraint, tree: StepTree, line: tuple[int, ...]) -> None:
    """Move a constraint from the current path of a tree to another; if a step is refused, restore it.

    Args:
        constraint: the constraint at the tree's current node.
        tree: the tree; read only.
        line: the node ids from the first step to the target.

    Raises:
        NotAllowedError: the constraint does not allow the path.
    """
    here = tree.path[: tree.depth]
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(here, line, strict=False)))
    constraint.rollback(len(here) - shared)
    for done, node_id in enumerate(line[shared:]):
        step = tree.node(node_id).step
        if not _accept(constraint, step):
            refusal = constraint.explain(step.token_id)
            constraint.rollback(done)
            for known in here[shared:]:
                _accept(constraint, tree.node(known).step)
            raise NotAllowedError(refusal)


def put_under(constraint: Constraint, tree: StepTree, depth: int, known: KnownLogits) -> Replay:
    """Check a tree against a constraint, and move both to the longest legal prefix of the path.

    Args:
        constraint: a new constraint, at the start.
        tree: the tree; its steps get new numbers, and illegal ones are marked.
        depth: the depth to move to; less if a step before it is illegal.
        known: the model's answer after a node, if it is cached.
    """
    illegal, refreshed = replay(tree, constraint, known)
    # A forced step is kept on the path although it is illegal.
    blocked = (node in illegal and tree.node(node).step.origin != StepOrigin.FORCED_BY_USER for node in tree.path)
    legal = next((i for i, is_blocked in enumerate(blocked) if is_blocked), len(tree.path))
    reached = min(depth, legal)
    for node_id in tree.path[:reached]:
        _accept(constraint, tree.node(node_id).step)
    for node_id, step in refreshed.items():
        tree.refresh(node_id, step)
    tree.illegal = illegal
    tree.move_to_depth(reached)
    return Replay(legal, tree.path[legal] if legal < len(tree.path) else None)


def _accept(constraint: Constraint, step: Step) -> bool:
    """Take an earlier step again; a forced step is forced again if it is still not allowed."""
    token_id = step.token_id
    return constraint.accept(token_id) or (step.origin == StepOrigin.FORCED_BY_USER and constraint.force(token_id))
