"""Which tokens stand for a forced run.

None is the same as not to look: the model is asked for each token, under the mask.
The longest token at each place makes the fewest calls and is often no spelling that
the model has read. The tokenizer's own spelling is what it has read, if the two ends
of the run are minded. The most probable spelling asks the model which it likes, and
so saves nothing; it is there to see what the others cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.decoding.forced.encodings import MOST_CALLS, Ask, most_probable
from engine.decoding.forced.forced import compactly_forced
from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.tokenizer_encoding import continued, settled, whole_characters
from engine.decoding.forced.values import FastForwardRun, Path
from engine.decoding.pipeline_settings import Strategy
from engine.matching import Matcher
from engine.models.tokenizer_spelling import Spell

MOST_TAKEN_BACK = 8
MOST_BYTES = 1_024


def fast_forward_tokens(
    matcher: Matcher,
    strategy: Strategy | str,
    *,
    taken: Sequence[int] = (),
    spell: Spell | None = None,
    ask: Callable[[], Ask] | None = None,
    most_taken_back: int = MOST_TAKEN_BACK,
    most_calls: int = MOST_CALLS,
    json_read: bytes | None = None,
) -> FastForwardRun:
    """The tokens to append where a grammar leaves no choice; nothing is appended, and the matcher is not moved.

    Whatever the strategy, the text behind the tokens is the text before them and at least one byte of the run, the
    grammar allows it, and some token may follow it or it is complete. Where the bytes are open and the vocabulary has
    one token for them, or one end and nothing else, it is that token.

    Args:
        matcher: where the text stands.
        strategy: which spelling.
        taken: the tokens of the output so far, which the matcher has accepted one by one; for `OWN`.
        spell: the model's tokenizer, for `OWN`; without one, the longest tokens of the whole text are its own.
        ask: gives the model behind all that was taken, for `PROBABLE`.
        most_taken_back: how many of `taken` may be replaced.
        most_calls: for `PROBABLE`.
        json_read: of a JSON Schema, what it has read of its text: its compact spelling is taken where nothing but white
            space and escapes are left open; see `forced`. None for a text that is no JSON.

    Raises:
        ValueError: `PROBABLE` without `ask`.
    """
    chosen = Strategy(strategy)
    if chosen is Strategy.NONE:
        return FastForwardRun(b"")
    run = forced_run(matcher, json_read)
    if not run:
        return FastForwardRun(b"", tokens=_only_token(matcher))
    if chosen is Strategy.OWN:
        return _own(matcher, run, taken, spell, most_taken_back)
    # Half a character has a token of its own, which is no spelling that anybody writes.
    lattice = _spellable(matcher, run[: whole_characters(run)])
    if lattice is None:
        return FastForwardRun(run)
    if chosen is Strategy.LONGEST:
        return FastForwardRun(run, tokens=lattice.longest() or ())
    if ask is None:
        raise ValueError("the most probable spelling needs a model to ask")
    found = most_probable(lattice, ask(), most_calls)
    return FastForwardRun(run) if found is None else FastForwardRun(run, 0, found.ids, found.calls)


def forced_run(matcher: Matcher, json_read: bytes | None = None) -> bytes:
    """What must come; the arguments are those of `fast_forward_tokens`."""
    return matcher.forced_bytes(MOST_BYTES) if json_read is None else compactly_forced(matcher, json_read, MOST_BYTES)


def _own(
    matcher: Matcher, run: bytes, taken: Sequence[int], spell: Spell | None, most_taken_back: int
) -> FastForwardRun:
    vocabulary = matcher.vocabulary
    found = continued(taken, run, vocabulary, spell, most_taken_back)
    if found is None:
        # The text so far is not the tokenizer's own, or only in a way that reaches too far back.
        found = continued((), run, vocabulary, spell, 0)
    if found is None:
        return FastForwardRun(run)
    back, ids = found
    begin = matcher.fork()
    begin.rollback(back)
    replaced = b"".join(vocabulary.tokens[token_id] or b"" for token_id in taken[len(taken) - back :])
    kept = _open(begin, ids[: settled(begin, ids, replaced + run)])
    gained = sum(len(vocabulary.tokens[token_id] or b"") for token_id in kept)
    return FastForwardRun(run, back, kept) if gained > len(replaced) else FastForwardRun(run)


def _only_token(matcher: Matcher) -> Path:
    """The token that may come next, where it is the only one."""
    words = matcher.bitmask()
    at = np.flatnonzero(words)
    if at.shape[0] != 1:
        return ()
    word = int(words[at[0]]) & 0xFFFFFFFF
    return (int(at[0]) * 32 + word.bit_length() - 1,) if word.bit_count() == 1 else ()


def _open(matcher: Matcher, ids: Path) -> Path:
    """The first of some ids that are allowed and behind which something may follow, or the text is complete."""
    ahead, good = matcher.fork(), 0
    for done, token_id in enumerate(ids, 1):
        if not ahead.accept(token_id):
            break
        if ahead.is_accepting or ahead.bitmask().any():
            good = done
    return ids[:good]


def _spellable(matcher: Matcher, run: bytes) -> Lattice | None:
    """The spellings of as much of a run as tokens spell without coming to a dead end."""
    lattice = Lattice.of(run, matcher.vocabulary)
    for end in reversed(lattice.reached()):
        ahead = matcher.fork()
        ahead.accept_bytes(run[:end])
        if ahead.is_accepting or ahead.bitmask().any():
            return lattice if end == len(run) else lattice.up_to(end)
    return None
