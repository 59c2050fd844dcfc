"""The highlights of a drawing: the live states, the path of the match, the hovered elements.

They are paths above the static drawing, so that a step changes a dozen items and not two thousand. Every colour has a
second cue: a live state has a thick outline and a halo, its outgoing edges are thicker, the path of the match is a
broad band below its lines, the path of a candidate is a broad dashed band, a selected state has a dashed ring. With
coverage, covered edges have a broad band, and uncovered ones are dotted. A breakpoint is a dot at the upper left of its
state, an empty one if it is disabled.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QGraphicsScene

from app import theme
from app.graph.draw import shapes
from app.graph.draw.positioned_diagram import PositionedDiagram
from app.graph.draw.static_layer import layer
from app.graph.draw.styles import fill, pen
from app.graph.layout.types import EdgeKey
from app.theme import Role

_MANY_EDGES = 16
_REACH = 6.0
_HALO = 4.5
_DOT = 5.0  # the radius of a breakpoint
_BAND = 7.0
_COVERED = 11.0  # wider than the path of the match, so that both are visible where they overlap


@dataclass(frozen=True, slots=True)
class Highlights:
    """The highlighted elements; those that are not drawn are ignored.

    Attributes:
        live: the live states.
        begun: the first states of texts inside which the match is.
        following: the outgoing edges of the live states, and those whose calls are open.
        path: the edges that the match has taken.
        ahead: the edges that a candidate would take, and `arrival` the states that it would reach.
        highlighted, edges: the states and edges of the hovered element.
        used, unused: the covered and the uncovered edges.
        idle: the uncovered states.
        stops, resting_stops: the states with an enabled and with a disabled breakpoint.
        hovered: the state under the pointer.
        selected: the selected state.
    """

    live: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()
    following: frozenset[EdgeKey] = frozenset()
    path: frozenset[EdgeKey] = frozenset()
    ahead: frozenset[EdgeKey] = frozenset()
    arrival: frozenset[int] = frozenset()
    highlighted: frozenset[int] = frozenset()
    edges: frozenset[EdgeKey] = frozenset()
    used: frozenset[EdgeKey] = frozenset()
    unused: frozenset[EdgeKey] = frozenset()
    idle: frozenset[int] = frozenset()
    stops: frozenset[int] = frozenset()
    resting_stops: frozenset[int] = frozenset()
    hovered: int | None = None
    selected: int | None = None


class HighlightLayer:
    """The highlight items of one scene."""

    def __init__(self, scene: QGraphicsScene) -> None:
        self._is_stale = False
        self._is_many = False
        self.frames = layer(scene, 2)
        self.used, self.path, self.ahead = layer(scene, 7), layer(scene, 8), layer(scene, 9)
        self._unused_ground, self.unused, self.idle = layer(scene, 10.2), layer(scene, 10.3), layer(scene, 34)
        self.next_lines, self.next_heads = layer(scene, 11), layer(scene, 12)
        # The dashes of a highlighted call need a background, or those of the static line would fill their gaps.
        self._call_ground, self.next_calls = layer(scene, 10.5), layer(scene, 11)
        self.lit_lines, self.lit_heads = layer(scene, 13), layer(scene, 14)
        self.lit, self.halo, self.live_bodies = layer(scene, 31), layer(scene, 32), layer(scene, 33)
        self.stops, self.resting_stops = layer(scene, 36), layer(scene, 36)
        self.arrival, self.pointed, self.ring = layer(scene, 34), layer(scene, 34), layer(scene, 35)

    def show(self, placed: PositionedDiagram, lit: Highlights) -> None:
        """Show these highlights, and no others."""
        calls = placed.picture.calls
        self.path.setPath(shapes.curves(placed.chains(lit.path)))
        self.ahead.setPath(shapes.curves(placed.chains(lit.ahead)))
        self.used.setPath(shapes.curves(placed.chains(lit.used)))
        unused = shapes.curves(placed.chains(lit.unused))
        for item in (self._unused_ground, self.unused):
            item.setPath(unused)
        self.idle.setPath(placed.rings(sorted(lit.idle), _HALO))
        self.next_lines.setPath(shapes.curves(placed.chains(lit.following - calls)))
        called = shapes.curves(placed.chains(lit.following & calls))
        for item in (self._call_ground, self.next_calls):
            item.setPath(called)
        self.next_heads.setPath(shapes.heads(placed.chains(lit.following), scale=1.25))
        groups = zip(placed.picture.groups, placed.rects, strict=False)
        begun = lit.live | lit.begun
        self.frames.setPath(shapes.frames(rect for (_, states), rect in groups if not begun.isdisjoint(states)))
        self._is_many = len(lit.following) > _MANY_EDGES
        self._style_following()
        pointed_at = placed.chains(lit.edges)
        self.lit_lines.setPath(shapes.curves(pointed_at))
        self.lit_heads.setPath(shapes.heads(pointed_at, scale=1.25))
        self.lit.setPath(placed.outlines(sorted(lit.highlighted - lit.live)))
        live = sorted(lit.live)
        self.halo.setPath(placed.rings(live, _HALO))
        self.live_bodies.setPath(placed.outlines(live))
        self.arrival.setPath(placed.rings(sorted(lit.arrival), _HALO))
        pointed = {*(lit.highlighted & lit.live), *([] if lit.hovered is None else [lit.hovered])}
        self.pointed.setPath(placed.rings(sorted(pointed)))
        self.stops.setPath(placed.dots(sorted(lit.stops), _DOT))
        self.resting_stops.setPath(placed.dots(sorted(lit.resting_stops), _DOT))
        self.ring.setPath(placed.rings([] if lit.selected is None else [lit.selected], _REACH))

    def recolour(self, *, is_stale: bool) -> None:
        """Apply the colours of the current theme; a stale drawing is grey."""
        self._is_stale = is_stale
        live, background = (Role.DISABLED, Role.RAISED) if is_stale else (Role.LIVE, Role.LIVE_FILL)
        self.path.setPen(pen(live, _BAND, opacity=0.25))
        self.ahead.setPen(pen(Role.ACCENT, _BAND, Qt.PenStyle.CustomDashLine, 0.55))
        self.used.setPen(pen(Role.DISABLED if is_stale else Role.ALLOWED, _COVERED, opacity=0.35))
        self._unused_ground.setPen(pen(Role.PANEL, 3.0))
        for item in (self.unused, self.idle):
            item.setPen(pen(Role.DISABLED if is_stale else Role.WARNING, 2.2, Qt.PenStyle.DotLine))
        self._style_following()
        fill(self.next_heads, live)
        self._call_ground.setPen(pen(Role.PANEL, 3.0))
        self.lit_lines.setPen(pen(Role.ACCENT, 2.2))
        fill(self.lit_heads, Role.ACCENT)
        self.lit.setPen(pen(Role.ACCENT, 2.0))
        self.lit.setBrush(theme.colour(Role.HOVER))
        halo = theme.colour(live)
        halo.setAlphaF(0.22)
        self.halo.setPen(QPen(halo, 2 * _HALO))
        self.live_bodies.setPen(pen(live, 2.6))
        self.live_bodies.setBrush(theme.colour(background))
        self.arrival.setPen(pen(Role.ACCENT, 2.2, Qt.PenStyle.CustomDashLine))
        self.pointed.setPen(pen(Role.ACCENT, 2.2))
        self.ring.setPen(pen(Role.ACCENT, 1.6, Qt.PenStyle.DashLine))
        for item, background_role in ((self.stops, Role.FORBIDDEN), (self.resting_stops, Role.PANEL)):
            item.setPen(pen(Role.FORBIDDEN, 1.6))
            item.setBrush(theme.colour(background_role))
        self.frames.setPen(pen(live, 1.6))
        self.frames.setBrush(theme.colour(Role.PANEL))

    def _style_following(self) -> None:
        # Many thick lines from one state would merge into a blot.
        role = Role.DISABLED if self._is_stale else Role.LIVE
        width = 1.3 if self._is_many else 2.2
        self.next_lines.setPen(pen(role, width))
        self.next_calls.setPen(pen(role, width, Qt.PenStyle.CustomDashLine))
