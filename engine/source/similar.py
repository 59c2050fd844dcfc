"""Suggestions of similar words, for "did you mean".

`difflib` compares two texts in time proportional to the product of their lengths, and an identifier in a grammar may
have a hundred thousand characters. So long words get no suggestions, and only the first of many words are compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

_MAX_LENGTH: Final = 60
_MAX_COMPARED: Final = 2_000


def similar_words(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return the words that are similar to a word, the most similar first.

    Args:
        word: the unknown word.
        known: the candidates.
        most: the largest number of words to return.
        cutoff: the smallest similarity, from 0 to 1, as `difflib` measures it.
    """
    if len(word) > _MAX_LENGTH:
        return []
    near = (other for other in known if cutoff * len(word) / 2 <= len(other) <= _MAX_LENGTH)
    return get_close_matches(word, list(islice(near, _MAX_COMPARED)), most, cutoff)
