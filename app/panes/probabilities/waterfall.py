"""The waterfall: the tokens and the mass that each stage of the sampler removed, in order.

A bar shows what is left of the model's own mass, and its pale end what the stage removed. A stage that removes nothing
may still move probability, so that has a column of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.display_text import percent
from app.models.rows import Index, RowsModel
from app.theme.labels import Label
from app.theme.plain_text import plain_text
from app.widgets.token_paint import mix, tabular

if TYPE_CHECKING:
    from engine.decoding.values import Position, StageEffect

Role = theme.Role
_ROW = Qt.ItemDataRole.UserRole
STAGE, LEFT, REMOVED, MOVED = range(4)
_TITLES = ("Stage", "Left", "Removed", "Moved")
_TIPS = (
    "The stages of the sampler that are on, in their order",
    "How much of the model's own mass is left after the stage; the pale end is what it took",
    "How many tokens could be drawn before the stage and cannot after it, and the probability that they had before it",
    "How much probability changed hands at the stage, what it removed included",
)
_ROW_HEIGHT = 24
_BAR = 8.0
_MOST_ROWS = 8


@dataclass(frozen=True, slots=True)
class Fall:
    """One row: a stage, and the model's mass left before and after it."""

    name: str
    effect: StageEffect
    before: float
    after: float


def falls_of(position: Position) -> tuple[Fall, ...]:
    """Return the rows of a position's stages."""
    rows, left = [], 1.0
    for effect in position.stages:
        after = left * max(0.0, 1.0 - effect.mass)
        rows.append(Fall(effect.name, effect, left, after))
        left = after
    return tuple(rows)


class WaterfallModel(RowsModel):
    """The rows of the table."""

    titles = _TITLES
    tips = _TIPS
    numbers = frozenset((LEFT, REMOVED, MOVED))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the texts, and the row itself for the delegate that draws its bar."""
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _text(row, index.column())
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.alignment(index.column())
            case Qt.ItemDataRole.ToolTipRole:
                return plain_text(_tip(row))
        return row if role == _ROW else None


class Waterfall(QWidget):
    """The table of stages; hidden while there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = Label("Stages of the sampler")
        title.setProperty("role", "heading")
        self.model = WaterfallModel(self)
        self.table = QTableView()
        self.table.setAccessibleName("What each stage of the sampler removed")
        self.table.setModel(self.model)
        self.table.setItemDelegate(_Delegate(self.table))
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        for column in range(len(_TITLES)):
            stretch = column == LEFT
            header.setSectionResizeMode(
                column, QHeaderView.ResizeMode.Stretch if stretch else QHeaderView.ResizeMode.ResizeToContents
            )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(title)
        layout.addWidget(self.table)
        theme.themes.changed.connect(self.table.viewport().update)

    def show_position(self, position: Position | None) -> None:
        """Show the effects of the stages at a position."""
        rows = () if position is None else falls_of(position)
        self.model.show_rows(rows)
        self.setVisible(bool(rows))
        height = self.table.horizontalHeader().sizeHint().height() + _ROW_HEIGHT * min(len(rows), _MOST_ROWS) + 2
        self.table.setFixedHeight(height)


class _Delegate(QStyledItemDelegate):
    """Draws the bar of the mass that is left; the rest is text."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the size of the text."""
        text = str(index.data(Qt.ItemDataRole.DisplayRole))
        return QSize(QFontMetrics(tabular(theme.ui_font())).horizontalAdvance(text) + 2 * theme.SPACE_S, _ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a cell."""
        row = index.data(_ROW)
        assert isinstance(row, Fall)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(option.rect).adjusted(theme.SPACE_S, 0, -theme.SPACE_S, 0)
        painter.setFont(tabular(theme.ui_font()))
        text = str(index.data(Qt.ItemDataRole.DisplayRole))
        if index.column() == LEFT:
            width = painter.fontMetrics().horizontalAdvance("<0.0001%") + theme.SPACE_S
            self._bar(painter, box.adjusted(0, 0, -width, 0), row)
        painter.setPen(theme.colour(Role.TEXT))
        painter.drawText(box, index.data(Qt.ItemDataRole.TextAlignmentRole), text)
        painter.restore()

    def _bar(self, painter: QPainter, box: QRectF, row: Fall) -> None:
        """Draw the mass left solid and the removed mass outlined, so that they differ without colour."""
        top = box.center().y() - _BAR / 2
        left = box.width() * row.after
        taken = box.width() * (row.before - row.after)
        painter.fillRect(QRectF(box.left(), top, left, _BAR), theme.colour(Role.BAR_MASKED))
        if taken >= 1:
            outline = theme.colour(Role.FORBIDDEN)
            painter.setPen(QPen(outline, 1))
            painter.setBrush(mix(theme.colour(Role.PANEL), outline, 0.15))
            painter.drawRect(QRectF(box.left() + left + 0.5, top + 0.5, taken - 1, _BAR - 1))


def _text(row: Fall, column: int) -> str:
    effect = row.effect
    match column:
        case 0:
            return row.name
        case 1:
            return percent(row.after)
        case 2:
            return f"{effect.removed:,} · {percent(effect.mass)}" if effect.removed else "–"
    return percent(effect.moved)


def _tip(row: Fall) -> str:
    effect = row.effect
    removed = f"removed {effect.removed:,} tokens, which had {percent(effect.mass)} before it; {effect.left:,} are left"
    return f"{row.name}: {removed}\n{percent(effect.moved)} of the probability changed hands"
