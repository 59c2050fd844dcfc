"""The scene: everything is drawn where the layout put it, and what is lit is told by more than colour."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, QRectF
from pytestqt.qtbot import QtBot

from app.graph.draw import shapes
from app.graph.draw.diagram import Diagram, diagram_of, label_text, request_of
from app.graph.draw.scene import LABELS_FROM_ZOOM, AutomatonScene
from app.graph.layout.methods import lay_out
from app.graph.layout.types import LayoutRequest
from app.graph.match.neighbourhood import Surroundings
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState

EVERYTHING = QRectF(-1e6, -1e6, 2e6, 2e6)


def dfa_of(count: int) -> ByteDfa:
    """A ring with loops; the last state accepts."""
    states = tuple(DfaState(state, accepting=state == count - 1) for state in range(count))
    edges = [DfaEdge(state, (state + 1) % count, ((65, 70),)) for state in range(count)]
    loops = [DfaEdge(state, state, ((48, 57),)) for state in range(count)] if count > 1 else []
    return ByteDfa(0, states, tuple(sorted([*edges, *loops], key=lambda edge: (edge.source, edge.target))))


def drawn(count: int = 4) -> tuple[AutomatonScene, Diagram, LayoutRequest]:
    dfa = dfa_of(count)
    accepting = frozenset(state.id for state in dfa.states if state.accepting)
    excerpt = Surroundings(dfa).whole()
    picture = diagram_of(excerpt, start=0, accepting=accepting, label_of_edge=lambda edge: f"{edge.target} label")
    request = request_of(picture, 1)
    scene = AutomatonScene()
    scene.show_diagram(picture, request, lay_out(request))
    return scene, picture, request


def test_a_state_is_found_where_it_is_drawn(qtbot: QtBot) -> None:
    scene, _, request = drawn()
    for state, _, _ in request.nodes:
        box = scene.box(state)
        assert box is not None
        assert scene.state_at(box.center()) == state
    assert scene.state_at(QPointF(-500, -500)) is None
    assert scene.box(99) is None


def test_the_scene_holds_all_that_is_drawn(qtbot: QtBot) -> None:
    scene, _, request = drawn()
    boxes = [scene.box(state) for state, _, _ in request.nodes]
    assert all(box is not None and scene.sceneRect().contains(box) for box in boxes)


def test_live_states_are_thicker_and_so_are_their_edges(qtbot: QtBot) -> None:
    scene, _, _ = drawn()
    scene.set_live({1, 77})
    assert scene.highlight_layer.live_bodies.pen().widthF() > scene.static_layer.bodies[0].pen().widthF()
    assert scene.highlight_layer.next_lines.pen().widthF() > scene.static_layer.lines[0].pen().widthF()
    assert not scene.highlight_layer.next_lines.path().isEmpty()
    scene.set_live(())
    assert scene.highlight_layer.live_bodies.path().isEmpty()


def test_a_breakpoint_is_a_dot_on_the_outline_of_its_state(qtbot: QtBot) -> None:
    scene, _, _ = drawn()
    scene.set_breakpoints({1: True, 2: False, 99: True})
    assert (scene.highlights.breakpoints, scene.highlights.disabled_breakpoints) == ({1}, {2})
    for item, state in ((scene.highlight_layer.breakpoints, 1), (scene.highlight_layer.disabled_breakpoints, 2)):
        box, dot = scene.box(state), item.path().boundingRect().center()
        assert box is not None
        assert dot.x() < box.center().x()
        assert dot.y() < box.center().y()
        distance = (dot - box.center()).manhattanLength() / 2**0.5
        assert distance == pytest.approx(box.height() / 2, rel=0.05)
    assert (
        scene.highlight_layer.breakpoints.brush().color() != scene.highlight_layer.disabled_breakpoints.brush().color()
    )
    scene.set_breakpoints({})
    assert scene.highlight_layer.breakpoints.path().isEmpty()


def test_a_state_that_accepts_has_two_outlines(qtbot: QtBot) -> None:
    scene, _, _ = drawn()
    single, double = scene.positioned.outlines([0]), scene.positioned.outlines([3])
    assert double.elementCount() == 2 * single.elementCount()


def test_texts_are_made_when_they_can_be_read_and_seen(qtbot: QtBot) -> None:
    scene, _, request = drawn()
    scene.reveal(EVERYTHING, LABELS_FROM_ZOOM - 0.01)
    assert scene.labels.item_count == 0
    scene.reveal(QRectF(-1e6, -1e6, 1, 1), 1.0)
    assert scene.labels.item_count == 0
    scene.reveal(EVERYTHING, 1.0)
    assert scene.labels.item_count == len(request.edges)
    assert scene.numbers.item_count == len(request.nodes)


def test_a_label_is_found_where_it_is_written_while_it_is_shown(qtbot: QtBot) -> None:
    scene, _, request = drawn()
    scene.reveal(EVERYTHING, 1.0)
    place = QPointF(*lay_out(request).label_positions[1, 2])
    assert scene.edge_at(place) == (1, 2)
    scene.reveal(EVERYTHING, 0.1)
    assert scene.edge_at(place) is None


def test_a_large_drawing_is_drawn_in_slices(qtbot: QtBot) -> None:
    scene, _, request = drawn(400)
    rect = scene.static_layer.pieces.boundingRect()
    qtbot.waitUntil(lambda: not scene.static_layer.is_drawing)
    assert scene.static_layer.pieces.boundingRect().width() > rect.width()
    reference = shapes.curves(lay_out(request).curves.values()).boundingRect()
    assert scene.static_layer.pieces.boundingRect().adjusted(-2, -2, 2, 2).contains(reference.adjusted(9, 0, -9, 0))


def test_another_drawing_replaces_everything(qtbot: QtBot) -> None:
    scene, picture, request = drawn()
    scene.set_live({1})
    scene.set_selected(2)
    scene.reveal(EVERYTHING, 1.0)
    before = len(scene.items())
    scene.show_diagram(picture, request, lay_out(request))
    scene.reveal(EVERYTHING, 1.0)
    assert len(scene.items()) == before
    assert scene.highlight_layer.live_bodies.path().isEmpty()
    assert scene.highlight_layer.ring.path().isEmpty()


def test_greying_keeps_the_shapes(qtbot: QtBot) -> None:
    scene, _, _ = drawn()
    scene.set_live({1})
    fresh = scene.highlight_layer.live_bodies.pen().color()
    scene.set_stale(True)
    assert scene.highlight_layer.live_bodies.pen().color() != fresh
    assert not scene.highlight_layer.live_bodies.path().isEmpty()
    scene.set_stale(False)
    assert scene.highlight_layer.live_bodies.pen().color() == fresh


def test_an_empty_automaton_is_drawn_as_nothing(qtbot: QtBot) -> None:
    picture = diagram_of(
        Surroundings(ByteDfa(None, (), ())).whole(), start=None, accepting=frozenset(), label_of_edge=lambda _: ""
    )
    request = request_of(picture, 1)
    scene = AutomatonScene()
    scene.show_diagram(picture, request, lay_out(request))
    assert scene.drawn_rect().isEmpty()


@pytest.mark.parametrize(
    ("label", "text"),
    [(".", "“.”"), ("a", "a"), ("␣", "␣"), ("a-z", "a-z"), ("x" * 22, "x" * 22), ("x" * 23, "x" * 21 + "…")],
)
def test_a_label_is_written_so_that_it_can_be_seen(label: str, text: str) -> None:
    assert label_text(label) == text


def test_what_is_far_away_is_not_kept_once_there_is_much(qtbot: QtBot) -> None:
    scene, _, request = drawn(700)
    scene.reveal(EVERYTHING, 1.0)
    assert scene.numbers.item_count == 700
    box = scene.box(3)
    assert box is not None
    scene.reveal(box, 1.0)
    assert scene.numbers.item_count < 10
    scene.reveal(EVERYTHING, 1.0)
    assert scene.labels.item_count == len(request.edges)


def test_numbers_stand_under_labels_and_above_those_of_loops(qtbot: QtBot) -> None:
    scene, _, _ = drawn()
    scene.set_badges({(0, 1): "12 · 3%", (1, 1): "7", (2, 3): "", (8, 9): "no such edge"})
    scene.reveal(EVERYTHING, 1.0)
    badges, labels = scene.badges.labels, scene.labels.labels
    assert set(badges) == {(0, 1), (1, 1)}
    assert badges[0, 1].y > labels[0, 1].y
    assert badges[1, 1].y < labels[1, 1].y
    scene.set_badges({})
    assert scene.badges.item_count == 0
