"""Painting the outputs of many seeds: the verdict coloured, the text in the font of grammars."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app import theme
from app.models.outcomes import OUTCOME_ROLE, OutcomeColumn, finish_text, match_text, title
from app.widgets.token_paint import draw_token, tabular, token_colours
from engine.decoding.values import Finish, SampleOutcome

Role = theme.Role
_PADDING = 8


class OutcomeDelegate(QStyledItemDelegate):
    """Paints outcomes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.refresh_fonts()

    def refresh_fonts(self) -> None:
        """Reload the theme's fonts."""
        self._text_font, self._figures = theme.mono_font(), tabular(theme.ui_font())

    @property
    def row_height(self) -> int:
        """Return the height of a row in pixels."""
        return round(QFontMetricsF(self._text_font).height()) + 9

    def width_of(self, column: OutcomeColumn) -> int:
        """Return the width that a column needs, in pixels."""
        samples = {
            OutcomeColumn.SEED: ("000000",),
            OutcomeColumn.TEXT: ("0" * 10,),
            OutcomeColumn.TOKENS: (title(column),),
            OutcomeColumn.LEAST_Z: (title(column), "<0.001%"),
            OutcomeColumn.FINISH: (title(column), finish_text(Finish.DEAD_END)),
            OutcomeColumn.MATCH: (title(column), match_text(matches=True)),
        }[column]
        metrics = QFontMetricsF(self._figures)
        return round(max(metrics.horizontalAdvance(sample) for sample in samples)) + 2 * _PADDING + 4

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the same height for all rows."""
        return QSize(self.width_of(OutcomeColumn(index.column())), self.row_height)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one cell."""
        outcome = index.data(OUTCOME_ROLE)
        if not isinstance(outcome, SampleOutcome):
            return
        painter.save()
        box = QRectF(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.colour(Role.SELECTION))
        painter.setPen(QPen(theme.colour(Role.GRID), 1))
        painter.drawLine(QLineF(box.left(), box.bottom() - 0.5, box.right(), box.bottom() - 0.5))
        inner = box.adjusted(_PADDING, 0, -_PADDING, 0)
        column = OutcomeColumn(index.column())
        text = str(index.data(Qt.ItemDataRole.DisplayRole))
        if column is OutcomeColumn.TEXT:
            painter.setFont(self._text_font)
            draw_token(painter, inner, text, token_colours())
        else:
            painter.setFont(self._figures)
            painter.setPen(theme.colour(_role(outcome, column)))
            painter.drawText(inner, Qt.AlignmentFlag(index.data(Qt.ItemDataRole.TextAlignmentRole)), text)
        painter.restore()


def _role(outcome: SampleOutcome, column: OutcomeColumn) -> Role:
    if column is OutcomeColumn.MATCH:
        return Role.ALLOWED if outcome.matches else Role.ERROR
    if column is OutcomeColumn.FINISH and outcome.finish is not Finish.STOP:
        return Role.WARNING
    return Role.MUTED
