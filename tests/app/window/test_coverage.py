"""Coverage on the automaton, in a whole window with real workers."""

from __future__ import annotations

import pytest
from catalogue_texts import shows
from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.document import AutomatonPart, DocumentFile, GrammarPart, ModelPart
from engine.diagnosis.test_strings.values import CoverageSource
from engine.document.content import ExpectedText

LEFT = Qt.MouseButton.LeftButton
WHOLE = 'root ::= a | b\na ::= "x" [0-9]+\nb ::= "y"\n'
RECURSIVE = 'root ::= "(" root ")" | "x" | "y"'
SCHEMA = '{"type": "array", "items": {"enum": ["a", "b"]}}'


def open_with(desk, notation: str, text: str, *tests: str) -> None:
    desk.session.start()
    expected = tuple(map(ExpectedText, tests))
    grammar = GrammarPart(notation=notation, text=text)
    desk.document.replace(
        DocumentFile(
            grammar=grammar,
            model=ModelPart("letters"),
            automaton=AutomatonPart(merges=False),  # a merged edge is covered if one of its texts is
            test_strings=expected,
        )
    )
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
    assert not pane.scene.highlights.uncovered
    desk.wait(pane.footer.coverage_button.isVisible)
    desk.qtbot.mouseClick(pane.footer.coverage_button, LEFT)
    assert desk.window.commands["automaton.coverage"].isChecked()
    desk.wait(lambda: bool(pane.scene.highlights.covered and pane.scene.highlights.uncovered))
    assert shows(pane.coverage_banner.text(), "automaton.coverage.tests")


def test_a_test_that_is_added_lights_up(desk):
    open_with(desk, "regex", "x|y")
    pane, tests = desk.panes.automaton, desk.panes.view("tests")
    desk.window.commands["automaton.coverage"].trigger()  # without a test, and with the tests out of sight
    assert pane.footer.coverage_button.isChecked()
    desk.wait(lambda: ": 0 of 1 edge drawn" in pane.coverage_banner.text())
    tests.add_text("x")
    desk.wait(lambda: "1 of 1 edge drawn" in pane.coverage_banner.text())
    tests.undo()
    desk.wait(lambda: bool(pane.scene.highlights.uncovered))
    desk.window.commands["automaton.coverage"].trigger()
    assert not pane.coverage_banner.isVisible()
    assert not pane.scene.highlights.uncovered


def test_an_edit_of_the_grammar_is_covered_anew(desk):
    open_with(desk, "regex", "ab|cd", "ab")
    pane = desk.panes.automaton
    desk.window.commands["automaton.coverage"].trigger()
    desk.wait(lambda: ": 2 of 4 edges drawn here" in pane.coverage_banner.text())
    desk.document.set_text("ab|cde")
    desk.wait(lambda: ": 2 of 5 edges drawn here" in pane.coverage_banner.text())
    desk.document.set_text("ab|(")
    desk.wait(lambda: bool(desk.session.compiling.stale_reason))
    assert pane.scene.highlights.covered  # of the last one that compiled, greyed


def shares(desk) -> tuple[str, ...]:
    """What the tests pane says of the two coverages."""
    parts = desk.panes.view("tests").summary.text().split("  ·  ")
    return tuple(part for part in parts if part.startswith(("Tests:", "Generated:")))


def step(desk, *texts: str) -> None:
    """Take these tokens one after the other."""
    for text in texts:
        before = desk.output
        desk.session.decoding.take(ord(text) - 0x20)
        desk.wait(lambda before=before, text=text: desk.output == before + text.encode())


def test_tests_and_generated_outputs_are_counted_apart(desk):
    open_with(desk, "gbnf", WHOLE, "y")
    desk.window.commands["view.tests"].trigger()
    desk.wait(lambda: shares(desk) == ("Tests: 2 of 3 rules", "Generated: 0 of 3 rules"))
    step(desk, "x", "1")
    desk.wait(lambda: shares(desk) == ("Tests: 2 of 3 rules", "Generated: 2 of 3 rules"))
    desk.session.decoding.go_to(None)
    desk.wait(lambda: desk.output == b"")
    step(desk, "y")  # a branch: the other one counts, too
    desk.wait(lambda: shares(desk) == ("Tests: 2 of 3 rules", "Generated: 3 of 3 rules"))
    desk.panes.view("tests").add_text("x7")
    desk.wait(lambda: shares(desk) == ("Tests: 3 of 3 rules", "Generated: 3 of 3 rules"))
    desk.window.commands["run.restart"].trigger()
    desk.wait(lambda: shares(desk) == ("Tests: 3 of 3 rules", "Generated: 0 of 3 rules"))
    step(desk, "x")
    desk.wait(lambda: shares(desk) == ("Tests: 3 of 3 rules", "Generated: 2 of 3 rules"))


def test_the_outputs_of_many_seeds_count_as_generated(desk):
    open_with(desk, "gbnf", WHOLE)
    desk.window.commands["automaton.coverage"].trigger()
    desk.window.commands["view.tests"].trigger()
    desk.session.decoding.sample_many(20)
    desk.wait(lambda: shares(desk) == ("Tests: 0 of 3 rules", "Generated: 3 of 3 rules"))
    desk.window.commands["run.restart"].trigger()
    desk.wait(lambda: not desk.session.test_runs.is_waiting)
    assert shares(desk) == ("Tests: 0 of 3 rules", "Generated: 3 of 3 rules")


def test_the_user_chooses_which_of_them_is_marked(desk):
    open_with(desk, "regex", "ab|cd", "ab")
    pane, action = desk.panes.automaton, desk.window.commands["automaton.coverage_generated"]
    desk.qtbot.mouseClick(pane.footer.coverage_button, LEFT)
    fields = {"total": "4 edges", "texts": ui_text("automaton.coverage.fragment.texts", count=1)}
    desk.wait(lambda: pane.coverage_banner.text() == ui_text("automaton.coverage.tests", covered=2, **fields))
    of_tests = pane.scene.highlights.covered
    step(desk, "c")
    desk.qtbot.mouseClick(pane.coverage_choice.buttons[CoverageSource.GENERATED], LEFT)
    desk.wait(lambda: pane.coverage_banner.text() == ui_text("automaton.coverage.generated", covered=1, **fields))
    assert not pane.scene.highlights.covered & of_tests
    assert action.isChecked()
    desk.window.commands["view.tests"].trigger()
    choice, entries = desk.panes.view("tests").coverage.choice, desk.panes.view("tests").coverage.entries
    desk.wait(lambda: choice.buttons[CoverageSource.GENERATED].isChecked() and entries.count() == 3)
    desk.qtbot.mouseClick(choice.buttons[CoverageSource.TESTS], LEFT)
    desk.wait(lambda: entries.count() == 2 and pane.scene.highlights.covered == of_tests)
    assert not action.isChecked()
    assert pane.coverage_choice.buttons[CoverageSource.TESTS].isChecked()
    action.trigger()
    assert choice.buttons[CoverageSource.GENERATED].isChecked()
    saved = desk.panes.save()
    desk.window.commands["automaton.coverage_tests"].trigger()
    assert choice.buttons[CoverageSource.TESTS].isChecked()
    desk.panes.restore(saved)
    assert choice.buttons[CoverageSource.GENERATED].isChecked()
