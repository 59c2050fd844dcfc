"""The effect of the mask and the sampler on the model's distribution.

Pairs of bars show the most important tokens; numbers above them show the mass that was removed, the mass left (Z), the
divergences of the two distributions (KL, Jensen-Shannon), and the entropy before and after, also as a number of
choices. A curve shows the probability by rank. The waterfall below shows what each stage of the sampler removed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetrics, QFontMetricsF, QPainter, QPen, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QHeaderView,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import UNKNOWN, candidate_text, percent, percent_between
from app.models.candidates import NOTHING, peak_of, weight
from app.models.rows import Index, RowsModel
from app.theme.labels import Label, plain_text
from app.widgets.deferred_import import PLOTS, DeferredImport
from app.widgets.throttle import Throttle
from app.widgets.token_paint import mix, tabular
from engine.decoding.stage_texts import stage_title
from engine.decoding.values import Candidate, Position, StageEffect, mask_shift

Role = theme.Role
_ROW = Qt.ItemDataRole.UserRole
STAGE, LEFT, REMOVED, MOVED = range(4)
_COLUMNS = "stage", "left", "removed", "moved"
_ROW_HEIGHT = 24
_BAR = 8.0
_MOST_ROWS = 8
MOST_BARS = 10
_PAIR_HEIGHT = 26
_PAIR_BAR = 0.34  # of a row
_LONGEST_LABEL = 16
_FACTS_PER_ROW = 3
_MOST_NATS = 100  # no vocabulary is so large
_WHOLE_CHOICES = 100  # from here on without decimals
_RANKS_AFTER = 64  # of the allowed tokens, a position has at least the best 64
_CURVE_HEIGHT, _CURVE_WIDTH = 132, 1.5
_LEAST_POWER = -8  # of ten: the lowest probability that the curve shows


class ProbabilitiesPane(QFrame):
    """Draws the redistribution of one position."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAccessibleName(ui_text("probabilities.name"))
        self._position: Position | None = None
        self._plot: RedistributionPlot | None = None
        self._library = DeferredImport(PLOTS, self)
        self._library.ready.connect(self._draw)
        self._library.failed.connect(self._show_failure)
        self._draw_throttle = Throttle(self._draw, self)
        self.facts = _Facts()
        self.waterfall = Waterfall()
        self._empty = Label(ui_text("probabilities.empty"))
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._content = QWidget()
        self._column = QVBoxLayout(self._content)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.SPACE_M)
        self._column.addWidget(self.waterfall)
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setAccessibleName(ui_text("probabilities.name"))
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._content)
        for background in (scroll.viewport(), self._content):
            background.setAutoFillBackground(False)
        self._pages.addWidget(scroll)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.facts)
        layout.addWidget(self._pages, 1)
        theme.themes.changed.connect(self._draw_soon)
        self.show_position(None)

    def show_position(self, position: Position | None) -> None:
        """Draw a position; None, or one without candidates, clears the pane."""
        self._position = position if position is not None and position.candidates else None
        self.facts.show_position(self._position)
        self.waterfall.show_position(self._position)
        if self._position is None:
            self._empty.setText(ui_text("probabilities.empty"))
            self._pages.setCurrentIndex(0)
        self._draw_soon()

    @property
    def plot(self) -> RedistributionPlot | None:
        """Return the plot, once there was something to draw."""
        return self._plot

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what arrived while the pane was hidden."""
        super().showEvent(event)
        self._draw_soon()

    def changeEvent(self, event: QEvent) -> None:
        """Draw again in another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._draw_soon()

    def _draw_soon(self) -> None:
        if self.isVisible() and self._position is not None:
            self._draw_throttle.request()

    def _draw(self) -> None:
        if self._position is None or not self.isVisible():
            return
        if not self._library.is_ready:
            if not self._library.has_failed:
                self._empty.setText(ui_text("common.drawing.preparing"))
                self._library.begin()
            return
        if self._plot is None:
            self._plot = RedistributionPlot()
            self._column.insertWidget(0, self._plot.widget)
            self._column.insertWidget(1, self._plot.curve)
        self._plot.draw(self._position)
        self._pages.setCurrentIndex(1)

    def _show_failure(self, reason: str) -> None:
        self._empty.setText(ui_text("common.drawing.failed", reason=reason))


class _Facts(QWidget):
    """Removed mass, Z, divergences and entropies, as labelled numbers."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.SPACE_L)
        grid.setVerticalSpacing(theme.SPACE_XS)
        self._names: dict[str, str] = {}
        self._values: dict[str, QLabel] = {}
        named = (
            ("removed", ui_text("probabilities.facts.removed"), ui_text("probabilities.facts.removed_tip")),
            ("z", ui_text("common.measure.z.name"), ui_text("common.measure.z.tip")),
            ("kl", ui_text("probabilities.facts.kl"), ui_text("probabilities.facts.kl_tip")),
            ("shift", ui_text("probabilities.facts.shift"), ui_text("probabilities.facts.shift_tip")),
            ("entropy", ui_text("common.measure.entropy.name"), ui_text("probabilities.facts.entropy_tip")),
            ("choices", ui_text("probabilities.facts.choices"), ui_text("probabilities.facts.choices_tip")),
        )
        for number, (fact, name, tip) in enumerate(named):
            column = QVBoxLayout()
            grid.addLayout(column, number // _FACTS_PER_ROW, number % _FACTS_PER_ROW)
            self._names[fact], self._values[fact] = name, _add_fact(column, name, tip)
        grid.setColumnStretch(_FACTS_PER_ROW, 1)

    def show_position(self, position: Position | None) -> None:
        """Show a position's numbers."""
        self.setVisible(position is not None)
        if position is None:
            return
        texts = _texts_of(position)
        for fact, value in self._values.items():
            value.setText(texts.get(fact, NOTHING))
        tip = ui_text("common.measure.z.tip")
        exact = "" if position.z is None else f"\n{ui_text('probabilities.facts.exact', value=position.z)}"
        self._values["z"].setToolTip(plain_text(tip + exact))

    @property
    def text(self) -> str:
        """Return all numbers with their names."""
        return " · ".join(f"{self._names[fact]} {value.text()}" for fact, value in self._values.items())


def _texts_of(position: Position) -> dict[str, str]:
    """Return the texts of the facts that are known, or have bounds."""
    texts = {}
    if (z := position.z_range) is not None:
        texts["z"] = percent_between(*z)
        texts["removed"] = percent_between(max(0.0, 1.0 - z.high), max(0.0, 1.0 - z.low))
        texts["shift"] = _between(mask_shift(z.high), mask_shift(z.low))
        texts["kl"] = _between(*(math.inf if mass <= 0 else -math.log(mass) + 0.0 for mass in (z.high, z.low)))
    if position.kl is not None:
        texts["kl"] = _between(position.kl, position.kl)
    if position.entropy is not None or position.unknown is not None:
        of_model = position.unknown.entropy if position.entropy is None and position.unknown is not None else None
        nats = (position.entropy,) if of_model is None else of_model
        before = "–".join(dict.fromkeys(UNKNOWN if one is None else f"{one:.2f}" for one in nats))
        masked = position.entropy_masked
        nothing = NOTHING if position.unknown is None else UNKNOWN
        after = nothing if masked is None else f"{masked:.2f}"
        texts["entropy"] = ui_text("probabilities.facts.entropy", before=before, after=after)
        choices = "–".join(dict.fromkeys(UNKNOWN if one is None else _choices(one) for one in nats))
        left = nothing if masked is None else _choices(masked)
        texts["choices"] = ui_text("probabilities.facts.change", before=choices, after=left)
    return texts


def _choices(entropy: float) -> str:
    """Return the number of equally probable tokens that have an entropy."""
    choices = math.exp(entropy) if entropy < _MOST_NATS else math.inf
    return f"{choices:.1f}" if choices < _WHOLE_CHOICES else f"{choices:,.0f}"


def _between(low: float, high: float) -> str:
    """Return a divergence, or its bounds."""
    if math.isinf(low):
        return "∞"
    most = "∞" if math.isinf(high) else ui_text("probabilities.facts.nats", value=high)
    return most if ui_text("probabilities.facts.nats", value=low) == most else f"{low:.3f}–{most}"


def _add_fact(column: QVBoxLayout, name: str, tip: str) -> QLabel:
    caption, value = Label(name), Label()
    caption.setProperty("role", "muted")
    value.setFont(tabular(theme.ui_font(1.0)))
    column.setSpacing(0)
    for label in (caption, value):
        label.setToolTip(plain_text(tip))
        column.addWidget(label)
    return value


@dataclass(frozen=True, slots=True)
class Fall:
    """One row: the title of a stage, and the model's mass left before and after it; None if unknown."""

    title: str
    effect: StageEffect
    before: float | None
    after: float | None


def falls_of(position: Position) -> tuple[Fall, ...]:
    """Return the rows of a position's stages."""
    rows: list[Fall] = []
    left: float | None = 1.0
    for effect in position.stages:
        after = None if left is None or effect.mass is None else left * max(0.0, 1.0 - effect.mass)
        rows.append(Fall(stage_title(effect.name), effect, left, after))
        left = after
    return tuple(rows)


class WaterfallModel(RowsModel):
    """The rows of the table."""

    titles = tuple(ui_text(f"probabilities.column.{name}") for name in _COLUMNS)
    tips = tuple(ui_text(f"probabilities.column_tip.{name}") for name in _COLUMNS)
    numbers = frozenset((LEFT, REMOVED, MOVED))

    def text(self, row: Fall, column: int) -> str:
        """Return the text of a cell."""
        return _text(row, column)

    def tip(self, row: Fall, _column: int) -> str:
        """Return what the stage did, in words."""
        return _tip(row)

    def look(self, row: Fall, _column: int, role: int) -> object:
        """Return the row itself for the delegate that draws its bar."""
        return row if role == _ROW else None


class Waterfall(QWidget):
    """The table of stages: the tokens and the mass that each removed, in order; hidden while there is none.

    A bar shows what is left of the model's own mass, and its pale end what the stage removed. A stage that removes
    nothing may still move probability, so that has a column of its own.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = Label(ui_text("probabilities.stages"))
        title.setProperty("role", "heading")
        self.model = WaterfallModel(self)
        self.table = QTableView()
        self.table.setAccessibleName(ui_text("probabilities.table"))
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
        for column in range(len(_COLUMNS)):
            stretch = column == LEFT
            header.setSectionResizeMode(
                column, QHeaderView.ResizeMode.Stretch if stretch else QHeaderView.ResizeMode.ResizeToContents
            )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(title)
        layout.addWidget(self.table)

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
        if row.after is None or row.before is None:
            known = box.width() if row.before is None else box.width() * row.before
            painter.fillRect(
                QRectF(box.left(), top, known, _BAR), QBrush(theme.colour(Role.BAR_MASKED), Qt.BrushStyle.Dense4Pattern)
            )
            return
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
            return row.title
        case 1:
            return percent(row.after)
        case 2:
            removed = UNKNOWN if effect.removed is None else f"{effect.removed:,}"
            return f"{removed} · {percent(effect.mass)}" if effect.removed != 0 else "–"
    return percent(effect.moved)


def _tip(row: Fall) -> str:
    effect = row.effect
    if effect.removed is None or effect.left is None:
        return ui_text("probabilities.tip.unknown", stage=row.title)
    fields = {"stage": row.title, "mass": percent(effect.mass), "left": effect.left}
    removed = ui_text("probabilities.tip.removed", count=effect.removed, **fields)
    return f"{removed}\n{ui_text('probabilities.tip.moved', mass=percent(effect.moved))}"


class RedistributionPlot:
    """The pairs of bars, one row for each token, drawn by pyqtgraph.

    The pairs look as in the candidate table: outlined before the mask, solid after it, on one scale.
    """

    def __init__(self) -> None:
        import pyqtgraph

        self._library: Any = pyqtgraph
        self.widget: Any = pyqtgraph.PlotWidget()
        self.widget.setMenuEnabled(False)
        self.widget.setMouseEnabled(x=False, y=False)
        self.widget.hideButtons()
        self.widget.setFrameShape(QFrame.Shape.NoFrame)
        self.widget.setAccessibleName(ui_text("probabilities.plot"))
        item = self.widget.getPlotItem()
        item.getViewBox().invertY(b=True)
        item.getAxis("bottom").hide()
        item.getAxis("left").setStyle(tickLength=0, tickTextOffset=theme.SPACE_S)
        self.rows: tuple[Candidate, ...] = ()
        self.curve: Any = pyqtgraph.PlotWidget()
        self.curve.setMenuEnabled(False)
        self.curve.setMouseEnabled(x=False, y=False)
        self.curve.hideButtons()
        self.curve.setFrameShape(QFrame.Shape.NoFrame)
        self.curve.setFixedHeight(_CURVE_HEIGHT)
        self.curve.setAccessibleName(ui_text("probabilities.curve"))
        self.curve.setToolTip(plain_text(ui_text("probabilities.curve_tip")))

    def draw(self, position: Position) -> None:
        """Draw the most probable tokens of a position."""
        self.rows = most_probable(position.candidates)
        view = self.widget
        view.clear()
        view.setBackground(theme.colour(Role.PANEL))
        peak = peak_of(self.rows) or 1.0
        rows = range(len(self.rows))
        outline = theme.colour(Role.BAR_MODEL)
        self._bars(
            [row - _PAIR_BAR / 2 - 0.03 for row in rows],
            [(candidate.p or 0.0) / peak for candidate in self.rows],
            pen=outline,
            brush=mix(theme.colour(Role.PANEL), outline, 0.18),
        )
        self._bars(
            [row + _PAIR_BAR / 2 + 0.03 for row in rows],
            [_least_masked(candidate) / peak for candidate in self.rows],
            pen=None,
            brush=theme.colour(Role.BAR_MASKED),
        )
        self._bars(
            [row + _PAIR_BAR / 2 + 0.03 for row in rows],
            [min(1.0, _most_masked(candidate) / peak) for candidate in self.rows],
            pen=None,
            brush=QBrush(theme.colour(Role.BAR_MASKED), Qt.BrushStyle.Dense4Pattern),
        )
        for row, candidate in zip(rows, self.rows, strict=True):
            self._numbers(row, candidate, peak)
        self._scale(len(self.rows))
        self._draw_curve(position.candidates)

    def _draw_curve(self, candidates: tuple[Candidate, ...]) -> None:
        """Draw the probabilities by rank before the mask, and those after it by their own rank, on logarithmic axes."""
        self.curve.clear()
        self.curve.setBackground(theme.colour(Role.PANEL))
        curves = [
            [max(_LEAST_POWER, math.log10(p)) for p in probabilities] for probabilities in rank_curves(candidates)
        ]
        lowest = math.floor(min((power for curve in curves for power in curve), default=-1.0))
        furthest = max(1.0, math.log10(max(map(len, curves)) or 1))
        for name, ticks in (
            ("bottom", [(power, f"{10**power:,}") for power in range(math.ceil(furthest) + 1)]),
            ("left", [(power, percent(10.0**power)) for power in range(min(lowest, -1), 1)]),
        ):
            axis = self.curve.getPlotItem().getAxis(name)
            axis.setTicks([ticks])
            axis.setTickFont(tabular(theme.ui_font(-0.5)))
            axis.setPen(theme.colour(Role.BORDER))
            axis.setTextPen(theme.colour(Role.MUTED))
        self.curve.getPlotItem().setLabel("bottom", ui_text("probabilities.rank"))
        width = max(QFontMetricsF(tabular(theme.ui_font(-0.5))).horizontalAdvance(text) for _, text in ticks)
        self.curve.getPlotItem().getAxis("left").setWidth(width + 2 * theme.SPACE_S)
        for powers, role, style in (
            (curves[0], Role.BAR_MODEL, Qt.PenStyle.DashLine),
            (curves[1], Role.BAR_MASKED, Qt.PenStyle.SolidLine),
        ):
            pen = QPen(theme.colour(role), _CURVE_WIDTH, style)
            pen.setCosmetic(True)
            self.curve.plot([math.log10(rank) for rank in range(1, len(powers) + 1)], powers, pen=pen)
        self.curve.setRange(xRange=(0, furthest), yRange=(min(lowest, -1), 0), padding=0.07)

    def _bars(self, rows: list[float], lengths: list[float], *, pen: object, brush: object) -> None:
        bars = self._library.BarGraphItem(x0=0, y=rows, width=lengths, height=_PAIR_BAR, pen=pen, brush=brush)
        self.widget.addItem(bars)

    def _numbers(self, row: int, candidate: Candidate, peak: float) -> None:
        bounds = candidate.masked_bounds
        after = percent(candidate.p_masked) if bounds is None else percent_between(*bounds)
        after = after if candidate.allowed else "0"
        role = Role.TEXT if candidate.allowed else Role.MUTED
        text = self._library.TextItem(f"{percent(candidate.p)} → {after}", color=theme.colour(role), anchor=(0, 0.5))
        text.setFont(tabular(theme.ui_font(-0.5)))
        text.setPos(min(peak, max(0.0, weight(candidate), _most_masked(candidate))) / peak, row)
        self.widget.addItem(text)

    def _scale(self, row_count: int) -> None:
        axis = self.widget.getPlotItem().getAxis("left")
        font = theme.mono_font(-0.5)
        axis.setTickFont(font)
        # By itself the axis computes its width only after painting, and drops labels that did not fit.
        labels = [axis_label(candidate) for candidate in self.rows]
        axis.setWidth(max(map(QFontMetricsF(font).horizontalAdvance, labels), default=0.0) + 2 * theme.SPACE_S)
        axis.setPen(theme.colour(Role.BORDER))
        axis.setTextPen(theme.colour(Role.TEXT))
        axis.setTicks([list(enumerate(labels))])
        # The longest bar leaves a third of the width for the numbers at its end.
        self.widget.setRange(xRange=(0, 1.5), yRange=(-0.6, row_count - 0.4), padding=0)
        self.widget.setFixedHeight(row_count * _PAIR_HEIGHT + theme.SPACE_S)


def rank_curves(candidates: tuple[Candidate, ...]) -> tuple[list[float], list[float]]:
    """Return the known probabilities before and after the mask, each by its own rank, as far as no rank is missing.

    Args:
        candidates: the candidates by the model's rank.
    """
    before = [one.p for number, one in enumerate(candidates, 1) if one.rank == number and one.p]
    after = sorted((one.p_masked for one in candidates if one.allowed and one.p_masked), reverse=True)
    return before, after[:_RANKS_AFTER]


def most_probable(candidates: tuple[Candidate, ...], most: int = MOST_BARS) -> tuple[Candidate, ...]:
    """Return the candidates with the largest known probability before or after the mask, the largest first."""
    known = (candidate for candidate in candidates if candidate.p is not None)
    ordered = sorted(known, key=lambda c: (-weight(c), math.inf if c.rank is None else c.rank))
    return tuple(ordered[:most])


def _most_masked(candidate: Candidate) -> float:
    """Return what an unknown probability after the mask is at most; 0 if it is known."""
    return candidate.masked_bounds.high if candidate.masked_bounds else 0.0


def _least_masked(candidate: Candidate) -> float:
    """Return the probability after the mask, or what it is at least."""
    if candidate.p_masked is not None:
        return candidate.p_masked
    return candidate.masked_bounds.low if candidate.masked_bounds else 0.0


def axis_label(candidate: Candidate) -> str:
    """Return the label of a token; a forbidden one has a cross, since an axis cannot strike text through."""
    text = candidate_text(candidate)
    cut = text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
    return cut if candidate.allowed else f"✗ {cut}"
