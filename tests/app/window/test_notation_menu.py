"""Choosing another notation in a whole window."""

from __future__ import annotations

import pytest
from catalogue_texts import shows
from lockstep import excess
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from app.catalogue import ui_text
from app.dialogs.notation_dialog import ConversionChoice, NotationDialog
from app.document import DocumentFile, GrammarPart, ModelPart
from app.workers.requests.judge import ConvertRequest
from engine.compile import CompileOptions, compile_grammar
from engine.source.catalogue import capitalised


def open_grammar(desk, notation: str, text: str) -> None:
    desk.session.start()
    desk.document.replace(DocumentFile(grammar=GrammarPart(notation, text), model=ModelPart("letters")))
    desk.wait(lambda: desk.session.compiling.last_good is not None and not desk.session.step_refusal)


def choose(desk, name: str) -> None:
    menu = desk.window.toolbar.notation_menu
    next(action for action in menu.actions() if action.text() == name).trigger()


def write(desk, text: str) -> None:
    """Put a text in the place of the one in the editor, as a user would."""
    edit = desk.panes.editor.edit
    QApplication.clipboard().setText(text)
    edit.setFocus()
    desk.qtbot.keyClick(edit, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    desk.qtbot.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert desk.document.content.grammar.text == text


def dialog_of(desk) -> NotationDialog:
    return desk.window.findChild(NotationDialog)


def answer(desk, text: str) -> None:
    """Choose what becomes of the text, and do it once it can be done."""
    dialog = dialog_of(desk)
    if text == "Cancel":
        desk.qtbot.mouseClick(dialog.cancel_button, Qt.MouseButton.LeftButton)
        return
    way = next(button for button in dialog.choice_buttons.values() if button.text() == text)
    desk.qtbot.mouseClick(way, Qt.MouseButton.LeftButton, pos=QPoint(8, way.height() // 2))
    assert way.isChecked()
    desk.wait(lambda: not dialog.is_waiting)
    desk.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)


def test_an_untouched_example_gives_way_to_one_of_the_other_notation(desk):
    desk.open("a+b")
    choose(desk, "GBNF")
    assert desk.document.content.grammar.notation == "gbnf"
    assert "::=" in desk.panes.editor.text()
    assert desk.window.toolbar.notation_button.text() == "GBNF ▾"
    # It says so, and what was there comes back.
    hint = desk.panes.editor.notation_hint
    assert hint.isVisible()
    desk.qtbot.mouseClick(hint.button, Qt.MouseButton.LeftButton)
    assert desk.panes.editor.text() == "a+b"
    assert not hint.isVisible()


def test_an_empty_text_is_only_read_another_way(desk):
    desk.open("")
    choose(desk, "JSON Schema")
    assert desk.document.content.grammar == GrammarPart("json_schema", "")


def test_edited_text_can_be_read_anew(desk):
    desk.open("a+b")
    write(desk, 'root ::= "ab"')
    desk.qtbot.mouseClick(hint_of(desk).button, Qt.MouseButton.LeftButton)  # it stays a regex
    choose(desk, "GBNF")
    assert desk.document.content.grammar.notation == "regex"
    answer(desk, "Reinterpret")
    assert desk.document.content.grammar.notation == "gbnf"
    desk.wait(lambda: desk.session.compiling.last_good.request.notation == "gbnf")
    assert desk.session.compiling.last_good.dfa.accepts(b"ab")


def test_edited_text_can_be_left_or_not_touched_at_all(desk):
    desk.open("a+b")
    write(desk, "a+c")
    choose(desk, "JSON Schema")
    answer(desk, "Cancel")
    assert desk.document.content.grammar == GrammarPart("regex", "a+c")
    checked = [action.text() for action in desk.window.toolbar.notation_menu.actions() if action.isChecked()]
    assert checked == [ui_text("common.notation.regex_python")]
    choose(desk, "JSON Schema")
    answer(desk, "New document")
    assert desk.document.content.grammar.notation == "json_schema"
    assert not desk.document.is_modified
    assert desk.document.documents[0].content.grammar.text == "a+c"


def test_the_dialect_changes_at_once(desk):
    desk.open("a+b")
    write(desk, "a+c")
    choose(desk, "Regex · ECMAScript")
    assert desk.document.content.grammar == GrammarPart("regex", "a+c", "ecma")


def test_white_space_belongs_to_a_schema(desk):
    desk.open("a+b")
    menu = desk.window.notation_menu.whitespace_menu
    assert not menu.isEnabled()
    open_grammar(desk, "json_schema", '{"enum": [[1, 2]]}')
    assert menu.isEnabled()
    next(action for action in menu.actions() if action.text() == "Compact").trigger()
    assert desk.document.content.grammar.whitespace == "compact"
    desk.wait(lambda: desk.session.compiling.last_good.request.options.whitespace == "compact")


@pytest.mark.parametrize(
    ("menu", "option", "value"), [("escapes_menu", "escapes", "any"), ("additional_menu", "additional", "closed")]
)
def test_other_options_of_a_schema_are_chosen_and_undone(desk, menu, option, value):
    desk.open("a+b")
    menu = getattr(desk.window.notation_menu, menu)
    assert not menu.isEnabled()
    open_grammar(desk, "json_schema", '{"properties": {"a": {}}}')
    assert menu.isEnabled()
    before = getattr(desk.document.content.grammar, option)
    assert [action.data() for action in menu.actions() if action.isChecked()] == [before]
    next(action for action in menu.actions() if action.data() == value).trigger()
    assert getattr(desk.document.content.grammar, option) == value
    desk.wait(lambda: getattr(desk.session.compiling.last_good.request.options, option) == value)
    undo(desk)
    assert getattr(desk.document.content.grammar, option) == before
    assert [action.data() for action in menu.actions() if action.isChecked()] == [before]


def undo(desk, times: int = 1, *, again: bool = False) -> None:
    """Press the keys."""
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    for _ in range(times):
        desk.qtbot.keyClick(desk.panes.editor.edit, Qt.Key.Key_Z, control | shift if again else control)


CONVERSIONS = [
    ("regex", "[a-z]+(x|y)", "GBNF"),
    ("gbnf", 'root ::= item ("," item)*\nitem ::= [a-z]{1,2}', "Regex · ECMAScript"),
    ("json_schema", '{"enum": ["ab", 12]}', "GBNF"),
]


@pytest.mark.parametrize(("notation", "text", "target"), CONVERSIONS)
def test_a_conversion_is_seen_before_it_is_made_and_is_one_step_of_undo(desk, notation, text, target):
    open_grammar(desk, notation, text)
    before = desk.document.content.grammar
    desk.window.commands["edit.convert"].trigger()
    dialog = dialog_of(desk)
    dialog.target.setCurrentText(target)
    desk.wait(lambda: not dialog.is_waiting)
    seen = dialog.text.text()
    assert seen
    assert shows(dialog.result_label.text(), "export.checked.walks")
    assert desk.document.content.grammar == before, "nothing is done yet"
    answer(desk, "Convert")
    converted = desk.document.content.grammar
    assert (converted.text, desk.panes.editor.text()) == (seen, seen)
    assert desk.window.toolbar.notation_button.text() == f"{target} ▾"
    again = compile_grammar(converted.notation, converted.text, CompileOptions(dialect=converted.dialect))
    assert excess(again, compile_grammar(notation, text)) == ""
    desk.wait(lambda: desk.session.compiling.last_good.request.notation == converted.notation)
    undo(desk)
    assert desk.document.content.grammar == before
    assert desk.panes.editor.edit.notation == notation
    undo(desk, again=True)
    assert desk.document.content.grammar == converted
    desk.wait(lambda: desk.session.compiling.last_good.request.text == converted.text)


def test_an_open_schema_is_converted_to_a_regex_once_it_is_closed(desk):
    open_grammar(desk, "json_schema", '{"type": "object", "properties": {"a": {"enum": [1]}}, "required": ["a"]}')
    before = desk.document.content.grammar
    dialog = desk.window.notation_menu.ask(ui_text("common.notation.regex_python"))
    desk.wait(lambda: not dialog.is_waiting)
    assert shows(dialog.message.text().lower(), "export.refusal.fragment.open_objects")
    assert not dialog.accept_button.isEnabled()
    desk.qtbot.mouseClick(dialog.close_objects, Qt.MouseButton.LeftButton)
    desk.wait(lambda: not dialog.is_waiting)
    assert dialog.close_objects.isHidden()
    answer(desk, "Convert")
    converted = desk.document.content.grammar
    assert compile_grammar("regex", converted.text).fullmatch('{"a":1}')
    assert not compile_grammar("regex", converted.text).fullmatch('{"a":1,"b":1}')
    assert converted.additional == "open"
    undo(desk)
    assert desk.document.content.grammar == before


def test_what_a_conversion_loses_is_told_and_its_options_change_it(desk):
    open_grammar(desk, "json_schema", '{"title": "T", "items": {"$ref": "#"}, "type": "array", "maxItems": 1}')
    dialog = desk.window.notation_menu.ask(ui_text("common.notation.regex_python"))
    desk.wait(lambda: not dialog.is_waiting)
    assert ui_text("workers.convert.cut", reason="refers to itself") in dialog.message.text()
    assert dialog.message.isVisible()
    assert not dialog.accept_button.isEnabled()
    desk.qtbot.keyClick(dialog.accept_button, Qt.Key.Key_Return)
    assert dialog.isVisible(), "what cannot be is not done by Return either"
    dialog.options.recursion.setFocus()
    desk.qtbot.keyClick(dialog.options.recursion, Qt.Key.Key_Up)
    desk.qtbot.keyClick(dialog.options.recursion, Qt.Key.Key_Up)
    desk.wait(dialog.accept_button.isEnabled)
    assert shows(dialog.result_label.text(), "export.note.fragment.cut", depth=2)
    assert (
        "• " + capitalised(ui_text("export.note.fragment.keywords_lost", keywords="title."))
        in dialog.result_label.text()
    )
    desk.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert desk.document.content.grammar.notation == "json_schema"
    assert not desk.document.is_modified


@pytest.mark.parametrize(
    ("notation", "text", "target"),
    [
        ("json_schema", '{"type": "null"}', "GBNF"),
        ("regex", "a", "GBNF"),
        ("gbnf", 'root ::= "a"', ui_text("common.notation.regex_python")),
    ],
)
def test_gbnf_is_what_is_offered_first(desk, notation, text, target):
    open_grammar(desk, notation, text)
    dialog = desk.window.notation_menu.ask()
    assert dialog.target.currentText() == target
    desk.qtbot.keyClick(dialog, Qt.Key.Key_Escape)


def test_a_broken_text_is_not_converted_but_may_be_what_it_reads_as(desk):
    desk.open("a+b")
    write(desk, 'root ::= "a" [')
    desk.qtbot.mouseClick(hint_of(desk).button, Qt.MouseButton.LeftButton)  # it stays a regex
    dialog = desk.window.notation_menu.ask("GBNF")
    desk.wait(lambda: not dialog.is_waiting)
    assert shows(dialog.message.text(), "workers.convert.error")
    assert not dialog.accept_button.isEnabled()
    dialog.choice_buttons[ConversionChoice.REINTERPRET].click()
    desk.wait(lambda: not dialog.is_waiting)
    assert ui_text("dialogs.notation.errors", count=1, notation="GBNF") in dialog.result_label.text()
    assert dialog.text.text() == 'root ::= "a" ['
    dialog.reject()


def test_a_dialog_that_is_closed_waits_for_nothing(desk):
    desk.open("a+b")
    dialog = desk.window.notation_menu.ask("GBNF")
    assert dialog.is_waiting
    desk.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not any(isinstance(request, ConvertRequest) for request in desk.session.worker_pool.judge.pending)
    desk.wait(lambda: not desk.session.worker_pool.judge.pending)
    assert desk.document.content.grammar.notation == "regex"


def test_undo_goes_through_edits_and_readings_in_their_order(desk):
    desk.open("a+b")
    edit = desk.panes.editor.edit
    edit.setFocus()
    desk.qtbot.keyClick(edit, Qt.Key.Key_End)
    desk.qtbot.keyClicks(edit, "c")
    choose(desk, "Regex · ECMAScript")
    desk.qtbot.keyClicks(edit, "d")
    grammar = lambda: desk.document.content.grammar  # noqa: E731 - what changes is asked for again and again
    states = [GrammarPart("regex", "a+b"), GrammarPart("regex", "a+bc"), GrammarPart("regex", "a+bc", "ecma")]
    states.append(GrammarPart("regex", "a+bcd", "ecma"))
    assert grammar() == states[3]
    for state in reversed(states[:3]):
        undo(desk)
        assert grammar() == state
        assert desk.panes.editor.text() == state.text
    undo(desk)
    assert grammar() == states[0], "there is nothing before"
    for state in states[1:]:
        undo(desk, again=True)
        assert grammar() == state
    undo(desk, 2)
    desk.qtbot.keyClicks(edit, "e")
    assert grammar() == GrammarPart("regex", "a+bce"), "an edit forgets what was to be done again, the reading too"
    undo(desk, again=True)
    assert grammar() == GrammarPart("regex", "a+bce")
    undo(desk)
    assert grammar() == states[1]
    desk.wait(lambda: desk.session.compiling.last_good.request.text == "a+bc")


def test_white_space_is_undone_too_and_another_document_has_no_history(desk):
    open_grammar(desk, "json_schema", '{"enum": [[1, 2]]}')
    desk.window.notation_menu.choose_whitespace("compact")
    desk.window.notation_menu.choose_whitespace("any")
    undo(desk)
    assert desk.document.content.grammar.whitespace == "compact"
    menu = desk.window.notation_menu.whitespace_menu
    assert [action.data() for action in menu.actions() if action.isChecked()] == ["compact"]
    undo(desk)
    assert desk.document.content.grammar.whitespace == "flexible"
    open_grammar(desk, "gbnf", 'root ::= "a"')
    undo(desk, 3)
    assert desk.document.content.grammar == GrammarPart("gbnf", 'root ::= "a"')


@pytest.mark.parametrize(
    ("notation", "text", "steps"),
    [("gbnf", 'root ::= "(" root ")" | "a"', 1), ("json_schema", '{"enum": ["ab", "ac"]}', 3)],
)
def test_what_has_no_finite_automaton_is_drawn_around_the_live_state(desk, notation, text, steps):
    live = []
    desk.session.live_changed.connect(lambda states, _spans: live.append(states))
    open_grammar(desk, notation, text)
    assert desk.session.compiling.last_good.part_note.endswith(ui_text("session.excerpt.part", size=""))
    for count in range(1, steps + 1):
        desk.session.decoding.step()
        desk.wait(lambda count=count: len(desk.session.decoding.view.trace.path) == count)
    desk.wait(lambda: desk.session.compiling.last_good.output == desk.output)
    assert live[-1] == {desk.session.compiling.last_good.dfa.start}


def test_an_export_of_what_has_neither_an_automaton_nor_rules_says_why(desk):
    open_grammar(desk, "json_schema", '{"uniqueItems": true}')
    dialog = desk.window.exporting.open()
    desk.wait(lambda: shows(_texts(dialog), "diagnostics.export-not-context-free.message", where="/uniqueItems"))
    dialog.reject()


@pytest.mark.parametrize(
    ("notation", "text"), [("gbnf", 'root ::= "(" root ")" | "a"'), ("json_schema", '{"items": {"$ref": "#"}}')]
)
def test_rules_are_exported_as_an_automaton_each(desk, notation, text):
    open_grammar(desk, notation, text)
    dialog = desk.window.exporting.open()
    desk.wait(lambda: "turnstile-rule-automata" in _texts(dialog))
    dialog.reject()


def _texts(dialog) -> str:
    from PySide6.QtWidgets import QLabel

    return dialog.preview.text.toPlainText() + " ".join(label.text() for label in dialog.findChildren(QLabel))


def hint_of(desk):
    return desk.panes.editor.notation_hint


def is_compiled_as(desk, notation: str) -> bool:
    good = desk.session.compiling.last_good
    return good is not None and good.request.notation == notation and good.request.revision == desk.document.revision


@pytest.mark.parametrize(
    ("text", "notation", "name"),
    [
        ('{\n  "type": "integer"\n}\n', "json_schema", ui_text("common.notation.json_schema")),
        ('root ::= "a" | "b"\n', "gbnf", "GBNF"),
    ],
)
def test_a_grammar_pasted_over_everything_is_read_as_what_it_looks_like(desk, text, notation, name):
    desk.open("a+b")
    write(desk, text)
    desk.wait(lambda: is_compiled_as(desk, notation))
    assert desk.window.toolbar.notation_button.text() == f"{name} ▾"
    assert hint_of(desk).isVisible()
    assert hint_of(desk).text() == ui_text("window.notation.read_as", notation=name)
    desk.qtbot.mouseClick(hint_of(desk).button, Qt.MouseButton.LeftButton)
    assert desk.document.content.grammar == GrammarPart("regex", text)
    assert not hint_of(desk).isVisible()  # whoever chose is not asked again
    edit = desk.panes.editor.edit
    for left in (GrammarPart(notation, text), GrammarPart("regex", text), GrammarPart("regex", "a+b")):
        desk.qtbot.keyClick(edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert desk.document.content.grammar == left


def test_a_regex_pasted_over_a_schema_is_one(desk):
    open_grammar(desk, "json_schema", '{"type": "null"}')
    write(desk, r"\d{4}-[a-z]+")
    assert desk.document.content.grammar.notation == "regex"
    desk.wait(lambda: is_compiled_as(desk, "regex"))
    desk.qtbot.keyClicks(desk.panes.editor.edit, "x")  # going on is as good as a yes
    assert not hint_of(desk).isVisible()


def test_of_a_typed_text_it_is_only_said_what_it_looks_like(desk):
    desk.open("")
    edit = desk.panes.editor.edit
    edit.setFocus()
    desk.qtbot.keyClicks(edit, 'root ::= "a"')
    assert desk.document.content.grammar == GrammarPart("regex", 'root ::= "a"')
    assert hint_of(desk).text() == ui_text(
        "window.notation.looks_like", likely="GBNF", notation=ui_text("common.notation.regex_python")
    )
    desk.qtbot.mouseClick(hint_of(desk).close_button, Qt.MouseButton.LeftButton)
    desk.qtbot.keyClicks(edit, ' "b"')
    assert not hint_of(desk).isVisible()
    desk.document.replace(DocumentFile(grammar=GrammarPart("regex", '{"type": "null"}'), model=ModelPart("letters")))
    assert hint_of(desk).isVisible()
    desk.qtbot.mouseClick(hint_of(desk).button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: is_compiled_as(desk, "json_schema"))


def test_a_piece_that_is_pasted_into_a_text_changes_no_reading(desk):
    desk.open("a+b")
    QApplication.clipboard().setText('{"a": 1}')
    edit = desk.panes.editor.edit
    edit.setFocus()
    desk.qtbot.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert desk.document.content.grammar.notation == "regex"


def test_a_schema_is_taken_out_of_the_request_it_was_pasted_with(desk):
    desk.open("a+b")
    schema = '{"type": "null"}\n'
    wrapped = '{"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "null"}}}'
    QApplication.clipboard().setText(wrapped)
    edit = desk.panes.editor.edit
    edit.setFocus()
    desk.qtbot.keyClick(edit, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    desk.qtbot.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert desk.document.content.grammar == GrammarPart("json_schema", schema)
    assert desk.panes.editor.text() == schema
    assert hint_of(desk).text() == ui_text(
        "window.notation.taken_out", wrapper="json_schema.schema", notation=ui_text("common.notation.json_schema")
    )
    desk.qtbot.mouseClick(hint_of(desk).button, Qt.MouseButton.LeftButton)
    assert desk.document.content.grammar == GrammarPart("regex", wrapped)
    desk.qtbot.keyClick(edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert desk.document.content.grammar == GrammarPart("regex", "a+b")
