"""The tokenizer's own encoding of a forced run, and what it leaves open at the run's two ends.

A run is cut out of a text without regard to tokens. At its start, the tokenizer may join the first bytes with what was
already written (`J` was sampled, `ohn` is forced, and the tokenizer writes `John`): the tokens that cover the border
are taken back. At its end, it may join the last bytes with what is chosen next (a space with the next word): these
bytes are left to the model, under the mask. Otherwise the model gets a prefix that it has never seen (guidance calls
the remedy *token healing*).

Only tokens of the output are taken back, never of the prompt, and never further than the nearest offset where both
encodings have a boundary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np

from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.values import Path
from engine.matching import Matcher
from engine.models.text_encoder import TextEncoder, encode_exactly
from engine.vocabulary import Vocabulary


def encode_with_tokenizer(data: bytes, vocabulary: Vocabulary, encode: TextEncoder | None) -> Path | None:
    """Return the tokenizer's encoding of a complete text.

    Args:
        data: the text; UTF-8.
        vocabulary: the vocabulary of the ids.
        encode: the tokenizer; None for a vocabulary alone, whose own encoding is the longest token at each offset.

    Returns:
        The ids; None if the tokenizer would write another text.
    """
    return Lattice.of(data, vocabulary).longest() if encode is None else encode_exactly(data, vocabulary, encode)


def encode_around(
    run: bytes, begin: int, end: int, vocabulary: Vocabulary, encode: TextEncoder | None
) -> tuple[Path, Path] | None:
    """Return the encoding of what is before and after a part of a run: the tokenizer's own, if it has boundaries there.

    Args:
        run: the text.
        begin: the start of the part.
        end: the end of the part.
        vocabulary: the vocabulary of the ids.
        encode: as in `encode_with_tokenizer`.

    Returns:
        The ids before and the ids after; None if no tokens encode one of them.
    """
    own = encode_with_tokenizer(run, vocabulary, encode)
    if own is not None:
        offsets = [0, *accumulate(len(vocabulary.tokens[token_id] or b"") for token_id in own)]
        if begin in offsets and end in offsets:
            return own[: offsets.index(begin)], own[offsets.index(end) :]
    pieces = [
        encode_with_tokenizer(piece, vocabulary, encode) or Lattice.of(piece, vocabulary).longest()
        for piece in (run[:begin], run[end:])
    ]
    before, behind = pieces
    return None if before is None or behind is None else (before, behind)


def encode_continuation(
    taken: Sequence[int], run: bytes, vocabulary: Vocabulary, encode: TextEncoder | None, most_taken_back: int
) -> tuple[int, Path] | None:
    """Return the tokenizer's encoding of a run after some tokens.

    Args:
        taken: the output so far.
        run: the bytes that must follow. An incomplete character at the end is left out.
        vocabulary: the vocabulary of the ids.
        encode: as in `encode_with_tokenizer`.
        most_taken_back: how many of the last tokens may be replaced.

    Returns:
        How many of the last tokens are taken back, and the ids that replace them and encode the run; None if the
        tokenizer does not encode the text, or would join more tokens than may be replaced.
    """
    # A token without bytes (a special token) ends the text before it.
    first = next((i + 1 for i in reversed(range(len(taken))) if not vocabulary.tokens[taken[i]]), 0)
    written = [len(vocabulary.tokens[token_id] or b"") for token_id in taken[first:]]
    before = _text(taken[first:], vocabulary)
    complete = whole_characters(before + run)
    if complete <= len(before):
        return None
    ids = encode_with_tokenizer((before + run)[:complete], vocabulary, encode)
    if ids is None:
        return None
    mine = [0, *accumulate(len(vocabulary.tokens[token_id] or b"") for token_id in ids)]
    theirs = [0, *accumulate(written)]
    common = max(offset for offset in set(mine) & set(theirs) if offset <= len(before))
    back = len(taken) - first - theirs.index(common)
    return (back, ids[mine.index(common) :]) if back <= most_taken_back else None


def respelled_spans(
    taken: Sequence[int], vocabulary: Vocabulary, encode: TextEncoder
) -> Iterator[tuple[int, int, Path]]:
    """Yield the parts of an output that the tokenizer would write in other tokens.

    The output is compared up to its last complete character, and each text between tokens without bytes by itself.

    Args:
        taken: the tokens of the output.
        vocabulary: the vocabulary of the ids.
        encode: the tokenizer.

    Yields:
        The index of the first token of a part, that after its last one, and the tokenizer's own ids.
    """
    borders = [-1, *(at for at, token_id in enumerate(taken) if not vocabulary.token_bytes(token_id)), len(taken)]
    for before, end in pairwise(borders):
        first, data = before + 1, _text(taken[before + 1 : end], vocabulary)
        own = encode_exactly(data[: whole_characters(data)], vocabulary, encode) if data else None
        if own is None:
            continue
        mine = list(accumulate((len(vocabulary.tokens[one] or b"") for one in taken[first:end]), initial=0))
        theirs = list(accumulate((len(vocabulary.tokens[one] or b"") for one in own), initial=0))
        at = {offset: number for number, offset in enumerate(theirs)}
        shared = [(number, at[offset]) for number, offset in enumerate(mine) if offset in at]
        for (left, own_left), (right, own_right) in pairwise(shared):
            if tuple(taken[first + left : first + right]) != own[own_left:own_right]:
                yield first + left, first + right, own[own_left:own_right]


def count_settled(matcher: Matcher, ids: Path, run: bytes) -> int:
    """Return how many tokens of a run's encoding cannot merge with what comes after the run.

    The model chooses from the first offset where an allowed token covers the rest of the run and more.

    Args:
        matcher: a matcher in the state before the ids; it is not changed.
        ids: the encoding.
        run: the bytes from there to the end of the run; the ids may encode less, not more.
    """
    vocabulary, ahead = matcher.vocabulary, matcher.fork()
    rest = run
    for done, token_id in enumerate(ids):
        if rest and len(rest) < vocabulary.trie.height and _goes_beyond(ahead, rest):
            return done
        ahead.accept(token_id)
        rest = rest[len(vocabulary.tokens[token_id] or b"") :]
    return len(ids)


def _goes_beyond(matcher: Matcher, rest: bytes) -> bool:
    """Return whether an allowed token starts with some bytes and is longer."""
    trie = matcher.vocabulary.trie
    node = trie.find(rest)
    if node is None:
        return False
    longer = trie.token_ids[trie.token_start[node + 1] : trie.token_start[trie.skip[node]]]
    words = matcher.bitmask()
    return bool(np.any((words[longer >> 5] >> (longer & 31)) & 1))


def _text(ids: Sequence[int], vocabulary: Vocabulary) -> bytes:
    return b"".join(vocabulary.token_bytes(token_id) or b"" for token_id in ids)


def whole_characters(data: bytes) -> int:
    """Return the length without an incomplete character at the end; the data may start inside a character."""
    start = next((i for i, byte in enumerate(data) if not 0x80 <= byte <= 0xBF), len(data))
    try:
        data[start:].decode()
    except UnicodeDecodeError as error:
        return start + error.start if start + error.end == len(data) else len(data)
    return len(data)
