"""Words that resemble a word: what "did you mean" suggests.

`difflib` compares two texts in a time that grows with the product of their lengths, and an identifier in a grammar may
have a hundred thousand characters. So long words resemble nothing, and of very many words only the first are compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

_LONGEST: Final = 60
_MOST_COMPARED: Final = 2_000


def similar_words(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return the words that resemble a word, the most similar first.

    Args:
        word: what was written.
        known: what could have been meant.
        most: how many to return at most.
        cutoff: how similar they must be, from 0 to 1, as `difflib` measures it.
    """
    if len(word) > _LONGEST:
        return []
    near = (other for other in known if cutoff * len(word) / 2 <= len(other) <= _LONGEST)
    return get_close_matches(word, list(islice(near, _MOST_COMPARED)), most, cutoff)
