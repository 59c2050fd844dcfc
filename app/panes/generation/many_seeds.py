"""Outputs of many seeds: how many finish, how many match, and their texts."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetricsF, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QProgressBar,
    QSpinBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import MINUS, percent
from app.models.outcomes import OUTCOME_ROLE, OutcomeColumn, OutcomeModel, finish_text, match_text, summary, title
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from app.widgets.token_paint import draw_token, tabular, token_colours
from app.workers.requests.decode import ManyAnswer
from engine.decoding.comparison import ComparedMeasure, compare_outcomes
from engine.decoding.values import Finish, SampleOutcome

Role = theme.Role
_SORT_SIGN = 16  # pixels beside a title
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
            OutcomeColumn.LEAST_Z: (
                title(column),
                ui_text("models.outcomes.fragment.least_z", mass="<0.01%", step=1000),
            ),
            OutcomeColumn.FINISH: (title(column), finish_text(Finish.DEAD_END)),
            OutcomeColumn.MATCH: (title(column), match_text(matches=True)),
        }[column]
        metrics = QFontMetricsF(self._figures)
        return round(max(metrics.horizontalAdvance(sample) for sample in samples)) + 2 * _PADDING + _SORT_SIGN

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


_DEFAULT_COUNT = 100
_MOST = 10_000


class ManySeedsPage(QWidget):
    """Requests many outputs and shows them as they arrive.

    Signals:
        wanted(count): generate this many outputs.
        cancelled: stop, and keep the outputs so far.
        opened(SampleOutcome): generate this output again, as the trace of the session.
        heat_wanted(): show where the outputs lost mass.
    """

    wanted = Signal(int)
    cancelled = Signal()
    opened = Signal(SampleOutcome)
    heat_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = OutcomeModel(self)
        self._refusal = ""
        self._is_busy = False
        self._settings: tuple[object, ...] = ()  # in force now
        self._sampled_with: tuple[object, ...] = ()  # when the shown outputs were generated
        self.count = QSpinBox(minimum=1, maximum=_MOST, value=_DEFAULT_COUNT)
        self.count.setMinimumWidth(self.fontMetrics().horizontalAdvance("0" * 10))
        self.count.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.count.setAccessibleName(ui_text("generation.many.count"))
        self.sample = push_button(ui_text("generation.many.sample", total=_DEFAULT_COUNT), clicked=self._start)
        self.cancel = push_button(
            ui_text("common.button.cancel"), ui_text("generation.pane.cancel_tip"), clicked=self._cancel
        )
        self.cancel.hide()
        self.open_button = push_button(ui_text("common.button.open"), clicked=self._open)
        self.heat_button = push_button(
            ui_text("commands.automaton.lost_mass.title"),
            ui_text("generation.many.heat_tip"),
            clicked=self.heat_wanted.emit,
        )
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedHeight(6)
        self.bar.hide()
        self.summary = Label(ui_text("generation.many.empty"))
        self.summary.setProperty("role", "muted")
        self.summary.setWordWrap(True)
        self.comparison = Label(wraps=True)
        self.comparison.setObjectName("many-comparison")
        self.comparison.setFont(tabular(theme.ui_font()))
        self.comparison.hide()
        self._kept: tuple[SampleOutcome, ...] = ()
        self.table = _OutcomeView()
        self.table.setModel(self._model)
        self.table.arrange()
        self._build()
        self.count.valueChanged.connect(
            lambda total: self.sample.setText(ui_text("generation.many.sample", total=total))
        )
        for chosen in (self.table.doubleClicked, self.table.return_pressed):
            chosen.connect(self._open)
        self.table.menu_wanted.connect(self._show_menu)
        self.table.selectionModel().selectionChanged.connect(self._refresh_open)
        self._model.modelReset.connect(self._refresh_open)
        self._refresh_open()

    @property
    def model(self) -> OutcomeModel:
        """Return the model of the shown outcomes."""
        return self._model

    def show_answer(self, answer: ManyAnswer) -> None:
        """Show the outcomes so far."""
        self._model.show_outcomes(answer.outcomes)
        self.bar.setRange(0, max(answer.total, 1))
        self.bar.setValue(len(answer.outcomes))
        text = summary(answer.outcomes)
        if not answer.done:
            text = ui_text("generation.many.progress", summary=text, total=answer.total)
        self.summary.setFont(tabular(theme.ui_font()))
        self.summary.setText(text)
        self._refresh_open()
        if answer.done:
            self._set_busy(is_busy=False)
            self._compare()

    def set_refusal(self, reason: str) -> None:
        """Set why nothing can be generated; empty if something can."""
        self._refusal = reason
        self.sample.setEnabled(not reason)
        self.sample.setToolTip(plain_text(reason or ui_text("generation.many.sample_tip")))
        self._refresh_open()

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_S, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        layout.addLayout(row)
        row.addWidget(self.count)
        row.addWidget(self.sample)
        row.addWidget(self.open_button)
        row.addWidget(self.heat_button)
        row.addWidget(self.bar, 1)
        row.addStretch(0)
        row.addWidget(self.cancel)
        row.addStretch(0)
        layout.addWidget(self.summary)
        layout.addWidget(self.comparison)
        layout.addWidget(self.table, 1)

    def show_settings(self, settings: tuple[object, ...]) -> None:
        """Set what determines an output besides the seed; with other settings, shown outputs cannot be opened."""
        if settings != self._settings:
            self._settings = settings
            self._refresh_open()

    def _open(self) -> None:
        if not self._reason_against_opening():
            self.opened.emit(self._model.outcome(self.table.currentIndex().row()))

    def _show_menu(self, position: QPoint) -> None:
        menu = QMenu(self, toolTipsVisible=True)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        opening = menu.addAction(ui_text("generation.many.open"), self._open)
        opening.setEnabled(self.open_button.isEnabled())
        opening.setToolTip(self.open_button.toolTip())
        menu.addAction(ui_text("common.button.copy"), self.table.copy_selected)
        menu.addSeparator()
        keeping = menu.addAction(ui_text("generation.many.keep"), self._keep)
        keeping.setEnabled(not self._is_busy)
        keeping.setToolTip(plain_text(ui_text("generation.many.keep_tip")))
        menu.popup(position)

    def _keep(self) -> None:
        """Compare later outputs, of other settings, with those that are shown."""
        self._kept = self._model.outcomes
        self._compare()

    def _compare(self) -> None:
        """Compare the outputs with those that were kept, if these are others."""
        kept, outcomes = self._kept, self._model.outcomes
        self.comparison.setVisible(bool(kept))
        if not kept:
            return
        if outcomes == kept or not outcomes:
            self.comparison.setText(ui_text("generation.many.kept", count=len(kept)))
            return
        self.comparison.setText("\n".join(map(_compared_text, compare_outcomes(kept, outcomes))))

    def _reason_against_opening(self) -> str:
        if self._refusal:
            return self._refusal
        if self._is_busy:
            return ui_text("generation.many.busy")
        if self._settings != self._sampled_with:
            return ui_text("generation.many.changed")
        if not self.table.selectionModel().hasSelection():
            return ui_text("generation.many.select")
        return ""

    def _refresh_open(self) -> None:
        reason = self._reason_against_opening()
        for button in (self.open_button, self.heat_button):
            button.setVisible(bool(self._model.outcomes))
        self.open_button.setEnabled(not reason)
        self.open_button.setToolTip(plain_text(reason or ui_text("generation.many.open_tip")))

    def _start(self) -> None:
        self._sampled_with = self._settings
        self._model.show_outcomes(())
        self.bar.setRange(0, 0)
        self.summary.setText(ui_text("generation.many.generating"))
        self._set_busy(is_busy=True)
        self.wanted.emit(self.count.value())

    def stop(self, why: str) -> None:
        """Report that no more outputs will come, and keep those so far: the job was cancelled, refused or lost."""
        if not self._is_busy:
            return
        self._set_busy(is_busy=False)
        outcomes = self._model.outcomes
        stopped = ui_text("generation.many.stopped", reason=why, summary=summary(outcomes))
        self.summary.setText(stopped if outcomes else why)

    def _cancel(self) -> None:
        self.stop(ui_text("session.lost.cancelled"))
        self.cancelled.emit()

    def _set_busy(self, *, is_busy: bool) -> None:
        self._is_busy = is_busy
        self.bar.setVisible(is_busy)
        self.cancel.setVisible(is_busy)
        self.sample.setVisible(not is_busy)
        self.count.setEnabled(not is_busy)
        self._refresh_open()


def _compared_text(one: ComparedMeasure) -> str:
    """Return a measure of two settings in a line, and whether they differ."""
    show = percent if one.is_share else _mean
    fields = {"first": show(one.first), "second": show(one.second)}
    name = ui_text(f"generation.many.measure.{one.name}")
    if one.difference is None:
        return ui_text("generation.many.too_few", name=name, **fields)
    factor, unit = (100, " pp") if one.is_share else (1, "")
    low, high = (f"{factor * bound:+.3g}{unit}".replace("-", MINUS) for bound in one.difference)
    verdict = ui_text(f"generation.many.verdict.fragment.{'differs' if one.differs else 'unknown'}")
    return ui_text("generation.many.compared", name=name, low=low, high=high, verdict=verdict, **fields)


def _mean(value: float) -> str:
    return f"{value:.3g}"


class _OutcomeView(QTableView):
    """A table whose text column takes the remaining width.

    Signals:
        return_pressed(): Return or Enter.
        menu_wanted(position): show the commands of the current row at a position of the screen.
    """

    return_pressed = Signal()
    menu_wanted = Signal(QPoint)

    def __init__(self) -> None:
        super().__init__()
        self._delegate = OutcomeDelegate(self)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(ui_text("generation.many.table"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSortingEnabled(True)
        self.horizontalHeader().setSortIndicator(OutcomeColumn.SEED, Qt.SortOrder.AscendingOrder)
        theme.themes.changed.connect(self.arrange)

    def arrange(self) -> None:
        """Distribute the width."""
        self._delegate.refresh_fonts()
        self.verticalHeader().setMinimumSectionSize(self._delegate.row_height)
        self.verticalHeader().setDefaultSectionSize(self._delegate.row_height)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(24)
        for column in OutcomeColumn:
            is_text = column is OutcomeColumn.TEXT
            mode = QHeaderView.ResizeMode.Stretch if is_text else QHeaderView.ResizeMode.Fixed
            header.setSectionResizeMode(column, mode)
            if not is_text:
                self.setColumnWidth(column, self._delegate.width_of(column))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the selected outputs; report Return."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.return_pressed.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selected()
        else:
            super().keyPressEvent(event)

    def copy_selected(self) -> None:
        """Copy the selected outputs."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        outcomes = (self.model().index(row, 0).data(OUTCOME_ROLE) for row in rows)
        texts = [outcome.text for outcome in outcomes if isinstance(outcome, SampleOutcome)]
        QGuiApplication.clipboard().setText("\n".join(texts))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the commands of a row."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.currentIndex()
        if index.isValid():
            below = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
            self.menu_wanted.emit(event.globalPos() if by_mouse else below)
