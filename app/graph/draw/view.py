"""The view of a drawing: zoom, pan, and hovering; a minimap of it, and navigation between states by the arrow keys.

Until the user zooms or pans, the view keeps the drawing at its home position: all of it if that is readable, otherwise
a readable size, starting at the relevant state. Afterwards the view keeps the user's position.

The minimap paints the drawing once, as dots and straight lines, and caches it; only the frame and the live states are
painted again. Rejected: a second view of the scene, which would paint two thousand states again for every highlight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QGraphicsView, QToolTip, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import ZOOMS, command
from app.delays import delayed
from app.graph.draw.scene import AutomatonScene
from app.graph.draw.shapes import pen
from app.graph.layout.types import EdgeKey
from app.theme import Role
from app.theme.labels import plain_text

_WIDEST = math.cos(math.radians(70))  # with a larger angle, a state is not in the arrow's direction
_DETOUR = 1.6  # how much farther a connected state may be than one that is only near
_MAP_SIZE = QSize(168, 104)
_MAP_INSET = 6.0
_LEAST_DOT = 2.5
_LEAST, _MOST = 0.04, 4.0
_HOME_LEAST, _HOME_MOST, _HOME_READING = 0.62, 1.35, 0.9
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
        pointed_at: the element under the pointer: a state's id, an edge's `(source, target)`, or None.
        state_clicked: the clicked state, -1 for the background.
        opened(state, edge, box): a double click, or Return: the elements there, each may be None.
        left(): Backspace, or Alt+Up: one level up.
        stub_clicked(state): a click on the stub of this state.
        walked(x, y): an arrow key, as a direction.
        asked(what): a key for an action: "back", "forward", "find" or "tokens".
        menu_requested(state, edge, position): a right click or the menu key: the element, each may be None, and the
            position on the screen.
        zoomed: the zoom, 1 is a pixel per unit.
        states_in_view(shown, total): how many of the drawn states are visible.

    Attributes:
        is_at_home: whether the view, and not the user, determines the position.
        tip_of_edge: returns the tool tip of an edge's label.
    """

    hovered = Signal(object)
    state_clicked = Signal(int)
    open_requested = Signal(object, object, object)
    up_requested = Signal()
    stub_clicked = Signal(int)
    neighbour_requested = Signal(int, int)
    action_requested = Signal(str)
    menu_requested = Signal(object, object, QPoint)
    zoomed = Signal(float)
    states_in_view = Signal(int, int)

    def __init__(self, scene: AutomatonScene) -> None:
        super().__init__(scene)
        self.setProperty(ZOOMS, True)
        self._drawing = scene
        self._focus: int | None = None
        self._hovered: int | EdgeKey | None = None
        self._pressed: QPoint | None = None
        self._counts = 0, 0
        self.is_at_home = True
        self.edge_tip: Callable[[EdgeKey], str] = lambda _: ""
        self.state_tip: Callable[[int], str] = lambda _: ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.AnchorViewCenter)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontAdjustForAntialiasing)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        self.setAccessibleName(ui_text("graph.view.name"))
        self.setCornerWidget(QWidget())  # otherwise the style draws a frame where the scroll bars meet
        self._sharpen_timer = delayed(self, _SHARP_AFTER_MS, self._draw_sharply)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(self._on_scrolled)

    @property
    def zoom(self) -> float:
        """Return the number of pixels per scene unit."""
        return self.transform().m11()

    @property
    def is_readable(self) -> bool:
        """Return whether texts are large enough to read."""
        return self.zoom >= _HOME_LEAST

    def go_home(self, focus: int | None = None) -> None:
        """Show all of the drawing if that is readable, otherwise a readable part that begins at `focus`."""
        self._focus = focus
        self.is_at_home = True
        self._go_to_home()

    @command("automaton.fit", "Ctrl+M, 0", place=(3, 13), context="background")
    def fit(self) -> None:
        """Show all of the drawing, however small."""
        self.is_at_home = False
        self._set_zoom(min(self._zoom_that_fits(), _HOME_MOST))
        self.centerOn(self._drawing.home_rect().center())
        self.reveal()

    @command("automaton.zoom_in", "Ctrl+M, +", "Ctrl+M, =", place=(3, 14), repeats=True)
    def zoom_in(self) -> None:
        """Zoom in by one step."""
        self._zoom_by(_STEP)

    @command("automaton.zoom_out", "Ctrl+M, -", place=(3, 15), repeats=True)
    def zoom_out(self) -> None:
        """Zoom out by one step."""
        self._zoom_by(1 / _STEP)

    def zoom_to_one(self) -> None:
        """Zoom to one pixel per unit."""
        self._zoom_by(1 / self.zoom)

    def follow(self, state: int) -> None:
        """Scroll to a state if it is not visible."""
        box = self._drawing.box(state)
        if box is None:
            return
        self._focus = state
        # More margin at the sides, so that the following states are visible, too.
        self.ensureVisible(box, min(2 * _KEEP_CLEAR, self.width() // 3), min(_KEEP_CLEAR, self.height() // 4))
        self.reveal()

    def reveal(self) -> None:
        """Create the texts that are visible now, and count the states."""
        self._drawing.reveal(self.mapToScene(self.viewport().rect()).boundingRect(), self.zoom)
        boxes = [box for state, box in self._drawing.positioned.boxes.items() if state >= 0]
        counts = sum(map(self.visible_rect.contains, boxes)), len(boxes)
        if counts != self._counts:
            self._counts = counts
            self.states_in_view.emit(*counts)

    def center_at(self, point: QPointF) -> None:
        """Centre the view on a point of the scene."""
        self.is_at_home = False
        self.centerOn(point)
        self.reveal()

    def position_of(self, state: int) -> QPointF | None:
        """Return the position of a state in the viewport."""
        box = self._drawing.box(state)
        return None if box is None else QPointF(self.mapFromScene(box.center()))

    @property
    def visible_rect(self) -> QRectF:
        """Return the visible part of the scene, except for a pixel at each side: rounding would cause scroll bars."""
        return self.mapToScene(self.viewport().rect().adjusted(1, 1, -1, -1)).boundingRect()

    def keep_position(self, state: int, position: QPointF) -> None:
        """Scroll so that a state is at a position of the viewport, after the drawing changed."""
        box = self._drawing.box(state)
        if box is not None:
            middle = QPointF(self.viewport().rect().center())
            self.centerOn(box.center() + (middle - position) / self.zoom)
        self.reveal()

    # --- events ------------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Choose how to paint on this screen."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.DevicePixelRatioChange):
            # The scene paints its background; with this attribute, Qt pans by copying pixels and paints only the new
            # strip. A widget above the drawing would prevent that: 30 ms for a frame of 2,000 states instead of 5.
            # Where a pixel is partly outside, as at a ratio of 1.25, it would leave a grey line beside the scroll bars.
            is_exact = self.devicePixelRatioF().is_integer()
            self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, is_exact)
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the home position, if it is active."""
        super().resizeEvent(event)
        if self.is_at_home:
            self._go_to_home()
        self.reveal()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer; with Shift, or a horizontal gesture on a touch pad, pan."""
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(delta.x()) > abs(delta.y()):
            self.is_at_home = False
            super().wheelEvent(event)
            return
        self._zoom_by(_STEP ** (delta.y() / 120))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle keys.

        Arrows select a neighbour, with Ctrl they pan; Ctrl with plus and minus zooms; Return opens, Backspace goes up.
        """
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
                self.up_requested.emit()
                return
            if key in _ALT_KEYS:
                self.action_requested.emit(_ALT_KEYS[key])
                return
        elif key in _ARROWS:
            self.neighbour_requested.emit(*_ARROWS[key])
            return
        elif key in _PLAIN_KEYS:
            self.action_requested.emit(_PLAIN_KEYS[key])
            return
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.open_requested.emit(None, None, None)
            return
        elif key == Qt.Key.Key_Backspace:
            self.up_requested.emit()
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Store the position of a press."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Report the hovered element, or detect a pan."""
        super().mouseMoveEvent(event)
        if event.buttons() & Qt.MouseButton.LeftButton:
            if self._pressed is not None and self._is_far(event.position().toPoint()):
                self.is_at_home = False
            return
        self._hover(event.position().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Treat a release near the press as a click."""
        super().mouseReleaseEvent(event)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        if event.button() == Qt.MouseButton.LeftButton and self._pressed is not None:
            position = event.position().toPoint()
            if not self._is_far(position):
                self._click(position)
            self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the element there."""
        super().mouseDoubleClickEvent(event)
        self._pressed = None
        if event.button() == Qt.MouseButton.LeftButton:
            point = self.mapToScene(event.position().toPoint())
            state = self._drawing.state_at(point)
            if self._drawing.stub_at(point) is not None:
                return  # two clicks on a stub, which opens with one
            edge = self._drawing.edge_at(point) if state is None else None
            self.open_requested.emit(state, edge, self._drawing.group_at(point))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request a menu for the element under the pointer; from the keyboard, for the selected one."""
        event.accept()
        highlights = self._drawing.highlights
        if event.reason() != QContextMenuEvent.Reason.Keyboard:
            point = self.mapToScene(event.pos())
            state = self._drawing.state_at(point)
            self.menu_requested.emit(state, self._drawing.edge_at(point) if state is None else None, event.globalPos())
            return
        state = highlights.selected
        position = None if state is None else self.position_of(state)
        corner = self.viewport().rect().center() if position is None else position.toPoint()
        self.menu_requested.emit(
            state, min(highlights.chosen, default=None) if state is None else None, self.viewport().mapToGlobal(corner)
        )

    def leaveEvent(self, event: QEvent) -> None:
        """Clear the hovered element."""
        super().leaveEvent(event)
        self._set_hovered(None)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the full text of a shortened label, or the mark of a state, as a tool tip."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = self.mapToScene(event.pos())
            state, edge = self._drawing.state_at(at), self._drawing.edge_at(at)
            tip = self.state_tip(state) if state is not None else "" if edge is None else self.edge_tip(edge)
            QToolTip.showText(event.globalPos(), plain_text(tip), self.viewport())
            return True
        return super().viewportEvent(event)

    def show_card(self, text: str, state: int | None) -> None:
        """Show a text as the tool tip of a state."""
        position = None if state is None else self.position_of(state)
        corner = self.viewport().rect().center() if position is None else position.toPoint()
        QToolTip.showText(self.viewport().mapToGlobal(corner), plain_text(text), self.viewport())

    # --- parts -------------------------------------------------------------------------------------------------------

    def _go_to_home(self) -> None:
        fitting = self._zoom_that_fits()
        if fitting >= _HOME_LEAST:
            self._set_zoom(min(fitting, _HOME_MOST))
            self.centerOn(self._drawing.home_rect().center())
        else:
            self._set_zoom(_HOME_READING)
            box = None if self._focus is None else self._drawing.box(self._focus)
            self.centerOn(self._drawing.home_rect().center() if box is None else self._left_third_centre(box))
        self.reveal()

    def _left_third_centre(self, box: QRectF) -> QPointF:
        """Return the centre of a view with `box` in its left third: later states matter more than earlier ones."""
        return QPointF(box.center().x() + self.viewport().width() / self.zoom / 5, box.center().y())

    def _zoom_that_fits(self) -> float:
        # Use the size without scroll bars: with the size that they leave, a scene that extends beyond home could cause
        # a bar, fit without it, lose it, fit again with it, and so on forever.
        rect, port = self._drawing.home_rect(), self.maximumViewportSize()
        if rect.isEmpty() or port.isEmpty():
            return 1.0
        # A pixel less, or rounding would cause scroll bars, which take the space that made it fit.
        return max(_LEAST, min((port.width() - 1) / rect.width(), (port.height() - 1) / rect.height()))

    def _zoom_by(self, factor: float) -> None:
        self.is_at_home = False
        self._set_zoom(self.zoom * factor)
        self.reveal()

    def _set_zoom(self, zoom: float) -> None:
        bounded = min(max(zoom, _LEAST), _MOST)
        if bounded != self.zoom:
            self.scale(bounded / self.zoom, bounded / self.zoom)
            self._draw_fast()
        self.zoomed.emit(bounded)

    def _on_scrolled(self) -> None:
        self._draw_fast()
        self.reveal()

    def _draw_fast(self) -> None:
        """Draw a large drawing roughly while it moves: antialiasing doubles the time of a frame."""
        is_large = self._drawing.static_layer.is_large
        if is_large:
            self._drawing.static_layer.pieces.is_moving = True
            self._sharpen_timer.start()
        self.setRenderHint(QPainter.RenderHint.Antialiasing, not is_large)

    def _draw_sharply(self) -> None:
        self._drawing.static_layer.pieces.is_moving = False
        self.setRenderHint(QPainter.RenderHint.Antialiasing, self.zoom >= _SHARP_FROM_ZOOM)
        self.viewport().update()

    def _hover(self, position: QPoint) -> None:
        point = self.mapToScene(position)
        state = self._drawing.state_at(point)
        self._set_hovered(self._drawing.edge_at(point) if state is None else state)

    def _set_hovered(self, what: int | EdgeKey | None) -> None:
        if what != self._hovered:
            self._hovered = what
            self.hovered.emit(what)

    def _click(self, position: QPoint) -> None:
        stub = self._drawing.stub_at(self.mapToScene(position))
        if stub is None:
            self.state_clicked.emit(self._state_at(position))
        else:
            self.stub_clicked.emit(stub)

    def _state_at(self, position: QPoint) -> int:
        state = self._drawing.state_at(self.mapToScene(position))
        return -1 if state is None else state

    def _is_far(self, position: QPoint) -> bool:
        assert self._pressed is not None
        return (position - self._pressed).manhattanLength() >= QApplication.startDragDistance()


class Minimap(QWidget):
    """A small picture of the drawing in a view."""

    def __init__(self, view: GraphView, scene: AutomatonScene) -> None:
        super().__init__()
        self._view = view
        self._drawing = scene
        self._picture: QPixmap | None = None
        self.setFixedWidth(_MAP_SIZE.width())
        self.setMinimumHeight(_MAP_SIZE.height() // 2)
        self.setAccessibleName(ui_text("graph.view.map.name"))
        self.setToolTip(ui_text("graph.view.map.tip"))
        self._update_timer = delayed(self, 0, self.update)
        scene.sceneRectChanged.connect(lambda _rect: self.invalidate())
        scene.highlights_changed.connect(self._update_timer.start)
        for bar in (view.horizontalScrollBar(), view.verticalScrollBar()):
            bar.valueChanged.connect(lambda _value: self._update_timer.start())
        view.zoomed.connect(lambda _zoom: self._update_timer.start())
        theme.themes.changed.connect(self.invalidate)

    def sizeHint(self) -> QSize:
        """Return the minimap's size."""
        return _MAP_SIZE

    def invalidate(self) -> None:
        """Paint the drawing again."""
        self._picture = None
        self._update_timer.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint the drawing again."""
        super().resizeEvent(event)
        self.invalidate()

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
        for state in self._drawing.highlights.live:
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
        self._view.center_at(inverse.map(position))

    def _transform(self) -> QTransform:
        rect, inner = (
            self._drawing.sceneRect(),
            QRectF(self.rect()).adjusted(_MAP_INSET, _MAP_INSET, -_MAP_INSET, -_MAP_INSET),
        )
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
        transform, placed = self._transform(), self._drawing.positioned
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


def state_towards(
    boxes: Mapping[int, QRectF], joined: Collection[int], state: int, direction: tuple[int, int]
) -> int | None:
    """Return the next state in a direction; None if there is none.

    Args:
        boxes: the boxes of the states; stubs are ignored.
        joined: the states that an edge connects to the current one.
        state: the current state.
        direction: the arrow, such as `(1, 0)` to the right.
    """
    here = boxes[state].center()
    best: tuple[float, int] | None = None
    for other, box in boxes.items():
        if other < 0 or other == state:
            continue
        cost = _cost(box.center() - here, direction)
        if cost is None:
            continue
        cost *= 1.0 if other in joined else _DETOUR
        if best is None or (cost, other) < best:
            best = cost, other
    return None if best is None else best[1]


def _cost(offset: QPointF, direction: tuple[int, int]) -> float | None:
    """Return a cost of distance and deviation; None if it is in another direction."""
    length = math.hypot(offset.x(), offset.y())
    along = (offset.x() * direction[0] + offset.y() * direction[1]) / length if length else 0.0
    return length / along if along >= _WIDEST else None
