"""The keys of commands as text for tool tips and menus, in the platform's spelling."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from app.actions.declarations import COMMANDS, LOCAL_KEYS
from app.theme.plain_text import plain_text

_KEYS = {**{command.id: command.keys[0] for command in COMMANDS if command.keys}, **LOCAL_KEYS}
KEYS_OF = "keysOf"  # a property of widgets whose tip names a key: the id of the command


def native(keys: QKeySequence | str) -> str:
    """Return keys in the platform's spelling, such as ⌘N on macOS for `Ctrl+N`."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def keys_of(command_id: str) -> str:
    """Return the first keys of a command, or of a local key, in the platform's spelling."""
    return native(_KEYS[command_id])


def with_keys(tip: str, command_id: str) -> str:
    """Return a tip followed by the keys of a command."""
    return f"{tip} ({keys_of(command_id)})"


def set_tip(widget: QWidget, tip: str, command_id: str) -> None:
    """Give a widget a tool tip that names the keys of a command."""
    widget.setToolTip(plain_text(with_keys(tip, command_id)))
    widget.setProperty(KEYS_OF, command_id)
