"""What is told of forced runs: values that cross to the window and to JSON. Nothing here imports numpy or a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from engine.decoding.pipeline_settings import Strategy
from engine.decoding.values import COALESCED, Generation, Step

Path = tuple[int, ...]
"""Token ids."""


@dataclass(frozen=True, slots=True)
class FastForwardRun:
    """The tokens for a forced run, or for its beginning.

    Attributes:
        run: what must come.
        taken_back: how many of the last tokens are replaced.
        tokens: what comes in their place and for the run; without any, the model is to be asked.
        calls: how often the model was asked for this.
    """

    run: bytes
    taken_back: int = 0
    tokens: Path = ()
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Continuation:
    """What may come behind a spelling.

    Attributes:
        data: a byte that is chosen and all that must follow it; none for the end of the text.
        p: its probability after the mask, 0 to 1.
        mass: what the model gave to its tokens before the mask.
    """

    data: bytes
    p: float
    mass: float


@dataclass(frozen=True, slots=True)
class EncodingComparison:
    """What a model says of one spelling.

    Attributes:
        ids: the spelling.
        log_p: the sum of the logarithms of its tokens' probabilities, nats; `-inf` where the model rules it out.
        z: the allowed mass behind it, before the mask.
        following: the first dozen of what may come behind it, the likeliest first.
        left_out: the probability of what is not in `following`.
        is_own: whether it is the tokenizer's own spelling.
    """

    ids: Path
    log_p: float
    z: float
    following: tuple[Continuation, ...]
    left_out: float
    is_own: bool


@dataclass(frozen=True, slots=True)
class Probable:
    """The likeliest spelling.

    Attributes:
        ids: the spelling.
        log_p: as in `EncodingComparison`.
        calls: how often the model was asked.
        is_exact: whether no other can be likelier; else the search met its bound.
    """

    ids: Path
    log_p: float
    calls: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Encodings:
    """The ways to spell a part of a forced run, side by side.

    Attributes:
        run: what must come.
        begin, end: the part of it that is spelled in several ways.
        count: how many ways there are.
        before, behind: how the rest of the run is spelled, in all of them.
        outlooks: what the model says of some of the ways, the likeliest first. Their ids spell the whole run.
        likeliest: the ids of the likeliest.
        is_exact: whether no way that is not listed can be likelier.
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
    """What forced runs saved of an output.

    Attributes:
        tokens: how many it has.
        coalesced: how many of them came in forced runs.
        calls: how many calls of the model were saved.
        seconds: how long these would have taken, as the others of this output did; None where that is not known.
    """

    tokens: int
    coalesced: int
    calls: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class FastForwardGeneration:
    """A generation, and what it cost.

    Attributes:
        generation: as `generate` gives it; steps that no model was asked for are `COALESCED`.
        strategy: how forced runs were decoded.
        calls: how often the model was asked.
        unasked: how many of the tokens came without a call of their own.
        taken_back: how many tokens were drawn and then replaced.
        model_seconds: the time in the model.
        seconds: the whole time.
    """

    generation: Generation
    strategy: Strategy
    calls: int
    unasked: int
    taken_back: int
    model_seconds: float
    seconds: float

    @property
    def saved(self) -> int:
        """How many calls fewer than tokens there were; below 0 where the spelling was asked for."""
        return len(self.generation.steps) - self.calls


def savings_of(steps: Sequence[Step]) -> Savings:
    """What forced runs saved of an output.

    A call is saved where a token was taken and the model had not been asked there; where somebody had looked, it had.
    """
    runs = [step for step in steps if step.chosen_by == COALESCED]
    saved = sum(step.logits_ms is None for step in runs)
    times = [step.logits_ms for step in steps if step.was_asked and step.logits_ms]
    seconds = saved * median(times) / 1_000 if times else None
    return Savings(len(steps), len(runs), saved, seconds)
