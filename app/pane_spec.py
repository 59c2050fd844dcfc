"""Panes as the window sees them: each package of `app.panes` declares one `PaneSpec`, which creates its presenter.

A view knows values, a presenter knows its view and the session, and neither knows another pane: what the user points at
in one pane and sees in another passes through `session.links`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.catalogue import ui_text
from app.commands import DECLARED, Commands, command
from app.session import Notification, Session
from app.settings import Settings
from app.widgets.lazy import Lazy


class Area(Enum):
    """Where a pane is in the window."""

    COLUMN = auto()
    """One of the three columns, which the layout arranges."""
    BOTTOM = auto()
    """A tab of the bottom panel."""
    GENERATION = auto()
    """A page beside the candidates."""


@dataclass(frozen=True, slots=True)
class PaneContext:
    """Hold what a presenter needs to bind its view.

    Attributes:
        session: the session of the window.
        commands: the commands of the window, to which the presenter adds its own.
        settings: the preferences.
        window: the parent of presenters and dialogs.
        reveal: makes a pane, or a page in one, visible and gives it the focus.
    """

    session: Session
    commands: Commands
    settings: Settings
    window: QWidget
    reveal: Callable[[QWidget], None]


class PanePresenter(QObject):
    """Binds the view of a pane to the session.

    Attributes:
        view: the widget, or the `Lazy` that builds it when it is first shown.

    Signals:
        title_changed(title): the tab has another title.
    """

    title_changed = Signal(str)
    view: QWidget | Lazy[Any]

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context.window)
        self.context, self.session = context, context.session

    def save(self) -> dict[str, bytes]:
        """Return what is open in the pane, by name."""
        return {}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Open what was saved; `saved` has the names of all panes."""

    def ask_for_picture(self, kinds: str, save_to: Callable[[Path], object]) -> None:
        """Ask for the file of a picture, and have it written; without a suffix, it is an SVG.

        Args:
            kinds: the kinds of files, as Qt's dialog has them.
            save_to: writes the picture to a file.
        """
        title, proposed = ui_text("window.command.picture_title"), f"{self.session.document.title}.svg"
        name, _ = QFileDialog.getSaveFileName(self.context.window, title, proposed, kinds)
        if name:
            path = Path(name)
            save_to(path if path.suffix else path.with_suffix(".svg"))

    def report_picture(self, why_not: str, save_elsewhere: Callable[[], object]) -> None:
        """Notify the user of a picture that could not be written.

        Args:
            why_not: the reason; empty if it was written.
            save_elsewhere: asks for another file.
        """
        if why_not:
            button = ui_text("window.command.save_elsewhere")
            notification = Notification("window", why_not, button=button, action=save_elsewhere)
            self.session.notification_raised.emit(notification)


@dataclass(frozen=True, slots=True)
class PaneSpec:
    """A pane, and the command that shows it.

    Attributes:
        id: its name; `view.ID` is the command, whose title is also that of the tab.
        keys: the key of the command.
        place: the place of the command in the View menu.
        area: where the pane is.
        factory: creates its presenter.
        menu: the commands in its context menu, below those of the row under the pointer.
    """

    id: str
    keys: str
    place: tuple[int, int]
    area: Area
    factory: Callable[[PaneContext], PanePresenter]
    menu: tuple[str, ...] = ()

    def declare(self) -> None:
        """Declare the command, unless an earlier window did."""
        if f"view.{self.id}" not in DECLARED:
            command(f"view.{self.id}", self.keys, place=self.place)
