"""Token ids as people write them."""

from __future__ import annotations

import re


def ids_of(text: str) -> tuple[int, ...]:
    """Token ids as they are written: numbers with anything between them that is no number, such as a JSON array.

    Raises:
        ValueError: something else stands there.
    """
    if not re.fullmatch(r"[\s\[\](),;]*(?:\d+[\s\[\](),;]*)*", text):
        raise ValueError("ids are whole numbers with commas or blanks between them")
    return tuple(int(number) for number in re.findall(r"\d+", text))
