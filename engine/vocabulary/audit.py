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
        n_with_bytes: the number of ids with bytes.
        duplicates: groups of ids with the same bytes, such as a byte-fallback token and a character.
        holes: ids with neither bytes nor a name.
        missing_bytes: bytes that are not a token by themselves; text with them may be impossible to tokenise.
        invalid_utf8: ids whose bytes are not valid UTF-8.
        longest: the id of the longest token; None if there is none.
    """

    n_with_bytes: int
    duplicates: tuple[tuple[int, ...], ...]
    holes: tuple[int, ...]
    missing_bytes: bytes
    invalid_utf8: tuple[int, ...]
    longest: int | None


def audit(vocabulary: Vocabulary) -> Audit:
    """Audit a vocabulary in one pass over its ids."""
    ids_of: dict[bytes, list[int]] = defaultdict(list)
    for index, token in enumerate(vocabulary.tokens):
        if token is not None:
            ids_of[token].append(index)
    longest = max(ids_of, key=len, default=None)
    return Audit(
        n_with_bytes=sum(map(len, ids_of.values())),
        duplicates=tuple(tuple(ids) for ids in ids_of.values() if len(ids) > 1),
        holes=tuple(
            index
            for index, token in enumerate(vocabulary.tokens)
            if token is None and index not in vocabulary.special and index not in vocabulary.eos_ids
        ),
        missing_bytes=bytes(byte for byte in range(256) if bytes((byte,)) not in ids_of),
        invalid_utf8=tuple(index for token, ids in ids_of.items() if not _is_valid_utf8(token) for index in ids),
        longest=None if longest is None else ids_of[longest][0],
    )


def _is_valid_utf8(token: bytes) -> bool:
    try:
        token.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
