"""Layout of large graphs, by distance from the start.

A node's column is its distance from the start in edges, so no edge runs forward over more than one column. Where that
makes columns much taller than the drawing is wide, they are folded: a column takes so many nodes, and others wait for a
later one. An edge over several columns bends in each of them, in a row of its own, so that it runs through no node; in
a folded drawing, edges to the same node share their bends. Within a column, nodes and bends are sorted by the mean
position of their neighbours (Sugiyama, Tagawa and Toda 1981), in a few sweeps to and fro. The bends are bounded: if
there are too many, edges that lead back to the same node share them from where they meet, and if there are too many
still, the longest edges have none. So the work is linear in nodes and edges, except for the sorting.

Coordinates and curves are computed from columns and the order within them in the same way for `sugiyama`. Heights are
settled in sweeps, as near to those of the neighbours as the order allows; then the bends of an edge are moved to as few
heights as there is room for, so that long edges are straight and have few steps. In the middle of the gap between two
columns is a column of labels: each edge that crosses the gap has a height of its own
there, with the room of its label if it has one, and is level, so no line meets a label of another edge. An edge within
a column turns back behind its label. Within a column of nodes a line is level, too, so it bends only where no node is.
An edge against the reading direction is drawn slightly below one in the reading direction, so that a pair of opposite
edges stays two lines. Rejected: labels at the middles of curves, moved to where there is room; in dense graphs a third
of them had none, however wide the gaps.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import networkx as nx

from app.graph.layout.curves import LOOP_ROOM, Box, loop, loop_label, through
from app.graph.layout.types import EdgeKey, LayoutRequest, Placement, Point

_SWEEPS = 6
_SIDEWAYS = 2  # sweeps to and fro when the heights are settled
_NODE_WEIGHT, _BEND_WEIGHT = 1.0, 4.0
_LEVEL_WEIGHT, _HALF_LEVEL_WEIGHT = 1_000.0, 8.0  # of a piece in its gap, if it has a level end
_LEVEL = 1.0  # a smaller step is none
_PIECE_WEIGHTS = (1.0, 2.0, 8.0)  # by the number of bends at its ends, as in `dot`
_COLUMN_GAP = 46.0  # between columns without labels
_CHANNEL = 16.0  # the least room for curves beside labels
_STEEP, _MOST_STEEP = 0.12, 40.0  # more room for steep curves
_LABEL_MARGIN, _LABEL_GAP = 5.0, 3.0  # at the sides of a label, and between two labels
_LINE_ROOM = 9.0  # the distance of two lines beside labels
_ROW_GAP = 18.0
_BACK_OFFSET = 9.0
_BOW = 18.0  # how far an edge within a column turns, at least
_ARC_ROOM, _MOST_ARCS = 7.0, 20  # the room of an arc within a column, and how many get one of their own
_BEND_ROW = 18.0  # the distance of two lines in a column
_MOST_BENDS = 4_000


def place_by_layers(request: LayoutRequest, spread: float = 1.0, most: int | None = None) -> Placement:
    """Lay a graph out in columns by distance from its start.

    Args:
        request: the graph.
        spread: by how much the gaps are wider than necessary.
        most: how many nodes a column has at most; None for as many as there are at a distance. Columns are longer if
            there were too many bends otherwise.
    """
    column = _columns(request, most)
    bends = _bends(request, column, is_shared=most is not None)
    while most is not None and any(key not in bends for key in _far_edges(request, column)):
        most = 2 * most if most < len(request.nodes) else None
        column = _columns(request, most)
        bends = _bends(request, column, is_shared=most is not None)
    columns: list[list[int]] = [[] for _ in range(1 + max(column.values()))]
    for member in column:
        columns[column[member]].append(member)
    _sort_columns(columns, _pieces(request, bends), column)
    return assemble(request, ColumnRows(column, _heights(columns, request), bends), spread)


def _bends(request: LayoutRequest, column: dict[int, int], *, is_shared: bool) -> dict[EdgeKey, tuple[int, ...]]:
    """Return the bends of the edges that cross columns, and add their columns to `column`.

    Args:
        request: the graph.
        column: the column of each node.
        is_shared: whether edges share their bends on the way to the same node; if there are many, they do anyway.
    """
    far = _far_edges(request, column)
    far.sort(key=lambda edge: (abs(column[edge[0]] - column[edge[1]]), edge))
    is_shared = is_shared or sum(abs(column[source] - column[target]) - 1 for source, target in far) > _MOST_BENDS
    number = min(0, *column)
    known: dict[tuple[EdgeKey, int], int] = {}  # bends by their edge, or by its target and direction, and column
    bends: dict[EdgeKey, tuple[int, ...]] = {}
    for source, target in far:
        step = 1 if column[source] < column[target] else -1
        owner = (target, step) if is_shared else (source, target)
        crossed = range(column[source] + step, column[target], step)
        if len(known) + sum((owner, at) not in known for at in crossed) > _MOST_BENDS:
            continue
        route = []
        for at in crossed:
            if (owner, at) not in known:
                number -= 1
                known[owner, at] = number
            route.append(known[owner, at])
        bends[source, target] = tuple(route)
    column |= {bend: at for (_, at), bend in known.items()}
    return bends


def _far_edges(request: LayoutRequest, column: Mapping[int, int]) -> list[EdgeKey]:
    """Return the edges that cross a column."""
    return [(source, target) for source, target, _, _ in request.edges if abs(column[source] - column[target]) > 1]


def _pieces(request: LayoutRequest, bends: Mapping[EdgeKey, tuple[int, ...]]) -> set[EdgeKey]:
    """Return the edges, each with bends as the pieces between them."""
    pieces: set[EdgeKey] = set()
    for source, target, _, _ in request.edges:
        pieces |= set(pairwise((source, *bends.get((source, target), ()), target)))
    return pieces


def _heights(columns: Sequence[Sequence[int]], request: LayoutRequest) -> dict[int, float]:
    """Return the height of each node and bend: columns are centred, and a bend takes less room than a node."""
    distance, nodes = row_distance(request), {node for node, _, _ in request.nodes}
    height: dict[int, float] = {}
    for members in columns:
        room = [distance if member in nodes else _BEND_ROW for member in members]
        y = -sum(room) / 2
        for member, its in zip(members, room, strict=True):
            height[member] = y + its / 2
            y += its
    return height


def _columns(request: LayoutRequest, most: int | None) -> dict[int, int]:
    """Return each node's column: its distance from the start, or more if the columns before are full.

    An unreachable node begins a search of its own.
    """
    graph = nx.DiGraph((source, target) for source, target, _, _ in request.edges)
    graph.add_nodes_from(node for node, _, _ in request.nodes)
    distance: dict[int, int] = {}
    for root in (request.start, *graph):
        if root not in distance:
            distance = nx.single_source_shortest_path_length(graph, root) | distance
    if most is None:
        return distance
    return _with_full_columns(graph, distance, most)


def _with_full_columns(graph: nx.DiGraph, distance: Mapping[int, int], most: int) -> dict[int, int]:
    """Return columns of at most `most` nodes, in which nodes that one node leads to are near each other."""
    column: dict[int, int] = {}
    sizes: Counter[int] = Counter()
    for root in sorted(distance, key=distance.__getitem__):
        pending = [] if root in column else [(root, distance[root])]
        while pending:
            node, at = pending.pop()
            if node in column:
                continue
            while sizes[at] >= most:
                at += 1
            column[node] = at
            sizes[at] += 1
            following = (target for target in graph[node] if distance[target] == distance[node] + 1)
            pending += [(target, at + 1) for target in reversed([*following])]
    used = {at: number for number, at in enumerate(sorted(sizes))}
    return {node: used[at] for node, at in column.items()}


def _sort_columns(columns: Sequence[list[int]], edges: Iterable[EdgeKey], column: Mapping[int, int]) -> None:
    before: defaultdict[int, list[int]] = defaultdict(list)
    after: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in sorted(edges):
        left, right = sorted((source, target), key=column.__getitem__)
        if column[left] + 1 == column[right]:
            before[right].append(left)
            after[left].append(right)
    position = {node: _centred_position(index, members) for members in columns for index, node in enumerate(members)}
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        neighbours = before if forward else after
        for members in columns if forward else reversed(columns):
            mean = {node: _mean([position[other] for other in neighbours[node]], position[node]) for node in members}
            members.sort(key=mean.__getitem__)
            position.update((node, _centred_position(index, members)) for index, node in enumerate(members))


def _centred_position(index: int, members: Sequence[int]) -> float:
    """Return a position within a column, relative to its middle, since columns are centred."""
    return index - (len(members) - 1) / 2


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


@dataclass(frozen=True, slots=True)
class ColumnRows:
    """The result of a layered method.

    Attributes:
        column: the column of each node and each bend, from 0 at the left.
        height: the y of each node and each bend.
        bends: for an edge that crosses columns, the ids of its bends, from source to target; absent for none.
    """

    column: Mapping[int, int]
    height: Mapping[int, float]
    bends: Mapping[EdgeKey, tuple[int, ...]]


def row_distance(request: LayoutRequest) -> float:
    """Return the distance between the centres of two neighbours in a column, without loops."""
    return max(height for _, _, height in request.nodes) + _ROW_GAP


def assemble(request: LayoutRequest, rows: ColumnRows, spread: float) -> Placement:
    """Compute the placement of a graph whose columns are known, and the heights that its nodes should have.

    Args:
        request: the graph.
        rows: the columns and heights; within a column, those that are too near are moved apart.
        spread: by how much the gaps are wider than necessary.
    """
    return _Assembly(request, rows, spread).place()


def spaced(wanted: Sequence[float], rooms: Sequence[tuple[float, float]], weights: Sequence[float]) -> list[float]:
    """Return the positions nearest to the wanted ones, by the weighted sum of squares, at which no two overlap.

    This is isotonic regression by pooling adjacent violators (Ayer et al. 1955).

    Args:
        wanted: the positions, in the order that is kept.
        rooms: the room that each needs before and after its position.
        weights: by how much each counts.
    """
    offsets = [0.0]
    for (_, after), (before, _) in pairwise(rooms):
        offsets.append(offsets[-1] + after + before)
    blocks: list[tuple[float, float, int]] = []  # the mean of neighbours that touch, their weight and their number
    for position, offset, its_weight in zip(wanted, offsets, weights, strict=False):
        mean, weight, count = position - offset, its_weight, 1
        while blocks and blocks[-1][0] >= mean:
            before_mean, before_weight, before_count = blocks.pop()
            mean = (before_mean * before_weight + mean * weight) / (before_weight + weight)
            weight += before_weight
            count += before_count
        blocks.append((mean, weight, count))
    means = (mean for mean, _, count in blocks for _ in range(count))
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]


_Piece: TypeAlias = tuple[int, int, bool]
"""Two nodes or bends that a part of an edge connects; for an edge within a column, whether it is the part back."""


@dataclass(frozen=True, slots=True)
class _Gap:
    """The gap after a column: room for curves, for the labels of the edges that cross it, and for curves again.

    Attributes:
        left, right: where the labels begin and end.
        after: the width of the room behind the labels.
        heights: the height of each piece between `left` and `right`.
    """

    left: float
    right: float
    after: float
    heights: Mapping[_Piece, float]


class _Assembly:
    """The computation of one placement from columns and heights."""

    def __init__(self, request: LayoutRequest, rows: ColumnRows, spread: float) -> None:
        self._request, self._spread = request, spread
        self._column, self._bends = rows.column, rows.bends
        self._turns = frozenset(bend for route in rows.bends.values() for bend in route)
        self._pieces = {(source, target): self._pieces_of(source, target) for source, target, _, _ in request.edges}
        uses = Counter(piece for pieces in self._pieces.values() for piece in pieces)
        # The label is on a piece that no other edge shares, as near to the middle as possible.
        self._labelled = {
            key: min(range(len(pieces)), key=lambda at: (uses[pieces[at]] > 1, abs(2 * at + 1 - len(pieces)), at))
            for key, pieces in self._pieces.items()
            if pieces
        }
        self._height = self._settled(rows.height)
        self._columns: list[tuple[float, float]] = []  # left and right of each
        self._gaps: list[_Gap] = []
        self._measure()

    def place(self) -> Placement:
        """Return the placement."""
        boxes = {
            node: Box(sum(self._columns[self._column[node]]) / 2, self._height[node], width, height)
            for node, width, height in self._request.nodes
        }
        curves: dict[EdgeKey, tuple[Point, ...]] = {}
        labels: dict[EdgeKey, Point] = {}
        certain = set()
        for source, target, label_width, label_height in self._request.edges:
            key = source, target
            if source == target:
                curves[key], label = loop(boxes[source]), loop_label(boxes[source], label_height)
            elif self._column[source] == self._column[target]:
                curves[key], label = self._arc(boxes[source], boxes[target], self._pieces[key])
            else:
                curves[key], label = self._curve(key, boxes[source], boxes[target])
            if label_width > 0:
                labels[key] = label
                if source == target or self._is_short(self._pieces[key][self._labelled[key]]):
                    certain.add(key)
        positions = {node: (box.x, box.y) for node, box in boxes.items()}
        return Placement(positions, curves, labels, certain=frozenset(certain))

    def _settled(self, wanted: Mapping[int, float]) -> dict[int, float]:
        """Return heights at which edges are short and long edges are straight, in the wanted order of each column."""
        above, below = {}, {}
        for node, _, its_height in self._request.nodes:
            above[node] = below[node] = (its_height + _ROW_GAP) / 2
        for source, target, _, its_height in self._request.edges:
            if source == target:
                above[source] += LOOP_ROOM + its_height
        members: list[list[int]] = [[] for _ in range(1 + max(self._column.values()))]
        for member in sorted(self._column, key=lambda member: (wanted[member], member)):
            members[self._column[member]].append(member)
        bend = self._spread * _BEND_ROW / 2
        rooms = [[(above.get(member, bend), below.get(member, bend)) for member in column] for column in members]
        weights = [[_NODE_WEIGHT if member in above else _BEND_WEIGHT for member in column] for column in members]
        left, right = self._neighbours(above)
        both = {member: [*left.get(member, ()), *right.get(member, ())] for member in self._column}
        height = dict(wanted)
        columns = range(len(members))
        for order, neighbours in (
            (columns, both),
            *_SIDEWAYS * ((columns, left), (columns[::-1], right)),
            (columns, both),
        ):
            for number in order:
                means = [_mean_height(neighbours.get(member, ()), height, height[member]) for member in members[number]]
                found = spaced(means, rooms[number], weights[number])
                height.update(zip(members[number], found, strict=True))
        self._straighten(members, rooms, height)
        return height

    def _straighten(
        self, members: Sequence[Sequence[int]], rooms: Sequence[Sequence[tuple[float, float]]], height: dict[int, float]
    ) -> None:
        """Move the bends of an edge to as few heights as there is room for, so that it has few and large steps."""
        at = {member: (number, row) for number, column in enumerate(members) for row, member in enumerate(column)}

        def free(bend: int) -> tuple[float, float]:
            number, row = at[bend]
            column, room = members[number], rooms[number]
            least = height[column[row - 1]] + room[row - 1][1] + room[row][0] if row else -math.inf
            is_last = row + 1 == len(column)
            return least, math.inf if is_last else height[column[row + 1]] - room[row + 1][0] - room[row][1]

        for route in sorted(set(self._bends.values()), key=lambda route: (-len(route), route)):
            run: list[int] = []
            least, most = -math.inf, math.inf
            for bend in (*route, None):
                low, high = (math.inf, -math.inf) if bend is None else free(bend)
                if max(least, low) > min(most, high):
                    mean = sum(height[one] for one in run) / max(1, len(run))
                    height.update(dict.fromkeys(run, min(max(mean, least), most)))
                    run, least, most = [], -math.inf, math.inf
                if bend is not None:
                    run.append(bend)
                    least, most = max(least, low), min(most, high)

    def _neighbours(
        self, nodes: Collection[int]
    ) -> tuple[Mapping[int, list[tuple[int, float]]], Mapping[int, list[tuple[int, float]]]]:
        """Return the neighbours of nodes and bends in the columns to the left and to the right, with their weights."""
        left: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        right: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for first, last, _ in sorted({piece for pieces in self._pieces.values() for piece in pieces}):
            step = self._column[last] - self._column[first]
            if abs(step) == 1:
                weight = _PIECE_WEIGHTS[(first not in nodes) + (last not in nodes)]
                (right if step > 0 else left)[first].append((last, weight))
                (left if step > 0 else right)[last].append((first, weight))
        return left, right

    def _pieces_of(self, source: int, target: int) -> list[_Piece]:
        if source == target:
            return []
        if self._column[source] == self._column[target]:
            return [(source, target, False), (source, target, True)]
        return [(a, b, False) for a, b in pairwise((source, *self._bends.get((source, target), ()), target))]

    def _measure(self) -> None:
        """Compute the columns and the gaps between them."""
        count = 1 + max(self._column.values())
        wanted: list[dict[_Piece, float]] = [{} for _ in range(count)]
        width, labels, arcs = [0.0] * count, [0.0] * count, [0] * count
        rooms: dict[_Piece, float] = {}
        for node, node_width, _ in self._request.nodes:
            width[self._column[node]] = max(width[self._column[node]], node_width)
        for source, target, label_width, label_height in self._request.edges:
            if source == target:
                width[self._column[source]] = max(width[self._column[source]], label_width)
                continue
            pieces = self._pieces[source, target]
            arcs[self._column[source]] += self._column[source] == self._column[target]
            for piece in pieces:
                if self._is_short(piece):
                    wanted[self._gap_of(piece)][piece] = self._wanted(piece)
            labelled = pieces[self._labelled[source, target]]
            if label_width > 0 and self._is_short(labelled):
                gap = self._gap_of(labelled)
                labels[gap] = max(labels[gap], label_width + 2 * _LABEL_MARGIN)
                rooms[labelled] = max(rooms.get(labelled, 0.0), label_height + _LABEL_GAP)
        x = 0.0
        for its_width, its_labels, its_arcs, its_wanted in zip(width, labels, arcs, wanted, strict=True):
            heights: dict[_Piece, float] = {}
            before = after = self._spread * _COLUMN_GAP / 2
            if its_labels:
                pieces = sorted(its_wanted, key=lambda piece: (its_wanted[piece], *self._order(piece), piece))
                halves = [self._spread * rooms.get(piece, _LINE_ROOM) / 2 for piece in pieces]
                found = spaced(
                    [its_wanted[piece] for piece in pieces],
                    [(half, half) for half in halves],
                    [self._weight(piece) for piece in pieces],
                )
                heights = {
                    piece: wish if abs(wish - y) < _LEVEL and self._is_level(piece) else y
                    for piece, y in zip(pieces, found, strict=True)
                    for wish in (its_wanted[piece],)
                }
                before = after = self._spread * (_CHANNEL + min(_STEEP * self._steepest(heights), _MOST_STEEP))
            after += _ARC_ROOM * min(its_arcs, _MOST_ARCS)
            self._columns.append((x, x + its_width))
            left = x + its_width + before
            self._gaps.append(_Gap(left, left + its_labels, after, heights))
            x = left + its_labels + after

    def _is_short(self, piece: _Piece) -> bool:
        return abs(self._column[piece[0]] - self._column[piece[1]]) <= 1

    def _gap_of(self, piece: _Piece) -> int:
        return min(self._column[piece[0]], self._column[piece[1]])

    def _wanted(self, piece: _Piece) -> float:
        """Return the best height of a piece in the middle of its gap."""
        first, last, is_back = piece
        if self._column[first] == self._column[last]:
            return self._height[last] if is_back else self._height[first]
        lowered = _BACK_OFFSET if self._column[first] > self._column[last] else 0.0
        bends = [end for end in (first, last) if end in self._turns]
        ends = bends if len(bends) == 1 else (first, last)  # beside a bend, the edge has the height of its long part
        return sum(self._height[end] for end in ends) / len(ends) + lowered

    def _is_level(self, piece: _Piece) -> bool:
        return abs(self._height[piece[0]] - self._height[piece[1]]) < _LEVEL

    def _weight(self, piece: _Piece) -> float:
        """Return how much it counts that a piece has the height that it should have in the middle of its gap."""
        if self._is_level(piece):
            return _LEVEL_WEIGHT
        return 1.0 if self._turns.isdisjoint(piece[:2]) else _HALF_LEVEL_WEIGHT

    def _order(self, piece: _Piece) -> tuple[float, ...]:
        """Return a key by which pieces of the same height are sorted: arcs within a column are nested."""
        first, last, is_back = piece
        if self._column[first] != self._column[last]:
            return 0.0, self._height[first], 0.0
        here, there = (last, first) if is_back else (first, last)
        length, is_down = self._height[there] - self._height[here], self._height[last] > self._height[first]
        return (1.0, -length, -is_down) if length > 0 else (-1.0, -length, is_down)

    def _steepest(self, heights: Mapping[_Piece, float]) -> float:
        """Return by how much pieces rise or fall at one side of their labels, without the steepest tenth of them."""
        steps = sorted(abs(self._height[end] - at) for piece, at in heights.items() for end in piece[:2])
        return steps[len(steps) * 9 // 10]

    def _curve(self, key: EdgeKey, source: Box, target: Box) -> tuple[tuple[Point, ...], Point]:
        """Return the curve of an edge between columns, and the place of its label."""
        side = 1 if source.x < target.x else -1
        begin, end = (source.right, target.left) if side > 0 else (_lower(source, -1), _lower(target, 1))
        lowered = 0.0 if side > 0 else _BACK_OFFSET
        pieces = self._pieces[key]
        heights = [begin[1], *(self._height[bend] + lowered for _, bend, _ in pieces[:-1]), end[1]]
        points, label = [begin], begin
        for number, (piece, (y0, y1)) in enumerate(zip(pieces, pairwise(heights), strict=True)):
            (left, right), gap = self._columns[self._column[piece[0]]], self._gaps[self._gap_of(piece)]
            before, after = self._columns[self._column[piece[1]]]
            outer = [(right, y0), (before, y1)] if side > 0 else [(left, y0), (after, y1)]
            at = gap.heights.get(piece)
            inner = [] if at is None else [(gap.left, at), (gap.right, at)][::side]
            points += [outer[0], *inner, outer[1]]
            if number == self._labelled[key]:
                (xa, ya), (xb, yb) = inner or outer
                label = (xa + xb) / 2, (ya + yb) / 2
        return through([*points, end]), label

    def _arc(self, source: Box, target: Box, pieces: Sequence[_Piece]) -> tuple[tuple[Point, ...], Point]:
        """Return the curve of an edge within a column, which turns back after its label, and the place of its label."""
        number = self._column[pieces[0][0]]
        gap, border = self._gaps[number], self._columns[number][1]
        y0, y1 = (gap.heights.get(piece, box.y) for piece, box in zip(pieces, (source, target), strict=True))
        out = through([source.right, (border, source.y), (gap.left, y0), (gap.right, y0)])
        back = through([(gap.right, y1), (gap.left, y1), (border, target.y), target.right])
        # The middle of an arc is at 3/4 of the way to its control points.
        control = gap.right + min(_BOW + abs(y1 - y0) / 6, gap.after - _BOW / 2) / 0.75
        return (*out, (control, y0), (control, y1), *back), ((gap.left + gap.right) / 2, y0)


def _mean_height(neighbours: Sequence[tuple[int, float]], height: Mapping[int, float], otherwise: float) -> float:
    if not neighbours:
        return otherwise
    return sum(height[node] * weight for node, weight in neighbours) / sum(weight for _, weight in neighbours)


def _lower(box: Box, side: int) -> Point:
    """Return the attachment point of a back edge: slightly below the middle of the left (-1) or right (1) end."""
    radius = box.height / 2
    inset = radius - math.sqrt(max(radius * radius - _BACK_OFFSET * _BACK_OFFSET, 0.0))
    return box.x + side * (box.width / 2 - inset), box.y + _BACK_OFFSET
