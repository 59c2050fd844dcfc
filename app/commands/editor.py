"""The commands of the grammar editor: its part of the Edit menu, and the editor's own menu."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QWidget

from app.actions import Actions
from app.panes.editor import EditorPane
from app.panes.problems import ProblemsPane

_EDITOR_COMMANDS = (
    "edit.find",
    "edit.replace",
    "edit.complete",
    "edit.fix",
    "edit.definition",
    "edit.references",
    "edit.rename",
    "edit.comment",
    "edit.format",
    "edit.bracket",
    "edit.convert",
    "view.explanation",
    "view.reference",
    "view.gbnf",
)


class EditorCommands(QObject):
    """Connects the commands to the pane."""

    def __init__(self, commands: Actions, editor: EditorPane, problems: ProblemsPane, window: QWidget) -> None:
        super().__init__(window)
        self._editor = editor
        self._problems = problems
        edit, find, naming = editor.edit, editor.find_replace, editor.symbols
        commands.connect_to(
            {
                "edit.find": find.open,
                "edit.replace": lambda: find.open(replaces=True),
                "edit.find_next": lambda: find.go(1),
                "edit.find_previous": lambda: find.go(-1),
                "edit.complete": self._complete,
                "edit.fix": self._fix,
                "edit.definition": naming.go_to_definition,
                "edit.references": naming.list_references,
                "edit.rename": self._rename,
                "edit.comment": editor.toggle_comment,
                "edit.bracket": editor.go_to_bracket,
                "view.text_larger": lambda: edit.set_text_size(edit.text_size + 1),
                "view.text_smaller": lambda: edit.set_text_size(edit.text_size - 1),
                "view.text_default": lambda: edit.set_text_size(0),
            }
        )
        problems.fix_wanted.connect(editor.quick_fixes.open_for)
        menu = QMenu(window)
        menu.setToolTipsVisible(True)
        for command, action in commands:
            if command.id in _EDITOR_COMMANDS:
                if command.separated and not menu.isEmpty():
                    menu.addSeparator()
                menu.addAction(action)
        editor.set_menu(menu)

    def _complete(self) -> None:
        self._editor.edit.setFocus()
        self._editor.completer.open()

    def _fix(self) -> None:
        """Repair the focused row of the problems, or the problem at the cursor."""
        if QApplication.focusWidget() is self._problems.table:
            self._problems.fix_current()
        else:
            self._editor.quick_fixes.open()

    def _rename(self) -> None:
        """Rename the symbol at the cursor; in a list, edit the current item, as the key does everywhere."""
        focused = QApplication.focusWidget()
        if isinstance(focused, QAbstractItemView) and focused.currentIndex().isValid():
            focused.edit(focused.currentIndex())
        else:
            self._editor.symbols.begin_rename()
