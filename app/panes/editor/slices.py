"""Changes of a long text, made in slices between which waiting events have their turn.

Qt takes 2 µs for each line that it inserts, removes or restores: 0.15 s for a megabyte in one go. In slices of a few
milliseconds the window goes on. Whoever needs the rest at once, a key for example, calls `complete`.

Rejected: to refuse keys until a change is complete. They would be lost, and a key waits no longer than without slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from app.delays import delayed

SLICE: Final = 3_000
"""The lines of a slice: about 8 ms."""
_LINE_ENDS = ("\r", "\u2028", "\u2029", "\ufdd0", "\ufdd1")  # Qt turns them into line ends, or reads them as such


class SlicedChange(QObject):
    """Makes one change of an editor's text in slices.

    The editor emits no signal meanwhile; when the change is complete, it emits `blockCountChanged`, `textChanged` and
    `cursorPositionChanged` once.
    """

    def __init__(self, edit: QPlainTextEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        self._steps: Iterator[None] | None = None
        self._done: Callable[[], object] = lambda: None
        self._timer = delayed(self, 0, self._make_slice)

    @property
    def is_running(self) -> bool:
        """Return whether slices remain to be made."""
        return self._steps is not None

    def begin(self, steps: Iterator[None], done: Callable[[], object]) -> None:
        """Make the first slice now, and the others between events.

        Args:
            steps: makes a slice whenever it is asked for the next value.
            done: called when the change is complete, before the editor emits signals.
        """
        self._steps, self._done = steps, done
        self._make_slice()

    def complete(self) -> None:
        """Make the slices that remain now."""
        while self._steps is not None:
            self._make_slice()

    def abandon(self) -> None:
        """Make no further slice, since the text is no longer wanted."""
        self._timer.stop()
        self._steps = None

    def _make_slice(self) -> None:
        self._timer.stop()
        steps = self._steps
        if steps is None:
            return
        blocked = self._edit.blockSignals(True)
        try:
            next(steps)
        except StopIteration:
            self._steps = None
        finally:
            self._edit.blockSignals(blocked)
        if self._steps is not None:
            self._timer.start()
            return
        self._done()
        self._edit.blockCountChanged.emit(self._edit.blockCount())
        self._edit.textChanged.emit()
        self._edit.cursorPositionChanged.emit()


def slices_of(text: str) -> list[str]:
    """Return a text in slices; in one if it is short, or if Qt would change its line ends."""
    if text.count("\n") <= SLICE or any(mark in text for mark in _LINE_ENDS):
        return [text]
    lines = text.split("\n")
    starts = range(0, len(lines), SLICE)
    return ["\n".join(lines[at : at + SLICE]) + ("\n" if at + SLICE < len(lines) else "") for at in starts]


def replace_in_slices(cursor: QTextCursor, slices: list[str]) -> Iterator[None]:
    """Replace the selection of a cursor, which is then at the end of what was inserted.

    Args:
        cursor: the selection.
        slices: the new text.
    """
    document, start, end = cursor.document(), cursor.selectionStart(), cursor.selectionEnd()
    while end > start:
        above = document.findBlockByNumber(max(document.findBlock(end).blockNumber() - SLICE, 0))
        first = max(above.position(), start)
        cursor.setPosition(first)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        cursor.endEditBlock()
        end = first
        yield
    for one in slices:
        cursor.beginEditBlock()
        cursor.insertText(one)
        cursor.endEditBlock()
        yield
