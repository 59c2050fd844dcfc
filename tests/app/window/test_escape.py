"""Esc closes what is open where the focus is, though the window has a command with that key."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication


@pytest.fixture
def cancelled(desk):
    """What the window's own Esc did."""
    desk.open("(January|February|March|April) [0-9]+")
    desk.activate()
    seen = []
    desk.window.commands["run.cancel"].triggered.connect(lambda: seen.append("cancelled"))
    return seen


def press_escape(desk) -> None:
    desk.qtbot.keyClick(QApplication.focusWidget() or desk.window, Qt.Key.Key_Escape)


@pytest.mark.parametrize("place", ["field", "next_button", "drawing"])
def test_the_find_bar_of_the_automaton(desk, cancelled, place):
    pane = desk.panes.automaton
    desk.wait(lambda: pane.view.isVisible() and desk.session.decoding.view.position is not None)
    desk.window.commands["automaton.find"].trigger()
    desk.wait(pane.find_bar.field.hasFocus)
    desk.qtbot.keyClicks(pane.find_bar.field, "1")
    widget = pane.view if place == "drawing" else getattr(pane.find_bar, place)
    widget.setFocus()
    press_escape(desk)
    assert pane.find_bar.isHidden()
    assert not cancelled
    assert pane.view.hasFocus()
    press_escape(desk)
    assert cancelled == ["cancelled"]


@pytest.mark.parametrize("place", ["field", "replacement", "case_button", "edit"])
def test_the_find_bar_of_the_editor(desk, cancelled, place):
    pane = desk.panes.editor
    desk.window.commands["edit.replace"].trigger()
    desk.wait(pane.find_bar.field.hasFocus)
    widget = pane.edit if place == "edit" else getattr(pane.find_bar if place == "field" else pane.find_replace, place)
    widget.setFocus()
    press_escape(desk)
    assert pane.find_bar.isHidden()
    assert not cancelled
    assert pane.edit.hasFocus()


def test_the_panel_that_says_why_a_token_is_masked(desk, cancelled):
    pane = desk.panes.generation
    pane.candidates.table.setFocus()
    desk.qtbot.keyClick(pane.candidates.table, Qt.Key.Key_Down)
    desk.window.commands["run.why"].trigger()
    desk.wait(pane.why.isVisible)
    press_escape(desk)
    assert pane.why.isHidden()
    assert not cancelled
