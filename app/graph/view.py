"""The window onto a drawing: zoom, pan, and what the pointer is on.

Until the reader zooms or pans, the view keeps the drawing at home: all of it
where it can be read so, else at a size that can be read, from the state that
matters. Afterwards it stays where the reader put it.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QFrame, QGraphicsView, QToolTip, QWidget

from app.graph.layout import EdgeKey
from app.graph.scene import AutomatonScene

_LEAST, _MOST = 0.04, 4.0
_HOME_LEAST, _HOME_MOST, _HOME_READING = 0.75, 1.35, 0.9
_STEP = 1.2
_SHARP_FROM_ZOOM = 0.2
_KEEP_CLEAR = 70


class GraphView(QGraphicsView):
    """Shows an `AutomatonScene`.

    Signals:
        pointed_at: what is under the pointer: a state's id, an edge's `(source, target)`, or None.
        state_clicked: the state that was clicked, -1 for the empty ground.
        opened(state, edge, box): a double click, or Return: what lies there, each None where there is none.
        left(): Backspace, or Alt+Up: one level up.
        zoomed: the zoom, 1 is a pixel for a unit.

    Attributes:
        is_at_home: whether the drawing is where the view put it, not the reader.
        tip_of_edge: what the tooltip of an edge's label says.
    """

    pointed_at = Signal(object)
    state_clicked = Signal(int)
    opened = Signal(object, object, object)
    left = Signal()
    zoomed = Signal(float)

    def __init__(self, scene: AutomatonScene) -> None:
        super().__init__(scene)
        self._drawing = scene
        self._focus: int | None = None
        self._hovered: int | EdgeKey | None = None
        self._pressed: QPoint | None = None
        self.is_at_home = True
        self.tip_of_edge: Callable[[EdgeKey], str] = lambda _: ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.AnchorViewCenter)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        # The scene paints its ground; knowing that, Qt pans by copying what is there and paints the new strip alone.
        # A widget over the drawing would undo it: 30 ms for a frame of 2,000 states instead of 5.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        self.setAccessibleName("Automaton graph")
        self.setCornerWidget(QWidget())  # else the style draws a frame where the scroll bars meet
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(self._reveal)

    @property
    def zoom(self) -> float:
        """Pixels for a unit of the scene."""
        return self.transform().m11()

    def go_home(self, focus: int | None = None) -> None:
        """Show all of the drawing if it can be read so, else a readable part that begins at `focus`."""
        self._focus = focus
        self.is_at_home = True
        self._settle()

    def fit(self) -> None:
        """Show all of the drawing, however small."""
        self.is_at_home = False
        self._set_zoom(min(self._zoom_that_fits(), _HOME_MOST))
        self.centerOn(self.sceneRect().center())
        self._reveal()

    def zoom_in(self) -> None:
        """One step nearer."""
        self._zoom_by(_STEP)

    def zoom_out(self) -> None:
        """One step away."""
        self._zoom_by(1 / _STEP)

    def zoom_to_one(self) -> None:
        """A pixel for a unit."""
        self._zoom_by(1 / self.zoom)

    def follow(self, state: int) -> None:
        """Bring a state into view if it is not."""
        box = self._drawing.box(state)
        if box is None:
            return
        self._focus = state
        self.ensureVisible(box, min(_KEEP_CLEAR, self.width() // 4), min(_KEEP_CLEAR, self.height() // 4))
        self._reveal()

    def place_of(self, state: int) -> QPointF | None:
        """Where a state is in the viewport."""
        box = self._drawing.box(state)
        return None if box is None else QPointF(self.mapFromScene(box.center()))

    def keep_place(self, state: int, place: QPointF) -> None:
        """Put a state where one stood before the drawing changed."""
        box = self._drawing.box(state)
        if box is not None:
            middle = QPointF(self.viewport().rect().center())
            self.centerOn(box.center() + (middle - place) / self.zoom)
        self._reveal()

    # --- events ------------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stay at home, if there."""
        super().resizeEvent(event)
        if self.is_at_home:
            self._settle()
        self._reveal()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer; with Shift, or a touch pad's sideways stroke, pan."""
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(delta.x()) > abs(delta.y()):
            self.is_at_home = False
            super().wheelEvent(event)
            return
        self._zoom_by(_STEP ** (delta.y() / 120))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl with plus, minus and zero zooms; arrows pan; Return opens, Backspace goes up."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            zooms = {
                Qt.Key.Key_Plus: self.zoom_in,
                Qt.Key.Key_Equal: self.zoom_in,
                Qt.Key.Key_Minus: self.zoom_out,
                Qt.Key.Key_0: self.fit,
            }
            act = zooms.get(Qt.Key(event.key()))
            if act is not None:
                act()
                event.accept()
                return
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and not event.modifiers():
            self.opened.emit(None, None, None)
        elif event.key() == Qt.Key.Key_Backspace or (
            event.key() == Qt.Key.Key_Up and event.modifiers() & Qt.KeyboardModifier.AltModifier
        ):
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a click, or a pan, began."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell what the pointer is on."""
        super().mouseMoveEvent(event)
        if event.buttons() & Qt.MouseButton.LeftButton:
            if self._pressed is not None and self._is_far(event.position().toPoint()):
                self.is_at_home = False
            return
        self._hover(event.position().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A release near the press is a click."""
        super().mouseReleaseEvent(event)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        if event.button() == Qt.MouseButton.LeftButton and self._pressed is not None:
            place = event.position().toPoint()
            if not self._is_far(place):
                self.state_clicked.emit(self._state_at(place))
            self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open what lies there."""
        super().mouseDoubleClickEvent(event)
        self._pressed = None
        if event.button() == Qt.MouseButton.LeftButton:
            point = self.mapToScene(event.position().toPoint())
            state = self._drawing.state_at(point)
            edge = self._drawing.edge_at(point) if state is None else None
            self.opened.emit(state, edge, self._drawing.group_at(point))

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer is on nothing."""
        super().leaveEvent(event)
        self._set_hovered(None)

    def viewportEvent(self, event: QEvent) -> bool:
        """A label that was shortened tells itself in full."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            edge = self._drawing.edge_at(self.mapToScene(event.pos()))
            QToolTip.showText(event.globalPos(), "" if edge is None else self.tip_of_edge(edge), self.viewport())
            return True
        return super().viewportEvent(event)

    # --- parts -------------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        fitting = self._zoom_that_fits()
        if fitting >= _HOME_LEAST:
            self._set_zoom(min(fitting, _HOME_MOST))
            self.centerOn(self.sceneRect().center())
        else:
            self._set_zoom(_HOME_READING)
            box = None if self._focus is None else self._drawing.box(self._focus)
            self.centerOn(self.sceneRect().center() if box is None else self._from_the_left(box))
        self._reveal()

    def _from_the_left(self, box: QRectF) -> QPointF:
        """The centre of a view that has `box` at its left third: what follows matters more than what came before."""
        return QPointF(box.center().x() + self.viewport().width() / self.zoom / 5, box.center().y())

    def _zoom_that_fits(self) -> float:
        rect, port = self.sceneRect(), self.viewport().rect()
        if rect.isEmpty() or port.isEmpty():
            return 1.0
        # A pixel less, or rounding would bring the scroll bars, which take the room that made it fit.
        return max(_LEAST, min((port.width() - 1) / rect.width(), (port.height() - 1) / rect.height()))

    def _zoom_by(self, factor: float) -> None:
        self.is_at_home = False
        self._set_zoom(self.zoom * factor)
        self._reveal()

    def _set_zoom(self, zoom: float) -> None:
        bounded = min(max(zoom, _LEAST), _MOST)
        if bounded != self.zoom:
            self.scale(bounded / self.zoom, bounded / self.zoom)
            self.setRenderHint(QPainter.RenderHint.Antialiasing, bounded >= _SHARP_FROM_ZOOM)
        self.zoomed.emit(bounded)

    def _reveal(self) -> None:
        self._drawing.reveal(self.mapToScene(self.viewport().rect()).boundingRect(), self.zoom)

    def _hover(self, place: QPoint) -> None:
        point = self.mapToScene(place)
        state = self._drawing.state_at(point)
        self._set_hovered(self._drawing.edge_at(point) if state is None else state)

    def _set_hovered(self, what: int | EdgeKey | None) -> None:
        if what != self._hovered:
            self._hovered = what
            self.pointed_at.emit(what)

    def _state_at(self, place: QPoint) -> int:
        state = self._drawing.state_at(self.mapToScene(place))
        return -1 if state is None else state

    def _is_far(self, place: QPoint) -> bool:
        assert self._pressed is not None
        return (place - self._pressed).manhattanLength() >= QApplication.startDragDistance()
