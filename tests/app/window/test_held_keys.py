"""A key that is held: what it asks for does not outlive it, and nothing that is on or off flickers."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.commands import declared_commands
from app.workers.requests.decode import Back, GoTo, Restart, Take

HELD = 40  # repetitions, faster than anything answers
CONTROL, SHIFT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)


@pytest.fixture
def stepped(desk):
    """A window behind twelve steps."""
    desk.open("[ab]{60}c")
    for count in range(12):
        desk.session.decoding.step()
        desk.wait(lambda count=count: at(desk) == count + 1)
    return desk


def hold(widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    """Press a key, have it repeat without an answer in between, and let it go."""
    for count in range(HELD):
        QTest.simulateEvent(widget, True, key.value, modifiers, "", count > 0, -1)
    QTest.simulateEvent(widget, False, key.value, modifiers, "", False, -1)


def at(desk) -> int:
    return desk.session.decoding.view.position.index


def settle(desk) -> None:
    desk.wait(
        lambda: (
            not any(isinstance(one, Back | GoTo | Take | Restart) for one in desk.session.worker_pool.decode.pending)
        )
    )


def test_back_does_not_run_on_after_the_key(stepped):
    hold(stepped.panes.editor.edit, Qt.Key.Key_Return, CONTROL | SHIFT)
    assert [type(one) for one in stepped.session.worker_pool.decode.pending if isinstance(one, Back)] == [Back]
    stepped.wait(lambda: at(stepped) == 10)  # the first, and the one that waited
    settle(stepped)
    assert at(stepped) == 10


def test_step_neither(stepped):
    hold(stepped.panes.editor.edit, Qt.Key.Key_F11)
    stepped.wait(lambda: at(stepped) == 13)
    stepped.wait(lambda: not stepped.session.worker_pool.decode.pending)
    assert at(stepped) == 13


def test_along_the_chips_one_step_an_answer(stepped):
    chips = stepped.panes.generation.output.chips
    chips.setFocus()
    hold(chips, Qt.Key.Key_Left)
    settle(stepped)
    assert at(stepped) == 11
    hold(chips, Qt.Key.Key_Right)
    settle(stepped)
    assert at(stepped) == 12


def test_of_quick_clicks_the_last_one_counts(stepped):
    nodes = stepped.session.decoding.view.trace.path
    for node in nodes[:5]:
        stepped.session.decoding.go_to(node)
    stepped.wait(lambda: at(stepped) == 5)
    settle(stepped)
    assert at(stepped) == 5


def test_what_comes_after_a_move_that_waits_takes_its_place(stepped):
    decoding = stepped.session.decoding
    decoding.back()
    decoding.back()
    decoding.restart()
    stepped.wait(lambda: at(stepped) == 0)
    settle(stepped)
    assert at(stepped) == 0
    assert decoding.view.error == ""


def test_a_candidate_is_taken_once_however_often_it_is_clicked_meanwhile(stepped):
    letter_a = ord("a") - 0x20
    for _ in range(3):
        stepped.session.decoding.choose(letter_a)
    stepped.wait(lambda: at(stepped) == 13)
    settle(stepped)
    assert at(stepped) == 13


def test_what_is_on_or_off_changes_once(stepped):
    is_open = stepped.window.dock_layout.bottom_is_open
    hold(stepped.panes.editor.edit, Qt.Key.Key_J, CONTROL)
    assert stepped.window.dock_layout.bottom_is_open is not is_open
    hold(stepped.panes.editor.edit, Qt.Key.Key_F9)
    stepped.wait(lambda: len(stepped.session.debugging.breakpoints) == 1)
    assert not any(one.checked for one in declared_commands() if one.repeats)
