"""Spellings side by side: the tokens of each, its probability, and what the model would generate after it.

Each continuation has a column, so that one can compare its probability after each spelling down the column.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import MINUS, percent
from app.models.rows import RowsModel
from app.panes.forced.wording import continuation
from app.widgets.token_paint import draw_token, tabular, token_colours
from app.workers.requests.forced import SpellingRow, SpellingsAnswer

Role = theme.Role
Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
TOKENS, MARKS, LOG_P, FIRST_NEXT = range(4)
_ROW_HEIGHT = 25
_BAR = 7.0
_CHIP_PADDING = 4.0
_CHIP_GAP = 2.0
_LEAST_NEXT = 92
_LEAST_OTHER = 0.0005


class SpellingsModel(RowsModel):
    """A model with one row for each spelling: its tokens, marks and probability, and one for each continuation."""

    rows: tuple[SpellingRow, ...]

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.show_answer(None)

    def show_answer(self, answer: SpellingsAnswer | None) -> None:
        """Replace the spellings."""
        self.answer = answer
        rows = answer.rows if answer is not None else ()
        titles = [ui_text("common.word.tokens"), "", ui_text("forced.tokenizations.column.fragment.log_p")]
        tips = [ui_text(f"forced.tokenizations.tip.{name}") for name in ("tokens", "marks", "log_p")]
        for following in answer.following if answer is not None else ():
            text = continuation(following)
            titles.append(ui_text("forced.tokenizations.column.fragment.next", text=text))
            tips.append(ui_text("forced.tokenizations.tip.next", text=text))
        if any(row.other > _LEAST_OTHER for row in rows):
            titles.append(ui_text("forced.tokenizations.column.other"))
            tips.append(ui_text("forced.tokenizations.tip.other"))
        self.titles, self.tips, self.numbers = tuple(titles), tuple(tips), frozenset(range(LOG_P, len(titles)))
        self.show_rows(rows)

    def share(self, row: SpellingRow, column: int) -> float | None:
        """Return the probability in a continuation's column."""
        index = column - FIRST_NEXT
        return row.following[index] if index < len(row.following) else row.other

    def text(self, row: SpellingRow, column: int) -> str:
        """Return the text of a cell."""
        match column:
            case 0:
                return " · ".join(row.tokens)
            case 1:
                own, likeliest = (ui_text(f"forced.tokenizations.fragment.{mark}") for mark in ("own", "likeliest"))
                return " · ".join([*[own] * row.is_own, *[likeliest] * row.is_likeliest])
            case 2:
                return f"{MINUS}∞" if math.isinf(row.log_p) else f"{row.log_p:.2f}".replace("-", MINUS)
        share = self.share(row, column)
        return "–" if share is None or math.isnan(share) else percent(share)

    def tip(self, row: SpellingRow, column: int) -> str:
        """Return the tokens and their ids, and what distinguishes the spelling."""
        ids = ", ".join(map(str, row.ids))
        lines = [" · ".join(row.tokens), ui_text("forced.tokenizations.row_tip.ids", ids=ids)]
        lines += [ui_text("forced.tokenizations.row_tip.own")] * row.is_own
        lines += [ui_text("forced.tokenizations.row_tip.likeliest")] * row.is_likeliest
        return "\n".join(lines)

    def look(self, row: SpellingRow, column: int, role: int) -> object:
        """Return the row itself under the role `ROW`."""
        return row if role == ROW else None


class SpellingsTable(QTableView):
    """The table of spellings."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spellings = SpellingsModel(self)
        self.setModel(self.spellings)
        self.setItemDelegate(_Delegate(self))
        self.setAccessibleName(ui_text("forced.tokenizations.name"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setMinimumSectionSize(40)

    def show_answer(self, answer: SpellingsAnswer | None) -> None:
        """Replace the spellings."""
        self.spellings.show_answer(answer)
        header = self.horizontalHeader()
        for column in range(self.spellings.columnCount()):
            is_next = column >= FIRST_NEXT
            mode = QHeaderView.ResizeMode.Stretch if is_next else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(column, mode)
        header.setMinimumSectionSize(_LEAST_NEXT if answer is not None and len(answer.following) < FIRST_NEXT else 64)


class _Delegate(QStyledItemDelegate):
    """Draws tokens as chips and probabilities as bars."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the size of the tokens or the text."""
        row = index.data(ROW)
        assert isinstance(row, SpellingRow)
        if index.column() == TOKENS:
            width = sum(width for _, width in _chips(row)) + _CHIP_GAP * len(row.tokens)
        else:
            text = str(index.data(Qt.ItemDataRole.DisplayRole))
            width = QFontMetricsF(tabular(theme.ui_font())).horizontalAdvance(text)
        return QSize(round(width) + 2 * theme.SPACE_S + 2, _ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a cell."""
        row, model = index.data(ROW), index.model()
        assert isinstance(row, SpellingRow)
        assert isinstance(model, SpellingsModel)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme.colour(Role.SELECTION))
        box = QRectF(option.rect).adjusted(theme.SPACE_S, 0, -theme.SPACE_S, 0)
        text = str(index.data(Qt.ItemDataRole.DisplayRole))
        if index.column() == TOKENS:
            self._tokens(painter, box, row)
        else:
            painter.setFont(tabular(theme.ui_font()))
            if index.column() >= FIRST_NEXT:
                text_width = painter.fontMetrics().horizontalAdvance(">99.9%") + theme.SPACE_S
                self._bar(painter, box.adjusted(0, 0, -text_width, 0), model.share(row, index.column()))
            painter.setPen(theme.colour(Role.MUTED if index.column() == MARKS else Role.TEXT))
            painter.drawText(box, int(model.alignment(index.column())), text)
        painter.restore()

    def _tokens(self, painter: QPainter, box: QRectF, row: SpellingRow) -> None:
        """Draw the tokens as chips; those of the tokenizer's own spelling have a border in the accent colour."""
        painter.setFont(theme.mono_font())
        painter.setClipRect(box)
        left = box.left()
        edge = theme.colour(Role.ACCENT if row.is_own else Role.BORDER)
        for token, width in _chips(row):
            chip = QRectF(left, box.top() + 3.5, width, box.height() - 7)
            painter.setPen(QPen(edge, 1))
            painter.setBrush(theme.colour(Role.RAISED))
            painter.drawRoundedRect(chip, 3, 3)
            draw_token(painter, chip.adjusted(_CHIP_PADDING, 0, -_CHIP_PADDING + 1, 0), token, token_colours())
            left += width + _CHIP_GAP

    def _bar(self, painter: QPainter, box: QRectF, share: float | None) -> None:
        if share is None or math.isnan(share):
            return
        top = box.center().y() - _BAR / 2
        painter.fillRect(QRectF(box.left(), top, box.width(), _BAR), theme.colour(Role.GRID))
        painter.fillRect(QRectF(box.left(), top, box.width() * share, _BAR), theme.colour(Role.BAR_MASKED))


def _chips(row: SpellingRow) -> list[tuple[str, float]]:
    metrics = QFontMetricsF(theme.mono_font())
    return [(token, metrics.horizontalAdvance(token) + 2 * _CHIP_PADDING) for token in row.tokens]
