"""Positions and steps as values, built from the state of a session.

Nothing here changes state or queries a model: the session passes in what it knows.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from engine.decoding import candidates
from engine.decoding.constraints.staged import StagedConstraint
from engine.decoding.partial import effects
from engine.decoding.sampler import Decision, entropy, waterfall
from engine.decoding.session.tree import StepTree
from engine.decoding.values import (
    Bounds,
    Candidate,
    EosState,
    Finish,
    Position,
    StageEffect,
    Step,
    StepOrigin,
    TopToken,
    Unknown,
)
from engine.vocabulary import Vocabulary


def position_at(
    constraint: StagedConstraint,
    tree: StepTree,
    vocabulary: Vocabulary,
    decision: Decision | None,
    finish: Finish | None,
    times: tuple[float, float],
) -> Position:
    """Build the position before the next decision.

    Args:
        constraint: the constraint at the current node.
        tree: the tree of steps.
        vocabulary: the vocabulary of the ids.
        decision: the distributions; None if the model is not queried.
        finish: why the generation is over.
        times: of the mask in microseconds, and of the model in milliseconds.
    """
    allowed = int(np.count_nonzero(constraint.allowed()))
    table: tuple[Candidate, ...] = ()
    if decision is not None:
        table = candidates.table(decision, vocabulary)
    elif finish in (Finish.LENGTH, Finish.CONTEXT):  # the model's context is full: the mask can still be inspected
        table = candidates.without_model(constraint.allowed(), vocabulary)
    mask_us, logits_ms = times
    emptied_by = decision.emptied_by if decision else ""
    return Position(
        output=output_of(tree, vocabulary),
        index=tree.depth,
        configuration=constraint.configuration,
        allowed=allowed,
        vocabulary_size=vocabulary.size,
        z=decision.z if decision else None,
        kl=decision.kl if decision else None,
        forced=allowed == 1,
        forced_bytes=constraint.forced_bytes(),
        eos=_eos_state(constraint, vocabulary),
        accepting=constraint.is_accepting,
        finish=finish,
        wanted=table[0] if table and decision is not None else None,
        candidates=table,
        mask_us=mask_us,
        logits_ms=logits_ms,
        entropy=_entropy(decision) if decision else None,
        entropy_masked=_entropy_masked(decision) if decision and not emptied_by else None,
        stages=_effects(decision) if decision else (),
        broken_at=broken_at(tree),
        budget=constraint.budget(),
        parts=constraint.parts,
        grammar_text=constraint.grammar_text,
        emptied_by=emptied_by,
        unknown=decision.unknown if decision else None,
    )


def _entropy(decision: Decision) -> float | None:
    if decision.unknown is None:
        return entropy(decision.p, decision.logits)
    low, high = decision.unknown.entropy
    return low if low == high else None


def _entropy_masked(decision: Decision) -> float | None:
    if decision.unknown is not None and np.isnan(decision.masked.max(initial=-np.inf)):
        return None
    return entropy(decision.p_masked, decision.masked)


def _effects(decision: Decision) -> tuple[StageEffect, ...]:
    if decision.unknown is not None:
        return effects(decision)
    return waterfall(decision.p, decision.stages, decision.p_sampled)


def remembered_at(
    constraint: StagedConstraint, tree: StepTree, vocabulary: Vocabulary, step: Step, finish: Finish | None
) -> Position | None:
    """Build the position before an earlier decision at the current node, from what its step stored.

    Args:
        constraint: the constraint at the current node.
        tree: the tree of steps.
        vocabulary: the vocabulary of the ids.
        step: the decision.
        finish: why the generation is over.

    Returns:
        The position, without what needs the model's full answer; None if the step stored nothing, or was taken under
        another mask, whose numbers would be meaningless here.
    """
    if step.kept is None or step.allowed != np.count_nonzero(constraint.allowed()):
        return None
    empty = position_at(constraint, tree, vocabulary, None, finish, (step.mask_us or 0.0, 0.0))
    table = candidates.remembered(step.kept, step.z, constraint.allowed(), vocabulary)
    z = step.z
    return replace(
        empty,
        z=z,
        kl=None if z is None else -math.log(z) if z > 0 else math.inf,
        wanted=table[0] if table else None,
        candidates=table,
        entropy=step.entropy,
        is_remembered=True,
        unknown=None if step.z_bounds is None else _remembered_unknown(table, vocabulary, step.z_bounds),
    )


def _remembered_unknown(table: tuple[Candidate, ...], vocabulary: Vocabulary, z: Bounds) -> Unknown:
    """Return what the source left unknown at a step, as far as its stored tokens say."""
    listed = [candidate.p for candidate in table if candidate.p is not None]
    rest = max(0.0, 1.0 - sum(listed))
    count = len(listed)
    most = min(listed, default=1.0)
    return Unknown(count, vocabulary.size - count, count, Bounds(0.0, rest), most, z, Bounds(0.0, math.inf))


def output_of(tree: StepTree, vocabulary: Vocabulary) -> bytes:
    """Return the bytes of the steps taken; EOS and special tokens have none."""
    silent = vocabulary.eos_ids | vocabulary.special.keys()
    ids = (step.token_id for step in tree.taken())
    return b"".join(vocabulary.token_bytes(token_id) or b"" for token_id in ids if token_id not in silent)


def queried_step(
    vocabulary: Vocabulary,
    token_id: int,
    decision: Decision,
    configuration: int,
    origin: StepOrigin,
    looked: Position | None,
) -> Step:
    """Build a step with a model answer.

    Args:
        vocabulary: the vocabulary of the id.
        token_id: the token taken.
        decision: the distributions that it was taken from.
        configuration: the automaton's configuration after it.
        origin: the origin of the step.
        looked: the position before it, if it was computed.
    """
    allowed = int(np.count_nonzero(decision.allowed))
    return Step(
        token_id=token_id,
        token=candidates.token_bytes(vocabulary, token_id),
        name=vocabulary.special.get(token_id, ""),
        p=known_number(decision.p[token_id]),
        p_masked=known_number(decision.p_masked[token_id]),
        z=decision.z,
        allowed=allowed,
        forced=allowed == 1,
        wanted_id=decision.wanted_id,
        origin=origin,
        configuration=configuration,
        entropy=looked.entropy if looked else None,
        mask_us=looked.mask_us if looked else None,
        logits_ms=looked.logits_ms if looked else None,
        top=candidates.top_candidates(looked.candidates) if looked else _wanted(vocabulary, decision),
        kept=candidates.stored_top(looked.candidates) if looked else None,
        z_bounds=z_bounds_of(decision),
        p_drawn=known_number(decision.p_sampled[token_id]) if origin is StepOrigin.SAMPLER else None,
    )


def _wanted(vocabulary: Vocabulary, decision: Decision) -> tuple[TopToken, ...]:
    """Return the model's top token alone; none if its probability is unknown."""
    token_id, p = decision.wanted_id, known_number(decision.p[decision.wanted_id])
    if p is None:
        return ()
    token, name = candidates.token_bytes(vocabulary, token_id), vocabulary.special.get(token_id, "")
    return (TopToken(token_id, token, name, p, bool(decision.allowed[token_id])),)


def known_number(value: float) -> float | None:
    """Return a number of a decision; None for NaN, which is unknown."""
    return None if math.isnan(value) else float(value)


def z_bounds_of(decision: Decision) -> Bounds | None:
    """Return the bounds of the allowed mass if it is unknown."""
    return decision.unknown.z if decision.z is None and decision.unknown is not None else None


def unqueried_step(
    vocabulary: Vocabulary, token_id: int, allowed: int, configuration: int, origin: StepOrigin, *, forced: bool
) -> Step:
    """Build a step without a model answer.

    Args:
        vocabulary: the vocabulary of the id.
        token_id: the token taken.
        allowed: the number of allowed tokens.
        configuration: the automaton's configuration after it.
        origin: the origin of the step.
        forced: whether it was the only allowed token.
    """
    return Step(
        token_id=token_id,
        token=candidates.token_bytes(vocabulary, token_id),
        name=vocabulary.special.get(token_id, ""),
        p=0.0,
        p_masked=0.0,
        z=0.0,
        allowed=allowed,
        forced=forced,
        wanted_id=token_id,
        origin=origin,
        configuration=configuration,
    )


def broken_at(tree: StepTree) -> int | None:
    """Return the index of the first taken step that the grammar does not allow, or None."""
    taken = tree.path[: tree.depth]
    return next((i for i, node in enumerate(taken) if node in tree.illegal), None)


def _eos_state(constraint: StagedConstraint, vocabulary: Vocabulary) -> EosState:
    if not vocabulary.eos_ids:
        return EosState.NO_EOS
    return EosState.ALLOWED if constraint.is_accepting else EosState.NOT_YET
