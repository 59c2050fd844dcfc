"""What a model says of the spellings of a text: how likely each is, and what it would write behind each.

The probability of a spelling is the product of the model's own conditionals, without
the mask: all spellings are the same text, so the mask has no part in the choice. What
comes next is masked, and the tokens are put together by the text that they begin, since
`J`, `Jo` and `John` all lead to John.

The most probable spelling is found by best-first search over prefixes: probabilities
only fall along a path, so the first that is taken out complete is the best. Every prefix
that is taken out costs a call of the model, which is why the search has a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from itertools import islice

import numpy as np

from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.tokenizer_encoding import around, own_spelling
from engine.decoding.forced.values import Continuation, EncodingComparison, Encodings, Path, Probable
from engine.decoding.processors.logits import Logits, log_sum_exp, sanitise
from engine.matching import Matcher
from engine.matching.token_groups import by_first_byte
from engine.models import LogitSource
from engine.models.tokenizer_spelling import Spell

Ask = Callable[[Path], Logits]
"""The model's log-probabilities after some ids, float64[W]."""

MOST_CALLS = 64
_MOST_CONTINUATIONS = 12


def asking(model: LogitSource, history: Sequence[int]) -> Ask:
    """How to ask a model about what follows some ids; each question is asked once."""
    known: dict[Path, Logits] = {}

    def ask(ids: Path) -> Logits:
        if ids not in known:
            logits = sanitise(model.logits([*history, *ids]), model.vocabulary.size)
            total = log_sum_exp(logits)
            known[ids] = logits - total if total > -np.inf else logits
        return known[ids]

    return ask


def compare(
    matcher: Matcher, paths: Iterable[Path], ask: Ask, own: Path | None = None
) -> tuple[EncodingComparison, ...]:
    """Spellings side by side, in the order in which they were given.

    Args:
        matcher: stands where the spellings begin; is not moved.
        paths: spellings that the grammar allows there.
        ask: the model, behind all that stands before them.
        own: the tokenizer's own spelling.

    Raises:
        ValueError: the grammar does not allow one.
    """
    return tuple(_outlook(matcher, path, ask, is_own=path == own) for path in paths)


def log_probability(path: Path, ask: Ask) -> float:
    """The sum of the logarithms of a spelling's probabilities, nats."""
    return sum((float(ask(path[:i])[token_id]) for i, token_id in enumerate(path)), 0.0)


def most_probable(lattice: Lattice, ask: Ask, most_calls: int = MOST_CALLS) -> Probable | None:
    """The spelling that the model finds likeliest; None where nothing spells the text.

    Args:
        lattice: the spellings.
        ask: the model, behind all that stands before the text.
        most_calls: how often the model may be asked. Beyond, the best spelling that was begun is finished with the
            likeliest token at each place, which takes a call for each of them.
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
            heap = []  # what was begun and is less likely is given up
        said, calls = ask(path), calls + 1
        ahead = [
            (cost - float(said[token_id]), -edge_end, (*path, token_id))
            for edge_end, token_id in lattice.edges[-behind]
            if lattice.ways[edge_end]
        ]
        for entry in [min(ahead)] if calls > most_calls else ahead:
            heappush(heap, entry)


def spellings(
    matcher: Matcher,
    run: bytes,
    part: tuple[int, int],
    spell: Spell | None,
    ask: Ask,
    most: int,
    most_calls: int = MOST_CALLS,
) -> Encodings | None:
    """The ways to spell a part of a forced run; the rest is spelled as the tokenizer does, as far as it can be.

    Args:
        matcher: stands where the run begins; is not moved.
        run: what must come.
        part: where the part begins and ends.
        spell: the tokenizer, whose own way is marked.
        ask: the model, behind all that stands before the run.
        most: how many ways are listed, those of fewest tokens first; the likeliest and the tokenizer's own come on top.
        most_calls: how often the model may be asked for the likeliest.

    Returns:
        None where no tokens spell the run.
    """
    vocabulary, (begin, end) = matcher.vocabulary, part
    lattice = Lattice.of(run[begin:end], vocabulary)
    outer = around(run, begin, end, vocabulary, spell)
    if outer is None or not lattice.count:
        return None
    before, behind = outer
    likeliest = most_probable(lattice, lambda ids: ask((*before, *ids)), most_calls)
    assert likeliest is not None
    best = (*before, *likeliest.ids, *behind)
    listed: dict[Path, None] = {(*before, *ids, *behind): None for ids in islice(lattice.paths(), most)}
    listed[best] = None
    whole = own_spelling(run, vocabulary, spell)
    if whole is not None and whole[: len(before)] == before and whole[len(whole) - len(behind) :] == behind:
        listed[whole] = None
    outlooks = tuple(sorted(compare(matcher, listed, ask, whole), key=lambda one: -one.log_p))
    return Encodings(run, begin, end, lattice.count, before, behind, outlooks, best, likeliest.is_exact)


def _outlook(matcher: Matcher, path: Path, ask: Ask, *, is_own: bool) -> EncodingComparison:
    ahead = matcher.fork()
    if not all(ahead.accept(token_id) for token_id in path):
        raise ValueError("the grammar does not allow a spelling that is to be compared")
    log_p = log_probability(path, ask)
    p = np.exp(ask(path))
    seen = by_first_byte(ahead, p)
    ends = float(sum(p[token_id] for token_id in ahead.vocabulary.eos_ids)) if ahead.is_accepting else 0.0
    z = float(p[_allowed(ahead)].sum())
    found = [
        Continuation(_forced_from(ahead, byte), _share(seen.masses[byte], z), seen.masses[byte])
        for byte in range(256)
        if seen.counts[byte]
    ]
    if ahead.is_accepting:
        found.append(Continuation(b"", _share(ends, z), ends))
    found.sort(key=lambda one: (-one.p, one.data))
    shown = tuple(found[:_MOST_CONTINUATIONS])
    left_out = max(0.0, 1.0 - sum(one.p for one in shown)) if z > 0 else 0.0
    return EncodingComparison(path, log_p, z, shown, left_out if len(found) > len(shown) else 0.0, is_own)


def _share(mass: float, z: float) -> float:
    return mass / z if z > 0 else math.nan


def _allowed(matcher: Matcher) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    words = matcher.bitmask().astype("<i4", copy=False).view(np.uint8)
    return np.flatnonzero(np.unpackbits(words, bitorder="little", count=matcher.vocabulary.size))


def _forced_from(matcher: Matcher, byte: int) -> bytes:
    """A byte, and what must follow it."""
    ahead = matcher.fork()
    ahead.accept_bytes(bytes((byte,)))
    return bytes((byte,)) + ahead.forced_bytes()
