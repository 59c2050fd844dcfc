"""Logs of requests and responses: the one dialog with their table, and the request that is opened from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import command
from app.jobs import Loss, LostRequest
from app.pasting import CopiedFailure
from app.presenters.one_dialog import OneDialog
from app.session import Session
from app.workers.requests.batches import BatchAnswer, BatchRowAnswer, JudgeBatch, ReadBatchRow
from engine.decoding.values import DEFAULT_MAX_TOKENS

if TYPE_CHECKING:
    from app.dialogs.batch_dialog import BatchDialog
    from engine.diagnosis.batch.rows import BatchRow


class LogReplay(QObject):
    """The handler of "Open a log…"."""

    def __init__(
        self,
        session: Session,
        check: Callable[[CopiedFailure], object],
        open_request: Callable[[CopiedFailure], bool],
        window: QWidget,
    ) -> None:
        """Create the handler.

        Args:
            session: the session whose processes are used.
            check: opens a failed request with its output check.
            open_request: opens the grammar and the messages of a request as a document; returns whether the user
                agreed.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._check, self._open_request, self._window = session, check, open_request, window
        self._group = session.worker_pool.judge
        self._dialog = OneDialog(self._make, self._on_closed)
        self._pasted: Path | None = None
        self._number = 0

    @command("file.log", "Ctrl+L, O", place=(1, 4), icon="ph.table")
    def open(self) -> BatchDialog:
        """Open the dialog, or bring the open one to the front."""
        return self._dialog.show()

    def open_paths(self, paths: tuple[Path, ...]) -> None:
        """Open the dialog with files or folders."""
        self.open().page.open(paths)

    def open_text(self, text: str) -> None:
        """Open the dialog with lines that were pasted, which are in a file until it is closed."""
        self._remove_pasted()
        self._pasted = Path(mkdtemp()) / ui_text("dialogs.batch.pasted")
        self._pasted.write_text(text, "utf-8")
        self.open_paths((self._pasted,))

    def _on_closed(self, _dialog: BatchDialog) -> None:
        self._cancel()
        self._remove_pasted()

    def _remove_pasted(self) -> None:
        if self._pasted is not None:
            rmtree(self._pasted.parent, ignore_errors=True)
            self._pasted = None

    def _make(self) -> BatchDialog:
        from app.dialogs.batch_dialog import BatchDialog  # start-up time: the dialog is built when first shown

        dialog = BatchDialog(self._window)
        dialog.page.wanted.connect(self._judge)
        dialog.page.cancelled.connect(self._cancel)
        dialog.check_wanted.connect(partial(self._read, self._check))
        dialog.replay_wanted.connect(partial(self._read, self._step_through))
        return dialog

    def _judge(self, paths: tuple[Path, ...]) -> None:
        self._number += 1
        self._ask(JudgeBatch(tuple(map(str, paths)), self._number))

    def _ask(self, request: JudgeBatch) -> None:
        if (dialog := self._dialog.current) is not None:
            self._group.ask(request, dialog).then(self._on_rows).lost(partial(self._on_lost, request))

    def _on_rows(self, answer: BatchAnswer) -> None:
        dialog, request = self._dialog.current, answer.request
        if dialog is None or request.number != self._number:
            return
        dialog.page.show_answer(answer)
        if not answer.is_complete and dialog.page.is_running:
            self._ask(JudgeBatch(request.paths, request.number, request.first + len(answer.rows)))

    def _on_lost(self, request: JudgeBatch, lost: LostRequest) -> None:
        if (dialog := self._dialog.current) is not None and request.number == self._number:
            dialog.page.show_stopped()
            dialog.show_error("" if lost.cause is Loss.CANCELLED else lost.why)

    def _cancel(self) -> None:
        self._group.cancel(lambda request: isinstance(request, JudgeBatch))

    def _read(self, use: Callable[[CopiedFailure], object], row: BatchRow) -> None:
        """Read a request again, and use it."""
        if (dialog := self._dialog.current) is not None:
            asked = self._group.ask(ReadBatchRow(row), dialog).then(partial(self._on_read, use))
            asked.lost(lambda lost: dialog.show_error(lost.why))

    def _step_through(self, found: CopiedFailure) -> None:
        """Open a request as a document, and its tokens as the trace that is stepped through.

        Without a grammar of its own, its tokens are opened in the present document.
        """
        budget = found.case.max_tokens or max(DEFAULT_MAX_TOKENS, len(found.case.ids), len(found.case.scores))
        found = replace(found, case=replace(found.case, max_tokens=budget))
        if found.constraint is None or self._open_request(found):
            self._session.decoding.open_record(found.case)
            self._window.activateWindow()

    def _on_read(self, use: Callable[[CopiedFailure], object], answer: BatchRowAnswer) -> None:
        if (dialog := self._dialog.current) is not None:
            dialog.show_error(answer.error)
        if not answer.error:
            use(CopiedFailure(answer.case, answer.calls))
