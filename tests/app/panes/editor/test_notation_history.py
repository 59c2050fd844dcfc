"""Undo over edits and readings, held against a list of snapshots."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import Qt
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
