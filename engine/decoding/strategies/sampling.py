"""One run of a strategy, or several that are pooled: its texts, and its numbers beside the exact distribution."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, expm1, inf, isinf
from typing import Final

import numpy as np

from engine.decoding.strategies.exact import ExactTexts, divergence, total_variation
from engine.decoding.strategies.prefix_tree import CallLimitError, Inquiry, PrefixTree
from engine.decoding.strategies.strategy import DecodingStrategy, Draw
from engine.source import CancelToken

MOST_TRIES: Final = 100_000
_REPORTED: Final = 100  # draws between two reports of progress


class RunEnd(StrEnum):
    """Why a run ended."""

    DONE = "done"
    CALLS = "calls"
    TRIES = "tries"


@dataclass(frozen=True, slots=True, eq=False)
class StrategyRun:
    """The draws of one run.

    Attributes:
        strategy: the strategy.
        draws: all attempts, in order.
        end: why it ended.
        inquiry: its requests to the tree.
    """

    strategy: DecodingStrategy
    draws: tuple[Draw, ...]
    end: RunEnd
    inquiry: Inquiry

    @property
    def accepted(self) -> int:
        """The number of texts."""
        return sum(draw.is_accepted for draw in self.draws)

    @property
    def weights(self) -> dict[bytes, float]:
        """The share of each text by the weights of the draws; they sum to 1, unless there is none."""
        accepted = [draw for draw in self.draws if draw.is_accepted]
        top = max((draw.log_weight for draw in accepted), default=-inf)
        found: defaultdict[bytes, float] = defaultdict(float)
        for draw in accepted:
            found[draw.prefix.data] += exp(draw.log_weight - top) if top > -inf else 0.0
        total = sum(found.values())
        return {text: weight / total for text, weight in found.items()} if total > 0 else {}


def run_strategy(
    strategy: DecodingStrategy,
    tree: PrefixTree,
    samples: int,
    seed: int,
    *,
    most_calls: int | None = None,
    most_tries: int = MOST_TRIES,
    cancel: CancelToken | None = None,
) -> StrategyRun:
    """Draw with a strategy until it has as many samples as requested, or a limit is reached.

    The draws are a function of strategy, tree, samples and seed: what the tree knows already changes none.

    Args:
        strategy: the strategy.
        tree: the tree; it keeps rows if the strategy needs them.
        samples: the number of samples; of particles, beams or candidates for strategies that have those.
        seed: the seed.
        most_calls: how many prefixes it may ask about; None for no limit.
        most_tries: how many attempts it may make.
        cancel: cancels the run, and receives its progress.

    Raises:
        EngineError: the strategy cannot run with this grammar or model.
        CancelledError: it was cancelled.
    """
    inquiry = Inquiry(tree, most_calls, cancel)
    draws, accepted, end = list[Draw](), 0, RunEnd.DONE
    try:
        for draw in strategy.draw(inquiry, samples, np.random.default_rng(seed)):
            draws.append(draw)
            accepted += draw.is_accepted
            if strategy.draws_until_accepted and accepted == samples:
                break
            if len(draws) >= most_tries:
                end = RunEnd.TRIES
                break
            if cancel is not None and len(draws) % _REPORTED == 0:
                cancel.report("progress.strategy_draws", len(draws), most_tries)
    except CallLimitError:
        end = RunEnd.CALLS
    return StrategyRun(strategy, tuple(draws), end, inquiry)


@dataclass(frozen=True, slots=True)
class DrawnText:
    """A text that a strategy drew.

    Attributes:
        text: the text.
        p: the model's probability of it, without the grammar: the sum over the token sequences that were drawn.
        weight: its share among all texts of the strategy.
        count: how many draws it has.
        p_given_grammar: its exact probability, given the language; None if that is not known.
    """

    text: bytes
    p: float
    weight: float
    count: int
    p_given_grammar: float | None


@dataclass(frozen=True, slots=True)
class StrategyReport:
    """The texts that a strategy drew, and their distance from p(text | grammar).

    Attributes:
        texts: the texts, those with the largest weight first.
        p_grammar: the probability that the model alone writes a text of the language: exact if that is known, else
            estimated from the draws; None if the strategy gives no estimate.
        p_grammar_bounds: bounds of it from the prefixes that were asked about.
        kl: KL(exact ‖ strategy) in nats; None if it is not known or infinite: a text was never drawn.
        tv: the total variation distance of both; None if it is not known.
        is_of_strategy: whether both are of the distribution of the next draw, which can be computed; else of the texts.
        calls: the number of model calls, those of each run counted as if it were alone.
        tries: the number of attempts.
        accepted: how many of them are texts of the language.
        checks: the number of tokens that were checked one by one, instead of masks.
        end: why the last run that was cut short ended.
    """

    texts: tuple[DrawnText, ...]
    p_grammar: float | None
    p_grammar_bounds: tuple[float, float]
    kl: float | None
    tv: float | None
    is_of_strategy: bool
    calls: int
    tries: int
    accepted: int
    checks: int
    end: RunEnd


def report_of(runs: Sequence[StrategyRun], exact: ExactTexts | None = None) -> StrategyReport:
    """Return the numbers of runs of one strategy over one tree; each run counts as much as every other.

    Args:
        runs: the runs, one at least.
        exact: the exact distribution, if it is known.
    """
    shares: defaultdict[bytes, float] = defaultdict(float)
    counts: Counter[bytes] = Counter()
    masses: dict[bytes, dict[tuple[int, ...], float]] = defaultdict(dict)
    with_texts = [run for run in runs if run.weights]
    for run in with_texts:
        for text, weight in run.weights.items():
            shares[text] += weight / len(with_texts)
    for draw in (draw for run in runs for draw in run.draws if draw.is_accepted):
        data = draw.prefix.data
        counts[data] += 1
        masses[data][tuple(draw.prefix.ids)] = exp(draw.prefix.log_p)
    texts = [
        DrawnText(
            data,
            sum(masses[data].values()),
            shares.get(data, 0.0),
            count,
            None if exact is None else exact.p.get(data, 0.0),
        )
        for data, count in counts.items()
    ]
    texts.sort(key=lambda one: (-one.weight, -one.p, one.text))
    kl, tv, is_of_strategy = _distances(runs, shares, exact)
    return StrategyReport(
        tuple(texts),
        _estimate(runs) if exact is None else exact.p_grammar,
        _bounds(runs),
        kl,
        tv,
        is_of_strategy,
        sum(run.inquiry.calls for run in runs),
        sum(len(run.draws) for run in runs),
        sum(run.accepted for run in runs),
        sum(run.inquiry.checks for run in runs),
        next((run.end for run in reversed(runs) if run.end is not RunEnd.DONE), RunEnd.DONE),
    )


def _distances(
    runs: Sequence[StrategyRun], shares: Mapping[bytes, float], exact: ExactTexts | None
) -> tuple[float | None, float | None, bool]:
    next_shares = runs[-1].strategy.next_shares
    is_of_strategy = next_shares is not None and len(runs) == 1
    if exact is None or not exact.p:
        return None, None, is_of_strategy
    if next_shares is not None and is_of_strategy:
        shares = exact.under(next_shares(runs[-1].inquiry, runs[-1].draws))
    elif not shares:
        return None, None, is_of_strategy
    kl = divergence(exact.p, shares)
    return None if isinf(kl) else kl, total_variation(exact.p, shares), is_of_strategy


def _estimate(runs: Sequence[StrategyRun]) -> float | None:
    """Return the mean ratio of all attempts; None if the strategy draws at nothing.

    A run that ends with a success would be too confident: its last attempt does not count, as for a negative binomial.
    """
    ratios = list[float | None]()
    for run in runs:
        ends_with_success = run.strategy.draws_until_accepted and run.end is RunEnd.DONE and run.accepted > 1
        ratios += [draw.log_ratio for draw in (run.draws[:-1] if ends_with_success else run.draws)]
    known = [ratio for ratio in ratios if ratio is not None]
    return sum(map(exp, known)) / len(known) if known and len(known) == len(ratios) else None


def _bounds(runs: Sequence[StrategyRun]) -> tuple[float, float]:
    """Return the legal mass that was found, and one minus the illegal mass that was found."""
    asked = {prefix for run in runs for prefix in run.inquiry.asked}
    last = {draw.prefix for run in runs for draw in run.draws}
    legal = sum(exp(prefix.log_p) for prefix in last if prefix.is_complete)
    illegal = sum(exp(prefix.log_p) for prefix in last if not prefix.is_open and not prefix.is_complete)
    illegal -= sum(exp(prefix.log_p) * expm1(prefix.log_z) for prefix in asked)
    return min(legal, 1.0), max(1.0 - illegal, 0.0)
