"""A minimap of the drawing in a corner, with a frame around the visible part; a click or a drag goes there.

The drawing is painted once, as dots and straight lines, and cached; only the frame and the live states are painted
again. Rejected: a second view of the scene, which would paint two thousand states again for every highlight.
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
    """A small picture of the drawing in a view."""

    def __init__(self, view: GraphView, scene: AutomatonScene) -> None:
        super().__init__()
        self._view = view
        self._drawing = scene
        self._picture: QPixmap | None = None
        self.setFixedWidth(_SIZE.width())
        self.setMinimumHeight(_SIZE.height() // 2)
        self.setAccessibleName("Map of the drawing")
        self.setToolTip("Click or drag to go there")
        self._update_timer = QTimer(self, singleShot=True, interval=0)
        self._update_timer.timeout.connect(self.update)
        scene.sceneRectChanged.connect(lambda _rect: self.forget())
        scene.relit.connect(self._update_timer.start)
        for bar in (view.horizontalScrollBar(), view.verticalScrollBar()):
            bar.valueChanged.connect(lambda _value: self._update_timer.start())
        view.zoomed.connect(lambda _zoom: self._update_timer.start())
        theme.themes.changed.connect(self.forget)

    def sizeHint(self) -> QSize:
        """Return the minimap's size."""
        return _SIZE

    def forget(self) -> None:
        """Paint the drawing again."""
        self._picture = None
        self._update_timer.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint the drawing again."""
        super().resizeEvent(event)
        self.forget()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the cached picture, the live states and the frame."""
        if self._picture is None:
            self._picture = self._paint_picture()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        transform = self._transform()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(Role.LIVE))
        for state in self._drawing.lit.live:
            box = self._drawing.box(state)
            if box is not None:
                painter.drawEllipse(transform.map(box.center()), _LEAST_DOT + 1, _LEAST_DOT + 1)
        seen = self._view.mapToScene(self._view.viewport().rect()).boundingRect() & self._drawing.sceneRect()
        painter.setPen(pen(Role.ACCENT, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(transform.mapRect(seen).adjusted(0.7, 0.7, -0.7, -0.7))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the position."""
        self._go_to(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go_to(event.position())

    def _go_to(self, position: QPointF) -> None:
        inverse, _ = self._transform().inverted()
        self._view.look_at(inverse.map(position))

    def _transform(self) -> QTransform:
        rect, inner = self._drawing.sceneRect(), QRectF(self.rect()).adjusted(_INSET, _INSET, -_INSET, -_INSET)
        if rect.isEmpty() or inner.isEmpty():
            return QTransform()
        scale = min(inner.width() / rect.width(), inner.height() / rect.height())
        centre = inner.center() - rect.center() * scale
        return QTransform(scale, 0, 0, scale, centre.x(), centre.y())

    def _paint_picture(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme.colour(Role.WINDOW))
        painter = QPainter(picture)
        transform, placed = self._transform(), self._drawing.placed
        painter.setPen(pen(Role.BORDER, 1.0))
        ends = ((chain[0], chain[-1]) for chain in placed.curves.values())
        painter.drawLines([transform.map(QLineF(*first, *last)) for first, last in ends])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(Role.MUTED))
        dots = [transform.mapRect(box) for node, box in placed.boxes.items() if node >= 0]
        visible_dots = [dot if dot.width() > _LEAST_DOT else _dot(dot.center()) for dot in dots]
        painter.drawRects(visible_dots)
        painter.end()
        return picture


def _dot(centre: QPointF) -> QRectF:
    return QRectF(centre.x() - _LEAST_DOT / 2, centre.y() - _LEAST_DOT / 2, _LEAST_DOT, _LEAST_DOT)
