"""The layers of a drawing: what is static, the highlights, and the texts.

*Static* is everything that does not change from one step to the next. It consists of a few path items, each with some
dozens of shapes that are near each other: Qt skips those outside of the view, and draws one path of many shapes faster
than many items. Thousands of edges are drawn in slices, between which the window handles events, and painted from a
picture of the view.

*Highlights* are paths above the static drawing, so that a step changes a dozen items and not two thousand. Every colour
has a second cue: a live state has a thick outline and a halo, its outgoing edges are thicker, the path of the match is
a broad band below its lines, the path of a candidate is a broad dashed band, a selected state has a dashed ring. With
coverage, covered edges have a broad band, and uncovered ones are dotted. With what was lost, the ring of a state and
the band of an edge are broader for more of it, and dotted where it is unknown. A breakpoint is a dot at the upper left
of its state, an empty one if it is disabled; a bookmark is a ribbon at the lower left, a comment a speech bubble at the
lower right. The colour that a user gave a state fills it, and is named in the table and in the card of the state.

*Texts* are created when they become visible. A drawing of 2,000 states has some 6,000 texts; creating them all would
block the window for half a second, and those that are far outside of the view or too small to read are never seen. So a
text becomes an item when its position first becomes visible at a readable zoom. Where the drawing is too small for
that, *names* take their place: as large at every zoom, and as many as have room.

Lines are as thick as the zoom makes them, but never thinner than at 100%: a fitted drawing would be all hairlines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import Generic, NamedTuple, TypeVar

from PySide6.QtCore import QElapsedTimer, QObject, QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPixmap, QTransform
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsPathItem,
    QGraphicsRectItem,
    QGraphicsScene,
    QGraphicsSimpleTextItem,
    QStyleOptionGraphicsItem,
    QWidget,
)

from app import theme
from app.graph.draw import shapes
from app.graph.draw.diagram import Chain, PositionedDiagram, name_font
from app.graph.draw.shapes import fill, pen
from app.graph.layout.labelling import Rects, around
from app.graph.layout.types import EdgeKey, Point
from app.theme import NOTE_COLOURS, Role

_MANY_EDGES = 16
_REACH = 6.0
_HALO = 4.5
_DOT = 5.0  # the radius of a breakpoint
_BAND = 7.0
COVERED_WIDTHS = (3.0, 6.0, 9.0, 13.0, 18.0)
"""The widths of the bands of covered edges: a fifth of the texts for each."""
_RING = 0.6  # the width of the ring of a state, as a share of that of a band
_LOST_LEVELS = (None, *range(len(COVERED_WIDTHS)))
_COVERED = 9.0  # where the share is unknown
_TILE, _LONG_TILE, _PIECE_TILE = 400.0, 1600.0, 600.0
_SAME_ZOOM, _MOST_SCALED = 1e-6, 0.5  # differences of the zoom between a picture and a frame
_LINE = 1.2
_MOST_AT_ONCE = 400  # edges; more are drawn in slices
_SLICE_MS = 8
_MOST_KEPT = 600
_MOST_NAMES = 200
_WIDEST_NAME = 150.0  # pixels
_TITLE_INSET = 6.0
_QUIET = 0.85
_LABEL_TILE = 400.0
Key = TypeVar("Key", bound=Hashable)


class StaticLayer(QObject):
    """The bodies, lines, stubs and boxes of one scene.

    Attributes:
        is_large: whether there are so many edges that fast drawing methods are needed.
    """

    def __init__(self, scene: QGraphicsScene) -> None:
        super().__init__(scene)
        self._scene = scene
        self._is_stale = False
        self._is_thin = False
        self.is_large = False
        self._remaining_work: Iterator[None] = iter(())
        self._slice_timer = QTimer(self, singleShot=True)
        self._slice_timer.timeout.connect(self._draw_more)
        self.lines: list[QGraphicsPathItem] = []
        self.heads: list[QGraphicsPathItem] = []
        self.bodies: list[QGraphicsPathItem] = []
        self.pieces = PieceItem()
        scene.addItem(self.pieces)
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
        self.pieces.clear()
        self.is_large = len(placed.curves) > _MOST_AT_ONCE
        self._draw_bodies(placed)
        self._stubs.setPath(shapes.pills(box for node, box in placed.boxes.items() if node < 0))
        self._frames.setPath(shapes.frames(placed.rects))
        diagram = placed.diagram
        starts: set[int | None] = {states[0] for _, states in diagram.groups} or {diagram.start}
        for start, box in placed.boxes.items():
            if start in starts:
                border = box.left(), box.center().y()
                self._draw_edges(shapes.entry(border), shapes.entry_head(border))
        for tile in _tiles(placed.chains(diagram.calls & placed.curves.keys())):
            self._draw_edges(shapes.curves(tile), shapes.heads(tile), Qt.PenStyle.CustomDashLine)
        chains = [chain for key, chain in placed.curves.items() if key not in diagram.calls]
        self._remaining_work = self._draw_pieces(chains) if self.is_large else self._draw_curves(chains)
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
        self.pieces.recolour(line)
        for item in self.bodies:
            item.setPen(_kept(pen(line if is_stale else Role.TEXT, 1.3), self._is_thin))
            item.setBrush(theme.colour(Role.RAISED))
        self._stubs.setPen(_kept(pen(line, 1.2, Qt.PenStyle.DashLine), self._is_thin))
        self._stubs.setBrush(theme.colour(Role.PANEL))
        self._frames.setPen(_kept(pen(Role.DISABLED, 1.0), self._is_thin))
        self._frames.setBrush(theme.colour(Role.PANEL))

    def set_thin(self, is_thin: bool) -> None:
        """Keep the thickness of lines on the screen, since the zoom would make them thinner than at 100%.

        That of a large drawing is always kept, as that of its `pieces`: new pens for hundreds of items take 10 ms.
        """
        is_kept = is_thin or self.is_large
        if is_kept != self._is_thin:
            self._is_thin = is_kept
            for item in (*self.lines, *self.bodies, self._stubs, self._frames):
                item.setPen(_kept(item.pen(), is_kept))

    def _draw_bodies(self, placed: PositionedDiagram) -> None:
        tiles: defaultdict[Point, list[int]] = defaultdict(list)
        size = _PIECE_TILE if self.is_large else _TILE
        for state, box in placed.boxes.items():
            if state >= 0:
                tiles[box.left() // size, box.top() // size].append(state)
        for members in tiles.values():
            self.bodies.append(layer(self._scene, 30, placed.outlines(members)))

    def _draw_more(self, budget_ms: int | None = _SLICE_MS) -> None:
        """Draw edges until the time is up, and continue after pending events; without a budget, draw all of them."""
        clock = QElapsedTimer()
        clock.start()
        for _ in self._remaining_work:
            if budget_ms is not None and clock.elapsed() >= budget_ms:
                self._slice_timer.start()
                return
        self._slice_timer.stop()

    def _draw_curves(self, chains: Iterable[Chain]) -> Iterator[None]:
        """Draw edges, some at each step."""
        for tile in _tiles(chains):
            self._draw_edges(shapes.curves(tile), shapes.heads(tile))
            yield

    def _draw_pieces(self, chains: Iterable[Chain]) -> Iterator[None]:
        """Draw edges as straight pieces, some at each step; each piece in its own tile, so that few are painted."""
        lines: defaultdict[tuple[float, float], list[list[Point]]] = defaultdict(list)
        tips: defaultdict[tuple[float, float], list[Chain]] = defaultdict(list)
        for chain in chains:
            tile = None
            for before, after in pairwise(_divided(shapes.straightened(chain))):
                its_tile = (before[0] + after[0]) // (2 * _PIECE_TILE), (before[1] + after[1]) // (2 * _PIECE_TILE)
                if its_tile != tile:
                    tile = its_tile
                    lines[tile].append([before])
                lines[tile][-1].append(after)
            tips[chain[-1][0] // _PIECE_TILE, chain[-1][1] // _PIECE_TILE].append(chain)
            yield
        for tile in sorted(lines.keys() | tips.keys()):
            self.pieces.add(shapes.polylines(lines[tile]), shapes.heads(tips[tile]))
            yield

    def _draw_edges(self, lines: QPainterPath, heads: QPainterPath, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
        line, head = layer(self._scene, 10, lines), layer(self._scene, 10, heads)
        line.setPen(self._line_pen(style))
        fill(head, self._line_role)
        self.lines.append(line)
        self.heads.append(head)

    def _line_pen(self, style: Qt.PenStyle) -> QPen:
        return _kept(pen(self._line_role, _LINE, style), self._is_thin)

    @property
    def _line_role(self) -> Role:
        return Role.BORDER if self._is_stale else Role.MUTED


class PieceItem(QGraphicsItem):
    """The lines of a large drawing as straight pieces, a pixel wide at every zoom, painted from a picture.

    Thousands of lines cross a view, and painting them takes 10 to 20 ms. So they are painted into a picture as large as
    the view, which later frames copy. While the view scrolls, the picture is scrolled; while it zooms, the picture is
    scaled, and only what comes into view is painted, until the movement ends.

    Attributes:
        is_moving: whether a scaled picture is good enough.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setZValue(10)
        self.is_moving = False
        self._tiles: list[tuple[QRectF, QPainterPath, QPainterPath]] = []
        self._extent = QRectF()
        self._role = Role.MUTED
        self._picture: QPixmap | None = None
        self._transform = QTransform()  # of the picture
        self._is_exact = False  # whether the picture was never scaled, and all of it is as smooth as `_is_smooth`
        self._is_smooth = False

    def clear(self) -> None:
        """Remove all lines."""
        self.prepareGeometryChange()
        self._tiles, self._extent, self._picture = [], QRectF(), None

    def add(self, lines: QPainterPath, heads: QPainterPath) -> None:
        """Add the lines and the arrowheads of a part of the drawing."""
        self.prepareGeometryChange()
        rect = lines.controlPointRect().united(heads.controlPointRect()).adjusted(-1, -1, 1, 1)
        self._tiles.append((rect, lines, heads))
        self._extent = self._extent.united(rect)
        self._picture = None

    def recolour(self, role: Role) -> None:
        """Draw the lines in another colour."""
        self._role, self._picture = role, None
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the bounding rectangle of all lines."""
        return self._extent

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Copy the picture into a view; paint the lines themselves into an exported image."""
        if widget is None:
            self._paint_lines(painter, self._extent)
            return
        transform, is_smooth = painter.worldTransform(), painter.testRenderHint(QPainter.RenderHint.Antialiasing)
        picture = self._picture
        size = widget.size()
        is_same_size = picture is not None and picture.deviceIndependentSize().toSize() == size
        if picture is None or not (is_same_size or self.is_moving):
            picture = None
        elif transform != self._transform or not is_same_size:
            picture = self._moved(picture, transform, size, is_smooth=is_smooth)
        elif not self.is_moving and not (self._is_exact and is_smooth == self._is_smooth):
            picture = None
        if picture is None:
            picture = _empty_picture(size, widget.devicePixelRatioF())
            self._paint_into(picture, transform, [QRect(QPoint(), size)], is_smooth=is_smooth)
            self._is_exact, self._is_smooth = True, is_smooth
        self._picture, self._transform = picture, transform
        painter.resetTransform()
        painter.drawPixmap(0, 0, picture)
        painter.setWorldTransform(transform)

    def _moved(self, before: QPixmap, transform: QTransform, size: QSize, *, is_smooth: bool) -> QPixmap | None:
        """Return the picture after a movement, made from the previous one; None if that differs too much.

        Args:
            before: the previous picture.
            transform: the new position.
            size: of the view: scroll bars come and go while it zooms.
            is_smooth: whether lines are smooth now.
        """
        step = self._transform.inverted()[0] * transform
        is_scaled = abs(step.m11() - 1) > _SAME_ZOOM
        if is_scaled and not (self.is_moving and abs(step.m11() - 1) <= _MOST_SCALED):
            return None
        ratio = before.devicePixelRatio()
        if not is_scaled:
            step = QTransform.fromTranslate(round(step.dx()), round(step.dy()))
        is_whole = all((by * ratio).is_integer() for by in (step.dx(), step.dy()))
        self._is_exact = self._is_exact and not is_scaled and is_whole and is_smooth == self._is_smooth
        picture = _empty_picture(size, ratio)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_scaled)
        painter.setTransform(step)
        painter.drawPixmap(0, 0, before)
        painter.end()
        view = QRect(QPoint(), size)
        kept = step.mapRect(QRectF(QPointF(), before.deviceIndependentSize())).toRect()
        if is_scaled:
            kept.adjust(1, 1, -1, -1)  # its border is mixed with what is outside
        kept &= view
        # Clipped to all sides at once, a painter would look at every line between them.
        sides = (
            QRect(view.topLeft(), QPoint(view.right(), kept.top() - 1)),
            QRect(QPoint(view.left(), kept.top()), QPoint(kept.left() - 1, kept.bottom())),
            QRect(QPoint(kept.right() + 1, kept.top()), QPoint(view.right(), kept.bottom())),
            QRect(QPoint(view.left(), kept.bottom() + 1), view.bottomRight()),
        )
        self._paint_into(picture, transform, [side for side in sides if side.isValid()], is_smooth=is_smooth)
        return picture

    def _paint_into(self, picture: QPixmap, transform: QTransform, rects: Iterable[QRect], *, is_smooth: bool) -> None:
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_smooth)
        for rect in rects:
            painter.resetTransform()
            painter.setClipRect(rect)
            painter.setTransform(transform)
            self._paint_lines(painter, transform.inverted()[0].mapRect(QRectF(rect)))
        painter.end()

    def _paint_lines(self, painter: QPainter, rect: QRectF) -> None:
        painter.setPen(_kept(pen(self._role, 1.0), True))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        tiles = [tile for tile in self._tiles if tile[0].intersects(rect)]
        for _, lines, _ in tiles:
            painter.drawPath(lines)
        for _, _, heads in tiles:
            painter.fillPath(heads, theme.colour(self._role))


def _divided(points: Sequence[Point]) -> Iterator[Point]:
    """Yield the points of a line, with others between those that are farther from each other than a tile is wide."""
    yield points[0]
    for (x0, y0), (x1, y1) in pairwise(points):
        count = ceil(max(abs(x1 - x0), abs(y1 - y0)) / _PIECE_TILE)
        for part in range(1, count):
            yield x0 + (x1 - x0) * part / count, y0 + (y1 - y0) * part / count
        yield x1, y1


def _empty_picture(size: QSize, ratio: float) -> QPixmap:
    picture = QPixmap((QSizeF(size) * ratio).toSize())
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    return picture


def _kept(pen_: QPen, is_kept: bool) -> QPen:
    """Return a pen whose thickness on the screen is kept at every zoom, or follows it."""
    pen_.setCosmetic(is_kept)
    return pen_


def layer(scene: QGraphicsScene, z: float, path: QPainterPath | None = None) -> QGraphicsPathItem:
    """Add a path item to a scene.

    Args:
        scene: receives the item.
        z: its z value.
        path: its shape; None for an empty one.
    """
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


@dataclass(frozen=True, slots=True)
class Highlights:
    """The highlighted elements; those that are not drawn are ignored.

    Attributes:
        live: the live states.
        text_starts: the first states of texts inside which the match is.
        next_edges: the outgoing edges of the live states, and those whose calls are open.
        path: the edges that the match has taken.
        candidate_path: the edges that a candidate would take, and `candidate_states` the states that it would reach.
        highlighted, highlighted_edges: the states and edges of the hovered element.
        covered, uncovered: the covered and the uncovered edges.
        shares: the share of the texts that use a covered edge, where it is known.
        uncovered_states: the uncovered states.
        lost, lost_states: what was lost at edges and states: an index of `COVERED_WIDTHS`, None where it is unknown.
        breakpoints, disabled_breakpoints: the states with an enabled and with a disabled breakpoint.
        parted: the states at which the masks of engines differ.
        chosen, chosen_states: the selected edge, or the edges of the paths that the user asked for with their ends.
        coloured: the states that the user coloured, by colour.
        bookmarked, commented: the states with a bookmark and with a comment.
        hovered: the state under the pointer.
        selected: the selected state.
    """

    live: frozenset[int] = frozenset()
    text_starts: frozenset[int] = frozenset()
    next_edges: frozenset[EdgeKey] = frozenset()
    path: frozenset[EdgeKey] = frozenset()
    candidate_path: frozenset[EdgeKey] = frozenset()
    candidate_states: frozenset[int] = frozenset()
    highlighted: frozenset[int] = frozenset()
    highlighted_edges: frozenset[EdgeKey] = frozenset()
    covered: frozenset[EdgeKey] = frozenset()
    uncovered: frozenset[EdgeKey] = frozenset()
    uncovered_states: frozenset[int] = frozenset()
    shares: Mapping[EdgeKey, float] = field(default_factory=dict)
    lost: Mapping[EdgeKey, int | None] = field(default_factory=dict)
    lost_states: Mapping[int, int | None] = field(default_factory=dict)
    breakpoints: frozenset[int] = frozenset()
    disabled_breakpoints: frozenset[int] = frozenset()
    parted: frozenset[int] = frozenset()
    chosen: frozenset[EdgeKey] = frozenset()
    chosen_states: frozenset[int] = frozenset()
    coloured: Mapping[Role, frozenset[int]] = field(default_factory=dict)
    bookmarked: frozenset[int] = frozenset()
    commented: frozenset[int] = frozenset()
    hovered: int | None = None
    selected: int | None = None


def covered_width(share: float | None) -> float:
    """Return the width of the band of an edge that a share of the texts uses; None if it is unknown."""
    if share is None:
        return _COVERED
    return COVERED_WIDTHS[min(max(ceil(share * len(COVERED_WIDTHS)), 1), len(COVERED_WIDTHS)) - 1]


def _lost_width(level: int | None) -> float:
    return _COVERED / 2 if level is None else COVERED_WIDTHS[level]


def lost_pen(level: int | None, *, is_stale: bool = False) -> QPen:
    """Return the pen of what was lost, by the index of its width; None where it is unknown."""
    if level is None:
        return pen(Role.DISABLED, _lost_width(None), Qt.PenStyle.DotLine, 0.8)
    opacity = 0.2 + 0.07 * level
    return pen(Role.DISABLED if is_stale else Role.FORBIDDEN, _lost_width(level), opacity=opacity)


class HighlightLayer:
    """The highlight items of one scene."""

    def __init__(self, scene: QGraphicsScene) -> None:
        self._is_stale = False
        self._is_many = False
        self._is_thin = False
        self.frames = layer(scene, 2)
        self.path, self.candidate_path = layer(scene, 8), layer(scene, 9)
        self.covered = {width: layer(scene, 7) for width in COVERED_WIDTHS}
        self.lost = {level: layer(scene, 7) for level in _LOST_LEVELS}
        self.lost_states = {level: layer(scene, 29) for level in _LOST_LEVELS}
        self._uncovered_ground, self.uncovered, self.uncovered_states = (
            layer(scene, 10.2),
            layer(scene, 10.3),
            layer(scene, 34),
        )
        self.next_lines, self.next_heads = layer(scene, 11), layer(scene, 12)
        # The dashes of a highlighted call need a background, or those of the static line would fill their gaps.
        self._call_ground, self.next_calls = layer(scene, 10.5), layer(scene, 11)
        self.highlighted_lines, self.highlighted_heads = layer(scene, 13), layer(scene, 14)
        self.highlighted_bodies, self.halo, self.live_bodies = layer(scene, 31), layer(scene, 32), layer(scene, 33)
        self.breakpoints, self.disabled_breakpoints = layer(scene, 36), layer(scene, 36)
        self.parted = layer(scene, 36)
        self.bookmarks, self.comments = layer(scene, 36), layer(scene, 36)
        self.chosen, self.chosen_heads, self.chosen_states = layer(scene, 9.5), layer(scene, 14), layer(scene, 34)
        self.coloured = {role: layer(scene, 30.5) for role in NOTE_COLOURS}
        self.candidate_states, self.hovered_rings, self.ring = layer(scene, 34), layer(scene, 34), layer(scene, 35)

    def show(self, placed: PositionedDiagram, highlights: Highlights) -> None:
        """Show these highlights, and no others."""
        calls = placed.diagram.calls
        self.path.setPath(shapes.curves(placed.chains(highlights.path)))
        self.candidate_path.setPath(shapes.curves(placed.chains(highlights.candidate_path)))
        of_width: defaultdict[float, list[EdgeKey]] = defaultdict(list)
        for key in highlights.covered:
            of_width[covered_width(highlights.shares.get(key))].append(key)
        for width, item in self.covered.items():
            item.setPath(shapes.curves(placed.chains(of_width[width])))
        for level in _LOST_LEVELS:
            edges = frozenset(key for key, its in highlights.lost.items() if its == level)
            self.lost[level].setPath(shapes.curves(placed.chains(edges)))
            states = sorted(state for state, its in highlights.lost_states.items() if its == level)
            self.lost_states[level].setPath(placed.rings(states, _RING * _lost_width(level) / 2))
        uncovered = shapes.curves(placed.chains(highlights.uncovered))
        for item in (self._uncovered_ground, self.uncovered):
            item.setPath(uncovered)
        self.uncovered_states.setPath(placed.rings(sorted(highlights.uncovered_states), _HALO))
        self.next_lines.setPath(shapes.curves(placed.chains(highlights.next_edges - calls)))
        called = shapes.curves(placed.chains(highlights.next_edges & calls))
        for item in (self._call_ground, self.next_calls):
            item.setPath(called)
        self.next_heads.setPath(shapes.heads(placed.chains(highlights.next_edges), scale=1.25))
        groups = zip(placed.diagram.groups, placed.rects, strict=False)
        text_starts = highlights.live | highlights.text_starts
        self.frames.setPath(shapes.frames(rect for (_, states), rect in groups if not text_starts.isdisjoint(states)))
        self._is_many = len(highlights.next_edges) > _MANY_EDGES
        self._style_following()
        highlighted_edges = placed.chains(highlights.highlighted_edges)
        self.highlighted_lines.setPath(shapes.curves(highlighted_edges))
        self.highlighted_heads.setPath(shapes.heads(highlighted_edges, scale=1.25))
        self.highlighted_bodies.setPath(placed.outlines(sorted(highlights.highlighted - highlights.live)))
        live = sorted(highlights.live)
        self.halo.setPath(placed.rings(live, _HALO))
        self.live_bodies.setPath(placed.outlines(live))
        self.candidate_states.setPath(placed.rings(sorted(highlights.candidate_states), _HALO))
        hovered = {
            *(highlights.highlighted & highlights.live),
            *([] if highlights.hovered is None else [highlights.hovered]),
        }
        self.hovered_rings.setPath(placed.rings(sorted(hovered)))
        self.breakpoints.setPath(placed.dots(sorted(highlights.breakpoints), _DOT))
        self.disabled_breakpoints.setPath(placed.dots(sorted(highlights.disabled_breakpoints), _DOT))
        self.parted.setPath(placed.diamonds(sorted(highlights.parted), _DOT + 1))
        self.bookmarks.setPath(placed.ribbons(sorted(highlights.bookmarked), _DOT))
        self.comments.setPath(placed.speech_marks(sorted(highlights.commented), _DOT + 1))
        chosen = placed.chains(highlights.chosen)
        self.chosen.setPath(shapes.curves(chosen))
        self.chosen_heads.setPath(shapes.heads(chosen, scale=1.5))
        self.chosen_states.setPath(placed.rings(sorted(highlights.chosen_states), _REACH))
        for role, item in self.coloured.items():
            item.setPath(placed.outlines(sorted(highlights.coloured.get(role, ()))))
        self.ring.setPath(placed.rings([] if highlights.selected is None else [highlights.selected], _REACH))

    def recolour(self, *, is_stale: bool) -> None:
        """Apply the colours of the current theme; a stale drawing is grey."""
        self._is_stale = is_stale
        live, background = (Role.DISABLED, Role.RAISED) if is_stale else (Role.LIVE, Role.LIVE_FILL)
        self.path.setPen(pen(live, _BAND, opacity=0.25))
        self.candidate_path.setPen(pen(Role.ACCENT, _BAND, Qt.PenStyle.CustomDashLine, 0.55))
        for width, item in self.covered.items():
            item.setPen(pen(Role.DISABLED if is_stale else Role.ALLOWED, width, opacity=0.35))
        for level in _LOST_LEVELS:
            self.lost[level].setPen(lost_pen(level, is_stale=is_stale))
            ring = lost_pen(level, is_stale=is_stale)
            ring.setWidthF(_RING * ring.widthF())
            self.lost_states[level].setPen(ring)
        self._uncovered_ground.setPen(pen(Role.PANEL, 3.0))
        for item in (self.uncovered, self.uncovered_states):
            item.setPen(pen(Role.DISABLED if is_stale else Role.WARNING, 2.2, Qt.PenStyle.DotLine))
        self._style_following()
        fill(self.next_heads, live)
        self._call_ground.setPen(pen(Role.PANEL, 3.0))
        self.highlighted_lines.setPen(_kept(pen(Role.ACCENT, 2.2), self._is_thin))
        fill(self.highlighted_heads, Role.ACCENT)
        self.highlighted_bodies.setPen(pen(Role.ACCENT, 2.0))
        self.highlighted_bodies.setBrush(theme.colour(Role.HOVER))
        halo = theme.colour(live)
        halo.setAlphaF(0.22)
        self.halo.setPen(QPen(halo, 2 * _HALO))
        self.live_bodies.setPen(_kept(pen(live, 2.6), self._is_thin))
        self.live_bodies.setBrush(theme.colour(background))
        self.candidate_states.setPen(pen(Role.ACCENT, 2.2, Qt.PenStyle.CustomDashLine))
        self.hovered_rings.setPen(pen(Role.ACCENT, 2.2))
        self.ring.setPen(pen(Role.ACCENT, 1.6, Qt.PenStyle.DashLine))
        for item, background_role in ((self.breakpoints, Role.FORBIDDEN), (self.disabled_breakpoints, Role.PANEL)):
            item.setPen(pen(Role.FORBIDDEN, 1.6))
            item.setBrush(theme.colour(background_role))
        self.parted.setPen(pen(Role.PANEL, 1.2))
        self.parted.setBrush(theme.colour(Role.DISABLED if is_stale else Role.WARNING))
        for item in (self.bookmarks, self.comments):
            item.setPen(pen(Role.PANEL, 1.2))
        fill_role = Role.DISABLED if is_stale else Role.ACCENT
        self.bookmarks.setBrush(theme.colour(fill_role))
        self.comments.setBrush(theme.colour(Role.DISABLED if is_stale else Role.TEXT))
        self.chosen.setPen(pen(fill_role, _BAND, opacity=0.4))
        fill(self.chosen_heads, fill_role)
        self.chosen_states.setPen(pen(fill_role, 2.6, opacity=0.5))
        for role, item in self.coloured.items():
            item.setPen(_kept(pen(Role.BORDER if is_stale else Role.TEXT, 1.3), self._is_thin))
            item.setBrush(theme.colour(Role.RAISED if is_stale else role))
        self.frames.setPen(_kept(pen(live, 1.6), self._is_thin))
        self.frames.setBrush(theme.colour(Role.PANEL))

    def set_thin(self, is_thin: bool) -> None:
        """Keep the thickness of lines on the screen, as that of the static ones."""
        if is_thin != self._is_thin:
            self._is_thin = is_thin
            self.recolour(is_stale=self._is_stale)

    def _style_following(self) -> None:
        # Many thick lines from one state would merge into a blot.
        role = Role.DISABLED if self._is_stale else Role.LIVE
        width = 1.3 if self._is_many else 2.2
        self.next_lines.setPen(_kept(pen(role, width), self._is_thin))
        self.next_calls.setPen(_kept(pen(role, width, Qt.PenStyle.CustomDashLine), self._is_thin))


class EdgeLabel(NamedTuple):
    """A text with its centre and the size reserved for it."""

    text: str
    x: float
    y: float
    width: float
    height: float

    @property
    def rect(self) -> QRectF:
        """Return the reserved rectangle."""
        return QRectF(self.x - self.width / 2, self.y - self.height / 2, self.width, self.height)


@dataclass(frozen=True, slots=True)
class LabelColours:
    """The style of a text; `background` is None for a transparent one, and a quiet text is small."""

    colour: QColor
    bold: bool = False
    background: QColor | None = None
    quiet: bool = False


class LabelLayer(Generic[Key]):
    """The texts of one kind in one scene."""

    def __init__(
        self, scene: QGraphicsScene, z: float, font: Callable[[], QFont], style: Callable[[Key], LabelColours]
    ) -> None:
        self._root = QGraphicsRectItem()
        self._root.setPen(Qt.PenStyle.NoPen)
        self._root.setZValue(z)
        scene.addItem(self._root)
        self._font = font
        self._style_of = style
        self._labels: dict[Key, EdgeLabel] = {}
        self._tiles: defaultdict[tuple[int, int], list[Key]] = defaultdict(list)  # by position
        self._items: dict[Key, tuple[QGraphicsRectItem, list[QGraphicsSimpleTextItem]]] = {}
        self._fonts: dict[tuple[bool, bool], tuple[QFont, QFontMetricsF]] = {}

    def replace(self, labels: dict[Key, EdgeLabel]) -> None:
        """Replace all texts; items are created later."""
        for background, _ in self._items.values():
            background.scene().removeItem(background)
        self._items.clear()
        self._labels = labels
        self._tiles = defaultdict(list)
        for key, label in labels.items():
            self._tiles[int(label.x // _LABEL_TILE), int(label.y // _LABEL_TILE)].append(key)

    def reveal(self, view: QRectF) -> None:
        """Create the texts that touch `view`, and show all that exist."""
        left, right, top, bottom = view.left(), view.right(), view.top(), view.bottom()
        if len(self._items) > _MOST_KEPT:
            self._remove_outside(view)
        for tile in self._tiles_in(view):
            for key in self._tiles.get(tile, ()):
                label = self._labels[key]
                if key not in self._items and left < label.x < right and top < label.y < bottom:
                    self._items[key] = self._create(key, label)
        self._root.setVisible(True)

    def hide(self) -> None:
        """Hide all texts; they are kept."""
        self._root.setVisible(False)

    def repaint(self, keys: Iterable[Key] | None = None) -> None:
        """Update the style of some texts; all of them after a change of the theme."""
        if keys is None:
            self._fonts.clear()
            keys = self._items
        for key in keys:
            if key in self._items:
                self._update_item(key, *self._items[key])

    def at(self, point: QPointF) -> Key | None:
        """Return the key of the text at a point, if texts are shown at all."""
        if not self._root.isVisible():
            return None
        return next((key for key in self._items if self._labels[key].rect.contains(point)), None)

    @property
    def labels(self) -> Mapping[Key, EdgeLabel]:
        """Return all texts, with or without an item."""
        return self._labels

    def drawn_rects(self) -> dict[Key, QRectF]:
        """Return the rectangle that each text with an item covers, background included."""
        return {key: background.rect() for key, (background, _) in self._items.items()}

    @property
    def item_count(self) -> int:
        """Return the number of texts that have items."""
        return len(self._items)

    def _tiles_in(self, view: QRectF) -> Iterable[tuple[int, int]]:
        columns = range(int(view.left() // _LABEL_TILE), int(view.right() // _LABEL_TILE) + 1)
        rows = range(int(view.top() // _LABEL_TILE), int(view.bottom() // _LABEL_TILE) + 1)
        if len(columns) * len(rows) > len(self._tiles):
            return list(self._tiles)
        return ((column, row) for column in columns for row in rows)

    def _remove_outside(self, view: QRectF) -> None:
        """Remove the items outside of the view: every item costs time in every frame, visible or not."""
        for key, (background, _) in list(self._items.items()):
            if not self._labels[key].rect.intersects(view):
                background.scene().removeItem(background)
                del self._items[key]

    def _create(self, key: Key, label: EdgeLabel) -> tuple[QGraphicsRectItem, list[QGraphicsSimpleTextItem]]:
        background = QGraphicsRectItem(label.rect, self._root)
        background.setPen(Qt.PenStyle.NoPen)
        lines = [QGraphicsSimpleTextItem(line, background) for line in label.text.split("\n")]
        self._update_item(key, background, lines)
        return background, lines

    def _update_item(self, key: Key, background: QGraphicsRectItem, lines: list[QGraphicsSimpleTextItem]) -> None:
        style = self._style_of(key)
        font, metrics = self._font_and_metrics(style)
        background.setBrush(style.background if style.background is not None else Qt.BrushStyle.NoBrush)
        label = self._labels[key]
        widths = [metrics.horizontalAdvance(line.text()) for line in lines]
        width, height = max(widths), len(lines) * metrics.height()
        for number, (line, width_) in enumerate(zip(lines, widths, strict=True)):
            line.setFont(font)
            line.setBrush(style.colour)
            line.setPos(label.x - width_ / 2, label.y - height / 2 + number * metrics.height())
        # The rectangle has a margin, through which the line beside the text may show.
        background.setRect(label.x - width / 2 - 2, label.y - height / 2, width + 4, height)

    def _font_and_metrics(self, style: LabelColours) -> tuple[QFont, QFontMetricsF]:
        """Return the font and its metrics, which cost more to create than a text."""
        key = style.bold, style.quiet
        if key not in self._fonts:
            font = self._font()
            font.setBold(style.bold)
            if style.quiet:
                font.setPointSizeF(font.pointSizeF() * _QUIET)
            self._fonts[key] = font, QFontMetricsF(font)
        return self._fonts[key]


class NodeName(NamedTuple):
    """A name at a zoom at which texts would be too small.

    Attributes:
        text: the name.
        box: what it names, in scene units.
        state: the node; None for a group or an area.
        is_title: whether it is written in the upper left corner of the box, instead of in the middle.
        is_number: whether it says so little that it is shown only if its node has room for it.
        most: the zoom from which it is left out; areas are named only where nodes are too small for that.
    """

    text: str
    box: QRectF
    state: int | None = None
    is_title: bool = False
    is_number: bool = False
    most: float = 1.0


class _NameMeasure(NamedTuple):
    """A name as it is drawn, in numbers alone, since every zoom looks at all of them.

    Attributes:
        text: the name, shortened.
        x, y: where it is in the scene.
        dx, dy: the distance of its middle from there, in pixels.
        width, height: its size in pixels.
        least: the zoom from which on a number has room in its node.
    """

    text: str
    x: float
    y: float
    dx: float
    dy: float
    width: float
    height: float
    least: float


class NameLayer:
    """Names of the same size at every zoom: as many as do not cover one another, the first ones first.

    Items are kept while names are replaced by others at the next zoom: to create one costs more than to paint it.
    """

    def __init__(self, scene: QGraphicsScene, z: float, style: Callable[[int | None], LabelColours]) -> None:
        self._scene, self._z = scene, z
        self._style_of = style
        self._names: Sequence[NodeName] = ()
        self._measures: list[_NameMeasure] = []
        self._items: dict[int, QGraphicsRectItem] = {}  # by the position in `_names`
        self._shown: list[int] = []
        self._zoom: float | None = None  # of the shown names

    def replace(self, names: Sequence[NodeName]) -> None:
        """Replace all names; those that have room are shown at the next zoom."""
        self._remove_items()
        self._names, self._measures, self._shown, self._zoom = names, [], [], None

    def hide(self) -> None:
        """Show no names."""
        self._show_only([])
        self._zoom = None

    def repaint(self, states: Collection[int] | None = None) -> None:
        """Update the style of the names of some nodes; all names after a change of the theme."""
        if states is not None:
            for number, item in self._items.items():
                if self._names[number].state in states:
                    self._style(item, self._names[number])
            return
        self._remove_items()
        self._measures = []
        if self._zoom is not None:
            zoom, self._zoom = self._zoom, None
            self.show(zoom)

    def show(self, zoom: float) -> None:
        """Show as many names as have room at a zoom."""
        if zoom == self._zoom:
            return
        self._zoom = zoom
        taken = Rects()
        shown: list[int] = []
        for number, (name, its) in enumerate(zip(self._names, self._measured(), strict=True)):
            if len(shown) >= _MOST_NAMES:
                break
            if zoom >= name.most or zoom < its.least:
                continue
            rect = around((its.x * zoom + its.dx, its.y * zoom + its.dy), (its.width, its.height))
            if taken.is_free(rect):
                taken.add(rect)
                shown.append(number)
        self._show_only(shown)

    @property
    def texts(self) -> list[str]:
        """Return the shown names."""
        return [self._measured()[number].text for number in self._shown]

    def _measured(self) -> list[_NameMeasure]:
        if not self._measures:
            metrics = QFontMetricsF(name_font())
            for name in self._names:
                text = metrics.elidedText(name.text, Qt.TextElideMode.ElideRight, _WIDEST_NAME)
                width, height = metrics.horizontalAdvance(text) + 4, metrics.height()
                box = name.box
                origin = box.topLeft() if name.is_title else box.center()
                dx, dy = (_TITLE_INSET + width / 2, (_TITLE_INSET + height) / 2) if name.is_title else (0.0, 0.0)
                least = 0.0
                if name.is_number:
                    least = max((width - 2) / max(box.width(), 1.0), (height - 2) / max(box.height(), 1.0))
                self._measures.append(_NameMeasure(text, origin.x(), origin.y(), dx, dy, width, height, least))
        return self._measures

    def _show_only(self, numbers: list[int]) -> None:
        for number in set(self._shown).difference(numbers):
            self._items[number].hide()
        for number in numbers:
            if number not in self._items:
                self._items[number] = self._item(self._names[number], self._measured()[number])
            self._items[number].show()
        self._shown = numbers

    def _remove_items(self) -> None:
        for item in self._items.values():
            self._scene.removeItem(item)
        self._items, self._shown = {}, []

    def _item(self, name: NodeName, its: _NameMeasure) -> QGraphicsRectItem:
        rect = QRectF(its.dx - its.width / 2, its.dy - its.height / 2, its.width, its.height)
        background = QGraphicsRectItem(rect)
        background.setFlag(QGraphicsRectItem.GraphicsItemFlag.ItemIgnoresTransformations)
        background.setPen(Qt.PenStyle.NoPen)
        background.setPos(its.x, its.y)
        background.setZValue(self._z)
        line = QGraphicsSimpleTextItem(its.text, background)
        line.setFont(name_font())
        line.setPos(rect.left() + 2, rect.top())
        self._style(background, name)
        self._scene.addItem(background)
        return background

    def _style(self, item: QGraphicsRectItem, name: NodeName) -> None:
        style = self._style_of(name.state)
        item.setBrush(style.background if style.background is not None else Qt.BrushStyle.NoBrush)
        for line in item.childItems():
            if isinstance(line, QGraphicsSimpleTextItem):
                line.setBrush(style.colour)
