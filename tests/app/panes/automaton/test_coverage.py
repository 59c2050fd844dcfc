"""What the tests use, on the drawing: rules, one rule, a whole automaton, regions; held against runs of the texts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.graph.draw.layers import COVERED_WIDTHS, covered_width
from app.graph.layout.methods import lay_out
from app.graph.match.counters import merge
from app.graph.match.folding import fold_characters
from app.graph.match.regions import regions_of
from app.graph.match.rules import rule_charts
from app.models.states import MARKS
from app.panes.automaton.levels import Level
from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.view_state import ViewState
from engine.compile import compile_grammar
from engine.diagnosis.test_strings.coverage import coverage, single_rule, uses_of
from engine.diagnosis.test_strings.values import Coverage
from engine.source import Span

RULES = 'root ::= a | b\na ::= "x" [0-9]\nb ::= "(" root ")"\n'


@pytest.fixture
def pane(qtbot) -> AutomatonPane:
    pane = AutomatonPane()
    pane.begin(ViewState(merges=False))
    qtbot.addWidget(pane)
    pane.layout_wanted.connect(lambda request: pane.show_layout(lay_out(request)))
    pane.resize(700, 500)
    pane.show()
    return pane


def cover(automata, *texts: str) -> Coverage:
    return coverage(automata, [uses_of(automata, text.encode()) for text in texts])


def show_regex(pane: AutomatonPane, pattern: str, *texts: str):
    grammar = compile_grammar("regex", pattern)
    dfa = grammar.materialise(1000)
    folded = fold_characters(dfa)
    regions = regions_of(dfa, folded, grammar.grammar.rules[0].node, grammar.source)
    pane.show_dfa(dfa, 1, None, grammar.source, folded, None, regions, merged=merge(dfa, folded))
    pane.show_coverage(cover(single_rule(dfa, Span(0, len(pattern))), *texts), 1)
    return dfa


def show_rules(pane: AutomatonPane, text: str, *texts: str):
    grammar = compile_grammar("gbnf", text)
    automata = grammar.rule_automata()
    charts = rule_charts(automata)
    pane.show_dfa(grammar.neighbourhood(b""), 1, None, grammar.source, None, charts)
    pane.show_coverage(cover(automata, *texts), 1)
    return charts


def press(pane: AutomatonPane, qtbot) -> None:
    qtbot.mouseClick(pane.footer.coverage_button, Qt.MouseButton.LeftButton)


def passed(dfa, text: str) -> set[tuple[int, int]]:
    """The stupid twin: run the text."""
    states = [dfa.start]
    for byte in text.encode():
        states.append(dfa.step(states[-1], byte))
    return set(pairwise(states))


def test_nothing_is_told_until_it_is_asked_for(pane, qtbot):
    dfa = show_regex(pane, "ab|cd", "ab")
    assert not pane.scene.highlights.covered
    assert not pane.scene.highlights.uncovered
    assert not pane.coverage_banner.isVisible()
    press(pane, qtbot)
    assert pane.scene.highlights.covered == passed(dfa, "ab")
    assert pane.scene.highlights.uncovered == passed(dfa, "cd")
    assert pane.scene.highlights.uncovered_states == {state for _, state in passed(dfa, "cd")} - {
        state for _, state in passed(dfa, "ab")
    }
    one = ui_text("automaton.coverage.fragment.texts", count=1)
    assert pane.coverage_banner.text() == ui_text("automaton.coverage.tests", covered=2, total="4 edges", texts=one)
    assert not pane.scene.highlight_layer.uncovered.path().isEmpty()
    press(pane, qtbot)
    assert not pane.scene.highlights.covered
    assert not pane.scene.highlights.uncovered_states
    assert not pane.coverage_banner.isVisible()


@pytest.mark.parametrize("texts", [(), ("éb",), ("a", "éb"), ("a", "ü", "éb")])
def test_characters_are_used_whole(pane, qtbot, texts):
    dfa = show_regex(pane, "a|[é-ü]b?", *texts)
    folded = fold_characters(dfa)
    press(pane, qtbot)
    runs = [[dfa.start, *(target for _, target in way(dfa, text))] for text in texts]
    outer = [[state for state in run if state not in folded.inner] for run in runs]
    assert pane.scene.highlights.covered == {key for run in outer for key in pairwise(run)}
    assert pane.scene.highlights.covered | pane.scene.highlights.uncovered == {
        (edge.source, edge.target) for edge in folded.edges
    }
    qtbot.mouseClick(pane.header.bytes_button, Qt.MouseButton.LeftButton)
    assert pane.scene.highlights.covered == {key for text in texts for key in passed(dfa, text)}


def way(dfa, text: str) -> list[tuple[int, int]]:
    states = [dfa.start]
    for byte in text.encode():
        states.append(dfa.step(states[-1], byte))
    return list(pairwise(states))


def test_regions_are_used_where_one_of_their_states_is(pane, qtbot):
    show_regex(pane, "[A-Z]+: ([0-9]{0,200}|x[a-f]{50})\n", "A: 12\n")
    press(pane, qtbot)
    names = [name.split("\n")[0] for name in pane.scene.diagram.names.values()]
    idle = {names[state] for state in pane.scene.highlights.uncovered_states}
    assert any("a-f" in name for name in idle)
    assert not any("0-9" in name for name in idle)
    assert pane.scene.highlights.covered
    assert pane.scene.highlights.uncovered


def test_rules_side_by_side_and_one_by_one(pane, qtbot):
    charts = show_rules(pane, RULES, "x1")
    press(pane, qtbot)
    root, first_of_b = charts.names.index("root"), charts.first_states[charts.names.index("b")]
    used = {
        charts.names[max(at for at, first in enumerate(charts.first_states) if first <= key[0])]
        for key in pane.scene.highlights.covered
    }
    assert used == {"root", "a"}
    assert first_of_b in pane.scene.highlights.uncovered_states
    assert charts.first_states[root] not in pane.scene.highlights.uncovered_states
    pane.level_bar.rule_wanted.emit("b")
    assert not pane.scene.highlights.covered
    assert pane.scene.highlights.uncovered


def test_a_map_of_rules_tells_which_calls_are_used(pane, qtbot):
    charts = show_rules(pane, RULES.replace("a | b", "a | b | long") + 'long ::= "b"{45}\n', "(x1)")
    press(pane, qtbot)
    number = {name: at for at, name in enumerate(charts.names)}
    assert not charts.opens_combined(merges=False)
    wanted = {(number["root"], number["a"]), (number["root"], number["b"]), (number["b"], number["root"])}
    assert pane.scene.highlights.covered == wanted
    assert {charts.names[state] for state in pane.scene.highlights.uncovered_states} == {"long"}


def test_where_it_cannot_be_told_a_sentence_says_why(pane, qtbot):
    show_rules(pane, RULES, "x1")
    press(pane, qtbot)
    pane.navigation.go_to_level(Level.PART)
    assert pane.coverage_banner.text() == ui_text("automaton.coverage.part_of_rules")
    assert not pane.scene.highlights.uncovered
    pane.navigation.go_to_level(Level.MAP)
    reason = ui_text("workers.judge.fragment.states", limit=4000)
    pane.show_coverage(Coverage(reason=reason), 1)
    assert pane.coverage_banner.text() == ui_text("automaton.coverage.reason", reason=reason)


def test_another_grammar_waits_for_its_own_verdicts(pane, qtbot):
    show_regex(pane, "ab|cd", "ab")
    press(pane, qtbot)
    grammar = compile_grammar("regex", "ab|cde")
    dfa = grammar.materialise(100)
    pane.show_dfa(dfa, 2, None, grammar.source)
    assert not pane.scene.highlights.covered
    assert pane.coverage_banner.text() == ui_text("automaton.coverage.waiting")
    pane.show_coverage(cover(single_rule(dfa, Span(0, 6)), "cde"), 3)  # verdicts that come before their drawing
    assert not pane.scene.highlights.covered
    pane.show_dfa(dfa, 3, None, grammar.source)
    assert pane.scene.highlights.covered == passed(dfa, "cde")
    pane.clear()
    assert not pane.coverage_banner.isVisible()


def test_a_band_is_wider_for_more_of_the_texts_and_the_tip_counts_them(pane, qtbot):
    dfa = show_regex(pane, "a[bc]|d", "ab", "ac", "ab", "d")
    press(pane, qtbot)
    shares = pane.scene.highlights.shares
    start, after = dfa.start, dfa.step(dfa.start, ord("a"))
    end = dfa.step(after, ord("b"))
    assert (shares[start, after], shares[after, end], shares[start, end]) == (0.75, 0.75, 0.25)
    assert covered_width(0.75) > covered_width(0.25) > 0
    assert [covered_width(share) for share in (0.001, 1.0)] == [COVERED_WIDTHS[0], COVERED_WIDTHS[-1]]
    texts = ui_text("automaton.coverage.fragment.texts", count=4)
    used = ui_text("automaton.coverage.fragment.used", count=3, texts=texts)
    assert used in pane.view.edge_tip((start, after))
    assert used in pane.model.index(after, MARKS).data()
    press(pane, qtbot)
    assert not pane.scene.highlights.shares
    assert texts not in pane.view.edge_tip((start, after))


def test_a_merged_edge_counts_the_texts_that_take_it_from_end_to_end(pane, qtbot):
    dfa = show_regex(pane, "(ab|cd)[ef]|g", "abe", "cdf", "abf", "g")
    qtbot.mouseClick(pane.header.merge_button, Qt.MouseButton.LeftButton)
    press(pane, qtbot)
    texts, after = ui_text("automaton.coverage.fragment.texts", count=4), dfa.run(b"ab")
    assert (dfa.start, after) in pane.scene.highlights.covered
    assert pane.view.edge_tip((dfa.start, after)).endswith(
        ui_text("automaton.coverage.fragment.used", count=3, texts=texts)
    )
    assert ui_text("automaton.coverage.fragment.used", count=3, texts=texts) in pane.model.index(after, MARKS).data()
