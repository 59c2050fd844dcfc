"""The welcome page: ways to begin, in place of the generation pane until there is something to generate.

It greets at the first start, beside the editor and the automaton of the first example, and follows *New* and any other
empty document. It leaves by itself: with the first step, with a text in the editor, with another document, and whenever
the user goes to the generation.

Rejected: a strip above the window, which says too little and stays too long; a dialog, which a newcomer closes before
reading it; and a page instead of the whole window, which hides the editor that an empty document asks for.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import DECLARED, Commands, command, set_tip, with_keys
from app.document import Document
from app.settings import Settings
from app.theme.buttons import push_button
from app.theme.icons import icon
from app.theme.labels import Label
from app.widgets.keyboard import delegate_focus

GREETING, EMPTY = "greeting", "empty"
_CHOICES = ("file.intake", "file.gallery", "file.open", "help.tour")
_MOST_RECENT = 5
_ICON = QSize(18, 18)
_WIDTH = 560  # of the text, in pixels


class WelcomePage(QScrollArea):
    """Offers the ways to begin, and the recent files.

    Args:
        commands: have the choices.

    Signals:
        left: the user continues with the document as it is.
        recent_chosen(path): a recent file was clicked.
    """

    left = Signal()
    recent_chosen = Signal(Path)

    def __init__(self, commands: Commands) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(ui_text("window.welcome.name"))
        self.title = Label(wraps=True)
        self.title.setProperty("role", "title")
        self.text = Label(wraps=True)
        self.leave_button = push_button(
            ui_text("window.welcome.greeting.leave"), role="primary", clicked=self.left.emit
        )
        self.leave_button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.choices = {command_id: _choice(commands, command_id) for command_id in _CHOICES}
        self._recent_title = Label(ui_text("window.main.recent"))
        self._recent_title.setProperty("role", "heading")
        self.recent: list[QPushButton] = []
        self._recent_rows = QVBoxLayout()
        self._recent_rows.setSpacing(0)
        self._lay_out()
        delegate_focus(self, self.leave_button, *self.choices.values())

    def _lay_out(self) -> None:
        inner = QFrame()
        inner.setProperty("role", "panel")
        column = QWidget()
        column.setMaximumWidth(_WIDTH)
        outer = QGridLayout(inner)
        outer.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_L)
        outer.setRowStretch(0, 2)
        outer.setRowStretch(2, 3)
        outer.addWidget(column, 1, 0)
        rows = QVBoxLayout(column)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(theme.SPACE_XS)
        for widget in (self.title, self.text, self.leave_button):
            rows.addWidget(widget)
            rows.addSpacing(theme.SPACE_S)
        for command_id, button in self.choices.items():
            tip = Label(with_keys(DECLARED[command_id].tip, command_id), wraps=True)
            tip.setProperty("role", "muted")
            rows.addWidget(button)
            rows.addWidget(tip)
            rows.addSpacing(theme.SPACE_S)
        rows.addWidget(self._recent_title)
        rows.addLayout(self._recent_rows)
        self.setWidget(inner)

    def show_texts(self, name: str, recent: list[str]) -> None:
        """Show the texts for a situation, and the recent files.

        Args:
            name: `greeting` beside an example, which the user may continue with, or `empty`.
            recent: the paths of recent files, the latest first.
        """
        self.title.setText(ui_text(f"window.welcome.{name}.title"))
        self.text.setText(ui_text(f"window.welcome.{name}.text"))
        self.leave_button.setVisible(name == GREETING)
        for button in self.recent:
            self._recent_rows.removeWidget(button)
            button.deleteLater()
        self.recent = [self._recent_button(Path(path)) for path in recent[:_MOST_RECENT]]
        for button in self.recent:
            self._recent_rows.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._recent_title.setVisible(bool(self.recent))

    def _recent_button(self, path: Path) -> QPushButton:
        return push_button(path.stem, str(path), role="link", clicked=partial(self.recent_chosen.emit, path))


def _choice(commands: Commands, command_id: str) -> QPushButton:
    """Return a button that runs a command."""
    button = push_button(DECLARED[command_id].title, role="choice", clicked=commands[command_id].trigger)
    button.setObjectName(f"welcome:{command_id}")
    button.setIcon(icon(DECLARED[command_id].icon))
    button.setIconSize(_ICON)
    set_tip(button, DECLARED[command_id].tip, command_id)
    return button


class Welcome(QStackedWidget):
    """The generation pane, or the welcome page.

    Attributes:
        page: the page.
    """

    def __init__(self, generation: QWidget, commands: Commands, document: Document, settings: Settings) -> None:
        super().__init__()
        self._generation, self._document, self._settings = generation, document, settings
        self.page = WelcomePage(commands)
        self.addWidget(generation)
        self.addWidget(self.page)
        delegate_focus(self, self.page, generation)
        self.page.left.connect(self.leave)
        self.currentChanged.connect(self._end_greeting)
        document.replaced.connect(self._follow)
        document.changed.connect(self._on_edit)
        for command_id in ("run.step", "run.run", "view.generation"):
            commands[command_id].triggered.connect(self.leave)

    @property
    def is_shown(self) -> bool:
        """Return whether the page is shown."""
        return self.currentWidget() is self.page

    @command("help.welcome", "Ctrl+L, W", place=(1, 1), icon="ph.house")
    def greet(self) -> None:
        """Show the page beside the document that is open."""
        self._show(EMPTY if self.is_empty else GREETING)
        self.page.setFocus()

    def leave(self) -> None:
        """Show the generation."""
        self.setCurrentWidget(self._generation)

    @property
    def is_empty(self) -> bool:
        """Return whether the grammar has no text."""
        return not self._document.content.grammar.text.strip()

    def _show(self, name: str) -> None:
        self.page.show_texts(name, self._settings.preferences.recent)
        self.setCurrentWidget(self.page)

    def _follow(self) -> None:
        """Offer ways to begin if the new document is empty."""
        if self.is_empty:
            self._show(EMPTY)
        elif self.is_shown:
            self.leave()

    def _end_greeting(self) -> None:
        """Greet nobody twice."""
        if not self.is_shown and not self._settings.preferences.welcomed:
            self._settings.change(welcomed=True)

    def _on_edit(self, _revision: int) -> None:
        if self.is_shown and not self.is_empty:
            self.leave()
