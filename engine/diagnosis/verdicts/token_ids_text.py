"""Token ids in a text."""

from __future__ import annotations

import re


def ids_of(text: str) -> tuple[int, ...]:
    """Parse token ids: numbers separated by commas, white space or brackets, such as a JSON array.

    Raises:
        ValueError: the text contains something else.
    """
    if not re.fullmatch(r"[\s\[\](),;]*(?:\d+[\s\[\](),;]*)*", text):
        raise ValueError("ids are whole numbers with commas or blanks between them")
    return tuple(int(number) for number in re.findall(r"\d+", text))
