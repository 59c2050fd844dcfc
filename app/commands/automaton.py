"""The commands of the automaton pane: its menu, its "more" menu, and the dialog that exports a picture."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton, QWidget

from app.actions import Actions
from app.catalogue import ui_text
from app.graph.draw.image_files import save
from app.graph.layout.types import METHODS
from app.panes.automaton import AutomatonPane
from app.panes.automaton.levels import Level
from app.session import Notification, Session

_MENU = "automaton"
_LAYOUTS: Final = {"automaton.layout": "", **{f"automaton.layout_{method}": method for method in METHODS}}


class AutomatonCommands(QObject):
    """Connects the commands to the pane."""

    def __init__(self, commands: Actions, pane: AutomatonPane, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._pane = pane
        self._session = session
        self._window = window
        navigation, header, footer = pane.navigation, pane.header, pane.footer
        commands.connect_to(
            {
                "automaton.find": pane.search.open,
                "automaton.map": lambda: navigation.go_to_level(Level.MAP),
                "automaton.live": lambda: navigation.go_to_level(Level.PART),
                "automaton.tokens": lambda: navigation.go_to_level(Level.TOKENS),
                "automaton.up": navigation.go_up,
                "automaton.back": navigation.go_back,
                "automaton.forward": navigation.go_forward,
                "automaton.collapse": navigation.collapse,
                "automaton.fit": pane.view.fit,
                "automaton.zoom_in": pane.view.zoom_in,
                "automaton.zoom_out": pane.view.zoom_out,
                **{name: partial(navigation.choose_layout, method) for name, method in _LAYOUTS.items()},
                "automaton.turn": navigation.turn,
                "automaton.save": self.save_picture,
                "automaton.copy_dot": pane.copy_dot,
            }
        )
        for name, button in (
            ("all", header.all_button),
            ("bytes", header.bytes_button),
            ("merge", header.merge_button),
            ("stacks", footer.stacks_button),
            ("coverage", footer.coverage_button),
            ("minimap", footer.map_button),
            ("table", header.table_button),
        ):
            action = commands[f"automaton.{name}"]
            action.triggered.connect(lambda on, action=action, button=button: self._press(action, button, is_on=on))
            button.toggled.connect(action.setChecked)
        self._commands = commands
        pane.layout_chosen.connect(self._check_layout)
        self._check_layout("", is_downwards=False)
        header.offers_changed.connect(self._enable)
        self._enable()
        menu = QMenu(window)
        for command, action in commands:
            if command.menu == _MENU:
                if command.separated:
                    menu.addSeparator()
                menu.addAction(action)
        header.set_menu(menu)

    def _check_layout(self, method: str, is_downwards: bool) -> None:
        """Check the command of the layout in use."""
        for name, own in _LAYOUTS.items():
            self._commands[name].setChecked(own == method)
        self._commands["automaton.turn"].setChecked(is_downwards)

    def _enable(self) -> None:
        """Enable the commands whose header buttons are enabled, and explain the disabled ones in their tips."""
        header = self._pane.header
        buttons = {"all": header.all_button, "bytes": header.bytes_button, "merge": header.merge_button}
        for name, button in buttons.items():
            action = self._commands[f"automaton.{name}"]
            is_offered = not button.isHidden() and button.isEnabled()
            action.setEnabled(is_offered)
            action.setToolTip(
                self._commands.tip(action.objectName()) if is_offered else ui_text(f"window.command.{name}_unavailable")
            )

    def _press(self, action: QAction, button: QToolButton, *, is_on: bool) -> None:
        """Click the button of a command; if it is disabled, both stay unchanged."""
        header = self._pane.header
        (header.graph_button if button is header.table_button and not is_on else button).click()
        action.setChecked(button.isChecked())

    def save_picture(self) -> None:
        """Ask for a file and write the drawing to it."""
        title = self._session.document.title
        name, _ = QFileDialog.getSaveFileName(
            self._window,
            ui_text("window.command.picture_title"),
            f"{title}.svg",
            ui_text("window.command.picture_filter"),
        )
        if name:
            path = Path(name)
            self.save_to(path if path.suffix else path.with_suffix(".svg"))

    def save_to(self, path: Path) -> None:
        """Write the drawing; a failure becomes a notification."""
        why_not = save(self._pane.scene, path)
        if why_not:
            notification = Notification(
                "window", why_not, button=ui_text("window.command.save_elsewhere"), action=self.save_picture
            )
            self._session.notification_raised.emit(notification)
