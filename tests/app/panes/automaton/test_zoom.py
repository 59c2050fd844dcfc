"""Names stay legible at every zoom, lines visible, and a label without room shows for the pointer or the selection."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from app.graph.draw.scene import AREAS_BELOW_ZOOM, LABELS_FROM_ZOOM
from app.graph.layout.methods import lay_out
from app.graph.layout.types import METHODS
from app.graph.match.folding import fold_characters
from app.graph.match.regions import regions_of
from app.graph.match.rules import rule_charts
from app.panes.automaton.legend import SYMBOLS, SymbolLegend
from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.view_state import ViewState
from engine.compile import compile_grammar
from tests.app.graph.layout.test_labelling import PATTERNS, without_room


@pytest.fixture
def pane(qtbot):
    made = AutomatonPane()
    qtbot.addWidget(made)
    made.resize(700, 600)
    made.show()
    made.layout_wanted.connect(lambda request: made.show_layout(lay_out(request)))
    return made


def show(pane: AutomatonPane, pattern: str, view: ViewState, *, has_regions: bool = False) -> None:
    grammar = compile_grammar("regex", pattern)
    dfa = grammar.materialise()
    fold = fold_characters(dfa)
    regions = regions_of(dfa, fold, grammar.grammar.rules[0].node, grammar.source) if has_regions else None
    pane.begin(view)
    pane.show_dfa(dfa, 1, None, grammar.source, fold, None, regions)


def zoom_to(pane: AutomatonPane, zoom: float) -> None:
    while pane.view.zoom > zoom:
        pane.view.zoom_out()


def test_rules_keep_their_names_when_the_drawing_is_small(pane):
    names = [f"rule-{number}" for number in range(12)]
    text = "\n".join(["root ::= " + " | ".join(names), *(f'{name} ::= "{name}" root? "x"{{50}}' for name in names)])
    grammar = compile_grammar("gbnf", text)
    charts = rule_charts(grammar.rule_automata())
    pane.begin(ViewState(merges=False))
    pane.show_dfa(grammar.neighbourhood(b""), 1, None, grammar.source, None, charts)
    zoom_to(pane, 0.5)
    assert pane.view.zoom < LABELS_FROM_ZOOM
    assert set(names) <= set(pane.scene.names.texts)
    zoom_to(pane, 0.1)
    assert pane.scene.names.texts, "as many as have room"
    while pane.view.zoom < 1:
        pane.view.zoom_in()
    assert not pane.scene.names.texts, "they are written in the boxes again"


def test_regions_name_a_drawing_that_is_too_small_for_its_states(pane):
    show(pane, "(aa|bb|cc|dd)*[ab]{30}x(c|dd|ee)*[01]{30}", ViewState(merges=False, draws_all=True), has_regions=True)
    zoom_to(pane, AREAS_BELOW_ZOOM - 0.15)
    shown = pane.scene.names.texts
    assert any("[01]{30}" in name for name in shown), shown
    assert not any(name.isdecimal() for name in shown), "no number has room"


def test_a_fitted_drawing_has_lines_of_full_thickness(pane):
    show(pane, PATTERNS["number"], ViewState(merges=False))
    pane.view.fit()
    assert pane.view.zoom < 1
    lines = [*pane.scene.static_layer.lines, *pane.scene.static_layer.bodies]
    assert all(item.pen().isCosmetic() and item.pen().widthF() >= 1 for item in lines)
    pane.view.zoom_to_one()
    assert not any(item.pen().isCosmetic() for item in lines)


def test_the_button_that_fits_says_how_many_states_there_are_until_all_are_in_view(pane):
    show(pane, "".join(f"[{letter}x]" for letter in "abcdefghijklmnopqrst"), ViewState(merges=False))
    button = pane.footer.fit_button
    assert button.accessibleName() == button.text()
    before = button.text()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "21" in before
    assert "21" not in button.text()
    while pane.view.zoom < 2:
        pane.view.zoom_in()
    assert button.text() == before


def test_a_label_without_room_shows_when_it_is_pointed_at_and_when_its_state_is_selected(pane):
    pane.layout_wanted.disconnect()
    pane.layout_wanted.connect(
        lambda request: pane.show_layout(without_room(lay_out(request), [key for key in request.texts if key[0] == 0]))
    )
    show(pane, PATTERNS["45 states"], ViewState(merges=False, draws_all=True))
    pane.view.zoom_to_one()
    marks = {key: label for key, label in pane.scene.labels.labels.items() if label.text == "…"}
    assert len(marks) > 1
    key = min(marks)
    state = key[0]
    pane.view.center_at(QPointF(marks[key].x, marks[key].y))
    QTest.mouseMove(pane.view.viewport(), QPoint(2, 2))
    QTest.mouseMove(pane.view.viewport(), pane.view.mapFromScene(QPointF(marks[key].x, marks[key].y)))
    assert set(pane.scene.hovered_label.drawn_rects()) == {key}
    assert pane.scene.hovered_label.labels[key].text == pane.scene.diagram.labels[key]
    box = pane.scene.box(state)
    pane.view.center_at(box.center())
    QTest.mouseMove(pane.view.viewport(), QPoint(2, 2))
    QTest.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=pane.view.mapFromScene(box.center()))
    assert pane.navigation.selected == state
    shown = pane.scene.hovered_label.drawn_rects()
    assert key in shown
    assert all(state in edge for edge in shown)
    rects = list(shown.values())
    assert not any(a.intersects(b) for at, a in enumerate(rects) for b in rects[:at])
    pane.selection.select(-1)
    assert not pane.scene.hovered_label.drawn_rects()


def test_the_layout_in_force_is_marked(pane):
    chosen = []
    pane.layout_chosen.connect(lambda *_: chosen.append(pane.navigation.method))
    show(pane, PATTERNS["loops"], ViewState())
    assert chosen[-1] == "dot"
    for method in METHODS:
        pane.navigation.choose_layout(method)
        assert pane.navigation.method == chosen[-1] == method


def test_the_legend_has_a_symbol_for_each_text(qtbot):
    legend = SymbolLegend()
    qtbot.addWidget(legend)
    legend.resize(legend.sizeHint())
    legend.show()
    picture = legend.grab().toImage()
    assert len({picture.pixelColor(x, y).name() for x in range(40) for y in range(picture.height())}) > 4
    assert legend.accessibleDescription().count(";") == len(SYMBOLS) - 1
