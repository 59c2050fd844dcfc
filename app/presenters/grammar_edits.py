"""The comparison of the grammar with an earlier one: its one dialog."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import command
from app.delays import delayed
from app.document import GrammarPart
from app.panes.editor.pane import EditorPane
from app.presenters.one_dialog import OneDialog
from app.session import Session
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import DecodeView
from app.workers.requests.equivalence import CompareGrammars, CompareTexts
from engine.document.content import GrammarVersion

if TYPE_CHECKING:
    from app.dialogs.equivalence_dialog import EquivalenceDialog

_DELAY_MS = 300  # of edits while the dialog is open
_MOST_VERSIONS = 50


class GrammarEdits(QObject):
    """The handler of "Before and after my edit…", and of the versions of the grammar that the document keeps."""

    def __init__(
        self, session: Session, editor: EditorPane, keep_as_test: Callable[[str], None], window: QWidget
    ) -> None:
        """Create the handler.

        Args:
            session: the session whose grammar is compared.
            editor: the editor that shows a version which is restored.
            keep_as_test: adds a test string.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._editor = editor
        self._session, self._document, self._window = session, session.document, window
        self._keep_as_test = keep_as_test
        self._traced: GrammarPart | None = None  # the grammar of the last step
        self._steps = 0
        self._references: tuple[GrammarPart, ...] = ()
        self._dialog = OneDialog(self._make, lambda _dialog: self._cancel())
        self._timer = delayed(self, _DELAY_MS, self._compare_again)
        self._document.replaced.connect(self._forget)
        self._document.changed.connect(lambda _revision: self._timer.start() if self._dialog.current else None)
        session.decoding.view_changed.connect(self._note_steps)

    @command("edit.difference", "Ctrl+Shift+A", place=(5, 6), icon="ph.git-diff", context="editor")
    def open(self) -> EquivalenceDialog:
        """Open the dialog, or bring the open one to the front."""
        is_new = self._dialog.current is None
        dialog = self._dialog.show()
        if is_new:
            dialog.start()
        return dialog

    @command("file.keep_version", "Ctrl+Shift+X, V", place=(2, 3))
    def keep_version(self) -> None:
        """Open the dialog at the name of a new version."""
        self.open().name.setFocus()

    def _make(self) -> EquivalenceDialog:
        from app.dialogs.equivalence_dialog import EquivalenceDialog  # start-up time: built when first shown

        dialog = EquivalenceDialog(self._names(), self._window)
        dialog.wanted.connect(self._ask)
        dialog.cancelled.connect(self._cancel)
        dialog.test_wanted.connect(self._keep_as_test)
        dialog.keep_wanted.connect(self._keep)
        dialog.restore_wanted.connect(self._restore)
        dialog.drop_wanted.connect(self._drop)
        return dialog

    def _names(self) -> tuple[str, ...]:
        """Return the names of the earlier grammars, and remember these."""
        saved, file = self._document.saved_grammar, self._document.saved_in
        name = ui_text("dialogs.equivalence.saved", name=file.name) if file else ui_text("dialogs.equivalence.opened")
        has_trace = self._traced is not None and self._traced != saved
        versions = self._document.content.versions
        first = (saved, self._traced) if has_trace and self._traced is not None else (saved,)
        self._references = (*first, *(one.grammar for one in versions))
        traced = (ui_text("dialogs.equivalence.traced"),) if has_trace else ()
        return name, *traced, *(_named(one) for one in versions)

    @property
    def _first_version(self) -> int:
        """Return the number of references before the versions."""
        return len(self._references) - len(self._document.content.versions)

    def _compare_again(self) -> None:
        if self._dialog.current is not None:
            self._dialog.current.offer(self._names())
            self._dialog.current.start()

    def _ask(self, index: int) -> None:
        dialog = self._dialog.current
        if dialog is None:
            return
        before = self._references[index]
        present = self._document.content.grammar
        dialog.describe_reference(differs=before != present, is_version=index >= self._first_version)
        texts = CompareTexts(before.text, present.text)
        self._session.worker_pool.judge.ask(texts, dialog).then(dialog.show_difference)
        request = CompareGrammars(
            CompileRequest(0, before.notation, before.text, before.options), self._session.compiling.request()
        )
        asked = self._session.worker_pool.engines.ask(request, dialog).then(dialog.show_answer)
        asked.progressed(dialog.show_progress)
        asked.lost(lambda lost: dialog.show_lost(lost.why) if self._is_last(request) else None)

    def _keep(self, name: str) -> None:
        """Keep the present grammar as a version, and compare with it."""
        content = self._document.content
        now = datetime.now(UTC).astimezone().isoformat(timespec="seconds")
        name = name or ui_text("dialogs.equivalence.version", number=len(content.versions) + 1)
        kept = (GrammarVersion(name, now, content.grammar), *content.versions)[:_MOST_VERSIONS]
        self._document.set_versions(kept)
        self._show_reference(is_version=True)

    def _restore(self, index: int) -> None:
        """Make a reference the grammar, as one undo step."""
        grammar = self._references[index]
        self._editor.switch(msgspec.structs.replace(grammar, text=""), grammar.text)

    def _drop(self, index: int) -> None:
        number = index - self._first_version
        versions = self._document.content.versions
        self._document.set_versions(versions[:number] + versions[number + 1 :])
        self._show_reference(is_version=False)

    def _show_reference(self, *, is_version: bool) -> None:
        """Offer the references again, and compare with the latest version or the first of the others."""
        if self._dialog.current is not None:
            self._dialog.current.offer(self._names())
            self._dialog.current.choose(self._first_version if is_version else 0)

    def _is_last(self, lost: CompareGrammars) -> bool:
        return not any(isinstance(one, CompareGrammars) for one in self._session.worker_pool.engines.pending)

    def _cancel(self) -> None:
        self._session.worker_pool.engines.cancel(lambda request: isinstance(request, CompareGrammars))

    def _note_steps(self, view: DecodeView) -> None:
        """Remember the grammar of a new step."""
        steps = len(view.trace.nodes)
        if steps > self._steps and view.grammar_revision == self._document.revision:
            self._traced = self._document.content.grammar
        self._steps = steps

    def _forget(self) -> None:
        self._traced = None
        self._dialog.close()


def _named(version: GrammarVersion) -> str:
    """Return the name of a version, with the time when it was kept."""
    try:
        time = datetime.fromisoformat(version.time).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:  # the file was edited by hand
        time = version.time
    return ui_text("dialogs.equivalence.version_of", name=version.name, time=time)
