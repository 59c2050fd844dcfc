"""Labels are read as those of their own edges: measured on what the scene draws, not on what the layout means."""

from __future__ import annotations

import random
import string
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QGraphicsSimpleTextItem

from app.graph.draw.scene import AutomatonScene
from app.graph.draw.shapes import heads
from app.graph.layout.labelling import MARK, place_labels
from app.graph.layout.layered import place_by_layers
from app.graph.layout.methods import lay_out
from app.graph.layout.sugiyama import place_by_sugiyama
from app.graph.layout.types import METHODS, EdgeKey, LayoutAnswer, LayoutRequest, Placement
from app.graph.match.folding import Chart, fold_characters
from app.panes.automaton.drawing import Automaton, Drawing
from app.panes.automaton.view_state import ViewState
from engine.compile import compile_grammar

NUMBER = r"-?([0-9]|[1-9][0-9]{0,15})(\.[0-9]+)?([eE][-+]?[0-9][1-9]{0,15})?"  # as in llama.cpp's json.gbnf
FINE = 24  # pieces of a Bezier segment, for measuring


def shared_prefixes(count: int, seed: int) -> str:
    """Words with few beginnings and few ends, which meet again: their automaton has edges that cross."""
    choose = random.Random(seed)
    stems, ends = ("con", "pre", "inter", "re", "un", "dis"), ("tain", "vert", "fer", "form", "duct", "ply", "act")
    words: set[str] = set()
    while len(words) < count:
        words.add(choose.choice(stems) + choose.choice(ends) + choose.choice(("", "s", "ed", "ing", "er")))
    return "|".join(sorted(words))


PATTERNS = {
    "45 states": shared_prefixes(12, 5),
    "many words": shared_prefixes(60, 7),
    "fan-out": "|".join(
        f"{letter}{string.ascii_lowercase[7 * n % 26]}x" for n, letter in enumerate(string.ascii_lowercase)
    ),
    "fan-in": "|".join(f"x{letter}y" for letter in "abcdefghij") + "|" + "|".join(f"z{c}{c}y" for c in "abcdefghij"),
    "number": NUMBER,
    "loops": "((a|b)*c[d-g]*)*(hello|help|held)+",
}


def drawing(pattern: str, view: ViewState) -> Drawing:
    grammar = compile_grammar("regex", pattern)
    dfa = grammar.materialise()
    return Automaton(Chart(dfa, fold_characters(dfa)), 1, None, grammar.source).draw(frozenset(), view)


def fine(chain: tuple[tuple[float, float], ...]) -> np.ndarray:
    """Points of a curve, close together, of shape (points, 2)."""
    control = np.array(chain)
    segments = np.stack([control[index : index + 4] for index in range(0, len(chain) - 3, 3)])
    u = np.linspace(0.0, 1.0, FINE + 1)[:, None]
    weights = np.hstack([(1 - u) ** 3, 3 * (1 - u) ** 2 * u, 3 * (1 - u) * u**2, u**3])
    return (weights @ segments).reshape(-1, 2)


def distance(place: QPointF, points: np.ndarray) -> float:
    """The distance of a place from the line through points of shape (points, 2)."""
    starts, steps, to = points[:-1], np.diff(points, axis=0), np.array(place.toTuple())
    squares = (steps**2).sum(axis=1)
    shares = np.clip(((to - starts) * steps).sum(axis=1) / np.where(squares == 0, 1.0, squares), 0.0, 1.0)
    return float(np.hypot(*(starts + shares[:, None] * steps - to).T).min())


def holds_some(rect: QRectF, points: np.ndarray) -> bool:
    """Return whether one of the points lies in the rectangle."""
    low, high = np.array(rect.topLeft().toTuple()), np.array(rect.bottomRight().toTuple())
    return bool(((points >= low) & (points <= high)).all(axis=1).any())


def drawn_labels(scene: AutomatonScene) -> dict[tuple[int, int], QRectF]:
    """The rectangles that labels cover, with their ground, as they are drawn."""
    scene.reveal(scene.home_rect(), 1.0)
    return scene.labels.drawn_rects()


def drawn_lines(scene: AutomatonScene) -> Counter[str]:
    """The lines of text that the scene has items for."""
    return Counter(item.text() for item in scene.items() if isinstance(item, QGraphicsSimpleTextItem))


@pytest.mark.parametrize("method", ["", *METHODS])
@pytest.mark.parametrize("downwards", [False, True], ids=["right", "down"])
@pytest.mark.parametrize("name", PATTERNS)
def test_a_label_is_read_as_that_of_its_own_edge(qapp, name, downwards, method):
    shown = drawing(PATTERNS[name], ViewState(draws_all=True, downwards=downwards, method=method))
    answer = lay_out(shown.request)
    scene = AutomatonScene()
    scene.show_diagram(shown.diagram, shown.request, answer)
    labels = drawn_labels(scene)
    marks = answer.marks.keys()
    assert labels.keys() == answer.label_positions.keys() | marks
    assert not answer.label_positions.keys() & marks
    for (one, first), (other, second) in combinations(labels.items(), 2):
        assert not first.intersects(second), f"{one} and {other} overlap"
    curves = {key: fine(chain) for key, chain in answer.curves.items()}
    for key, rect in labels.items():
        for node, box in scene.positioned.boxes.items():
            assert not rect.intersects(box), f"the label of {key} lies on {node}"
        if key in marks:
            continue  # it says nothing that could be false
        own = distance(rect.center(), curves[key])
        for other, points in curves.items():
            assert other == key or own < distance(rect.center(), points), f"the label of {key} is read as {other}'s"
            assert other == key or not holds_some(rect, points), (key, other)


@pytest.mark.parametrize("name", PATTERNS)
def test_nearly_all_labels_are_written(qapp, name):
    """A layout that leaves room for labels is not spoiled by marks."""
    answer = lay_out(drawing(PATTERNS[name], ViewState(draws_all=True)).request)
    assert len(answer.marks) <= 0.1 * len(answer.label_positions)


def test_what_the_layout_got_right_stays_where_it_is(qapp):
    shown = drawing(r"[A-Z]+: [a-z]+\n", ViewState(draws_all=True))
    placed = Placement({}, {}, {})
    answer = lay_out(shown.request)
    placed = Placement(answer.positions, answer.curves, answer.label_positions)
    again = place_labels(shown.request, placed)
    assert again.label_positions == answer.label_positions
    assert not again.marks


@pytest.mark.parametrize("place", [place_by_sugiyama, place_by_layers])
@pytest.mark.parametrize("name", ["many words", "loops"])
def test_labels_that_a_layout_is_certain_of_need_not_move(qapp, name, place):
    request = drawing(PATTERNS[name], ViewState(draws_all=True)).request
    placed = place(request)
    assert placed.certain == placed.label_positions.keys()
    found = place_labels(request, replace(placed, certain=frozenset()))
    assert found.label_positions == placed.label_positions


def test_two_edges_on_one_line_share_no_label():
    """Nothing can tell whose label lies on a line that two edges share; what is drawn there is a mark."""
    line = ((0.0, 0.0), (30.0, 0.0), (60.0, 0.0), (90.0, 0.0))
    request = LayoutRequest(
        1, ((0, 9.0, 9.0), (1, 9.0, 9.0), (2, 9.0, 9.0)), ((0, 1, 20.0, 12.0), (0, 2, 20.0, 12.0)), 0
    )
    positions = {0: (-9.0, 0.0), 1: (99.0, 0.0), 2: (99.0, 20.0)}
    placed = Placement(positions, {(0, 1): line, (0, 2): line}, {(0, 1): (45.0, 0.0), (0, 2): (45.0, 0.0)})
    found = place_labels(request, placed)
    assert not found.label_positions
    assert found.marks.keys() == {(0, 1), (0, 2)}
    (x0, y0), (x1, y1) = found.marks.values()
    assert abs(x0 - x1) >= MARK[0] or abs(y0 - y1) >= MARK[1]


def test_a_layout_of_many_labels_is_bounded():
    """A dense graph that nobody can read takes no longer than the marks that are drawn of it."""
    count = 700
    edges = tuple((source, (source * step + step) % count, 20.0, 12.0) for source in range(count) for step in (2, 3, 5))
    pairs = {(source, target): (source, target, width, height) for source, target, width, height in edges}
    request = LayoutRequest(1, tuple((node, 32.0, 32.0) for node in range(count)), tuple(pairs.values()), 0)
    answer: LayoutAnswer = lay_out(request, plainly=True)
    assert answer.label_positions.keys() | answer.marks.keys() <= pairs.keys()
    assert lay_out(request, plainly=True).marks == answer.marks, "the same at every time"


def without_room(answer: LayoutAnswer, keys: Collection[EdgeKey]) -> LayoutAnswer:
    """A layout in which some labels have only a mark."""
    labels = {key: place for key, place in answer.label_positions.items() if key not in keys}
    return replace(answer, label_positions=labels, marks={key: answer.label_positions[key] for key in keys})


def test_a_mark_shows_its_label_when_it_is_pointed_at(qapp):
    shown = drawing(PATTERNS["45 states"], ViewState(draws_all=True))
    key = max(shown.request.texts)
    answer = without_room(lay_out(shown.request), [key])
    scene = AutomatonScene()
    scene.show_diagram(shown.diagram, shown.request, answer)
    scene.reveal(scene.home_rect(), 1.0)
    place = QPointF(*answer.marks[key])
    assert scene.edge_at(place) == key
    unhovered = drawn_lines(scene)
    scene.set_highlighted((), (key,))
    assert drawn_lines(scene) - unhovered == Counter(shown.diagram.labels[key].split("\n"))
    assert scene.hovered_label.drawn_rects()[key].contains(place)
    scene.set_highlighted(())
    assert drawn_lines(scene) == unhovered
    assert shown.label(key)  # what the tool tip says


def test_badges_cover_nothing(qapp):
    shown = drawing(PATTERNS["fan-out"], ViewState(draws_all=True))
    answer = lay_out(shown.request)
    scene = AutomatonScene()
    scene.show_diagram(shown.diagram, shown.request, answer)
    scene.set_badges(dict.fromkeys(answer.label_positions, "131,072 · >99.9%"))
    labels = drawn_labels(scene)
    badges = scene.badges.drawn_rects()
    assert badges
    for (one, first), (other, second) in combinations(badges.items(), 2):
        assert not first.intersects(second), f"{one} and {other} overlap"
    for key, rect in badges.items():
        assert not [other for other, label in labels.items() if rect.intersects(label)], key
        assert not [node for node, box in scene.positioned.boxes.items() if rect.intersects(box)], key


def test_merging_arrowheads_have_no_holes():
    """Two heads that arrive at one place from nearly one side overlap; the overlap is filled, too."""
    path = heads(
        [((0.0, 0.0), (30.0, 0.0), (60.0, 0.0), (90.0, 0.0)), ((0.0, 2.0), (30.0, 1.0), (60.0, 0.5), (90.0, 0.0))]
    )
    assert path.contains(QPointF(85.0, 0.2))
