"""Encodings of a text compared by a model: the probability of each, and the continuations after each.

The probability of an encoding is the product of the model's conditional probabilities without the mask: all encodings
are the same text, so the mask has no part in the choice. What comes next is masked, and tokens are grouped by the text
that they begin, since `J`, `Jo` and `John` all lead to John.

The most probable encoding is found by best-first search over prefixes: probabilities only fall along a path, so the
first complete path that is removed from the heap is the best. Every removed prefix costs a call of the model, so the
search has a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from heapq import heappop, heappush
from itertools import islice

import numpy as np

from engine.decoding.answer import Answer, priced
from engine.decoding.first_bytes import count_first_bytes
from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.tokenizer_encoding import encode_around, encode_with_tokenizer
from engine.decoding.forced.values import Continuation, EncodingComparison, Encodings, Path, Probable
from engine.decoding.processors.logits import Logits, log_sum_exp, sanitise
from engine.masking.bitmask import unpack_mask
from engine.matching import Matcher
from engine.models import LogitSource, ModelError
from engine.models.text_encoder import TextEncoder

Query = Callable[[Path], Logits]
"""Return the model's log-probabilities after some ids, float64[W]; NaN where unknown."""

MOST_CALLS = 64
_MOST_CONTINUATIONS = 12


def query_after(model: LogitSource, history: Sequence[int], named: Collection[int] = ()) -> Query:
    """Return a function that queries the model after `history` plus some ids; each query is made once.

    Args:
        model: the model.
        history: the ids before.
        named: the tokens whose probabilities matter, which a partial source is asked for.
    """
    answers: dict[Path, Logits] = {}

    def query(ids: Path) -> Logits:
        if ids not in answers:
            answers[ids] = _log_probabilities(model, [*history, *ids], named)
        return answers[ids]

    return query


def _log_probabilities(model: LogitSource, ids: Sequence[int], named: Collection[int]) -> Logits:
    answer = Answer.of(model.logits(ids))
    if answer.most is not None:
        answer = priced(answer, model, ids, np.array(sorted(named), dtype=np.int64))
        row = np.full(max(answer.logits.shape[0], model.vocabulary.size), -np.inf)
        row[: answer.logits.shape[0]] = answer.logits
        return row
    logits = sanitise(answer.logits, model.vocabulary.size)
    total = log_sum_exp(logits)
    return logits - total if total > -np.inf else logits


def compare(
    matcher: Matcher, paths: Iterable[Path], query: Query, own: Path | None = None
) -> tuple[EncodingComparison, ...]:
    """Compare encodings, in the given order.

    Args:
        matcher: a matcher in the state before the encodings; it is not changed.
        paths: encodings that the grammar allows there.
        query: queries the model after everything before the encodings.
        own: the tokenizer's own encoding.

    Raises:
        ValueError: the grammar does not allow one.
    """
    return tuple(_comparison(matcher, path, query, is_own=path == own) for path in paths)


def log_probability(path: Path, query: Query) -> float:
    """Return the sum of the log-probabilities of an encoding's tokens, in nats."""
    return sum((_of_token(query(path[:i]), token_id) for i, token_id in enumerate(path)), 0.0)


def _of_token(log_p: Logits, token_id: int) -> float:
    """Return the log-probability of a token.

    Raises:
        ModelError: it is unknown.
    """
    found = float(log_p[token_id])
    if math.isnan(found):
        raise ModelError("errors.decoding.partial.token", id=token_id)
    return found


def most_probable(lattice: Lattice, query: Query, most_calls: int = MOST_CALLS) -> Probable | None:
    """Return the encoding that the model finds most probable; None if no tokens encode the text.

    Args:
        lattice: the encodings.
        query: queries the model after everything before the text.
        most_calls: the limit for model calls. Beyond it, the best encoding so far is completed greedily, which takes
            one more call for each token.
    """
    if not lattice.count:
        return None
    end, calls = len(lattice.data), 0
    heap: list[tuple[float, int, Path]] = [(0.0, 0, ())]
    while True:
        cost, behind, path = heappop(heap)
        if -behind == end:
            return Probable(path, -cost, calls, is_exact=calls <= most_calls)
        if calls >= most_calls:
            heap = []  # drop all less probable prefixes
        log_p, calls = query(path), calls + 1
        ahead = [
            (cost - _of_token(log_p, token_id), -edge_end, (*path, token_id))
            for edge_end, token_id in lattice.edges[-behind]
            if lattice.ways[edge_end]
        ]
        for entry in [min(ahead)] if calls > most_calls else ahead:
            heappush(heap, entry)


def encodings_of(
    matcher: Matcher,
    run: bytes,
    part: tuple[int, int],
    encode: TextEncoder | None,
    query: Query,
    most: int,
    most_calls: int = MOST_CALLS,
) -> Encodings | None:
    """Return the encodings of a part of a forced run; the rest is encoded as the tokenizer does, if possible.

    Args:
        matcher: a matcher in the state before the run; it is not changed.
        run: the forced bytes.
        part: the start and end of the part, in bytes.
        encode: the tokenizer, whose own encoding is marked.
        query: queries the model after everything before the run.
        most: how many encodings are listed, fewest tokens first; the most probable and the tokenizer's own are added.
        most_calls: the limit for model calls in the search for the most probable one.

    Returns:
        The encodings; None if no tokens encode the run.
    """
    vocabulary, (begin, end) = matcher.vocabulary, part
    lattice = Lattice.of(run[begin:end], vocabulary)
    outer = encode_around(run, begin, end, vocabulary, encode)
    if outer is None or not lattice.count:
        return None
    before, behind = outer
    likeliest = most_probable(lattice, lambda ids: query((*before, *ids)), most_calls)
    assert likeliest is not None
    best = (*before, *likeliest.ids, *behind)
    listed: dict[Path, None] = {(*before, *ids, *behind): None for ids in islice(lattice.paths(), most)}
    listed[best] = None
    own = encode_with_tokenizer(run, vocabulary, encode)
    if own is not None and own[: len(before)] == before and own[len(own) - len(behind) :] == behind:
        listed[own] = None
    outlooks = tuple(sorted(compare(matcher, listed, query, own), key=lambda one: -one.log_p))
    return Encodings(run, begin, end, lattice.count, before, behind, outlooks, best, likeliest.is_exact)


def _comparison(matcher: Matcher, path: Path, query: Query, *, is_own: bool) -> EncodingComparison:
    ahead = matcher.fork()
    if not all(ahead.accept(token_id) for token_id in path):
        raise ValueError("the grammar does not allow a spelling that is to be compared")
    log_p = log_probability(path, query)
    p = np.exp(query(path))
    if (unknown := int(np.count_nonzero(np.isnan(p)))) > 0:
        raise ModelError("errors.decoding.partial.full", known=p.shape[0] - unknown, size=p.shape[0])
    allowed = unpack_mask(ahead.bitmask(), ahead.vocabulary.size)
    seen = count_first_bytes(allowed, ahead.vocabulary, p)
    ends = float(sum(p[token_id] for token_id in ahead.vocabulary.eos_ids)) if ahead.is_accepting else 0.0
    z = float(p[np.flatnonzero(allowed)].sum())
    found = [
        Continuation(_forced_from(ahead, byte), _share(mass, z), mass)
        for byte, mass in enumerate(seen.masses)
        if seen.counts[byte] and mass is not None
    ]
    if ahead.is_accepting:
        found.append(Continuation(b"", _share(ends, z), ends))
    found.sort(key=lambda one: (-one.p, one.data))
    shown = tuple(found[:_MOST_CONTINUATIONS])
    left_out = max(0.0, 1.0 - sum(one.p for one in shown)) if z > 0 else 0.0
    return EncodingComparison(path, log_p, z, shown, left_out if len(found) > len(shown) else 0.0, is_own)


def _share(mass: float, z: float) -> float:
    return mass / z if z > 0 else math.nan


def _forced_from(matcher: Matcher, byte: int) -> bytes:
    """Return a byte and the bytes that must follow it."""
    ahead = matcher.fork()
    ahead.accept_bytes(bytes((byte,)))
    return bytes((byte,)) + ahead.forced_bytes()
