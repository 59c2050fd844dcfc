"""Painting the candidate table.

Every cell is painted here, so that a row is one thing: a forbidden one is struck
through and pale in all its columns, and the pointer lights a row, not a cell.

The pair of bars reads as the numbers at its sides do: outlined is the model's
wish, solid what the mask makes of it, both on one scale. A forbidden token has
an outline and nothing in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app import theme
from app.models.candidates import CANDIDATE_ROLE, Column, masked_text
from app.models.token_paint import draw_token, mix, tabular, token_colours
from app.models.wording import candidate_text, change_column, percent_column
from engine.decoding.values import Candidate

Role = theme.Role
PADDING = 8
_BAR, _BAR_GAP = 5.0, 2.0
_LEAST_BAR = 0.75  # shorter ones are noise: the number says it
_FIGURES = "100.00%"


@dataclass(frozen=True, slots=True)
class _Fonts:
    token: QFont
    figures: QFont


class CandidateDelegate(QStyledItemDelegate):
    """Paints candidates. The view tells which row is under the pointer."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hovered_row = -1
        self.peak = 1.0
        self.vocabulary_size = 0
        self.refresh_fonts()

    def refresh_fonts(self) -> None:
        """Take the theme's fonts, and its lines, anew."""
        self._fonts = _Fonts(theme.mono_font(), tabular(theme.ui_font()))
        self._figure_width = QFontMetricsF(self._fonts.figures).horizontalAdvance(_FIGURES)
        self._grid = QPen(theme.colour(Role.GRID), 1)

    @property
    def row_height(self) -> int:
        """The height of a row, pixels."""
        return round(QFontMetricsF(self._fonts.token).height()) + 9

    def width_of(self, column: Column) -> int:
        """The width that a column needs, pixels; the least one for the token."""
        metrics = QFontMetricsF(self._fonts.figures)
        sample = {
            Column.RANK: f"{max(self.vocabulary_size, 100):,}",
            Column.TOKEN: "0" * 9,
            Column.ID: str(max(self.vocabulary_size, 100)),
            Column.PROBABILITY: _FIGURES * 2 + "0" * 10,
            Column.CHANGE: "Change",
            Column.STATE: "State",
        }[column]
        return round(metrics.horizontalAdvance(sample)) + 2 * PADDING

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """One height for all rows."""
        return QSize(self.width_of(Column(index.column())), self.row_height)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one cell."""
        candidate = index.data(CANDIDATE_ROLE)
        if not isinstance(candidate, Candidate):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(option.rect)
        self._ground(painter, box, option, index.row())
        inner = box.adjusted(PADDING, 0, -PADDING, 0)
        column = Column(index.column())
        if column is Column.TOKEN:
            self._token(painter, inner, candidate)
        elif column is Column.PROBABILITY:
            self._pair(painter, inner, candidate)
        else:
            text = str(index.data(Qt.ItemDataRole.DisplayRole))
            self._figure(painter, inner, text, _figure_role(candidate, column))
        painter.restore()

    def _ground(self, painter: QPainter, box: QRectF, option: QStyleOptionViewItem, row: int) -> None:
        if QStyle.StateFlag.State_Selected in option.state:
            painter.fillRect(box, theme.colour(Role.SELECTION))
        elif row == self.hovered_row:
            painter.fillRect(box, theme.colour(Role.HOVER))
        painter.setPen(self._grid)
        bottom = box.bottom() - 0.5
        painter.drawLine(QLineF(box.left(), bottom, box.right(), bottom))

    def _token(self, painter: QPainter, box: QRectF, candidate: Candidate) -> None:
        font = QFont(self._fonts.token)
        role = Role.TEXT if candidate.allowed else Role.MUTED
        if candidate.name:
            font.setItalic(True)  # a name, not text that the output would hold
            role = Role.HINT if candidate.allowed else Role.MUTED
        painter.setFont(font)
        draw_token(painter, box, candidate_text(candidate), token_colours(role), struck=not candidate.allowed)

    def _figure(self, painter: QPainter, box: QRectF, text: str, role: Role) -> None:
        painter.setFont(self._fonts.figures)
        painter.setPen(theme.colour(role))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _pair(self, painter: QPainter, box: QRectF, candidate: Candidate) -> None:
        width = self._figure_width
        before = QRectF(box.left(), box.top(), width, box.height())
        after = QRectF(box.right() - width, box.top(), width, box.height())
        self._figure(painter, before, percent_column(candidate.p), Role.MUTED)
        role = Role.TEXT if candidate.allowed else Role.MUTED
        self._figure(painter, after, masked_text(candidate), role)
        self._bars(painter, box.adjusted(width + PADDING, 0, -width - PADDING / 2, 0), candidate)

    def _bars(self, painter: QPainter, box: QRectF, candidate: Candidate) -> None:
        top = round(box.center().y() - _BAR - _BAR_GAP / 2) + 0.5
        painter.setPen(QPen(theme.colour(Role.BORDER), 1))
        painter.drawLine(QLineF(box.left() + 0.5, box.top(), box.left() + 0.5, box.bottom()))
        box.setLeft(box.left() + 1)
        length = self._length(candidate.p, box.width())
        outline = theme.colour(Role.BAR_MODEL)
        if length:
            painter.setPen(QPen(outline, 1))
            painter.setBrush(mix(theme.colour(Role.PANEL), outline, 0.18))
            painter.drawRect(QRectF(box.left() + 0.5, top, max(length - 1, 1.0), _BAR - 1))
        length = self._length(candidate.p_masked, box.width())
        if length and candidate.allowed:
            painter.fillRect(
                QRectF(box.left(), top + _BAR + _BAR_GAP - 0.5, length, _BAR), theme.colour(Role.BAR_MASKED)
            )

    def _length(self, p: float, width: float) -> float:
        length = width * min(p / self.peak, 1.0) if self.peak > 0 else 0.0
        return length if length >= _LEAST_BAR else 0.0


def _figure_role(candidate: Candidate, column: Column) -> Role:
    if column is Column.CHANGE and change_column(candidate.p, candidate.p_masked).startswith("+"):
        return Role.ALLOWED
    if column is Column.STATE and candidate.allowed:
        return Role.TEXT
    return Role.MUTED
