"""Hanging indentation: a line that is wrapped goes on below its own beginning, two characters further in.

Qt's layout of plain texts begins every visual line at the left, so that wrapped JSON loses its indentation. Here the
visible lines that are wrapped are laid out again before they are painted; what is not seen costs nothing.

Rejected: a layout that overrides `blockBoundingRect`. Qt calls it so often that a key takes five times as long.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QPointF
from PySide6.QtGui import QFontMetricsF, QTextBlock
from PySide6.QtWidgets import QPlainTextEdit

from app.delays import delayed

_FURTHER = 2  # characters
_LARGEST_SHARE = 0.5  # of the width, for a line that is indented far
_LONGEST_LINE = 4_000  # characters: laying a longer line out twice takes longer than a key may


class HangingIndentation(QObject):
    """Indents the wrapped lines of an editor.

    Attributes:
        is_on: whether it does.
    """

    def __init__(self, edit: QPlainTextEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        self.is_on = True
        self._timer = delayed(self, 0, self._report)

    def apply(self, blocks: Iterable[QTextBlock]) -> None:
        """Lay out those of some visible lines that are wrapped and begin at the left."""
        if not self.is_on:
            return
        changed = [block for block in blocks if self._is_flat(block) and self._hang(block)]
        if changed:
            self._timer.start()  # what is below them has moved

    def _is_flat(self, block: QTextBlock) -> bool:
        layout = block.layout()
        return (
            layout.lineCount() > 1
            and block.length() <= _LONGEST_LINE
            and layout.lineAt(1).x() == layout.lineAt(0).x()  # as Qt lays them out
        )

    def _hang(self, block: QTextBlock) -> bool:
        """Lay a line out again; return whether it takes more visual lines than before."""
        layout, text = block.layout(), block.text()
        before, margin = layout.lineCount(), self._edit.document().documentMargin()
        width = self._edit.viewport().width() - 2 * margin
        blanks = len(text) - len(text.lstrip(" ")) + _FURTHER
        advance = QFontMetricsF(self._edit.font()).horizontalAdvance(" ")
        indent = min(blanks * advance, width * _LARGEST_SHARE)
        height, x = 0.0, 0.0
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLeadingIncluded(True)
            line.setLineWidth(width - x)
            line.setPosition(QPointF(margin + x, height))
            height += line.height()
            x = indent
        layout.endLayout()
        block.setLineCount(layout.lineCount())
        return layout.lineCount() != before

    def _report(self) -> None:
        layout = self._edit.document().documentLayout()
        layout.documentSizeChanged.emit(layout.documentSize())
        self._edit.viewport().update()
        self._edit.updateRequest.emit(self._edit.viewport().rect(), 0)
