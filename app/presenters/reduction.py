"""The search for the smallest failing part of the grammar: its one dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.commands import command
from app.presenters.one_dialog import OneDialog
from app.session import Session
from app.workers.requests.engines import FindSmallest

if TYPE_CHECKING:
    from app.dialogs.reduce_dialog import ReduceDialog, ReduceTarget


class Reductions(QObject):
    """The handler of "Find the smallest failing part…"."""

    def __init__(self, session: Session, window: QWidget) -> None:
        """Create the handler.

        Args:
            session: the session whose grammar is reduced.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._window = session, window
        self._dialog = OneDialog(self._make, lambda _dialog: session.engines.cancel_reduction())
        session.document.replaced.connect(self._dialog.close)

    @command("tests.reduce", "Ctrl+Shift+F8", place=(3, 2), icon="ph.arrows-in")
    def open(self) -> ReduceDialog:
        """Open the dialog, or bring the open one to the front."""
        return self._dialog.show()

    def _make(self) -> ReduceDialog:
        from app.dialogs.reduce_dialog import ReduceDialog  # start-up time: the dialog is built when first shown

        engines, content = self._session.engines, self._session.document.content
        dialog = ReduceDialog(len(content.test_strings), self._window)
        dialog.wanted.connect(self._ask)
        dialog.cancelled.connect(engines.cancel_reduction)
        dialog.span_wanted.connect(self._session.links.span_chosen)
        dialog.span_wanted.connect(lambda _span: self._dialog.uncover(self._window))
        engines.listed.connect(dialog.show_engines)
        engines.reduced.connect(dialog.show_answer)
        engines.reduction_progressed.connect(dialog.show_progress)
        engines.list_engines(content.grammar.notation)
        return dialog

    def _ask(self, target: ReduceTarget) -> None:
        texts = tuple(one.text for one in self._session.document.content.test_strings)
        self._session.engines.find_smallest(
            FindSmallest(
                self._session.compiling.request(),
                engine=target.engine,
                server=target.server,
                model=target.model,
                key=target.key,
                examples=texts if target.uses_tests else (),
            )
        )
