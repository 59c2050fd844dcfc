"""Undo over edits and readings, held against a list of snapshots."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QMimeData, Qt
from pytestqt.qtbot import QtBot

from app.panes.editor.code_edit import CodeEdit
from engine.notations.editing import Edit
from engine.source import Span


@pytest.fixture
def edit(qtbot: QtBot) -> CodeEdit:
    edit = CodeEdit()
    qtbot.addWidget(edit)
    edit.show()
    edit.set_text("ab\ncd", "first")
    return edit


class Snapshots:
    """The stupid twin: all states, and which is the present one."""

    def __init__(self, text: str, reading: str) -> None:
        self.states, self.at = [(text, reading)], 0

    @property
    def now(self) -> tuple[str, str]:
        return self.states[self.at]

    def put(self, text: str, reading: str) -> None:
        self.states = [*self.states[: self.at + 1], (text, reading)]
        self.at += 1

    def move(self, by: int) -> None:
        self.at = min(max(self.at + by, 0), len(self.states) - 1)


@pytest.mark.parametrize("seed", range(12))
def test_any_order_of_edits_readings_and_undo(edit: CodeEdit, seed: int) -> None:
    chance = random.Random(seed)
    twin = Snapshots("ab\ncd", "first")
    seen = {"text": "ab\ncd", "reading": "first"}
    edit.edited.connect(lambda text: seen.update(text=text))
    edit.switched.connect(lambda text, reading: seen.update(text=text, reading=reading))
    for number in range(150):
        text, reading = twin.now
        match chance.choice(["edit", "delete", "read", "convert", "undo", "undo", "redo", "colour"]):
            case "edit":
                at = chance.randint(0, len(text))
                edit.apply([Edit(Span(at, at), word := chance.choice(["x", "yé", "\n", "😀"]))])
                twin.put(text[:at] + word + text[at:], reading)
            case "delete" if text:
                at = chance.randrange(len(text))
                edit.apply([Edit(Span(at, at + 1), "")])
                twin.put(text[:at] + text[at + 1 :], reading)
            case "read":
                edit.switch(f"reading {number}")
                twin.put(text, f"reading {number}")
            case "convert":
                edit.switch(f"reading {number}", f"text {number}\n")
                twin.put(f"text {number}\n", f"reading {number}")
            case "undo":
                edit.undo()
                twin.move(-1)
            case "redo":
                edit.redo()
                twin.move(1)
            case _:
                edit.recolour()
        assert (edit.text(), edit.notation_choice) == twin.now
        assert (seen["text"], seen["reading"]) == twin.now, "and whoever listens was told"


def test_what_is_typed_is_not_joined_to_a_reading(edit: CodeEdit, qtbot: QtBot) -> None:
    qtbot.keyClicks(edit, "12")
    edit.switch("second")
    qtbot.keyClicks(edit, "34")
    edit.switch("third", "whole")
    qtbot.keyClicks(edit, "56")
    texts = []
    while edit.document().isUndoAvailable():
        qtbot.keyClick(edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        texts.append((edit.text(), edit.notation_choice))
    assert texts == [
        ("whole", "third"),
        ("1234ab\ncd", "second"),
        ("12ab\ncd", "second"),
        ("12ab\ncd", "first"),
        ("ab\ncd", "first"),
    ]


def test_the_menu_of_the_text_undoes_readings_too(edit: CodeEdit, qtbot: QtBot) -> None:
    from PySide6.QtGui import QContextMenuEvent
    from PySide6.QtWidgets import QApplication, QMenu

    edit.switch("second")
    place = edit.cursorRect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, edit.mapToGlobal(place))
    QApplication.sendEvent(edit.viewport(), event)
    (menu,) = (menu for menu in edit.findChildren(QMenu) if menu.isVisible())
    with qtbot.waitSignal(edit.switched) as told:
        next(action for action in menu.actions() if action.objectName() == "edit-undo").trigger()
    assert told.args == ["ab\ncd", "first"]
    menu.close()


def test_another_document_has_no_history(edit: CodeEdit) -> None:
    edit.switch("second", "text")
    edit.set_text("other", "third")
    edit.undo()
    assert (edit.text(), edit.notation_choice) == ("other", "third")


LONG = '{\n  "a": 😀,\n' + "  1,\n" * 3_500 + "}"


def shown(edit: CodeEdit) -> str:
    return edit.document().toPlainText()


def test_a_long_text_is_shown_from_its_beginning_and_completed_between_events(edit: CodeEdit, qtbot: QtBot) -> None:
    edit.set_text(LONG, "second")
    assert edit.text() == LONG
    assert LONG.startswith(shown(edit))
    assert edit.blockCount() < 4_000
    qtbot.waitUntil(lambda: shown(edit) == LONG)
    assert not edit.document().isUndoAvailable()
    edit.set_text(LONG)
    edit.setFocus()
    qtbot.keyClick(edit, "x")  # as if everything were there
    assert edit.text() == shown(edit) == "x" + LONG
    edit.undo()
    assert edit.text() == shown(edit) == LONG
    edit.set_text(LONG)
    edit.set_text("short")
    assert edit.text() == shown(edit) == "short"


def test_a_long_change_is_one_step_that_is_reported_once_it_is_complete(edit: CodeEdit, qtbot: QtBot) -> None:
    reported: list[str] = []
    edit.edited.connect(reported.append)
    pasted = QMimeData()
    pasted.setText(LONG)
    edit.selectAll()
    edit.insertFromMimeData(pasted)
    assert not reported
    qtbot.waitUntil(lambda: reported == [LONG])
    assert edit.caret == len(LONG)
    edit.undo()
    qtbot.waitUntil(lambda: reported == [LONG, "ab\ncd"])
    edit.redo()
    qtbot.waitUntil(lambda: reported == [LONG, "ab\ncd", LONG])
    assert edit.text() == shown(edit) == LONG


def test_undo_and_redo_of_long_changes_in_any_order(edit: CodeEdit) -> None:
    chance, twin = random.Random(3), Snapshots("ab\ncd", "first")
    for number in range(14):
        text, reading = twin.now
        match chance.choice(["paste", "lines", "convert", "type", "undo", "undo", "redo"]):
            case "paste":
                pasted = QMimeData()
                pasted.setText(LONG[: chance.randint(len(LONG) - 1_000, len(LONG))])
                at = chance.randint(0, len(text))
                edit.select(Span(at, len(text)))
                edit.insertFromMimeData(pasted)
                twin.put(text[:at] + pasted.text(), reading)
            case "lines" if "\n" in text:
                ends = [at for at, char in enumerate(text) if char == "\n"][:600]
                edit.apply([Edit(Span(at, at + 1), "\n ") for at in ends])
                twin.put(text.replace("\n", "\n ", 600), reading)
            case "convert":
                edit.switch(f"reading {number}", LONG)
                twin.put(LONG, f"reading {number}")
            case "type":
                edit.apply([Edit(Span(0, 0), "x")])
                twin.put("x" + text, reading)
            case "undo":
                edit.undo()
                twin.move(-1)
            case "redo":
                edit.redo()
                twin.move(1)
        assert (edit.text(), shown(edit), edit.notation_choice) == (twin.now[0], *twin.now)
