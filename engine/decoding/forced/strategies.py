"""Strategies that pick the tokens of a forced run.

`NONE` skips nothing: the model is queried for each token, under the mask. `LONGEST` takes the longest token at each
offset: it makes the fewest calls, but its encoding is often one that the model has never seen. `OWN` is the tokenizer's
encoding, which the model has seen, if the two ends of the run are handled with care. `PROBABLE` asks the model for the
most probable encoding and so saves nothing; it shows what the others cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.decoding.forced.compact_json import compactly_forced
from engine.decoding.forced.encodings import MOST_CALLS, Query, most_probable
from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.tokenizer_encoding import count_settled, encode_continuation, whole_characters
from engine.decoding.forced.values import FastForwardRun, Path
from engine.decoding.pipeline_settings import Strategy
from engine.matching import Matcher
from engine.models.text_encoder import TextEncoder

MOST_TAKEN_BACK = 8
MOST_BYTES = 1_024


def fast_forward_tokens(
    matcher: Matcher,
    strategy: Strategy | str,
    *,
    taken: Sequence[int] = (),
    encode: TextEncoder | None = None,
    query: Callable[[], Query] | None = None,
    most_taken_back: int = MOST_TAKEN_BACK,
    most_calls: int = MOST_CALLS,
    json_read: bytes | None = None,
) -> FastForwardRun:
    """Return the tokens to append where a grammar leaves no choice; nothing is appended, and `matcher` is unchanged.

    Whatever the strategy, the text after the tokens is the text before them plus at least one byte of the run, the
    grammar allows it, and some token can follow it or it is complete. If the bytes are open but only one token of the
    vocabulary is allowed, it is that token.

    Args:
        matcher: the matcher at the end of the text.
        strategy: which encoding.
        taken: the tokens of the output so far, which the matcher has accepted one by one; for `OWN`.
        encode: the model's tokenizer, for `OWN`; without one, the longest tokens count as its encoding.
        query: queries the model after everything that was taken, for `PROBABLE`.
        most_taken_back: how many of `taken` may be replaced.
        most_calls: the limit for model calls, for `PROBABLE`.
        json_read: what a JSON Schema has read of its text: its compact form is taken where only white space and escapes
            are open; see `compact_json`. None for a text that is not JSON.

    Raises:
        ValueError: `PROBABLE` without `query`.
    """
    chosen = Strategy(strategy)
    if chosen is Strategy.NONE:
        return FastForwardRun(b"")
    run = forced_run(matcher, json_read)
    if not run:
        return FastForwardRun(b"", tokens=_only_token(matcher))
    if chosen is Strategy.OWN:
        return _tokenizer_tokens(matcher, run, taken, encode, most_taken_back)
    # Leave out half a character: tokens for it exist, but no tokenizer writes them.
    lattice = _encodable(matcher, run[: whole_characters(run)])
    if lattice is None:
        return FastForwardRun(run)
    if chosen is Strategy.LONGEST:
        return FastForwardRun(run, tokens=lattice.longest() or ())
    if query is None:
        raise ValueError("the most probable spelling needs a model to ask")
    found = most_probable(lattice, query(), most_calls)
    return FastForwardRun(run) if found is None else FastForwardRun(run, 0, found.ids, found.calls)


def forced_run(matcher: Matcher, json_read: bytes | None = None) -> bytes:
    """Return the bytes that must come; the arguments are those of `fast_forward_tokens`."""
    return matcher.forced_bytes(MOST_BYTES) if json_read is None else compactly_forced(matcher, json_read, MOST_BYTES)


def _tokenizer_tokens(
    matcher: Matcher, run: bytes, taken: Sequence[int], encode: TextEncoder | None, most_taken_back: int
) -> FastForwardRun:
    vocabulary = matcher.vocabulary
    found = encode_continuation(taken, run, vocabulary, encode, most_taken_back)
    if found is None:
        # The text so far is not the tokenizer's own encoding, or differs from it too far back.
        found = encode_continuation((), run, vocabulary, encode, 0)
    if found is None:
        return FastForwardRun(run)
    back, ids = found
    begin = matcher.fork()
    begin.rollback(back)
    replaced = b"".join(vocabulary.tokens[token_id] or b"" for token_id in taken[len(taken) - back :])
    kept = _without_dead_end(begin, ids[: count_settled(begin, ids, replaced + run)])
    gained = sum(len(vocabulary.tokens[token_id] or b"") for token_id in kept)
    return FastForwardRun(run, back, kept) if gained > len(replaced) else FastForwardRun(run)


def _only_token(matcher: Matcher) -> Path:
    """Return the next token if it is the only allowed one."""
    words = matcher.bitmask()
    at = np.flatnonzero(words)
    if at.shape[0] != 1:
        return ()
    word = int(words[at[0]]) & 0xFFFFFFFF
    return (int(at[0]) * 32 + word.bit_length() - 1,) if word.bit_count() == 1 else ()


def _without_dead_end(matcher: Matcher, ids: Path) -> Path:
    """Return the longest prefix of some ids that is allowed and after which the text can continue or is complete."""
    ahead, good = matcher.fork(), 0
    for done, token_id in enumerate(ids, 1):
        if not ahead.accept(token_id):
            break
        if ahead.is_accepting or ahead.bitmask().any():
            good = done
    return ids[:good]


def _encodable(matcher: Matcher, run: bytes) -> Lattice | None:
    """Return the encodings of the longest prefix of a run after which the text can continue or is complete."""
    lattice = Lattice.of(run, matcher.vocabulary)
    for end in reversed(lattice.reached()):
        ahead = matcher.fork()
        ahead.accept_bytes(run[:end])
        if ahead.is_accepting or ahead.bitmask().any():
            return lattice if end == len(run) else lattice.up_to(end)
    return None
