"""How the tokenizer itself writes a forced run, and where it leaves the run's two ends to others.

A run is cut out of a text without regard to tokens. In front, the tokenizer may join
its first bytes with what was already written (`J` was drawn, `ohn` is forced, and the
tokenizer writes `John`): then the tokens that cover that place are taken back. Behind,
it may join the last bytes with what is chosen next (a blank with the word behind it):
then these bytes are left to the model, under the mask. Without that a model is given
a beginning that it has never read (guidance calls the mending *token healing*).

Only tokens of the output are taken back, never of the prompt, and never further than
the nearest place where both spellings have a boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from engine.decoding.forced.lattice import Lattice, find_prefix
from engine.decoding.forced.values import Path
from engine.matching import Matcher
from engine.models.tokenizer_spelling import Spell, tokenizer_spelling
from engine.vocabulary import Vocabulary


def own_spelling(data: bytes, vocabulary: Vocabulary, spell: Spell | None) -> Path | None:
    """The tokenizer's spelling of a whole text.

    Args:
        data: the text; UTF-8.
        vocabulary: whose tokens.
        spell: the tokenizer; None for a vocabulary alone, whose own way is the longest token at each place.

    Returns:
        The ids; None where the tokenizer would write another text.
    """
    return Lattice.of(data, vocabulary).longest() if spell is None else tokenizer_spelling(data, vocabulary, spell)


def around(run: bytes, begin: int, end: int, vocabulary: Vocabulary, spell: Spell | None) -> tuple[Path, Path] | None:
    """The spelling of what stands before and behind a part of a run: the tokenizer's own, as far as it has such pieces.

    Args:
        run: the text.
        begin: where the part begins.
        end: where it ends.
        vocabulary: whose tokens.
        spell: as in `own_spelling`.

    Returns:
        The ids before and the ids behind; None where no tokens spell the one or the other.
    """
    own = own_spelling(run, vocabulary, spell)
    if own is not None:
        offsets = [0, *accumulate(len(vocabulary.tokens[token_id] or b"") for token_id in own)]
        if begin in offsets and end in offsets:
            return own[: offsets.index(begin)], own[offsets.index(end) :]
    pieces = [
        own_spelling(piece, vocabulary, spell) or Lattice.of(piece, vocabulary).longest()
        for piece in (run[:begin], run[end:])
    ]
    before, behind = pieces
    return None if before is None or behind is None else (before, behind)


def continued(
    taken: Sequence[int], run: bytes, vocabulary: Vocabulary, spell: Spell | None, most_taken_back: int
) -> tuple[int, Path] | None:
    """The tokenizer's spelling of a run behind tokens that were taken.

    Args:
        taken: the output so far.
        run: what must follow. A character that it holds a part of is left out.
        vocabulary: whose tokens.
        spell: as in `own_spelling`.
        most_taken_back: how many of the last tokens may be replaced.

    Returns:
        How many of the last tokens are taken back, and the ids that come in their place and for the run; None where
        the tokenizer does not spell the text, or would join more tokens than may be replaced.
    """
    # What has no bytes (a special token) ends the text before it.
    first = next((i + 1 for i in reversed(range(len(taken))) if not vocabulary.tokens[taken[i]]), 0)
    written = [len(vocabulary.tokens[token_id] or b"") for token_id in taken[first:]]
    before = _text(taken[first:], vocabulary)
    whole = whole_characters(before + run)
    if whole <= len(before):
        return None
    ids = own_spelling((before + run)[:whole], vocabulary, spell)
    if ids is None:
        return None
    mine = [0, *accumulate(len(vocabulary.tokens[token_id] or b"") for token_id in ids)]
    theirs = [0, *accumulate(written)]
    common = max(offset for offset in set(mine) & set(theirs) if offset <= len(before))
    back = len(taken) - first - theirs.index(common)
    return (back, ids[mine.index(common) :]) if back <= most_taken_back else None


def settled(matcher: Matcher, ids: Path, run: bytes) -> int:
    """How many tokens of a run's spelling cannot be joined with what comes behind the run.

    From the first place where an allowed token covers the rest of the run and more, the model is to choose.

    Args:
        matcher: stands where the ids begin; is not moved.
        ids: the spelling.
        run: the bytes from there to the end of the run; the ids may spell less, not more.
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
    """Whether a token that may come next begins with some bytes and has more."""
    trie = matcher.vocabulary.trie
    node = find_prefix(trie, rest)
    if node is None:
        return False
    longer = trie.token_ids[trie.token_start[node + 1] : trie.token_start[trie.skip[node]]]
    words = matcher.bitmask()
    return bool(np.any((words[longer >> 5] >> (longer & 31)) & 1))


def _text(ids: Sequence[int], vocabulary: Vocabulary) -> bytes:
    return b"".join(vocabulary.token_bytes(token_id) or b"" for token_id in ids)


def whole_characters(data: bytes) -> int:
    """How many bytes there are without the beginning of a character at the end; the end of one may come first."""
    begun = next((i for i, byte in enumerate(data) if not 0x80 <= byte <= 0xBF), len(data))
    try:
        data[begun:].decode()
    except UnicodeDecodeError as error:
        return begun + error.start if begun + error.end == len(data) else len(data)
    return len(data)
