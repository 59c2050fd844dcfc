"""The refactorings of the grammar: a command for each, and their dialog."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import command
from app.panes.editor.pane import EditorPane
from app.session import Session
from app.workers.requests.equivalence import CompareGrammars, RefactorAnswer, RefactorGrammar
from engine.notations import NOTATIONS
from engine.notations.editing import offset_after_edits
from engine.refactoring import REFACTORINGS

if TYPE_CHECKING:
    from app.dialogs.refactor_dialog import RefactorDialog

Method = TypeVar("Method", bound=Callable[..., object])

_GROUP: Final = 6  # of the menu; its title makes it a submenu
_LETTERS: Final = {
    "inline-rule": "I",
    "extract-rule": "E",
    "factor-prefixes": "P",
    "remove-left-recursion": "L",
    "merge-all-of": "M",
    "name-schema": "N",
    "inline-reference": "R",
    "upgrade-draft": "U",
}


def _for_each_refactoring(method: Method) -> Method:
    """Declare a command for each refactoring, with its id as the argument."""
    for place, name in enumerate(REFACTORINGS.names, 1):
        declare = command(
            f"edit.{name.replace('-', '_')}",
            f"Ctrl+Shift+X, {_LETTERS.get(name, place)}",
            place=(_GROUP, place),
            context="editor",
            arguments=(name,),
            refusal=lambda owner, refactoring: owner.refusal(refactoring),
        )
        method = declare(method)
    return method


class RefactoringCommands(QObject):
    """The handler of the commands that change the grammar's text without changing its language."""

    def __init__(self, session: Session, editor: EditorPane, window: QWidget) -> None:
        """Create the handler.

        Args:
            session: the session whose grammar is refactored.
            editor: the editor with the selection.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._editor, self._window = session, editor, window

    def refusal(self, refactoring: str) -> str:
        """Return why a refactoring cannot run on the grammar's notation; empty if it can."""
        notation = NOTATIONS[self._session.document.content.grammar.notation]
        if REFACTORINGS[refactoring].applies_to(notation):
            return ""
        return ui_text("dialogs.refactor.refused", notation=notation.title)

    @_for_each_refactoring
    def open(self, refactoring: str) -> RefactorDialog | None:
        """Show what a refactoring changes; without a dialog if the grammar has an error."""
        from app.dialogs.refactor_dialog import RefactorDialog  # start-up time: built when first shown

        compiling = self._session.compiling
        if compiling.stale_reason:
            self._editor.edit.show_tip(ui_text("dialogs.refactor.stale"))
            return None
        declared, notation = REFACTORINGS[refactoring], self._session.document.content.grammar.notation
        dialog = RefactorDialog(
            ui_text(f"commands.edit.{refactoring.replace('-', '_')}.title").removesuffix("…"),
            RefactorGrammar(compiling.request(), refactoring, self._editor.edit.selection),
            makes_name=declared.makes_name,
            keeps_language=declared.keeps_language(NOTATIONS[notation]),
            parent=self._window,
        )
        judge, engines = self._session.worker_pool.judge, self._session.worker_pool.engines
        dialog.rewrite_wanted.connect(
            lambda request: judge.ask(request, dialog).then(dialog.show_rewrite).failed(dialog.show_failure)
        )
        dialog.comparison_wanted.connect(
            lambda request: (
                engines.ask(request, dialog)
                .then(dialog.show_comparison)
                .progressed(dialog.show_progress)
                .failed(dialog.show_failure)
            )
        )
        dialog.cancelled.connect(lambda: judge.cancel(lambda request: isinstance(request, RefactorGrammar)))
        dialog.cancelled.connect(lambda: engines.cancel(lambda request: isinstance(request, CompareGrammars)))
        dialog.chosen.connect(self._apply)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        dialog.begin()
        return dialog

    def _apply(self, answer: RefactorAnswer) -> None:
        """Apply the edits as one undo step."""
        edit = self._editor.edit
        if edit.text() == answer.request.compiled.text:
            edit.apply(answer.edits, offset_after_edits(answer.request.selected.end, answer.edits))
            edit.setFocus()
