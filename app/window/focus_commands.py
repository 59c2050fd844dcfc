"""Commands that act on the pane that has the keyboard focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from app.commands import command
from app.panes.automaton.presenter import AutomatonPresenter
from app.panes.automaton.state_notes import StateNotes
from app.panes.editor.presenter import EditorPresenter
from app.panes.test_strings.presenter import StringTestsPresenter
from app.window.panes import Panes

if TYPE_CHECKING:
    from app.panes.test_strings.pane import StringTestsPane


class FocusCommands(QObject):
    """Undo, redo, fixes and breakpoints, in the pane that has the focus."""

    def __init__(self, panes: Panes, window: QWidget) -> None:
        super().__init__(window)
        self._panes, self._window = panes, window

    @command("edit.undo", "Ctrl+Z", place=(1, 1), icon="ph.arrow-u-up-left", repeats=True)
    def _undo(self) -> None:
        self._undo_target().undo()

    @command("edit.redo", "Ctrl+Shift+Z", place=(1, 2), icon="ph.arrow-u-up-right", repeats=True)
    def _redo(self) -> None:
        self._undo_target().redo()

    @command("edit.fix", "Ctrl+.", place=(3, 2), icon="ph.wrench", context="editor")
    def _fix(self) -> None:
        """Repair the focused row of the problems, or the problem at the cursor."""
        if QApplication.focusWidget() is self._panes.problems.table:
            self._panes.problems.fix_current()
        else:
            self._panes.editor.quick_fixes.open()

    @command("run.breakpoint", "F9", place=(2, 4), icon="ph.record", context="state")
    def _toggle_breakpoint(self) -> None:
        """Toggle a breakpoint on the selected state if the automaton has the focus, otherwise at the cursor."""
        if self._panes.automaton.isAncestorOf(self._window.focusWidget() or self._window):
            self._panes.of(AutomatonPresenter).break_at_state()
        else:
            self._panes.of(EditorPresenter).break_at_cursor()

    def _undo_target(self) -> QPlainTextEdit | StringTestsPane | StateNotes:
        """Return what handles undo: the list of tests or the automaton if it has the focus, otherwise a text."""
        focused, tests = QApplication.focusWidget(), self._panes.of(StringTestsPresenter).view.built
        if tests is not None and focused is tests.table:
            return tests
        if isinstance(focused, QPlainTextEdit) and not focused.isReadOnly():
            return focused
        automaton = self._panes.automaton
        if focused is not None and automaton.isAncestorOf(focused) and automaton.notes.has_history:
            return automaton.notes
        return self._panes.editor.edit
