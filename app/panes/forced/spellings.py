"""Spellings side by side: the tokens of each, its probability, and what the model would generate after it.

Each continuation has a column, so that one can compare its probability after each spelling down the column.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
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
from app.panes.forced.wording import continuation
from app.theme.labels import plain_text
from app.widgets.token_paint import draw_token, tabular, token_colours
from app.workers.requests.forced import SpellingRow, SpellingsAnswer

Role = theme.Role
Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
ROW = Qt.ItemDataRole.UserRole
TOKENS, MARKS, LOG_P, FIRST_NEXT = range(4)
_ROW_HEIGHT = 25
_BAR = 7.0
_CHIP_PADDING = 4.0
_CHIP_GAP = 2.0
_LEAST_NEXT = 92


class SpellingsModel(QAbstractTableModel):
    """A model with one row for each spelling."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.answer: SpellingsAnswer | None = None

    def show_answer(self, answer: SpellingsAnswer | None) -> None:
        """Replace the spellings."""
        self.beginResetModel()
        self.answer = answer
        self.endResetModel()

    @property
    def rows(self) -> tuple[SpellingRow, ...]:
        """Return the spellings."""
        return self.answer.rows if self.answer is not None else ()

    @property
    def has_other(self) -> bool:
        """Return whether there is a column for continuations without a column of their own."""
        return any(row.other > 0.0005 for row in self.rows)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of spellings."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns: tokens, marks, probability, and one for each continuation."""
        following = 0 if self.answer is None else len(self.answer.following) + self.has_other
        return 0 if parent.isValid() else FIRST_NEXT + following

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the titles."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _title(section) if section < FIRST_NEXT else self._next_title(section)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_text(_column_tip(section) if section < FIRST_NEXT else self._next_tip(section))
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the texts, and the row itself under the role `ROW`."""
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_text(_tip(row))
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
        return row if role == ROW else None

    def share(self, row: SpellingRow, column: int) -> float | None:
        """Return the probability in a continuation's column."""
        index = column - FIRST_NEXT
        return row.following[index] if index < len(row.following) else row.other

    def _text(self, row: SpellingRow, column: int) -> str:
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

    def _next_title(self, section: int) -> str:
        assert self.answer is not None
        index = section - FIRST_NEXT
        following = self.answer.following
        if index >= len(following):
            return ui_text("forced.tokenizations.column.other")
        return ui_text("forced.tokenizations.column.fragment.next", text=continuation(following[index]))

    def _next_tip(self, section: int) -> str:
        assert self.answer is not None
        index = section - FIRST_NEXT
        if index >= len(self.answer.following):
            return ui_text("forced.tokenizations.tip.other")
        return ui_text("forced.tokenizations.tip.next", text=continuation(self.answer.following[index]))


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
            painter.drawText(box, int(_alignment(index.column())), text)
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


def _tip(row: SpellingRow) -> str:
    lines = [" · ".join(row.tokens), ui_text("forced.tokenizations.row_tip.ids", ids=", ".join(map(str, row.ids)))]
    lines += [ui_text("forced.tokenizations.row_tip.own")] * row.is_own
    lines += [ui_text("forced.tokenizations.row_tip.likeliest")] * row.is_likeliest
    return "\n".join(lines)


def _title(column: int) -> str:
    match column:
        case 0:
            return ui_text("common.word.tokens")
        case 2:
            return ui_text("forced.tokenizations.column.fragment.log_p")
    return ""


def _column_tip(column: int) -> str:
    return ui_text(f"forced.tokenizations.tip.{('tokens', 'marks', 'log_p')[column]}")


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column in (TOKENS, MARKS) else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
