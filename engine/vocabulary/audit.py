"""What is odd about a vocabulary, as data: what a debugger of masks wants to know first."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Audit:
    """Findings about a vocabulary.

    Attributes:
        texts: how many ids match text.
        shared: groups of ids with the same bytes, such as a byte-fallback token and a character.
        holes: ids with neither bytes nor a name.
        unspelled: bytes that are no token by themselves; text that holds them may be out of reach.
        broken: ids whose bytes are not whole characters.
        longest: the id of the longest token; None without any.
    """

    texts: int
    shared: tuple[tuple[int, ...], ...]
    holes: tuple[int, ...]
    unspelled: bytes
    broken: tuple[int, ...]
    longest: int | None


def audit(vocabulary: Vocabulary) -> Audit:
    """Look at every id of a vocabulary once."""
    ids_of: dict[bytes, list[int]] = defaultdict(list)
    for index, token in enumerate(vocabulary.tokens):
        if token is not None:
            ids_of[token].append(index)
    longest = max(ids_of, key=len, default=None)
    return Audit(
        texts=sum(map(len, ids_of.values())),
        shared=tuple(tuple(ids) for ids in ids_of.values() if len(ids) > 1),
        holes=tuple(
            index
            for index, token in enumerate(vocabulary.tokens)
            if token is None and index not in vocabulary.special and index not in vocabulary.eos_ids
        ),
        unspelled=bytes(byte for byte in range(256) if bytes((byte,)) not in ids_of),
        broken=tuple(index for token, ids in ids_of.items() if not _whole(token) for index in ids),
        longest=None if longest is None else ids_of[longest][0],
    )


def _whole(token: bytes) -> bool:
    try:
        token.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
