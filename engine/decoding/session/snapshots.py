"""What is said of a moment and of a decision: positions and steps as values, made from where a session stands.

Nothing here changes anything or asks a model: a session hands in what it knows.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from engine.decoding.constraints.staged import StagedConstraint
from engine.decoding.sampling import candidates
from engine.decoding.sampling.sampler import Decision
from engine.decoding.sampling.waterfall import entropy, waterfall
from engine.decoding.session.tree import StepTree
from engine.decoding.values import EosState, Finish, Position, Step
from engine.vocabulary import Vocabulary


def position_at(
    constraint: StagedConstraint,
    tree: StepTree,
    vocabulary: Vocabulary,
    decision: Decision | None,
    finish: Finish | None,
    times: tuple[float, float],
) -> Position:
    """What stands before the next decision.

    Args:
        constraint: where the match stands.
        tree: where in it one stands.
        vocabulary: whose tokens.
        decision: the distributions; None where the model is not asked.
        finish: why the generation is over.
        times: of the mask in microseconds, and of the model in milliseconds.
    """
    allowed = int(np.count_nonzero(constraint.allowed()))
    table = () if decision is None else candidates.table(decision, vocabulary)
    mask_us, logits_ms = times
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
        wanted=table[0] if table else None,
        candidates=table,
        mask_us=mask_us,
        logits_ms=logits_ms,
        entropy=entropy(decision.p, decision.logits) if decision else None,
        entropy_masked=entropy(decision.p_masked, decision.masked) if decision else None,
        stages=waterfall(decision.p, decision.stages, decision.p_sampled) if decision else (),
        broken_at=broken_at(tree),
        budget=constraint.budget(),
        parts=constraint.parts,
        grammar_text=constraint.grammar_text,
    )


def remembered_at(
    constraint: StagedConstraint, tree: StepTree, vocabulary: Vocabulary, step: Step, finish: Finish | None
) -> Position | None:
    """What stood before a decision that was taken where a tree stands, from what its step kept.

    Args:
        constraint: where the match stands.
        tree: where in it one stands.
        vocabulary: whose tokens.
        step: the decision.
        finish: why the generation is over.

    Returns:
        The position, without what only the model's full answer tells; None where the step kept nothing, or was taken
        under another mask, whose numbers would mean nothing here.
    """
    if step.kept is None or step.entropy is None or step.allowed != np.count_nonzero(constraint.allowed()):
        return None
    empty = position_at(constraint, tree, vocabulary, None, finish, (step.mask_us or 0.0, 0.0))
    table = candidates.remembered(step.kept, step.z, constraint.allowed(), vocabulary)
    return replace(
        empty,
        z=step.z,
        kl=-math.log(step.z) if step.z > 0 else math.inf,
        wanted=table[0] if table else None,
        candidates=table,
        entropy=step.entropy,
        is_remembered=True,
    )


def output_of(tree: StepTree, vocabulary: Vocabulary) -> bytes:
    """The bytes of the steps taken; EOS and special tokens have none."""
    silent = vocabulary.eos_ids | vocabulary.special.keys()
    ids = (step.token_id for step in tree.taken())
    return b"".join(vocabulary.token_bytes(token_id) or b"" for token_id in ids if token_id not in silent)


def asked_step(
    vocabulary: Vocabulary,
    token_id: int,
    decision: Decision,
    configuration: int,
    chosen_by: str,
    looked: Position | None,
) -> Step:
    """A step behind the model's answer.

    Args:
        vocabulary: whose token.
        token_id: the token taken.
        decision: the distributions that it was taken from.
        configuration: where the match stands after it.
        chosen_by: who chose it.
        looked: what stood before it, if anybody looked.
    """
    allowed = int(np.count_nonzero(decision.allowed))
    return Step(
        token_id=token_id,
        token=candidates.token_bytes(vocabulary, token_id),
        name=vocabulary.special.get(token_id, ""),
        p=float(decision.p[token_id]),
        p_masked=float(decision.p_masked[token_id]),
        z=decision.z,
        allowed=allowed,
        forced=allowed == 1,
        wanted_id=decision.wanted_id,
        chosen_by=chosen_by,
        configuration=configuration,
        entropy=looked.entropy if looked else None,
        mask_us=looked.mask_us if looked else None,
        logits_ms=looked.logits_ms if looked else None,
        top=candidates.favourites(looked.candidates) if looked else (),
        kept=candidates.kept_top(looked.candidates) if looked else None,
    )


def unasked_step(
    vocabulary: Vocabulary, token_id: int, allowed: int, configuration: int, chosen_by: str, *, forced: bool
) -> Step:
    """A step that no model was asked for.

    Args:
        vocabulary: whose token.
        token_id: the token taken.
        allowed: how many were allowed.
        configuration: where the match stands after it.
        chosen_by: why nobody was asked.
        forced: whether it was the only one.
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
        chosen_by=chosen_by,
        configuration=configuration,
    )


def broken_at(tree: StepTree) -> int | None:
    """Return the index of the first step taken that the grammar does not allow; None where there is none."""
    taken = tree.path[: tree.depth]
    return next((i for i, node in enumerate(taken) if node in tree.illegal), None)


def _eos_state(constraint: StagedConstraint, vocabulary: Vocabulary) -> EosState:
    if not vocabulary.eos_ids:
        return EosState.NO_EOS
    return EosState.ALLOWED if constraint.is_accepting else EosState.NOT_YET
