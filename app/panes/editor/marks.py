"""Overlays of the text: squiggles, live and hovered spans, brackets, invisible characters, the gutter's signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QPainter,
    QPen,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from app import theme
from app.catalogue import ui_text
from app.models.findings import ICONS, Sign, rank_of, sign_of
from app.models.heat import HeatRow
from app.panes.editor.offsets import Offsets
from app.theme import Role
from engine.source import Diagnostic, Severity, Span
from engine.targets import Effect

MOST_MARKS: Final = 200  # in one line, at each repaint
# Format characters, joiners, fillers, variation selectors and tags; no spaces, which fonts draw as an advance.
INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FOOT = 2.0


Selection = QTextEdit.ExtraSelection
UnderlineStyle = QTextCharFormat.UnderlineStyle
ToUtf16 = Callable[[int], int]

_OUTLINED = frozenset((Severity.HINT, Effect.APPROXIMATES, Effect.SLOWS))
_HEAT_UNDERLINES = (
    UnderlineStyle.DotLine,
    *(UnderlineStyle.NoUnderline,) * 2,
    *(UnderlineStyle.DashUnderline,) * 2,
    UnderlineStyle.SingleUnderline,
)
_HUGE = 600  # code points
_MOST = 200  # marks of one kind; Qt lays each out again at every paint


def squiggles(document: QTextDocument, to_utf16: ToUtf16, diagnostics: Iterable[Diagnostic]) -> list[Selection]:
    """Return a wave under each finding, and dashes and dots under one about the target; the most severe ones are last.

    Args:
        document: the text.
        to_utf16: converts offsets.
        diagnostics: the findings.
    """
    worst_last = sorted(diagnostics, key=rank_of, reverse=True)[-_MOST:]
    found = []
    for finding in worst_last:
        sign = sign_of(finding)
        format_ = QTextCharFormat()
        is_of_target = isinstance(sign, Effect)
        format_.setUnderlineStyle(UnderlineStyle.DashDotLine if is_of_target else UnderlineStyle.WaveUnderline)
        format_.setUnderlineColor(theme.colour(ICONS[sign][1]))
        found.append(_selection(document, to_utf16, visible_span(finding.span, document), format_))
    return found


def live(document: QTextDocument, to_utf16: ToUtf16, spans: Iterable[Span]) -> list[Selection]:
    """Return the live positions: a background, and an underline as a second cue.

    Args:
        document: the text.
        to_utf16: converts offsets.
        spans: the live spans.
    """
    return _highlights(document, to_utf16, spans, (Role.LIVE_FILL, UnderlineStyle.SingleUnderline, Role.LIVE))


def hovered(document: QTextDocument, to_utf16: ToUtf16, spans: Iterable[Span]) -> list[Selection]:
    """Return the spans that are hovered elsewhere: a background, and a dotted underline.

    Args:
        document: the text.
        to_utf16: converts offsets.
        spans: the hovered spans.
    """
    return _highlights(document, to_utf16, spans, (Role.SELECTION, UnderlineStyle.DotLine, Role.ACCENT))


def searched(document: QTextDocument, to_utf16: ToUtf16, spans: Iterable[Span]) -> list[Selection]:
    """Return the search results: a background, and a dashed underline.

    Args:
        document: the text.
        to_utf16: converts offsets.
        spans: the matches.
    """
    return _highlights(document, to_utf16, spans, (Role.WARNING_FILL, UnderlineStyle.DashUnderline, Role.WARNING))


def heated(document: QTextDocument, to_utf16: ToUtf16, rows: Iterable[HeatRow], *, is_lost: bool) -> list[Selection]:
    """Return the parts of the text with heat: a background, darker for more, with an underline as a second cue.

    Args:
        document: the text.
        to_utf16: converts offsets.
        rows: the parts, the hottest first.
        is_lost: whether the heat is what was lost.
    """
    found = []
    for row in list(rows)[:_MOST]:
        format_, level = QTextCharFormat(), -1 if row.level is None else row.level
        colour = QColor(theme.colour(Role.FORBIDDEN if is_lost else Role.ALLOWED))
        format_.setUnderlineColor(colour)
        format_.setUnderlineStyle(_HEAT_UNDERLINES[level + 1])
        colour.setAlphaF(0.08 * (level + 1))
        format_.setBackground(colour)
        found.append(_selection(document, to_utf16, visible_span(row.span, document), format_))
    return found[::-1]  # the hottest above the others


def _highlights(
    document: QTextDocument, to_utf16: ToUtf16, spans: Iterable[Span], style: tuple[Role, UnderlineStyle, Role]
) -> list[Selection]:
    background, underline, colour = style
    format_ = QTextCharFormat()
    format_.setBackground(theme.colour(background))
    format_.setUnderlineStyle(underline)
    format_.setUnderlineColor(theme.colour(colour))
    return [_selection(document, to_utf16, span, format_) for span in list(spans)[:_MOST]]


def brackets(document: QTextDocument, to_utf16: ToUtf16, offsets: Iterable[int]) -> list[Selection]:
    """Return a bracket and its partner.

    Args:
        document: the text.
        to_utf16: converts offsets.
        offsets: their offsets.
    """
    format_ = QTextCharFormat()
    format_.setBackground(theme.colour(Role.SELECTION))
    format_.setFontWeight(QFont.Weight.Bold)
    return [_selection(document, to_utf16, Span(offset, offset + 1), format_) for offset in offsets]


def visible_span(span: Span, document: QTextDocument) -> Span:
    """Return a visible span.

    An empty one takes the character after it, at a line's end the one before. One over the whole text, or over much of
    it, takes its first line: underlining everything shows nothing.
    """
    if span.start < span.end:
        block = document.findBlock(span.start)
        line_end = block.position() + block.length() - 1
        is_whole = span.start == 0 and span.end >= document.characterCount() - 1
        is_huge = is_whole or span.end - span.start > _HUGE
        end = min(line_end, span.start + _HUGE) if is_huge and span.start < line_end else span.end
        return Span(span.start, min(end, span.end))
    following = document.characterAt(span.start)
    if following in {"\u2029", "\0", ""} and span.start > 0:
        return Span(span.start - 1, span.start)
    return Span(span.start, span.start + 1)


def paint_sign(painter: QPainter, sign: Sign, box: QRectF) -> None:
    """Paint a sign in the gutter: a disc, a triangle, a ring, or a diamond, so that colour is not the only cue.

    A diamond is about the target: filled if the engine refuses or drops something, else an outline.

    Args:
        painter: the painter of the gutter.
        sign: the sign of a finding.
        box: where to paint, in the painter's coordinates.
    """
    colour = QColor(theme.colour(ICONS[sign][1]))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if sign in _OUTLINED:
        painter.setPen(QPen(colour, 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        box = box.adjusted(1, 1, -1, -1)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
    if sign is Severity.WARNING:
        painter.drawPolygon([QPointF(box.center().x(), box.top()), box.bottomRight(), box.bottomLeft()])
    elif isinstance(sign, Effect):
        middle = box.center()
        painter.drawPolygon(
            [
                QPointF(middle.x(), box.top()),
                QPointF(box.right(), middle.y()),
                QPointF(middle.x(), box.bottom()),
                QPointF(box.left(), middle.y()),
            ]
        )
    else:
        painter.drawEllipse(box)
    painter.restore()


def _selection(document: QTextDocument, to_utf16: ToUtf16, span: Span, format_: QTextCharFormat) -> Selection:
    last = document.characterCount() - 1
    selection = Selection()
    cursor = QTextCursor(document)
    cursor.setPosition(min(to_utf16(span.start), last))
    cursor.setPosition(min(to_utf16(span.end), last), QTextCursor.MoveMode.KeepAnchor)
    selection.cursor = cursor
    selection.format = format_
    return selection


def name_of(character: str) -> str:
    """Return the code point and the Unicode name of a character."""
    return f"U+{ord(character):04X} {unicodedata.name(character, ui_text('editor.text.fragment.unnamed')).lower()}"


def named_at(text: str, offset: int) -> list[str]:
    """Return the names of the invisible characters at an offset and directly beside it."""
    if offset < 0:
        return []
    return [name_of(found[0]) for found in INVISIBLE.finditer(text, max(0, offset - 1), min(len(text), offset + 2))]


def paint_invisible(edit: QPlainTextEdit, blocks: Iterable[QTextBlock]) -> None:
    """Draw a mark over each invisible character.

    A zero-width space in a grammar is a character that every match must contain, but fonts draw nothing for it. A thin
    stroke with serifs is drawn over the text, so that the layout does not change.

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
