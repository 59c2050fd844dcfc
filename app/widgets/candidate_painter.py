"""Painting the candidate table.

A row is painted as one thing: a forbidden one is struck through and pale in all its
columns, and the pointer lights a row, not a cell. The pair of bars reads as the
numbers at its sides do: outlined is the model's wish, solid what the mask makes of it,
both on one scale. A forbidden token has an outline and nothing in it.

The table changes wholly with every step, so its painting is most of what the window
does for one. Hence no delegate: Qt asks one for every cell, with an option made anew
each time, and that took twice what the painting did. And what is alike in all rows is
painted at once, and texts are laid out once and kept, for the same numbers and tokens
come again with the next step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QStaticText

from app import theme
from app.display_text import candidate_text, change_column, percent_column
from app.models.candidates import CandidateColumn, masked_text
from app.widgets.token_paint import TokenColours, mix, runs, tabular, token_colours
from engine.decoding.values import Candidate

Role = theme.Role
PADDING = 8
_BAR, _BAR_GAP = 5.0, 2.0
_LEAST_BAR = 0.75  # shorter ones are noise: the number says it
_FIGURES = ">99.99%"
_MOST_KEPT = 2_048  # texts that stay laid out


class CandidateRow(NamedTuple):
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

    def width_of(self, column: CandidateColumn) -> int:
        """The width that a column needs, pixels; the least one for the token."""
        sample = {
            CandidateColumn.RANK: f"{max(self.vocabulary_size, 100):,}",
            CandidateColumn.TOKEN: "0" * 9,
            CandidateColumn.ID: str(max(self.vocabulary_size, 100)),
            CandidateColumn.PROBABILITY: _FIGURES * 2 + "0" * 10,
            CandidateColumn.CHANGE: "Change",
            CandidateColumn.STATE: "State",
        }[column]
        return round(self._metrics.horizontalAdvance(sample)) + 2 * PADDING

    def paint(
        self, painter: QPainter, rows: Iterable[CandidateRow], columns: Mapping[CandidateColumn, tuple[float, float]]
    ) -> None:
        """Paint rows: of all of them first the grounds, then the bars, the figures and the tokens.

        Args:
            painter: of the viewport.
            rows: those that are seen.
            columns: the left edge and the width of every column that is seen, pixels.
        """
        rows = tuple(rows)
        if not rows:
            return
        left = min((left for left, _ in columns.values()), default=0.0)
        right = max((left + width for left, width in columns.values()), default=0.0)
        inner = {column: (at + PADDING, at + width - PADDING) for column, (at, width) in columns.items()}
        self._grounds(painter, rows, left, right)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)  # only now: whole pixels need none, and it takes long
        if CandidateColumn.PROBABILITY in inner:
            self._bars(painter, rows, *inner[CandidateColumn.PROBABILITY])
        self._figures(painter, rows, inner)
        if CandidateColumn.TOKEN in inner:
            self._tokens_of(painter, rows, *inner[CandidateColumn.TOKEN])

    def _grounds(self, painter: QPainter, rows: Sequence[CandidateRow], left: float, right: float) -> None:
        height = self.row_height
        for row in rows:
            if row.is_selected or row.is_hovered:
                ground = self._dress.selection if row.is_selected else self._dress.hover
                painter.fillRect(QRectF(left, row.top, right - left, height), ground)
        painter.setPen(self._dress.grid)
        bottoms = [row.top + height - 0.5 for row in rows]
        painter.drawLines([QLineF(left, bottom, right, bottom) for bottom in bottoms])

    def _figures(
        self, painter: QPainter, rows: Sequence[CandidateRow], columns: Mapping[CandidateColumn, tuple[float, float]]
    ) -> None:
        """Write the figures, each at the right of its box; those of one colour after one another."""
        down = (self.row_height - self._metrics.height()) / 2
        written: dict[Role, list[tuple[QPointF, QStaticText]]] = {role: [] for role in self._dress.roles}
        for column, (left, right) in columns.items():
            if column is CandidateColumn.TOKEN:
                continue
            for row in rows:
                for at, text, role in self._facts(column, row, left, right):
                    laid = self._laid.get(text) or self._lay(text)
                    written[role].append((QPointF(at - laid.width, row.top + down), laid.text))
        painter.setFont(self._dress.figures)
        draw = painter.drawStaticText
        for role, texts in written.items():
            painter.setPen(self._dress.roles[role])
            for place, static in texts:
                draw(place, static)

    def _facts(
        self, column: CandidateColumn, row: CandidateRow, left: float, right: float
    ) -> tuple[tuple[float, str, Role], ...]:
        """What stands in a column: where it ends, its text, and its colour."""
        candidate = row.candidate
        match column:
            case CandidateColumn.RANK:
                return ((right, f"{candidate.rank:,}", Role.MUTED),)
            case CandidateColumn.ID:
                return ((right, str(candidate.token_id), Role.MUTED),)
            case CandidateColumn.PROBABILITY:
                role = Role.TEXT if candidate.allowed else Role.MUTED
                before = (left + self._figure_width, percent_column(candidate.p), Role.MUTED)
                return before, (right, masked_text(candidate), role)
            case CandidateColumn.CHANGE:
                text = change_column(candidate.p, candidate.p_masked)
                return ((right, text, Role.ALLOWED if text.startswith("+") else Role.MUTED),)
            case _:
                return ((right, row.state, Role.TEXT if candidate.allowed else Role.MUTED),)

    def _lay(self, text: str) -> _Laid:
        _make_room(self._laid)
        laid = self._laid[text] = _laid(text, self._dress.figures)
        return laid

    def _bars(self, painter: QPainter, rows: Sequence[CandidateRow], left: float, right: float) -> None:
        """The axis, the model's wish as an outline, and what the mask makes of it, between the two numbers."""
        left, right = left + self._figure_width + PADDING, right - self._figure_width - PADDING / 2
        height, room = self.row_height, right - left - 1
        painter.setPen(self._dress.axis)
        painter.drawLine(QLineF(left + 0.5, rows[0].top, left + 0.5, rows[-1].top + height))  # rows have no gaps
        outlines, fillings = list[QRectF](), list[QRectF]()
        for row in rows:
            top = round(row.top + height / 2 - _BAR - _BAR_GAP / 2) + 0.5
            if length := self._length(row.candidate.p, room):
                outlines.append(QRectF(left + 1.5, top, max(length - 1, 1.0), _BAR - 1))
            if row.candidate.allowed and (length := self._length(row.candidate.p_masked, room)):
                fillings.append(QRectF(left + 1, top + _BAR + _BAR_GAP - 0.5, length, _BAR))
        if outlines:
            painter.setPen(self._dress.outline)
            painter.setBrush(self._dress.filling)
            painter.drawRects(outlines)
        for filling in fillings:
            painter.fillRect(filling, self._dress.masked)

    def _length(self, p: float, width: float) -> float:
        length = width * min(p / self.peak, 1.0) if self.peak > 0 else 0.0
        return length if length >= _LEAST_BAR else 0.0

    def _tokens_of(self, painter: QPainter, rows: Sequence[CandidateRow], left: float, right: float) -> None:
        metrics = self._token_metrics
        down = (self.row_height - metrics.height()) / 2
        strike = metrics.ascent() - metrics.xHeight() / 2
        for row in rows:
            candidate, top = row.candidate, row.top + down
            font = self._dress.name if candidate.name else self._dress.token
            token = self._token(candidate, font, right - left)
            role = Role.HINT if candidate.name else Role.TEXT
            colours = self._dress.tokens[role if candidate.allowed else Role.MUTED]
            if (
                not candidate.allowed
            ):  # the line goes under the text and is paler, or `-`, `;` and `↵` would drown in it
                painter.setPen(QPen(colours.mark, 1.0))
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
            _make_room(self._tokens)
            token = self._tokens[key] = _laid_token(key[0], font, width)
        return token


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
