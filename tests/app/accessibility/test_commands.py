"""Everything can be done in every way: by button or menu, by key, and by the palette."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest

from app.commands import MENUS, declared_commands, menu_title
from app.dialogs.palette import CommandPalette


def test_every_command_has_a_key_and_no_key_has_two():
    keys = [key for command in declared_commands() for key in command.keys]
    assert [command.id for command in declared_commands() if not command.keys] == []
    assert len(keys) == len(set(keys))


def test_no_key_is_what_a_keyboard_writes_with_altgr_and_none_hides_another():
    """Ctrl+Alt is AltGr on Windows; a key that two others begin with would wait for the second one for ever."""
    keys = [key for command in declared_commands() for key in command.keys]
    assert [key for key in keys if "Ctrl+Alt" in key or "Alt+Ctrl" in key] == []
    leaders = {key.partition(", ")[0] for key in keys if ", " in key}
    assert leaders == {"Ctrl+L", "Ctrl+M", "Ctrl+R", "Ctrl+Shift+X"}
    assert leaders & set(keys) == set()


def test_two_keys_one_after_the_other_work_while_writing(desk):
    edit = desk.window.panes.editor.edit
    edit.setFocus()
    before = edit.toPlainText()
    for key, is_shown in (("L", True), ("M", False)):
        minimap = desk.window.commands["automaton.minimap"].isChecked()
        desk.key(Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
        desk.key(Qt.Key[f"Key_{key}"])
        assert (desk.window.commands["automaton.minimap"].isChecked() == minimap) == is_shown
    assert edit.toPlainText() == before


def entries(menu):
    """Return the commands and separators of a menu, those of its submenus in their place."""
    found = [entry for one in menu.actions() for entry in ([one] if one.menu() is None else one.menu().actions())]
    return [one for one in found if one.isSeparator() or one.objectName()]


def test_no_menu_is_higher_than_a_small_screen(desk):
    for action in desk.window.menuBar().actions():
        assert action.menu().sizeHint().height() < 720, action.text()


def test_every_command_stands_in_its_menu_and_does_something(desk):
    bar = desk.window.menuBar()
    menus = {action.text().replace("&", ""): action.menu() for action in bar.actions()}
    assert list(menus) == [menu_title(menu) for menu in MENUS]
    for command, action in desk.window.commands:
        assert action in entries(menus[menu_title(command.menu)]), command.id
        assert action.toolTip(), command.id
        # Its menu is a receiver, too. 2 is what Qt's SIGNAL() writes before a signal.
        assert action.receivers("2triggered(bool)") > 1, command.id


def test_the_menus_are_the_recorded_ones(desk):
    """Keys and places are learned: a change of `menus.txt` is a decision."""
    shown = []
    for bar_action in desk.window.menuBar().actions():
        shown += [*("-" if one.isSeparator() else one.objectName() for one in entries(bar_action.menu())), ""]
    recorded = (Path(__file__).parent / "menus.txt").read_text("utf-8").split("\n")
    assert shown == [line.partition(" | ")[0] for line in recorded]
    keys = {line.partition(" | ")[0]: tuple(line.split(" | ")[1:]) for line in recorded if " | " in line}
    assert {command.id: command.keys for command in declared_commands()} == keys


def repeated(menu) -> list[str]:
    """Entries of a menu, and of its submenus, that share a letter; one of a menu may have none."""
    shown = [action for action in menu.actions() if not action.isSeparator()]
    letters = [QKeySequence.mnemonic(action.text()).toString() for action in shown]
    found = [action.text() for action, letter in zip(shown, letters, strict=True) if letters.count(letter) > 1]
    return found + [text for action in shown if action.menu() is not None for text in repeated(action.menu())]


def test_every_entry_of_a_menu_has_a_letter_of_its_own(desk):
    bar = desk.window.menuBar()
    assert repeated(bar) == []
    context, toolbar = desk.window.panes.editor.more_button.menu(), desk.window.toolbar
    context.aboutToShow.emit()
    assert repeated(context) == []
    toolbar.more_button.menu().aboutToShow.emit()
    assert repeated(toolbar.more_button.menu()) == []
    bar.actions()[1].menu().aboutToShow.emit()  # the letters of commands in several menus
    assert repeated(bar.actions()[1].menu()) == []


def test_every_disabled_command_says_why(desk):
    disabled = [(command, action) for command, action in desk.window.commands if not action.isEnabled()]
    assert disabled
    for command, action in disabled:
        assert action.toolTip(), command.id
        assert not action.toolTip().startswith(command.tip), command.id


def test_every_menu_opens_by_its_letter(desk):
    letters = [menu_title(menu)[0] for menu in MENUS]
    assert len(letters) == len(set(letters))


def test_the_palette_finds_and_runs(desk):
    for typed in ("check an output", "stpovr", "dark theme"):
        palette = CommandPalette(desk.window.commands, desk.window)
        palette.show()
        QTest.keyClicks(palette.field, typed)
        assert palette.list.count() >= 1, typed
        action = palette.list.item(0).data(Qt.ItemDataRole.UserRole)
        assert isinstance(action, QAction)
        palette.reject()


@pytest.mark.parametrize(("typed", "command_id"), [("autocomplete", "edit.complete"), ("gallery", "file.gallery")])
def test_the_palette_finds_a_command_by_a_synonym(desk, typed, command_id):
    palette = CommandPalette(desk.window.commands, desk.window)
    palette.apply_filter(typed)
    assert palette.list.item(0).data(Qt.ItemDataRole.UserRole).objectName() == command_id
    palette.reject()


def test_the_palette_lists_all_that_is_enabled(desk):
    palette = CommandPalette(desk.window.commands, desk.window)
    listed = {palette.list.item(row).data(Qt.ItemDataRole.UserRole) for row in range(palette.list.count())}
    enabled = {
        action for command, action in desk.window.commands if action.isEnabled() and command.id != "edit.palette"
    }
    assert {action.objectName() for action in listed} == {action.objectName() for action in enabled}
    palette.reject()
