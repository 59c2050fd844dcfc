"""The automaton pane on a grammar whose rules nest: all rules, one of them, or the surroundings of the live state."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.graph.layout.methods import lay_out
from app.graph.match import rules
from app.graph.match.rules import MOST_UNFOLDED, Unfolding, unfold_calls
from app.models.states import ACCEPTS, LEADS_TO, MARKS, READS
from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.view_state import ViewState
from engine.automata.rtn.rule_positions import RulePositions
from engine.compile import compile_grammar
from tests.app.panes.automaton.shown_rules import Shown

SMALL = 'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "a" | "(" expr ")"'
LARGE = SMALL + ' | long\nlong ::= "b"{45}'


def test_small_rules_stand_side_by_side_and_the_live_path_is_lit(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    assert pane.level_bar.isVisible()
    assert pane.header.counts.text() == "9 states · 8 edges"
    assert [title for title, _ in shown.scene.diagram.groups] == ["root", "expr", "term"]
    assert shown.lit() == {"term 0"}
    shown.write("(a")
    assert shown.lit() == {"expr 1", "term 3"}
    words = shown.scene.diagram.labels
    waiting = {words[key] for key in pane.navigation.waiting}
    assert waiting == {"‹expr›", "‹term›"}
    assert pane.navigation.waiting <= shown.scene.diagram.calls
    assert len(shown.asked) == 1  # a step moves the light and nothing else
    assert pane.footer.details.text().startswith("State expr 1  ·  ● here")


def test_what_the_whole_is_too_large_for_is_said_only_around_the_live_state(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, SMALL)
    assert pane.size_banner.isHidden()
    qtbot.mouseClick(pane.level_bar.live_button, Qt.MouseButton.LeftButton)
    assert pane.size_banner.text().startswith(ui_text("workers.compile.size.recursive"))
    assert pane.header.counts.text().endswith(ui_text("automaton.counts.fragment.part", states=""))
    assert shown.scene.diagram.groups == ()
    shown.write("((")
    assert pane.level_bar.live_button.isChecked()
    assert shown.scene.highlights.live == {0}
    qtbot.mouseClick(pane.level_bar.rules_button, Qt.MouseButton.LeftButton)
    assert shown.lit() == {"term 0"}


def test_large_rules_are_drawn_as_an_overview_of_who_calls_whom(pane: AutomatonPane) -> None:
    shown = Shown(pane, LARGE)
    assert pane.header.counts.text() == "4 rules of 55 states · 4 calls"
    assert set(shown.scene.diagram.names.values()) == {
        "root\n3 states",
        "expr\n2 states",
        "term\n4 states",
        "long\n46 states",
    }
    assert shown.scene.diagram.folded == {0, 1, 2, 3}
    assert shown.lit() == {"term", "long"}
    assert shown.scene.highlights.next_edges == {(0, 1), (1, 2), (2, 3)}  # the calls under way, and no other edge
    assert pane.footer.details.text() == "Rule term  ·  ● here  ·  4 states  ·  calls expr, long"


def test_a_double_click_opens_a_rule_and_backspace_goes_up(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, LARGE)
    shown.double_click(qtbot, shown.scene.box(2).center())
    assert pane.level_bar.rule_box.currentText() == "term"
    assert pane.header.counts.text() == "4 states · 4 edges"
    assert shown.lit() == {"0"}
    label = next(key for key, text in shown.scene.diagram.labels.items() if text == "‹expr›")
    shown.double_click(qtbot, QPointF(*lay_out(shown.asked[-1]).label_positions[label]))
    assert pane.level_bar.rule_box.currentText() == "expr"  # the call leads into the rule that is called
    qtbot.keyClick(pane.view, Qt.Key.Key_Backspace)
    assert pane.level_bar.rule_box.currentText() == "All 4 rules"
    assert pane.header.counts.text() == "4 rules of 55 states · 4 calls"


def test_keys_alone_open_a_rule_and_leave_it(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, LARGE)
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=shown.place(shown.scene.box(1).center()))
    qtbot.keyClick(pane.view, Qt.Key.Key_Return)
    assert pane.level_bar.rule_box.currentText() == "expr"
    qtbot.keyClick(pane.view, Qt.Key.Key_Return)  # nothing is selected: nothing happens
    qtbot.keyClick(pane.view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert pane.level_bar.rule_box.currentIndex() == 0
    pane.level_bar.rule_box.setFocus()
    qtbot.keyClick(pane.level_bar.rule_box, Qt.Key.Key_Down)
    assert pane.level_bar.rule_box.currentText() == "root"
    assert pane.header.counts.text() == "3 states · 2 edges"


def test_the_breadcrumb_leads_back(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, SMALL)
    assert not pane.level_bar.up_button.isEnabled()
    left, top, *_ = lay_out(shown.asked[0]).boxes[1]
    shown.double_click(qtbot, QPointF(left + 20, top + 14))  # the box's title
    assert pane.level_bar.rule_box.currentText() == "expr"
    assert shown.scene.diagram.groups == ()
    qtbot.mouseClick(pane.level_bar.up_button, Qt.MouseButton.LeftButton)
    assert len(shown.scene.diagram.groups) == 3


def test_the_rules_read_as_a_table(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, SMALL)
    qtbot.mouseClick(pane.header.table_button, Qt.MouseButton.LeftButton)
    rows = [[pane.model.index(row, column).data() for column in (0, 1, 3)] for row in range(pane.model.rowCount())]
    assert rows[0] == ["root 0 (start)", "", "‹expr› → root 1"]
    assert ["term 0", ui_text("automaton.states.mark.here"), "“(” → term 1 ,  a → term 2"] in rows
    pane.table.selectRow(0)
    shown.write("a=")
    pane.navigation.show_rule("term")
    assert pane.model.rowCount() == 4


def test_a_table_of_rules_has_room_for_the_calls_and_no_map_of_the_drawing(pane: AutomatonPane, qtbot: QtBot) -> None:
    Shown(pane, LARGE)
    qtbot.mouseClick(pane.footer.map_button, Qt.MouseButton.LeftButton)
    assert pane.minimap.isVisible()
    qtbot.mouseClick(pane.header.table_button, Qt.MouseButton.LeftButton)
    assert not pane.minimap.isVisible()
    hidden = {column for column in range(pane.model.columnCount()) if pane.table.isColumnHidden(column)}
    assert hidden == {ACCEPTS, READS, MARKS}
    assert pane.table.columnWidth(LEADS_TO) > pane.table.width() / 2
    qtbot.mouseClick(pane.header.graph_button, Qt.MouseButton.LeftButton)
    assert pane.minimap.isVisible()
    pane.navigation.show_rule("term")
    assert not pane.table.isColumnHidden(ACCEPTS)


def test_an_open_rule_stays_open_over_an_edit_while_it_is_there(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    pane.navigation.show_rule("term")
    shown.show(SMALL.replace('"a"', '"a" | "b"'), 2)
    assert pane.level_bar.rule_box.currentText() == "term"
    assert shown.scene.diagram.labels[0, 2] == "[ab]"
    shown.show(SMALL.replace("term", "factor"), 3)
    assert pane.level_bar.rule_box.currentText() == "All 3 rules"
    assert len(shown.scene.diagram.groups) == 3


def test_an_edit_to_one_rule_leaves_the_others_lit_as_they_are_numbered(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    shown.write("(a")
    shown.show('root ::= "x"? expr "="\n' + SMALL.split("\n", 1)[1], 2)
    assert shown.lit() == {"root 0", "term 0"}


def test_while_the_places_are_being_found_out_the_last_ones_stay_lit(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    pane.set_live([])
    assert shown.lit() == {"term 0"}
    pane.set_live([0], RulePositions())
    assert shown.lit() == set()


def test_a_grammar_without_rules_has_no_levels(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    pane.show_dfa(compile_grammar("regex", "ab").materialise(), 2)
    assert pane.level_bar.rule_box.isHidden()
    assert pane.level_bar.rules_button.text() == "States"
    assert shown.scene.diagram.groups == ()
    shown.show(SMALL, 3)
    assert pane.level_bar.isVisible()
    pane.navigation.show_rule("term")
    pane.clear()
    assert pane.level_bar.isHidden()
    shown.show(SMALL, 4)
    assert pane.level_bar.rule_box.currentIndex() == 0


def test_a_stale_drawing_of_rules_is_greyed(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    fresh = shown.scene.highlight_layer.frames.pen().color()
    pane.set_stale(True, "One error")
    assert shown.scene.highlight_layer.frames.pen().color() != fresh
    assert {line.pen().style() for line in shown.scene.static_layer.lines} == {
        Qt.PenStyle.SolidLine,
        Qt.PenStyle.CustomDashLine,
    }


def test_rules_stay_where_they_were_by_their_names(pane: AutomatonPane) -> None:
    many = 'root ::= a b c\na ::= "(" b ")" | [a-z]{9}\nb ::= c | "<" a ">"\nc ::= [0-9]{1,40} a?\n'
    shown = Shown(pane, many)
    pane.header.all_button.setChecked(False)
    before = {name: shown.scene.box(node).center() for node, name in names_of(shown).items()}
    assert set(before) == {"root", "a", "b", "c"}
    shown.show(many.replace("a ::=", 'new ::= "n"\na ::= new |'), 2)
    after = {name: shown.scene.box(node).center() for node, name in names_of(shown).items()}
    assert all(abs(before[name].x() - after[name].x()) < 2 for name in before)
    assert any((before[name] - after[name]).manhattanLength() < 2 for name in before)


def names_of(shown: Shown) -> dict[int, str]:
    picture = shown.scene.diagram
    return {node: text.partition("\n")[0] for node, text in picture.names.items()}


MONTHS = 'root ::= day " " month\nday ::= [0-9]{1,2}\nmonth ::= "March" | "April" | long\nlong ::= "b"{45}'


def found(pane: AutomatonPane, qtbot: QtBot, text: str) -> str:
    pane.search.open()
    pane.find_bar.field.setText(text)
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Return)
    return pane.find_bar.result_label.text()


def test_a_text_within_a_rule_is_found_and_the_rule_opens(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, MONTHS)
    assert found(pane, qtbot, "April") == "state month 0 reads “April” · 1 of 1"
    assert pane.level_bar.rule_box.currentText() == "month"
    assert pane.scene.highlights.selected == 0
    assert pane.find_bar.field.hasFocus()
    assert found(pane, qtbot, "0-9").startswith("state day 0 reads 0-9 · 1 of 2")
    assert pane.level_bar.rule_box.currentText() == "day"
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Return)
    assert pane.scene.highlights.selected == 1
    assert len(shown.asked) == 3  # the overview and two rules


def test_a_text_within_a_rule_is_found_where_all_rules_are_side_by_side(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, SMALL.replace('"a"', '"alpha"'))
    assert found(pane, qtbot, "alpha").startswith("state term 0 reads “alpha”")
    assert pane.scene.highlights.selected == shown.charts.first_states[2]
    assert len(shown.asked) == 1  # nothing else is drawn
    assert found(pane, qtbot, "(") == "state term 0 reads it · 1 of 1"


def call_of(shown: Shown, label: str) -> tuple[int, int]:
    diagram = shown.scene.diagram
    return next(key for key in sorted(diagram.calls) if diagram.labels[key] == label)


def test_a_call_unfolds_in_place_and_folds_again(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, SMALL)
    pane.navigation.show_rule("root")
    before = shown.scene.diagram
    key = call_of(shown, "‹expr›")
    point = shown.place(QPointF(*lay_out(shown.asked[-1]).label_positions[key]))
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.mouseDClick(pane.view.viewport(), Qt.MouseButton.LeftButton, shift, pos=point)
    unfolded = shown.scene.diagram
    assert {"expr 0", "expr 1"} <= set(unfolded.names.values())
    assert [unfolded.labels[edge] for edge in sorted(unfolded.labels)].count("ε") == 2
    assert key not in unfolded.labels
    assert pane.navigation.levels is not None
    inner = next(state for state, name in unfolded.names.items() if name == "expr 1")
    assert pane.navigation.levels.state_name(pane.navigation.view, inner) == ("expr", 1)
    nested = call_of(shown, "‹term›")
    assert pane.navigation.toggle_call(None, nested)
    assert "term 0" in shown.scene.diagram.names.values()
    assert pane.navigation.toggle_call(inner, None)  # with all that is unfolded in it
    assert shown.scene.diagram == before


def test_what_is_unfolded_is_said_when_it_is_drawn(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    pane.navigation.show_rule("root")
    pane.layout_wanted.disconnect()
    key = call_of(shown, "‹expr›")
    pane.layout_wanted.connect(shown.asked.append)
    assert pane.navigation.toggle_call(None, key)
    before = pane.footer.details.text()
    pane.show_layout(lay_out(shown.asked[-1]))
    assert pane.footer.details.text() == ui_text("automaton.say.unfolded") != before


def test_the_match_is_marked_in_an_unfolded_call_while_the_call_is_open(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    pane.navigation.show_rule("root")
    pane.navigation.toggle_call(None, call_of(shown, "‹expr›"))
    shown.write("a")
    assert "expr 1" in shown.lit()
    shown.write("a=")
    assert "expr 1" not in shown.lit()


def test_a_call_unfolds_where_rules_are_side_by_side_and_merged(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL.replace('"a"', '"abc"{2,9}'))
    key = call_of(shown, "‹term›")
    assert pane.navigation.toggle_call(None, key)
    diagram = shown.scene.diagram
    (group,) = [states for title, states in diagram.groups if title == "expr"]
    assert any(diagram.names[state].startswith("term") for state in group)
    pane.navigation.set_merges(on=True)
    assert any(name.startswith("term") for name in shown.scene.diagram.names.values())
    pane.navigation.collapse()
    assert not pane.navigation.view.unfolded


def test_an_unfolded_counter_has_an_edge_to_what_follows_the_call(pane: AutomatonPane) -> None:
    shown = Shown(pane, 'root ::= "(" root ")" | key ":"\nkey ::= [a-z]{1,30}')
    pane.navigation.set_merges(on=True)
    pane.navigation.show_rule("root")
    key = call_of(shown, "‹key›")
    assert pane.navigation.toggle_call(None, key)
    leading = {edge.source for edge in shown.scene.diagram.excerpt.edges if edge.target == key[1]}
    drawn = set(shown.scene.diagram.excerpt.states)
    assert leading <= drawn
    assert leading - {key[0]}


def test_a_call_that_would_draw_too_many_states_stays_a_call_and_the_pane_says_so(
    pane: AutomatonPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_UNFOLDED", 4)
    shown = Shown(pane, SMALL)
    pane.navigation.show_rule("root")
    before = shown.scene.diagram
    assert pane.navigation.toggle_call(None, call_of(shown, "‹expr›"))
    assert not pane.navigation.view.unfolded
    assert shown.scene.diagram == before
    assert pane.footer.details.text() == ui_text("automaton.say.too_large", limit=MOST_UNFOLDED)


def test_unfolded_calls_come_back_with_the_document_and_go_with_an_edit(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    pane.navigation.show_rule("root")
    stored: list[ViewState] = []
    pane.view_changed.connect(stored.append)
    pane.navigation.toggle_call(None, call_of(shown, "‹expr›"))
    kept, drawn = stored[-1], shown.scene.diagram
    assert kept.unfolded
    pane.begin(kept)
    shown.show(SMALL, 2)
    assert shown.scene.diagram == drawn
    shown.show(SMALL + " ", 3)
    assert not pane.navigation.view.unfolded
    assert not stored[-1].unfolded


def test_what_is_unfolded_no_more_is_no_longer_requested(pane: AutomatonPane) -> None:
    shown = Shown(pane, SMALL)
    pane.navigation.show_rule("root")
    key = call_of(shown, "‹expr›")
    pane.unfolding_wanted.disconnect()
    wanted: list[Unfolding] = []
    pane.unfolding_wanted.connect(wanted.append)
    pane.navigation.toggle_call(None, key)
    pane.navigation.collapse()
    assert [bool(one.paths) for one in wanted] == [True, False]
    pane.show_unfolded(wanted[0], unfold_calls(shown.charts, wanted[0]))  # late
    assert call_of(shown, "‹expr›") == key
