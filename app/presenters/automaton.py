"""The commands of the automaton pane: its menu, its "more" menu, and the dialog that exports a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.catalogue import ui_text
from app.commands import Commands, Handler, command
from app.graph.draw.image_files import save
from app.panes.automaton import AutomatonPane
from app.session import Notification, Session


def _switch(name: str, key: str, place: int, icon: str = "") -> Callable[[Handler], Handler]:
    """Declare a command that presses a button of the pane."""
    return command(
        f"automaton.{name}",
        f"Ctrl+M, {key}",
        place=(3 if name != "all" else 2, place),
        icon=icon,
        arguments=(name,),
        refusal=lambda self, name: self.refusal(name),
        checked=lambda self, name: self.buttons[name].isChecked(),
    )


class AutomatonPresenter(QObject):
    """Connects the commands to the pane."""

    def __init__(self, commands: Commands, pane: AutomatonPane, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._pane = pane
        self._session = session
        self._window = window
        header, footer = pane.header, pane.footer
        self.buttons = {
            "all": header.all_button,
            "bytes": header.bytes_button,
            "merge": header.merge_button,
            "table": header.table_button,
            "stacks": footer.stacks_button,
            "coverage": footer.coverage_button,
            "minimap": footer.map_button,
        }
        toggled = [button.toggled for button in self.buttons.values()]
        commands.add(self, header.offers_changed, *toggled)
        commands.add(pane.navigation, pane.layout_chosen)
        for owner in (pane, pane.search, pane.view):
            commands.add(owner)
        menu = QMenu(window)
        commands.fill(menu, lambda one: one.menu == "automaton")
        header.set_menu(menu)

    def refusal(self, name: str) -> str:
        """Return why a button cannot be pressed; an empty text if it can."""
        button = self.buttons[name]
        if name not in ("all", "bytes", "merge") or (button.isEnabled() and not button.isHidden()):
            return ""
        return ui_text(f"window.command.{name}_unavailable")

    @_switch("all", "A", 8)
    @_switch("bytes", "B", 1)
    @_switch("merge", "J", 2)
    @_switch("table", "T", 3)
    @_switch("stacks", "S", 4, "ph.stack")
    @_switch("coverage", "V", 5, "ph.checks")
    @_switch("minimap", "M", 7, "ph.map-trifold")
    def _press(self, name: str) -> None:
        """Click the button; a disabled one stays as it is."""
        header, button = self._pane.header, self.buttons[name]
        (header.graph_button if button is header.table_button and button.isChecked() else button).click()

    @command("automaton.save", "Ctrl+M, P", place=(5, 1))
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
