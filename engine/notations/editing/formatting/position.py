"""Text positions before and after a change of white space."""

from __future__ import annotations


def place_after(before: str, after: str, place: int) -> int:
    """Return the offset in a text that differs only in white space: after the same characters.

    Args:
        before: the original text.
        after: the changed text.
        place: the offset in the original text, in code points.
    """
    count = len("".join(before[:place].split()))
    for at, char in enumerate(after):
        if count == 0:
            # Before the following white space, unless the position was after it.
            is_behind = before[place : place + 1].strip() != "" and not char.strip()
            if not is_behind:
                return at
        elif char.strip():
            count -= 1
    return len(after)
