"""Folding of a text by its indentation: a line folds the lines below it that are indented further.

That is right for JSON that is formatted, and for rules of several lines, in any notation, valid or not, and it reads no
more of a text than the lines that it folds. The hidden lines are the state: nothing else is remembered, so no edit can
leave a fold without its line. A line that the cursor enters is shown.

Rejected: folding by brackets. Finding the partner of a schema's first bracket takes half a second for a megabyte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QTextBlock, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextDocumentLayout, QPlainTextEdit

from app import theme
from app.catalogue import ui_text
from app.delays import delayed
from app.panes.editor.highlighter import next_visible
from app.panes.editor.slices import SlicedChange
from app.theme import Role

_SLICE = 1_000  # lines that are hidden or shown before waiting events have their turn: 10 ms


def _indentation(block: QTextBlock) -> int:
    """Return the number of blanks that a line begins with; -1 for a line of blanks alone."""
    text = block.text()
    rest = text.lstrip(" \t")
    return len(text) - len(rest) if rest else -1


def is_foldable(block: QTextBlock) -> bool:
    """Return whether the next line that is not blank is indented further."""
    own, below = _indentation(block), block.next()
    if own < 0:
        return False
    while below.isValid() and _indentation(below) < 0:
        below = below.next()
    return below.isValid() and _indentation(below) > own


def is_folded(block: QTextBlock) -> bool:
    """Return whether the lines below a line are hidden."""
    below = block.next()
    return below.isValid() and not below.isVisible()


def _within(block: QTextBlock) -> Iterator[QTextBlock]:
    """Yield the lines that a line folds, none for a blank one; blank lines at their end are left out."""
    own, blank = _indentation(block), []
    below = block.next()
    while own >= 0 and below.isValid():
        indentation = _indentation(below)
        if indentation >= 0 and indentation <= own:
            return
        if indentation < 0:
            blank.append(below)
        else:
            yield from blank
            blank.clear()
            yield below
        below = below.next()


class Folding(QObject):
    """Folds and unfolds the lines of one editor.

    Signals:
        changed: other lines are visible.
    """

    changed = Signal()

    def __init__(self, edit: QPlainTextEdit, slices: SlicedChange) -> None:
        super().__init__(edit)
        self._edit = edit
        self._slices = slices
        self._has_folds = False
        self._rest: Iterator[QTextBlock] = iter(())  # lines still to be hidden, or to be shown
        self._shows = False
        self._timer = delayed(self, 0, self._go_on)
        self.follow(edit.document())
        edit.cursorPositionChanged.connect(self._show_cursor)
        edit.blockCountChanged.connect(self._show_first)

    def follow(self, document: QTextDocument) -> None:
        """Stop hiding lines when a document changes, whenever the editor shows it."""
        document.contentsChange.connect(self._timer.stop)

    @property
    def has_folds(self) -> bool:
        """Return whether lines may be hidden."""
        return self._has_folds

    def restart(self, *, has_folds: bool) -> None:
        """Follow another document that the editor shows now; `has_folds` if lines of it may be hidden."""
        self._timer.stop()
        self._has_folds = has_folds

    def toggle(self, block: QTextBlock) -> None:
        """Unfold a line, or fold it; a line without lines of its own folds the one that it is in."""
        if is_folded(block):
            self._set_visible(_hidden_below(block), shown=True)
            return
        while block.isValid() and not is_foldable(block):
            block = _outer(block)
        if block.isValid():
            self.fold(block)

    def fold(self, block: QTextBlock) -> None:
        """Hide the lines that a line folds, and move the cursor out of them."""
        self._set_visible(_within(block), shown=False)

    def fold_all(self) -> None:
        """Fold the outermost lines; if one has all others within it, those below it."""
        self._set_visible(self._within_outermost(), shown=False)

    def unfold_all(self) -> None:
        """Show all lines."""
        self._set_visible(self._hidden(), shown=True)

    def _within_outermost(self) -> Iterator[QTextBlock]:
        block = self._edit.document().firstBlock()
        own, text = _indentation(block), self._edit.document().toRawText()
        after = re.search(f"\u2029[ \t]{{0,{own}}}[^ \t\u2029]", text) if own >= 0 else None
        if is_foldable(block) and (after is None or "\u2029" not in text[after.end() :].rstrip()):
            block = block.next()
        while block.isValid():
            for inner in _within(block):
                yield inner
                block = inner
            block = block.next()

    def _hidden(self) -> Iterator[QTextBlock]:
        block = self._edit.document().firstBlock()
        while block.isValid():
            if not block.isVisible():
                yield block
            block = block.next()
        self._has_folds = False

    def reveal(self, block: QTextBlock) -> None:
        """Show a hidden line, with those that were folded with it."""
        if self._has_folds and block.isValid() and not block.isVisible():
            while block.previous().isValid() and not block.previous().isVisible():
                block = block.previous()
            self._set_visible(chain((block,), _hidden_below(block)), shown=True)

    def _show_cursor(self) -> None:
        self.reveal(self._edit.textCursor().block())

    def _show_first(self) -> None:
        """Show the first lines if the line that folded them is gone."""
        self.reveal(self._edit.document().firstBlock())

    def _set_visible(self, blocks: Iterator[QTextBlock], *, shown: bool) -> None:
        self._slices.complete()
        self._has_folds |= not shown
        self._rest, self._shows = blocks, shown
        self._go_on()

    def _go_on(self) -> None:
        """Hide or show some lines, and the rest after the events that wait; an edit leaves the rest as it is."""
        self._timer.stop()
        blocks = list(islice(self._rest, _SLICE))
        for block in blocks:
            block.setVisible(self._shows)
            block.setLineCount(max(block.layout().lineCount(), 1) if self._shows else 0)
        if len(blocks) == _SLICE:
            self._timer.start()
        layout = self._edit.document().documentLayout()
        if isinstance(layout, QPlainTextDocumentLayout):
            layout.requestUpdate()
            layout.documentSizeChanged.emit(layout.documentSize())
        self._edit.viewport().update()
        if not self._timer.isActive():
            self._leave_hidden()
        self.changed.emit()

    def _leave_hidden(self) -> None:
        """Move the cursor out of the hidden lines."""
        around = self._edit.textCursor().block()
        if not around.isVisible():
            while not around.isVisible():
                around = around.previous()
            cursor = QTextCursor(around)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
            self._edit.setTextCursor(cursor)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def mark_of(self, block: QTextBlock) -> tuple[str, QRectF]:
        """Return the mark behind a folded line, and where it is in the viewport."""
        after = next_visible(block)
        last = after.blockNumber() if after.isValid() else self._edit.blockCount()
        hidden = last - block.blockNumber() - 1
        text = ui_text("editor.folding.lines", count=hidden)
        cursor = QTextCursor(block)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        end = QRectF(self._edit.cursorRect(cursor))
        width = QFontMetricsF(theme.ui_font(-1)).horizontalAdvance(text) + 2 * theme.SPACE_S
        return text, QRectF(end.right() + theme.SPACE_S, end.top() + 1, width, end.height() - 2)

    def paint(self, blocks: Iterator[QTextBlock]) -> None:
        """Paint the marks of the folded lines among those that are visible."""
        for block in blocks:
            if not is_folded(block):
                continue
            text, box = self.mark_of(block)
            painter = QPainter(self._edit.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour(Role.GRID))
            painter.drawRoundedRect(box, 4, 4)
            painter.setPen(theme.colour(Role.MUTED))
            painter.setFont(theme.ui_font(-1))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
            painter.end()

    def is_on_mark(self, block: QTextBlock, position: QPointF) -> bool:
        """Return whether a position of the viewport is on the mark of a folded line."""
        return is_folded(block) and self.mark_of(block)[1].contains(position)


def _hidden_below(block: QTextBlock) -> Iterator[QTextBlock]:
    """Yield the hidden lines directly below a line."""
    below = block.next()
    while below.isValid() and not below.isVisible():
        yield below
        below = below.next()


def _outer(block: QTextBlock) -> QTextBlock:
    """Return the line that a line is within; an invalid one for none."""
    own, above = _indentation(block), block.previous()
    while above.isValid() and not 0 <= _indentation(above) < own:
        above = above.previous()
    return above
