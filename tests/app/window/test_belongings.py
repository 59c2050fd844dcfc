"""What belongs to an example goes with its text, and comes back with it."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.catalogue import ui_text
from app.document import ModelPart
from app.document.gallery import examples
from engine.document.content import ExpectedText

SCHEMA = '{"type": "integer"}'
OWN = ExpectedText("7")
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def example(desk):
    """The first example, with a model that needs no time."""
    document = msgspec.structs.replace(examples()[0].document(), model=ModelPart("letters"))
    desk.session.start()
    desk.document.replace(document)
    desk.wait(lambda: desk.session.compiling.last_good is not None)
    desk.panes.editor.edit.setFocus()
    return document


def press(desk, key: Qt.Key, modifiers: Qt.KeyboardModifier = CONTROL, times: int = 1) -> None:
    for _ in range(times):
        desk.qtbot.keyClick(desk.panes.editor.edit, key, modifiers)


def paste_over(desk, text: str) -> None:
    QApplication.clipboard().setText(text)
    press(desk, Qt.Key.Key_A)
    press(desk, Qt.Key.Key_V)


def told(desk) -> tuple[str, tuple[ExpectedText, ...]]:
    return desk.document.title, desk.document.content.test_strings


def test_a_pasted_grammar_has_neither_the_title_nor_the_tests_of_the_example(desk, example):
    desk.window.commands["view.tests"].trigger()
    paste_over(desk, SCHEMA)
    assert told(desk) == ("Untitled", ())
    assert desk.window.windowTitle() == "Untitled[*] – Turnstile"
    assert desk.panes.view("tests").is_empty
    assert desk.panes.editor.notation_hint.text() == (
        ui_text("window.notation.read_as_no_tests", notation=ui_text("common.notation.json_schema"))
    )
    desk.panes.view("tests").add_text(OWN.text)
    press(desk, Qt.Key.Key_Z)
    assert told(desk) == ("Untitled", (OWN,)), "the first step takes back how the text is read"
    press(desk, Qt.Key.Key_Z)
    assert desk.document.content.grammar == example.grammar
    assert told(desk) == (example.title, (*example.test_strings, OWN)), "what was added meanwhile stays"
    assert desk.panes.view("tests").model.rowCount() == len(example.test_strings) + 1
    desk.wait(lambda: desk.panes.view("tests").model.passes(0) is True)
    press(desk, Qt.Key.Key_Z, CONTROL | SHIFT, times=2)
    assert desk.document.content.grammar.notation == "json_schema"
    assert told(desk) == ("Untitled", (OWN,))


def test_a_grammar_typed_over_the_example_is_another_one_too(desk, example):
    press(desk, Qt.Key.Key_A)
    desk.qtbot.keyClicks(desk.panes.editor.edit, "ab")
    assert told(desk) == ("Untitled", ())
    press(desk, Qt.Key.Key_Z)
    assert (desk.document.content.grammar, told(desk)) == (example.grammar, (example.title, example.test_strings))
    press(desk, Qt.Key.Key_Z, CONTROL | SHIFT)
    assert (desk.panes.editor.text(), told(desk)) == ("ab", ("Untitled", ()))


def test_an_emptied_text_waits_for_what_comes(desk, example):
    press(desk, Qt.Key.Key_A)
    press(desk, Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier)
    assert told(desk) == (example.title, example.test_strings)
    paste_over(desk, "a+")
    assert told(desk) == ("Untitled", ())
    press(desk, Qt.Key.Key_Z, times=2)
    assert (desk.document.content.grammar, told(desk)) == (example.grammar, (example.title, example.test_strings))


def test_an_edit_of_the_example_and_a_document_of_its_own_keep_what_they_have(desk, example, tmp_path):
    desk.qtbot.keyClicks(desk.panes.editor.edit, "x")
    assert told(desk) == (example.title, example.test_strings)
    desk.document.save(tmp_path / "mine.turnstile")
    paste_over(desk, "a+")
    assert told(desk) == ("mine", example.test_strings)


def test_of_the_tests_only_the_examples_go(desk, example):
    desk.document.set_expected_texts((*example.test_strings[1:], OWN))
    paste_over(desk, SCHEMA)
    assert told(desk) == ("Untitled", (OWN,))
    press(desk, Qt.Key.Key_Z, times=2)
    assert told(desk) == (example.title, (*example.test_strings[1:], OWN))
