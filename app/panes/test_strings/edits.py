"""Edits of a list of test strings: as steps that can be undone, and from what somebody pastes."""

from __future__ import annotations

import json
from collections.abc import Callable

from PySide6.QtGui import QUndoCommand

from engine.diagnosis.test_strings.values import ExpectedText


class TextsChange(QUndoCommand):
    """From one list of test strings to another."""

    def __init__(
        self,
        name: str,
        before: tuple[ExpectedText, ...],
        after: tuple[ExpectedText, ...],
        put: Callable[[tuple[ExpectedText, ...]], None],
    ) -> None:
        super().__init__(name)
        self._before, self._after, self._put = before, after, put

    def undo(self) -> None:
        """Go back."""
        self._put(self._before)

    def redo(self) -> None:
        """Go on; Qt calls this for the first time, too."""
        self._put(self._after)


def lines_of(text: str) -> tuple[str, ...]:
    """The test strings in a text: each line that is not blank, or each string of a JSON array."""
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if isinstance(listed, list) and listed and all(isinstance(one, str) for one in listed):
        return tuple(listed)
    return tuple(line for line in text.splitlines() if line.strip())
