"""The NFA in a whole window: drawn in place of the DFA, marked while stepping, joined with the states of the DFA."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app import theme
from app.catalogue import ui_text

RULES = 'root ::= "[" (root ("," root)*)? "]" | digit\ndigit ::= [0-9]{1,2}'
SCHEMA = (
    '{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false}'
)


def shows(desk, *, nfa: bool) -> bool:
    navigation = desk.panes.automaton.navigation
    is_nfa = navigation.levels is not None and navigation.levels.is_nfa
    return is_nfa == nfa and navigation.is_current and navigation.wanted is None


def click_nfa(desk, *, nfa: bool = True) -> None:
    desk.qtbot.mouseClick(desk.panes.automaton.header.nfa_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: shows(desk, nfa=nfa))


def labels(desk) -> set[str]:
    drawn = desk.panes.automaton.navigation.drawn
    return {drawn.label((edge.source, edge.target)) for edge in drawn.diagram.excerpt.edges}


def picture(desk, name: str) -> None:
    """Write the window in both themes, if someone wants to look at it."""
    if folder := os.environ.get("NFA_PICTURES"):
        desk.window.resize(1280, 720)
        desk.window.commands["view.automaton"].trigger()
        for look in ("dark", "light"):
            theme.apply(QApplication.instance(), look)
            QApplication.processEvents()
            desk.window.grab().save(str(Path(folder) / f"{name}-{look}.png"))


def test_the_nfa_of_an_expression_is_marked_with_the_states_of_the_match_and_joined_with_the_dfa(desk) -> None:
    desk.open("(a|b)*abb")
    pane = desk.panes.automaton
    navigation = pane.navigation
    desk.wait(lambda: shows(desk, nfa=False))
    desk.qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=pane.view.position_of(0).toPoint())
    assert navigation.selected == 0
    desk.wait(lambda: "{0, 1, 2, 3, 5, 6}" in pane.footer.details.text())
    click_nfa(desk)
    assert len(navigation.drawn.diagram.excerpt.states) == 10
    assert "ε" in labels(desk)
    desk.wait(lambda: navigation.live == {0, 1, 2, 3, 5, 6})
    picture(desk, "nfa-regex")
    desk.session.decoding.step()
    desk.wait(lambda: bool(desk.output))
    desk.wait(lambda: navigation.live in ({1, 2, 3, 4, 5, 6, 8}, {1, 2, 3, 5, 6, 8}))
    pane.selection.go_to(4)
    assert pane.footer.details.text().endswith("1")
    assert navigation.selected_state is None  # no breakpoint and no note: its number is that of another automaton
    assert navigation.named_refusal == ui_text("automaton.refusal.nfa")
    assert desk.document.content.automaton.nfa
    desk.qtbot.keyClick(pane.view, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    desk.qtbot.keyClick(pane.view, Qt.Key.Key_E)
    desk.wait(lambda: shows(desk, nfa=False))


def test_rules_and_schemas_have_an_nfa_for_each_rule_and_an_edit_keeps_the_choice(desk) -> None:
    desk.open(RULES, notation="gbnf")
    pane = desk.panes.automaton
    desk.wait(lambda: shows(desk, nfa=False))
    click_nfa(desk)
    assert any("root" in label for label in labels(desk))
    assert "ε" in labels(desk)
    picture(desk, "nfa-gbnf")
    desk.document.set_text(RULES.replace("1,2", "1,3"))
    desk.wait(lambda: shows(desk, nfa=True) and pane.navigation.drawn.automaton.revision == desk.document.revision)
    desk.open(SCHEMA, notation="json_schema")
    desk.wait(lambda: shows(desk, nfa=pane.header.nfa_button.isChecked()))
    if not pane.header.nfa_button.isChecked():
        click_nfa(desk)
    picture(desk, "nfa-schema")
    desk.open("a{1,3000}")
    if not pane.header.nfa_button.isChecked():
        desk.qtbot.mouseClick(pane.header.nfa_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: not pane.view.isVisible())
    picture(desk, "nfa-large")
