"""The automaton pane, with real clicks, keys and a real layout."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import theme
from app.catalogue import ui_text
from app.graph.layout.methods import lay_out
from app.graph.layout.types import LayoutRequest
from app.graph.match.folding import fold_characters
from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.view_state import ViewState
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.compile import compile_grammar
from engine.source import SourceText, Span

SOURCE = SourceText("[A-Z]+: [a-z]+")
RECORD = ByteDfa(
    0,
    (
        DfaState(0, False, (Span(0, 5),)),
        DfaState(1, False, (Span(0, 5), Span(6, 7))),
        DfaState(2, False, (Span(7, 8),)),
        DfaState(3, True, (Span(8, 13),)),
    ),
    (
        DfaEdge(0, 1, ((65, 90),), (Span(0, 5),)),
        DfaEdge(1, 1, ((65, 90),), (Span(0, 5),)),
        DfaEdge(1, 2, ((58, 58),), (Span(6, 7),)),
        DfaEdge(2, 3, ((32, 32),), (Span(7, 8),)),
        DfaEdge(3, 3, ((97, 122),), (Span(8, 13),)),
    ),
)


def chain(count: int) -> ByteDfa:
    states = tuple(DfaState(state, state == count - 1) for state in range(count))
    return ByteDfa(0, states, tuple(DfaEdge(a, b, ((97, 97),)) for a, b in pairwise(range(count))))


@pytest.fixture
def pane(qtbot: QtBot) -> AutomatonPane:
    pane = AutomatonPane()
    pane.begin(ViewState(merges=False))
    qtbot.addWidget(pane)
    pane.resize(800, 500)
    pane.show()
    qtbot.waitExposed(pane)
    return pane


def test_the_empty_pane_has_the_ground_of_the_others(pane: AutomatonPane, qapp: QApplication) -> None:
    theme.apply(qapp, "light")
    ground = pane.grab().toImage().pixelColor(pane.width() // 8, pane.height() // 2)
    assert ground == theme.colour(theme.Role.PANEL)


@pytest.fixture
def asked(pane: AutomatonPane) -> list[LayoutRequest]:
    """What the pane asked to be laid out; each is answered at once."""
    requests: list[LayoutRequest] = []

    def answer(request: LayoutRequest) -> None:
        requests.append(request)
        pane.show_layout(lay_out(request))

    pane.layout_wanted.connect(answer)
    return requests


def place_of(pane: AutomatonPane, state: int) -> QPoint:
    place = pane.view.position_of(state)
    assert place is not None
    return place.toPoint()


def drawn_states(pane: AutomatonPane) -> int:
    picture = pane.view.scene().diagram
    return 0 if picture is None else len(picture.excerpt.states)


def test_without_an_automaton_it_says_what_will_be_here(pane: AutomatonPane) -> None:
    assert not pane.view.isVisible()
    assert pane.empty_page.text() == ui_text("automaton.page.empty")
    pane.set_live([3])
    pane.highlight_offset(2)
    pane.set_stale(True)
    assert pane.stale_banner.isHidden()


def test_a_layout_is_asked_for_and_drawn_when_it_comes(pane: AutomatonPane, qtbot: QtBot) -> None:
    with qtbot.waitSignal(pane.layout_wanted) as wanted:
        pane.show_dfa(RECORD, 5, None, SOURCE)
    (request,) = wanted.args or ()
    assert request.revision == 5
    assert not pane.view.isVisible()
    pane.show_layout(lay_out(request))
    assert pane.view.isVisible()
    assert pane.header.counts.text() == "4 states · 5 edges"


def test_texts_of_another_size_are_laid_out_anew_and_other_colours_are_not(
    pane: AutomatonPane, asked: list[LayoutRequest], qapp: QApplication
) -> None:
    pane.show_dfa(RECORD, 1)
    theme.apply(qapp, "dark")
    assert len(asked) == 1
    theme.choose("standard", 4)
    theme.apply(qapp, "light")
    theme.choose("standard", 0)
    theme.apply(qapp, "light")
    assert len(asked) == 3
    assert asked[1].edges != asked[0].edges == asked[2].edges


def test_the_last_drawing_stays_until_the_new_one_is_laid_out(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(RECORD, 1)
    pane.layout_wanted.disconnect()
    later: list[LayoutRequest] = []
    pane.layout_wanted.connect(later.append)
    pane.show_dfa(chain(9), 2)
    pane.set_live([8])
    assert drawn_states(pane) == 4
    pane.show_layout(lay_out(asked[0]))  # late, and no longer waited for
    assert drawn_states(pane) == 4
    pane.show_layout(lay_out(later[-1]))
    assert drawn_states(pane) == 9
    assert pane.view.scene().highlights.live == {8}


def test_an_edit_that_changes_no_shape_asks_for_no_layout(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(RECORD, 1)
    pane.show_dfa(RECORD, 2)
    assert len(asked) == 1


def test_pointing_at_a_state_tells_its_spans(pane: AutomatonPane, asked: list[LayoutRequest], qtbot: QtBot) -> None:
    pane.show_dfa(RECORD, 1, None, SOURCE)
    told: list[tuple[Span, ...]] = []
    qtbot.mouseMove(pane.view.viewport(), QPoint(5, 5))  # a pointer that is at the state already would not move
    pane.spans_hovered.connect(told.append)
    qtbot.mouseMove(pane.view.viewport(), place_of(pane, 1))
    assert told == [(Span(0, 5), Span(6, 7))]
    assert pane.footer.details.text() == "State 1  ·  reads [A-Z]  :  ·  [A-Z] → 1, “:” → 2"
    qtbot.mouseMove(pane.view.viewport(), QPoint(5, 5))
    assert told[-1] == ()


def test_pointing_at_a_label_tells_the_spans_of_its_edge(
    pane: AutomatonPane, asked: list[LayoutRequest], qtbot: QtBot
) -> None:
    pane.show_dfa(RECORD, 1, None, SOURCE)
    told: list[tuple[Span, ...]] = []
    pane.spans_hovered.connect(told.append)
    label = lay_out(asked[0]).label_positions[0, 1]
    qtbot.mouseMove(pane.view.viewport(), pane.view.mapFromScene(QPointF(*label)))
    assert told == [(Span(0, 5),)]
    assert pane.view.scene().highlights.highlighted_edges == {(0, 1)}
    assert pane.view.edge_tip((0, 1)).split("\n")[0] == "[A-Z]"


def test_a_place_in_the_text_lights_its_states_and_edges(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(RECORD, 1)
    scene = pane.view.scene()
    pane.highlight_offset(2)
    assert (scene.highlights.highlighted, scene.highlights.highlighted_edges) == ({0, 1}, {(0, 1), (1, 1)})
    pane.highlight_offset(-1)
    assert (scene.highlights.highlighted, scene.highlights.highlighted_edges) == (set(), set())


def test_a_click_selects_in_graph_and_table(pane: AutomatonPane, asked: list[LayoutRequest], qtbot: QtBot) -> None:
    pane.show_dfa(RECORD, 1, None, SOURCE)
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=place_of(pane, 3))
    assert pane.table.currentIndex().row() == 3
    assert pane.footer.details.text().startswith("State 3  ·  ◎ accepts")
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    assert pane.view.scene().highlights.selected is None


def test_the_graph_reads_as_a_table(pane: AutomatonPane, asked: list[LayoutRequest], qtbot: QtBot) -> None:
    pane.show_dfa(RECORD, 1, None, SOURCE)
    qtbot.mouseClick(pane.header.table_button, Qt.MouseButton.LeftButton)
    assert pane.table.isVisible()
    with qtbot.waitSignal(pane.spans_hovered) as told:
        pane.table.selectRow(2)
    assert told.args == [(Span(7, 8),)]
    qtbot.mouseClick(pane.header.graph_button, Qt.MouseButton.LeftButton)
    assert pane.view.scene().highlights.selected == 2


def test_a_drag_pans_and_is_no_click(pane: AutomatonPane, asked: list[LayoutRequest], qtbot: QtBot) -> None:
    pane.show_dfa(chain(60), 1)
    port, start = pane.view.viewport(), place_of(pane, 2)
    before = pane.view.horizontalScrollBar().value()
    qtbot.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    for step in (10, 60, 90):
        qtbot.mouseMove(port, start - QPoint(step, 0))
    qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, pos=start - QPoint(90, 0))
    assert pane.view.horizontalScrollBar().value() != before
    assert pane.view.scene().highlights.selected is None
    assert not pane.view.is_at_home


def test_the_wheel_zooms_around_the_pointer(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(RECORD, 1)
    before = pane.view.zoom
    place = QPointF(200, 200)
    for delta, check in ((120, before.__lt__), (-360, before.__gt__)):
        event = QWheelEvent(
            place,
            pane.view.viewport().mapToGlobal(place),
            QPoint(),
            QPoint(0, delta),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(pane.view.viewport(), event)
        assert check(pane.view.zoom)


def test_keys_and_buttons_zoom(pane: AutomatonPane, asked: list[LayoutRequest], qtbot: QtBot) -> None:
    pane.show_dfa(RECORD, 1)
    keys: list[tuple[Qt.Key, Callable[[float, float], bool]]] = [
        (Qt.Key.Key_Plus, float.__gt__),
        (Qt.Key.Key_Minus, float.__lt__),
        (Qt.Key.Key_Equal, float.__gt__),
        (Qt.Key.Key_0, float.__le__),
    ]
    for key, holds in keys:
        before = pane.view.zoom
        qtbot.keyClick(pane.view, key, Qt.KeyboardModifier.ControlModifier)
        assert holds(pane.view.zoom, before)
    before = pane.view.zoom
    qtbot.mouseClick(pane.footer.in_button, Qt.MouseButton.LeftButton)
    assert pane.view.zoom > before


def test_live_states_are_lit_and_told(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(RECORD, 1, None, SOURCE)
    pane.set_live([2, 99])
    assert pane.view.scene().highlights.live == {2}
    assert pane.footer.details.text().startswith("State 2  ·  ● here")
    assert pane.model.index(2, 1).data() == ui_text("automaton.states.mark.here")
    assert len(asked) == 1


def test_many_states_are_drawn_around_the_live_one(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(chain(100), 1)
    assert pane.header.counts.text() == "3 of 100 states · 99 edges"
    pane.set_live([50])
    assert {node for node, _, _ in asked[-1].nodes} == {48, 49, 50, 51, 52, -1 - 52}
    pane.set_live([51])
    assert len(asked) == 2  # what may come next is drawn already
    pane.set_live([52])
    assert len(asked) == 3
    assert pane.view.scene().highlights.live == {52}


def test_all_are_drawn_on_demand(pane: AutomatonPane, asked: list[LayoutRequest], qtbot: QtBot) -> None:
    pane.show_dfa(chain(100), 1)
    assert pane.header.all_button.text() == ui_text("automaton.header.all.fragment.label", total=100)
    qtbot.mouseClick(pane.header.all_button, Qt.MouseButton.LeftButton)
    assert drawn_states(pane) == 100
    assert pane.header.counts.text() == "100 states · 99 edges"
    qtbot.mouseClick(pane.header.all_button, Qt.MouseButton.LeftButton)
    assert drawn_states(pane) == 3


def test_too_many_are_not_drawn_at_all(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(chain(2_001), 1)
    assert not pane.header.all_button.isEnabled()
    assert pane.header.all_button.text() == ui_text("automaton.header.all.fragment.too_many", limit=2000)


def test_a_part_of_a_larger_automaton_says_so(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    whole = chain(5)
    pane.show_dfa(ByteDfa(0, whole.states, whole.edges, frozenset({4})), 1)
    pane.show_too_large("5,000 states: showing a part")
    assert pane.header.counts.text() == ui_text(
        "automaton.counts.fragment.part", states=ui_text("common.count.states", count=5)
    )
    assert pane.size_banner.text().startswith("5,000")
    pane.set_live([4])  # drawing anew could not show more
    assert len(asked) == 1
    pane.show_too_large("")
    assert pane.size_banner.isHidden()


def test_bytes_within_characters_are_folded_until_they_matter(
    pane: AutomatonPane, asked: list[LayoutRequest], qtbot: QtBot
) -> None:
    states = tuple(DfaState(state, accepting=state == 2) for state in range(3))
    edges = (DfaEdge(0, 1, ((0xC3, 0xC3),)), DfaEdge(0, 2, ((97, 97),)), DfaEdge(1, 2, ((0xA9, 0xA9),)))
    dfa = ByteDfa(0, states, edges)
    pane.show_dfa(dfa, 1, fold=fold_characters(dfa))
    assert pane.view.scene().diagram.labels == {(0, 2): "[a é]"}
    assert pane.header.counts.text() == "2 states (3 over bytes) · 1 edge"
    assert pane.header.counts.shown_text == pane.header.counts.text()
    metrics = pane.header.counts.fontMetrics()
    for shorter in ("2 states · 1 edge", "2 states"):
        pane.header.counts.setFixedWidth(metrics.horizontalAdvance(shorter) + 1)
        qtbot.waitUntil(lambda shorter=shorter: pane.header.counts.shown_text == shorter)
        assert pane.header.counts.toolTip() == pane.header.counts.text()
    assert pane.view.edge_tip((0, 2)).split("\n")[0] == "[a é]"
    pane.set_live([1])  # the match stands within é
    assert drawn_states(pane) == 3
    pane.set_live([2])
    assert drawn_states(pane) == 2
    qtbot.mouseClick(pane.header.bytes_button, Qt.MouseButton.LeftButton)
    assert pane.view.scene().diagram.labels == {(0, 1): "C3", (0, 2): "a", (1, 2): "A9"}


def test_a_stale_drawing_says_why(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(RECORD, 1)
    pane.set_stale(True, "One error")
    assert pane.stale_banner.text().startswith("One error.")
    assert pane.view.isVisible()
    pane.set_stale(False)
    assert pane.stale_banner.isHidden()


def test_an_empty_language_is_told(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(ByteDfa(None, (), ()), 1)
    assert pane.header.counts.text() == ui_text("automaton.counts.fragment.none")
    assert not pane.view.isVisible()
    assert pane.empty_page.text() == ui_text("automaton.page.no_text")


def test_where_the_reader_put_the_drawing_it_stays(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(chain(40), 1)
    pane.view.zoom_in()
    pane.view.centerOn(pane.view.scene().box(4).center())
    zoom, place = pane.view.zoom, place_of(pane, 0)
    pane.show_dfa(chain(30), 2)
    assert pane.view.zoom == zoom
    assert (place_of(pane, 0) - place).manhattanLength() <= 3


def test_clearing_takes_everything_back(pane: AutomatonPane, asked: list[LayoutRequest]) -> None:
    pane.show_dfa(RECORD, 1)
    pane.set_live([1])
    pane.clear()
    assert not pane.view.isVisible()
    assert pane.model.rowCount() == 0
    pane.show_dfa(RECORD, 2)
    assert pane.view.isVisible()


def test_a_layout_that_is_too_slow_for_the_drawing_is_replaced_with_a_word(pane: AutomatonPane) -> None:
    pane.layout_wanted.connect(lambda request: pane.show_layout(lay_out(request)))
    pane.show_dfa(compile_grammar("regex", "(a|b){3}c").materialise(), 1)
    pane.navigation.choose_layout("dot")
    assert pane.size_banner.isHidden()
    pane.layout_wanted.disconnect()
    pane.layout_wanted.connect(lambda request: pane.show_layout(lay_out(request, plainly=True)))
    pane.navigation.choose_layout("sugiyama")
    wanted, used = (ui_text(f"automaton.layout.fragment.{method}") for method in ("sugiyama", "layered"))
    assert pane.size_banner.text().casefold() == ui_text("automaton.page.simpler", wanted=wanted, used=used).casefold()
    assert pane.navigation.method == "layered"
    pane.navigation.choose_layout("")
    assert pane.size_banner.isHidden()
