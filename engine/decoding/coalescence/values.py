"""What is told of forced runs: values that cross to the window and to JSON. Nothing here imports numpy or a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.decoding.values import Generation

Path = tuple[int, ...]
"""Token ids."""


class Strategy(StrEnum):
    """How forced runs are decoded."""

    NONE = "none"  # ask the model for each token
    LONGEST = "longest"  # the longest token at each place
    OWN = "own"  # as the tokenizer writes it, its ends healed
    PROBABLE = "probable"  # the spelling that the model finds likeliest


@dataclass(frozen=True, slots=True)
class Coalesced:
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
class Outlook:
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
        log_p: as in `Outlook`.
        calls: how often the model was asked.
        is_exact: whether no other can be likelier; else the search met its bound.
    """

    ids: Path
    log_p: float
    calls: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class CoalescedGeneration:
    """A generation, and what it cost.

    Attributes:
        generation: as `generate` gives it; steps that no model was asked for are `REPLAYED`.
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
