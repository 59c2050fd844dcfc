"""One decision: what the model wanted, what the mask makes of it, and the draw.

Masking keeps the ratio of any two allowed tokens as the model had it. All is
reckoned in float64 logarithms, so a step whose allowed tokens all underflow is
still drawn in their true proportions.

A draw depends on the seed and the step's index alone: so going back and stepping
again gives the same token, and a branch does not change what comes after it.
Rejected: one random stream per session, which every detour would shift.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors import Logits, Masking, Shape, log_sum_exp, mask, sanitise, shapes, softmax
from engine.decoding.processors.logits import padded
from engine.decoding.values import SamplerSettings

Allowed = NDArray[np.bool_]

_RUN = 512  # tokens that a draw looks at one by one
_SURE_MASS = 1e-6  # an allowed mass from here on is exact enough to divide by


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """The three distributions of a step; W is the larger of the widths of logits and vocabulary.

    Attributes:
        logits: the model's, float64[W], without NaN or `+inf`.
        allowed: bool[W].
        p: the model's probabilities, float64[W].
        p_masked: after the mask; sums to 1, or is all zero where nothing is allowed.
        p_sampled: after mask and sampler; likewise.
        z: the allowed mass before the mask.
        kl: the divergence of `p_masked` from `p`, nats.
        stages: the name of every stage that is on, and the logits after it, float64[W].
        masked: the logits after the mask, float64[W].
        emptied_by: the stage that left nothing though something is allowed; empty where none did.
    """

    logits: Logits
    allowed: Allowed
    p: Logits
    p_masked: Logits
    p_sampled: Logits
    z: float
    kl: float
    stages: tuple[tuple[str, Logits], ...]
    masked: Logits
    emptied_by: str = ""

    @property
    def wanted_id(self) -> int:
        """The model's favourite; the lowest id among equals."""
        return int(np.argmax(self.logits))

    def draw(self, seed: int, index: int) -> int:
        """The token that the sampler takes at this step.

        Raises:
            ValueError: nothing is allowed.
        """
        if not self.allowed.any():
            raise ValueError("nothing is allowed, so nothing can be drawn")
        p, starts = self.p_sampled, np.arange(0, self.p_sampled.shape[0], _RUN)
        # Run by run first: to add up a whole vocabulary one by one takes as long as all that is reckoned of it.
        ends = np.cumsum(np.add.reduceat(p, starts))
        point = np.random.default_rng((seed, index)).random() * ends[-1]
        run = min(int(np.searchsorted(ends, point, side="right")), starts.shape[0] - 1)
        before = ends[run - 1] if run else 0.0
        first = int(starts[run])
        drawn = first + int(np.searchsorted(before + np.cumsum(p[first : first + _RUN]), point, side="right"))
        if drawn < p.shape[0] and p[drawn] > 0:
            return drawn
        # Rounding may put the point on the very end of a run, behind its last token with mass.
        with_mass = np.flatnonzero(p)
        return int(with_mass[max(0, int(np.searchsorted(with_mass, drawn)) - 1)])


def decide(
    logits: NDArray[np.floating],
    allowed: Allowed,
    history: Sequence[int],
    settings: SamplerSettings,
    stages: Iterable[tuple[str, Shape]] | None = None,
) -> Decision:
    """Weigh one step.

    Args:
        logits: the model's, float[any width].
        allowed: bool[V], the mask; ids beyond it are not allowed.
        history: the ids so far, prompt included.
        settings: the sampler's.
        stages: what stands between the model and the draw, in its order; masks that come to `allowed` together are
            among them. By default the mask, then what the settings say.
    """
    clean = sanitise(logits, allowed.shape[0])
    wide = padded(allowed, clean.shape[0])
    masked, p = mask(clean, wide), softmax(clean)
    rules_all_out = _is_empty(masked)
    if rules_all_out:  # allowed tokens that the model rules out altogether are equals if there are no others
        masked = mask(np.zeros_like(clean), wide)
    p_masked, log_z = _under_mask(clean, masked, p, wide)
    if stages is None:
        stages = (("mask", Masking(wide)), *shapes(settings, history).items())
    # What a stage leaves of tokens that the model rules out altogether, it leaves of equals.
    given = left = masked if rules_all_out else clean
    passed, emptied_by = list[tuple[str, Logits]](), ""
    for name, shape in stages:
        is_whole_mask = left is given and isinstance(shape, Masking) and shape.allowed is wide
        left = masked if is_whole_mask else shape(left)
        passed.append((name, left))
        if not emptied_by and _is_empty(left):
            emptied_by = name
    is_plain = settings.temperature != 0 and (left is masked or np.array_equal(left, masked))
    p_sampled = p_masked if is_plain else _sampled(left, greedy=settings.temperature == 0)
    if settings.temperature == 0:
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


def _under_mask(clean: Logits, masked: Logits, p: Logits, allowed: Allowed) -> tuple[Logits, float]:
    """The distribution under the mask, and `ln Z`, which is about the model's own opinion: of the unrepaired logits.

    An exponential for each token is what a step costs most in. Where the allowed mass is no rounding error, dividing
    by it says the same; where it is nearly nothing, it is reckoned in logarithms.
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
    """A model that rules out every token leaves no mass to divide by: then Z is 0, not NaN."""
    return logarithm if logarithm > -np.inf else 0.0


def _sampled(processed: Logits, *, greedy: bool) -> Logits:
    if not greedy:
        return softmax(processed)
    best = np.zeros_like(processed)
    if not _is_empty(processed):
        best[int(np.argmax(processed))] = 1.0
    return best
