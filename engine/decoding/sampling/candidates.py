"""The candidate table: which tokens it shows, with what numbers, and the search for any other.

A vocabulary has up to hundreds of thousands of tokens, a table shows a few hundred: the
model's favourites, the best of the allowed ones, and every end. No full sort is
needed for that: the cut is found by partition, and a rank by counting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors import Logits
from engine.decoding.sampling.sampler import Decision
from engine.decoding.values import Candidate, Favourite, KeptTop
from engine.vocabulary import Vocabulary

TOP = 256
BEST_ALLOWED = 64
MOST_FOUND = 256
KEPT = 5
"""So many favourites of the model every step keeps for good."""

Ids = NDArray[np.int64]
Target = Callable[[int], int | None]

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_NAMED = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\", '"': b'"', "s": b" "}


def best(logits: Logits, count: int) -> Ids:
    """The ids of the `count` highest logits, best first, the lower id first among equals."""
    count = min(count, logits.shape[0])
    if count == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(logits, -count)[-count]
    above = np.flatnonzero(logits > threshold)
    level = np.flatnonzero(logits == threshold)[: count - above.shape[0]]
    chosen = np.concatenate((above, level))
    return by_rank(chosen, logits)


def shown_ids(decision: Decision, eos_ids: Iterable[int]) -> Ids:
    """What the table shows, by rank: favourites of the model, the best allowed ones, all ends."""
    top = best(decision.logits, TOP)
    best_allowed = top[decision.allowed[top]][:BEST_ALLOWED]
    if best_allowed.shape[0] < BEST_ALLOWED:  # else they are among the favourites
        allowed = np.flatnonzero(decision.allowed)
        best_allowed = allowed[best(decision.logits[allowed], BEST_ALLOWED)]
    ends = np.fromiter((i for i in eos_ids if i < decision.logits.shape[0]), dtype=np.int64)
    return by_rank(np.unique(np.concatenate((top, best_allowed, ends))), decision.logits)


def by_rank(ids: Ids, logits: Logits) -> Ids:
    """Ids in the order of their logits, the lower id first among equals."""
    return np.asarray(ids[np.lexsort((ids, -logits[ids]))], dtype=np.int64)


def ranks(logits: Logits, ids: Ids) -> Ids:
    """The places of different ids in the order by logit, from 1; among equals the lower id comes first.

    Most of those that are asked about follow one another, so a few are counted, and what lies between two of them
    without a gap is known. Sorting the vocabulary takes longer than all the rest of a step.
    """
    if not ids.shape[0]:
        return ids.astype(np.int64)
    order = np.lexsort((ids, -logits[ids]))
    places = np.zeros(ids.shape[0], dtype=np.int64)

    def count(at: int) -> None:
        token_id = ids[order[at]]
        before = np.count_nonzero(logits > logits[token_id])
        places[at] = 1 + before + np.count_nonzero(logits[:token_id] == logits[token_id])

    spans = [(0, ids.shape[0] - 1)]
    for at in spans[0]:
        count(at)
    while spans:
        low, high = spans.pop()
        if places[high] - places[low] == high - low:
            places[low : high + 1] = np.arange(places[low], places[high] + 1)
        elif high - low > 1:
            middle = (low + high) // 2
            count(middle)
            spans += [(low, middle), (middle, high)]
    found = np.empty_like(places)
    found[order] = places
    return found


def rows(decision: Decision, ids: Ids, vocabulary: Vocabulary, target: Target) -> tuple[Candidate, ...]:
    """Candidates for these ids, in this order."""
    places = ranks(decision.logits, ids).tolist()
    p, p_masked = decision.p[ids].tolist(), decision.p_masked[ids].tolist()
    p_sampled, allowed = decision.p_sampled[ids].tolist(), decision.allowed[ids].tolist()
    return tuple(
        Candidate(
            token_id=token_id,
            token=token_bytes(vocabulary, token_id),
            name=vocabulary.special.get(token_id, ""),
            rank=places[at],
            p=p[at],
            p_masked=p_masked[at],
            p_sampled=p_sampled[at],
            allowed=allowed[at],
            is_eos=token_id in vocabulary.eos_ids,
            target=target(token_id) if allowed[at] else None,
        )
        for at, token_id in enumerate(ids.tolist())
    )


def favourites(by_rank: Iterable[Candidate]) -> tuple[Favourite, ...]:
    """The first of some candidates, with what is worth keeping of them."""
    return tuple(Favourite(c.token_id, c.token, c.name, c.p, c.allowed) for c in islice(by_rank, KEPT))


def kept_top(by_rank: Iterable[Candidate]) -> KeptTop:
    """The first `TOP` of some candidates, which are the model's best tokens, as a step keeps them."""
    best_ones = [candidate for candidate in by_rank if candidate.rank <= TOP]
    ids = np.array([candidate.token_id for candidate in best_ones], dtype="<i4")
    return KeptTop(ids.tobytes(), np.array([candidate.p for candidate in best_ones], dtype="<f4").tobytes())


def remembered(kept: KeptTop, z: float, allowed: NDArray[np.bool_], vocabulary: Vocabulary) -> tuple[Candidate, ...]:
    """The candidates that a step kept, under a mask.

    Args:
        kept: what it kept.
        z: the allowed mass at that step.
        allowed: bool[V], the mask.
        vocabulary: whose tokens.

    Returns:
        By rank. Where the sampler would draw is not known: its probability is that after the mask. Nor are targets.
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
            target=None,
        )
        for rank, (token_id, given) in enumerate(zip(ids, p, strict=True), 1)
        for is_allowed in (0 <= token_id < allowed.shape[0] and bool(allowed[token_id]),)
        for masked in (min(1.0, given / z) if is_allowed and z > 0 else 0.0,)
    )


def token_bytes(vocabulary: Vocabulary, token_id: int) -> bytes | None:
    """A token's bytes; None also for ids that only the logits know."""
    return vocabulary.token_bytes(token_id) if token_id < vocabulary.size else None


def find(text: str, vocabulary: Vocabulary, logits: Logits) -> Ids:
    r"""The ids that a search means, at most `MOST_FOUND`.

    `#123` is an id. `"…"` is exactly these bytes. Anything else is part of a token
    or of a special token's name: equal ones come first, then those that begin with
    it, then those that contain it, each by the model's rank. `\n \t \s \xNN \uNNNN`
    stand for bytes that are awkward to type, as do `␣` and `↵`.
    """
    return np.array(_found(text, vocabulary, logits)[:MOST_FOUND], dtype=np.int64)


def _found(text: str, vocabulary: Vocabulary, logits: Logits) -> list[int]:
    if numbered := re.fullmatch(r"#\s*(\d{1,9})", text.strip()):
        token_id = int(numbered[1])
        return [token_id] if token_id < logits.shape[0] else []
    if len(text) > 2 and text[0] == text[-1] == '"':
        exact = unescape(text[1:-1])
        return [i for i, token in enumerate(vocabulary.tokens) if token == exact]
    wanted = unescape(text)
    if not wanted:
        return []
    closeness = {i: c for i, token in enumerate(vocabulary.tokens) if token and (c := _closeness(wanted, token)) < 3}
    for i, name in vocabulary.special.items():
        if (c := _closeness(wanted, name.encode())) < closeness.get(i, 3):
            closeness[i] = c
    return sorted(closeness, key=lambda i: (closeness[i], -logits[i], i))


def _closeness(wanted: bytes, token: bytes) -> int:
    if token == wanted:
        return 0
    if token.startswith(wanted):
        return 1
    return 2 if wanted in token else 3


def unescape(text: str) -> bytes:
    r"""The bytes that a search text means; a backslash that escapes nothing stands for itself."""

    def replace(found: re.Match[str]) -> str:
        byte, short, long, named = found.groups()
        if byte:
            return bytes.fromhex(byte).decode("utf-8", "surrogateescape")
        if code := short or long:
            point = int(code, 16)
            return chr(point) if point < 0x110000 and not 0xD800 <= point < 0xE000 else found[0]
        return _NAMED[named].decode() if named in _NAMED else found[0]

    typed = text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be meant
    plain = _ESCAPE.sub(replace, typed).replace("␣", " ").replace("↵", "\n")
    return plain.encode("utf-8", "surrogateescape")
