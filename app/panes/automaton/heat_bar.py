"""The bar of the heat map: what is measured, and what its bands mean, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import set_tip
from app.graph.draw.layers import COVERED_WIDTHS, lost_pen
from app.graph.draw.shapes import pen
from app.models.heat import LOST_FROM, PRICE_FROM
from app.theme import Role
from app.theme.buttons import icon_button, tool_button
from app.theme.labels import plain_text
from engine.diagnosis.test_strings.values import CoverageMeasure

_BAND = 16  # pixels


def visit_ranges(total: int) -> list[tuple[int, str]]:
    """Return the bands of so many texts: the index of each width with the numbers of texts that have it."""
    steps, found = len(COVERED_WIDTHS), []
    for level in range(steps):
        first, last = level * total // steps + 1, (level + 1) * total // steps
        if first <= last:
            found.append((level, f"{first:,}" if first == last else f"{first:,}–{last:,}"))
    return found


def lost_ranges(measure: CoverageMeasure) -> list[tuple[int | None, str]]:
    """Return the bands of what was lost: the index of each width with the means, or the prices, that have it."""
    is_price = measure is CoverageMeasure.PRICE
    limits, short = (PRICE_FROM, _plain) if is_price else (LOST_FROM, _short)
    found: list[tuple[int | None, str]] = [(0, f"<{short(limits[0])}")]
    for level, low in enumerate(limits, 1):
        high = limits[level] if level < len(limits) else None
        text = f"≥{short(low)}" if high is None else f"{short(low).removesuffix('%')}–{short(high)}"
        found.append((level, text))
    if is_price:
        found[-1] = found[-1][0], f"{found[-1][1]} {ui_text('timeline.fragment.nats')}"
    return [*found, (None, ui_text("timeline.fragment.unknown"))]


def _plain(nats: float) -> str:
    return f"{nats:g}"


def _short(p: float) -> str:
    return f"{100 * p:g}%"


class HeatLegend(QWidget):
    """A legend of the heat map: each band, and the numbers that have it."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: Sequence[tuple[int | None, str]] = ()
        self._measure = CoverageMeasure.VISITS
        self.setFont(theme.ui_font(-1))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def show_entries(self, entries: Sequence[tuple[int | None, str]], measure: CoverageMeasure) -> None:
        """Show other bands.

        Args:
            entries: the index of the width of each, None for what is unknown, and its numbers.
            measure: what they measure.
        """
        self.entries, self._measure = entries, measure
        self.setAccessibleName(ui_text("automaton.heat.legend"))
        self.setAccessibleDescription(", ".join(text for _, text in entries))
        self.setToolTip(plain_text(f"{ui_text(f'automaton.heat.tip_{measure}')}\n{self.accessibleDescription()}"))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of all bands in a row."""
        metrics = QFontMetrics(self.font())
        width = sum(
            _BAND + theme.SPACE_XS + metrics.horizontalAdvance(text) + theme.SPACE_S for _, text in self.entries
        )
        return QSize(width, max(metrics.height(), round(COVERED_WIDTHS[-1])) + 4)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint each band before its numbers."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        x, middle, metrics = 0.0, self.height() / 2, QFontMetrics(self.font())
        for level, text in self.entries:
            width = metrics.horizontalAdvance(text)
            if x + _BAND + theme.SPACE_XS + width > self.width():
                break  # the tool tip has all of them
            line = QLineF(QPointF(x, middle), QPointF(x + _BAND, middle))
            for stroke in self._strokes(level):
                stroke.setCapStyle(Qt.PenCapStyle.FlatCap)
                painter.setPen(stroke)
                painter.drawLine(line)
            x += _BAND + theme.SPACE_XS
            painter.setPen(theme.colour(Role.MUTED))
            painter.drawText(QRectF(x, 0, width + 1, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
            x += width + theme.SPACE_S
        painter.end()

    def _strokes(self, level: int | None) -> tuple[QPen, ...]:
        """Return the pens of a band: an edge, below it its band."""
        edge = pen(Role.MUTED, 1.2)
        if self._measure is not CoverageMeasure.VISITS:
            return lost_pen(level), edge
        return pen(Role.ALLOWED, COVERED_WIDTHS[level or 0], opacity=0.35), edge


class HeatBar(QFrame):
    """The choice between visits, lost mass and price, with the legend of the chosen one.

    Attributes:
        buttons: the buttons of the measures.
        list_button: lists rules and keywords.
        legend: the legend.

    Signals:
        measure_chosen(CoverageMeasure): the user pressed another button.
    """

    measure_chosen = Signal(CoverageMeasure)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self.buttons: dict[CoverageMeasure, QToolButton] = {}
        self._group = QButtonGroup(self)
        self.legend = HeatLegend()
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_S, 2, theme.SPACE_S, 2)
        row.setSpacing(theme.SPACE_XS)
        for measure in CoverageMeasure:
            button = tool_button(ui_text(f"automaton.heat.{measure}.label"), checkable=True)
            button.setObjectName(f"heat-{measure}")
            self.buttons[measure] = button
            self._group.addButton(button)
            row.addWidget(button)
        row.addSpacing(theme.SPACE_S)
        row.addWidget(self.legend, 1)
        self.list_button = icon_button("ph.list-numbers", ui_text("automaton.heat.list.label"), "")
        set_tip(self.list_button, ui_text("automaton.heat.list.tip"), "automaton.heat_list")
        row.addWidget(self.list_button)
        self._group.buttonToggled.connect(self._on_toggled)

    def show_measure(self, measure: CoverageMeasure, total: int, *, has_lost: bool) -> None:
        """Show a measure that was chosen, with its legend.

        Args:
            measure: the measure.
            total: the number of texts.
            has_lost: whether the texts may have probabilities.
        """
        measure = measure if has_lost else CoverageMeasure.VISITS
        with QSignalBlocker(self._group):
            self.buttons[measure].setChecked(True)
        for one, button in self.buttons.items():
            is_known = has_lost or one is CoverageMeasure.VISITS
            tip = ui_text(f"automaton.heat.{one}.tip" if is_known else "automaton.heat.no_lost")
            set_tip(button, tip, "automaton.price" if one is CoverageMeasure.PRICE else "automaton.lost_mass")
        is_lost = measure is not CoverageMeasure.VISITS
        self.legend.show_entries(lost_ranges(measure) if is_lost else visit_ranges(total), measure)

    def _on_toggled(self, button: QWidget, is_on: bool) -> None:
        if is_on:
            self.measure_chosen.emit(next(measure for measure, its in self.buttons.items() if its is button))
