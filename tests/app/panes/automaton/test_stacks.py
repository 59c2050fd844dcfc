"""The live stacks: listed, picked, lit."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.graph.layout.methods import lay_out
from app.graph.match.rules import rule_charts
from app.panes.automaton.pane import AutomatonPane
from app.workers.grammar_position import stack_report
from app.workers.requests.grammar_position import GrammarPosition, OpenFrame, OpenStack
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import compile_grammar
from engine.source import Span

TEXT = 'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "a" | "(" expr ")"'
GRAMMAR = compile_grammar("gbnf", TEXT)
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def pane(qtbot: QtBot) -> AutomatonPane:
    pane = AutomatonPane()
    qtbot.addWidget(pane)
    pane.resize(700, 700)
    pane.show()
    qtbot.waitExposed(pane)
    pane.layout_wanted.connect(lambda request: pane.show_layout(lay_out(request)))
    automata = GRAMMAR.rule_automata()
    pane.show_dfa(GRAMMAR.neighbourhood(b""), 1, None, GRAMMAR.source, None, rule_charts(automata))
    write(pane, b"(a")
    return pane


def write(pane: AutomatonPane, output: bytes) -> None:
    """Another output: what is live, and then the stacks."""
    stacks, more = stack_report(GRAMMAR, output)
    places = RuleTracker(GRAMMAR.rule_automata()).positions(output)
    pane.set_live([0], places, output)
    pane.show_stacks(GrammarPosition(output, stacks, more, places))


def lines(pane: AutomatonPane) -> list[tuple[str, str]]:
    items = [pane.stacks.topLevelItem(row) for row in range(pane.stacks.topLevelItemCount())]
    return [(item.text(0), item.text(1)) for item in items if item is not None]


def test_stacks_are_listed_behind_a_button_that_counts_them(pane: AutomatonPane, qtbot: QtBot) -> None:
    assert not pane.stacks.isVisible()
    assert pane.footer.stacks_button.text() == "2"
    qtbot.mouseClick(pane.footer.stacks_button, LEFT)
    assert pane.stacks.isVisible()
    assert sorted(lines(pane)) == [("root › expr › term", ")"), ("root › expr › term › expr", "+")]


def test_a_stack_that_is_picked_lights_its_rules_and_its_places(pane: AutomatonPane, qtbot: QtBot) -> None:
    qtbot.mouseClick(pane.footer.stacks_button, LEFT)
    told: list[tuple[Span, ...]] = []
    pane.spans_hovered.connect(told.append)
    row = [text for text, _ in lines(pane)].index("root › expr › term")
    item = pane.stacks.topLevelItem(row)
    assert item is not None
    qtbot.waitUntil(lambda: pane.stacks.viewport().height() > 2 * pane.stacks.visualItemRect(item).height())
    place = pane.stacks.visualItemRect(item).center()
    assert pane.stacks.itemAt(place) is item
    qtbot.mouseClick(pane.stacks.viewport(), LEFT, pos=place)
    assert {TEXT[span.start : span.end].strip('"') for span in told[-1]} == {")", "+", "="}
    names = {pane.navigation.automaton.name(state) for state in pane.scene.highlights.highlighted}  # type: ignore[union-attr]
    assert names == {"term 3", "expr 1", "root 1"}
    wanted: list[Span] = []
    pane.span_wanted.connect(wanted.append)
    qtbot.keyClick(pane.stacks, Qt.Key.Key_Return)
    assert [TEXT[span.start : span.end].strip('"') for span in wanted] == [")"]


def test_one_frame_of_a_stack_can_be_picked(pane: AutomatonPane, qtbot: QtBot) -> None:
    qtbot.mouseClick(pane.footer.stacks_button, LEFT)
    pane.stacks.setFocus()
    qtbot.keyClick(pane.stacks, Qt.Key.Key_Home)
    qtbot.keyClick(pane.stacks, Qt.Key.Key_Right)
    qtbot.keyClick(pane.stacks, Qt.Key.Key_Down)
    item = pane.stacks.currentItem()
    assert item is not None
    assert item.parent() is pane.stacks.topLevelItem(0)
    assert len(pane.scene.highlights.highlighted) == 1


def test_where_the_rules_stand_comes_with_the_stacks(pane: AutomatonPane) -> None:
    assert {pane.navigation.automaton.name(state) for state in pane.scene.highlights.live} == {"expr 1", "term 3"}  # type: ignore[union-attr]
    write(pane, b"(a)=")
    assert lines(pane) == [("root", "the end")]


def test_a_deep_stack_is_said_shortly_and_listed_whole(pane: AutomatonPane) -> None:
    frames = tuple(OpenFrame(f"r{number}", (Span(0, 4),), may_end=number == 1) for number in range(30))
    pane.show_stacks(GrammarPosition(b"", (OpenStack(frames, "x", left_out=5),), 7))
    assert lines(pane)[0] == ("r29 › … 23 … › r5 › r4 › r3 › r2 › r1 › r0", "x")
    assert lines(pane)[1][0] == ui_text("automaton.stacks.more", count=7)
    item = pane.stacks.topLevelItem(0)
    assert item is not None
    assert item.childCount() == 31
    assert item.child(15).text(0) == "… 5 more …"
    assert item.child(1).text(1) == "root | " + ui_text("automaton.stacks.fragment.end_of_rule")
    assert pane.footer.stacks_button.text() == "8"


def test_what_cannot_go_on_is_said(pane: AutomatonPane) -> None:
    pane.show_stacks(GrammarPosition(b"zz", ()))
    assert lines(pane)[0][0] == ui_text("automaton.stacks.dead")
