"""Replay of steps against a constraint, without the model: another grammar, another branch, or an imported output.

The tree records which tokens were taken, the constraint whether they are allowed; either both move or neither does.

A replay walks every branch once, with accept and rollback. A step that the new grammar allows, or that was forced, gets
its new configuration; its mass and mask numbers are recomputed if the model's answer before it is still cached, else
they keep their old values. A step without a model answer has only a mask, which is recomputed; a step of a log has
bounds of the allowed mass, too, which follow from the tokens that the log lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from engine.compile import CompiledGrammar
from engine.decoding.answer import Answer
from engine.decoding.constraints.constraint import Constraint, constraint_for
from engine.decoding.errors import NotAllowedError
from engine.decoding.partial import decide_answer
from engine.decoding.sampler import Decision
from engine.decoding.session.recorded import recorded_under
from engine.decoding.session.snapshots import known_number, unqueried_step, z_bounds_of
from engine.decoding.session.tree import StepTree
from engine.decoding.values import Replay, SamplerSettings, Step, StepOrigin, Trace, TraceNode
from engine.source import EngineError
from engine.vocabulary import Vocabulary

KnownAnswers = Callable[[int | None], Answer | None]

PLAIN = SamplerSettings()


def replay(tree: StepTree, constraint: Constraint, known: KnownAnswers) -> tuple[frozenset[int], dict[int, Step]]:
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
        is_recorded = node.step.origin is StepOrigin.RECORDED
        decision = None if is_recorded else _decide(constraint, known(node.parent))
        step = node.step if node.step.was_queried else _with_mask(node.step, constraint)
        if is_recorded:
            step = recorded_under(step, constraint.allowed())
        if step.zone != constraint.zone:
            step = replace(step, zone=constraint.zone)
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


def _decide(constraint: Constraint, answer: Answer | None) -> Decision | None:
    # The sampler does not change the model's numbers or the mask's.
    return None if answer is None else decide_answer(answer, constraint.allowed(), (), PLAIN)


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
        p_masked=known_number(decision.p_masked[step.token_id]),
        top=tuple(replace(one, allowed=bool(decision.allowed[one.token_id])) for one in step.top),
        z=decision.z,
        z_bounds=z_bounds_of(decision),
        allowed=allowed,
        forced=allowed == 1,
        configuration=configuration,
    )


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


def put_under(constraint: Constraint, tree: StepTree, depth: int, known: KnownAnswers) -> Replay:
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


def imported_trace(ids: Sequence[int], grammar: CompiledGrammar | None, vocabulary: Vocabulary) -> Trace:
    """Build the trace of an output from elsewhere; its current step ends the legal prefix, an illegal step is marked.

    The grammar's numbers of a step are computed; the model's are unknown and are not invented: such a step has the
    origin `REPLAYED`, and its probabilities must not be shown.

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
            raise EngineError("errors.decoding.replayed_id", position=index + 1, id=token_id)
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
