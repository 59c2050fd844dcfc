"""The candidate table: which tokens it shows, their numbers, and the search for any other token.

A vocabulary has up to hundreds of thousands of tokens, a table shows a few hundred: the model's top tokens, the best
allowed ones, and every EOS token. This needs no full sort: the cut is found by partition, and a rank by counting.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors import Logits, softmax
from engine.decoding.processors.logits import below_kth_best, kth_best
from engine.decoding.sampler import Decision
from engine.decoding.values import (
    Bounds,
    Candidate,
    TokenStage,
    TopToken,
    TopTokens,
    Unknown,
    masked_bounds,
    masked_share,
)
from engine.vocabulary import Vocabulary

TOP = 256
BEST_ALLOWED = 64
MOST_FOUND = 256
KEPT = 10
"""The number of the model's top tokens that every step stores permanently."""

Ids = NDArray[np.int64]

_FIRST = 1024  # the number of tokens that are sorted at once; they usually include the best allowed ones

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_NAMED = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\", '"': b'"', "s": b" "}


def best(logits: Logits, count: int) -> Ids:
    """Return the ids of the `count` highest logits, best first, the lower id first among ties."""
    count = min(count, logits.shape[0])
    if count == 0:
        return np.empty(0, dtype=np.int64)
    near = np.flatnonzero(logits >= below_kth_best(logits, count))
    threshold = kth_best(logits[near], count)
    chosen = near[logits[near] >= threshold]
    if chosen.shape[0] > count:  # of ties, the lowest ids
        level = logits[chosen] == threshold
        above = chosen[~level]
        chosen = np.concatenate((above, chosen[level][: count - above.shape[0]]))
    return by_rank(chosen, logits)


def table(decision: Decision, vocabulary: Vocabulary) -> tuple[Candidate, ...]:
    """Return the rows of the table by rank: the model's top tokens, the best allowed ones, all EOS tokens.

    Unknown tokens come last, by id: the first allowed ones, as many as there would be of the best ones.
    """
    if decision.unknown is not None and decision.unknown.left:
        return _partial_table(decision, vocabulary)
    first = best(decision.logits, _FIRST)
    best_allowed = first[decision.allowed[first]][:BEST_ALLOWED]
    if best_allowed.shape[0] < BEST_ALLOWED:  # else they are in `first`
        allowed = np.flatnonzero(decision.allowed)
        best_allowed = allowed[best(decision.logits[allowed], BEST_ALLOWED)]
    ends = np.fromiter((i for i in vocabulary.eos_ids if i < decision.logits.shape[0]), dtype=np.int64)
    ids = by_rank(np.unique(np.concatenate((first[:TOP], best_allowed, ends))), decision.logits)
    return _rows(decision, ids, _ranks(decision.logits, ids, first).tolist(), vocabulary)


def _partial_table(decision: Decision, vocabulary: Vocabulary) -> tuple[Candidate, ...]:
    known = _known_by_rank(decision)
    allowed = known[decision.allowed[known]][:BEST_ALLOWED]
    unknown = np.flatnonzero(np.isnan(decision.logits) & decision.allowed)[: BEST_ALLOWED - allowed.shape[0]]
    ends = np.fromiter((i for i in vocabulary.eos_ids if i < decision.logits.shape[0]), dtype=np.int64)
    ids = np.unique(np.concatenate((known[:TOP], allowed, unknown, ends)))
    return rows(decision, by_rank(ids, decision.logits), vocabulary)


def _known_by_rank(decision: Decision) -> Ids:
    """Return the ids of the known tokens that have a probability, by rank."""
    return by_rank(np.flatnonzero(decision.logits > -np.inf), decision.logits)


def by_rank(ids: Ids, logits: Logits) -> Ids:
    """Sort ids by their logits, unknown ones last, the lower id first among ties."""
    return np.asarray(ids[np.lexsort((ids, -logits[ids]))], dtype=np.int64)


def ranks(logits: Logits, ids: Ids) -> Ids:
    """Return the ranks of distinct ids by logit, from 1; among ties the lower id comes first."""
    return _ranks(logits, ids, best(logits, _FIRST))


def _ranks(logits: Logits, ids: Ids, first: Ids) -> Ids:
    """Return `ranks`, given the first ids.

    Most of the other ids are consecutive in rank, so only a few ranks are counted, and the ranks between two of them
    without a gap follow. Sorting the vocabulary takes longer than the rest of a step.
    """
    order = np.lexsort((ids, -logits[ids]))
    rank_of = {token_id: rank for rank, token_id in enumerate(first.tolist(), 1)}
    found_ranks = np.array([rank_of.get(token_id, 0) for token_id in ids[order].tolist()], dtype=np.int64)
    known = int(np.count_nonzero(found_ranks))

    def count(at: int) -> None:
        token_id = ids[order[at]]
        before = np.count_nonzero(logits > logits[token_id])
        found_ranks[at] = 1 + before + np.count_nonzero(logits[:token_id] == logits[token_id])

    spans = [(known, ids.shape[0] - 1)] if known < ids.shape[0] else []
    for at in {*spans[0]} if spans else ():
        count(at)
    while spans:
        low, high = spans.pop()
        if found_ranks[high] - found_ranks[low] == high - low:
            found_ranks[low : high + 1] = np.arange(found_ranks[low], found_ranks[high] + 1)
        elif high - low > 1:
            middle = (low + high) // 2
            count(middle)
            spans += [(low, middle), (middle, high)]
    found = np.empty_like(found_ranks)
    found[order] = found_ranks
    return found


def rows(decision: Decision, ids: Ids, vocabulary: Vocabulary) -> tuple[Candidate, ...]:
    """Return candidates for some ids, in this order.

    Args:
        decision: the distributions of the step.
        ids: int64[n].
        vocabulary: the vocabulary of the ids.
    """
    if decision.unknown is None or not decision.unknown.left:
        return _rows(decision, ids, ranks(decision.logits, ids).tolist(), vocabulary)
    # The rank of a token that was asked for by name is unknown: some that are unknown may be more probable.
    listed = _known_by_rank(decision)[: decision.unknown.listed]
    rank_of = {token_id: rank for rank, token_id in enumerate(listed.tolist(), 1)}
    return _rows(decision, ids, [rank_of.get(token_id) for token_id in ids.tolist()], vocabulary)


def token_stages(decision: Decision, token_id: int) -> tuple[TokenStage, ...]:
    """Return a token's logit, probability and rank in the model's distribution and after each stage, in order.

    Args:
        decision: the distributions of the step.
        token_id: an id that has a logit.
    """
    found = list[TokenStage]()
    for name, logits in (("", decision.logits), *decision.stages):
        logit = float(logits[token_id])
        if logit == -math.inf:
            found.append(TokenStage(name, None, None, None, is_removed=bool(name)))
            if name:
                break
            continue
        is_partial = bool(np.isnan(logits).any())
        p: float | None = float((softmax(logits) if name and not is_partial else decision.p)[token_id])
        if math.isnan(logit) or (name and is_partial):
            p = None
        rank = None
        if not is_partial:
            before = np.count_nonzero(logits > logit) + np.count_nonzero(logits[:token_id] == logit)
            rank = 1 + int(before)
        found.append(TokenStage(name, None if math.isnan(logit) else logit, p, rank))
    return tuple(found)


def _rows(
    decision: Decision, ids: Ids, ranks_of_ids: Iterable[int | None], vocabulary: Vocabulary
) -> tuple[Candidate, ...]:
    listed, tokens, size = ids.tolist(), vocabulary.tokens, vocabulary.size
    # A stage that leaves no token to draw leaves no distribution either, although masks allow some.
    p_masked = np.zeros_like(decision.p_masked) if decision.emptied_by else decision.p_masked
    numbers = [of_all[ids].tolist() for of_all in (decision.p, p_masked, decision.p_sampled)]
    more: list[list[object]] = []
    if decision.unknown is not None:
        bounds = _masked_bounds(numbers[0], numbers[1], decision.unknown)
        numbers = [[None if math.isnan(p) else p for p in column] for column in numbers]
        more = [[decision.unknown.most] * len(listed), bounds]
    return tuple(
        map(
            Candidate,
            listed,
            [tokens[token_id] if token_id < size else None for token_id in listed],
            [vocabulary.special.get(token_id, "") for token_id in listed],
            ranks_of_ids,
            *numbers,
            decision.allowed[ids].tolist(),
            [token_id in vocabulary.eos_ids for token_id in listed],
            *more,
        )
    )


def _masked_bounds(p: list[float], p_masked: list[float], unknown: Unknown) -> list[object]:
    """Return the bounds of each unknown probability after the mask; None for a known one."""
    ranges = (Bounds(0.0, unknown.most) if math.isnan(before) else Bounds(before, before) for before in p)
    return [
        masked_bounds(before, unknown.z) if math.isnan(after) else None
        for before, after in zip(ranges, p_masked, strict=True)
    ]


def without_model(allowed: NDArray[np.bool_], vocabulary: Vocabulary) -> tuple[Candidate, ...]:
    """Return the first allowed tokens and the end tokens, of which nothing else is known.

    Args:
        allowed: bool[V], the mask.
        vocabulary: the vocabulary of the ids.
    """
    ids = dict.fromkeys((*np.flatnonzero(allowed)[:TOP].tolist(), *sorted(vocabulary.eos_ids)))
    return tuple(
        Candidate(
            token_id=token_id,
            token=token_bytes(vocabulary, token_id),
            name=vocabulary.special.get(token_id, ""),
            rank=None,
            p=None,
            p_masked=None,
            p_sampled=None,
            allowed=bool(allowed[token_id]),
            is_eos=token_id in vocabulary.eos_ids,
        )
        for token_id in ids
        if token_id < allowed.shape[0]
    )


def top_candidates(by_rank: Iterable[Candidate]) -> tuple[TopToken, ...]:
    """Return the first candidates in the form that a step stores."""
    known = ((c, c.p) for c in by_rank if c.p is not None)
    return tuple(TopToken(c.token_id, c.token, c.name, p, c.allowed) for c, p in islice(known, KEPT))


def stored_top(by_rank: Iterable[Candidate]) -> TopTokens:
    """Pack the model's first `TOP` tokens, as far as they are known, in the form that a step stores."""
    best_ones = [candidate for candidate in by_rank if candidate.rank is not None and candidate.rank <= TOP]
    ids = np.array([candidate.token_id for candidate in best_ones], dtype="<i4")
    return TopTokens(ids.tobytes(), np.array([candidate.p for candidate in best_ones], dtype="<f4").tobytes())


def stored_probability(kept: TopTokens, token_id: int) -> Bounds:
    """Return the probability of a token at a step that stored the best ones; another one is at most as probable."""
    ids, p = np.frombuffer(kept.ids, dtype="<i4").tolist(), np.frombuffer(kept.p, dtype="<f4").tolist()
    if token_id not in ids:
        return Bounds(0.0, p[-1] if p else 1.0)
    return Bounds(p[at := ids.index(token_id)], p[at])


def remembered(
    kept: TopTokens, z: float | None, allowed: NDArray[np.bool_], vocabulary: Vocabulary
) -> tuple[Candidate, ...]:
    """Return the candidates that a step stored, under a mask.

    Args:
        kept: the stored tokens.
        z: the allowed mass at that step; None if unknown.
        allowed: bool[V], the mask.
        vocabulary: the vocabulary of the ids.

    Returns:
        The candidates by rank. The sampler's distribution is unknown: `p_sampled` is the probability after the mask.
    """
    ids, p = np.frombuffer(kept.ids, dtype="<i4").tolist(), np.frombuffer(kept.p, dtype="<f4").tolist()
    return tuple(
        Candidate(
            token_id=token_id,
            token=token_bytes(vocabulary, token_id),
            name=vocabulary.special.get(token_id, ""),
            rank=rank,
            p=given,
            p_masked=masked,
            p_sampled=masked,
            allowed=is_allowed,
            is_eos=token_id in vocabulary.eos_ids,
        )
        for rank, (token_id, given) in enumerate(zip(ids, p, strict=True), 1)
        for is_allowed in (0 <= token_id < allowed.shape[0] and bool(allowed[token_id]),)
        for masked in (masked_share(given, z) if is_allowed else 0.0,)
    )


def token_bytes(vocabulary: Vocabulary, token_id: int) -> bytes | None:
    """Return a token's bytes; None also for ids beyond the vocabulary."""
    return vocabulary.tokens[token_id] if token_id < vocabulary.size else None


def find(text: str, vocabulary: Vocabulary, logits: Logits) -> Ids:
    r"""Return the ids that match a search, at most `MOST_FOUND`.

    `#123` is an id. `"…"` is exactly these bytes. Anything else is part of a token or of a special token's name: equal
    ones come first, then prefixes, then other matches, each by the model's rank. `\n \t \s \xNN \uNNNN`, `␣` and `↵`
    write bytes that are hard to type.

    Args:
        text: the search text.
        vocabulary: the vocabulary.
        logits: the model's logits, which decide the order.
    """
    return np.array(_found(text, vocabulary, logits)[:MOST_FOUND], dtype=np.int64)


def searched_bytes(text: str) -> bytes:
    """Return the bytes that a search text writes; none for an id."""
    if re.fullmatch(r"#\s*\d{1,9}", text.strip()):
        return b""
    return unescape(text[1:] if _is_exact(text) else text)


def _is_exact(text: str) -> bool:
    """Return whether tokens with exactly this text are searched; quotes stay quotes, as most of JSON has them."""
    return len(text) > 1 and text[0] == "="


def _found(text: str, vocabulary: Vocabulary, logits: Logits) -> list[int]:
    if numbered := re.fullmatch(r"#\s*(\d{1,9})", text.strip()):
        token_id = int(numbered[1])
        return [token_id] if token_id < logits.shape[0] else []
    wanted = searched_bytes(text)
    if _is_exact(text):
        return [i for i, token in enumerate(vocabulary.tokens) if token == wanted]
    if not wanted:
        return []
    closeness = {i: c for i, token in enumerate(vocabulary.tokens) if token and (c := _closeness(wanted, token)) < 3}
    for i, name in vocabulary.special.items():
        if (c := _closeness(wanted, name.encode())) < closeness.get(i, 3):
            closeness[i] = c
    return sorted(closeness, key=lambda i: (closeness[i], np.isnan(logits[i]), -logits[i], i))


def _closeness(wanted: bytes, token: bytes) -> int:
    if token == wanted:
        return 0
    if token.startswith(wanted):
        return 1
    return 2 if wanted in token else 3


def unescape(text: str) -> bytes:
    r"""Return the bytes of a search text; a backslash that escapes nothing is kept."""

    def replace(found: re.Match[str]) -> str:
        byte, short, long, named = found.groups()
        if byte:
            return bytes.fromhex(byte).decode("utf-8", "surrogateescape")
        if code := short or long:
            point = int(code, 16)
            return chr(point) if point < 0x110000 and not 0xD800 <= point < 0xE000 else found[0]
        return _NAMED[named].decode() if named in _NAMED else found[0]

    typed = text.encode("utf-8", "replace").decode()  # a lone surrogate has no UTF-8
    plain = _ESCAPE.sub(replace, typed).replace("␣", " ").replace("↵", "\n")
    return plain.encode("utf-8", "surrogateescape")
