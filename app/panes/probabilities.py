"""What the mask did to the model's distribution: pairs of bars for the tokens that matter most.

The pairs read as in the candidate table: outlined before, solid after, on one
scale. The numbers above them say what the bars cannot: how much mass went away,
what was left (Z), and how far the two distributions are apart (KL).

pyqtgraph takes half a second to import, so that begins when the pane is first
shown with something to draw, in a thread. It is nearly all Python code, which
yields every few milliseconds: measured, the event loop waits 60 ms at most, where
an import on the GUI's own thread held it for 460 ms.
"""

from __future__ import annotations

import importlib
import math
import threading
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.models.candidates import peak_of
from app.models.token_paint import mix, tabular
from app.models.wording import candidate_text, percent

if TYPE_CHECKING:
    from engine.decoding.values import Candidate, Position

Role = theme.Role
MOST_BARS = 20
_LOOK_EVERY_MS = 15
_ROW_HEIGHT = 26
_BAR = 0.34  # of a row
_LONGEST_LABEL = 16


class ProbabilitiesPane(QFrame):
    """Draws the redistribution of one position."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._position: Position | None = None
        self._plot: RedistributionPlot | None = None
        self._importing: threading.Thread | None = None
        self._drawing = QTimer(self, singleShot=True, interval=_LOOK_EVERY_MS)
        self._drawing.timeout.connect(self._draw)
        self.facts = _Facts()
        self._empty = QLabel("What the mask does to the model's probabilities is drawn here with the next step.")
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
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
        if self._position is None:
            self._pages.setCurrentIndex(0)
        self._draw_soon()

    @property
    def plot(self) -> RedistributionPlot | None:
        """The drawing, once there was something to draw."""
        return self._plot

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what came while the pane was hidden."""
        super().showEvent(event)
        self._draw_soon()

    def changeEvent(self, event: QEvent) -> None:
        """Draw anew in another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._draw_soon()

    def _draw_soon(self) -> None:
        if self.isVisible() and self._position is not None:
            self._drawing.start()

    def _draw(self) -> None:
        if self._position is None or not self.isVisible():
            return
        if not self._is_ready():
            self._drawing.start()
            return
        if self._plot is None:
            self._plot = RedistributionPlot()
            self._pages.addWidget(self._plot.widget)
        self._plot.draw(self._position)
        self._pages.setCurrentIndex(1)

    def _is_ready(self) -> bool:
        """Whether pyqtgraph is imported; the first call begins that."""
        if self._importing is None:
            self._importing = threading.Thread(target=importlib.import_module, args=("pyqtgraph",), name="import")
            self._importing.start()
        return not self._importing.is_alive()


class RedistributionPlot:
    """The pairs of bars, one row for each token, drawn by pyqtgraph."""

    def __init__(self) -> None:
        import pyqtgraph

        self._library: Any = pyqtgraph
        self.widget: Any = pyqtgraph.PlotWidget()
        self.widget.setMenuEnabled(False)
        self.widget.setMouseEnabled(x=False, y=False)
        self.widget.hideButtons()
        self.widget.setFrameShape(QFrame.Shape.NoFrame)
        self.widget.setAccessibleName("Probabilities before and after the mask")
        item = self.widget.getPlotItem()
        item.getViewBox().invertY(b=True)
        item.getAxis("bottom").hide()
        item.getAxis("left").setStyle(tickLength=0, tickTextOffset=theme.SPACE_S)
        self.rows: tuple[Candidate, ...] = ()

    def draw(self, position: Position) -> None:
        """Draw a position's weightiest tokens."""
        self.rows = weightiest(position.candidates)
        view = self.widget
        view.clear()
        view.setBackground(theme.colour(Role.PANEL))
        peak = peak_of(self.rows) or 1.0
        places = range(len(self.rows))
        outline = theme.colour(Role.BAR_MODEL)
        self._bars(
            [place - _BAR / 2 - 0.03 for place in places],
            [candidate.p / peak for candidate in self.rows],
            pen=outline,
            brush=mix(theme.colour(Role.PANEL), outline, 0.18),
        )
        self._bars(
            [place + _BAR / 2 + 0.03 for place in places],
            [candidate.p_masked / peak for candidate in self.rows],
            pen=None,
            brush=theme.colour(Role.BAR_MASKED),
        )
        for place, candidate in zip(places, self.rows, strict=True):
            self._numbers(place, candidate, peak)
        self._scale(len(self.rows))

    def _bars(self, places: list[float], lengths: list[float], *, pen: object, brush: object) -> None:
        bars = self._library.BarGraphItem(x0=0, y=places, width=lengths, height=_BAR, pen=pen, brush=brush)
        self.widget.addItem(bars)

    def _numbers(self, place: int, candidate: Candidate, peak: float) -> None:
        after = percent(candidate.p_masked) if candidate.allowed else "0"
        role = Role.TEXT if candidate.allowed else Role.MUTED
        text = self._library.TextItem(f"{percent(candidate.p)} → {after}", color=theme.colour(role), anchor=(0, 0.5))
        text.setFont(tabular(theme.ui_font(-0.5)))
        text.setPos(max(candidate.p, candidate.p_masked) / peak, place)
        self.widget.addItem(text)

    def _scale(self, rows: int) -> None:
        axis = self.widget.getPlotItem().getAxis("left")
        font = theme.mono_font(-0.5)
        axis.setTickFont(font)
        # Left to itself, the axis finds its width only after it painted, and drops the labels that did not fit.
        labels = [axis_label(candidate) for candidate in self.rows]
        axis.setWidth(max(map(QFontMetricsF(font).horizontalAdvance, labels), default=0.0) + 2 * theme.SPACE_S)
        axis.setPen(theme.colour(Role.BORDER))
        axis.setTextPen(theme.colour(Role.TEXT))
        axis.setTicks([list(enumerate(labels))])
        # The longest bar leaves a third of the width to the numbers at its end.
        self.widget.setRange(xRange=(0, 1.5), yRange=(-0.6, rows - 0.4), padding=0)
        self.widget.setMinimumHeight(0)
        self.widget.setMaximumHeight(rows * _ROW_HEIGHT + _ROW_HEIGHT)


class _Facts(QWidget):
    """Mass removed, Z and KL, as numbers with their names."""

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        self._values: dict[str, QLabel] = {}
        for name, tip in (
            ("Mass removed", "The probability that the model gave to tokens that the grammar does not allow"),
            ("Z", "The allowed mass: the probability that the model gave to the allowed tokens"),
            ("KL", "How far the masked distribution is from the model's: −ln Z, in nats"),
        ):
            row.addLayout(self._fact(name, tip))
        row.addStretch(1)

    def show_position(self, position: Position | None) -> None:
        """Show a position's numbers."""
        self.setVisible(position is not None)
        if position is None:
            return
        removed = max(0.0, 1.0 - position.z)
        kl = "∞" if math.isinf(position.kl) else f"{position.kl:.3f} nats"
        texts = {"Mass removed": percent(removed), "Z": f"{position.z:.4g}", "KL": kl}
        for name, text in texts.items():
            self._values[name].setText(text)
            self._values[name].setFont(tabular(theme.ui_font(1.0)))

    @property
    def text(self) -> str:
        """All numbers with their names."""
        return " · ".join(f"{name} {value.text()}" for name, value in self._values.items())

    def _fact(self, name: str, tip: str) -> QVBoxLayout:
        caption, value = QLabel(name), QLabel()
        caption.setProperty("role", "muted")
        value.setProperty("role", "heading")
        column = QVBoxLayout()
        column.setSpacing(0)
        for label in (caption, value):
            label.setToolTip(tip)
            column.addWidget(label)
        self._values[name] = value
        return column


def weightiest(candidates: tuple[Candidate, ...], most: int = MOST_BARS) -> tuple[Candidate, ...]:
    """The candidates with the largest probability before or after the mask, the largest first."""
    ordered = sorted(candidates, key=lambda c: (-max(c.p, c.p_masked), c.rank))
    return tuple(ordered[:most])


def axis_label(candidate: Candidate) -> str:
    """A token beside its bars; what is not allowed carries a cross, for an axis cannot strike through."""
    text = candidate_text(candidate)
    cut = text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
    return cut if candidate.allowed else f"✗ {cut}"
