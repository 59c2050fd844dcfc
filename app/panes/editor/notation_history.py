"""The notation of a text along its undo history.

Qt keeps the history of a text; the history of its notation (and the notation's options) is kept beside it, so that one
key undoes whichever changed last. A change of the notation is a step of the text's own history without effect: a
character that is inserted and deleted. It is identified by the number of commands below it.

Rejected: a history of our own, of whole texts. Qt's merges the keys of a word into one step, and restores the cursor.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QTextCursor, QTextDocument


@dataclass(frozen=True, slots=True)
class _Mark:
    depth: int  # the number of commands below the next step
    choice: object


class NotationHistory:
    """The notations of one text."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self._marks = [_Mark(0, None)]
        self._replacements: list[tuple[int, int]] = []  # the depths before and after an edit of the whole text
        self._sliced: list[tuple[int, int]] = []  # the depths before and after an edit that was made in slices
        self._depth = 0
        self._could_redo = False

    @property
    def current(self) -> object:
        """Return the notation at the current position of the history."""
        depth = self._document.availableUndoSteps()
        return next(mark.choice for mark in reversed(self._marks) if mark.depth <= depth)

    @property
    def depth(self) -> int:
        """Return the number of commands that can be undone."""
        return self._document.availableUndoSteps()

    def note_replacement(self, below: int) -> None:
        """Record that the last edit replaced the whole text; `below` is the depth before it."""
        self._replacements.append((below, self.depth))

    def is_replacement(self, before: int) -> bool:
        """Return whether going from a depth to the current one undoes, or repeats, an edit of the whole text."""
        low, high = sorted((before, self.depth))
        return any(low <= below and above <= high for below, above in self._replacements)

    def note_slices(self, below: int) -> None:
        """Record that the last edit was made in slices, which are undone together; `below` is the depth before it."""
        if self.depth > below and (below, self.depth) not in self._sliced:  # otherwise it is undone, or repeated
            self._sliced.append((below, self.depth))

    def has_slices(self, *, below: bool) -> bool:
        """Return whether the step below the current position, or the one above, is a part of an edit in slices."""
        step = self.depth - 1 if below else self.depth
        return any(low <= step < high for low, high in self._sliced)

    @property
    def is_between_slices(self) -> bool:
        """Return whether only a part of an edit in slices is undone."""
        return any(low < self.depth < high for low, high in self._sliced)

    def begin(self, choice: object) -> None:
        """Start with a text without history."""
        self._marks, self._replacements, self._sliced = [_Mark(0, choice)], [], []
        self.follow()

    def switch(self, choice: object, cursor: QTextCursor, text: str | None = None) -> None:
        """Change the notation, and the text if given; one undo step.

        Args:
            choice: the notation.
            cursor: edits the text.
            text: the new text; None to keep the old one.
        """
        cursor.beginEditBlock()
        if text is not None:
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(text)
            cursor.movePosition(QTextCursor.MoveOperation.Start)
        # Also after a new text: otherwise the next typed text would be merged with it in the undo history.
        cursor.insertText(" ")
        cursor.deletePreviousChar()
        cursor.endEditBlock()
        self.edited()
        self._marks.append(_Mark(self._document.availableUndoSteps(), choice))

    def edited(self) -> None:
        """Update after an edit or a mere format change: an edit invalidates the steps that could be redone."""
        if self._could_redo and not self._document.isRedoAvailable():
            self._marks = [mark for mark in self._marks if mark.depth <= self._depth]
            self._replacements = [(below, above) for below, above in self._replacements if above <= self._depth]
            self._sliced = [(below, above) for below, above in self._sliced if above <= self._depth]
        self.follow()

    def follow(self) -> None:
        """Update the position after undo and redo."""
        self._depth = self._document.availableUndoSteps()
        self._could_redo = self._document.isRedoAvailable()
