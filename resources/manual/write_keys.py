"""The manual's page of keys, from the declarations of the commands."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

import app.window.main_window  # noqa: F401 - commands are declared when the window's modules are imported
from app.catalogue import ui_text
from app.commands import DECLARED, Command, declared_commands, menu_title

_COLUMNS: Final = ("command", "keys", "tip")
_OPENING: Final = """# Keys

All commands of the window, by menu, with their keys. The command palette (`{palette}`) finds each by its name.
`Ctrl+M, F` means: press Ctrl+M, then F. On macOS, Ctrl is ⌘ and Meta is ⌃.

Written by `python -m resources.manual keys` from the declarations of the commands; not edited by hand.
"""


def keys_page() -> str:
    """Return the page of keys, in Markdown."""
    opening = _OPENING.format(palette=DECLARED["edit.palette"].keys[0])
    menus = itertools.groupby(declared_commands(), key=lambda command: command.menu)
    return "\n".join([opening, *(_section(menu, commands) for menu, commands in menus)])


def _section(menu: str, commands: Iterable[Command]) -> str:
    heads = [ui_text(f"dialogs.keys.column.{name}") for name in _COLUMNS]
    rows = [(one.title.rstrip("…"), " · ".join(f"`{keys}`" for keys in one.keys), one.tip) for one in commands]
    table = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([f"## {menu_title(menu)}", "", f"| {' | '.join(heads)} |", "|---|---|---|", *table, ""])
