"""Requests about strategies that draw texts; see `engine.decoding.strategies`."""

from __future__ import annotations

from dataclasses import dataclass

from app.workers.protocol import WorkerRequest
from engine.decoding.strategies.found_texts import FoundTexts, Measure
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
class ParticleStep:
    """The particles of a run after one more token.

    Attributes:
        token_ids: the token that each took; -1 for one that had ended before.
        tokens: these as displayed text.
        shares: their shares of all weights.
        copied: which of them each of the next ones continues; empty if each continues itself.
    """

    token_ids: tuple[int, ...]
    tokens: tuple[str, ...]
    shares: tuple[float, ...]
    copied: tuple[int, ...] = ()

    @property
    def effective(self) -> float:
        """Return the effective number of particles: 1 if one has all the weight."""
        squares = sum(share * share for share in self.shares)
        return 1 / squares if squares else 0.0


@dataclass(frozen=True, slots=True)
class ParticleRun:
    """The particles of one strategy, token by token.

    Attributes:
        name: the strategy.
        steps: one for each token.
    """

    name: str
    steps: tuple[ParticleStep, ...]

    def path_of(self, step: int, particle: int) -> list[int]:
        """Return which particle a particle was at each step up to this one.

        Args:
            step: the index of the step.
            particle: the particle after it.
        """
        path = [particle]
        for earlier in reversed(self.steps[:step]):
            path.append(earlier.copied[path[-1]] if earlier.copied else path[-1])
        return path[::-1]

    def ids_of(self, step: int, particle: int) -> tuple[int, ...]:
        """Return the tokens of a particle up to a step, by which it opens as a trace; see `path_of`."""
        path = self.path_of(step, particle)
        ids = (self.steps[index].token_ids[at] for index, at in enumerate(path))
        return tuple(token_id for token_id in ids if token_id >= 0)

    def text_of(self, step: int, particle: int) -> str:
        """Return the text of a particle up to a step; see `path_of`."""
        path = self.path_of(step, particle)
        return "".join(self.steps[index].tokens[at] for index, at in enumerate(path))


@dataclass(frozen=True, slots=True)
class StrategiesComparison:
    """The texts that strategies have drawn so far, with their figures.

    Attributes:
        figures: one for each strategy that has ended.
        texts: the texts with the largest shares.
        count: the number of all texts.
        p_grammar: the exact probability that the model alone writes a matching text; None if it is not known.
        why_not_exact: why the exact distribution is not known.
        particles: the particles of the strategies that have them, of which there are not too many; in the last answer.
        done: whether this is the last answer.
    """

    figures: tuple[StrategyFigures, ...]
    texts: tuple[ComparedText, ...] = ()
    count: int = 0
    p_grammar: float | None = None
    why_not_exact: str = ""
    particles: tuple[ParticleRun, ...] = ()
    done: bool = False


@dataclass(frozen=True, slots=True)
class SearchTexts(WorkerRequest["TreeAnswer"]):
    """Search all outputs above a mass, the most probable first.

    Attributes:
        measure: which probability the mass is of.
        mass: the mass.
        most_calls: how many model calls it may make.
    """

    measure: Measure
    mass: float
    most_calls: int


@dataclass(frozen=True, slots=True)
class TreeAnswer:
    """The texts that a search has found so far; `done` is set in the last answer."""

    found: FoundTexts
    done: bool
