"""Painting the candidate table.

A row is painted as one thing: a forbidden one is struck through and pale in all its
columns, and the pointer lights a row, not a cell. The pair of bars reads as the
numbers at its sides do: outlined is the model's wish, solid what the mask makes of it,
both on one scale. A forbidden token has an outline and nothing in it.

The table changes wholly with every step, so its painting is most of what the window
does for one. Hence no delegate: Qt asks one for every cell, with an option made anew
each time, and that took twice what the painting did. And texts are laid out once and
kept, for the same numbers and tokens come again with the next step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QStaticText

from app import theme
from app.models.candidates import Column, masked_text
from app.models.token_paint import TokenColours, mix, runs, tabular, token_colours
from app.models.wording import candidate_text, change_column, percent_column
from engine.decoding.values import Candidate

Role = theme.Role
PADDING = 8
_BAR, _BAR_GAP = 5.0, 2.0
_LEAST_BAR = 0.75  # shorter ones are noise: the number says it
_FIGURES = "100.00%"
_MOST_KEPT = 2_048  # texts that stay laid out


class Row(NamedTuple):
    """A row to paint: its candidate, its place, and what it says of the target state."""

    candidate: Candidate
    top: float
    state: str
    is_selected: bool
    is_hovered: bool


class _Laid(NamedTuple):
    """A text that is laid out, with its width in pixels."""

    text: QStaticText
    width: float


class _Token(NamedTuple):
    """A token that is laid out in runs: each with its place, and whether it is a mark."""

    runs: tuple[tuple[float, QStaticText, bool], ...]
    width: float


@dataclass(frozen=True, slots=True)
class _Dress:
    """Fonts and colours of a theme, fetched once: asking for them cost as much as drawing with them."""

    figures: QFont
    token: QFont
    name: QFont  # of a special token: italic, for its name is no text that the output would hold
    roles: Mapping[Role, QPen]
    tokens: Mapping[Role, TokenColours]
    grid: QPen
    axis: QPen
    outline: QPen
    filling: QColor
    masked: QColor
    selection: QColor
    hover: QColor


class CandidatePainter:
    """Paints rows of candidates.

    Attributes:
        peak: the probability that fills a bar.
        vocabulary_size: how wide ranks and ids get.
    """

    def __init__(self) -> None:
        self.peak = 1.0
        self.vocabulary_size = 0
        self._laid: dict[str, _Laid] = {}
        self._tokens: dict[tuple[str, bool, float], _Token] = {}
        self.refresh()

    def refresh(self) -> None:
        """Take the theme's fonts and colours anew."""
        name, outline = theme.mono_font(), theme.colour(Role.BAR_MODEL)
        name.setItalic(True)
        self._dress = _Dress(
            figures=tabular(theme.ui_font()),
            token=theme.mono_font(),
            name=name,
            roles={role: QPen(theme.colour(role)) for role in (Role.TEXT, Role.MUTED, Role.ALLOWED)},
            tokens={role: token_colours(role) for role in (Role.TEXT, Role.HINT, Role.MUTED)},
            grid=QPen(theme.colour(Role.GRID), 1),
            axis=QPen(theme.colour(Role.BORDER), 1),
            outline=QPen(outline, 1),
            filling=mix(theme.colour(Role.PANEL), outline, 0.18),
            masked=theme.colour(Role.BAR_MASKED),
            selection=theme.colour(Role.SELECTION),
            hover=theme.colour(Role.HOVER),
        )
        self._laid.clear()
        self._tokens.clear()
        self._metrics = QFontMetricsF(self._dress.figures)
        self._token_metrics = QFontMetricsF(self._dress.token)
        self._figure_width = self._metrics.horizontalAdvance(_FIGURES)

    @property
    def row_height(self) -> int:
        """The height of a row, pixels."""
        return round(self._token_metrics.height()) + 9

    def width_of(self, column: Column) -> int:
        """The width that a column needs, pixels; the least one for the token."""
        sample = {
            Column.RANK: f"{max(self.vocabulary_size, 100):,}",
            Column.TOKEN: "0" * 9,
            Column.ID: str(max(self.vocabulary_size, 100)),
            Column.PROBABILITY: _FIGURES * 2 + "0" * 10,
            Column.CHANGE: "Change",
            Column.STATE: "State",
        }[column]
        return round(self._metrics.horizontalAdvance(sample)) + 2 * PADDING

    def paint(self, painter: QPainter, rows: Iterable[Row], columns: Mapping[Column, tuple[float, float]]) -> None:
        """Paint rows.

        Args:
            painter: of the viewport.
            rows: those that are seen.
            columns: the left edge and the width of every column that is seen, pixels.
        """
        left = min((left for left, _ in columns.values()), default=0.0)
        right = max((left + width for left, width in columns.values()), default=0.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = self.row_height
        for row in rows:
            self._ground(painter, QRectF(left, row.top, right - left, height), row)
            for column, (at, width) in columns.items():
                box = QRectF(at + PADDING, row.top, width - 2 * PADDING, height)
                if column is Column.TOKEN:
                    self._token(painter, box, row.candidate)
                elif column is Column.PROBABILITY:
                    self._pair(painter, box, row.candidate)
                else:
                    self._fact(painter, box, column, row)

    def _ground(self, painter: QPainter, box: QRectF, row: Row) -> None:
        if row.is_selected or row.is_hovered:
            painter.fillRect(box, self._dress.selection if row.is_selected else self._dress.hover)
        painter.setPen(self._dress.grid)
        bottom = box.bottom() - 0.5
        painter.drawLine(QLineF(box.left(), bottom, box.right(), bottom))

    def _fact(self, painter: QPainter, box: QRectF, column: Column, row: Row) -> None:
        candidate, role = row.candidate, Role.MUTED
        match column:
            case Column.RANK:
                text = f"{candidate.rank:,}"
            case Column.ID:
                text = str(candidate.token_id)
            case Column.CHANGE:
                text = change_column(candidate.p, candidate.p_masked)
                role = Role.ALLOWED if text.startswith("+") else Role.MUTED
            case _:
                text = row.state
                role = Role.TEXT if candidate.allowed else Role.MUTED
        self._figure(painter, box, text, role)

    def _figure(self, painter: QPainter, box: QRectF, text: str, role: Role) -> None:
        """Write a figure at the right of a box."""
        laid = self._laid.get(text)
        if laid is None:
            _make_room(self._laid)
            laid = self._laid[text] = _laid(text, self._dress.figures)
        painter.setFont(self._dress.figures)
        painter.setPen(self._dress.roles[role])
        top = box.top() + (box.height() - self._metrics.height()) / 2
        painter.drawStaticText(QPointF(box.right() - laid.width, top), laid.text)

    def _pair(self, painter: QPainter, box: QRectF, candidate: Candidate) -> None:
        width = self._figure_width
        before = QRectF(box.left(), box.top(), width, box.height())
        self._figure(painter, before, percent_column(candidate.p), Role.MUTED)
        self._figure(painter, box, masked_text(candidate), Role.TEXT if candidate.allowed else Role.MUTED)
        self._bars(painter, box.adjusted(width + PADDING, 0, -width - PADDING / 2, 0), candidate)

    def _bars(self, painter: QPainter, box: QRectF, candidate: Candidate) -> None:
        top = round(box.center().y() - _BAR - _BAR_GAP / 2) + 0.5
        painter.setPen(self._dress.axis)
        painter.drawLine(QLineF(box.left() + 0.5, box.top(), box.left() + 0.5, box.bottom()))
        box.setLeft(box.left() + 1)
        length = self._length(candidate.p, box.width())
        if length:
            painter.setPen(self._dress.outline)
            painter.setBrush(self._dress.filling)
            painter.drawRect(QRectF(box.left() + 0.5, top, max(length - 1, 1.0), _BAR - 1))
        length = self._length(candidate.p_masked, box.width())
        if length and candidate.allowed:
            painter.fillRect(QRectF(box.left(), top + _BAR + _BAR_GAP - 0.5, length, _BAR), self._dress.masked)

    def _length(self, p: float, width: float) -> float:
        length = width * min(p / self.peak, 1.0) if self.peak > 0 else 0.0
        return length if length >= _LEAST_BAR else 0.0

    def _token(self, painter: QPainter, box: QRectF, candidate: Candidate) -> None:
        key = candidate_text(candidate), bool(candidate.name), box.width()
        font = self._dress.name if candidate.name else self._dress.token
        token = self._tokens.get(key)
        if token is None:
            _make_room(self._tokens)
            token = self._tokens[key] = _laid_token(key[0], font, box.width())
        role = Role.HINT if candidate.name else Role.TEXT
        colours, metrics = self._dress.tokens[role if candidate.allowed else Role.MUTED], self._token_metrics
        top = box.top() + (box.height() - metrics.height()) / 2
        if not candidate.allowed:  # the line goes under the text and is paler, or `-`, `;` and `↵` would drown in it
            painter.setPen(QPen(colours.mark, 1.0))
            middle = top + metrics.ascent() - metrics.xHeight() / 2
            painter.drawLine(QPointF(box.left() - 3, middle), QPointF(box.left() + token.width + 3, middle))
        painter.setFont(font)
        for at, text, is_mark in token.runs:
            painter.setPen(colours.mark if is_mark and candidate.allowed else colours.text)
            painter.drawStaticText(QPointF(box.left() + at, top), text)


def _make_room(kept: dict[Any, Any]) -> None:
    if len(kept) >= _MOST_KEPT:
        kept.clear()


def _laid(text: str, font: QFont) -> _Laid:
    laid = QStaticText(text)
    laid.setTextFormat(Qt.TextFormat.PlainText)
    laid.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    laid.prepare(font=font)
    return _Laid(laid, laid.size().width())


def _laid_token(text: str, font: QFont, width: float) -> _Token:
    metrics = QFontMetricsF(font)
    if metrics.horizontalAdvance(text) > width:
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
    at, laid = 0.0, []
    for run, is_mark in runs(text):
        laid.append((at, _laid(run, font).text, is_mark))
        at += metrics.horizontalAdvance(run)
    return _Token(tuple(laid), at)
