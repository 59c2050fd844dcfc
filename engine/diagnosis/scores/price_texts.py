"""The price of a grammar in words, for the console and the window."""

from __future__ import annotations

import math
from collections.abc import Callable

from engine.decoding.values import Bounds
from engine.diagnosis.scores.price_values import GrammarPrice, KeyPair, OrderComparison, PriceCause, PricedPart
from engine.source.catalogue import capitalised, catalogue_text
from engine.source.number_format import percent
from engine.vocabulary.visible import visible

LEAST_TOLD = 0.05
"""The nats below which a price is none that one would look for."""


def nats_text(nats: Bounds) -> str:
    """Return a price in nats, or its bounds."""
    low, high = nats
    if math.isinf(high):
        return catalogue_text("price.fragment.at_least", low=low)
    if f"{low:.1f}" != f"{high:.1f}":
        return catalogue_text("price.fragment.between", low=low, high=high)
    return catalogue_text("price.fragment.nats" if low >= LEAST_TOLD else "price.fragment.small", value=low)


def cause_text(part: PricedPart) -> str:
    """Return what asks a price, as a part of a sentence."""
    if part.name:
        return catalogue_text(f"price.cause.fragment.{part.cause}", name=part.name)
    return catalogue_text(f"price.cause.fragment.{'root' if part.cause is PriceCause.PART else part.cause}")


def price_sentence(price: GrammarPrice, mark: Callable[[str, str], str] = lambda _field, text: text) -> str:
    """Return the most expensive part of a grammar in one sentence; empty if no price is known.

    Args:
        price: the price.
        mark: changes the text of `part`, `step` or `token`, such as to a link.
    """
    if not price.parts:
        return "" if price.unknown or not price.outputs else catalogue_text("price.sentence.free")
    part = price.parts[0]
    worst = part.worst
    kind = "in_force"
    if worst.is_proved:
        kind = "form" if part.cause is PriceCause.FORM else "proved"
    total = nats_text(price.nats)
    fields = {
        "part": mark("part", capitalised(cause_text(part))),
        "nats": nats_text(part.nats),
        "total": total if price.outputs == 1 else catalogue_text("price.fragment.per_output", nats=total),
        "step": mark("step", f"{worst.step + 1:,}"),
    }
    if not worst.token:
        return catalogue_text("price.sentence.no_token", **fields, most=nats_text(worst.nats))
    token = mark("token", f"`{visible(worst.token)}`")
    return catalogue_text(f"price.sentence.{kind}", **fields, token=token, p=percent(worst.p))


def order_sentence(found: OrderComparison, max_tokens: int) -> str:
    """Return which order of two keys costs less, with the interval, in a sentence.

    Args:
        found: both orders.
        max_tokens: the limit that the outputs had.
    """
    difference = found.difference
    if difference is None:
        return catalogue_text("price.order.none_ended", count=max_tokens)
    low, high = difference.low, difference.high
    if low is None or high is None:
        return f"{_compared(found.keys, difference.mean)} ({catalogue_text('price.order.fragment.one_pair')})"
    count = difference.count
    if low == high:
        return f"{_compared(found.keys, low)} ({catalogue_text('price.order.fragment.pairs', count=count)})"
    if low <= 0 <= high:
        names = {"first": found.keys.first, "second": found.keys.second}
        return catalogue_text("price.order.unclear", **names, low=low, high=high, count=count)
    near, far = sorted((abs(low), abs(high)))
    interval = catalogue_text("price.order.fragment.interval", low=near, high=far, count=count)
    return f"{_compared(found.keys, difference.mean)} ({interval})"


def greedy_sentence(found: OrderComparison) -> str:
    """Return which order costs less by the most probable tokens; empty if it is not known."""
    difference = found.greedy_difference
    if difference is None:
        return ""
    return catalogue_text("price.order.greedy", sentence=_compared(found.keys, difference))


def _compared(keys: KeyPair, more: float) -> str:
    kind = "more" if more > 0 else "less" if more < 0 else "equal"
    nats = nats_text(Bounds(abs(more), abs(more)))
    return catalogue_text(f"price.order.{kind}", first=keys.first, second=keys.second, nats=nats)
