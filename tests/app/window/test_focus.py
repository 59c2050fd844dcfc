"""Whatever puts another document into the window leaves the keyboard focus in its text."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QMenu

from app.dialogs.notation_dialog import ConversionChoice
from app.document import DocumentFile, GrammarPart, ModelPart, file
from app.document.autosave import Saved


@pytest.fixture
def stepping(desk):
    """A window with a grammar, and the keyboard focus on Step."""
    desk.open("ab*")
    desk.activate()
    desk.window.toolbar.step_button.setFocus()
    desk.wait(desk.window.toolbar.step_button.hasFocus)
    return desk


def press(desk, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key where the focus is, as the keyboard does."""
    desk.qtbot.keyClick(QApplication.focusWidget() or desk.window, key, modifiers)


def assert_text_has_focus(desk) -> None:
    desk.activate()  # as a window manager does once a dialog is closed
    desk.wait(desk.panes.editor.edit.hasFocus)


def assert_typing_is_taken(desk) -> None:
    """Type a character where the focus is; it arrives in the grammar, also after the automaton has come."""
    edit = desk.panes.editor.edit
    assert_text_has_focus(desk)
    revision = desk.document.revision
    desk.wait(lambda: (good := desk.session.compiling.last_good) is not None and good.request.revision == revision)
    desk.wait(lambda: not desk.session.step_refusal)
    before = edit.text()
    press(desk, Qt.Key.Key_Z)
    assert edit.text() == f"z{before}"


def test_new(stepping):
    press(stepping, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert stepping.panes.editor.text() == ""
    assert_typing_is_taken(stepping)


def test_new_where_the_grammar_is_behind_a_tab(stepping):
    stepping.window.resize(1280, 720)
    stepping.window.commands["view.automaton"].trigger()
    stepping.wait(lambda: not stepping.panes.editor.isVisible())
    press(stepping, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert_typing_is_taken(stepping)


def test_new_while_a_greeting_waits_for_the_model(desk):
    """The first window gives the focus to Step as soon as that is possible, unless something was opened meanwhile."""
    desk.window.begin()
    desk.activate()
    desk.window.files.new()
    assert_typing_is_taken(desk)


def test_an_opened_file(stepping, tmp_path, monkeypatch):
    path = tmp_path / "other.turnstile"
    file.write_document(path, DocumentFile(grammar=GrammarPart("regex", "ba*"), model=ModelPart("letters")))
    monkeypatch.setattr("app.window.files.QFileDialog.getOpenFileName", lambda *_: (str(path), ""))
    press(stepping, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    assert stepping.panes.editor.text() == "ba*"
    assert_typing_is_taken(stepping)


def test_a_recent_file(stepping, tmp_path):
    path = tmp_path / "other.turnstile"
    file.write_document(path, DocumentFile(grammar=GrammarPart("regex", "ba*"), model=ModelPart("letters")))
    stepping.settings.remember_file(path)
    menu = QMenu()
    stepping.window.files.fill_recent(menu)
    menu.actions()[0].trigger()
    assert stepping.panes.editor.text() == "ba*"
    assert_typing_is_taken(stepping)


def test_a_dropped_file(stepping, tmp_path):
    path = tmp_path / "other.gbnf"
    path.write_text('root ::= "b"')
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, button, nothing = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(stepping.window, QDragEnterEvent(QPoint(5, 5), copy, data, button, nothing))
    QApplication.sendEvent(stepping.window, QDropEvent(QPointF(5, 5), copy, data, button, nothing))
    assert stepping.panes.editor.text() == 'root ::= "b"'
    assert_text_has_focus(stepping)


def test_an_example(stepping):
    gallery = stepping.window.files.open_gallery()
    stepping.wait(gallery.field.hasFocus)
    stepping.qtbot.keyClicks(gallery.field, "crontab")
    press(stepping, Qt.Key.Key_Return)
    stepping.wait(lambda: stepping.document.title == "A line of a crontab")
    assert_text_has_focus(stepping)


@pytest.mark.parametrize("way", list(ConversionChoice))
def test_another_notation(stepping, way, tmp_path):
    edit = stepping.panes.editor.edit
    edit.setFocus()
    stepping.qtbot.keyClicks(edit, "a")
    stepping.document.save(tmp_path / "kept.turnstile")  # nobody is asked about unsaved work
    stepping.window.toolbar.step_button.setFocus()
    dialog = stepping.window.notation_menu.ask("GBNF")
    dialog.choice_buttons[way].click()
    stepping.wait(dialog.accept_button.isEnabled)
    dialog.accept_button.click()
    stepping.wait(lambda: stepping.document.content.grammar.notation == "gbnf")
    assert_text_has_focus(stepping)


def test_recovered_work(desk, tmp_path):
    content = DocumentFile(grammar=GrammarPart("regex", "ab*"), model=ModelPart("letters"))
    (tmp_path / "autosave").mkdir(exist_ok=True)
    (tmp_path / "autosave" / "left.autosave").write_bytes(msgspec.json.encode(Saved("", 0.0, content)))
    desk.window.begin()
    desk.activate()
    assert_typing_is_taken(desk)
