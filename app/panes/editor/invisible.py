"""Characters that a font draws nothing for: marked in the text, and named in a tool tip.

A zero-width space in a grammar is a character like any other, which every match needs. It is drawn as a thin stroke
with feet, over the text, so that nothing moves.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from app import theme
from app.panes.editor.offsets import Offsets
from app.theme import Role

LONGEST_LINE: Final = 5_000  # a longer one is not looked through at every repaint
# Format characters, joiners, fillers, variation selectors and tags; not what a font draws as a space.
INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FOOT = 2.0


def name_of(character: str) -> str:
    """Return the name of a character that cannot be seen."""
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name').lower()}"


def named_at(text: str, offset: int) -> list[str]:
    """Return the names of the invisible characters at a place of a text, or right beside it."""
    if offset < 0:
        return []
    return [name_of(found[0]) for found in INVISIBLE.finditer(text, max(0, offset - 1), min(len(text), offset + 2))]


def paint_invisible(edit: QPlainTextEdit, blocks: Iterator[tuple[QTextBlock, QRectF]]) -> None:
    """Mark the invisible characters of some lines.

    Args:
        edit: whose text it is.
        blocks: the lines that are seen.
    """
    painter: QPainter | None = None
    for block, _ in blocks:
        text = block.text()
        if len(text) > LONGEST_LINE:
            continue
        offsets: Offsets | None = None
        for found in INVISIBLE.finditer(text):
            offsets = offsets or Offsets(text)
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + offsets.to_utf16(found.start()))
            if painter is None:
                painter = QPainter(edit.viewport())
                painter.setPen(QPen(theme.colour(Role.WARNING), 1.4))
            _paint_mark(painter, QRectF(edit.cursorRect(cursor)))
    if painter is not None:
        painter.end()


def _paint_mark(painter: QPainter, place: QRectF) -> None:
    x, top, bottom = place.left() + 0.5, place.top() + 2.0, place.bottom() - 1.0
    painter.drawLine(QPointF(x, top), QPointF(x, bottom))
    for y in (top, bottom):
        painter.drawLine(QPointF(x - _FOOT, y), QPointF(x + _FOOT, y))
