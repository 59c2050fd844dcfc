"""Painting a phrase: words in the interface font, quoted code in the fixed-width font with a background."""

from __future__ import annotations

import re
from functools import lru_cache

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app import theme
from app.models.phrases import PHRASE_ROLE
from engine.diagnosis.explanation_tree import Phrase

Role = theme.Role
_PADDING = 4  # around quoted code
_QUOTED = re.compile(r"(`+) ?(.+?) ?\1(?!`)")  # as in Markdown
_ELLIPSIS = "…"


@lru_cache(maxsize=4_096)
def runs(words: str) -> tuple[tuple[str, bool], ...]:
    """Split a text into runs: text, and whether it is quoted."""
    found: list[tuple[str, bool]] = []
    at = 0
    for quote in _QUOTED.finditer(words):
        found += [(words[at : quote.start()], False), (quote[2], True)]
        at = quote.end()
    return tuple((text, is_quoted) for text, is_quoted in (*found, (words[at:], False)) if text)


class PhraseDelegate(QStyledItemDelegate):
    """Paints phrases.

    Attributes:
        pointed: the number of the phrase under the pointer in the text; None for none.
        is_stale: whether the description belongs to an older text and is painted paler.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hovered_phrase: int | None = None
        self.is_stale = False
        self.refresh_fonts()

    def refresh_fonts(self) -> None:
        """Reload the theme's fonts."""
        self._words, self._code = theme.ui_font(), theme.mono_font()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the size of a row: all have the same height, and the width of their text."""
        words, code = QFontMetricsF(self._words), QFontMetricsF(self._code)
        phrase = index.data(PHRASE_ROLE)
        width = sum(
            code.horizontalAdvance(text) + 2 * _PADDING if is_quoted else words.horizontalAdvance(text)
            for text, is_quoted in (runs(phrase.text) if isinstance(phrase, Phrase) else ())
        )
        return QSize(round(width) + 2 * theme.SPACE_S, round(max(words.height(), code.height())) + theme.SPACE_S)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one phrase."""
        phrase = index.data(PHRASE_ROLE)
        if not isinstance(phrase, Phrase):
            return
        painter.save()
        box = QRectF(option.rect)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_selected:
            painter.fillRect(box, theme.colour(Role.SELECTION))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.colour(Role.HOVER))
        if index.internalId() == self.hovered_phrase:
            painter.setPen(QPen(theme.colour(Role.ACCENT), 1, Qt.PenStyle.DotLine))
            painter.drawRect(box.adjusted(0.5, 0.5, -1.5, -1.5))
        self._paint_words(painter, box.adjusted(theme.SPACE_XS, 0, -theme.SPACE_XS, 0), phrase, is_on=is_selected)
        painter.restore()

    def _paint_words(self, painter: QPainter, box: QRectF, phrase: Phrase, *, is_on: bool) -> None:
        x = box.left()
        plain = theme.colour(Role.MUTED if self.is_stale else Role.TEXT)
        link = theme.colour(Role.MUTED if self.is_stale else Role.ACCENT)
        text_runs = runs(phrase.text)
        last = max((at for at, (_text, is_quoted) in enumerate(text_runs) if is_quoted), default=-1)
        for at, (text, is_quoted) in enumerate(text_runs):
            font = self._code if is_quoted else self._words
            metrics = QFontMetricsF(font)
            available = box.right() - x
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, available - 2 * _PADDING * is_quoted)
            has_background = is_quoted and bool(shown.rstrip(_ELLIPSIS))  # an empty background would show nothing
            shown = shown or _ELLIPSIS
            width = metrics.horizontalAdvance(shown)
            baseline = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
            if has_background:
                background = QRectF(x, box.top() + 3, width + 2 * _PADDING, box.height() - 6)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.colour(Role.PANEL if is_on else Role.GRID))
                painter.drawRoundedRect(background, 3, 3)
                x += _PADDING
            painter.setFont(font)
            painter.setPen(link if at == last and phrase.target is not None else plain)
            painter.drawText(QPointF(x, baseline), shown)
            x += width + _PADDING * has_background
            if shown != text:
                return
