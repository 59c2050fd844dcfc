"""Stories about outputs that went wrong, told through a whole window by keys and clicks."""

import json

import pytest
from catalogue_texts import shows
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QToolButton

from app.catalogue import ui_text
from app.dialogs.cause_dialog import CauseDialog
from app.dialogs.replay_dialog import ReplayDialog
from app.document import DocumentFile, GrammarPart, ModelPart
from app.panes.generation.chip import ChipKind
from app.panes.test_strings.model import TextsColumn
from app.workers.requests.decode import ReplayOutput
from engine.decoding.pipeline_settings import PipelineSettings, ZoneSettings
from engine.decoding.values import DEFAULT_MAX_TOKENS, Finish, StepOrigin
from engine.diagnosis.case import FailureCase, LogFinding
from engine.diagnosis.verdicts.verdict import VerdictOutcome
from engine.document.content import ExpectedText

SCHEMA = """{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
"required": ["name", "age"], "additionalProperties": false}"""
CONTROL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton


def open_dialog(desk) -> ReplayDialog:
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_K, CONTROL)
    return desk.window.findChild(ReplayDialog)


def paste(desk, dialog, text):
    QGuiApplication.clipboard().setText(text)
    dialog.text.selectAll()
    QTest.keyClick(dialog.text, Qt.Key.Key_V, CONTROL)
    desk.wait(lambda: dialog.found is not None and dialog.found.data == text.encode())


def type_over(edit, text):
    edit.selectAll()
    QTest.keyClicks(edit, text)


# --- the verdict -----------------------------------------------------------------------------------------------------


def test_a_failing_grammar_and_its_output_get_one_sentence(desk):
    desk.open(SCHEMA, notation="json_schema")
    dialog = open_dialog(desk)
    assert dialog.sentence == ui_text("dialogs.check.teaching")
    dialog.budget.setValue(20)
    paste(desk, dialog, '{"name": "Ada", "')
    assert dialog.cause.text() == "cut-off"
    assert ui_text("verdicts.cut_off.budget", where="token 17", needed=7, left=3) in dialog.details.lines
    assert any(shows(line, "verdicts.budget.late") for line in dialog.details.lines)
    dialog.finish.setCurrentIndex(1)
    desk.wait(lambda: dialog.question.finish == "length" and dialog.found is not None)
    QTest.mouseClick(dialog.cause, LEFT)
    meaning = dialog.findChild(CauseDialog)
    assert ui_text("failures.when.cut-off").split("`")[0] in meaning.text.toPlainText()
    QTest.keyClick(meaning, Qt.Key.Key_Escape)
    assert not meaning.isVisible()
    assert dialog.isVisible()


def test_a_valid_spelling_that_turnstile_never_writes_is_named(desk):
    desk.open(SCHEMA, notation="json_schema")
    dialog = open_dialog(desk)
    paste(desk, dialog, '{"name": "Ada", "age": 30.0}')
    assert dialog.cause.text() == "complete"
    assert any("30.0" in line and shows(line, "verdicts.unusual.number_as") for line in dialog.details.lines)


RESPONSE = {
    "choices": [{"message": {"role": "assistant", "content": '{"name": "Ada", "'}, "finish_reason": "length"}],
    "usage": {"completion_tokens": 17},
}


@pytest.mark.parametrize("way", ["paste", "file"])
def test_a_response_of_a_server_is_checked_by_its_answer_and_its_end(desk, tmp_path, way):
    desk.open(SCHEMA, notation="json_schema")
    dialog = open_dialog(desk)
    if way == "paste":
        QGuiApplication.clipboard().setText(json.dumps(RESPONSE))
        QTest.keyClick(dialog.text, Qt.Key.Key_V, CONTROL)
    else:
        (tmp_path / "response.json").write_text(json.dumps(RESPONSE), "utf-8")
        dialog.read_file(tmp_path / "response.json")
    desk.wait(lambda: dialog.found is not None and dialog.found.data == b'{"name": "Ada", "')
    assert dialog.text.toPlainText() == '{"name": "Ada", "'
    assert dialog.cause.text() == "cut-off"
    assert (dialog.finish.currentData(), dialog.budget.value()) == ("length", 17)


def test_a_response_that_is_pasted_into_an_output_stays_text(desk):
    desk.open(SCHEMA, notation="json_schema")
    dialog = open_dialog(desk)
    QTest.keyClicks(dialog.text, "x")
    QGuiApplication.clipboard().setText(json.dumps(RESPONSE))
    QTest.keyClick(dialog.text, Qt.Key.Key_V, CONTROL)
    assert dialog.text.toPlainText() == "x" + json.dumps(RESPONSE)


def awaits(dialog):
    """Whether nothing of an older verdict can be taken for one on what is shown."""
    buttons = (dialog.open_button, dialog.test_button, dialog.copy_button, dialog.place_button)
    return (
        dialog.sentence == "Checking…"
        and not any(button.isEnabled() for button in buttons)
        and not dialog.text.extraSelections()
        and not dialog.chips.isEnabled()
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda dialog, _desk: QTest.keyClicks(dialog.text, "x"),
        lambda dialog, _desk: dialog.budget.setValue(9),
        lambda dialog, _desk: dialog.finish.setCurrentIndex(1),
        lambda _dialog, desk: desk.panes.editor.edit.setPlainText("[a-c]+"),
    ],
    ids=["output", "budget", "end", "grammar"],
)
def test_an_edit_takes_the_old_verdict_back_at_once(desk, change):
    desk.open("[ab]+c")
    dialog = open_dialog(desk)
    paste(desk, dialog, "abd")
    assert dialog.cause.isVisible()
    assert dialog.text.extraSelections()
    change(dialog, desk)
    assert awaits(dialog)
    desk.wait(lambda: dialog.found is not None)
    assert dialog.chips.isEnabled()
    assert dialog.found.data == dialog.text.toPlainText().encode()


def test_an_output_that_is_deleted_leaves_no_verdict(desk):
    desk.open("[ab]+c")
    dialog = open_dialog(desk)
    paste(desk, dialog, "abd")
    dialog.text.selectAll()
    QTest.keyClick(dialog.text, Qt.Key.Key_Delete)
    assert dialog.sentence == ui_text("dialogs.check.teaching")
    assert not dialog.chips.chips


def test_other_zones_judge_the_output_again(desk):
    desk.open("[ab]+c")
    dialog = open_dialog(desk)
    paste(desk, dialog, "x>abc")
    assert dialog.cause.text() != "complete"
    desk.session.decoding.set_pipeline(PipelineSettings(zones=ZoneSettings(after=">")))
    desk.wait(lambda: dialog.found is not None and dialog.cause.text() == "complete")


def test_a_check_that_is_stopped_says_so(desk):
    desk.open("[ab]+c")
    dialog = open_dialog(desk)
    paste(desk, dialog, "abd")
    QTest.keyClicks(dialog.text, "x")
    dialog.check_again()
    desk.session.worker_pool.decode.cancel(lambda request: isinstance(request, ReplayOutput))
    desk.wait(lambda: dialog.sentence == ui_text("session.lost.check"))


def test_the_grammar_is_mended_under_the_dialog(desk):
    desk.open(SCHEMA, notation="json_schema")
    dialog = open_dialog(desk)
    paste(desk, dialog, '{"name": "Ada"}')
    assert "age" in dialog.sentence
    assert dialog.chips.isVisible()
    QTest.mouseClick(dialog.place_button, LEFT)
    assert desk.panes.editor.edit.textCursor().position() > 0
    desk.panes.editor.edit.setPlainText(SCHEMA.replace('["name", "age"]', '["name"]'))
    desk.wait(lambda: dialog.found is not None and dialog.cause.text() == "complete")
    desk.panes.editor.edit.setPlainText("{")
    desk.wait(lambda: dialog.sentence.startswith(ui_text("common.grammar.not_compiled")))
    assert not dialog.open_button.isEnabled()


def test_violations_are_shown_and_repaired_one_by_one(desk):
    schema = SCHEMA.replace('"integer"', '"integer", "minimum": 18')
    desk.open(schema, notation="json_schema")
    dialog = open_dialog(desk)
    paste(desk, dialog, '{"name": "😀", "age": 12,}')
    QTest.mouseClick(dialog.details.place_buttons[0], LEFT)
    assert dialog.text.textCursor().selectedText() == "12"
    editor = desk.panes.editor.edit
    desk.wait(lambda: editor.textCursor().selectedText() == "18")
    while dialog.details.repair_buttons:
        button = dialog.details.repair_buttons[0]
        QTest.mouseClick(button, LEFT)
        desk.wait(lambda: dialog.found is not None)
    assert dialog.text.toPlainText() == '{"name": "😀", "age": 18}'
    assert dialog.cause.text() == "complete"
    dialog.text.undo()
    desk.wait(lambda: dialog.found is not None and dialog.cause.text() != "complete")


@pytest.mark.parametrize(
    ("constraint", "value", "repaired"),
    [({"type": "integer", "maximum": 9}, 12, {"maximum": 12}), ({"enum": ["x", "y"]}, "z", {"enum": ["x", "y", "z"]})],
)
def test_a_repair_of_the_schema_is_one_undoable_edit(desk, constraint, value, repaired):
    schema = {"type": "object", "properties": {"a": constraint}, "required": ["a"], "additionalProperties": False}
    text = json.dumps(schema, indent=1)
    desk.open(text, notation="json_schema")
    dialog = open_dialog(desk)
    paste(desk, dialog, json.dumps({"a": value}))
    desk.wait(lambda: bool(dialog.details.schema_buttons))
    QTest.mouseClick(dialog.details.schema_buttons[0], LEFT)
    schema["properties"]["a"] = {**constraint, **repaired}
    assert json.loads(desk.document.content.grammar.text) == schema
    desk.wait(lambda: dialog.found is not None and dialog.cause.text() == "complete")
    desk.panes.editor.edit.undo()
    assert desk.document.content.grammar.text == text
    desk.wait(lambda: dialog.found is not None and dialog.cause.text() == "keyword-not-enforced")


def test_a_failed_request_is_checked_with_its_log(desk):
    desk.open('root ::= "yes" | "no"\n', notation="gbnf")
    line = "terminate: Unexpected empty grammar stack after accepting piece: maybe"
    case = FailureCase(
        output=b"maybe", server="llama.cpp", max_tokens=9, log=(LogFinding("llama-empty-stack", 1, line),)
    )
    desk.window.output_check.check_case(case)
    dialog = desk.window.findChild(ReplayDialog)
    desk.wait(lambda: dialog.found is not None)
    assert (dialog.text.toPlainText(), dialog.budget.value()) == ("maybe", 9)
    assert any("empty grammar stack" in text for text in dialog.details.lines)
    desk.window.output_check.check_case(FailureCase())  # without an output, the grammar alone is judged
    dialog = desk.window.output_check.open()
    assert dialog.text.toPlainText() == ""
    desk.panes.editor.edit.setPlainText('root ::= root "a" | "b"\n')
    desk.wait(lambda: dialog.cause.text() == "left-recursion" and dialog.cause.isVisible())
    assert dialog.place_button.isEnabled()


def test_an_output_is_opened_as_a_trace_and_stepped_through(desk):
    desk.open(SCHEMA, notation="json_schema")
    QTest.keyClick(desk.window, Qt.Key.Key_Return, CONTROL)
    desk.wait(lambda: desk.output == b"{")
    dialog = open_dialog(desk)
    paste(desk, dialog, '{"name": 3}')
    assert dialog.found.failure.place.token == 9
    QTest.mouseClick(dialog.open_button, LEFT)
    desk.wait(lambda: desk.output == b'{"name": ')
    trace = desk.session.decoding.view.trace
    assert {node.step.origin for node in trace.nodes} == {StepOrigin.REPLAYED}
    chips = desk.panes.generation.output.chips.chips
    assert chips[9].kind is ChipKind.ILLEGAL
    assert {chip.p for chip in chips} == {None}
    assert chips[10].ahead
    # The token that the grammar refuses is explained.
    view = desk.panes.generation.output.chips
    QTest.mouseClick(view.viewport(), LEFT, pos=view.rect_of(9).center().toPoint())
    desk.wait(desk.panes.generation.why.isVisible)
    assert desk.output == b'{"name": '
    # What was there before can still be read, and Back and Step work as ever.
    desk.wait(lambda: len(desk.document.content.archived) == 1)
    QTest.mouseClick(desk.window.toolbar.findChild(QToolButton, "button:run.back"), LEFT)
    desk.wait(lambda: desk.output == b'{"name":')
    QTest.mouseClick(desk.window.toolbar.step_button, LEFT)
    desk.wait(lambda: desk.output is not None and len(desk.output) > 8)


def test_an_output_longer_than_the_budget_raises_it_and_says_so(desk):
    desk.open("[ab]{40}")
    desk.session.decoding.set_max_tokens(5)
    dialog = open_dialog(desk)
    paste(desk, dialog, "ab" * 10)
    QTest.mouseClick(dialog.open_button, LEFT)
    desk.wait(lambda: desk.output == b"ab" * 10)
    assert desk.document.content.max_tokens == 10 + DEFAULT_MAX_TOKENS
    raised = ui_text("presenters.output_check.raised", before=5, count=10, budget=10 + DEFAULT_MAX_TOKENS)
    assert desk.panes.generation.banner.title_label.text() == raised
    desk.wait(lambda: desk.session.decoding.view.position.candidates != ())


def test_what_is_shown_in_the_grammar_is_not_behind_the_dialog(desk):
    desk.open(SCHEMA, notation="json_schema")
    dialog = open_dialog(desk)
    paste(desk, dialog, '{"name": 3}')
    edit = desk.panes.editor.edit
    dialog.move(edit.mapToGlobal(QPoint(10, 10)))
    QTest.mouseClick(dialog.place_button, LEFT)
    assert edit.textCursor().selectedText()
    assert not dialog.frameGeometry().intersects(QRect(edit.mapToGlobal(QPoint()), edit.size()))


def test_ids_are_pasted_too(desk):
    desk.open(SCHEMA, notation="json_schema")
    dialog = open_dialog(desk)
    QTest.mouseClick(dialog.as_ids, LEFT)
    ids = ", ".join(str(byte - 0x20) for byte in b'{"nam')
    type_over(dialog.text, f"[{ids}]")
    desk.wait(lambda: dialog.found is not None)
    assert dialog.found.outcome is VerdictOutcome.CUT_OFF
    type_over(dialog.text, "one, two")
    desk.wait(lambda: shows(dialog.sentence, "dialogs.check.bad_ids"))
    type_over(dialog.text, "12 5000")
    desk.wait(lambda: "5000" in dialog.sentence)


def test_an_output_is_kept_as_a_test(desk):
    desk.open(SCHEMA, notation="json_schema")
    dialog = open_dialog(desk)
    paste(desk, dialog, '{"name": 3}')
    QTest.mouseClick(dialog.test_button, LEFT)
    assert desk.document.content.test_strings == (ExpectedText('{"name": 3}'),)
    QTest.mouseClick(dialog.copy_button, LEFT)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith(dialog.sentence)
    assert dialog.cause.text() in copied


def test_the_dialog_needs_no_model(desk):
    desk.session.start()
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="[0-9]{4}")))
    desk.wait(lambda: desk.session.compiling.last_good is not None)
    dialog = open_dialog(desk)
    paste(desk, dialog, "20x")
    assert any(
        line.startswith(
            "Illegal " + ui_text("verdicts.fragment.where.position", line=1, column=3, byte=2) + ": “x” is not"
        )
        for line in dialog.details.lines
    )
    assert dialog.tokens_title.text() == ui_text("dialogs.check.no_model")
    assert not dialog.open_button.isEnabled()


def test_what_was_pasted_is_there_when_the_dialog_is_opened_again(desk):
    desk.open(SCHEMA, notation="json_schema")
    dialog = open_dialog(desk)
    assert open_dialog(desk) is dialog  # there is one, however often it is asked for
    dialog.budget.setValue(20)
    paste(desk, dialog, '{"name": "Ada", "')
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    desk.wait(lambda: desk.window.findChild(ReplayDialog) is None)
    again = open_dialog(desk)
    assert (again.text.toPlainText(), again.budget.value()) == ('{"name": "Ada", "', 20)
    desk.wait(lambda: again.found is not None and again.cause.text() == "cut-off")
    paste(desk, again, "{}")  # what is pasted next takes its place
    assert again.text.toPlainText() == "{}"
    QTest.keyClick(again, Qt.Key.Key_Escape)
    desk.open(SCHEMA, notation="json_schema")
    assert open_dialog(desk).text.toPlainText() == ""  # it belonged to the document


def test_an_output_of_another_vocabulary_is_judged_in_bytes(desk):
    """What the first model of a newcomer cannot spell has an ending all the same."""
    desk.session.start()
    schema = '{"type": "array", "items": {"type": "string"}}'
    desk.document.replace(DocumentFile(grammar=GrammarPart("json_schema", schema), model=ModelPart("letters")))
    desk.wait(lambda: desk.session.compiling.last_good is not None and desk.session.decoding.view.model is not None)
    dialog = open_dialog(desk)
    paste(desk, dialog, '["é", "b"')
    assert "byte 10" in dialog.found.sentence
    assert shows(dialog.found.sentence, "verdicts.fragment.needs.bytes", needed=1, shown=" (`]`)")
    assert dialog.tokens_title.text() == ui_text("dialogs.check.no_tokens", model="Letters")
    assert not dialog.chips.isVisible()


# --- test strings ----------------------------------------------------------------------------------------------------


def test_test_strings_are_judged_while_one_types_the_grammar(desk):
    desk.open("a+b")
    tests = desk.panes.view("tests")
    expected = ui_text("test_strings.verdict.fragment.expected", characters="“a” or “b”")
    assert desk.session.worker_pool.judge.pid is None
    QTest.keyClick(desk.window, Qt.Key.Key_T, CONTROL)
    line = tests.table.findChild(QLineEdit)
    QTest.keyClicks(line, "aac")
    QTest.keyClick(line, Qt.Key.Key_Return)
    desk.wait(lambda: tests.model.rowCount() == 1 and tests.model.passes(0) is False)
    assert desk.window.dock_layout.bottom.tabText(1) == ui_text("test_strings.summary.failing", count=1)
    assert tests.model.index(0, TextsColumn.VERDICT).data() == ui_text(
        "test_strings.verdict.illegal", byte=2, reason=expected
    )
    desk.panes.editor.edit.setPlainText("a+[bc]")
    desk.wait(lambda: tests.model.passes(0) is True)
    assert desk.window.dock_layout.bottom.tabText(1) == ui_text("test_strings.summary.passing", count=1)
    desk.panes.editor.edit.setPlainText("a+[bc")
    stale = ui_text("test_strings.summary.stale", reason=ui_text("session.stale.errors", count=1))
    desk.wait(lambda: tests.summary.text() == stale)
    tests.table.setFocus()
    desk.window.commands["edit.undo"].trigger()
    assert desk.document.content.test_strings == (ExpectedText(""),)
    assert desk.document.is_modified


def test_a_click_on_a_verdict_selects_the_rule(desk):
    desk.session.start()
    grammar = 'root ::= year "-01"\nyear ::= [0-9]+\n'
    strings = (ExpectedText("20x"),)
    desk.document.replace(
        DocumentFile(grammar=GrammarPart("gbnf", grammar), model=ModelPart("letters"), test_strings=strings)
    )
    tests = desk.panes.view("tests")
    desk.window.commands["view.tests"].trigger()
    desk.wait(lambda: tests.model.passes(0) is False)
    box = tests.table.visualRect(tests.model.index(0, TextsColumn.VERDICT))
    QTest.mouseClick(tests.table.viewport(), LEFT, pos=box.center())
    assert desk.panes.editor.edit.textCursor().selectedText() in ('"-01"', "-", "[0-9]", "-01")


def test_suggestions_and_coverage(desk):
    desk.session.start()
    grammar = 'root ::= a | b\na ::= "x" [0-9]+\nb ::= "y"\n'
    desk.document.replace(
        DocumentFile(
            grammar=GrammarPart("gbnf", grammar), model=ModelPart("letters"), test_strings=(ExpectedText("y"),)
        )
    )
    tests = desk.panes.view("tests")
    desk.wait(lambda: tests.model.rowCount() == 1 and tests.model.passes(0) is True)
    assert "Tests: 2 of 3 rules" in tests.summary.text()
    desk.window.commands["tests.rules"].trigger()
    desk.wait(lambda: bool(tests.suggestions.suggestions))
    QTest.mouseClick(tests.suggestions.add_all, LEFT)
    desk.wait(lambda: "Tests: 3 of 3 rules" in tests.summary.text())
    assert tests.coverage.entries.count() == 0
    desk.window.commands["tests.near"].trigger()
    desk.wait(lambda: any(not one.accepts for one in tests.suggestions.suggestions))


# --- why it stopped --------------------------------------------------------------------------------------------------


def test_the_headline_says_how_far_the_end_is_and_why_it_stopped(desk):
    desk.open("ab{0,2}cdx")
    headline = desk.panes.generation.headline
    desk.session.decoding.set_max_tokens(3)
    ending = ui_text("generation.headline.fragment.ending_exact", count=4)
    left = ui_text("generation.headline.fragment.left", ending=ending, left=3)
    desk.wait(lambda: left in headline.text)
    for _ in range(3):
        QTest.keyClick(desk.window, Qt.Key.Key_Return, CONTROL)
        count = desk.session.decoding.view.position.index
        desk.wait(lambda count=count: desk.session.decoding.view.position.index > count)
    desk.wait(lambda: "Cut off at token 3" in headline.text)
    assert "the budget had 0" in headline.text


def test_an_end_is_told_of_too(desk):
    desk.open("a")
    headline = desk.panes.generation.headline
    desk.window.commands["run.run"].trigger()
    desk.wait(lambda: shows(headline.text, "generation.headline.stopped.token", token="<end>"))


def test_a_full_context_is_told_as_such(real_desk):
    """Shakespeare reads 512 tokens, whatever the budget is."""
    desk = real_desk
    desk.session.start()
    grammar, model = GrammarPart("regex", "[a-z ]{900}"), ModelPart("shakespeare")
    prompt = "".join("to be or not to be "[index % 19] for index in range(508))
    desk.document.replace(DocumentFile(grammar=grammar, model=model, prompt=prompt, max_tokens=2_000))
    desk.wait(lambda: not desk.session.step_refusal)
    assert ui_text("common.fragment.context_left", count=5) in desk.window.status_line.texts[2]
    assert ui_text("common.fragment.context_left", count=5) in desk.panes.generation.headline.text
    desk.window.commands["run.run"].trigger()
    desk.wait(lambda: desk.session.decoding.view.position.finish is Finish.CONTEXT)
    full = ui_text("common.generation.context_of_full", tokens=512)
    said = ui_text("generation.headline.context.incomplete", context=full).replace("*", "")  # marks emphasis
    assert desk.panes.generation.headline.text.startswith(said)
    assert desk.window.status_line.texts[1:3] == ("", full)
    assert desk.session.step_refusal == ui_text("session.refusal.context", context=full)
    desk.wait(lambda: shows(desk.panes.generation.headline.text, "verdicts.cut_off.context"))
    assert desk.window.panes.view("timeline").facts.text().endswith(full)


# --- a grammar edited mid-trace --------------------------------------------------------------------------------------


def test_a_grammar_edited_mid_trace(desk):
    desk.open("aaabbb|aaac+")
    for expected in (b"a", b"aa", b"aaa"):
        QTest.keyClick(desk.window, Qt.Key.Key_Return, CONTROL)
        desk.wait(lambda expected=expected: (desk.output or b"").startswith(expected))
    desk.wait(lambda: desk.output is not None)
    before = desk.output
    taken = len(desk.session.decoding.view.trace.path)
    # A broken grammar disables Step and says why; Back and inspection work.
    desk.panes.editor.edit.setPlainText("aa(")
    desk.wait(lambda: shows(desk.session.step_refusal, "session.refusal.stale"))
    step = desk.window.commands["run.step"]
    assert not step.isEnabled()
    assert ui_text("session.stale.errors", count=1) in step.toolTip()
    assert shows(desk.panes.generation.headline.text, "session.refusal.stale")
    QTest.keyClick(desk.window, Qt.Key.Key_Return, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    desk.wait(lambda: len(desk.output or b"") < len(before))
    last = desk.session.decoding.view.trace.path[-1]
    desk.panes.generation.output.chips.chip_clicked.emit(last)
    desk.wait(lambda: desk.output == before)
    # A grammar that allows a part of it keeps that part; the rest stays, marked.
    desk.panes.editor.edit.setPlainText("aax+")
    desk.wait(lambda: desk.output == b"aa" and not desk.session.step_refusal)
    view = desk.session.decoding.view
    assert len(view.trace.path) == taken
    chips = desk.panes.generation.output.chips.chips
    kinds = [chip.kind for chip in chips]
    illegal = kinds.index(ChipKind.ILLEGAL)
    assert kinds.count(ChipKind.ILLEGAL) == 1
    assert all(chip.ahead for chip in chips[illegal:])
    assert view.note == ui_text("workers.decode.grammar_kept", kept=illegal, total=len(chips))
    # The tail is a branch: another step goes its own way, and the old one is still listed.
    QTest.keyClick(desk.window, Qt.Key.Key_Return, CONTROL)
    desk.wait(lambda: (desk.output or b"").startswith(b"aax"))
    assert len(desk.session.decoding.view.trace.nodes) == taken + 1
    # And a grammar that allows the old one again lets it be stood on again.
    desk.panes.editor.edit.setPlainText("aaabbb|aaac+|aax+")
    desk.wait(lambda: not desk.session.decoding.view.trace.illegal and not desk.session.step_refusal)
    desk.panes.generation.output.chips.chip_clicked.emit(last)
    desk.wait(lambda: desk.output == before)


def test_a_saved_trace_is_read_from_a_file(desk, tmp_path):
    desk.open("a+b")
    desk.window.commands["run.run"].trigger()
    desk.wait(lambda: desk.session.decoding.view.position.finish is not None)
    file = tmp_path / "saved.turnstile"
    desk.wait(lambda: desk.document.content.trace == desk.session.decoding.view.trace)
    desk.document.save(file)
    dialog = open_dialog(desk)
    dialog.read_file(file)
    desk.wait(lambda: dialog.found is not None)
    assert dialog.found.is_complete
    assert dialog.found.tokens[-1].name == "<end>"
    assert dialog.tokens_title.text().endswith("of Letters")
    (tmp_path / "plain.txt").write_text("aax\n")
    dialog.read_file(tmp_path / "plain.txt")
    desk.wait(lambda: any(line.startswith("Illegal at line 1, column 3") for line in dialog.details.lines))
    dialog.read_file(tmp_path / "missing.txt")
    assert dialog.sentence.startswith("missing.txt cannot be read")


def test_a_model_that_cannot_begin_the_text_is_told_to_be_the_wrong_one(desk):
    desk.session.start()
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="é"), model=ModelPart("letters")))
    desk.wait(lambda: "choose another model" in desk.session.step_refusal)
    assert "choose another model" in desk.window.commands["run.step"].toolTip()
