"""Parts of a graph in boxes of their own."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import pytest

from app.graph.layout.methods import lay_out
from app.graph.layout.types import LayoutGroup, LayoutRequest, Rect
from engine.source import InvariantError


def request(sizes: list[int]) -> LayoutRequest:
    """Chains, one for each size, each in a box."""
    nodes, edges, groups = [], [], []
    first = 0
    for size in sizes:
        states = tuple(range(first, first + size))
        nodes += [(state, 32.0, 32.0) for state in states]
        edges += [(source, target, 40.0, 12.0) for source, target in pairwise(states)]
        groups.append(LayoutGroup(states, first, 50.0, 14.0))
        first += size
    return LayoutRequest(1, tuple(nodes), tuple(edges), 0, tuple(groups))


def overlap(one: Rect, other: Rect) -> bool:
    return (
        one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    )


@pytest.mark.parametrize("plainly", [False, True])
@pytest.mark.parametrize("sizes", [[3], [1, 1, 1], [2, 9, 1, 4, 4, 3, 1]])
def test_boxes_hold_their_nodes_and_do_not_touch(sizes: list[int], plainly: bool) -> None:
    asked = request(sizes)
    answer = lay_out(asked, plainly=plainly)
    assert len(answer.boxes) == len(sizes)
    assert not any(overlap(one, other) for one, other in combinations(answer.boxes, 2))
    for group, (left, top, width, height) in zip(asked.groups, answer.boxes, strict=True):
        for node in group.nodes:
            x, y = answer.positions[node]
            assert left + 16 < x < left + width - 16
            assert top + group.height + 16 < y < top + height - 16
    assert answer.curves.keys() == {(source, target) for source, target, _, _ in asked.edges}
    assert answer.label_positions.keys() == answer.curves.keys()


def test_boxes_read_in_lines_and_fill_a_window() -> None:
    boxes = lay_out(request([3] * 9)).boxes
    assert [box[:2] for box in boxes] == sorted((box[:2] for box in boxes), key=lambda corner: corner[::-1])
    width = max(left + wide for left, _, wide, _ in boxes)
    height = max(top + tall for _, top, _, tall in boxes)
    assert 0.4 < width / height < 2


def test_an_edit_to_one_part_leaves_the_others_as_they_were() -> None:
    before, after = lay_out(request([3, 4])), lay_out(request([3, 6]))
    left, top = before.boxes[0][0] - after.boxes[0][0], before.boxes[0][1] - after.boxes[0][1]
    assert [(x - left, y - top) for x, y in (before.positions[node] for node in range(3))] == [
        after.positions[node] for node in range(3)
    ]


def test_groups_hold_every_node_once_and_every_edge_within() -> None:
    asked = request([2, 2])
    with pytest.raises(InvariantError):
        replace(asked, groups=asked.groups[:1])
    with pytest.raises(InvariantError):
        replace(asked, groups=(asked.groups[0], replace(asked.groups[1], nodes=(2, 3, 0))))
    with pytest.raises(InvariantError):
        replace(asked, edges=((1, 2, 0.0, 0.0),))
