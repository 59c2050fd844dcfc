"""The comparison of a schema with `jsonschema`: its one dialog."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import command
from app.presenters.one_dialog import OneDialog
from app.session import Session
from app.workers.requests.engines import FuzzSchema
from engine.notations import NOTATIONS

if TYPE_CHECKING:
    from app.dialogs.fuzz_dialog import FuzzDialog


class SchemaFuzz(QObject):
    """The handler of "Fuzz the schema…"."""

    def __init__(self, session: Session, keep_as_test: Callable[[str], None], window: QWidget) -> None:
        """Create the handler.

        Args:
            session: the session whose schema is used.
            keep_as_test: adds a test string.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._keep_as_test, self._window = session, keep_as_test, window
        self._dialog = OneDialog(self._make, lambda _dialog: session.engines.cancel_fuzz())
        session.document.replaced.connect(self._dialog.close)

    @property
    def refusal(self) -> str:
        """Return why the grammar cannot be fuzzed; empty if it can."""
        notation = NOTATIONS[self._session.document.content.grammar.notation]
        return "" if notation.describes_json else ui_text("dialogs.fuzz.needs_schema")

    @command("tests.fuzz", "Ctrl+Shift+F9", place=(3, 1), icon="ph.shuffle", refusal=lambda self: self.refusal)
    def open(self) -> FuzzDialog:
        """Open the dialog, or bring the open one to the front."""
        return self._dialog.show()

    def _make(self) -> FuzzDialog:
        from app.dialogs.fuzz_dialog import FuzzDialog  # start-up time: the dialog is built when first shown

        engines = self._session.engines
        dialog = FuzzDialog(self._window)
        dialog.page.wanted.connect(self._ask)
        dialog.page.cancelled.connect(engines.cancel_fuzz)
        dialog.test_wanted.connect(self._keep_as_test)
        engines.fuzzed.connect(dialog.page.show_answer)
        engines.fuzz_progressed.connect(dialog.page.show_progress)
        return dialog

    def _ask(self, texts: int, seed: int) -> None:
        self._session.engines.fuzz(FuzzSchema(self._session.compiling.request(), texts, seed))
