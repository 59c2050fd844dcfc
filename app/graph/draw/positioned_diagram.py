"""A diagram with its positions, the input of the drawing layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainterPath

from app.graph.draw import shapes
from app.graph.draw.diagram import Diagram
from app.graph.layout.types import EdgeKey, LayoutAnswer, LayoutRequest, Point

Chain: TypeAlias = tuple[Point, ...]

_ROUND = 0.29  # from the corner of a circle's box to its outline, as a ratio of the radius


@dataclass(frozen=True, slots=True)
class PositionedDiagram:
    """A diagram with its positions.

    Attributes:
        boxes: of states and stubs.
        curves: of edges.
        rects: of the diagram's groups, in their order.
    """

    picture: Diagram
    boxes: Mapping[int, QRectF]
    curves: Mapping[EdgeKey, Chain]
    rects: tuple[QRectF, ...]

    @staticmethod
    def of(picture: Diagram, request: LayoutRequest, answer: LayoutAnswer) -> PositionedDiagram:
        """Create one from a layout request and its answer.

        Args:
            picture: the diagram.
            request: its sizes.
            answer: its positions.
        """
        boxes = {}
        for node, width, height in request.nodes:
            x, y = answer.positions[node]
            boxes[node] = QRectF(x - width / 2, y - height / 2, width, height)
        return PositionedDiagram(picture, boxes, answer.curves, tuple(QRectF(*rect) for rect in answer.boxes))

    def outlines(self, states: Iterable[int]) -> QPainterPath:
        """Return the outlines of states: double if they accept, a pile of cards if one represents many."""
        picture, members = self.picture, list(states)
        single = [state for state in members if state not in picture.folded]
        path = shapes.piles(self.boxes[state] for state in members if state in picture.folded)
        path.addPath(shapes.pills(self.boxes[state] for state in single))
        path.addPath(shapes.inner(self.boxes[state] for state in single if state in picture.accepting))
        path.addPath(shapes.inner_frames(self.boxes[s] for s in members if s in picture.folded & picture.accepting))
        path.setFillRule(Qt.FillRule.WindingFill)  # otherwise the ring between the two outlines would stay empty
        return path

    def rings(self, states: Iterable[int], by: float = 0.0) -> QPainterPath:
        """Return one line around each of some states, at a distance from its border."""
        members = list(states)
        path = shapes.pills(_grown(self.boxes[state], by) for state in members if state not in self.picture.folded)
        path.addPath(shapes.frames(_grown(self.boxes[state], by) for state in members if state in self.picture.folded))
        return path

    def dots(self, states: Iterable[int], radius: float) -> QPainterPath:
        """Return a dot at the upper left of each of some states, on its outline."""
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)
        for state in states:
            box = self.boxes[state]
            inset = 0 if state in self.picture.folded else _ROUND * box.height() / 2
            path.addEllipse(QPointF(box.left() + inset, box.top() + inset), radius, radius)
        return path

    def chains(self, edges: Iterable[EdgeKey]) -> list[Chain]:
        """Return the curves of edges, in a fixed order."""
        return [self.curves[key] for key in sorted(edges)]

    def extent(self) -> QRectF:
        """Return the bounding rectangle of the drawing."""
        xs = [x for box in (*self.boxes.values(), *self.rects) for x in (box.left(), box.right())]
        ys = [y for box in (*self.boxes.values(), *self.rects) for y in (box.top(), box.bottom())]
        for chain in self.curves.values():
            # A curve stays within its control points, and rarely reaches the outer ones.
            xs += [x for x, _ in chain]
            ys += [y for _, y in chain]
        return QRectF(QPointF(min(xs), min(ys)), QPointF(max(xs), max(ys))) if xs else QRectF()


def _grown(box: QRectF, by: float) -> QRectF:
    return box.adjusted(-by, -by, by, by)
