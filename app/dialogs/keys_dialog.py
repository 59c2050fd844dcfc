"""The list of all commands with their keys, filtered by typing.

Rejected: a message box with a table, which is as high as its table: with a hundred commands, three screens.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import Commands, menu_title, native
from app.widgets.filter_dialog import FilterTableDialog

_COLUMNS = ("menu", "command", "keys", "tip")


class KeysDialog(FilterTableDialog):
    """Lists commands; the text field has the focus, and the arrow keys move in the table."""

    def __init__(self, commands: Commands, parent: QWidget | None = None) -> None:
        super().__init__(
            ui_text("commands.help.keys.title"),
            ui_text("dialogs.keys.hint"),
            ui_text("dialogs.keys.table"),
            [ui_text(f"dialogs.keys.column.{name}") for name in _COLUMNS],
            parent,
        )
        self.show_rows(
            [
                (
                    menu_title(command.menu),
                    command.title.rstrip("…"),
                    " · ".join(native(keys) for keys in action.shortcuts()),
                    command.tip,
                )
                for command, action in commands
            ]
        )
