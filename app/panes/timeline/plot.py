"""The strips of a timeline, drawn by pyqtgraph.

Strips are compared with each other, so they share their steps; each has its own scale, whose end is shown at its side.
Rejected: one plot with four axes, which is unreadable; and curves only, since a single step is then a point that cannot
be clicked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtWidgets import QFrame, QToolTip

from app import theme
from app.panes.timeline.rows import ROWS, UNKNOWN, TimelineRow, short, values_of
from app.theme.plain_text import plain_text
from app.widgets.token_paint import mix
from engine.decoding.values import Step

Role = theme.Role
_BARS_UP_TO = 400  # steps; more are narrower than a pixel, and drawn as a curve
_SIDE = 128  # pixels at the left, for names and scales
_MIN_STRIP_HEIGHT = 22  # pixels: without space for four such strips, the last ones are hidden
_PALE = 0.35
_MIN_BAR_HEIGHT = 0.03  # of a strip's height: the minimum height of a known value
_NO_MAXIMUM = 16_777_215  # Qt's QWIDGETSIZE_MAX, which PySide does not export


class Clicks(QObject):
    """The step under the pointer, and the clicked one.

    Signals:
        stepped(index): a step was clicked.
    """

    stepped = Signal(int)

    def __init__(self, index_at: Callable[[QPointF], int], parent: QObject) -> None:
        super().__init__(parent)
        self._index_at = index_at
        self.tip_of: Callable[[int], str] = lambda _index: ""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle clicks and mouse moves before the plot does."""
        if not isinstance(event, QMouseEvent):
            return False
        if event.type() == QEvent.Type.MouseButtonRelease and event.button() is Qt.MouseButton.LeftButton:
            self.stepped.emit(self._index_at(event.position()))
            return True
        if event.type() == QEvent.Type.MouseMove:
            tip = self.tip_of(self._index_at(event.position()))
            QToolTip.showText(event.globalPosition().toPoint(), plain_text(tip))
        return False


class TimelinePlot:
    """The strips, drawn by pyqtgraph."""

    def __init__(self) -> None:
        import pyqtgraph

        self._library: Any = pyqtgraph
        self.widget: Any = pyqtgraph.GraphicsLayoutWidget()
        self.widget.setFrameShape(QFrame.Shape.NoFrame)
        self.widget.setAccessibleName("Timeline of the steps")
        self.widget.ci.setContentsMargins(0, 0, theme.SPACE_S, 0)
        self.widget.ci.setSpacing(2)
        self.tops: tuple[float, ...] = ()
        self.shown = len(ROWS)
        self._side_styles: dict[int, tuple[str, str, int]] = {}  # how the side of each strip is drawn
        self._items: list[Any] = []
        for number, row in enumerate(ROWS):
            item = self.widget.addPlot(row=number, col=0)
            item.setMenuEnabled(False)
            item.hideButtons()
            item.setMouseEnabled(x=False, y=False)
            item.hideAxis("bottom")
            axis = item.getAxis("left")
            axis.setWidth(_SIDE)
            axis.setStyle(tickLength=0, tickTextOffset=theme.SPACE_XS)
            item.setToolTip(plain_text(row.tip))
            self._items.append(item)
        self.clicks = Clicks(self.index_at, self.widget)
        self.widget.viewport().installEventFilter(self.clicks)
        self.widget.viewport().setMouseTracking(True)

    def index_at(self, position: QPointF) -> int:
        """Return the step at a position of the widget; -1 if there is none."""
        view = self._items[0].getViewBox()
        x = view.mapSceneToView(self.widget.mapToScene(position.toPoint())).x()
        left = view.mapViewToScene(QPointF(-0.5, 0)).x()
        return -1 if self.widget.mapToScene(position.toPoint()).x() < left else math.floor(x + 0.5)

    def fit(self, height: int) -> None:
        """Show as many strips as fit."""
        self.shown = max(1, min(len(ROWS), height // _MIN_STRIP_HEIGHT))
        for number, item in enumerate(self._items):
            item.setVisible(number < self.shown)
            self.widget.ci.layout.setRowMaximumHeight(number, _NO_MAXIMUM if number < self.shown else 0)

    def draw(self, steps: tuple[Step, ...], current: int | None, worst: int | None, illegal: frozenset[int]) -> None:
        """Draw steps.

        Args:
            steps: the steps of the shown path.
            current: the index of the step that was taken last; None before the first.
            worst: the index of the worst step, if any.
            illegal: the indices of the illegal steps.
        """
        self.widget.setBackground(theme.colour(Role.PANEL))
        last = -1 if current is None else current
        tops = []
        for number, (row, item) in enumerate(zip(ROWS[: self.shown], self._items, strict=False)):
            item.clear()
            values = values_of(row, steps, illegal)
            known = [value for value in values if value is not None]
            top = row.height(max(row.least_top, *known, 0.0))
            tops.append(top)
            heights = [None if value is None else row.height(value) / top for value in values]
            self._mark_current(item, last)
            self._draw_values(item, row, heights, last)
            self._show_scale(number, item, row, top if known else None, len(steps))
        self._mark(steps, worst, illegal)
        self.tops = tuple(tops)

    def _draw_values(self, item: Any, row: TimelineRow, heights: list[float | None], last: int) -> None:
        """Draw the known values; an unknown one leaves a gap, and the smallest one stays visible."""
        colour = theme.colour(row.role)
        pale = mix(theme.colour(Role.PANEL), colour, _PALE)
        taken, ahead = range(last + 1), range(last + 1, len(heights))
        for indices, shade in ((taken, colour), (ahead, pale)):
            known = [
                (index, max(height, _MIN_BAR_HEIGHT)) for index in indices if (height := heights[index]) is not None
            ]
            if not known:
                continue
            if len(heights) > _BARS_UP_TO:
                drawn = heights[indices[0] : indices[-1] + 1]
                values = [0.0 if height is None else max(height, _MIN_BAR_HEIGHT) for height in drawn]
                x = [index - 0.5 for index in indices] + [indices[-1] + 0.5]
                curve = self._library.PlotCurveItem(
                    x, values, stepMode="center", fillLevel=0, brush=shade, pen=None, skipFiniteCheck=True
                )
                item.addItem(curve)
            else:
                item.addItem(self._bars([index for index, _ in known], [height for _, height in known], shade))

    def _bars(self, indices: list[int], heights: list[float], colour: QColor) -> Any:
        return self._library.BarGraphItem(x=indices, y0=0, height=heights, width=0.8, pen=None, brush=colour)

    def _mark_current(self, item: Any, last: int) -> None:
        if last >= 0:
            line = theme.colour(Role.SELECTION)
            item.addItem(self._library.BarGraphItem(x=[last], y0=0, height=[1.3], width=1.0, pen=None, brush=line))

    def _mark(self, steps: tuple[Step, ...], worst: int | None, illegal: frozenset[int]) -> None:
        """Draw the marks above the first strip: forced, illegal, and the worst one."""
        forced = [index for index, step in enumerate(steps) if step.forced and index not in {*illegal, worst}]
        for indices, symbol, role in (
            (forced, "t1", Role.FORCED),
            (sorted(illegal), "x", Role.ERROR),
            ([] if worst is None else [worst], "t", Role.WARNING),
        ):
            if indices:
                colour = theme.colour(role)
                points = self._library.ScatterPlotItem(
                    x=indices, y=[1.17] * len(indices), symbol=symbol, size=8, pen=None, brush=colour
                )
                self._items[0].addItem(points)

    def _show_scale(self, number: int, item: Any, row: TimelineRow, top: float | None, steps: int) -> None:
        """Draw the scale if it changed: redrawing a side costs as much as its bars.

        Args:
            number: the number of the strip.
            item: its plot.
            row: what it shows.
            top: the end of its scale; None if no value is known.
            steps: the number of steps.
        """
        scale = UNKNOWN if top is None else short(row, 10**top - 1 if row.is_logarithmic else top)
        # A few steps must not fill the whole width, or their bars would be too wide.
        style = theme.current().name, f"{row.name}   {scale}", max(steps, 24)
        if self._side_styles.get(number) == style:
            return
        self._side_styles[number] = style
        axis = item.getAxis("left")
        axis.setTickFont(theme.ui_font(-1.5))
        axis.setPen(theme.colour(Role.BORDER))
        axis.setTextPen(theme.colour(Role.MUTED))
        axis.setTicks([[(0.5, style[1])]])
        item.getViewBox().setRange(xRange=(-0.5, style[2] - 0.5), yRange=(0, 1.3 if number == 0 else 1.05), padding=0)
