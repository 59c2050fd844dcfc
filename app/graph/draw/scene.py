"""The automaton as a graphics scene: it draws a laid-out diagram, and decides nothing.

The static drawing consists of a few path items (`static_layer`); highlights are paths of their own above it
(`highlight_layer`), so that a step changes a dozen items and not two thousand; texts are created when they become
visible (`label_layer`). Only built-in items are used. Rejected: an item per state with its own `paint()`, which costs a
call into Python for each state and frame.

An edge that calls a rule is dashed, and its label in angle quotes. Hidden edges are a dashed stub. A node that
represents many states is a pile of cards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QGraphicsScene

from app import theme
from app.graph.draw.diagram import Diagram, PositionedDiagram, badge_font, label_font, node_font, title_font
from app.graph.draw.layers import (
    EdgeLabel,
    HighlightLayer,
    Highlights,
    LabelColours,
    LabelLayer,
    NameLayer,
    NodeName,
    StaticLayer,
)
from app.graph.layout.curves import point_at
from app.graph.layout.labelling import MARK, Rects, around
from app.graph.layout.types import EdgeKey, LayoutAnswer, LayoutRequest
from app.theme import Role

LABELS_FROM_ZOOM = 0.6
AREAS_BELOW_ZOOM = 0.45
MOST_NUMBERS = 300
MARK_GAP = 2.0
_MARGIN = 40.0
_TITLE_INSET = 14.0
_UNDER = 1.0
_NOTHING = PositionedDiagram(Diagram.empty(), {}, {}, ())


class AutomatonScene(QGraphicsScene):
    """One drawing of an automaton.

    Attributes:
        static_layer: the states and edges.
        highlight_layer: the highlights.
        labels: the labels of the edges, or marks where no label has room.
        badges: the small texts beside the labels.
        numbers: the texts in the states.
        titles: the texts of the groups.
        names: the names of nodes, groups and areas, where the drawing is too small for other texts.
        hovered_label: the full labels of edges that have only a mark, while one is hovered or its state is selected.

    Signals:
        highlights_changed: the highlights changed.
    """

    highlights_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        # There are few static items, and the index would be rebuilt at every step.
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self._placed = _NOTHING
        self._extent = QRectF()
        self._highlights = Highlights()
        self._stale = False
        self.static_layer = StaticLayer(self)
        self.highlight_layer = HighlightLayer(self)
        self.labels: LabelLayer[EdgeKey] = LabelLayer(self, 20, label_font, self._label_style)
        self.badges: LabelLayer[EdgeKey] = LabelLayer(self, 21, badge_font, self._badge_style)
        self.numbers: LabelLayer[int] = LabelLayer(self, 40, node_font, self._number_style)
        self.titles: LabelLayer[int] = LabelLayer(self, 3, title_font, self._title_style)
        self.names = NameLayer(self, 50, self._name_style)
        self.hovered_label: LabelLayer[EdgeKey] = LabelLayer(self, 60, label_font, self._label_style)
        self._label_positions: dict[EdgeKey, EdgeLabel] = {}
        self._marks: dict[EdgeKey, EdgeLabel] = {}
        self._taken = Rects()  # by labels, marks and nodes

    def show_diagram(
        self, diagram: Diagram, request: LayoutRequest, answer: LayoutAnswer, seen: QRectF | None = None
    ) -> None:
        """Draw a diagram instead of the current one. The highlights are cleared.

        Args:
            diagram: the diagram.
            request: its sizes.
            answer: its positions.
            seen: the visible part of the scene, which stays inside the new scene rectangle, so that a drawing in it
                need not be scrolled.
        """
        self._placed = PositionedDiagram.of(diagram, request, answer)
        self._extent = self._placed.extent()
        self._highlights = Highlights()
        self.static_layer.draw(self._placed)
        self._create_labels(diagram, request, answer)
        self._update_highlights()
        self.recolour()
        self.setSceneRect(self.home_rect() if seen is None else self.home_rect().united(seen))

    @property
    def diagram(self) -> Diagram | None:
        """Return the drawn diagram; None before the first drawing."""
        return None if self._placed is _NOTHING else self._placed.diagram

    @property
    def positioned(self) -> PositionedDiagram:
        """Return the drawn diagram with its positions."""
        return self._placed

    @property
    def highlights(self) -> Highlights:
        """Return the highlights."""
        return self._highlights

    # --- highlights --------------------------------------------------------------------------------------------------

    def set_live(
        self,
        states: Collection[int],
        waiting: Collection[EdgeKey] = (),
        texts: Collection[EdgeKey] = (),
        *,
        leaving: bool = True,
    ) -> None:
        """Highlight the live states and their edges.

        Args:
            states: the live states.
            waiting: the edges whose calls are open.
            texts: the edges inside whose texts the match is.
            leaving: whether to highlight the outgoing edges, too: not if an edge is no step.
        """
        live, begun = self._drawn_states(states), frozenset(source for source, _ in texts)
        following = frozenset(key for key in self._placed.curves if leaving and key[0] in live)
        before = self._highlights
        self._highlight(live=live, text_starts=begun, next_edges=self._drawn_edges((*waiting, *texts)) | following)
        self.labels.repaint(before.next_edges ^ self._highlights.next_edges)
        self.numbers.repaint(before.live ^ self._highlights.live)
        self.names.repaint(before.live ^ self._highlights.live)
        self.titles.repaint()

    def set_path(self, edges: Collection[EdgeKey]) -> None:
        """Highlight the path of the match."""
        self._highlight(path=self._drawn_edges(edges))

    def set_candidate_path(self, edges: Collection[EdgeKey], states: Collection[int] = ()) -> None:
        """Outline the path of a candidate, and the states that it would reach."""
        self._highlight(candidate_path=self._drawn_edges(edges), candidate_states=self._drawn_states(states))

    def set_highlighted(self, states: Collection[int], edges: Collection[EdgeKey] = ()) -> None:
        """Highlight the states and edges of the hovered element."""
        self._highlight(highlighted=self._drawn_states(states), highlighted_edges=self._drawn_edges(edges))
        self._show_marked_labels()

    def set_covered(
        self,
        states: Collection[int] | None,
        edges: Collection[EdgeKey] = (),
        shares: Mapping[EdgeKey, float] = MappingProxyType({}),
    ) -> None:
        """Mark the covered states and edges, and the others.

        Args:
            states: the covered states; None to mark neither.
            edges: the covered edges.
            shares: the share of the texts that use an edge, from 0 to 1: the width of its band.
        """
        if states is None:
            self._highlight(covered=frozenset(), uncovered=frozenset(), uncovered_states=frozenset(), shares={})
            return
        own = frozenset(key for key in self._placed.curves if min(key) >= 0)  # not those that lead to stubs
        idle = frozenset(state for state in self._placed.boxes if state >= 0).difference(states)
        covered = own & frozenset(edges)
        self._highlight(covered=covered, uncovered=own.difference(edges), uncovered_states=idle, shares=dict(shares))

    def set_lost(self, states: Mapping[int, int | None], edges: Mapping[EdgeKey, int | None]) -> None:
        """Show what was lost at states and edges: the index of a band for each, None where it is unknown."""
        drawn, paths = self._drawn_states(states), self._drawn_edges(edges)
        self._highlight(lost={key: edges[key] for key in paths}, lost_states={state: states[state] for state in drawn})

    def set_breakpoints(self, states: Mapping[int, bool]) -> None:
        """Mark the states with a breakpoint; the value is whether it is enabled."""
        drawn = self._drawn_states(states)
        enabled = frozenset(state for state in drawn if states[state])
        self._highlight(breakpoints=enabled, disabled_breakpoints=drawn - enabled)

    def set_parted(self, states: Collection[int]) -> None:
        """Mark the states at which the masks of engines differ."""
        self._highlight(parted=self._drawn_states(states))

    def set_chosen(self, edges: Collection[EdgeKey], states: Collection[int] = ()) -> None:
        """Highlight the selected edge, or the edges of some paths and the states at their ends."""
        self._highlight(chosen=self._drawn_edges(edges), chosen_states=self._drawn_states(states))

    def set_notes(
        self, coloured: Mapping[int, Role], bookmarked: Collection[int] = (), commented: Collection[int] = ()
    ) -> None:
        """Show what the user gave to states.

        Args:
            coloured: their colours.
            bookmarked: the states with a bookmark.
            commented: the states with a comment.
        """
        drawn = self._drawn_states(coloured)
        colours = {
            role: frozenset(state for state in drawn if coloured[state] is role) for role in {*coloured.values()}
        }
        self._highlight(
            coloured=colours, bookmarked=self._drawn_states(bookmarked), commented=self._drawn_states(commented)
        )
        self.numbers.repaint()

    def set_hovered(self, state: int | None) -> None:
        """Highlight the state under the pointer."""
        self._highlight(hovered=state if state in self._placed.boxes else None)

    def set_selected(self, state: int | None) -> None:
        """Draw a ring around the selected state, and the labels of its edges that have only a mark."""
        self._highlight(selected=state if state in self._placed.boxes else None)
        self._show_marked_labels()

    def set_badges(self, texts: Mapping[EdgeKey, str]) -> None:
        """Replace the badges, small texts below the labels of edges, or above them.

        A badge that would cover a node, a label or another badge is left out: the table has it, too.
        """
        metrics, taken = QFontMetricsF(badge_font()), Rects()
        found: dict[EdgeKey, EdgeLabel] = {}
        for key, text in self._drawn(texts):
            for badge in self._badge_positions(key, text, metrics) if text and key not in self._marks else ():
                rect = around((badge.x, badge.y), (badge.width, badge.height))
                if self._taken.is_free(rect) and taken.is_free(rect):
                    taken.add(rect)
                    found[key] = badge
                    break
        self.badges.replace(found)

    def set_stale(self, stale: bool) -> None:
        """Grey the drawing out: it does not belong to the current text."""
        if stale != self._stale:
            self._stale = stale
            self.recolour()

    # --- visible parts -----------------------------------------------------------------------------------------------

    def reveal(self, view: QRectF, zoom: float) -> None:
        """Create the texts in a part of the scene, as far as they are readable at this zoom."""
        for labels, least in (
            (self.labels, LABELS_FROM_ZOOM),
            (self.badges, LABELS_FROM_ZOOM),
            (self.numbers, LABELS_FROM_ZOOM),
            (self.titles, LABELS_FROM_ZOOM),
        ):
            if zoom >= least:
                labels.reveal(view)
            else:
                labels.hide()
        if zoom >= LABELS_FROM_ZOOM:
            self.names.hide()
        else:
            self.names.show(zoom)
        for layer in (self.static_layer, self.highlight_layer):
            layer.set_thin(zoom < 1.0)

    def state_at(self, point: QPointF) -> int | None:
        """Return the state at a point of the scene; for a stub, its state."""
        node = self._node_at(point)
        return node if node is None or node >= 0 else -1 - node

    def stub_at(self, point: QPointF) -> int | None:
        """Return the state of the stub at a point, if there is one."""
        node = self._node_at(point)
        return -1 - node if node is not None and node < 0 else None

    def edge_at(self, point: QPointF) -> EdgeKey | None:
        """Return the edge whose label is at a point."""
        return self.labels.at(point) or self.badges.at(point)

    def group_at(self, point: QPointF) -> int | None:
        """Return the number of the group whose box contains a point."""
        return next((number for number, rect in enumerate(self._placed.rects) if rect.contains(point)), None)

    def is_live_group(self, number: int) -> bool:
        """Return whether a group has a live state."""
        return not (self._highlights.live | self._highlights.text_starts).isdisjoint(
            self._placed.diagram.groups[number][1]
        )

    def box(self, state: int) -> QRectF | None:
        """Return the box of a state; None if it is not drawn."""
        return self._placed.boxes.get(state)

    def drawn_rect(self) -> QRectF:
        """Return the bounding rectangle of the drawing."""
        return self._extent

    def home_rect(self) -> QRectF:
        """Return the bounding rectangle with a margin."""
        return self.drawn_rect().adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)

    def recolour(self) -> None:
        """Apply the colours of the current theme."""
        self.setBackgroundBrush(theme.colour(Role.PANEL))
        self.static_layer.recolour(is_stale=self._stale)
        self.highlight_layer.recolour(is_stale=self._stale)
        for labels in (self.labels, self.badges, self.numbers, self.titles, self.hovered_label, self.names):
            labels.repaint()

    def _show_marked_labels(self) -> None:
        """Show the labels of the highlighted edge, and of the selected state's edges, that have only a mark."""
        highlights = self._highlights
        hovered = [key for key in highlights.highlighted_edges if key in self._marks]
        marked = hovered if len(hovered) == 1 else []
        if highlights.selected is not None:
            ends = (key for key in self._marks if highlights.selected in key)
            marked = [*marked, *sorted(key for key in ends if key not in marked)]
        metrics, taken = QFontMetricsF(label_font()), Rects()
        shown: dict[EdgeKey, EdgeLabel] = {}
        for key in marked:
            label = self._marks[key]._replace(text=self._placed.diagram.labels[key])
            lines = label.text.split("\n")
            size = max(map(metrics.horizontalAdvance, lines)) + 4, len(lines) * metrics.height()
            for row in (0, 1, -1, 2, -2):  # beside the mark, or a line away, where the labels of other marks are
                at = label._replace(y=label.y + row * (size[1] + MARK_GAP))
                rect = around((at.x, at.y), size)
                if taken.is_free(rect):
                    taken.add(rect)
                    shown[key] = at
                    break
        self.hovered_label.replace(shown)
        for at in shown.values():
            self.hovered_label.reveal(at.rect.adjusted(-1, -1, 1, 1))

    # --- parts -------------------------------------------------------------------------------------------------------

    def _highlight(self, **changes: object) -> None:
        highlights = replace(self._highlights, **changes)  # type: ignore[arg-type]  # the names are those of this class
        if highlights != self._highlights:
            self._highlights = highlights
            self._update_highlights()

    def _update_highlights(self) -> None:
        self.highlight_layer.show(self._placed, self._highlights)
        self.highlights_changed.emit()

    def _drawn_states(self, states: Collection[int]) -> frozenset[int]:
        return frozenset(states) & self._placed.boxes.keys()

    def _drawn_edges(self, edges: Collection[EdgeKey]) -> frozenset[EdgeKey]:
        return frozenset(edges) & self._placed.curves.keys()

    def _drawn(self, texts: Mapping[EdgeKey, str]) -> Iterator[tuple[EdgeKey, str]]:
        return ((key, text) for key, text in texts.items() if key in self._placed.curves)

    def _node_at(self, point: QPointF) -> int | None:
        return next((node for node, box in self._placed.boxes.items() if box.contains(point)), None)

    def _badge_positions(self, key: EdgeKey, text: str, metrics: QFontMetricsF) -> Iterator[EdgeLabel]:
        width, height = metrics.horizontalAdvance(text) + 4, metrics.height()
        label = self._label_positions.get(key)
        if label is None:
            yield EdgeLabel(text, *point_at(self._placed.curves[key], 0.5), width, height)
            return
        first = -1 if key[0] == key[1] else 1  # below the label of a loop is the loop
        for side in (first, -first):
            yield EdgeLabel(text, label.x, label.y + side * (label.height / 2 + height / 2 + _UNDER), width, height)

    def _create_labels(self, diagram: Diagram, request: LayoutRequest, answer: LayoutAnswer) -> None:
        self._label_positions = {
            (source, target): EdgeLabel(
                diagram.labels[source, target], *answer.label_positions[source, target], width, height
            )
            for source, target, width, height in request.edges
            if (source, target) in answer.label_positions
        }
        self._marks = {key: EdgeLabel("…", *place, *MARK) for key, place in answer.marks.items()}
        self.labels.replace({**self._label_positions, **self._marks})
        self.hovered_label.replace({})
        self.badges.replace({})
        self._taken = Rects()
        for key, caption in (*self._label_positions.items(), *self._marks.items()):
            size = MARK if key in self._marks else request.texts.get(key, (caption.width, caption.height))
            self._taken.add(around((caption.x, caption.y), size))
        for box in self._placed.boxes.values():
            self._taken.add((box.left(), box.top(), box.right(), box.bottom()))
        texts = {**diagram.names, **{node: text for node, (_, text) in diagram.stubs().items()}}
        self.numbers.replace(
            {
                node: EdgeLabel(
                    texts.get(node, str(node)), box.center().x(), box.center().y(), box.width(), box.height()
                )
                for node, box in self._placed.boxes.items()
            }
        )
        self.names.replace(self._names_of(diagram))
        titles = zip(diagram.groups, request.groups, self._placed.rects, strict=True)
        self.titles.replace(
            {
                number: EdgeLabel(
                    title,
                    rect.left() + _TITLE_INSET + group.width / 2,
                    rect.top() + _TITLE_INSET / 2 + group.height / 2 + 2,
                    group.width,
                    group.height,
                )
                for number, ((title, _), group, rect) in enumerate(titles)
            }
        )

    def _names_of(self, diagram: Diagram) -> list[NodeName]:
        """Return the names for a small drawing, the most important first."""
        placed = self._placed
        names = [
            NodeName(title, rect, is_title=True) for (title, _), rect in zip(diagram.groups, placed.rects, strict=True)
        ]
        for title, states in diagram.areas:
            boxes = [placed.boxes[state].center() for state in states if state in placed.boxes]
            if boxes:
                xs, ys = sorted(box.x() for box in boxes), sorted(box.y() for box in boxes)
                middle = QRectF(xs[len(xs) // 2], ys[len(ys) // 2], 0, 0)
                names.append(NodeName(title, middle, most=AREAS_BELOW_ZOOM))
        drawn = ((state, box) for state, box in placed.boxes.items() if state >= 0)
        nodes = [NodeName(self._text_of(state).split("\n")[0], box, state) for state, box in drawn]
        names += [name for name in nodes if not name.text.isdecimal()]
        return names + [name._replace(is_number=True) for name in nodes if name.text.isdecimal()][:MOST_NUMBERS]

    def _text_of(self, state: int) -> str:
        return self._placed.diagram.names.get(state, str(state))

    def _name_style(self, node: int | None) -> LabelColours:
        if node is None:
            return LabelColours(
                theme.colour(Role.DISABLED if self._stale else Role.TEXT), background=theme.colour(Role.PANEL)
            )
        style = self._number_style(node)
        is_live = node in self._highlights.live and not self._stale
        return replace(style, background=theme.colour(Role.LIVE_FILL if is_live else Role.RAISED))

    def _label_style(self, key: EdgeKey) -> LabelColours:
        background = theme.colour(Role.PANEL)
        if self._stale:
            return LabelColours(theme.colour(Role.DISABLED), background=background)
        return LabelColours(
            theme.colour(Role.LIVE if key in self._highlights.next_edges else Role.TEXT), background=background
        )

    def _badge_style(self, _key: EdgeKey) -> LabelColours:
        return LabelColours(
            theme.colour(Role.DISABLED if self._stale else Role.MUTED), background=theme.colour(Role.PANEL)
        )

    def _number_style(self, node: int) -> LabelColours:
        if self._stale:
            return LabelColours(theme.colour(Role.DISABLED))
        if node in self._highlights.live:
            return LabelColours(theme.colour(Role.LIVE), bold=True)
        is_quiet = node < 0 or self._text_of(node).isdecimal()  # a digit on an edge must not be taken for a state
        is_muted = is_quiet and not any(node in states for states in self._highlights.coloured.values())
        return LabelColours(theme.colour(Role.MUTED if is_muted else Role.TEXT), quiet=is_quiet and node >= 0)

    def _title_style(self, number: int) -> LabelColours:
        if self._stale:
            return LabelColours(theme.colour(Role.DISABLED), bold=True)
        return LabelColours(theme.colour(Role.LIVE if self.is_live_group(number) else Role.TEXT), bold=True)
