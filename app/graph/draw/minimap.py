"""The whole drawing in a corner, with a frame around what is seen; a click or a drag goes there.

The drawing is painted once, as dots and straight lines, and kept; only the frame
and the live states are painted anew. Rejected: a second view of the scene, which
would paint two thousand states over again whenever one is lit.
"""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent, QTransform
from PySide6.QtWidgets import QWidget

from app import theme
from app.graph.draw.scene import AutomatonScene
from app.graph.draw.styles import pen
from app.graph.draw.view import GraphView
from app.theme import Role

_SIZE = QSize(168, 104)
_INSET = 6.0
_LEAST_DOT = 2.5


class Minimap(QWidget):
    """A small picture of all that is drawn in a view."""

    def __init__(self, view: GraphView, scene: AutomatonScene) -> None:
        super().__init__()
        self._view = view
        self._drawing = scene
        self._picture: QPixmap | None = None
        self.setFixedWidth(_SIZE.width())
        self.setMinimumHeight(_SIZE.height() // 2)
        self.setAccessibleName("Map of the drawing")
        self.setToolTip("Click or drag to go there")
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.update)
        scene.sceneRectChanged.connect(lambda _rect: self.forget())
        scene.relit.connect(self._later.start)
        for bar in (view.horizontalScrollBar(), view.verticalScrollBar()):
            bar.valueChanged.connect(lambda _value: self._later.start())
        view.zoomed.connect(lambda _zoom: self._later.start())
        theme.themes.changed.connect(self.forget)

    def sizeHint(self) -> QSize:
        """A corner."""
        return _SIZE

    def forget(self) -> None:
        """Paint the drawing anew."""
        self._picture = None
        self._later.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint the drawing anew."""
        super().resizeEvent(event)
        self.forget()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The kept picture, the live states, the frame."""
        if self._picture is None:
            self._picture = self._drawn()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        there = self._transform()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(Role.LIVE))
        for state in self._drawing.lit.live:
            box = self._drawing.box(state)
            if box is not None:
                painter.drawEllipse(there.map(box.center()), _LEAST_DOT + 1, _LEAST_DOT + 1)
        seen = self._view.mapToScene(self._view.viewport().rect()).boundingRect() & self._drawing.sceneRect()
        painter.setPen(pen(Role.ACCENT, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(there.mapRect(seen).adjusted(0.7, 0.7, -0.7, -0.7))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go there."""
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go along."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position())

    def _go(self, place: QPointF) -> None:
        back, _ = self._transform().inverted()
        self._view.look_at(back.map(place))

    def _transform(self) -> QTransform:
        rect, room = self._drawing.sceneRect(), QRectF(self.rect()).adjusted(_INSET, _INSET, -_INSET, -_INSET)
        if rect.isEmpty() or room.isEmpty():
            return QTransform()
        scale = min(room.width() / rect.width(), room.height() / rect.height())
        centre = room.center() - rect.center() * scale
        return QTransform(scale, 0, 0, scale, centre.x(), centre.y())

    def _drawn(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme.colour(Role.WINDOW))
        painter = QPainter(picture)
        there, placed = self._transform(), self._drawing.placed
        painter.setPen(pen(Role.BORDER, 1.0))
        ends = ((chain[0], chain[-1]) for chain in placed.curves.values())
        painter.drawLines([there.map(QLineF(*first, *last)) for first, last in ends])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(Role.MUTED))
        dots = [there.mapRect(box) for node, box in placed.boxes.items() if node >= 0]
        grown = [dot if dot.width() > _LEAST_DOT else _dot(dot.center()) for dot in dots]
        painter.drawRects(grown)
        painter.end()
        return picture


def _dot(centre: QPointF) -> QRectF:
    return QRectF(centre.x() - _LEAST_DOT / 2, centre.y() - _LEAST_DOT / 2, _LEAST_DOT, _LEAST_DOT)
