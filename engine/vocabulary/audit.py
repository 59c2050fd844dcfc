"""Findings about a vocabulary that help to debug masks: duplicate bytes, holes, missing bytes."""

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
        texts: the number of ids with bytes.
        shared: groups of ids with the same bytes, such as a byte-fallback token and a character.
        holes: ids with neither bytes nor a name.
        unspelled: bytes that are not a token by themselves; text with them may be impossible to tokenise.
        broken: ids whose bytes are not valid UTF-8.
        longest: the id of the longest token; None if there is none.
    """

    texts: int
    shared: tuple[tuple[int, ...], ...]
    holes: tuple[int, ...]
    unspelled: bytes
    broken: tuple[int, ...]
    longest: int | None


def audit(vocabulary: Vocabulary) -> Audit:
    """Audit a vocabulary in one pass over its ids."""
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
        broken=tuple(index for token, ids in ids_of.items() if not _is_valid_utf8(token) for index in ids),
        longest=None if longest is None else ids_of[longest][0],
    )


def _is_valid_utf8(token: bytes) -> bool:
    try:
        token.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
