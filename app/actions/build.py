"""Builds Qt actions from the command table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.actions.declarations import COMMANDS, MENUS, Command
from app.actions.keys import with_keys
from app.theme.icons import icon

_COMMANDS = {command.id: command for command in COMMANDS}


class Actions(QObject):
    """One `QAction` for each command."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._actions = {command.id: self._make(command, window) for command in COMMANDS}
        window.addActions(list(self._actions.values()))

    def __getitem__(self, command_id: str) -> QAction:
        return self._actions[command_id]

    def __iter__(self) -> Iterator[tuple[Command, QAction]]:
        return ((command, self._actions[command.id]) for command in COMMANDS)

    def tip(self, command_id: str) -> str:
        """Return the description of a command, with its keys."""
        command = _COMMANDS[command_id]
        return with_keys(command.tip, command_id) if command.keys else command.tip

    def connect_to(self, slots: dict[str, Callable[[], object]]) -> None:
        """Connect commands to their handlers."""
        for command_id, slot in slots.items():
            self._actions[command_id].triggered.connect(lambda _checked=False, slot=slot: slot())

    def fill(self, bar: QMenuBar) -> dict[str, QMenu]:
        """Create the menus; return them by name."""
        menus = {name: bar.addMenu(f"&{name}") for name in MENUS}
        for command, action in self:
            if command.separated:
                menus[command.menu].addSeparator()
            menus[command.menu].addAction(action)
        return menus

    def _make(self, command: Command, window: QWidget) -> QAction:
        action = QAction(command.text, window)
        action.setObjectName(command.id)
        if command.icon:
            action.setIcon(icon(command.icon))
        action.setCheckable(command.checkable)
        action.setAutoRepeat(command.repeats)
        action.setShortcuts([QKeySequence(keys) for keys in command.keys])
        action.setToolTip(self.tip(command.id))
        action.setStatusTip("")
        if command.id == "file.quit":
            action.setMenuRole(QAction.MenuRole.QuitRole)
        elif command.id == "help.about":
            action.setMenuRole(QAction.MenuRole.AboutRole)
        return action
