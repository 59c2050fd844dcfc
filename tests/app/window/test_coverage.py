"""Coverage on the automaton, in a whole window with real workers."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.document import DocumentFile, GrammarPart, ModelPart
from engine.diagnosis.testing import ExpectedText

LEFT = Qt.MouseButton.LeftButton
WHOLE = 'root ::= a | b\na ::= "x" [0-9]+\nb ::= "y"\n'
RECURSIVE = 'root ::= "(" root ")" | "x" | "y"'
SCHEMA = '{"type": "array", "items": {"enum": ["a", "b"]}}'


def open_with(desk, notation: str, text: str, *tests: str) -> None:
    desk.session.start()
    expected = tuple(map(ExpectedText, tests))
    grammar = GrammarPart(notation=notation, text=text)
    desk.document.replace(DocumentFile(grammar=grammar, model=ModelPart("letters"), test_strings=expected))
    desk.wait(lambda: not desk.session.step_refusal)


@pytest.mark.parametrize(
    ("notation", "text", "tests"),
    [
        ("regex", "x[0-9]+|y", ("y",)),
        ("gbnf", WHOLE, ("y",)),
        ("gbnf", RECURSIVE, ("x",)),
        ("json_schema", SCHEMA, ('["a"]',)),
    ],
)
def test_a_click_tells_what_the_tests_use(desk, notation, text, tests):
    open_with(desk, notation, text, *tests)
    pane = desk.panes.automaton
    assert not pane.scene.lit.unused
    desk.wait(pane.footer.coverage_button.isVisible)
    desk.qtbot.mouseClick(pane.footer.coverage_button, LEFT)
    assert desk.window.commands["automaton.coverage"].isChecked()
    desk.wait(lambda: bool(pane.scene.lit.used and pane.scene.lit.unused))
    assert "Green band" in pane.coverage_banner.text


def test_a_test_that_is_added_lights_up(desk):
    open_with(desk, "regex", "x|y")
    pane, tests = desk.panes.automaton, desk.panes.tests
    desk.window.commands["automaton.coverage"].trigger()  # without a test, and with the tests out of sight
    assert pane.footer.coverage_button.isChecked()
    desk.wait(lambda: "0 of 1 edge drawn" in pane.coverage_banner.text)
    tests.add_text("x")
    desk.wait(lambda: "1 of 1 edge drawn" in pane.coverage_banner.text)
    tests.undo()
    desk.wait(lambda: bool(pane.scene.lit.unused))
    desk.window.commands["automaton.coverage"].trigger()
    assert not pane.coverage_banner.isVisible()
    assert not pane.scene.lit.unused


def test_an_edit_of_the_grammar_is_covered_anew(desk):
    open_with(desk, "regex", "ab|cd", "ab")
    pane = desk.panes.automaton
    desk.window.commands["automaton.coverage"].trigger()
    desk.wait(lambda: "2 of 4 edges drawn" in pane.coverage_banner.text)
    desk.document.set_text("ab|cde")
    desk.wait(lambda: "2 of 5 edges drawn" in pane.coverage_banner.text)
    desk.document.set_text("ab|(")
    desk.wait(lambda: bool(desk.session.compiling.stale_reason))
    assert pane.scene.lit.used  # of the last one that compiled, greyed
