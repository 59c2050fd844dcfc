"""The measurements of engines beside one another, as bars."""

from __future__ import annotations

from dataclasses import astuple
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.catalogue import ui_text
from app.theme.labels import plain_text
from app.workers.requests.engines import EngineFigures

MEASURES: Final = ("compile", "first_mask", "token", "memory", "size")
_WIDTH: Final = 300
_BAR: Final = 6.0
_ROW_GAP: Final = 3
_LEAST: Final = 2.0  # pixels of a bar that is not zero


class FiguresChart(QWidget):
    """Paints a group of bars for each measure, one bar for each engine.

    Bars of one measure have one scale; the shortest one is the best, and its number is bold.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._figures: tuple[EngineFigures, ...] = ()
        self._title = ""
        self.setObjectName("engine-figures")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Minimum)
        self.setToolTip(plain_text(ui_text("engines.figures.tip")))
        theme.themes.changed.connect(self.update)

    def show_figures(self, figures: tuple[EngineFigures, ...], tokens: int = 0) -> None:
        """Show measurements.

        Args:
            figures: the measurements.
            tokens: the size of their vocabulary; 0 for that of bytes.
        """
        self._figures = figures
        self._title = ui_text("engines.figures.tokens", count=tokens) if tokens else ui_text("engines.figures.bytes")
        self.setAccessibleName(self.text)
        self.updateGeometry()
        self.setMinimumHeight(self.sizeHint().height())
        self.update()

    @property
    def text(self) -> str:
        """Return all numbers with their names, for screen readers."""
        parts = []
        for index, measure in enumerate(MEASURES):
            values = ", ".join(f"{one.engine} {_number(measure, _value(one, index))}" for one in self._figures)
            parts.append(f"{ui_text(f'engines.figures.{measure}')}: {values}")
        return "; ".join((self._title, *parts)) if self._figures else ""

    def sizeHint(self) -> QSize:
        """Return the size of all groups."""
        height = QFontMetrics(self.font()).height()
        group = height + len(self._figures) * (height + _ROW_GAP) + theme.SPACE_S
        return QSize(_WIDTH, height + theme.SPACE_S + len(MEASURES) * group if self._figures else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the groups."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = QFontMetrics(self.font())
        row = metrics.height() + _ROW_GAP
        names = max((metrics.horizontalAdvance(one.engine) for one in self._figures), default=0) + theme.SPACE_S
        numbers = metrics.horizontalAdvance("00,000.0 ms") + theme.SPACE_S
        painter.setPen(theme.colour(theme.Role.MUTED))
        painter.drawText(0, 0, self.width(), metrics.height(), Qt.AlignmentFlag.AlignLeft, self._title)
        top = metrics.height() + theme.SPACE_S
        for index, measure in enumerate(MEASURES):
            painter.setPen(theme.colour(theme.Role.MUTED))
            title = ui_text(f"engines.figures.{measure}")
            painter.drawText(0, top, self.width(), metrics.height(), Qt.AlignmentFlag.AlignLeft, title)
            top += metrics.height()
            values = [_value(one, index) for one in self._figures]
            known = [value for value in values if value is not None]
            for engine, value in zip(self._figures, values, strict=True):
                self._paint_row(painter, QRectF(0, top, self.width(), row), names, numbers, engine.engine)
                is_best = value is not None and len(known) > 1 and value == min(known)
                self._paint_value(painter, QRectF(0, top, self.width(), row), numbers, _number(measure, value), is_best)
                if value is not None and max(known) > 0:
                    room = self.width() - names - numbers
                    width = max(_LEAST, room * value / max(known)) if value else 0
                    bar = QRectF(names, top + (row - _BAR) / 2, width, _BAR)
                    role = theme.Role.BAR_MASKED if is_best else theme.Role.BAR_MODEL
                    painter.fillRect(bar, theme.colour(role))
                top += row
            top += theme.SPACE_S

    @staticmethod
    def _paint_row(painter: QPainter, row: QRectF, names: int, numbers: int, name: str) -> None:
        painter.setPen(theme.colour(theme.Role.TEXT))
        place = row.adjusted(0, 0, names - row.width(), 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        track = QRectF(names, row.center().y() - _BAR / 2, row.width() - names - numbers, _BAR)
        painter.fillRect(track, theme.colour(theme.Role.RAISED))

    @staticmethod
    def _paint_value(painter: QPainter, row: QRectF, numbers: int, text: str, is_best: bool) -> None:
        font = painter.font()
        font.setBold(is_best)
        painter.setFont(font)
        painter.setPen(theme.colour(theme.Role.TEXT))
        place = row.adjusted(row.width() - numbers, 0, 0, 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        font.setBold(False)
        painter.setFont(font)


def _value(one: EngineFigures, index: int) -> float | None:
    value: float | None = astuple(one)[index + 1]
    return value


def _number(measure: str, value: float | None) -> str:
    if value is None:
        return "–"
    unit = {"token": "µs", "memory": "MB", "size": "MB"}.get(measure, "ms")
    return f"{value:,.1f} {unit}"
