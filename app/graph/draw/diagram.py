"""The texts of a drawing, the sizes that they need, and their positions.

A diagram is an excerpt with its texts; measured with the fonts of the scene, it becomes the request to the layout
process. With the answer it becomes a `PositionedDiagram`, the input of the drawing layers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainterPath, QPolygonF

from app import theme
from app.graph.draw import shapes
from app.graph.layout.types import EdgeKey, LayoutAnswer, LayoutGroup, LayoutRequest, Point
from app.graph.match.neighbourhood import Excerpt
from engine.automata.dfa.dfa import DfaEdge

Chain: TypeAlias = tuple[Point, ...]
_ROUND = 0.29  # from the corner of a circle's box to its outline, as a ratio of the radius
_LONGEST_LABEL = 22
_MOST_LINES = 6
_NODE_HEIGHT = 32.0
_NODE_MARGIN = 16.0
_LABEL_MARGIN = 8.0
_BADGE_ROOM = 44.0  # at least; numbers of tokens are added below a label once they are known
_LABEL_LIFT = 5.0  # `dot` puts a label's space right beside its line


@dataclass(frozen=True, slots=True)
class Diagram:
    """An excerpt with its texts.

    Attributes:
        excerpt: the states and edges.
        start: the automaton's start, which gets the entry arrow if it is in the excerpt.
        accepting: the accepting states of the excerpt.
        labels: the label of each edge, with several lines if needed.
        names: replace the numbers of states.
        calls: the edges that call a rule.
        groups: the parts that are drawn in boxes: a title and the states.
        folded: the nodes that represent many states.
        areas: parts of the grammar with their states, which are named where the drawing is too small for its nodes.
    """

    excerpt: Excerpt
    start: int | None
    accepting: frozenset[int]
    labels: Mapping[EdgeKey, str]
    names: Mapping[int, str] = field(default_factory=dict)
    calls: frozenset[EdgeKey] = frozenset()
    groups: tuple[tuple[str, tuple[int, ...]], ...] = ()
    folded: frozenset[int] = frozenset()
    areas: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @staticmethod
    def empty() -> Diagram:
        """Return an empty diagram."""
        return Diagram(Excerpt((), (), {}), None, frozenset(), {})

    def stubs(self) -> dict[int, tuple[int, str]]:
        """Return the stubs for edges that are not drawn: the state and the text by the stub's node id."""
        return {
            stub_id(state): (state, "…" if count is None else f"+{count}")
            for state, count in self.excerpt.hidden.items()
        }


def stub_id(state: int) -> int:
    """Return the node id of a state's stub: negative, so that it never equals a state's id."""
    return -1 - state


def diagram_of(
    excerpt: Excerpt,
    *,
    start: int | None,
    accepting: frozenset[int],
    label_of_edge: Callable[[DfaEdge], str],
    names: Sequence[str] = (),
    calls: Collection[EdgeKey] = (),
    groups: Sequence[tuple[str, tuple[int, ...]]] = (),
    folded: Collection[int] = (),
) -> Diagram:
    """Create the diagram of an excerpt.

    Args:
        excerpt: the states and edges.
        start: the automaton's start.
        accepting: the accepting states.
        label_of_edge: returns the label of an edge.
        names: of all states; empty for their numbers.
        calls: the edges that call a rule.
        groups: the parts that are drawn in boxes.
        folded: the nodes that represent many states.
    """
    drawn = frozenset(excerpt.states)
    drawn_groups = ((title, tuple(state for state in states if state in drawn)) for title, states in groups)
    return Diagram(
        excerpt=excerpt,
        start=start,
        accepting=accepting & drawn,
        labels={(edge.source, edge.target): _lines(label_of_edge(edge)) for edge in excerpt.edges},
        names={state: names[state] for state in excerpt.states} if names else {},
        calls=frozenset((edge.source, edge.target) for edge in excerpt.edges) & frozenset(calls),
        groups=tuple((title, states) for title, states in drawn_groups if states),
        folded=frozenset(folded) & drawn,
    )


def _lines(text: str) -> str:
    lines = [label_text(line) for line in text.split("\n")]
    more = len(lines) - _MOST_LINES
    return "\n".join(lines if more <= 0 else [*lines[: _MOST_LINES - 1], f"+{more + 1} more"])


def label_text(text: str) -> str:
    """Shorten a label for an edge, and put a single punctuation character in quotes, so that it is visible."""
    if len(text) == 1 and not text.isalnum() and text != "␣":
        return f"“{text}”"
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1].rstrip() + "…"


def request_of(diagram: Diagram, revision: int) -> LayoutRequest:
    """Return the sizes of a diagram for the layout process."""
    node_metrics, label_metrics = QFontMetricsF(node_font()), QFontMetricsF(label_font())
    stubs = diagram.stubs()
    nodes = [(state, *_pill(node_metrics, diagram.names.get(state, str(state)))) for state in diagram.excerpt.states]
    if diagram.folded:
        bold = QFont(node_font())
        bold.setBold(True)  # a live state is bold, and there is no spare space inside the second outline
        bold_metrics = QFontMetricsF(bold)
        nodes = [
            (state, *(_card(bold_metrics, diagram.names[state]) if state in diagram.folded else (width, height)))
            for state, width, height in nodes
        ]
    nodes += [(stub, *_pill(node_metrics, text)) for stub, (_, text) in stubs.items()]
    size = {text: _label_size(label_metrics, text) for text in set(diagram.labels.values())}
    edges = [(source, target, *size[text]) for (source, target), text in diagram.labels.items()]
    edges += [(state, stub, 0.0, 0.0) for stub, (state, _) in stubs.items()]
    drawn = diagram.excerpt.states
    start = diagram.start if diagram.start is not None and diagram.start in drawn else min(drawn, default=0)
    texts = {key: _text_size(label_metrics, text) for key, text in diagram.labels.items() if text}
    return LayoutRequest(revision, tuple(nodes), tuple(edges), start, tuple(_groups(diagram)), texts=texts)


def _groups(diagram: Diagram) -> Iterator[LayoutGroup]:
    metrics = QFontMetricsF(title_font())
    stubs = {state: stub for stub, (state, _) in diagram.stubs().items()}
    for title, states in diagram.groups:
        nodes = (*states, *(stubs[state] for state in states if state in stubs))
        yield LayoutGroup(nodes, states[0], metrics.horizontalAdvance(title), metrics.height())


def _label_size(metrics: QFontMetricsF, text: str) -> tuple[float, float]:
    if not text:
        return 0.0, 0.0
    lines = text.split("\n")
    width = max(_BADGE_ROOM, max(map(metrics.horizontalAdvance, lines)) + _LABEL_MARGIN)
    return width, len(lines) * metrics.height() + _LABEL_LIFT


def _text_size(metrics: QFontMetricsF, text: str) -> tuple[float, float]:
    """Return the size of a text with its background."""
    lines = text.split("\n")
    return max(map(metrics.horizontalAdvance, lines)) + 4, len(lines) * metrics.height()


def _pill(metrics: QFontMetricsF, text: str) -> tuple[float, float]:
    """Return the size of a node: a circle for a short number, wider for a long one, higher for two lines."""
    lines = text.split("\n")
    height = _NODE_HEIGHT + (len(lines) - 1) * metrics.height()
    return max(_NODE_HEIGHT, max(map(metrics.horizontalAdvance, lines)) + _NODE_MARGIN), height


def _card(metrics: QFontMetricsF, text: str) -> tuple[float, float]:
    """Return the size of a node that represents many states."""
    width, height = _pill(metrics, text)
    return width + 6, height + 4


@dataclass(frozen=True, slots=True)
class PositionedDiagram:
    """A diagram with its positions.

    Attributes:
        boxes: of states and stubs.
        curves: of edges.
        rects: of the diagram's groups, in their order.
    """

    diagram: Diagram
    boxes: Mapping[int, QRectF]
    curves: Mapping[EdgeKey, Chain]
    rects: tuple[QRectF, ...]

    @staticmethod
    def of(diagram: Diagram, request: LayoutRequest, answer: LayoutAnswer) -> PositionedDiagram:
        """Create one from a layout request and its answer.

        Args:
            diagram: the diagram.
            request: its sizes.
            answer: its positions.
        """
        boxes = {}
        for node, width, height in request.nodes:
            x, y = answer.positions[node]
            boxes[node] = QRectF(x - width / 2, y - height / 2, width, height)
        return PositionedDiagram(diagram, boxes, answer.curves, tuple(QRectF(*rect) for rect in answer.boxes))

    def outlines(self, states: Iterable[int]) -> QPainterPath:
        """Return the outlines of states: double if they accept, a pile of cards if one represents many."""
        diagram, members = self.diagram, list(states)
        single = [state for state in members if state not in diagram.folded]
        path = shapes.piles(self.boxes[state] for state in members if state in diagram.folded)
        path.addPath(shapes.pills(self.boxes[state] for state in single))
        path.addPath(shapes.inner(self.boxes[state] for state in single if state in diagram.accepting))
        path.addPath(shapes.inner_frames(self.boxes[s] for s in members if s in diagram.folded & diagram.accepting))
        path.setFillRule(Qt.FillRule.WindingFill)  # otherwise the ring between the two outlines would stay empty
        return path

    def rings(self, states: Iterable[int], by: float = 0.0) -> QPainterPath:
        """Return one line around each of some states, at a distance from its border."""
        members = list(states)
        path = shapes.pills(_grown(self.boxes[state], by) for state in members if state not in self.diagram.folded)
        path.addPath(shapes.frames(_grown(self.boxes[state], by) for state in members if state in self.diagram.folded))
        return path

    def dots(self, states: Iterable[int], radius: float) -> QPainterPath:
        """Return a dot at the upper left of each of some states, on its outline."""
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)
        for state in states:
            path.addEllipse(self._corner(state), radius, radius)
        return path

    def diamonds(self, states: Iterable[int], radius: float) -> QPainterPath:
        """Return a diamond at the upper right of each of some states, on its outline."""
        path = QPainterPath()
        for state in states:
            centre = self._corner(state, right=True)
            x, y = centre.x(), centre.y()
            corners = ((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y))
            path.addPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
            path.closeSubpath()
        return path

    def ribbons(self, states: Iterable[int], radius: float) -> QPainterPath:
        """Return a bookmark's ribbon at the lower left of each of some states, on its outline."""
        path = QPainterPath()
        for state in states:
            centre = self._corner(state, bottom=True)
            left, right, top = centre.x() - radius * 0.7, centre.x() + radius * 0.7, centre.y() - radius
            notch, foot = top + 1.6 * radius, top + 2.4 * radius
            points = ((left, top), (right, top), (right, foot), (centre.x(), notch), (left, foot))
            path.addPolygon(QPolygonF([QPointF(*point) for point in points]))
            path.closeSubpath()
        return path

    def speech_marks(self, states: Iterable[int], radius: float) -> QPainterPath:
        """Return the mark of a comment, a speech bubble, at the lower right of each of some states, on its outline."""
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)
        for state in states:
            centre = self._corner(state, right=True, bottom=True)
            body = QRectF(centre.x() - radius, centre.y() - radius * 0.8, 2 * radius, 1.5 * radius)
            path.addRoundedRect(body, 2, 2)
            foot = body.bottom() - 0.5
            points = (
                (centre.x() - radius * 0.6, foot),
                (centre.x(), foot),
                (centre.x() - radius * 0.6, foot + radius * 0.8),
            )
            path.addPolygon(QPolygonF([QPointF(*point) for point in points]))
            path.closeSubpath()
        return path

    def _corner(self, state: int, *, right: bool = False, bottom: bool = False) -> QPointF:
        """Return a point on the outline of a state, by default at its upper left."""
        box = self.boxes[state]
        inset = 0 if state in self.diagram.folded else _ROUND * box.height() / 2
        return QPointF(
            box.right() - inset if right else box.left() + inset, box.bottom() - inset if bottom else box.top() + inset
        )

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


def node_font() -> QFont:
    """Return the font of a state's number."""
    return theme.ui_font(-0.5)


def name_font() -> QFont:
    """Return the font of the names in a small drawing."""
    return theme.ui_font(-1)


def label_font() -> QFont:
    """Return the font of an edge's label."""
    return theme.mono_font(-0.5)


def badge_font() -> QFont:
    """Return the font of the badge below a label: the number of tokens that take the edge."""
    return theme.ui_font(-2)


def title_font() -> QFont:
    """Return the font of a box's title."""
    font = theme.ui_font(0)
    font.setBold(True)
    return font
