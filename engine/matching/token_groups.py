"""The tokens that may come next at a place, as a map: by their first byte, and by where they lead.

A wide place has a hundred thousand tokens and leads to a dozen others. The walk
of the byte trie goes once through what is alive, and remembers each step from
one place by one byte, so that it costs a look-up for a node; places are those
of `Runtime.enter`, so nothing is interned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from engine.matching.matcher import Matcher
from engine.source import CancelToken
from engine.vocabulary import Vocabulary

EXAMPLES = 12
_CHECK_EVERY = 4_096

Probabilities = npt.NDArray[np.floating] | None


@dataclass(frozen=True, slots=True)
class TokenGroup:
    """The tokens that lead from one place to one other.

    Attributes:
        count: how many there are.
        mass: the probability that the model gives to them together; None where no model was asked.
        examples: the ids of some, the most probable first; without probabilities the shortest first.
    """

    count: int
    mass: float | None
    examples: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ByFirstByte:
    """What may come next, by the byte that it begins with.

    Attributes:
        counts: 256 numbers of tokens.
        masses: 256 probabilities; none where no model was asked.
        total: how many tokens are allowed, ends and tokens without bytes included.
    """

    counts: tuple[int, ...]
    masses: tuple[float, ...]
    total: int


def by_first_byte(matcher: Matcher, p: Probabilities = None) -> ByFirstByte:
    """Count the allowed tokens by their first byte.

    Args:
        matcher: where the match stands.
        p: float[W], W at least the vocabulary's size, the model's probabilities before the mask.
    """
    allowed = _allowed(matcher)
    first = _first_bytes(matcher.vocabulary)[allowed]
    spelled = first >= 0
    counts = np.bincount(first[spelled], minlength=256)
    masses: tuple[float, ...] = ()
    if p is not None:
        masses = tuple(np.bincount(first[spelled], weights=p[allowed[spelled]], minlength=256).tolist())
    return ByFirstByte(tuple(counts.tolist()), masses, len(allowed))


def token_groups(
    matcher: Matcher, p: Probabilities = None, cancel: CancelToken | None = None
) -> tuple[TokenGroup, ...]:
    """Group the allowed tokens by where they lead, the likeliest group first, else the largest.

    Ends lead nowhere and are in no group; so are tokens that a grammar names and takes whole, where they have no
    bytes.

    Raises:
        CancelledError: `cancel` was used.
    """
    if matcher.is_finished:
        return ()
    ends = frozenset(matcher.vocabulary.eos_ids)
    found: dict[Any, list[int]] = {}
    for place, token_ids in _walk(matcher, cancel):
        found.setdefault(place, []).extend(one for one in token_ids if one not in ends)
    groups = [_group(matcher, np.array(ids), p) for ids in found.values() if ids]
    return tuple(sorted(groups, key=lambda group: (-(group.mass or 0.0), -group.count, group.examples)))


def _walk(matcher: Matcher, cancel: CancelToken | None) -> Any:
    """Each place at which tokens end, with their ids; a place may come more than once."""
    automaton, trie = matcher.grammar.automaton, matcher.vocabulary.trie
    byte, depth, skip = trie.byte.tolist(), trie.depth.tolist(), trie.skip.tolist()
    start, ids = trie.token_start.tolist(), trie.token_ids.tolist()
    places: list[Any] = [automaton.cursor(matcher.configuration)]
    index: dict[Any, int] = {places[0]: 0}
    steps: dict[tuple[int, int], int] = {}  # by place and byte; -1 where nothing completes it
    at = [0] * (trie.height + 1)  # the place at each depth of the present node
    node, seen = 0, 0
    while node < len(byte):
        seen += 1
        if cancel is not None and seen % _CHECK_EVERY == 0:
            cancel.check()
        key = at[depth[node] - 1], byte[node]
        after = steps.get(key)
        if after is None:
            place = automaton.advance(places[key[0]], key[1])
            if place is None:
                after = -1
            else:
                after = index.setdefault(place, len(places))
                if after == len(places):
                    places.append(place)
            steps[key] = after
        if after < 0:
            node = skip[node]
            continue
        at[depth[node]] = after
        if start[node] < start[node + 1]:
            yield after, ids[start[node] : start[node + 1]]
        node += 1


def _group(matcher: Matcher, ids: npt.NDArray[np.integer], p: Probabilities) -> TokenGroup:
    if p is None:
        lengths = np.array([len(matcher.vocabulary.tokens[one] or b"") for one in ids.tolist()])
        shown = ids[np.lexsort((ids, lengths))][:EXAMPLES]
        return TokenGroup(len(ids), None, tuple(shown.tolist()))
    shown = ids[np.lexsort((ids, -p[ids]))][:EXAMPLES]
    return TokenGroup(len(ids), float(p[ids].sum()), tuple(shown.tolist()))


def _allowed(matcher: Matcher) -> npt.NDArray[np.int64]:
    bits = np.unpackbits(
        matcher.bitmask().astype("<i4", copy=False).view(np.uint8),
        bitorder="little",
        count=matcher.vocabulary.size,
    )
    return np.flatnonzero(bits)


def _first_bytes(vocabulary: Vocabulary) -> npt.NDArray[np.int64]:
    """The first byte of every token, int64[V]; -1 of those without bytes, and of ends."""
    known = _known.get(vocabulary)
    if known is None:
        ends = vocabulary.eos_ids
        firsts = (token[0] if token and at not in ends else -1 for at, token in enumerate(vocabulary.tokens))
        known = _known[vocabulary] = np.fromiter(firsts, np.int64, vocabulary.size)
    return known


_known: WeakKeyDictionary[Vocabulary, npt.NDArray[np.int64]] = WeakKeyDictionary()
