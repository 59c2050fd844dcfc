"""The comparison of the grammar with an earlier one, and of a conversion with its original, in a whole window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.dialogs.equivalence_dialog import EquivalenceDialog
from app.dialogs.notation_dialog import NotationDialog
from app.document import GrammarPart
from app.document.file import read_document
from app.workers.engines import EnginesHandler
from app.workers.loop import Job
from app.workers.requests.compile import CompileRequest
from app.workers.requests.equivalence import CompareGrammars
from engine.analysis.language_comparison import LanguageComparison, Relation
from engine.compile import CompileOptions
from engine.source import CancelToken

CONTROL, SHIFT, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier, Qt.MouseButton.LeftButton


def sentence_of(relation: str) -> str:
    return ui_text(f"dialogs.equivalence.edit.{relation}")


def opened(desk) -> EquivalenceDialog:
    desk.activate()
    desk.panes.editor.edit.setFocus()
    QTest.keyClick(desk.panes.editor.edit, Qt.Key.Key_A, CONTROL | SHIFT)
    dialog = desk.window.findChild(EquivalenceDialog)
    desk.wait(lambda: not dialog.is_running)
    return dialog


def type_at_end(desk, text: str) -> None:
    edit = desk.panes.editor.edit
    edit.setFocus()
    QTest.keyClick(edit, Qt.Key.Key_End, CONTROL)
    QTest.keyClicks(edit, text)


def test_an_edit_is_compared_with_the_grammar_as_it_was_opened_and_again_after_the_next_edit(desk):
    desk.open("ab|cd")
    dialog = opened(desk)
    assert dialog.verdict.text() == sentence_of("equal")
    assert not any(row.keep_button.isVisible() for row in dialog.rows)
    type_at_end(desk, "|ef")
    desk.wait(lambda: dialog.verdict.text() == sentence_of("narrower"))
    removed, added = dialog.rows
    assert added.text_label.text() == "ef"
    assert not removed.keep_button.isVisible()
    desk.qtbot.mouseClick(added.keep_button, LEFT)
    assert [one.text for one in desk.document.content.test_strings] == ["ef"]
    for _ in range(6):
        QTest.keyClick(desk.panes.editor.edit, Qt.Key.Key_Backspace)
    desk.wait(lambda: dialog.verdict.text() == sentence_of("wider"))
    assert removed.text_label.text() == "cd"


def test_saving_makes_the_grammar_the_one_to_compare_with(desk, tmp_path):
    desk.open("a")
    type_at_end(desk, "b")
    desk.document.save(tmp_path / "mine.turnstile")
    assert desk.document.saved_grammar.text == "ab"
    dialog = opened(desk)
    assert dialog.reference.currentText() == ui_text("dialogs.equivalence.saved", name="mine.turnstile")
    assert dialog.verdict.text() == sentence_of("equal")


def test_the_grammar_of_the_last_step_is_offered(desk):
    desk.open("[ab]+")
    type_at_end(desk, "c?")
    desk.wait(desk.is_ready)
    desk.session.decoding.step()
    desk.wait(lambda: len(desk.session.decoding.view.trace.path) == 1)
    type_at_end(desk, "d")
    dialog = opened(desk)
    assert dialog.verdict.text() == sentence_of("different")
    QTest.keyClick(dialog.reference, Qt.Key.Key_Down)
    assert dialog.reference.currentText() == ui_text("dialogs.equivalence.traced")
    desk.wait(lambda: not dialog.is_running)
    assert dialog.verdict.text() == sentence_of("different")
    assert dialog.rows[0].text_label.text() == "a"


def test_versions_are_kept_compared_restored_and_deleted(desk, tmp_path):
    desk.open("ab|cd")
    desk.activate()
    edit = desk.panes.editor.edit
    QTest.keyClick(edit, Qt.Key.Key_X, CONTROL | SHIFT)
    QTest.keyClick(edit, Qt.Key.Key_V)
    dialog = desk.window.findChild(EquivalenceDialog)
    QTest.keyClicks(dialog.name, "first")
    QTest.keyClick(dialog.name, Qt.Key.Key_Return)
    (version,) = desk.document.content.versions
    assert (version.name, version.grammar.text) == ("first", "ab|cd")
    assert dialog.reference.currentText().startswith("first")
    type_at_end(desk, "|ef")
    desk.wait(
        lambda: dialog.verdict.text() == sentence_of("narrower") and "+ ab|cd|ef" in dialog.difference.toPlainText()
    )
    assert dialog.rows[1].text_label.text() == "ef"
    # They are in the file.
    desk.document.save(tmp_path / "mine.turnstile")
    assert read_document(tmp_path / "mine.turnstile").versions == (version,)
    desk.qtbot.mouseClick(dialog.restore_button, LEFT)
    assert edit.text() == desk.document.content.grammar.text == "ab|cd"
    desk.window.commands["edit.undo"].trigger()
    assert edit.text() == "ab|cd|ef"
    desk.wait(lambda: not dialog.is_running)
    desk.qtbot.mouseClick(dialog.drop_button, LEFT)
    assert desk.document.content.versions == ()
    assert dialog.reference.count() == 1
    assert not dialog.drop_button.isEnabled()


def test_a_grammar_with_an_error_is_named(desk):
    desk.open("a")
    type_at_end(desk, ")")  # an opening bracket would be closed
    dialog = opened(desk)
    assert dialog.verdict.text()
    assert dialog.verdict.text() not in (sentence_of("equal"), sentence_of("unknown"))
    QTest.keyClick(desk.panes.editor.edit, Qt.Key.Key_Backspace)
    desk.wait(lambda: dialog.verdict.text() == sentence_of("equal"))


def test_a_long_comparison_is_cancelled_by_its_button(desk):
    desk.open(r"(a|b)*a(a|b){14}")
    type_at_end(desk, "|(a|b)*b(a|b){14}")
    desk.activate()
    QTest.keyClick(desk.panes.editor.edit, Qt.Key.Key_A, CONTROL | SHIFT)
    dialog = desk.window.findChild(EquivalenceDialog)
    assert dialog.is_running
    desk.qtbot.mouseClick(dialog.run_button, LEFT)
    assert not dialog.is_running
    assert dialog.status.text() == ui_text("dialogs.equivalence.stopped")
    desk.wait(lambda: not desk.session.worker_pool.engines.pending)


@pytest.mark.parametrize(
    ("notation", "text", "to", "relation", "lost"),
    [
        ("regex", "a{2,3}", "GBNF", Relation.EQUAL, None),
        ("regex", "ab|c", ui_text("common.notation.json_schema"), Relation.EQUAL, None),
        ("json_schema", '{"enum": [1, "a"]}', "GBNF", Relation.EQUAL, None),
        ("json_schema", '{"type": "number"}', "GBNF", Relation.WIDER, b"0e0"),
    ],
)
def test_a_conversion_says_whether_its_texts_are_the_same(desk, notation, text, to, relation, lost):
    desk.open(text, notation=notation)
    dialog = desk.window.notation_menu.ask(to)
    answers = []
    dialog.comparison_wanted.connect(answers.append)
    desk.wait(lambda: bool(answers) and dialog.comparison_label.text() != ui_text("dialogs.equivalence.comparing"))
    found = compared(answers[0].before, answers[0].after)
    assert found.relation is relation
    assert found.only_first == lost
    assert isinstance(dialog, NotationDialog)
    assert ("0e0" in dialog.comparison_label.text()) == (lost is not None)
    dialog.reject()


def compared(before: CompileRequest, after: CompileRequest) -> LanguageComparison:
    request = CompareGrammars(before, after)
    answer = EnginesHandler().begin(request, Job(CancelToken(), lambda _value: None))
    assert answer.request == request
    assert answer.comparison is not None
    return answer.comparison


def test_options_of_the_compile_are_compared_too():
    schema = '{"enum": [[1]]}'
    before = CompileRequest(0, "json_schema", schema, GrammarPart("json_schema", schema).options)
    after = CompileRequest(1, "json_schema", schema, CompileOptions(whitespace="compact"))
    assert compared(before, after).only_first == b"[ 1]"
