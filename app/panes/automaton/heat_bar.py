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
from app.models.heat import LOST_FROM
from app.theme import Role
from app.theme.buttons import icon_button, tool_button
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


def lost_ranges() -> list[tuple[int | None, str]]:
    """Return the bands of what was lost: the index of each width with the means that have it."""
    found: list[tuple[int | None, str]] = [(0, f"<{_short(LOST_FROM[0])}")]
    for level, low in enumerate(LOST_FROM, 1):
        high = LOST_FROM[level] if level < len(LOST_FROM) else None
        text = f"≥{_short(low)}" if high is None else f"{_short(low).removesuffix('%')}–{_short(high)}"
        found.append((level, text))
    return [*found, (None, ui_text("timeline.fragment.unknown"))]


def _short(p: float) -> str:
    return f"{100 * p:g}%"


class HeatLegend(QWidget):
    """A legend of the heat map: each band, and the numbers that have it."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: Sequence[tuple[int | None, str]] = ()
        self._shows_lost = False
        self.setFont(theme.ui_font(-1))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def show_entries(self, entries: Sequence[tuple[int | None, str]], *, are_lost: bool) -> None:
        """Show other bands.

        Args:
            entries: the index of the width of each, None for what is unknown, and its numbers.
            are_lost: whether they are of what was lost.
        """
        self.entries, self._shows_lost = entries, are_lost
        self.setAccessibleName(ui_text("automaton.heat.legend"))
        self.setAccessibleDescription(", ".join(text for _, text in entries))
        self.setToolTip(ui_text("automaton.heat.tip_lost" if are_lost else "automaton.heat.tip_visits"))
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
            line = QLineF(QPointF(x, middle), QPointF(x + _BAND, middle))
            for stroke in self._strokes(level):
                stroke.setCapStyle(Qt.PenCapStyle.FlatCap)
                painter.setPen(stroke)
                painter.drawLine(line)
            x += _BAND + theme.SPACE_XS
            painter.setPen(theme.colour(Role.MUTED))
            width = metrics.horizontalAdvance(text)
            painter.drawText(QRectF(x, 0, width + 1, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
            x += width + theme.SPACE_S
        painter.end()

    def _strokes(self, level: int | None) -> tuple[QPen, ...]:
        """Return the pens of a band: an edge, below it its band."""
        edge = pen(Role.MUTED, 1.2)
        if self._shows_lost:
            return lost_pen(level), edge
        return pen(Role.ALLOWED, COVERED_WIDTHS[level or 0], opacity=0.35), edge


class HeatBar(QFrame):
    """The choice between visits and lost mass, with the legend of the chosen one.

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
        with QSignalBlocker(self._group):
            self.buttons[measure if has_lost else CoverageMeasure.VISITS].setChecked(True)
        lost_button = self.buttons[CoverageMeasure.LOST]
        set_tip(self.buttons[CoverageMeasure.VISITS], ui_text("automaton.heat.visits.tip"), "automaton.lost_mass")
        tip = ui_text("automaton.heat.lost.tip" if has_lost else "automaton.heat.no_lost")
        set_tip(lost_button, tip, "automaton.lost_mass")
        are_lost = has_lost and measure is CoverageMeasure.LOST
        self.legend.show_entries(lost_ranges() if are_lost else visit_ranges(total), are_lost=are_lost)

    def _on_toggled(self, button: QWidget, is_on: bool) -> None:
        if is_on:
            self.measure_chosen.emit(next(measure for measure, its in self.buttons.items() if its is button))
