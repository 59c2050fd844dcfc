"""Overlays of the text: squiggles, live and hovered spans, brackets, the gutter's signs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextEdit

from app import theme
from app.theme import Role
from engine.source import Diagnostic, Severity, Span

Selection = QTextEdit.ExtraSelection
ToUtf16 = Callable[[int], int]

SEVERITY_ROLES = {Severity.ERROR: Role.ERROR, Severity.WARNING: Role.WARNING, Severity.HINT: Role.HINT}
_MOST = 200  # marks of one kind; Qt lays each out again at every paint


def squiggles(document: QTextDocument, to_utf16: ToUtf16, diagnostics: Iterable[Diagnostic]) -> list[Selection]:
    """Return a wave under each finding; the most severe ones are drawn last, over the others.

    Args:
        document: the text.
        to_utf16: converts offsets.
        diagnostics: the findings.
    """
    rank = {Severity.HINT: 0, Severity.WARNING: 1, Severity.ERROR: 2}
    worst_last = sorted(diagnostics, key=lambda finding: rank[finding.severity])[-_MOST:]
    found = []
    for finding in worst_last:
        format_ = QTextCharFormat()
        format_.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        format_.setUnderlineColor(theme.colour(SEVERITY_ROLES[finding.severity]))
        found.append(_selection(document, to_utf16, visible_span(finding.span, document), format_))
    return found


def live(document: QTextDocument, to_utf16: ToUtf16, spans: Iterable[Span]) -> list[Selection]:
    """Return the live positions: a background, and an underline as a second cue.

    Args:
        document: the text.
        to_utf16: converts offsets.
        spans: the live spans.
    """
    format_ = QTextCharFormat()
    format_.setBackground(theme.colour(Role.LIVE_FILL))
    format_.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    format_.setUnderlineColor(theme.colour(Role.LIVE))
    return [_selection(document, to_utf16, span, format_) for span in list(spans)[:_MOST]]


def hovered(document: QTextDocument, to_utf16: ToUtf16, spans: Iterable[Span]) -> list[Selection]:
    """Return the spans that are hovered elsewhere: a background, and a dotted underline.

    Args:
        document: the text.
        to_utf16: converts offsets.
        spans: the hovered spans.
    """
    format_ = QTextCharFormat()
    format_.setBackground(theme.colour(Role.SELECTION))
    format_.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
    format_.setUnderlineColor(theme.colour(Role.ACCENT))
    return [_selection(document, to_utf16, span, format_) for span in list(spans)[:_MOST]]


def searched(document: QTextDocument, to_utf16: ToUtf16, spans: Iterable[Span]) -> list[Selection]:
    """Return the search results: a background, and a dashed underline.

    Args:
        document: the text.
        to_utf16: converts offsets.
        spans: the matches.
    """
    format_ = QTextCharFormat()
    format_.setBackground(theme.colour(Role.WARNING_FILL))
    format_.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DashUnderline)
    format_.setUnderlineColor(theme.colour(Role.WARNING))
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
    """Return a visible span: an empty one takes the character after it, at a line's end the one before."""
    if span.start < span.end:
        return span
    following = document.characterAt(span.start)
    if following in {"\u2029", "\0", ""} and span.start > 0:
        return Span(span.start - 1, span.start)
    return Span(span.start, span.start + 1)


def paint_sign(painter: QPainter, severity: Severity, box: QRectF) -> None:
    """Paint a severity's sign in the gutter: a disc, a triangle or a ring, so that colour is not the only cue."""
    colour = QColor(theme.colour(SEVERITY_ROLES[severity]))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if severity is Severity.HINT:
        painter.setPen(QPen(colour, 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(box.adjusted(1, 1, -1, -1))
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        if severity is Severity.ERROR:
            painter.drawEllipse(box)
        else:
            path = QPainterPath(QPointF(box.center().x(), box.top()))
            path.lineTo(box.bottomRight())
            path.lineTo(box.bottomLeft())
            path.closeSubpath()
            painter.drawPath(path)
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
