"""Pairs of bars, before and after the mask, for the most important tokens.

The pairs look as in the candidate table: outlined before, solid after, on one scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QFrame

from app import theme
from app.display_text import candidate_text, percent
from app.models.candidates import peak_of
from app.widgets.token_paint import mix, tabular

if TYPE_CHECKING:
    from engine.decoding.values import Candidate, Position

Role = theme.Role
MOST_BARS = 10
_ROW_HEIGHT = 26
_BAR = 0.34  # of a row
_LONGEST_LABEL = 16


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
        """Draw the most probable tokens of a position."""
        self.rows = weightiest(position.candidates)
        view = self.widget
        view.clear()
        view.setBackground(theme.colour(Role.PANEL))
        peak = peak_of(self.rows) or 1.0
        rows = range(len(self.rows))
        outline = theme.colour(Role.BAR_MODEL)
        self._bars(
            [row - _BAR / 2 - 0.03 for row in rows],
            [candidate.p / peak for candidate in self.rows],
            pen=outline,
            brush=mix(theme.colour(Role.PANEL), outline, 0.18),
        )
        self._bars(
            [row + _BAR / 2 + 0.03 for row in rows],
            [candidate.p_masked / peak for candidate in self.rows],
            pen=None,
            brush=theme.colour(Role.BAR_MASKED),
        )
        for row, candidate in zip(rows, self.rows, strict=True):
            self._numbers(row, candidate, peak)
        self._scale(len(self.rows))

    def _bars(self, rows: list[float], lengths: list[float], *, pen: object, brush: object) -> None:
        bars = self._library.BarGraphItem(x0=0, y=rows, width=lengths, height=_BAR, pen=pen, brush=brush)
        self.widget.addItem(bars)

    def _numbers(self, row: int, candidate: Candidate, peak: float) -> None:
        after = percent(candidate.p_masked) if candidate.allowed else "0"
        role = Role.TEXT if candidate.allowed else Role.MUTED
        text = self._library.TextItem(f"{percent(candidate.p)} → {after}", color=theme.colour(role), anchor=(0, 0.5))
        text.setFont(tabular(theme.ui_font(-0.5)))
        text.setPos(max(candidate.p, candidate.p_masked) / peak, row)
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
        self.widget.setFixedHeight(row_count * _ROW_HEIGHT + theme.SPACE_S)


def weightiest(candidates: tuple[Candidate, ...], most: int = MOST_BARS) -> tuple[Candidate, ...]:
    """Return the candidates with the largest probability before or after the mask, the largest first."""
    ordered = sorted(candidates, key=lambda c: (-max(c.p, c.p_masked), c.rank))
    return tuple(ordered[:most])


def axis_label(candidate: Candidate) -> str:
    """Return the label of a token; a forbidden one has a cross, since an axis cannot strike text through."""
    text = candidate_text(candidate)
    cut = text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
    return cut if candidate.allowed else f"✗ {cut}"
