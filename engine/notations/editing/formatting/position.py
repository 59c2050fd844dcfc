"""Where a place of a text is once its blanks have changed."""

from __future__ import annotations


def place_after(before: str, after: str, place: int) -> int:
    """Where a place of a text is in another that differs in blanks only: behind the same characters."""
    count = len("".join(before[:place].split()))
    for at, char in enumerate(after):
        if count == 0:
            # Before the blanks that follow, unless the place was behind those.
            is_behind = before[place : place + 1].strip() != "" and not char.strip()
            if not is_behind:
                return at
        elif char.strip():
            count -= 1
    return len(after)
