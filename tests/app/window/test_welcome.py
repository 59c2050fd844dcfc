"""The welcome page: it greets once, offers ways to begin an empty document, and leaves by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

import app.window.main_window  # noqa: F401 - declares all commands
from app.commands import Commands
from app.document import Autosave, Document, DocumentFile, GrammarPart
from app.settings import RECENT_FILES, Settings
from app.window.welcome import Welcome

GRAMMAR = DocumentFile(grammar=GrammarPart(text="a+"))


@pytest.fixture
def window(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def document(window, tmp_path):
    document = Document(Autosave(tmp_path / "autosave"), window)
    yield document
    document.autosave.close()


@pytest.fixture
def commands(window):
    return Commands(window)


@pytest.fixture
def welcome(window, document, commands, tmp_path):
    welcome = Welcome(QLabel("generation"), commands, document, Settings(tmp_path / "preferences.json"))
    welcome.setParent(window)
    window.show()
    return welcome


def test_an_empty_document_offers_ways_to_begin_until_there_is_a_grammar(welcome, document):
    document.replace(GRAMMAR)
    assert not welcome.is_shown
    document.replace(DocumentFile())
    assert welcome.is_shown
    assert not welcome.page.leave_button.isVisibleTo(welcome)
    document.set_text(" \n")
    assert welcome.is_shown
    document.set_text("a")
    assert not welcome.is_shown


def test_a_text_that_is_deleted_keeps_the_generation(welcome, document):
    document.replace(GRAMMAR)
    document.set_text("")
    assert welcome.is_empty
    assert not welcome.is_shown


@pytest.mark.parametrize("command_id", ["run.step", "run.run", "view.generation"])
def test_it_leaves_with_the_first_step_and_greets_once(welcome, document, commands, tmp_path, command_id):
    document.replace(GRAMMAR)
    welcome.greet()
    assert welcome.is_shown
    assert not Settings(tmp_path / "preferences.json").preferences.welcomed
    commands[command_id].trigger()
    assert not welcome.is_shown
    assert Settings(tmp_path / "preferences.json").preferences.welcomed


def test_it_continues_with_the_example_by_mouse_and_by_key(welcome, document, qtbot):
    document.replace(GRAMMAR)
    welcome.greet()
    qtbot.mouseClick(welcome.page.leave_button, Qt.MouseButton.LeftButton)
    assert not welcome.is_shown
    welcome.greet()
    welcome.page.leave_button.setFocus()
    qtbot.keyClick(welcome.page.leave_button, Qt.Key.Key_Space)
    assert not welcome.is_shown


def test_choices_run_their_commands(welcome, commands, qtbot):
    run = []
    for command_id in welcome.page.choices:
        commands.connect_to(command_id, lambda name=command_id: run.append(name))
    welcome.greet()
    for button in welcome.page.choices.values():
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert run == ["file.intake", "file.gallery", "file.open", "help.tour"]


def test_recent_files_are_offered_the_latest_first(window, document, commands, tmp_path, qtbot):
    settings = Settings(tmp_path / "preferences.json")
    for number in range(RECENT_FILES):
        settings.remember_file(tmp_path / f"{number}.gbnf")
    welcome = Welcome(QWidget(), commands, document, settings)
    qtbot.addWidget(welcome)
    chosen = []
    welcome.page.recent_chosen.connect(chosen.append)
    welcome.greet()
    welcome.page.recent[0].click()
    assert chosen == [tmp_path / f"{RECENT_FILES - 1}.gbnf"]
    assert [button.toolTip() for button in welcome.page.recent] == settings.preferences.recent[:5]
    assert Path(welcome.page.recent[0].toolTip()).is_absolute()
