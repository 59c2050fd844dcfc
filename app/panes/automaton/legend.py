"""The legend of the drawing: each symbol as it is drawn, with a few words, in as many columns as fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QWidget

from app import theme
from app.catalogue import ui_text
from app.graph.draw import shapes
from app.graph.draw.shapes import pen
from app.theme import Role

_SYMBOL = QSize(34, 18)


def _live(painter: QPainter, rect: QRectF) -> None:
    halo = theme.colour(Role.LIVE)
    halo.setAlphaF(0.22)
    circle = _circle(rect, 5)
    painter.setBrush(halo)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.drawEllipse(circle.adjusted(-4, -4, 4, 4))
    painter.setPen(pen(Role.LIVE, 2.0))
    painter.setBrush(theme.colour(Role.LIVE_FILL))
    painter.drawEllipse(circle)


def _accepting(painter: QPainter, rect: QRectF) -> None:
    painter.setPen(pen(Role.TEXT, 1.2))
    for radius in (4.0, 7.0):
        painter.drawEllipse(_circle(rect, radius))


def _path(painter: QPainter, rect: QRectF) -> None:
    painter.setPen(pen(Role.LIVE, 7.0, opacity=0.25))
    painter.drawLine(_line(rect))
    _arrow(painter, rect, Role.MUTED)


def _candidate(painter: QPainter, rect: QRectF) -> None:
    painter.setPen(pen(Role.ACCENT, 6.0, Qt.PenStyle.CustomDashLine, 0.55))
    painter.drawLine(_line(rect))


def _next(painter: QPainter, rect: QRectF) -> None:
    _arrow(painter, rect, Role.LIVE, 2.2)


def _call(painter: QPainter, rect: QRectF) -> None:
    _arrow(painter, rect, Role.MUTED, style=Qt.PenStyle.CustomDashLine)


def _several(painter: QPainter, rect: QRectF) -> None:
    painter.setPen(pen(Role.TEXT, 1.2))
    painter.setBrush(theme.colour(Role.RAISED))
    painter.drawPath(shapes.piles([QRectF(rect.center().x() - 13, rect.center().y() - 8, 24, 13)]))


def _marked(painter: QPainter, rect: QRectF) -> None:
    _arrow(painter, rect, Role.MUTED)
    _text(painter, rect, "…")


def _more(painter: QPainter, rect: QRectF) -> None:
    painter.setPen(pen(Role.MUTED, 1.2, Qt.PenStyle.DashLine))
    painter.drawRoundedRect(QRectF(rect.center().x() - 12, rect.center().y() - 8, 24, 16), 8, 8)
    painter.setPen(theme.colour(Role.MUTED))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, "+3")


SYMBOLS: Mapping[str, Callable[[QPainter, QRectF], None]] = {
    "live": _live,
    "next": _next,
    "path": _path,
    "candidate": _candidate,
    "accepting": _accepting,
    "several": _several,
    "call": _call,
    "marked": _marked,
    "more": _more,
}


class SymbolLegend(QWidget):
    """The symbols of the drawing with their meanings."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = {name: ui_text(f"automaton.legend.{name}") for name in SYMBOLS}
        self.setAccessibleName(ui_text("automaton.legend.name"))
        self.setAccessibleDescription("; ".join(self._texts.values()))
        self.setFont(theme.ui_font(-1))

    def sizeHint(self) -> QSize:
        """Return the size of two columns."""
        return QSize(2 * self._column_width, (len(SYMBOLS) + 1) // 2 * self._row_height + 2 * theme.SPACE_S)

    @property
    def _column_width(self) -> int:
        widest = max(map(QFontMetrics(self.font()).horizontalAdvance, self._texts.values()))
        return _SYMBOL.width() + theme.SPACE_S + widest + theme.SPACE_M

    @property
    def _row_height(self) -> int:
        return max(_SYMBOL.height(), QFontMetrics(self.font()).height()) + 2

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the symbols, one column after the other."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        rows = max(1, (self.height() - theme.SPACE_S) // self._row_height)
        for place, (name, draw) in enumerate(SYMBOLS.items()):
            column, row = divmod(place, rows)
            left, top = theme.SPACE_M + column * self._column_width, theme.SPACE_S + row * self._row_height
            painter.save()
            draw(painter, QRectF(left, top, _SYMBOL.width(), self._row_height))
            painter.restore()
            painter.setPen(theme.colour(Role.MUTED))
            at = QRectF(left + _SYMBOL.width() + theme.SPACE_S, top, self._column_width, self._row_height)
            painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, self._texts[name])
        painter.end()


def _circle(rect: QRectF, radius: float) -> QRectF:
    return QRectF(rect.center().x() - radius, rect.center().y() - radius, 2 * radius, 2 * radius)


def _line(rect: QRectF) -> QLineF:
    return QLineF(rect.left() + 2, rect.center().y(), rect.right() - 2, rect.center().y())


def _arrow(
    painter: QPainter, rect: QRectF, role: Role, width: float = 1.4, style: Qt.PenStyle = Qt.PenStyle.SolidLine
) -> None:
    line = _line(rect)
    tip = line.p2()
    painter.setPen(pen(role, width, style))
    painter.drawLine(QLineF(line.p1(), tip - QPointF(4, 0)))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour(role))
    painter.drawPolygon(QPolygonF([tip, tip + QPointF(-8, -4), tip + QPointF(-8, 4)]))


def _text(painter: QPainter, rect: QRectF, text: str) -> None:
    middle = QRectF(rect.center().x() - 8, rect.center().y() - 6, 12, 12)
    painter.fillRect(middle, theme.colour(Role.PANEL))
    painter.setPen(theme.colour(Role.TEXT))
    painter.drawText(middle, Qt.AlignmentFlag.AlignCenter, text)
