"""The shapes of a drawing as painter paths, many in one, and their pens.

Qt draws one path of a hundred shapes much faster than a hundred items, and a Python object for each would cost even
more; see `scene`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsPathItem

from app import theme
from app.graph.layout.curves import HEAD_LENGTH, direction_at_end, head_corners
from app.graph.layout.types import Point
from app.theme import Role

_ENTRY_LENGTH = 26.0
_INSET = 3.5
_CORNER = 8.0
_BEHIND = 3.5
_PIECES, _LONG_PIECES = 6, 16
_LONG = 300.0  # from one end of a curve to the other


def curves(chains: Iterable[Sequence[Point]]) -> QPainterPath:
    """Return Bezier chains as lines that stop where the arrowhead begins."""
    path = QPainterPath()
    for chain in chains:
        path.moveTo(*chain[0])
        for index in range(1, len(chain) - 3, 3):
            path.cubicTo(*chain[index], *chain[index + 1], *chain[index + 2])
        (c1, c2, end) = chain[-3:]
        dx, dy = direction_at_end(chain)
        # Half a head shorter, so that a thick line does not show beside the tip.
        path.cubicTo(*c1, *c2, end[0] - dx * HEAD_LENGTH / 2, end[1] - dy * HEAD_LENGTH / 2)
    return path


def straightened(chain: Sequence[Point]) -> list[Point]:
    """Return a Bezier chain as a few straight pieces that stop where the arrowhead begins: the points between them.

    Qt flattens a curve again in every frame, into more pieces than are visible: for thousands of curves, that is a
    third of the frame.
    """
    x, y = chain[0]
    points = [(x, y)]
    dx, dy = direction_at_end(chain)
    end = chain[-1][0] - dx * HEAD_LENGTH / 2, chain[-1][1] - dy * HEAD_LENGTH / 2
    for index in range(1, len(chain), 3):
        (x1, y1), (x2, y2) = chain[index], chain[index + 1]
        x3, y3 = chain[index + 2] if index + 3 < len(chain) else end
        if y == y1 == y2 == y3:  # level, as within a column
            points.append((x3, y3))
        else:
            is_long = abs(x3 - x) + abs(y3 - y) > _LONG
            points += [
                (a * x + b * x1 + c * x2 + d * x3, a * y + b * y1 + c * y2 + d * y3)
                for a, b, c, d in _weights(_LONG_PIECES if is_long else _PIECES)
            ]
        x, y = x3, y3
    return points


def polylines(lines: Iterable[Sequence[Point]]) -> QPainterPath:
    """Return straight pieces between points."""
    path = QPainterPath()
    for line in lines:
        path.moveTo(*line[0])
        for x, y in line[1:]:
            path.lineTo(x, y)
    return path


def heads(chains: Iterable[Sequence[Point]], scale: float = 1.0) -> QPainterPath:
    """Return the arrowheads of Bezier chains; overlapping ones form one shape, without holes."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    for chain in chains:
        _add_head(path, chain, scale)
    return path


def entry(border: Point) -> QPainterPath:
    """Return the arrow that enters the left border of the start."""
    path = QPainterPath(QPointF(border[0] - _ENTRY_LENGTH, border[1]))
    path.lineTo(border[0] - HEAD_LENGTH / 2, border[1])
    return path


def entry_head(border: Point) -> QPainterPath:
    """Return the head of the entry arrow."""
    path = QPainterPath()
    _add_head(path, [(border[0] - _ENTRY_LENGTH, border[1]), border])
    return path


def pills(boxes: Iterable[QRectF]) -> QPainterPath:
    """Return rectangles with round ends; circles if they are square."""
    path = QPainterPath()
    for box in boxes:
        radius = box.height() / 2
        path.addRoundedRect(box, radius, radius)
    return path


def frames(boxes: Iterable[QRectF]) -> QPainterPath:
    """Return the frames of groups."""
    path = QPainterPath()
    for box in boxes:
        path.addRoundedRect(box, _CORNER, _CORNER)
    return path


def inner(boxes: Iterable[QRectF], inset: float = _INSET) -> QPainterPath:
    """Return the second outline of accepting states."""
    return pills(box.adjusted(inset, inset, -inset, -inset) for box in boxes)


def piles(boxes: Iterable[QRectF]) -> QPainterPath:
    """Return cards with the edge of another card behind each: nodes that represent many states."""
    path = QPainterPath()
    for box in boxes:
        path.addRoundedRect(box, _CORNER, _CORNER)
        right, bottom = box.right() + _BEHIND, box.bottom() + _BEHIND
        edge = QPainterPath(QPointF(box.left() + _CORNER, bottom))
        edge.lineTo(right - _CORNER, bottom)
        edge.arcTo(QRectF(right - 2 * _CORNER, bottom - 2 * _CORNER, 2 * _CORNER, 2 * _CORNER), -90, 90)
        edge.lineTo(right, box.top() + _CORNER)
        path.addPath(edge)
        path.connectPath(edge.toReversed())  # there and back: a line without an area to fill
    return path


def inner_frames(boxes: Iterable[QRectF], inset: float = _INSET) -> QPainterPath:
    """Return the second outline of accepting cards."""
    return frames(box.adjusted(inset, inset, -inset, -inset) for box in boxes)


def pen(role: Role, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine, opacity: float = 1.0) -> QPen:
    """Return a pen in a role's colour; `CustomDashLine` is the style of calls.

    Args:
        role: the colour.
        width: in scene units.
        style: of the line.
        opacity: from 0 to 1.
    """
    colour = theme.colour(role)
    colour.setAlphaF(opacity)
    if style == Qt.PenStyle.CustomDashLine:  # round ends would fill the gaps of a thick line
        dashed = QPen(QBrush(colour), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
        dashed.setDashPattern([6.0 / width, 4.0 / width])
        return dashed
    return QPen(QBrush(colour), width, style, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)


def fill(item: QGraphicsPathItem, role: Role) -> None:
    """Fill a shape without an outline."""
    item.setPen(Qt.PenStyle.NoPen)
    item.setBrush(theme.colour(role))


@cache
def _weights(pieces: int) -> tuple[tuple[float, float, float, float], ...]:
    """Return the weights of the four points of a Bezier curve at the end of each of its pieces."""
    ends = (n / pieces for n in range(1, pieces + 1))
    return tuple(((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3) for t in ends)


def _add_head(path: QPainterPath, chain: Sequence[Point], scale: float = 1.0) -> None:
    tip, *others = (QPointF(*corner) for corner in head_corners(chain, scale))
    path.addPolygon(QPolygonF([tip, *others, tip]))
