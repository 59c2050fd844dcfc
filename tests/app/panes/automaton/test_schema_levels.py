"""The automaton pane on a JSON Schema: its rules, in the plain spelling and without white space."""

from __future__ import annotations

from catalogue_texts import shows
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.panes.automaton.pane import AutomatonPane
from engine.source.catalogue import capitalised
from tests.app.panes.automaton.shown_rules import Shown

TREE = """{
  "type": "object",
  "properties": {
    "size": {"type": "number"},
    "children": {"type": "array", "items": {"$ref": "#"}}
  },
  "required": ["size", "children"],
  "additionalProperties": false
}"""


def test_a_key_is_one_edge_that_is_lit_while_it_is_written(pane: AutomatonPane) -> None:
    shown = Shown(pane, TREE, "json_schema")
    assert [title for title, _ in shown.scene.diagram.groups] == ["root", "children", "number"]
    assert {'{"size":', ',"children":'} <= set(shown.scene.diagram.labels.values())
    assert shown.lit() == {"root 0"}
    shown.write('{"si')
    assert shown.lit() == set()
    assert shown.lit_labels() == {'{"size":'}
    assert [shown.scene.is_live_group(number) for number in range(3)] == [True, False, False]
    assert ui_text("automaton.states.mark.here") in pane.footer.details.text()
    assert "reads" not in pane.footer.details.text()  # the source position of the state is that of its rule
    shown.write('{ "size" :\n 1')
    assert {name.split()[0] for name in shown.lit()} == {"root", "number"}
    assert '{"size":' not in shown.lit_labels()
    assert len(shown.asked) == 1  # a step moves the light and nothing else


def test_the_bytes_of_a_key_can_be_drawn(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, TREE, "json_schema")
    shown.write('{"si')
    qtbot.mouseClick(pane.header.bytes_button, Qt.MouseButton.LeftButton)
    assert len(shown.lit()) == 1
    assert '{"size":' not in shown.scene.diagram.labels.values()
    qtbot.mouseClick(pane.header.bytes_button, Qt.MouseButton.LeftButton)
    assert shown.lit_labels() == {'{"size":'}


def test_the_note_says_what_is_left_out_and_when_the_text_is(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, TREE, "json_schema")
    assert shows(pane.level_bar.note.text(), "export.note.fragment.plain")
    assert pane.level_bar.note.text().endswith(capitalised(ui_text("export.note.fragment.compact")) + ".")
    assert pane.level_bar.note.shown_text == ui_text("automaton.note.plain.short")  # there is no room for all of it
    shown.write('{"size": 1e')
    assert pane.level_bar.note.shown_text == ui_text("automaton.note.not_drawn.short")
    assert pane.level_bar.note.text().startswith(ui_text("automaton.note.not_drawn.long"))
    assert (shown.lit(), shown.lit_labels()) == (set(), set())
    qtbot.mouseClick(pane.level_bar.live_button, Qt.MouseButton.LeftButton)
    assert pane.level_bar.note.text() == ui_text("automaton.location.live")
    assert shown.lit()
    assert pane.size_banner.text() == ui_text("session.excerpt.part", size=ui_text("common.notation.json_schema"))
    qtbot.mouseClick(pane.level_bar.rules_button, Qt.MouseButton.LeftButton)
    shown.write('{"size": 1')
    assert pane.level_bar.note.shown_text == ui_text("automaton.note.plain.short")  # there is no room for all of it


def test_what_is_pointed_at_has_its_place_in_the_schema(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, TREE, "json_schema")
    heard: list[tuple] = []
    pane.spans_hovered.connect(heard.append)
    qtbot.keyClick(pane.view, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)  # all of it in view
    box = shown.scene.box(shown.charts.first_states[1])
    place = pane.view.mapFromScene(box.center())
    qtbot.mouseMove(pane.view.viewport(), QPoint(1, 1))
    qtbot.mouseMove(pane.view.viewport(), place)
    assert [TREE[span.start : span.end] for span in heard[-1]] == ['{"type": "array", "items": {"$ref": "#"}}']
    pane.highlight_offset(TREE.index('{"$ref"'))
    assert shown.charts.first_states[1] in shown.scene.highlights.highlighted


def test_a_called_rule_opens_by_a_double_click(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, TREE, "json_schema")
    qtbot.keyClick(pane.view, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    port, place = pane.view.viewport(), pane.view.mapFromScene(shown.scene.box(shown.charts.first_states[1]).center())
    qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseDClick(port, Qt.MouseButton.LeftButton, pos=place)
    assert pane.level_bar.rule_box.currentText() == "children"
    shown.write('{"size": 1, "children": [')
    assert len(shown.lit()) == 1
    qtbot.keyClick(pane.view, Qt.Key.Key_Backspace)
    assert pane.level_bar.rule_box.currentText() == "All 3 rules"
