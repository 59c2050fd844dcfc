"""The table of candidates, in which a click takes a token.

A click or Enter takes an allowed token and explains a forbidden one; Shift+Enter forces a forbidden one. The other
actions are in a menu on each row. Columns that do not fit in a narrow pane are hidden, the least important first; the
tool tip of a row contains their values.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QMenu, QTableView, QWidget

from app import theme
from app.actions import keys_of
from app.models.candidates import CandidateColumn, CandidateModel
from app.widgets.candidate_painter import PADDING, CandidatePainter, CandidateRow
from engine.decoding.values import Candidate

_HIDDEN_FIRST = (CandidateColumn.CHANGE, CandidateColumn.ID, CandidateColumn.STATE)
_TOKEN_FIRST, _BARS_SHARE = 24, 0.6  # of spare width: the first pixels go to the token, then this share to the bars
_TAKE_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class CandidateView(QTableView):
    """A table of candidates.

    Signals:
        token_taken(token id): the user chose an allowed token.
        why_wanted(token id): the user asked about a token.
        pointed_at(candidate): the candidate under the pointer or selected by keys; None for none.
        force_wanted(token id): take this forbidden token regardless of the grammar.
        until_wanted(token id): run until this token is taken.
        left_upwards, left_downwards: the arrow keys moved beyond the first or the last row.
    """

    token_taken = Signal(int)
    why_wanted = Signal(int)
    pointed_at = Signal(object)
    force_wanted = Signal(int)
    until_wanted = Signal(int)
    left_upwards = Signal()
    left_downwards = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = CandidateModel(self)
        self._painter = CandidatePainter()
        self._hovered_row = -1
        self._with_state = False
        self._can_take = self._can_force = True
        self._placeholder = ""
        self._min_rows = 0
        self.setModel(self._model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # else all below is painted, too
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setHighlightSections(False)
        header.setSortIndicatorShown(False)
        self.clicked.connect(lambda index: self._decide(index.row()))
        self.selectionModel().currentRowChanged.connect(self._point)
        theme.themes.changed.connect(self._apply_theme)
        self._apply_theme()

    @property
    def candidates(self) -> CandidateModel:
        """Return the model."""
        return self._model

    def make_sortable(self) -> None:
        """Let a click on a column's title sort by it."""
        header = self.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(CandidateColumn.PROBABILITY, Qt.SortOrder.DescendingOrder)
        header.sortIndicatorChanged.connect(self._model.sort)

    def show_candidates(self, candidates: tuple[Candidate, ...], peak: float) -> None:
        """Replace the rows; with the focus here, select the first allowed one for the keyboard."""
        self._model.show_candidates(candidates, peak)
        self._painter.peak = peak
        self._hovered_row = -1
        if self.hasFocus():
            self.choose(max(self._model.first_allowed(), 0))

    def keep_rows_in_sight(self, rows: int) -> None:
        """Set a minimum height of this many rows; in a low window other widgets shrink first."""
        self._min_rows = rows
        self._apply_theme()

    def set_vocabulary_size(self, size: int) -> None:
        """Set the size of the vocabulary, which decides the width of ranks and ids."""
        if size != self._painter.vocabulary_size:
            self._painter.vocabulary_size = size
            self._arrange()

    def set_placeholder(self, placeholder: str) -> None:
        """Set the text shown while there is no row."""
        self._placeholder = placeholder
        self.viewport().update()

    def set_can_take(self, can_take: bool) -> None:
        """Set whether a click may take a token; questions are always allowed."""
        self._can_take = can_take

    def show_state_column(self, with_state: bool) -> None:
        """Set whether there is a drawn automaton whose states can be named."""
        if with_state != self._with_state:
            self._with_state = with_state
            self._arrange()

    def choose(self, row: int) -> None:
        """Select a row and scroll to it."""
        index = self._model.index(row, CandidateColumn.TOKEN)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def chosen(self) -> Candidate | None:
        """Return the selected candidate."""
        rows = self.selectionModel().selectedRows()
        return self._model.candidate(rows[0].row()) if rows else None

    def _decide(self, row: int) -> None:
        candidate = self._model.candidate(row)
        if candidate is None:
            return
        if candidate.allowed and self._can_take:
            self.token_taken.emit(candidate.token_id)
        else:
            self.why_wanted.emit(candidate.token_id)

    def menu_of(self, candidate: Candidate) -> QMenu:
        """Return the menu of a candidate."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        token_id = candidate.token_id
        take = menu.addAction(f"Take it\t{keys_of('candidates.take')}", lambda: self.token_taken.emit(token_id))
        take.setEnabled(candidate.allowed and self._can_take)
        menu.addAction(f"Why?\t{keys_of('run.why')}", lambda: self.why_wanted.emit(token_id))
        until = menu.addAction("Run until it is taken", lambda: self.until_wanted.emit(token_id))
        until.setEnabled(self._can_take)
        menu.addSeparator()
        force = menu.addAction(f"Force it\t{keys_of('candidates.force')}", lambda: self.force_wanted.emit(token_id))
        force.setEnabled(not candidate.allowed and self._can_force)
        force.setToolTip("Take it though the grammar does not allow it, which has no say from there on")
        menu.addSeparator()
        menu.addAction("Copy its text", lambda: _copy((candidate.token or b"").decode("utf-8", "replace")))
        menu.addAction("Copy its bytes", lambda: _copy((candidate.token or b"").hex(" ")))
        menu.addAction("Copy its id", lambda: _copy(str(token_id)))
        return menu

    def force_chosen(self) -> None:
        """Force the selected candidate, if the grammar does not allow it."""
        chosen = self.chosen()
        if chosen is not None and not chosen.allowed and self._can_force:
            self.force_wanted.emit(chosen.token_id)

    def set_can_force(self, can_force: bool) -> None:
        """Set whether a forbidden token may be forced."""
        self._can_force = can_force

    def _apply_theme(self) -> None:
        self._painter.refresh()
        height = self._painter.row_height
        self.verticalHeader().setMinimumSectionSize(height)
        self.verticalHeader().setDefaultSectionSize(height)
        if self._min_rows:
            self.setMinimumHeight(self.horizontalHeader().sizeHint().height() + self._min_rows * height)
        self._arrange()
        self.viewport().update()

    def _arrange(self) -> None:
        """Distribute the width: fixed columns get what they need, the token gets the rest."""
        width = {column: self._painter.width_of(column) for column in CandidateColumn}
        hidden = set() if self._with_state else {CandidateColumn.STATE}
        # The scroll bar's width stays free even without one, so that the pinned rows have the same columns.
        available = self.width() - self.verticalScrollBar().sizeHint().width()
        for column in _HIDDEN_FIRST:
            if sum(width[c] for c in CandidateColumn if c not in hidden) <= available:
                break
            hidden.add(column)
        spare = available - sum(width[c] for c in CandidateColumn if c not in hidden)
        for_bars = max(0, round((spare - _TOKEN_FIRST) * _BARS_SHARE))
        width[CandidateColumn.PROBABILITY] += for_bars
        width[CandidateColumn.TOKEN] = max(
            width[CandidateColumn.TOKEN] + spare - for_bars, width[CandidateColumn.TOKEN] // 2
        )
        for column in CandidateColumn:
            self.setColumnHidden(column, column in hidden)
            self.setColumnWidth(column, width[column])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new width."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """Distribute the width once the fonts are final."""
        super().showEvent(event)
        self._arrange()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows, or the placeholder."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme.colour(theme.Role.PANEL))
        if self._model.rowCount():
            self._painter.paint(painter, self._rows_within(event.rect()), self._visible_columns())
        elif self._placeholder:
            painter.setPen(theme.colour(theme.Role.MUTED))
            box = self.viewport().rect().adjusted(PADDING, PADDING, -PADDING, -PADDING)
            flags = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
            painter.drawText(box, int(flags), self._placeholder)

    def _rows_within(self, box: QRect) -> Iterator[CandidateRow]:
        first, last = self.rowAt(box.top()), self.rowAt(box.bottom())
        chosen = {index.row() for index in self.selectionModel().selectedRows()}
        with_state = not self.isColumnHidden(CandidateColumn.STATE)
        for row in range(max(first, 0), (last if last >= 0 else self._model.rowCount() - 1) + 1):
            if (candidate := self._model.candidate(row)) is not None:
                state = self._model.state_text(candidate) if with_state else ""
                top = self.rowViewportPosition(row)
                yield CandidateRow(candidate, top, state, row in chosen, row == self._hovered_row)

    def _visible_columns(self) -> dict[CandidateColumn, tuple[float, float]]:
        """Return the left edge and the width of every visible column."""
        return {
            column: (self.columnViewportPosition(column), self.columnWidth(column))
            for column in CandidateColumn
            if not self.isColumnHidden(column)
        }

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Enter, F1, and arrows beyond the ends of the table."""
        chosen, key = self.chosen(), event.key()
        row = self.currentIndex().row() if chosen is not None else -1
        if key in _TAKE_KEYS and event.modifiers() == Qt.KeyboardModifier.ShiftModifier:
            self.force_chosen()
        elif key in _TAKE_KEYS and event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        ):
            self._decide(row)
        elif key == Qt.Key.Key_F1:
            if chosen is not None:
                self.why_wanted.emit(chosen.token_id)
        elif key == Qt.Key.Key_Down and row < 0:  # Qt has an invisible current row from the beginning
            self.choose(0)
        elif key == Qt.Key.Key_Up and row <= 0:
            self.left_upwards.emit()
        elif key == Qt.Key.Key_Down and row == self._model.rowCount() - 1:
            self.left_downwards.emit()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the row under the pointer, or of the selected one."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        candidate = self._model.candidate(self.rowAt(event.pos().y())) if by_mouse else self.chosen()
        if candidate is not None:
            menu = self.menu_of(candidate)
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(event.globalPos())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlight the row under the pointer."""
        super().mouseMoveEvent(event)
        self._hover(self.rowAt(round(event.position().y())))

    def leaveEvent(self, event: QEvent) -> None:
        """Highlight no row."""
        super().leaveEvent(event)
        self._hover(-1)

    def _point(self, chosen: QModelIndex) -> None:
        if self.hasFocus():
            self.pointed_at.emit(self._model.candidate(chosen.row()))

    def _hover(self, row: int) -> None:
        if row != self._hovered_row:
            self._hovered_row = row
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if row >= 0 else Qt.CursorShape.ArrowCursor)
            self.viewport().update()
            self.pointed_at.emit(self._model.candidate(row) if row >= 0 else None)


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
