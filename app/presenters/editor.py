"""The commands of the grammar editor: its part of the Edit menu, and the editor's own menu."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QWidget

from app.commands import Commands, command
from app.panes.editor import EditorPane
from app.panes.problems import ProblemsPane


class EditorPresenter(QObject):
    """Connects the commands to the pane."""

    def __init__(self, commands: Commands, editor: EditorPane, problems: ProblemsPane, window: QWidget) -> None:
        super().__init__(window)
        self._editor = editor
        self._problems = problems
        for owner in (self, editor, editor.find_replace, editor.symbols, problems):
            commands.add(owner)
        problems.fix_wanted.connect(editor.quick_fixes.open_for)
        menu = QMenu(window)
        menu.setToolTipsVisible(True)
        commands.fill(menu, lambda one: one.context == "editor")
        editor.set_menu(menu)

    @command("edit.complete", "Ctrl+Space", "Meta+Space", place=(3, 1), context="editor")
    def _complete(self) -> None:
        self._editor.edit.setFocus()
        self._editor.completer.open()

    @command("edit.fix", "Ctrl+.", place=(3, 2), icon="ph.wrench", context="editor")
    def _fix(self) -> None:
        """Repair the focused row of the problems, or the problem at the cursor."""
        if QApplication.focusWidget() is self._problems.table:
            self._problems.fix_current()
        else:
            self._editor.quick_fixes.open()

    @command("edit.rename", "F2", place=(4, 3), context="editor")
    def _rename(self) -> None:
        """Rename the symbol at the cursor; in a list, edit the current item, as the key does everywhere."""
        focused = QApplication.focusWidget()
        if isinstance(focused, QAbstractItemView) and focused.currentIndex().isValid():
            focused.edit(focused.currentIndex())
        else:
            self._editor.symbols.begin_rename()

    @command("view.text_larger", "Ctrl++", "Ctrl+=", place=(4, 1), repeats=True, arguments=(1,))
    @command("view.text_smaller", "Ctrl+-", place=(4, 2), repeats=True, arguments=(-1,))
    def _change_text_size(self, points: int) -> None:
        self._editor.edit.set_text_size(self._editor.edit.text_size + points)

    @command("view.text_default", "Ctrl+L, 0", place=(4, 3))
    def _reset_text_size(self) -> None:
        self._editor.edit.set_text_size(0)
