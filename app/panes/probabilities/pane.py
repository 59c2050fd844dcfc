"""The effect of the mask and the sampler on the model's distribution.

Pairs of bars show the most important tokens; numbers above them show the mass that was removed, the mass left (Z), the
divergence of the two distributions (KL), and the entropy before and after. The waterfall below shows what each stage of
the sampler removed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.display_text import percent
from app.models.candidates import NOTHING
from app.panes.probabilities.plot import RedistributionPlot
from app.panes.probabilities.waterfall import Waterfall
from app.theme.labels import Label
from app.theme.plain_text import plain_text
from app.widgets.deferred_import import PLOTS, DeferredImport
from app.widgets.throttle import Throttle
from app.widgets.token_paint import tabular

if TYPE_CHECKING:
    from engine.decoding.values import Position

_EMPTY = "What the mask does to the model's probabilities is drawn here with the next step."
_Z_TIP = "The allowed mass: the probability that the model gave to the allowed tokens"
_PREPARING = "Preparing the drawing…"
_FAILED = "The redistribution cannot be drawn: the library pyqtgraph does not load ({}). Install Turnstile again."


class ProbabilitiesPane(QFrame):
    """Draws the redistribution of one position."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAccessibleName("Redistribution")
        self._position: Position | None = None
        self._plot: RedistributionPlot | None = None
        self._library = DeferredImport(PLOTS, self)
        self._library.ready.connect(self._draw)
        self._library.failed.connect(self._show_failure)
        self._draw_throttle = Throttle(self._draw, self)
        self.facts = _Facts()
        self.waterfall = Waterfall()
        self._empty = Label(_EMPTY)
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
        scroll.setAccessibleName("Redistribution")
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
            self._empty.setText(_EMPTY)
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
            self._draw_throttle.ask()

    def _draw(self) -> None:
        if self._position is None or not self.isVisible():
            return
        if not self._library.is_ready:
            if not self._library.has_failed:
                self._empty.setText(_PREPARING)
                self._library.begin()
            return
        if self._plot is None:
            self._plot = RedistributionPlot()
            self._column.insertWidget(0, self._plot.widget)
        self._plot.draw(self._position)
        self._pages.setCurrentIndex(1)

    def _show_failure(self, reason: str) -> None:
        self._empty.setText(_FAILED.format(reason))


class _Facts(QWidget):
    """Removed mass, Z, KL and entropy, as labelled numbers."""

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        self._values: dict[str, QLabel] = {}
        for name, tip in (
            ("Mass removed", "The probability that the model gave to tokens that the grammar does not allow"),
            ("Z", _Z_TIP),
            ("KL", "How far the masked distribution is from the model's: −ln Z, in nats"),
            ("Entropy", "How undecided the model is, before the mask and after it, in nats"),
        ):
            column = QVBoxLayout()
            row.addLayout(column)
            self._values[name] = _add_fact(column, name, tip)
        row.addStretch(1)

    def show_position(self, position: Position | None) -> None:
        """Show a position's numbers."""
        self.setVisible(position is not None)
        if position is None:
            return
        z, kl, nats = position.z, position.kl, (position.entropy, position.entropy_masked)
        before, after = (NOTHING if entropy is None else f"{entropy:.2f}" for entropy in nats)
        texts = {
            "Mass removed": NOTHING if z is None else percent(max(0.0, 1.0 - z)),
            "Z": NOTHING if z is None else percent(z),
            "KL": NOTHING if kl is None else "∞" if math.isinf(kl) else f"{kl:.3f} nats",
            "Entropy": f"{before} → {after} nats" if position.entropy is not None else NOTHING,
        }
        for name, text in texts.items():
            self._values[name].setText(text)
        self._values["Z"].setToolTip(plain_text(_Z_TIP if z is None else f"{_Z_TIP}\nExactly {z:.6g}"))

    @property
    def text(self) -> str:
        """Return all numbers with their names."""
        return " · ".join(f"{name} {value.text()}" for name, value in self._values.items())


def _add_fact(column: QVBoxLayout, name: str, tip: str) -> QLabel:
    caption, value = Label(name), Label()
    caption.setProperty("role", "muted")
    value.setFont(tabular(theme.ui_font(1.0)))
    column.setSpacing(0)
    for label in (caption, value):
        label.setToolTip(plain_text(tip))
        column.addWidget(label)
    return value
