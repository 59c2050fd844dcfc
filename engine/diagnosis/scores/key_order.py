"""The price of an order of keys, tried both ways: outputs of a schema, and of that with two keys exchanged.

Both orders are sampled by local masking, one output for each seed, and by taking the most probable allowed token at
each step; all outputs of an order share one tree of model calls. The prices (-Σ ln Z) of a seed are a pair, and the
difference is the mean over the pairs, with Student's interval of 95%. An output that does not end within the limit has
no price, and its pair is left out. Without pairs, nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum

import numpy as np

from engine.compile import CompiledGrammar, compile_grammar
from engine.decoding.strategies.decoders import DECODERS
from engine.decoding.strategies.prefix_tree import Inquiry, PrefixTree, TokenPrefix
from engine.decoding.values import DEFAULT_MAX_TOKENS, Chat
from engine.diagnosis.failures.violations import part_at
from engine.diagnosis.scores.price_values import Estimate, KeyPair, OrderComparison, OrderTrial
from engine.models.source import LogitSource
from engine.notations.editing import Edit, apply_edits
from engine.notations.json_schema.json_tree import read_json
from engine.source import CancelToken, EngineError, Span


class KeyOrderError(EngineError):
    """The order of two keys cannot be tried."""


def exchange(text: str, keys: KeyPair) -> tuple[Edit, bool]:
    """Return the edit that moves the later of two keys directly before the earlier one.

    Args:
        text: the text of the schema.
        keys: the keys.

    Returns:
        The edit, and whether the schema has the first key before the second.

    Raises:
        KeyOrderError: the schema has no such keys.
    """
    here = part_at(read_json(text), keys.pointer)
    properties = None if here is None else here.members.get("properties")
    declared = () if properties is None else tuple(properties.members)
    for key in (keys.first, keys.second):
        if properties is None or key not in declared:
            raise KeyOrderError("errors.diagnosis.key_order.no_key", key=key, pointer=f"#{keys.pointer}")
    if keys.first == keys.second:
        raise KeyOrderError("errors.diagnosis.key_order.same", key=keys.first)
    assert properties is not None
    spans = [Span(properties.key_spans[name].start, properties.members[name].span.end) for name in declared]
    low, high = sorted((declared.index(keys.first), declared.index(keys.second)))
    order = [high, *range(low, high)]
    moved = ""
    for slot, source in zip(range(low, high + 1), order, strict=True):
        moved += text[spans[source].start : spans[source].end]
        if slot < high:
            moved += text[spans[slot].end : spans[slot + 1].start]
    edit = Edit(Span(spans[low].start, spans[high].end), moved)
    return edit, declared.index(keys.first) < declared.index(keys.second)


def compare_orders(
    grammar: CompiledGrammar,
    keys: KeyPair,
    model: LogitSource,
    *,
    prompt: str | Chat = "",
    samples: int = 20,
    seed: int = 0,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    cancel: CancelToken | None = None,
) -> OrderComparison:
    """Try both orders of two keys with a model.

    Args:
        grammar: the compiled schema.
        keys: the keys, in the order that is asked about.
        model: the model.
        prompt: what it reads first.
        samples: the number of outputs of each order, besides that of the most probable tokens.
        seed: the first seed.
        max_tokens: the limit of an output.
        cancel: cancels the work, and receives its progress.

    Raises:
        KeyOrderError: the grammar is no schema, or has no such keys, or allows any order.
        GrammarError: a schema does not compile.
        ModelError, CancelledError: as `PrefixTree.ask`.
    """
    options, text = grammar.options, grammar.source.text
    if not grammar.describes_json:
        raise KeyOrderError("errors.diagnosis.key_order.notation")
    if options.property_order != "declared":
        raise KeyOrderError("errors.diagnosis.key_order.any_order")
    edit, is_present = exchange(text, keys)
    grammars = [
        compile_grammar(grammar.notation, one, options, cancel=cancel) for one in (text, apply_edits(text, [edit]))
    ]
    total = 2 * (samples + 1)
    trials, calls = [], 0
    for number, ordered in enumerate(grammars if is_present else grammars[::-1]):
        tree = PrefixTree(ordered, model, prompt=prompt, max_tokens=max_tokens)
        inquiry, prices = Inquiry(tree, cancel=cancel), list[float | None]()
        for done, prefix in enumerate(_outputs(inquiry, samples, seed), number * (samples + 1) + 1):
            prices.append(_price(prefix) if prefix.is_complete else None)
            if cancel is not None:
                cancel.report("progress.key_orders", done, total)
            last = prefix
        calls += inquiry.calls
        trials.append((prices, last))
    (asked, asked_last), (other, other_last) = trials
    pairs = [a - b for a, b in zip(asked[:-1], other[:-1], strict=True) if a is not None and b is not None]
    return OrderComparison(
        keys,
        is_present,
        _trial(asked, asked_last),
        _trial(other, other_last),
        Estimate.of(pairs),
        samples,
        calls,
        edit,
    )


def _outputs(inquiry: Inquiry, samples: int, seed: int) -> Iterator[TokenPrefix]:
    """Yield an output of local masking for each seed, and that of the most probable tokens at last."""
    for number in range(samples):
        yield next(iter(DECODERS["local"].draw(inquiry, 1, np.random.default_rng(seed + number)))).prefix
    prefix = inquiry.tree.root
    while prefix.is_open:
        allowed = inquiry.allowed(prefix)
        if not allowed.ids.shape[0]:
            break
        prefix = inquiry.take(prefix, allowed, int(np.argmax(allowed.shares)))
    yield prefix


def _price(prefix: TokenPrefix) -> float:
    return max(0.0, -fsum(one.log_z for one in prefix.path[:-1]))


def _trial(prices: Sequence[float | None], last: TokenPrefix) -> OrderTrial:
    known = [price for price in prices[:-1] if price is not None]
    return OrderTrial(Estimate.of(known), len(known), prices[-1], last.data)
