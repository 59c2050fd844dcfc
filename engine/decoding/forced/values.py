"""Values about forced runs that the window receives and JSON contains. Nothing here imports numpy or a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from engine.decoding.values import Generation, Step, StepOrigin

Path = tuple[int, ...]
"""Token ids."""


@dataclass(frozen=True, slots=True)
class FastForwardRun:
    """The tokens for a forced run, or for its beginning.

    Attributes:
        run: the forced bytes.
        taken_back: how many of the last tokens are replaced.
        tokens: the tokens that replace them and encode the run; if empty, the model must be queried.
        calls: the number of model calls for this.
    """

    run: bytes
    taken_back: int = 0
    tokens: Path = ()
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Continuation:
    """A possible continuation after an encoding.

    Attributes:
        data: a chosen byte and everything that must follow it; empty for the end of the text.
        p: its probability after the mask, 0 to 1.
        mass: the model's probability of its tokens before the mask.
    """

    data: bytes
    p: float
    mass: float


@dataclass(frozen=True, slots=True)
class EncodingComparison:
    """A model's view of one encoding.

    Attributes:
        ids: the encoding.
        log_p: the sum of its tokens' log-probabilities, nats; `-inf` if the model rules it out.
        z: the allowed mass after it, before the mask.
        following: the most probable continuations after it, a dozen at most, best first.
        left_out: the probability of what is not in `following`.
        is_own: whether it is the tokenizer's own encoding.
    """

    ids: Path
    log_p: float
    z: float
    following: tuple[Continuation, ...]
    left_out: float
    is_own: bool


@dataclass(frozen=True, slots=True)
class Probable:
    """The most probable encoding.

    Attributes:
        ids: the encoding.
        log_p: as in `EncodingComparison`.
        calls: the number of model calls.
        is_exact: whether no other can be more probable; else the search reached its bound.
    """

    ids: Path
    log_p: float
    calls: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Encodings:
    """The encodings of a part of a forced run, for comparison.

    Attributes:
        run: the forced bytes.
        begin, end: the part of it that is encoded in several ways.
        count: the number of encodings of the part.
        before, behind: the encoding of the rest of the run, the same in all of them.
        outlooks: the model's view of some encodings, most probable first. Their ids encode the complete run.
        likeliest: the ids of the most probable one.
        is_exact: whether no encoding outside the list can be more probable.
    """

    run: bytes
    begin: int
    end: int
    count: int
    before: Path
    behind: Path
    outlooks: tuple[EncodingComparison, ...]
    likeliest: Path
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Savings:
    """The savings by forced runs in an output.

    Attributes:
        tokens: the number of tokens of the output.
        forced: how many of them came in forced runs.
        calls: the number of model calls saved.
        seconds: the estimated duration of those calls, from the other calls of this output; None if unknown.
    """

    tokens: int
    forced: int
    calls: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class FastForwardGeneration:
    """A generation with fast-forward, and its cost.

    Attributes:
        generation: as `generate` returns it; steps without a model call are `FAST_FORWARDED`.
        strategy: the name of the strategy that encoded forced runs.
        calls: the number of model calls.
        unasked: how many of the tokens have no model call.
        taken_back: how many sampled tokens were replaced.
        model_seconds: the time in the model.
        seconds: the total time.
    """

    generation: Generation
    strategy: str
    calls: int
    unasked: int
    taken_back: int
    model_seconds: float
    seconds: float

    @property
    def saved(self) -> int:
        """The number of tokens minus the number of calls; below 0 if the choice of an encoding took calls."""
        return len(self.generation.steps) - self.calls


def savings_of(steps: Sequence[Step]) -> Savings:
    """Return what forced runs saved in an output.

    A call is saved if a token was taken without a model answer; a step where the user looked at the candidates had one.
    """
    runs = [step for step in steps if step.origin == StepOrigin.FAST_FORWARDED]
    saved = sum(step.logits_ms is None for step in runs)
    times = [step.logits_ms for step in steps if step.was_queried and step.logits_ms]
    seconds = saved * median(times) / 1_000 if times else None
    return Savings(len(steps), len(runs), saved, seconds)
