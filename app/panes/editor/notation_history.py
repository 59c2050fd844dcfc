"""What a text is read as, along its undo history.

Qt keeps the history of a text; that of its reading (the notation, and the options
that belong to it) is kept beside it, so that one key takes back whichever came
last. Another reading is a step of the text's own history that changes nothing: a
character that comes and goes. It is known by how many commands lie below it.

Rejected: a history of our own, of whole texts. Qt's joins the keys of a word to
one step, and knows the cursor.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QTextCursor, QTextDocument


@dataclass(frozen=True, slots=True)
class _Mark:
    depth: int  # how many commands lie below the next step
    reading: object


class NotationHistory:
    """The readings of one text."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self._marks = [_Mark(0, None)]
        self._replacements: list[tuple[int, int]] = []  # the commands below and above an edit of the whole text
        self._depth = 0
        self._could_redo = False

    @property
    def current(self) -> object:
        """How the text is read where its history stands."""
        depth = self._document.availableUndoSteps()
        return next(mark.reading for mark in reversed(self._marks) if mark.depth <= depth)

    @property
    def depth(self) -> int:
        """How many commands can be undone."""
        return self._document.availableUndoSteps()

    def note_replacement(self, below: int) -> None:
        """Note that the last edit replaced the text as a whole; `below` is the depth before it."""
        self._replacements.append((below, self.depth))

    def is_replacement(self, before: int) -> bool:
        """Return whether going from a depth to the present one takes back, or repeats, an edit of the whole text."""
        low, high = sorted((before, self.depth))
        return any(low <= below and above <= high for below, above in self._replacements)

    def begin(self, reading: object) -> None:
        """A text without history is read so."""
        self._marks, self._replacements = [_Mark(0, reading)], []
        self.follow()

    def switch(self, reading: object, cursor: QTextCursor, text: str | None = None) -> None:
        """Read the text another way from here on, or another text; one step of undo.

        Args:
            reading: how it is read.
            cursor: where it is edited.
            text: what takes the place of the text; None where that stays.
        """
        cursor.beginEditBlock()
        if text is not None:
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(text)
            cursor.movePosition(QTextCursor.MoveOperation.Start)
        # Also behind another text: whatever is typed next would else be joined to it, and to its undo.
        cursor.insertText(" ")
        cursor.deletePreviousChar()
        cursor.endEditBlock()
        self.edited()
        self._marks.append(_Mark(self._document.availableUndoSteps(), reading))

    def edited(self) -> None:
        """The text may have been edited, or only coloured: after an edit, what could be done again before is gone."""
        if self._could_redo and not self._document.isRedoAvailable():
            self._marks = [mark for mark in self._marks if mark.depth <= self._depth]
            self._replacements = [(below, above) for below, above in self._replacements if above <= self._depth]
        self.follow()

    def follow(self) -> None:
        """Note where the history stands; after undo and redo."""
        self._depth = self._document.availableUndoSteps()
        self._could_redo = self._document.isRedoAvailable()
