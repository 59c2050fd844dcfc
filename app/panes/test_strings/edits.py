"""Edits of a list of test strings: undo steps, and parsing of pasted text."""

from __future__ import annotations

import json
from collections.abc import Callable

from PySide6.QtGui import QUndoCommand

from engine.document.content import ExpectedText


class TextsChange(QUndoCommand):
    """A change from one list of test strings to another."""

    def __init__(
        self,
        name: str,
        before: tuple[ExpectedText, ...],
        after: tuple[ExpectedText, ...],
        put: Callable[[tuple[ExpectedText, ...]], None],
    ) -> None:
        super().__init__(name)
        self._before, self._after, self._apply = before, after, put

    def undo(self) -> None:
        """Restore the previous list."""
        self._apply(self._before)

    def redo(self) -> None:
        """Apply the new list; Qt also calls this for the first time."""
        self._apply(self._after)


def lines_of(text: str) -> tuple[str, ...]:
    """Return the test strings in a text: each line that is not blank, or each string of a JSON array."""
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if isinstance(listed, list) and listed and all(isinstance(one, str) for one in listed):
        return tuple(listed)
    return tuple(line for line in text.splitlines() if line.strip())
