"""The commands that name, colour, comment and bookmark the selected state, their dialog, and the list of all notes."""

from __future__ import annotations

from functools import partial

import msgspec
from PySide6.QtCore import QObject, QSize
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import command
from app.display_text import state_label
from app.panes.automaton.list_panel import ListAction, ListRow
from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.state_notes import note_text, place_text
from engine.decoding.debugging.breakpoints import StateName
from engine.document.content import StateNote

_SWATCH = QSize(14, 14)
_FIELDS = ("name", "colour", "comment")
_LONGEST_NAME = 40


class NoteDialog(QDialog):
    """Asks for the name, the colour, the comment and the bookmark of a state.

    Args:
        title: the state.
        note: what is noted about it.
        field: the field that has the focus, one of `_FIELDS`.
        parent: as of any dialog.
    """

    def __init__(self, title: str, note: StateNote, field: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._note = note
        self.name = QLineEdit(note.name, maxLength=_LONGEST_NAME)
        self.name.setPlaceholderText(ui_text("automaton.notes.name_hint"))
        self.colour = QComboBox()
        self.colour.addItem(ui_text("automaton.notes.no_colour"), "")
        for role in theme.NOTE_COLOURS:
            swatch = QPixmap(_SWATCH)
            swatch.fill(theme.colour(role))
            colour = role.value.removeprefix("note-")
            self.colour.addItem(QIcon(swatch), ui_text(f"automaton.notes.colour.{colour}"), colour)
        self.colour.setCurrentIndex(self.colour.findData(note.colour))
        self.comment = QPlainTextEdit(note.comment)
        self.comment.setTabChangesFocus(True)
        self.comment.setMinimumHeight(4 * self.fontMetrics().height())
        self.bookmark = QCheckBox(ui_text("automaton.notes.bookmark"))
        self.bookmark.setChecked(note.is_bookmarked)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form = QFormLayout(self)
        for name, widget in zip(_FIELDS, (self.name, self.colour, self.comment), strict=True):
            widget.setAccessibleName(ui_text(f"automaton.notes.field.{name}"))
            form.addRow(ui_text(f"automaton.notes.field.{name}"), widget)
            if name == field:
                widget.setFocus()
        form.addRow("", self.bookmark)
        form.addRow(buttons)

    def result_note(self) -> StateNote:
        """Return the note with what was entered."""
        return msgspec.structs.replace(
            self._note,
            name=" ".join(self.name.text().split()),
            colour=self.colour.currentData(),
            comment=self.comment.toPlainText().strip(),
            is_bookmarked=self.bookmark.isChecked(),
        )


class NoteCommands(QObject):
    """Handles the commands of notes.

    Args:
        view: the pane.
    """

    def __init__(self, view: AutomatonPane) -> None:
        super().__init__(view)
        self._pane, self._notes = view, view.notes

    @property
    def refusal(self) -> str:
        """Return why there is no state to note something about."""
        return self._pane.navigation.named_refusal

    @property
    def _selected(self) -> StateName:
        name = self._pane.navigation.selected_state
        assert name is not None
        return name

    @command("state.rename", "Ctrl+M, F2", place=(5, 1), arguments=("name",), refusal=lambda self, _field: self.refusal)
    @command(
        "state.colour", "Ctrl+M, H", place=(5, 2), arguments=("colour",), refusal=lambda self, _field: self.refusal
    )
    @command(
        "state.comment", "Ctrl+M, N", place=(5, 3), arguments=("comment",), refusal=lambda self, _field: self.refusal
    )
    def _edit(self, field: str) -> None:
        """Ask for what to note about the selected state."""
        name = self._selected
        title = ui_text("automaton.notes.title", state=_named(name))
        dialog = NoteDialog(title, self._notes.note(name), field, self._pane.window())
        dialog.setObjectName("stateNote")
        dialog.accepted.connect(lambda: self._notes.change(name, dialog.result_note()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @property
    def _is_bookmarked(self) -> bool:
        return not self.refusal and self._notes.note(self._selected).is_bookmarked

    @command(
        "state.bookmark",
        "Ctrl+M, Q",
        place=(5, 4),
        refusal=lambda self: self.refusal,
        checked=lambda self: self._is_bookmarked,
    )
    def _toggle_bookmark(self) -> None:
        """Set or remove the bookmark of the selected state."""
        note = self._notes.note(self._selected)
        self._notes.change(self._selected, msgspec.structs.replace(note, is_bookmarked=not note.is_bookmarked))

    @command("state.notes", "Ctrl+M, F3", place=(5, 5), context="background")
    def list_notes(self) -> None:
        """List all notes, those without a state at the end."""
        attached, lost = self._notes.attached, self._notes.lost
        rows = [ListRow(_line(_named(name), note), partial(self._go_to, name)) for name, note in attached]
        rows += [
            ListRow(ui_text("automaton.notes.lost", note=_line(place_text(note), note)), lambda: None) for note in lost
        ]
        notes = [note for _, note in attached] + list(lost)
        actions = (
            ListAction(
                ui_text("common.button.remove"), ui_text("automaton.notes.remove_tip"), partial(self._remove, notes)
            ),
            ListAction(
                ui_text("automaton.notes.move.label"), ui_text("automaton.notes.move.tip"), partial(self._move, notes)
            ),
        )
        title = ui_text("automaton.notes.list", count=len(rows)) if rows else ui_text("automaton.notes.none")
        self._pane.lists.show_list(title, rows, actions)
        self._pane.lists.list.setFocus()

    def _go_to(self, name: StateName) -> None:
        self._pane.search.go_to_state(name)
        self._pane.lists.list.setFocus()

    def _remove(self, notes: list[StateNote], row: int) -> None:
        self._notes.remove(notes[row])
        self.list_notes()

    def _move(self, notes: list[StateNote], row: int) -> None:
        """Attach a note to the selected state."""
        if self.refusal:
            self._pane.selection.say(self.refusal)
            return
        self._notes.move(notes[row], self._selected)
        self.list_notes()


def _named(name: StateName) -> str:
    return name[0] if name[1] < 0 else state_label(name)


def _line(where: str, note: StateNote) -> str:
    parts = (note.name, where, " ".join(note_text(note).split()))
    return "  ·  ".join(filter(None, parts))
