"""Sequential Monte Carlo (SMC): weighted prefixes, "particles", which are resampled where few have all the weight.

Each particle is moved by a proposal and weighed by the ratio of target and proposal. Once the effective number of
particles is below half of them, they are drawn anew in proportion to their weights, which all become their mean, so
that the mean weight stays an unbiased estimate of P(grammar).

Sources: Lew et al. 2023 (arXiv 2306.03081) and Loula et al., ICLR 2025 (arXiv 2504.13139) for language models; Douc and
Cappé 2005 for the ways of resampling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors.logits import log_sum_exp
from engine.decoding.strategies.prefix_tree import Inquiry, ParticleGeneration, TokenPrefix, drawn_index
from engine.decoding.strategies.strategy import Draw

MOST_RECORDED: Final = 256  # particles whose generations are recorded
_TOGETHER: Final = 64  # samples that are drawn in step, so that the model computes them together

Moved: TypeAlias = list[tuple[TokenPrefix, float]]
"""Prefixes with one more token, and the logarithm of the factor of each weight."""
Proposal: TypeAlias = Callable[[Inquiry, Sequence[TokenPrefix], np.random.Generator], Moved]
Points: TypeAlias = Callable[[int, np.random.Generator], NDArray[np.float64]]
"""Returns the n ascending points from 0 to 1 at which n particles are drawn anew."""


def advance_under_masks(inquiry: Inquiry, prefixes: Sequence[TokenPrefix], rng: np.random.Generator) -> Moved:
    """Draw the next token of each open prefix under the mask; the factor is the allowed mass Z.

    A prefix with no token that has mass stays, with the factor 0.

    Args:
        inquiry: the run's access to the tree.
        prefixes: the open prefixes.
        rng: the random generator.
    """
    points = rng.random(len(prefixes))
    return [
        (inquiry.take(prefix, allowed, drawn_index(allowed.shares, point)), allowed.log_z)
        if allowed.ids.shape[0]
        else (prefix, -np.inf)
        for prefix, allowed, point in zip(prefixes, inquiry.allowed_of_all(prefixes), points.tolist(), strict=True)
    ]


def draw_under_masks(inquiry: Inquiry, samples: int, rng: np.random.Generator) -> Iterator[Draw]:
    """Yield samples of local masking: particles of equal weight that are never resampled.

    The ratio of the model's probability of a text to that under the masks is the product of its Z.

    Args:
        inquiry: the run's access to the tree.
        samples: the number of samples.
        rng: the random generator.
    """
    for start in range(0, samples, _TOGETHER):
        count = min(_TOGETHER, samples - start)
        prefixes, log_ratios = [inquiry.tree.root] * count, [0.0] * count
        while moving := [i for i in range(count) if prefixes[i].is_open and log_ratios[i] > -np.inf]:
            moved = advance_under_masks(inquiry, [prefixes[i] for i in moving], rng)
            for i, (prefix, log_z) in zip(moving, moved, strict=True):
                prefixes[i] = prefix
                log_ratios[i] += log_z
        for prefix, log_ratio in zip(prefixes, log_ratios, strict=True):
            yield Draw(prefix, prefix.is_complete, log_ratio=log_ratio if prefix.is_complete else -np.inf)


def systematic_points(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return equally spaced points with one common random shift: the least noise."""
    points: NDArray[np.float64] = (np.arange(count) + rng.random()) / count
    return points


def multinomial_points(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return independent points."""
    return np.sort(rng.random(count))


def draw_particles(
    inquiry: Inquiry, count: int, rng: np.random.Generator, propose: Proposal, points: Points
) -> Iterator[Draw]:
    """Yield the particles of one run with their weights; see `DecodingStrategy.draw`.

    Args:
        inquiry: the run's access to the tree.
        count: the number of particles.
        rng: the random generator.
        propose: moves the particles.
        points: how they are drawn anew.
    """
    prefixes = [inquiry.tree.root] * count
    log_weights = np.zeros(count)
    while moving := [i for i in range(count) if prefixes[i].is_open and log_weights[i] > -np.inf]:
        for i, (prefix, log_factor) in zip(moving, propose(inquiry, [prefixes[i] for i in moving], rng), strict=True):
            prefixes[i] = prefix
            log_weights[i] = log_weights[i] + log_factor if prefix.is_open or prefix.is_complete else -np.inf
        log_total = log_sum_exp(log_weights)
        is_lost = log_total == -np.inf
        shares = np.zeros(count) if is_lost else np.exp(log_weights - log_total)
        moved, copied = tuple(prefixes), list[int]()
        if not is_lost and 1 / float(np.square(shares).sum()) < count / 2 and any(one.is_open for one in prefixes):
            ends = np.cumsum(shares)
            copied = np.searchsorted(ends, points(count, rng) * ends[-1], side="right").clip(max=count - 1).tolist()
            prefixes = [prefixes[i] for i in copied]
            log_weights = np.full(count, log_total - np.log(count))
        if count <= MOST_RECORDED:
            inquiry.generations.append(ParticleGeneration(moved, tuple(shares.tolist()), tuple(copied)))
        if is_lost:
            break
    for prefix, log_weight in zip(prefixes, log_weights.tolist(), strict=True):
        is_accepted = prefix.is_complete and log_weight > -np.inf
        weight = log_weight if is_accepted else -np.inf
        yield Draw(prefix, is_accepted, log_weight=weight, log_ratio=weight)
