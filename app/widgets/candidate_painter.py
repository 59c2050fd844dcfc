"""Painting the candidate table.

A row is painted as a unit: a masked token is struck through, its numbers are pale, and hovering highlights a row, not
a cell. The pair of bars corresponds to the numbers at its sides: the outline is the model's probability, the solid bar
the probability after the mask, both on one scale. A masked token has only the outline.

The whole table changes with every step, so its painting is most of the window's work for one. Hence there is no
delegate: Qt calls one for every cell, with a new option each time, and that took twice as long as the painting. And
equal elements of all rows are painted together, and laid-out texts are cached, because the same numbers and tokens
recur in the next step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QStaticText

from app import theme
from app.display_text import candidate_text, percent_column
from app.models.candidates import COLUMNS, FIGURES, CandidateColumn, ExtraColumn, masked_text
from app.widgets.token_paint import TokenColours, mix, runs, tabular, token_colours
from engine.decoding.values import Candidate

Role = theme.Role
PADDING = 8
_BAR, _BAR_GAP = 5.0, 2.0
_LEAST_BAR = 0.75  # shorter bars are noise: the number is enough
_LEAST_HATCHED = 12.0  # the width of the hatching of an unknown number, which may be as small as any
_MARK = 3.0  # the width of the bar beside a row that differs
_MOST_KEPT = 2_048  # number of cached text layouts


class CandidateRow(NamedTuple):
    """A row to paint: its candidate, its position, and the text for the target state."""

    candidate: Candidate
    top: float
    state: str
    is_selected: bool
    is_hovered: bool


class _TextLayout(NamedTuple):
    """A text layout, with its width in pixels."""

    text: QStaticText
    width: float


class _Token(NamedTuple):
    """A token's layout in runs: each with its x offset, and whether it is a white space mark."""

    runs: tuple[tuple[float, QStaticText, bool], ...]
    width: float


@dataclass(frozen=True, slots=True)
class _Style:
    """Fonts and colours of a theme, cached: fetching them costs as much as drawing with them."""

    figures: QFont
    token: QFont
    name: QFont  # of a special token: italic, since its name is not a text of the output
    roles: Mapping[Role, QPen]
    tokens: Mapping[Role, TokenColours]
    strike: QPen
    grid: QPen
    axis: QPen
    outline: QPen
    filling: QColor
    masked: QColor
    unknown: QBrush
    unknown_masked: QBrush
    differing: QColor
    selection: QColor
    hover: QColor


class CandidatePainter:
    """Paints rows of candidates.

    Attributes:
        peak: the probability of a full bar.
        vocabulary_size: determines the width of ranks and ids.
    """

    def __init__(self) -> None:
        self.peak = 1.0
        self.vocabulary_size = 0
        self._layouts: dict[str, _TextLayout] = {}
        self._tokens: dict[tuple[str, bool, float], _Token] = {}
        self.refresh()

    def refresh(self) -> None:
        """Reload the theme's fonts and colours."""
        name, outline = theme.mono_font(), theme.colour(Role.BAR_MODEL)
        name.setItalic(True)
        self._style = _Style(
            figures=tabular(theme.ui_font()),
            token=theme.mono_font(),
            name=name,
            roles={role: QPen(theme.colour(role)) for role in (Role.TEXT, Role.MUTED, Role.ALLOWED, Role.WARNING)},
            tokens={role: token_colours(role) for role in (Role.TEXT, Role.HINT)},
            strike=QPen(theme.colour(Role.MUTED), 1),
            grid=QPen(theme.colour(Role.GRID), 1),
            axis=QPen(theme.colour(Role.BORDER), 1),
            outline=QPen(outline, 1),
            filling=mix(theme.colour(Role.PANEL), outline, 0.18),
            masked=theme.colour(Role.BAR_MASKED),
            unknown=QBrush(outline, Qt.BrushStyle.Dense4Pattern),
            unknown_masked=QBrush(theme.colour(Role.BAR_MASKED), Qt.BrushStyle.Dense4Pattern),
            differing=theme.colour(Role.WARNING),
            selection=theme.colour(Role.SELECTION),
            hover=theme.colour(Role.HOVER),
        )
        self._layouts.clear()
        self._tokens.clear()
        self._metrics = QFontMetricsF(self._style.figures)
        self._token_metrics = QFontMetricsF(self._style.token)
        self._figure_width = self._metrics.horizontalAdvance(FIGURES)

    @property
    def row_height(self) -> int:
        """Return the height of a row in pixels."""
        return round(self._token_metrics.height()) + 6

    def width_of(self, column: CandidateColumn) -> int:
        """Return the width that a column needs, in pixels; the minimum for the token."""
        sample = COLUMNS[column].sample(self.vocabulary_size)
        return round(self._metrics.horizontalAdvance(sample)) + 2 * PADDING

    def paint(
        self,
        painter: QPainter,
        rows: Iterable[CandidateRow],
        columns: Mapping[CandidateColumn, tuple[float, float]],
        engines: Sequence[tuple[ExtraColumn, float, float]] = (),
    ) -> None:
        """Paint rows: first all backgrounds, then all bars, figures and tokens, and the signs of engines.

        Args:
            painter: of the viewport.
            rows: the visible ones.
            columns: the left edge and the width of every visible column, in pixels.
            engines: the columns of engines, with the left edge and the width of each.
        """
        rows = tuple(rows)
        if not rows:
            return
        left = min((left for left, _ in columns.values()), default=0.0)
        right = max((at + width for at, width in (*columns.values(), *(one[1:] for one in engines))), default=0.0)
        inner = {column: (at + PADDING, at + width - PADDING) for column, (at, width) in columns.items()}
        self._paint_backgrounds(painter, rows, left, right)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)  # only now: whole pixels need none, and it is slow
        if CandidateColumn.PROBABILITY in inner:
            self._paint_bars(painter, rows, *inner[CandidateColumn.PROBABILITY])
        self._paint_figures(painter, rows, inner)
        if CandidateColumn.TOKEN in inner:
            self._paint_tokens(painter, rows, *inner[CandidateColumn.TOKEN])
        self._paint_engines(painter, rows, left, engines)

    def _paint_backgrounds(self, painter: QPainter, rows: Sequence[CandidateRow], left: float, right: float) -> None:
        height = self.row_height
        for row in rows:
            if row.is_selected or row.is_hovered:
                background = self._style.selection if row.is_selected else self._style.hover
                painter.fillRect(QRectF(left, row.top, right - left, height), background)
        painter.setPen(self._style.grid)
        bottoms = [row.top + height - 0.5 for row in rows]
        painter.drawLines([QLineF(left, bottom, right, bottom) for bottom in bottoms])

    def _paint_figures(
        self, painter: QPainter, rows: Sequence[CandidateRow], columns: Mapping[CandidateColumn, tuple[float, float]]
    ) -> None:
        """Draw the figures, right-aligned; grouped by colour."""
        offset = (self.row_height - self._metrics.height()) / 2
        texts_by_role: dict[Role, list[tuple[QPointF, QStaticText]]] = {role: [] for role in self._style.roles}
        for column, (left, right) in columns.items():
            if column is CandidateColumn.TOKEN:
                continue
            for row in rows:
                for at, text, role in self._cells(column, row, left, right):
                    layout = self._layouts.get(text) or self._layout_of(text)
                    texts_by_role[role].append((QPointF(at - layout.width, row.top + offset), layout.text))
        painter.setFont(self._style.figures)
        draw = painter.drawStaticText
        for role, texts in texts_by_role.items():
            painter.setPen(self._style.roles[role])
            for place, static in texts:
                draw(place, static)

    def _cells(
        self, column: CandidateColumn, row: CandidateRow, left: float, right: float
    ) -> tuple[tuple[float, str, Role], ...]:
        """Return the texts of a column: right edge, text, and colour."""
        candidate = row.candidate
        match column:
            case CandidateColumn.PROBABILITY:
                role = Role.TEXT if candidate.allowed else Role.MUTED
                before = (left + self._figure_width, percent_column(candidate.p), Role.MUTED)
                return before, (right, masked_text(candidate), role)
            case CandidateColumn.CHANGE:
                text = COLUMNS[column].text(candidate)
                return ((right, text, Role.ALLOWED if text.startswith("+") else Role.MUTED),)
            case CandidateColumn.STATE:
                return ((right, row.state, Role.TEXT if candidate.allowed else Role.MUTED),)
            case _:
                return ((right, COLUMNS[column].text(candidate), Role.MUTED),)

    def _paint_engines(
        self,
        painter: QPainter,
        rows: Sequence[CandidateRow],
        left: float,
        engines: Sequence[tuple[ExtraColumn, float, float]],
    ) -> None:
        """Draw the signs of the engines in the middle of their columns, and a bar beside each row that differs."""
        offset, height = (self.row_height - self._metrics.height()) / 2, self.row_height
        painter.setFont(self._style.figures)
        for row in rows:
            differing = [column for column, _, _ in engines if column.differs(row.candidate)]
            if differing:
                painter.fillRect(QRectF(left, row.top, _MARK, height - 1), self._style.differing)
            for column, at, width in engines:
                layout = self._layouts.get(sign := column.sign(row.candidate)) or self._layout_of(sign)
                is_allowed = column.allows(row.candidate)
                role = Role.WARNING if column in differing else Role.TEXT if is_allowed else Role.MUTED
                painter.setPen(self._style.roles[role])
                painter.drawStaticText(QPointF(at + (width - layout.width) / 2, row.top + offset), layout.text)

    def _layout_of(self, text: str) -> _TextLayout:
        _limit_cache(self._layouts)
        layout = self._layouts[text] = _layouts(text, self._style.figures)
        return layout

    def _paint_bars(self, painter: QPainter, rows: Sequence[CandidateRow], left: float, right: float) -> None:
        """Draw the axis, the model's probabilities as outlines, and the bars after the mask.

        What is unknown is hatched: up to the largest value that it may have.
        """
        left, right = left + self._figure_width + PADDING, right - self._figure_width - PADDING / 2
        height, available = self.row_height, right - left - 1
        painter.setPen(self._style.axis)
        painter.drawLine(QLineF(left + 0.5, rows[0].top, left + 0.5, rows[-1].top + height))  # rows have no gaps
        outlines, fillings = list[QRectF](), list[QRectF]()
        for row in rows:
            candidate, top = row.candidate, round(row.top + height / 2 - _BAR - _BAR_GAP / 2) + 0.5
            lower, masked = top + _BAR + _BAR_GAP - 0.5, candidate.p_masked
            if candidate.p is None:
                length = max(self._length(candidate.p_most, available), _LEAST_HATCHED)
                painter.fillRect(QRectF(left + 1, top - 0.5, length, _BAR), self._style.unknown)
            elif length := self._length(candidate.p, available):
                outlines.append(QRectF(left + 1.5, top, max(length - 1, 1.0), _BAR - 1))
            if (bounds := candidate.masked_bounds) is not None:
                masked, most = bounds.low, max(self._length(bounds.high, available), _LEAST_HATCHED)
                painter.fillRect(QRectF(left + 1, lower, most, _BAR), self._style.unknown_masked)
            if candidate.allowed and masked is not None and (length := self._length(masked, available)):
                fillings.append(QRectF(left + 1, lower, length, _BAR))
        if outlines:
            painter.setPen(self._style.outline)
            painter.setBrush(self._style.filling)
            painter.drawRects(outlines)
        for filling in fillings:
            painter.fillRect(filling, self._style.masked)

    def _length(self, p: float, width: float) -> float:
        length = width * min(p / self.peak, 1.0) if self.peak > 0 else 0.0
        return length if length >= _LEAST_BAR else 0.0

    def _paint_tokens(self, painter: QPainter, rows: Sequence[CandidateRow], left: float, right: float) -> None:
        metrics = self._token_metrics
        offset = (self.row_height - metrics.height()) / 2
        strike = metrics.ascent() - metrics.xHeight() / 2
        for row in rows:
            candidate, top = row.candidate, row.top + offset
            font = self._style.name if candidate.name else self._style.token
            token = self._token(candidate, font, right - left)
            role = Role.HINT if candidate.name else Role.TEXT
            colours = self._style.tokens[role]
            if not candidate.allowed:  # below the text and paler, since the line would hide `-`, `;` and `↵` otherwise
                painter.setPen(self._style.strike)
                middle = top + strike
                painter.drawLine(QPointF(left - 3, middle), QPointF(left + token.width + 3, middle))
            painter.setFont(font)
            for at, text, is_mark in token.runs:
                painter.setPen(colours.mark if is_mark and candidate.allowed else colours.text)
                painter.drawStaticText(QPointF(left + at, top), text)

    def _token(self, candidate: Candidate, font: QFont, width: float) -> _Token:
        key = candidate_text(candidate), bool(candidate.name), width
        token = self._tokens.get(key)
        if token is None:
            _limit_cache(self._tokens)
            token = self._tokens[key] = _laid_token(key[0], font, width)
        return token


def _limit_cache(cache: dict[Any, Any]) -> None:
    if len(cache) >= _MOST_KEPT:
        cache.clear()


def _layouts(text: str, font: QFont) -> _TextLayout:
    layout = QStaticText(text)
    layout.setTextFormat(Qt.TextFormat.PlainText)
    layout.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    layout.prepare(font=font)
    return _TextLayout(layout, layout.size().width())


def _laid_token(text: str, font: QFont, width: float) -> _Token:
    metrics = QFontMetricsF(font)
    if metrics.horizontalAdvance(text) > width:
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
    at, pieces = 0.0, []
    for run, is_mark in runs(text):
        pieces.append((at, _layouts(run, font).text, is_mark))
        at += metrics.horizontalAdvance(run)
    return _Token(tuple(pieces), at)
