"""The window onto a drawing: zoom, pan, and what the pointer is on.

Until the reader zooms or pans, the view keeps the drawing at home: all of it
where it can be read so, else at a size that can be read, from the state that
matters. Afterwards it stays where the reader put it.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QFrame, QGraphicsView, QToolTip, QWidget

from app.graph.draw.scene import AutomatonScene
from app.graph.layout.types import EdgeKey
from app.theme.plain_text import plain_text

_LEAST, _MOST = 0.04, 4.0
_HOME_LEAST, _HOME_MOST, _HOME_READING = 0.75, 1.35, 0.9
_STEP = 1.2
_SHARP_FROM_ZOOM = 0.2
_SHARP_AFTER_MS = 120
_KEEP_CLEAR = 70
_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_ALT_KEYS = {Qt.Key.Key_Left: "back", Qt.Key.Key_Right: "forward"}
_PLAIN_KEYS = {Qt.Key.Key_Slash: "find", Qt.Key.Key_T: "tokens"}


class GraphView(QGraphicsView):
    """Shows an `AutomatonScene`.

    Signals:
        pointed_at: what is under the pointer: a state's id, an edge's `(source, target)`, or None.
        state_clicked: the state that was clicked, -1 for the empty ground.
        opened(state, edge, box): a double click, or Return: what lies there, each None where there is none.
        left(): Backspace, or Alt+Up: one level up.
        stub_clicked(state): a click on a stub that hangs on this state.
        walked(x, y): an arrow key, as a direction.
        asked(what): a key that asks for something: "back", "forward", "find" or "tokens".
        zoomed: the zoom, 1 is a pixel for a unit.

    Attributes:
        is_at_home: whether the drawing is where the view put it, not the reader.
        tip_of_edge: what the tooltip of an edge's label says.
    """

    pointed_at = Signal(object)
    state_clicked = Signal(int)
    opened = Signal(object, object, object)
    left = Signal()
    stub_clicked = Signal(int)
    walked = Signal(int, int)
    asked = Signal(str)
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
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontAdjustForAntialiasing)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        # The scene paints its ground; knowing that, Qt pans by copying what is there and paints the new strip alone.
        # A widget over the drawing would undo it: 30 ms for a frame of 2,000 states instead of 5.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        self.setAccessibleName("Automaton graph")
        self.setCornerWidget(QWidget())  # else the style draws a frame where the scroll bars meet
        self._sharpen = QTimer(self, singleShot=True, interval=_SHARP_AFTER_MS)
        self._sharpen.timeout.connect(self._draw_sharply)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(self._on_scrolled)

    @property
    def zoom(self) -> float:
        """Pixels for a unit of the scene."""
        return self.transform().m11()

    @property
    def is_readable(self) -> bool:
        """Whether texts are large enough to be read."""
        return self.zoom >= _HOME_LEAST

    def go_home(self, focus: int | None = None) -> None:
        """Show all of the drawing if it can be read so, else a readable part that begins at `focus`."""
        self._focus = focus
        self.is_at_home = True
        self._settle()

    def fit(self) -> None:
        """Show all of the drawing, however small."""
        self.is_at_home = False
        self._set_zoom(min(self._zoom_that_fits(), _HOME_MOST))
        self.centerOn(self._drawing.home_rect().center())
        self.reveal()

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
        # More room at the sides: what follows is to be seen too.
        self.ensureVisible(box, min(2 * _KEEP_CLEAR, self.width() // 3), min(_KEEP_CLEAR, self.height() // 4))
        self.reveal()

    def reveal(self) -> None:
        """Make the texts that are in view now."""
        self._drawing.reveal(self.mapToScene(self.viewport().rect()).boundingRect(), self.zoom)

    def look_at(self, point: QPointF) -> None:
        """Put a point of the scene in the middle."""
        self.is_at_home = False
        self.centerOn(point)
        self.reveal()

    def place_of(self, state: int) -> QPointF | None:
        """Where a state is in the viewport."""
        box = self._drawing.box(state)
        return None if box is None else QPointF(self.mapFromScene(box.center()))

    @property
    def seen(self) -> QRectF:
        """What is seen of the scene, but for a pixel at each side: rounding would bring scroll bars."""
        return self.mapToScene(self.viewport().rect().adjusted(1, 1, -1, -1)).boundingRect()

    def keep_place(self, state: int, place: QPointF) -> None:
        """Put a state where one stood before the drawing changed."""
        box = self._drawing.box(state)
        if box is not None:
            middle = QPointF(self.viewport().rect().center())
            self.centerOn(box.center() + (middle - place) / self.zoom)
        self.reveal()

    # --- events ------------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stay at home, if there."""
        super().resizeEvent(event)
        if self.is_at_home:
            self._settle()
        self.reveal()

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
        """Arrows walk, with Ctrl they pan; Ctrl with plus and minus zooms; Return opens, Backspace goes up."""
        modifiers, key = event.modifiers(), Qt.Key(event.key())
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            zooms = {
                Qt.Key.Key_Plus: self.zoom_in,
                Qt.Key.Key_Equal: self.zoom_in,
                Qt.Key.Key_Minus: self.zoom_out,
            }
            if key in zooms:
                zooms[key]()
                event.accept()
                return
        elif modifiers & Qt.KeyboardModifier.AltModifier:
            if key == Qt.Key.Key_Up:
                self.left.emit()
                return
            if key in _ALT_KEYS:
                self.asked.emit(_ALT_KEYS[key])
                return
        elif key in _ARROWS:
            self.walked.emit(*_ARROWS[key])
            return
        elif key in _PLAIN_KEYS:
            self.asked.emit(_PLAIN_KEYS[key])
            return
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.opened.emit(None, None, None)
            return
        elif key == Qt.Key.Key_Backspace:
            self.left.emit()
            return
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
                self._click(place)
            self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open what lies there."""
        super().mouseDoubleClickEvent(event)
        self._pressed = None
        if event.button() == Qt.MouseButton.LeftButton:
            point = self.mapToScene(event.position().toPoint())
            state = self._drawing.state_at(point)
            if self._drawing.stub_at(point) is not None:
                return  # two clicks on what opens by one
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
            QToolTip.showText(
                event.globalPos(), plain_text("" if edge is None else self.tip_of_edge(edge)), self.viewport()
            )
            return True
        return super().viewportEvent(event)

    # --- parts -------------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        fitting = self._zoom_that_fits()
        if fitting >= _HOME_LEAST:
            self._set_zoom(min(fitting, _HOME_MOST))
            self.centerOn(self._drawing.home_rect().center())
        else:
            self._set_zoom(_HOME_READING)
            box = None if self._focus is None else self._drawing.box(self._focus)
            self.centerOn(self._drawing.home_rect().center() if box is None else self._from_the_left(box))
        self.reveal()

    def _from_the_left(self, box: QRectF) -> QPointF:
        """The centre of a view that has `box` at its left third: what follows matters more than what came before."""
        return QPointF(box.center().x() + self.viewport().width() / self.zoom / 5, box.center().y())

    def _zoom_that_fits(self) -> float:
        # Of the room without scroll bars: reckoned with the room that they leave, a scene that reaches beyond home
        # could bring a bar, fit without it, lose it, fit again with it, and so on for ever.
        rect, port = self._drawing.home_rect(), self.maximumViewportSize()
        if rect.isEmpty() or port.isEmpty():
            return 1.0
        # A pixel less, or rounding would bring the scroll bars, which take the room that made it fit.
        return max(_LEAST, min((port.width() - 1) / rect.width(), (port.height() - 1) / rect.height()))

    def _zoom_by(self, factor: float) -> None:
        self.is_at_home = False
        self._set_zoom(self.zoom * factor)
        self.reveal()

    def _set_zoom(self, zoom: float) -> None:
        bounded = min(max(zoom, _LEAST), _MOST)
        if bounded != self.zoom:
            self.scale(bounded / self.zoom, bounded / self.zoom)
            self._draw_swiftly()
        self.zoomed.emit(bounded)

    def _on_scrolled(self) -> None:
        self._draw_swiftly()
        self.reveal()

    def _draw_swiftly(self) -> None:
        """While a large drawing moves, its lines have steps: without them a frame takes twice as long."""
        is_sharp = self.zoom >= _SHARP_FROM_ZOOM
        if is_sharp and self._drawing.resting.is_large:
            is_sharp = False
            self._sharpen.start()
        self.setRenderHint(QPainter.RenderHint.Antialiasing, is_sharp)

    def _draw_sharply(self) -> None:
        if self.zoom >= _SHARP_FROM_ZOOM:
            self.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.viewport().update()

    def _hover(self, place: QPoint) -> None:
        point = self.mapToScene(place)
        state = self._drawing.state_at(point)
        self._set_hovered(self._drawing.edge_at(point) if state is None else state)

    def _set_hovered(self, what: int | EdgeKey | None) -> None:
        if what != self._hovered:
            self._hovered = what
            self.pointed_at.emit(what)

    def _click(self, place: QPoint) -> None:
        stub = self._drawing.stub_at(self.mapToScene(place))
        if stub is None:
            self.state_clicked.emit(self._state_at(place))
        else:
            self.stub_clicked.emit(stub)

    def _state_at(self, place: QPoint) -> int:
        state = self._drawing.state_at(self.mapToScene(place))
        return -1 if state is None else state

    def _is_far(self, place: QPoint) -> bool:
        assert self._pressed is not None
        return (place - self._pressed).manhattanLength() >= QApplication.startDragDistance()
