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
from engine.decoding.values import Candidate, Favourite
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
    allowed = np.flatnonzero(decision.allowed)
    best_allowed = allowed[best(decision.logits[allowed], BEST_ALLOWED)]
    ends = np.fromiter((i for i in eos_ids if i < decision.logits.shape[0]), dtype=np.int64)
    ids = np.unique(np.concatenate((best(decision.logits, TOP), best_allowed, ends)))
    return by_rank(ids, decision.logits)


def by_rank(ids: Ids, logits: Logits) -> Ids:
    """Ids in the order of their logits, the lower id first among equals."""
    return np.asarray(ids[np.lexsort((ids, -logits[ids]))], dtype=np.int64)


def ranks(logits: Logits, ids: Ids) -> Ids:
    """The places of ids in the order by logit, from 1; among equals the lower id comes first."""
    ordered = np.sort(-logits)
    first = np.searchsorted(ordered, -logits[ids], side="left")
    tied = np.searchsorted(ordered, -logits[ids], side="right") - first > 1
    for at in np.flatnonzero(tied):
        first[at] += np.count_nonzero(logits[: ids[at]] == logits[ids[at]])
    return first.astype(np.int64) + 1


def rows(decision: Decision, ids: Ids, vocabulary: Vocabulary, target: Target) -> tuple[Candidate, ...]:
    """Candidates for these ids, in this order."""
    places = ranks(decision.logits, ids)
    return tuple(
        _row(decision, token_id, place, vocabulary, target)
        for token_id, place in zip(ids.tolist(), places.tolist(), strict=True)
    )


def _row(decision: Decision, token_id: int, rank: int, vocabulary: Vocabulary, target: Target) -> Candidate:
    allowed = bool(decision.allowed[token_id])
    return Candidate(
        token_id=token_id,
        token=token_bytes(vocabulary, token_id),
        name=vocabulary.special.get(token_id, ""),
        rank=rank,
        p=float(decision.p[token_id]),
        p_masked=float(decision.p_masked[token_id]),
        p_sampled=float(decision.p_sampled[token_id]),
        allowed=allowed,
        is_eos=token_id in vocabulary.eos_ids,
        target=target(token_id) if allowed else None,
    )


def favourites(by_rank: Iterable[Candidate]) -> tuple[Favourite, ...]:
    """The first of some candidates, with what is worth keeping of them."""
    return tuple(Favourite(c.token_id, c.token, c.name, c.p, c.allowed) for c in islice(by_rank, KEPT))


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
