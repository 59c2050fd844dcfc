"""The automaton as a graphics scene: it draws what a layout placed, and decides nothing.

Everything at rest is drawn by a few path items, each of some dozens of shapes
that lie near each other; what is lit (live, pointed at, selected) lies over
them as paths of its own, so that a step changes five items and not two
thousand. Only built-in items are used. Rejected: an item per state with its
own `paint()`, which costs a call into Python for each state and frame.

Every colour has a second cue: a live state has a thick outline and a halo, the
edges that leave it are thicker, a state that accepts has a double outline, a
selected one a dashed ring, and what is not drawn a dashed stub. An edge that
calls a rule is dashed, and its label in angle quotes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from PySide6.QtCore import QElapsedTimer, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QBrush, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem, QGraphicsScene

from app import theme
from app.graph import paths
from app.graph.captions import Caption, Captions, Ink
from app.graph.layout import EdgeKey, LayoutAnswer, LayoutRequest, Point
from app.graph.picture import Picture, label_font, node_font, title_font
from app.theme import Role

Chain: TypeAlias = tuple[Point, ...]

LABELS_FROM_ZOOM = 0.7
NUMBERS_FROM_ZOOM = 0.45
_TILE = 400.0
_MARGIN = 40.0
_MANY_EDGES = 16
_LINE = 1.2
_AT_ONCE = 400  # edges; more are drawn in slices, between which the window answers
_SLICE_MS = 8
_REACH = 6.0
_TITLE_INSET = 14.0


class AutomatonScene(QGraphicsScene):
    """One drawing of an automaton."""

    def __init__(self) -> None:
        super().__init__()
        # The items at rest are few and the index would be rebuilt at every step.
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self._boxes: dict[int, QRectF] = {}
        self._curves: dict[EdgeKey, Chain] = {}
        self._picture: Picture | None = None
        self._rects: tuple[QRectF, ...] = ()
        self._live: frozenset[int] = frozenset()
        self._begun: frozenset[int] = frozenset()  # the states from which a text leads that the match stands within
        self._next: frozenset[EdgeKey] = frozenset()
        self._highlighted: frozenset[int] = frozenset()
        self._lit_edges: frozenset[EdgeKey] = frozenset()
        self._hovered: int | None = None
        self._selected: int | None = None
        self._stale = False
        self._rest_of_edges: Iterator[list[Chain]] = iter(())
        self._more = QTimer(self)
        self._more.setSingleShot(True)
        self._more.timeout.connect(self._draw_more)
        self._lines: list[QGraphicsPathItem] = []
        self._heads: list[QGraphicsPathItem] = []
        self._bodies: list[QGraphicsPathItem] = []
        self._stubs = self._layer(30)
        self._frames, self._live_frames = self._layer(1), self._layer(2)
        self._next_lines, self._next_heads = self._layer(11), self._layer(12)
        # The dashes of a lit call need a ground, or those of the line at rest would fill their gaps.
        self._call_ground, self._next_calls = self._layer(10.5), self._layer(11)
        self._lit_lines, self._lit_heads = self._layer(13), self._layer(14)
        self._lit, self._halo, self._live_bodies = self._layer(31), self._layer(32), self._layer(33)
        self._pointed, self._ring = self._layer(34), self._layer(35)
        self._labels: Captions[EdgeKey] = Captions(self, 20, label_font, self._label_ink)
        self._numbers: Captions[int] = Captions(self, 40, node_font, self._number_ink)
        self._titles: Captions[int] = Captions(self, 3, title_font, self._title_ink)

    def show_picture(self, picture: Picture, request: LayoutRequest, answer: LayoutAnswer) -> None:
        """Draw a picture where a layout put it, in place of the present one. What was lit is forgotten."""
        self._picture = picture
        self._live = self._begun = self._highlighted = frozenset()
        self._next = self._lit_edges = frozenset()
        self._rects = tuple(QRectF(*box) for box in answer.boxes)
        self._hovered = self._selected = None
        self._curves = answer.curves
        self._boxes = {
            node: _box(answer.positions[node][0], answer.positions[node][1], width, height)
            for node, width, height in request.nodes
        }
        self._rest(picture)
        self._write(picture, request, answer)
        self._relight()
        self.recolour()
        self.setSceneRect(self.drawn_rect().adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN))

    @property
    def picture(self) -> Picture | None:
        """What is drawn; None before the first drawing."""
        return self._picture

    def set_live(
        self,
        states: Collection[int],
        waiting: Collection[EdgeKey] = (),
        texts: Collection[EdgeKey] = (),
        *,
        leaving: bool = True,
    ) -> None:
        """Light the states where the match stands, and edges.

        Args:
            states: where it stands.
            waiting: the edges whose calls are under way.
            texts: the edges within whose texts it stands.
            leaving: whether the edges that leave the states are lit too: not where an edge is no step.
        """
        self._live = frozenset(states) & self._boxes.keys()
        self._begun = frozenset(source for source, _ in texts)
        following = (key for key in self._curves if leaving and key[0] in self._live)
        self._next = (frozenset((*waiting, *texts)) & self._curves.keys()) | frozenset(following)
        self._relight()
        for captions in (self._labels, self._numbers, self._titles):
            captions.repaint()

    def set_highlighted(self, states: Collection[int], edges: Collection[EdgeKey] = ()) -> None:
        """Light the states and edges that belong to what is pointed at."""
        self._highlighted = frozenset(states) & self._boxes.keys()
        self._lit_edges = frozenset(edges) & self._curves.keys()
        self._relight()

    def set_hovered(self, state: int | None) -> None:
        """Light the state under the pointer."""
        self._hovered = state if state in self._boxes else None
        self._relight()

    def set_selected(self, state: int | None) -> None:
        """Ring the selected state."""
        self._selected = state if state in self._boxes else None
        self._relight()

    def set_stale(self, stale: bool) -> None:
        """Grey everything: the drawing is not of the text as it stands."""
        if stale != self._stale:
            self._stale = stale
            self.recolour()

    def reveal(self, view: QRectF, zoom: float) -> None:
        """Make the texts in a part of the scene, as far as they can be read at this zoom."""
        for captions, least in (
            (self._labels, LABELS_FROM_ZOOM),
            (self._numbers, NUMBERS_FROM_ZOOM),
            (self._titles, NUMBERS_FROM_ZOOM),
        ):
            if zoom >= least:
                captions.reveal(view)
            else:
                captions.hide()

    def state_at(self, point: QPointF) -> int | None:
        """The state at a point of the scene; a stub stands for the state that it hangs on."""
        for node, box in self._boxes.items():
            if box.contains(point):
                return node if node >= 0 else -1 - node
        return None

    def edge_at(self, point: QPointF) -> EdgeKey | None:
        """The edge whose label lies at a point."""
        return self._labels.at(point)

    def group_at(self, point: QPointF) -> int | None:
        """The box with a title that a point lies in, by its place in the picture."""
        return next((number for number, rect in enumerate(self._rects) if rect.contains(point)), None)

    def box(self, state: int) -> QRectF | None:
        """Where a state is drawn; None where it is not."""
        return self._boxes.get(state)

    def drawn_rect(self) -> QRectF:
        """What the drawing covers."""
        xs = [x for box in self._boxes.values() for x in (box.left(), box.right())]
        ys = [y for box in self._boxes.values() for y in (box.top(), box.bottom())]
        for chain in self._curves.values():
            # A curve stays within its control points, and seldom goes as far as the outer ones.
            xs += [x for x, _ in chain]
            ys += [y for _, y in chain]
        xs += [x for rect in self._rects for x in (rect.left(), rect.right())]
        ys += [y for rect in self._rects for y in (rect.top(), rect.bottom())]
        return QRectF(QPointF(min(xs), min(ys)), QPointF(max(xs), max(ys))) if xs else QRectF()

    def recolour(self) -> None:
        """Take the colours of the present theme."""
        line = self._line_role()
        live, fill = (Role.DISABLED, Role.RAISED) if self._stale else (Role.LIVE, Role.LIVE_FILL)
        for item in self._lines:
            item.setPen(_pen(line, _LINE, item.pen().style()))
        for item in self._heads:
            _fill(item, line)
        for item in self._bodies:
            item.setPen(_pen(line if self._stale else Role.TEXT, 1.3))
            item.setBrush(theme.colour(Role.RAISED))
        self._stubs.setPen(_pen(line, 1.2, Qt.PenStyle.DashLine))
        self._stubs.setBrush(theme.colour(Role.PANEL))
        self._pen_next_lines()
        _fill(self._next_heads, live)
        self._call_ground.setPen(_pen(Role.PANEL, 3.0))
        self._lit_lines.setPen(_pen(Role.ACCENT, 2.2))
        _fill(self._lit_heads, Role.ACCENT)
        self._lit.setPen(_pen(Role.ACCENT, 2.0))
        self._lit.setBrush(theme.colour(Role.HOVER))
        halo = theme.colour(live)
        halo.setAlphaF(0.22)
        self._halo.setPen(QPen(halo, 9.0))
        self._live_bodies.setPen(_pen(live, 2.6))
        self._live_bodies.setBrush(theme.colour(fill))
        self._pointed.setPen(_pen(Role.ACCENT, 2.2))
        self._ring.setPen(_pen(Role.ACCENT, 1.6, Qt.PenStyle.DashLine))
        self.setBackgroundBrush(theme.colour(Role.PANEL))
        self._frames.setPen(_pen(Role.DISABLED, 1.0))
        self._frames.setBrush(theme.colour(Role.PANEL))
        self._live_frames.setPen(_pen(live, 1.6))
        self._live_frames.setBrush(theme.colour(Role.PANEL))
        for captions in (self._labels, self._numbers, self._titles):
            captions.repaint()

    # --- at rest -----------------------------------------------------------------------------------------------------

    def _rest(self, picture: Picture) -> None:
        for item in (*self._lines, *self._heads, *self._bodies):
            self.removeItem(item)
        self._lines, self._heads, self._bodies = [], [], []
        tiles: defaultdict[Point, list[int]] = defaultdict(list)
        for state, box in self._boxes.items():
            if state >= 0:
                tiles[box.left() // _TILE, box.top() // _TILE].append(state)
        for members in tiles.values():
            self._bodies.append(self._layer(30, self._outlines(members)))
        self._stubs.setPath(paths.pills(box for node, box in self._boxes.items() if node < 0))
        self._frames.setPath(paths.frames(self._rects))
        starts: set[int | None] = {states[0] for _, states in picture.groups} or {picture.start}
        for start, start_box in self._boxes.items():
            if start in starts:
                border = start_box.left(), start_box.center().y()
                self._draw_edges(paths.entry(border), paths.entry_head(border))
        calls = [self._curves[key] for key in sorted(picture.calls & self._curves.keys())]
        for tile in _tiles(calls):
            self._draw_edges(paths.curves(tile), paths.heads(tile), Qt.PenStyle.CustomDashLine)
        self._rest_of_edges = _tiles(chain for key, chain in self._curves.items() if key not in picture.calls)
        self._draw_more(None if len(self._curves) <= _AT_ONCE else _SLICE_MS)

    def _draw_more(self, budget_ms: int | None = _SLICE_MS) -> None:
        """Draw edges until the time is up, and go on after the events that wait; without a budget, all of them."""
        clock = QElapsedTimer()
        clock.start()
        for tile in self._rest_of_edges:
            self._draw_edges(paths.curves(tile), paths.heads(tile))
            if budget_ms is not None and clock.elapsed() >= budget_ms:
                self._more.start()
                return
        self._more.stop()

    def _draw_edges(self, lines: QPainterPath, heads: QPainterPath, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
        role = self._line_role()
        line, head = self._layer(10, lines), self._layer(10, heads)
        line.setPen(_pen(role, _LINE, style))
        _fill(head, role)
        self._lines.append(line)
        self._heads.append(head)

    def _line_role(self) -> Role:
        return Role.BORDER if self._stale else Role.MUTED

    def _write(self, picture: Picture, request: LayoutRequest, answer: LayoutAnswer) -> None:
        self._labels.replace(
            {
                (source, target): Caption(
                    picture.labels[source, target], *answer.label_positions[source, target], width, height
                )
                for source, target, width, height in request.edges
                if (source, target) in answer.label_positions
            }
        )
        texts = {**picture.names, **{node: text for node, (_, text) in picture.stubs().items()}}
        self._numbers.replace(
            {
                node: Caption(texts.get(node, str(node)), box.center().x(), box.center().y(), box.width(), box.height())
                for node, box in self._boxes.items()
            }
        )
        titles = zip(picture.groups, request.groups, self._rects, strict=True)
        self._titles.replace(
            {
                number: Caption(
                    title,
                    rect.left() + _TITLE_INSET + group.width / 2,
                    rect.top() + _TITLE_INSET / 2 + group.height / 2 + 2,
                    group.width,
                    group.height,
                )
                for number, ((title, _), group, rect) in enumerate(titles)
            }
        )

    # --- what is lit -------------------------------------------------------------------------------------------------

    def _relight(self) -> None:
        calls = self._picture.calls if self._picture is not None else frozenset()
        self._next_lines.setPath(paths.curves(self._curves[key] for key in sorted(self._next - calls)))
        called = paths.curves(self._curves[key] for key in sorted(self._next & calls))
        for item in (self._call_ground, self._next_calls):
            item.setPath(called)
        self._next_heads.setPath(paths.heads((self._curves[key] for key in sorted(self._next)), scale=1.25))
        frames = [rect for number, rect in enumerate(self._rects) if self._is_live_group(number)]
        self._live_frames.setPath(paths.frames(frames))
        self._pen_next_lines()
        pointed_at = [self._curves[key] for key in sorted(self._lit_edges)]
        self._lit_lines.setPath(paths.curves(pointed_at))
        self._lit_heads.setPath(paths.heads(pointed_at, scale=1.25))
        self._lit.setPath(self._outlines(sorted(self._highlighted - self._live)))
        live = sorted(self._live)
        self._halo.setPath(paths.pills(_grown(self._boxes[state], 4.5) for state in live))
        self._live_bodies.setPath(self._outlines(live))
        pointed = [self._boxes[state] for state in sorted(self._highlighted & self._live)]
        pointed += [self._boxes[self._hovered]] if self._hovered is not None else []
        self._pointed.setPath(paths.pills(pointed))
        ring = [] if self._selected is None else [_grown(self._boxes[self._selected], _REACH)]
        self._ring.setPath(paths.pills(ring))

    def _pen_next_lines(self) -> None:
        # Many thick lines from one state would run into a blot.
        role = Role.DISABLED if self._stale else Role.LIVE
        width = 2.2 if len(self._next) <= _MANY_EDGES else 1.3
        self._next_lines.setPen(_pen(role, width))
        self._next_calls.setPen(_pen(role, width, Qt.PenStyle.CustomDashLine))

    def _outlines(self, states: Iterable[int]) -> QPainterPath:
        """The outlines of states, double where they accept."""
        picture = self._picture
        assert picture is not None
        members = list(states)
        path = paths.pills(self._boxes[state] for state in members)
        path.addPath(paths.inner(self._boxes[state] for state in members if state in picture.accepting))
        path.setFillRule(Qt.FillRule.WindingFill)  # else the ring between the two outlines would stay empty
        return path

    def _label_ink(self, key: EdgeKey) -> Ink:
        ground = theme.colour(Role.PANEL)
        if self._stale:
            return Ink(theme.colour(Role.DISABLED), ground=ground)
        return Ink(theme.colour(Role.LIVE if key in self._next else Role.TEXT), bold=False, ground=ground)

    def _number_ink(self, node: int) -> Ink:
        if self._stale:
            return Ink(theme.colour(Role.DISABLED))
        if node in self._live:
            return Ink(theme.colour(Role.LIVE), bold=True)
        return Ink(theme.colour(Role.TEXT if node >= 0 else Role.MUTED))

    def _title_ink(self, number: int) -> Ink:
        if self._stale:
            return Ink(theme.colour(Role.DISABLED), bold=True)
        return Ink(theme.colour(Role.LIVE if self._is_live_group(number) else Role.TEXT), bold=True)

    def _is_live_group(self, number: int) -> bool:
        assert self._picture is not None
        return not (self._live | self._begun).isdisjoint(self._picture.groups[number][1])

    def _layer(self, z: float, path: QPainterPath | None = None) -> QGraphicsPathItem:
        item = QGraphicsPathItem(path or QPainterPath())
        item.setZValue(z)
        self.addItem(item)
        return item


def _box(x: float, y: float, width: float, height: float) -> QRectF:
    return QRectF(x - width / 2, y - height / 2, width, height)


def _grown(box: QRectF, by: float) -> QRectF:
    return box.adjusted(-by, -by, by, by)


def _pen(role: Role, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    if style == Qt.PenStyle.CustomDashLine:  # a call; round ends would fill the gaps of a thick line
        pen = QPen(QBrush(theme.colour(role)), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([6.0 / width, 4.0 / width])
        return pen
    return QPen(QBrush(theme.colour(role)), width, style, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)


def _fill(item: QGraphicsPathItem, role: Role) -> None:
    item.setPen(Qt.PenStyle.NoPen)
    item.setBrush(theme.colour(role))


def _tiles(chains: Iterable[Chain]) -> Iterator[list[Chain]]:
    """Curves that lie near each other, and long ones by themselves: what is out of view is not painted."""
    tiles: defaultdict[Point, list[Chain]] = defaultdict(list)
    for chain in chains:
        (x0, y0), (x1, y1) = chain[0], chain[-1]
        if abs(x1 - x0) > _TILE or abs(y1 - y0) > _TILE:
            yield [chain]
        else:
            tiles[x0 // _TILE, y0 // _TILE].append(chain)
    yield from tiles.values()
