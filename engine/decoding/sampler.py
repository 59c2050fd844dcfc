"""One decision: the model's distribution, the mask's effect, and the draw.

Masking keeps the ratio of any two allowed tokens. Everything is computed in float64 logarithms, so a step whose allowed
tokens all underflow is still sampled in the right proportions.

A draw depends only on the seed and the step's index: going back and stepping again gives the same token, and a branch
does not change what comes after it. Rejected: one random stream per session, which every detour would shift.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.decoding.pipeline_settings import sampler_values
from engine.decoding.processors import Logits, Masking, Shape, log_sum_exp, mask, sanitise, softmax
from engine.decoding.processors.logits import mass_of, padded
from engine.decoding.processors.partial_logits import PartialLogits
from engine.decoding.stages import STAGES
from engine.decoding.values import SamplerSettings, StageEffect, Unknown

Allowed = NDArray[np.bool_]

_BLOCK = 512  # tokens per block that a draw scans one by one
_SURE_MASS = 1e-6  # an allowed mass above this is accurate enough to divide by


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """The three distributions of a step; W is the larger of the widths of logits and vocabulary.

    `engine.decoding.partial` computes those of a source that returns a part of its distribution: what is unknown is
    NaN in `logits`, `p`, `p_masked`, `p_sampled` and the stages, and None for `z` and `kl`.

    Attributes:
        logits: the model's, float64[W], without NaN or `+inf`.
        allowed: bool[W].
        p: the model's probabilities, float64[W].
        p_masked: the probabilities after the mask; they sum to 1, or are all zero if nothing is allowed.
        p_sampled: the probabilities after mask and sampler; likewise.
        z: the allowed mass before the mask.
        kl: the divergence of `p_masked` from `p`, nats.
        stages: the name of every enabled stage, and the logits after it, float64[W].
        masked: the logits after the mask, float64[W].
        emptied_by: the stage that left nothing although something is allowed; empty if none did.
        unknown: what the source leaves unknown; None if it returned its full distribution.
        left: of a source that returns a part, the logits after the last stage; None if a stage cannot be applied.
    """

    logits: Logits
    allowed: Allowed
    p: Logits
    p_masked: Logits
    p_sampled: Logits
    z: float | None
    kl: float | None
    stages: tuple[tuple[str, Logits], ...]
    masked: Logits
    emptied_by: str = ""
    unknown: Unknown | None = None
    left: PartialLogits | None = None

    @property
    def wanted_id(self) -> int:
        """The model's top token; the lowest id among ties."""
        return int(np.argmax(self.logits) if self.unknown is None else np.nanargmax(self.logits))

    def draw(self, seed: int, index: int) -> int:
        """Return the token that the sampler takes at this step; only if `p_sampled` is known.

        Raises:
            ValueError: nothing is allowed.
        """
        if not self.allowed.any():
            raise ValueError("nothing is allowed, so nothing can be drawn")
        p, starts = self.p_sampled, np.arange(0, self.p_sampled.shape[0], _BLOCK)
        # Find the block first: a cumulative sum over the vocabulary takes as long as all other computations on it.
        ends = np.cumsum(np.add.reduceat(p, starts))
        point = draw_point(seed, index) * ends[-1]
        block = min(int(np.searchsorted(ends, point, side="right")), starts.shape[0] - 1)
        before = ends[block - 1] if block else 0.0
        first = int(starts[block])
        drawn = first + int(np.searchsorted(before + np.cumsum(p[first : first + _BLOCK]), point, side="right"))
        if drawn < p.shape[0] and p[drawn] > 0:
            return drawn
        # Rounding may put the point at the very end of a block, after its last token with mass.
        with_mass = np.flatnonzero(p)
        return int(with_mass[max(0, int(np.searchsorted(with_mass, drawn)) - 1)])


def draw_point(seed: int, index: int) -> float:
    """Return the part of the total probability at which a step draws, 0 to 1."""
    return float(np.random.default_rng((seed, index)).random())


def decide(
    logits: NDArray[np.floating],
    allowed: Allowed,
    history: Sequence[int],
    settings: SamplerSettings,
    stages: Iterable[tuple[str, Shape]] | None = None,
) -> Decision:
    """Compute the distributions of one step.

    Args:
        logits: the model's, float[any width].
        allowed: bool[V], the mask; ids beyond it are not allowed.
        history: the ids so far, prompt included.
        settings: the sampler's settings.
        stages: the stages between the model and the draw, in order; they include the masks whose intersection is
            `allowed`. By default the mask, then the sampler's stages.
    """
    clean = sanitise(logits, allowed.shape[0])
    wide = padded(allowed, clean.shape[0])
    masked, p = mask(clean, wide), softmax(clean)
    rules_all_out = _is_empty(masked)
    if rules_all_out:  # if the model rules out all allowed tokens, they are equally likely
        masked = mask(np.zeros_like(clean), wide)
    p_masked, log_z = _under_mask(clean, masked, p, wide)
    if stages is None:
        stages = (("mask", Masking(wide)), *sampler_shapes(settings).items())
    # If the model rules out all allowed tokens, the stages get equally likely ones.
    given = left = masked if rules_all_out else clean
    passed, emptied_by = list[tuple[str, Logits]](), ""
    for name, shape in stages:
        is_whole_mask = left is given and isinstance(shape, Masking) and shape.allowed is wide
        left = masked if is_whole_mask else shape(left, history)
        passed.append((name, left))
        if not emptied_by and _is_empty(left):
            emptied_by = name
    is_plain = not settings.is_greedy and (left is masked or np.array_equal(left, masked))
    p_sampled = p_masked if is_plain else _sampled(left, greedy=settings.is_greedy)
    if settings.is_greedy:
        passed.append(("greedy", mask(np.zeros_like(left), p_sampled > 0)))
    return Decision(
        logits=clean,
        allowed=wide,
        p=p,
        p_masked=p_masked,
        p_sampled=p_sampled,
        z=float(np.exp(log_z)),
        kl=-log_z + 0.0,
        stages=tuple(passed),
        masked=masked,
        emptied_by=emptied_by if wide.any() else "",
    )


def sampler_shapes(settings: SamplerSettings) -> dict[str, Shape]:
    """Return the functions of the sampler's stages that apply, by name and in default order."""
    shapes: dict[str, Shape] = {}
    for name in sampler_values(settings):
        stage = STAGES[name]
        assert stage.sampler_shape is not None
        shapes[name] = stage.sampler_shape({field: getattr(settings, field) for field in stage.field_names})
    return shapes


def _under_mask(clean: Logits, masked: Logits, p: Logits, allowed: Allowed) -> tuple[Logits, float]:
    """Return the distribution under the mask, and `ln Z` of the model's own logits.

    The exponential of each token is the largest cost of a step. If the allowed mass is well above rounding error,
    dividing by it gives the same result; if it is nearly nothing, it is computed in logarithms.
    """
    under = p * allowed
    mass, removed = float(under.sum()), float((p - under).sum())
    if mass > _SURE_MASS:
        if removed:
            under /= mass
        return under, math.log1p(-removed) if removed < mass else math.log(mass)
    log_z = min(log_sum_exp(np.where(allowed, clean, -np.inf)) - _finite(log_sum_exp(clean)), 0.0)
    return softmax(masked), log_z


def _is_empty(logits: Logits) -> bool:
    return bool(logits.max(initial=-np.inf) == -np.inf)


def _finite(logarithm: float) -> float:
    """Return 0 for `-inf`: if a model rules out every token, Z is 0, not NaN."""
    return logarithm if logarithm > -np.inf else 0.0


def _sampled(processed: Logits, *, greedy: bool) -> Logits:
    if not greedy:
        return softmax(processed)
    best = np.zeros_like(processed)
    if not _is_empty(processed):
        best[int(np.argmax(processed))] = 1.0
    return best


_NO_MASS = -1_000.0  # a logit this far below the best one has a probability of 0


def waterfall(p: Logits, stages: Sequence[tuple[str, Logits]], p_last: Logits | None = None) -> tuple[StageEffect, ...]:
    """Return the effect of each stage of the sampler, in order.

    Every number is about the distribution that a stage receives: how many tokens could be drawn before it and not after
    it, how much probability they had, and how much probability moved in total (the total variation distance). A
    temperature removes nothing and moves much; a mask that removes mass z moves just as much. Stages are compared only
    by what they do to logits, so a new one needs no code here.

    Args:
        p: the probabilities before the first stage, float64[W].
        stages: the name of each, and the logits after it, float64[W].
        p_last: the probabilities after the last stage, float64[W], if already known.
    """
    effects = []
    for number, (name, logits) in enumerate(stages, 1):
        after = p_last if p_last is not None and number == len(stages) else softmax(logits)
        could, can = p > 0, after > 0
        gone = could > can
        left = int(np.count_nonzero(can))
        effects.append(
            StageEffect(
                name=name,
                removed=int(np.count_nonzero(gone)),
                left=left,
                mass=min(1.0, mass_of(p, gone)),
                moved=_distance(p, after) if left and could.any() else _mass_of_either(p, after),
            )
        )
        p = after
    return tuple(effects)


def entropy(p: Logits, logits: Logits) -> float:
    """Return the entropy of `p = softmax(logits)`, nats, without a logarithm for each token.

    `ln p = logit - top - ln sum`, and the most probable token has `p = 1 / sum`.
    """
    if not logits.shape[0] or p[best := int(logits.argmax())] == 0:
        return 0.0
    below = logits - logits[best]
    np.maximum(below, _NO_MASS, out=below)  # 0 times -inf is NaN
    return max(0.0, -math.log(p[best]) - float(np.einsum("i,i->", p, below)))


def _distance(p: Logits, q: Logits) -> float:
    apart = p - q
    return min(1.0, 0.5 * float(np.abs(apart, out=apart).sum()))


def _mass_of_either(p: Logits, q: Logits) -> float:
    """Return the mass that moved if either distribution is empty: all of it."""
    return float(max(p.sum(), q.sum()))
