"""The static drawing: everything that does not change from one step to the next.

It consists of a few path items, each with some dozens of shapes that are near each other: Qt skips those outside of the
view, and draws one path of many shapes faster than many items. Thousands of edges are drawn in slices, between which
the window handles events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer
from PySide6.QtGui import QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem, QGraphicsScene

from app import theme
from app.graph.draw import shapes
from app.graph.draw.positioned_diagram import Chain, PositionedDiagram
from app.graph.draw.styles import fill, pen
from app.graph.layout.types import Point
from app.theme import Role

_TILE, _LONG_TILE = 400.0, 1600.0
_LINE = 1.2
_MOST_AT_ONCE = 400  # edges; more are drawn in slices
_SLICE_MS = 8


class StaticLayer(QObject):
    """The bodies, lines, stubs and boxes of one scene.

    Attributes:
        is_large: whether there are so many edges that fast drawing methods are needed.
    """

    def __init__(self, scene: QGraphicsScene) -> None:
        super().__init__(scene)
        self._scene = scene
        self._is_stale = False
        self.is_large = False
        self._remaining_edges: Iterator[list[Chain]] = iter(())
        self._slice_timer = QTimer(self, singleShot=True)
        self._slice_timer.timeout.connect(self._draw_more)
        self.lines: list[QGraphicsPathItem] = []
        self.heads: list[QGraphicsPathItem] = []
        self.bodies: list[QGraphicsPathItem] = []
        self._stubs, self._frames = layer(scene, 30), layer(scene, 1)

    @property
    def is_drawing(self) -> bool:
        """Return whether there are edges left to draw."""
        return self._slice_timer.isActive()

    def draw(self, placed: PositionedDiagram) -> None:
        """Draw another diagram instead of the current one."""
        for item in (*self.lines, *self.heads, *self.bodies):
            self._scene.removeItem(item)
        self.lines, self.heads, self.bodies = [], [], []
        self.is_large = len(placed.curves) > _MOST_AT_ONCE
        self._draw_bodies(placed)
        self._stubs.setPath(shapes.pills(box for node, box in placed.boxes.items() if node < 0))
        self._frames.setPath(shapes.frames(placed.rects))
        picture = placed.picture
        starts: set[int | None] = {states[0] for _, states in picture.groups} or {picture.start}
        for start, box in placed.boxes.items():
            if start in starts:
                border = box.left(), box.center().y()
                self._draw_edges(shapes.entry(border), shapes.entry_head(border))
        for tile in _tiles(placed.chains(picture.calls & placed.curves.keys())):
            self._draw_edges(shapes.curves(tile), shapes.heads(tile), Qt.PenStyle.CustomDashLine)
        self._remaining_edges = _tiles(chain for key, chain in placed.curves.items() if key not in picture.calls)
        self._draw_more(None if len(placed.curves) <= _MOST_AT_ONCE else _SLICE_MS)

    def finish(self) -> None:
        """Draw the remaining edges at once, for a caller that needs all of them."""
        self._draw_more(None)

    def recolour(self, *, is_stale: bool) -> None:
        """Apply the colours of the current theme; a stale drawing is grey."""
        self._is_stale = is_stale
        line = self._line_role
        for item in self.lines:
            item.setPen(self._line_pen(item.pen().style()))
        for item in self.heads:
            fill(item, line)
        for item in self.bodies:
            item.setPen(pen(line if is_stale else Role.TEXT, 1.3))
            item.setBrush(theme.colour(Role.RAISED))
        self._stubs.setPen(pen(line, 1.2, Qt.PenStyle.DashLine))
        self._stubs.setBrush(theme.colour(Role.PANEL))
        self._frames.setPen(pen(Role.DISABLED, 1.0))
        self._frames.setBrush(theme.colour(Role.PANEL))

    def _draw_bodies(self, placed: PositionedDiagram) -> None:
        tiles: defaultdict[Point, list[int]] = defaultdict(list)
        for state, box in placed.boxes.items():
            if state >= 0:
                tiles[box.left() // _TILE, box.top() // _TILE].append(state)
        for members in tiles.values():
            self.bodies.append(layer(self._scene, 30, placed.outlines(members)))

    def _draw_more(self, budget_ms: int | None = _SLICE_MS) -> None:
        """Draw edges until the time is up, and continue after pending events; without a budget, draw all of them."""
        clock = QElapsedTimer()
        clock.start()
        for tile in self._remaining_edges:
            self._draw_edges((shapes.polylines if self.is_large else shapes.curves)(tile), shapes.heads(tile))
            if budget_ms is not None and clock.elapsed() >= budget_ms:
                self._slice_timer.start()
                return
        self._slice_timer.stop()

    def _draw_edges(self, lines: QPainterPath, heads: QPainterPath, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
        line, head = layer(self._scene, 10, lines), layer(self._scene, 10, heads)
        line.setPen(self._line_pen(style))
        fill(head, self._line_role)
        self.lines.append(line)
        self.heads.append(head)

    def _line_pen(self, style: Qt.PenStyle) -> QPen:
        """Return the pen of lines; in a large drawing they are a pixel wide at every zoom, for speed."""
        if not self.is_large:
            return pen(self._line_role, _LINE, style)
        thin = pen(self._line_role, 1.0, style)
        thin.setCosmetic(True)
        return thin

    @property
    def _line_role(self) -> Role:
        return Role.BORDER if self._is_stale else Role.MUTED


def layer(scene: QGraphicsScene, z: float, path: QPainterPath | None = None) -> QGraphicsPathItem:
    """Add a path item with a z value to a scene."""
    item = QGraphicsPathItem(path or QPainterPath())
    item.setZValue(z)
    scene.addItem(item)
    return item


def _tiles(chains: Iterable[Chain]) -> Iterator[list[Chain]]:
    """Group curves by position, long ones in larger tiles, so that invisible ones are not painted."""
    tiles: defaultdict[tuple[bool, float, float], list[Chain]] = defaultdict(list)
    for chain in chains:
        (x0, y0), (x1, y1) = chain[0], chain[-1]
        is_long = abs(x1 - x0) > _TILE or abs(y1 - y0) > _TILE
        size = _LONG_TILE if is_long else _TILE
        tiles[is_long, x0 // size, y0 // size].append(chain)
    yield from tiles.values()
