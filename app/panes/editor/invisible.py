"""Marks invisible characters in the editor, and names them in a tool tip.

A zero-width space in a grammar is a character that every match must contain, but fonts draw nothing for it. A thin
stroke with serifs is drawn over the text, so that the layout does not change.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice
from typing import Final

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from app import theme
from app.panes.editor.offsets import Offsets
from app.theme import Role

MOST_MARKS: Final = 200  # in one line, at each repaint
# Format characters, joiners, fillers, variation selectors and tags; no spaces, which fonts draw as an advance.
INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FOOT = 2.0


def name_of(character: str) -> str:
    """Return the code point and the Unicode name of a character."""
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name').lower()}"


def named_at(text: str, offset: int) -> list[str]:
    """Return the names of the invisible characters at an offset and directly beside it."""
    if offset < 0:
        return []
    return [name_of(found[0]) for found in INVISIBLE.finditer(text, max(0, offset - 1), min(len(text), offset + 2))]


def paint_invisible(edit: QPlainTextEdit, blocks: Iterable[QTextBlock]) -> None:
    """Draw a mark over each invisible character.

    Args:
        edit: the editor that shows the text.
        blocks: its visible lines.
    """
    cursors = [cursor for block in blocks for cursor in _cursors(block)]
    if not cursors:
        return
    painter = QPainter(edit.viewport())
    painter.setPen(QPen(theme.colour(Role.WARNING), 1.4))
    for cursor in cursors:
        _paint_mark(painter, QRectF(edit.cursorRect(cursor)))
    painter.end()


def _cursors(block: QTextBlock) -> list[QTextCursor]:
    text = block.text()
    found = () if text.isascii() else tuple(islice(INVISIBLE.finditer(text), MOST_MARKS))
    if not found:
        return []
    offsets = Offsets(text)
    cursors = []
    for match in found:
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + offsets.to_utf16(match.start()))
        cursors.append(cursor)
    return cursors


def _paint_mark(painter: QPainter, cursor_rect: QRectF) -> None:
    x, top, bottom = cursor_rect.left() + 0.5, cursor_rect.top() + 2.0, cursor_rect.bottom() - 1.0
    painter.drawLine(QPointF(x, top), QPointF(x, bottom))
    for y in (top, bottom):
        painter.drawLine(QPointF(x - _FOOT, y), QPointF(x + _FOOT, y))
