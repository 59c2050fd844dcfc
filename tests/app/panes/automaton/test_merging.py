"""Forced runs and counters are merged by default, and the match is shown in them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.graph.layout.methods import lay_out
from app.graph.match.counters import merge
from app.graph.match.folding import fold_characters
from app.panes.automaton.pane import AutomatonPane
from engine.compile import compile_grammar
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind

PATTERN = "begin[ab]{0,12}(end|x)"
FIRST = 5  # the state before the counter


@pytest.fixture
def shown(qtbot):
    pane = AutomatonPane()
    qtbot.addWidget(pane)
    pane.resize(700, 500)
    pane.show()
    pane.layout_wanted.connect(lambda request: pane.show_layout(lay_out(request)))
    grammar = compile_grammar("regex", PATTERN)
    dfa = grammar.materialise()
    fold = fold_characters(dfa)
    pane.show_dfa(dfa, 1, None, grammar.source, fold, merged=merge(dfa, fold))
    return pane


def live(pane: AutomatonPane, text: bytes) -> frozenset[int]:
    state = pane.navigation.levels.part.dfa.run(text)
    pane.set_live([state], None, text)
    return pane.scene.highlights.live


def test_a_new_automaton_is_merged_and_the_button_shows_all_states(shown, qtbot):
    assert shown.header.merge_button.isChecked()
    assert not shown.header.bytes_button.isVisibleTo(shown.header)
    assert len(shown.scene.diagram.excerpt.states) == 3
    assert shown.scene.diagram.labels[0, FIRST] == "begin"
    assert shown.scene.diagram.names[FIRST].split("\n")[0] == "[ab]{0,12}"
    qtbot.mouseClick(shown.header.merge_button, Qt.MouseButton.LeftButton)
    assert len(shown.scene.diagram.excerpt.states) == len(shown.navigation.levels.part.dfa.states)
    assert not shown.scene.diagram.names


def test_the_match_in_a_counter_lights_its_node_and_the_path_to_it(shown):
    assert live(shown, b"begin") == live(shown, b"beginabab") == {FIRST}
    assert shown.scene.highlights.path == {(0, FIRST)}
    assert live(shown, b"be") == frozenset()
    assert shown.scene.highlights.next_edges == {(0, FIRST)}


def test_a_token_that_ends_in_a_counter_reaches_its_node(shown):
    live(shown, b"")
    shown.show_candidate_path(b"beginab")
    assert shown.scene.highlights.candidate_path == {(0, FIRST)}
    assert shown.scene.highlights.candidate_states == {FIRST}


def test_a_breakpoint_on_a_count_marks_the_counter(shown):
    state = shown.navigation.levels.part.dfa.run(b"beginabab")
    shown.show_breakpoints([Breakpoint(BreakpointKind.STATE, "", state=state, label=str(state))])
    assert shown.scene.highlights.breakpoints == {FIRST}


def test_a_count_is_found_at_its_counter(shown):
    state = shown.navigation.levels.part.dfa.run(b"beginabab")
    shown.find_bar.open_bar()
    shown.find_bar.field.setText(str(state))
    assert shown.scene.highlights.highlighted == {FIRST}


def test_a_chart_without_runs_and_counters_offers_nothing_to_merge(shown):
    grammar = compile_grammar("regex", "[ab]|c*")
    shown.show_dfa(grammar.materialise(), 2, None, grammar.source)
    assert not shown.header.merge_button.isVisibleTo(shown.header)
