"""Layouts, without a screen: every method keeps its promises on every shape of graph."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from app.graph.layout import methods, types
from app.graph.layout.graphviz import place_by_dot
from app.graph.layout.layered import place_by_layers
from app.graph.layout.methods import lay_out
from app.graph.layout.ranks import acyclic_edges
from app.graph.layout.sugiyama import place_by_sugiyama
from app.graph.layout.types import LayoutRequest, Placement
from engine.source import InvariantError

Place = Callable[[LayoutRequest], Placement]
METHODS = [place_by_dot, place_by_sugiyama, place_by_layers]
SIZE = 34.0


def request_of(pairs: list[tuple[int, int]], *, count: int, size: float = SIZE, start: int = 0) -> LayoutRequest:
    return LayoutRequest(
        revision=7,
        nodes=tuple((node, size + 10 * (node % 3 == 1), size) for node in range(count)),
        edges=tuple((source, target, 20.0 + source % 5 * 12, 14.0) for source, target in pairs),
        start=start,
    )


def random_pairs(count: int, seed: int) -> list[tuple[int, int]]:
    choose = random.Random(seed)
    pairs = {(choose.randrange(node), node) for node in range(1, count)}
    pairs |= {(choose.randrange(count), choose.randrange(count)) for _ in range(count // 2)}
    return sorted(pairs)


GRAPHS = {
    "one state": request_of([], count=1),
    "one loop": request_of([(0, 0)], count=1),
    "chain": request_of([(node, node + 1) for node in range(9)], count=10),
    "there and back": request_of([(0, 1), (1, 0), (1, 2), (2, 0), (2, 2)], count=3),
    "diamond with skips": request_of([(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 4), (0, 4)], count=5),
    "two parts": request_of([(0, 1), (2, 3), (3, 2)], count=5),
    "a part that leads to the start": request_of([(0, 1), (2, 3), (3, 2), (3, 0), (4, 3)], count=5),
    "start in the middle": request_of([(0, 1), (1, 2), (2, 0), (2, 3)], count=4, start=2),
    "random 30": request_of(random_pairs(30, 1), count=30),
}


@pytest.mark.parametrize("place", METHODS)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_node_and_edge_gets_a_place(place: Place, name: str) -> None:
    request = GRAPHS[name]
    placed = place(request)
    keys = {(source, target) for source, target, _, _ in request.edges}
    assert set(placed.positions) == {node for node, _, _ in request.nodes}
    assert set(placed.curves) == keys
    assert set(placed.label_positions) == keys
    assert all(len(curve) >= 4 and len(curve) % 3 == 1 for curve in placed.curves.values())


@pytest.mark.parametrize("place", METHODS)
@pytest.mark.parametrize("name", GRAPHS)
def test_no_two_nodes_overlap(place: Place, name: str) -> None:
    assert overlaps(GRAPHS[name], place(GRAPHS[name])) == []


@pytest.mark.parametrize("place", METHODS)
@pytest.mark.parametrize("name", GRAPHS)
def test_an_edge_runs_from_its_source_to_its_target(place: Place, name: str) -> None:
    request = GRAPHS[name]
    placed = place(request)
    sizes = {node: (width, height) for node, width, height in request.nodes}
    for (source, target), curve in placed.curves.items():
        for node, point in ((source, curve[0]), (target, curve[-1])):
            x, y = placed.positions[node]
            width, height = sizes[node]
            assert abs(point[0] - x) <= width / 2 + 2
            assert abs(point[1] - y) <= height / 2 + 2


@pytest.mark.parametrize("place", METHODS)
@pytest.mark.parametrize("name", GRAPHS)
def test_the_same_request_is_answered_the_same_way(place: Place, name: str) -> None:
    assert place(GRAPHS[name]) == place(GRAPHS[name])


@pytest.mark.parametrize("place", METHODS)
def test_a_chain_reads_from_left_to_right(place: Place) -> None:
    request = GRAPHS["chain"]
    positions = place(request).positions
    assert [node for node, _ in sorted(positions.items(), key=lambda item: item[1])] == list(range(10))


@pytest.mark.parametrize("place", METHODS)
def test_the_start_is_leftmost(place: Place) -> None:
    positions = place(GRAPHS["start in the middle"]).positions
    assert min(positions, key=lambda node: positions[node]) == 2


@pytest.mark.parametrize("place", METHODS)
def test_a_label_has_room_between_its_nodes(place: Place) -> None:
    request = LayoutRequest(1, ((0, SIZE, SIZE), (1, SIZE, SIZE)), ((0, 1, 130.0, 14.0),), 0)
    positions = place(request).positions
    assert positions[1][0] - positions[0][0] - SIZE >= 130


@pytest.mark.parametrize(("count", "method"), [(40, "dot"), (61, "sugiyama"), (500, "sugiyama"), (2_000, "layered")])
def test_the_size_chooses_the_method(count: int, method: str) -> None:
    request = request_of(random_pairs(count, 3), count=count)
    assert methods.methods_for([request], plainly=False) == [method]
    answer = lay_out(request)
    assert answer.method in {method, "layered"}
    assert answer.revision == 7
    assert overlaps(request, Placement(answer.positions, {}, {})) == []


def test_a_dense_graph_is_not_given_to_a_method_that_it_would_hang() -> None:
    pairs = [(source, target) for source in range(80) for target in range(80)]
    assert lay_out(request_of(pairs, count=80)).method == "layered"


def test_a_graph_without_nodes_has_an_empty_layout() -> None:
    assert lay_out(LayoutRequest(1, (), (), 0)).positions == {}


def test_values_cross_a_process_border() -> None:
    request = GRAPHS["there and back"]
    assert pickle.loads(pickle.dumps(request)) == request
    answer = lay_out(request)
    assert pickle.loads(pickle.dumps(answer)) == answer


@pytest.mark.parametrize(
    ("nodes", "edges", "start"),
    [
        (((0, 1.0, 1.0), (0, 1.0, 1.0)), (), 0),
        (((0, 1.0, 1.0),), (), 3),
        (((0, 1.0, 1.0),), ((0, 1, 0.0, 0.0),), 0),
        (((0, 1.0, 1.0),), ((0, 0, 0.0, 0.0), (0, 0, 0.0, 0.0)), 0),
    ],
)
def test_a_request_refuses_nonsense(
    nodes: tuple[tuple[int, float, float], ...], edges: tuple[tuple[int, int, float, float], ...], start: int
) -> None:
    with pytest.raises(InvariantError):
        LayoutRequest(1, nodes, edges, start)


def test_speaking_of_layouts_loads_neither_qt_nor_a_layout_library() -> None:
    heavy = ("PySide6", "pygraphviz", "fast_sugiyama", "numpy", "torch")
    code = f"import sys, {types.__name__}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def overlaps(request: LayoutRequest, placed: Placement) -> list[tuple[int, int]]:
    boxes = [(node, *placed.positions[node], width, height) for node, width, height in request.nodes]
    boxes.sort(key=lambda box: box[1])
    found = []
    for index, (a, ax, ay, aw, ah) in enumerate(boxes):
        for b, bx, by, bw, bh in boxes[index + 1 :]:
            if bx - ax >= 200:
                break
            if bx - ax < (aw + bw) / 2 - 0.01 and abs(by - ay) < (ah + bh) / 2 - 0.01:
                found.append((a, b))
    return found


def test_a_method_is_used_where_it_is_chosen_and_serves() -> None:
    chain = [(node, node + 1) for node in range(59)]
    assert lay_out(replace(request_of(chain, count=60), method="dot")).method == "dot"
    assert lay_out(replace(request_of(chain[:9], count=10), method="sugiyama")).method == "sugiyama"
    assert lay_out(replace(request_of(chain[:9], count=10), method="layered")).method == "layered"
    large = request_of([(node, node + 1) for node in range(methods.DOT_IF_ASKED)], count=methods.DOT_IF_ASKED + 1)
    assert lay_out(replace(large, method="dot")).method == "sugiyama"


@pytest.mark.parametrize("method", types.METHODS)
@pytest.mark.parametrize("name", ["chain", "there and back", "diamond with skips"])
def test_downwards_is_the_same_drawing_turned(method: str, name: str) -> None:
    request = replace(GRAPHS[name], method=method)
    turned = replace(
        request,
        nodes=tuple((node, height, width) for node, width, height in request.nodes),
        edges=tuple((source, target, height, width) for source, target, width, height in request.edges),
    )
    across, down = lay_out(turned), lay_out(replace(request, downwards=True))
    assert down.positions == {node: (y, x) for node, (x, y) in across.positions.items()}
    assert down.curves == {key: tuple((y, x) for x, y in chain) for key, chain in across.curves.items()}


def test_boxes_are_turned_inside_and_stay_in_rows() -> None:
    pairs = [(0, 1), (1, 2), (3, 4)]
    groups = (types.LayoutGroup((0, 1, 2), 0, 30.0, 12.0), types.LayoutGroup((3, 4), 3, 30.0, 12.0))
    answer = lay_out(replace(request_of(pairs, count=5), groups=groups, downwards=True))
    assert answer.positions[0][1] < answer.positions[1][1] < answer.positions[2][1]
    assert len(answer.boxes) == 2


def test_what_was_drawn_before_stays_where_it_was() -> None:
    before = lay_out(GRAPHS["chain"])
    longer = lay_out(request_of([(node, node + 1) for node in range(10)], count=11))
    moved = types.stabilise_layout(longer, {node: (x + 100, y - 7) for node, (x, y) in before.positions.items()})
    for node, (x, y) in before.positions.items():
        assert moved.positions[node] == pytest.approx((x + 100, y - 7), abs=1.0)
    assert len(moved.curves) == len(longer.curves)
    assert types.stabilise_layout(longer, {0: (5.0, 5.0)}) == longer  # too little in common


@pytest.mark.parametrize("downwards", [False, True])
def test_what_comes_out_upside_down_is_turned_back(downwards: bool) -> None:
    before = lay_out(replace(GRAPHS["random 30"], downwards=downwards))
    way = (-1, 1) if downwards else (1, -1)

    def turned(point: tuple[float, float]) -> tuple[float, float]:
        return way[0] * point[0] + 30, way[1] * point[1] - 8

    upside_down = replace(
        before,
        positions={node: turned(point) for node, point in before.positions.items()},
        curves={key: tuple(map(turned, chain)) for key, chain in before.curves.items()},
        label_positions={key: turned(point) for key, point in before.label_positions.items()},
    )
    again = types.stabilise_layout(upside_down, before.positions, downwards=downwards)
    for node, point in before.positions.items():
        assert again.positions[node] == pytest.approx(point)
    for key, chain in before.curves.items():
        assert [pytest.approx(point) for point in chain] == list(again.curves[key])
    assert types.stabilise_layout(before, before.positions, downwards=downwards) == before


def test_a_wide_label_of_a_loop_lies_over_no_other():
    edges = ((0, 0, 130.0, 30.0), (0, 1, 130.0, 30.0), (0, 2, 130.0, 30.0))
    answer = lay_out(LayoutRequest(1, ((0, 30.0, 30.0), (1, 30.0, 30.0), (2, 30.0, 30.0)), edges, 0, method="dot"))
    assert answer.method == "dot"
    (x, y), others = answer.label_positions[0, 0], [answer.label_positions[0, node] for node in (1, 2)]
    assert all(abs(x - its_x) >= 130 or abs(y - its_y) >= 30 for its_x, its_y in others)


def test_ranks_without_labels_leave_an_arrow_its_shaft():
    nodes = tuple((node, 90.0, 60.0) for node in range(3))
    answer = lay_out(LayoutRequest(1, nodes, ((0, 1, 0.0, 0.0), (1, 2, 0.0, 0.0)), 0, method="dot"))
    xs = [answer.positions[node][0] for node in range(3)]
    assert min(right - left for left, right in pairwise(xs)) >= 90 + 35


def test_a_method_lays_out_only_what_takes_it_a_second() -> None:
    chain = sorted({(a, b) for a in range(39) for b in (a + 1, a + 2, max(0, a - 2)) if b < 40})
    choose = random.Random(3)
    tangle = sorted({(choose.randrange(40), choose.randrange(40)) for _ in range(220)})
    assert methods.methods_for([request_of(chain, count=40)], plainly=False) == ["dot"]
    assert methods.methods_for([request_of(tangle, count=40)], plainly=False) == ["sugiyama"]  # `dot` takes over 1 s
    assert lay_out(replace(request_of(tangle, count=40), method="dot")).method == "sugiyama"
    pairs = {(choose.randrange(500), choose.randrange(500)) for _ in range(1_500)}
    assert lay_out(request_of(sorted(pairs), count=500)).method == "layered"  # fast-sugiyama takes 10 s


def test_a_much_smaller_drawing_in_plain_layers_is_preferred_unless_the_user_chose() -> None:
    tree = [(node, 2 * node + bit) for node in range(31) for bit in (1, 2)]
    steps = [(node, node + 1) for node in range(31, 62)]  # from leaf to leaf
    request = request_of(sorted([*tree, *steps]), count=63)
    plain, chosen = lay_out(request), lay_out(replace(request, method="sugiyama"))
    assert (plain.method, chosen.method) == ("layered", "sugiyama")
    widths = [max(x for x, _ in answer.positions.values()) for answer in (plain, chosen)]
    assert 2 * widths[0] < widths[1]


@pytest.mark.parametrize("downwards", [False, True])
def test_edges_of_a_small_graph_without_cycles_lead_forward(downwards: bool) -> None:
    skips = [(node, node + step) for node in range(0, 12, 2) for step in (1, 2, 5)]  # optional parts, as of a number
    request = replace(
        request_of(sorted({*skips, *((node, node + 1) for node in range(16))}), count=17), downwards=downwards
    )
    answer = lay_out(request)
    axis = 1 if downwards else 0
    assert all(answer.positions[a][axis] < answer.positions[b][axis] for a, b, _, _ in request.edges)


def test_a_complete_automaton_is_not_drawn_as_one_long_path() -> None:
    count = 16  # the last four letters as a number
    pairs = sorted({(node, (2 * node + bit) % count) for node in range(count) for bit in (0, 1)})
    request = request_of(pairs, count=count)
    assert sum(key != edge for key, edge in acyclic_edges(request).items()) < len(pairs) / 2
    assert len({round(x) for x, _ in lay_out(request).positions.values()}) <= 10


def test_many_small_parts_are_laid_out_by_a_method_that_takes_a_second_for_all_of_them() -> None:
    def parts(count: int) -> list[LayoutRequest]:
        return [request_of([(node, node + 1) for node in range(19)], count=20) for _ in range(count)]

    assert methods.methods_for(parts(30), plainly=False) == ["dot"] * 30
    assert methods.methods_for(parts(80), plainly=False) == ["sugiyama"] * 80
    assert methods.methods_for(parts(400), plainly=False) == ["layered"] * 400


def test_an_answer_says_that_the_chosen_method_was_not_used() -> None:
    chain = request_of([(node, node + 1) for node in range(9)], count=10)
    large = request_of([(node, node + 1) for node in range(methods.DOT_IF_ASKED)], count=methods.DOT_IF_ASKED + 1)
    assert not lay_out(large).is_simpler  # nobody chose
    assert not lay_out(replace(chain, method="dot")).is_simpler
    assert lay_out(replace(large, method="dot")).is_simpler
    assert lay_out(replace(chain, method="dot"), plainly=True).is_simpler


def test_tall_columns_are_folded_so_that_the_drawing_is_no_tower() -> None:
    count = 80
    pairs = [
        pair
        for leaf in range(1, count + 1)
        for pair in ((0, leaf), (leaf, count + leaf), (count + leaf, 2 * count + 1))
    ]
    request = request_of(sorted(pairs), count=2 * count + 2)
    for downwards in (False, True):
        answer = lay_out(replace(request, downwards=downwards))
        width, height = (max(axis) - min(axis) for axis in zip(*answer.positions.values(), strict=True))
        assert max(width, height) < 2.5 * min(width, height)
        assert overlaps(request, Placement(answer.positions, {}, {})) == []
        assert len(answer.label_positions) == len(pairs)


@pytest.mark.parametrize("method", ["sugiyama", "layered"])
def test_a_long_edge_runs_straight_with_a_step_at_each_end_at_most(method: str) -> None:
    pairs = [*((node, node + 1) for node in range(9)), (9, 0), (0, 10), (10, 11), (11, 9)]
    curve = lay_out(replace(request_of(pairs, count=12), method=method)).curves[9, 0]
    heights = [y for _, y in curve[::3]]
    assert sum(abs(before - after) > 0.01 for before, after in pairwise(heights)) <= 4
