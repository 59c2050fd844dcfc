"""Forced runs for the strategies: the bytes of a run, and the encodings after which the text can continue."""

from __future__ import annotations

from engine.decoding.forced.compact_json import compactly_forced
from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.run_strategy import RunPosition
from engine.decoding.forced.tokenizer_encoding import whole_characters
from engine.decoding.forced.values import Path
from engine.matching import Matcher

MOST_BYTES = 1_024


def forced_run(matcher: Matcher, json_read: bytes | None = None) -> bytes:
    """Return the bytes that must come; `json_read` is as in `fast_forward_tokens`."""
    return matcher.forced_bytes(MOST_BYTES) if json_read is None else compactly_forced(matcher, json_read, MOST_BYTES)


def without_dead_end(matcher: Matcher, ids: Path) -> Path:
    """Return the longest prefix of some ids that is allowed and after which the text can continue or is complete."""
    ahead, good = matcher.fork(), 0
    for done, token_id in enumerate(ids, 1):
        if not ahead.accept(token_id):
            break
        if ahead.is_accepting or ahead.bitmask().any():
            good = done
    return ids[:good]


def continuable_lattice(position: RunPosition) -> Lattice | None:
    """Return the encodings of the longest prefix of a run after which the text can continue or is complete.

    Half a character at the end is left out: tokens for it exist, but no tokenizer writes them.
    """
    run = position.run[: whole_characters(position.run)]
    lattice = Lattice.of(run, position.matcher.vocabulary)
    for end in reversed(lattice.reached()):
        ahead = position.matcher.fork()
        ahead.accept_bytes(run[:end])
        if ahead.is_accepting or ahead.bitmask().any():
            return lattice if end == len(run) else lattice.up_to(end)
    return None
