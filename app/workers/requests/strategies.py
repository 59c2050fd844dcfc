"""Requests about strategies that draw texts; see `engine.decoding.strategies`."""

from __future__ import annotations

from dataclasses import dataclass

from app.workers.protocol import WorkerRequest
from engine.decoding.values import TextContinuation


@dataclass(frozen=True, slots=True)
class CompareStrategies(WorkerRequest["StrategiesComparison"]):
    """Draw texts from the prompt with several strategies, and compare them with the exact distribution.

    Attributes:
        names: the strategies.
        samples: the number of samples of each.
        most_calls: how many model calls each may make; None for no limit.
        seed: the seed of all.
    """

    names: tuple[str, ...]
    samples: int
    most_calls: int | None
    seed: int


@dataclass(frozen=True, slots=True)
class ContinuationRequest(WorkerRequest[TextContinuation]):
    """Return the probability of a text as the continuation of the output, over all its tokenisations.

    Attributes:
        text: the text, as it is typed into the search of tokens.
    """

    text: str


@dataclass(frozen=True, slots=True)
class StrategyFigures:
    """The numbers of one strategy.

    Attributes:
        name: the strategy.
        kl, tv: the distance to the exact distribution; None if it is not known, for `kl` also if it is infinite.
        is_of_strategy: whether they are of the distribution of the next draw, not of the texts.
        p_grammar: an estimate of the probability that the model alone writes a matching text; None without one.
        tries, accepted: the number of attempts, and of those that matched.
        calls: the number of model calls, as if the strategy ran alone.
        seconds: the time, as if it ran alone.
        why_not: why there are no texts; empty if there are.
    """

    name: str
    kl: float | None = None
    tv: float | None = None
    is_of_strategy: bool = False
    p_grammar: float | None = None
    tries: int = 0
    accepted: int = 0
    calls: int = 0
    seconds: float = 0.0
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text, and its share in each strategy.

    Attributes:
        text: the text.
        ids: the tokens of one way to write it that was drawn, by which it opens as a trace.
        exact: its exact probability, given the language; None if that is not known.
        weights: its share in each strategy, in the order of the figures.
    """

    text: bytes
    ids: tuple[int, ...]
    exact: float | None
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StrategiesComparison:
    """The texts that strategies have drawn so far, with their figures.

    Attributes:
        figures: one for each strategy that has ended.
        texts: the texts with the largest shares.
        count: the number of all texts.
        p_grammar: the exact probability that the model alone writes a matching text; None if it is not known.
        why_not_exact: why the exact distribution is not known.
        done: whether this is the last answer.
    """

    figures: tuple[StrategyFigures, ...]
    texts: tuple[ComparedText, ...] = ()
    count: int = 0
    p_grammar: float | None = None
    why_not_exact: str = ""
    done: bool = False
