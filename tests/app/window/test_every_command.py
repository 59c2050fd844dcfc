"""Every command can be triggered at any time: in an empty window, with a grammar and a model, and after a step."""

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog, QMessageBox

from app.commands import declared_commands

LAST = "file.quit"
AFTER_A_STEP = ("run.back", "run.restart", "run.over", "run.force")


@pytest.fixture
def answered(monkeypatch):
    """Cancel every dialog that would wait for the user, and discard changes; return what was asked for."""
    asked = []

    def answer(name, result):
        return lambda *_args, **_options: asked.append(name) or result

    for name in ("getOpenFileName", "getSaveFileName"):
        monkeypatch.setattr(QFileDialog, name, answer(name, ("", "")))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", answer("getOpenFileNames", ([], "")))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", answer("getExistingDirectory", ""))
    monkeypatch.setattr(QInputDialog, "getText", answer("getText", ("", False)))
    monkeypatch.setattr(QMessageBox, "question", answer("question", QMessageBox.StandardButton.Discard))
    monkeypatch.setattr(QDesktopServices, "openUrl", answer("openUrl", True))
    return asked


def trigger_all(desk, menu: str = "") -> set[str]:
    """Trigger every command, each in the state that the others left, and return the ids of those that were enabled.

    Args:
        desk: the window.
        menu: the menu whose commands come first.
    """
    enabled = set()
    order = sorted(declared_commands(), key=lambda command: (command.id == LAST, command.menu != menu))
    for command in order:
        action = desk.window.commands[command.id]
        if action.isEnabled():
            enabled.add(command.id)
        action.trigger()
        QApplication.processEvents()
        for dialog in desk.window.findChildren(QDialog):
            if dialog.isVisible():
                dialog.reject()
        if popup := QApplication.activePopupWidget():
            popup.close()
        assert QApplication.activeModalWidget() is None, command.id
    return enabled


@pytest.mark.parametrize("state", ["empty", "ready", "after a step"])
def test_every_command_can_be_triggered_at_any_time(desk, answered, state):
    if state != "empty":
        desk.open("a+b")
    if state == "after a step":
        desk.window.commands["run.step"].trigger()
        desk.wait(lambda: all(desk.window.commands[name].isEnabled() for name in AFTER_A_STEP))
    enabled = trigger_all(desk, "run" if state == "after a step" else "")
    assert {"file.new", "edit.palette", "help.keys", LAST} <= enabled
    assert "getOpenFileName" in answered
    assert not desk.window.isVisible()
