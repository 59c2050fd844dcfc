"""Layout of large graphs, by distance from the start.

A node's column is its distance from the start in edges, so no edge runs forward over more than one column. An edge
back over several columns bends in each of them, in a row of its own, so that it runs through no node. Within a column,
nodes and bends are sorted by the mean position of their neighbours (Sugiyama, Tagawa and Toda 1981), in a few sweeps to
and fro. The bends are bounded: if there are too many, edges that lead back to the same node share them from where they
meet, and if there are too many still, the longest edges have none. So the work is linear in nodes and edges, except for
the sorting.

Coordinates and curves are computed from columns and rows in the same way for `sugiyama`: the columns get widths that
leave space for the labels between them. Within a column a line is level, so it bends only where no node is. An edge
against the reading direction is drawn slightly below one in the reading direction, so that a pair of opposite edges
stays two lines.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

from app.graph.layout.curves import Box, bow, loop, loop_label, point_at, through
from app.graph.layout.types import EdgeKey, LayoutRequest, Placement, Point

_SWEEPS = 6
_COLUMN_GAP = 46.0
_LABEL_MARGIN = 34.0
_ROW_GAP = 18.0
_LOOP_SPACE = 22.0
_BACK_OFFSET = 9.0
_BOW = 18.0  # how far an edge within a column leaves it, at least; and how far it stays from the next one
_ARC_ROOM, _MOST_ARCS = 12.0, 20  # the room of an arc within a column, and how many get one of their own
_BEND_ROW = 18.0  # the distance of two lines in a column
_MOST_BENDS = 2_000


def place_by_layers(request: LayoutRequest, spread: float = 1.0) -> Placement:
    """Lay a graph out in columns by distance from its start; `spread` widens the gaps."""
    column = _distances(request)
    bends = _bends(request, column)
    columns: list[list[int]] = [[] for _ in range(1 + max(column.values()))]
    for member in column:
        columns[column[member]].append(member)
    _sort_columns(columns, _pieces(request, bends), column)
    return assemble(request, ColumnRows(column, _heights(columns, request, spread), bends), spread)


def _bends(request: LayoutRequest, column: dict[int, int]) -> dict[EdgeKey, tuple[int, ...]]:
    """Return the bends of the edges that lead back over several columns, and add their columns to `column`."""
    back = [(source, target) for source, target, _, _ in request.edges if column[source] - column[target] > 1]
    back.sort(key=lambda edge: (column[edge[0]] - column[edge[1]], edge))
    spans = sum(column[source] - column[target] - 1 for source, target in back)
    is_shared = spans > _MOST_BENDS
    number = min(0, *column)
    known: dict[tuple[EdgeKey | int, int], int] = {}  # bends by their edge, or by its target, and column
    bends: dict[EdgeKey, tuple[int, ...]] = {}
    for edge in back:
        source, target = edge
        owner = target if is_shared else edge
        crossed = range(column[source] - 1, column[target], -1)
        if len(known) + sum((owner, at) not in known for at in crossed) > _MOST_BENDS:
            continue
        route = []
        for at in crossed:
            if (owner, at) not in known:
                number -= 1
                known[owner, at] = number
            route.append(known[owner, at])
        bends[edge] = tuple(route)
    column |= {bend: at for (_, at), bend in known.items()}
    return bends


def _pieces(request: LayoutRequest, bends: Mapping[EdgeKey, tuple[int, ...]]) -> set[EdgeKey]:
    """Return the edges, each with bends as the pieces between them."""
    pieces: set[EdgeKey] = set()
    for source, target, _, _ in request.edges:
        pieces |= set(pairwise((source, *bends.get((source, target), ()), target)))
    return pieces


def _heights(columns: Sequence[Sequence[int]], request: LayoutRequest, spread: float) -> dict[int, float]:
    """Return the height of each node and bend: columns are centred, and a bend takes less room than a node."""
    distance, nodes = row_distance(request), {node for node, _, _ in request.nodes}
    height: dict[int, float] = {}
    for members in columns:
        room = [distance if member in nodes else spread * _BEND_ROW for member in members]
        y = -sum(room) / 2
        for member, its in zip(members, room, strict=True):
            height[member] = y + its / 2
            y += its
    return height


def _distances(request: LayoutRequest) -> dict[int, int]:
    """Return each node's distance from the start; an unreachable node begins a search of its own."""
    graph = nx.DiGraph((source, target) for source, target, _, _ in request.edges)
    graph.add_nodes_from(node for node, _, _ in request.nodes)
    distance: dict[int, int] = {}
    for root in (request.start, *graph):
        if root not in distance:
            distance = nx.single_source_shortest_path_length(graph, root) | distance
    return distance


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
    """Return the minimum distance between the centres of two neighbours in a column."""
    tallest = max(height for _, _, height in request.nodes)
    has_loop = any(source == target for source, target, _, _ in request.edges)
    return tallest + _ROW_GAP + (_LOOP_SPACE if has_loop else 0.0)


def assemble(request: LayoutRequest, rows: ColumnRows, spread: float) -> Placement:
    """Compute the placement of a graph whose columns and heights are known.

    Args:
        request: the graph.
        rows: the columns and heights.
        spread: by how much the gaps between columns are wider than necessary.
    """
    columns = _columns(request, rows, spread)
    boxes = {
        node: Box(columns[rows.column[node]].centre, rows.height[node], width, height)
        for node, width, height in request.nodes
    }
    curves: dict[EdgeKey, tuple[Point, ...]] = {}
    labels: dict[EdgeKey, Point] = {}
    for source, target, label_width, label_height in request.edges:
        key = source, target
        if source == target:
            curves[key] = loop(boxes[source])
            label = loop_label(boxes[source], label_height)
        else:
            bends = [(columns[rows.column[bend]], rows.height[bend]) for bend in rows.bends.get(key, ())]
            ends = columns[rows.column[source]], columns[rows.column[target]]
            curves[key], label = _curve(boxes[source], boxes[target], ends, bends)
        if label_width > 0:
            labels[key] = label
    return Placement({node: (box.x, box.y) for node, box in boxes.items()}, curves, labels)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its middle, half of its width, and the widths of the gaps to its right and to its left."""

    centre: float
    half: float
    gap: float
    gap_before: float

    @property
    def left(self) -> float:
        return self.centre - self.half

    @property
    def right(self) -> float:
        return self.centre + self.half


def _columns(request: LayoutRequest, rows: ColumnRows, spread: float) -> list[_Column]:
    count = 1 + max(rows.column.values())
    width = [0.0] * count
    gap = [_COLUMN_GAP] * count
    for node, node_width, _ in request.nodes:
        column = rows.column[node]
        width[column] = max(width[column], node_width)
    for source, target, label_width, _ in request.edges:
        if label_width > 0 and source != target:
            column = _label_column(source, target, rows)
            gap[column] = max(gap[column], label_width + _LABEL_MARGIN)
    arcs = [0] * count  # within a column, in the gap before or after it
    for source, target, _, _ in request.edges:
        if source != target and rows.column[source] == rows.column[target]:
            column = rows.column[source] - (rows.height[source] > rows.height[target])
            arcs[max(column, 0)] += 1
    gap = [its + _ARC_ROOM * min(arcs_in, _MOST_ARCS) for its, arcs_in in zip(gap, arcs, strict=True)]
    columns, x, before = [], 0.0, spread * _COLUMN_GAP
    for its_width, its_gap in zip(width, gap, strict=True):
        after = spread * its_gap
        columns.append(_Column(x + its_width / 2, its_width / 2, after, before))
        x += its_width + after
        before = after
    return columns


def _label_column(source: int, target: int, rows: ColumnRows) -> int:
    """Return the column to the right of which an edge's label is placed."""
    points = [source, *rows.bends.get((source, target), ()), target]
    first = (len(points) - 1) // 2
    return min(rows.column[points[first]], rows.column[points[min(first + 1, len(points) - 1)]])


def _curve(
    source: Box, target: Box, ends: tuple[_Column, _Column], bends: Sequence[tuple[_Column, float]]
) -> tuple[tuple[Point, ...], Point]:
    """Return the curve of an edge, and the place of its label, in the middle one of the gaps that it crosses.

    Args:
        source: the box where it begins.
        target: the box where it ends.
        ends: their columns.
        bends: the column and the height of each bend.
    """
    first, last = ends
    if first is last:
        border, gap = (first.right, first.gap) if source.y < target.y else (first.left, first.gap_before)
        chain = bow(source, target, border, min(_BOW + abs(target.y - source.y) / 4, gap - _BOW))
        return chain, point_at(chain, 0.5)
    side = 1 if source.x < target.x else -1
    lowered = 0.0 if side > 0 else _BACK_OFFSET
    begin, end = (source.right, target.left) if side > 0 else (_lower(source, -1), _lower(target, 1))
    points = [begin, (first.centre + side * first.half, begin[1])]
    for column, height in bends:
        points += [
            (column.centre - side * column.half, height + lowered),
            (column.centre + side * column.half, height + lowered),
        ]
    points += [(last.centre - side * last.half, end[1]), end]
    chain = through(points)
    middle = 2 * (len(bends) // 2)
    (x0, y0), (x1, y1) = points[middle + 1], points[middle + 2]
    return chain, ((x0 + x1) / 2, (y0 + y1) / 2)


def _lower(box: Box, side: int) -> Point:
    """Return the attachment point of a back edge: slightly below the middle of the left (-1) or right (1) end."""
    radius = box.height / 2
    inset = radius - math.sqrt(max(radius * radius - _BACK_OFFSET * _BACK_OFFSET, 0.0))
    return box.x + side * (box.width / 2 - inset), box.y + _BACK_OFFSET
