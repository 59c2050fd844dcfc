"""The check of a server: its one dialog, and the address that was checked last."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.commands import command
from app.presenters.one_dialog import OneDialog
from app.session import Session
from app.workers.requests.servers import CheckServer
from engine.diagnosis.case import FailureCase
from engine.servers.client import is_server_address
from engine.servers.keys import remembered_key
from engine.servers.server_spec import ServerSpec

if TYPE_CHECKING:
    from app.dialogs.server_dialog import ServerCheckDialog, ServerToCheck
    from app.presenters.exporting import Sharing
    from app.presenters.output_check import OutputCheck


class ServerChecks(QObject):
    """The handler of "Check the server…"."""

    def __init__(
        self,
        session: Session,
        output_check: OutputCheck,
        sharing: Sharing,
        keep_as_test: Callable[[str], None],
        window: QWidget,
    ) -> None:
        """Create the handler.

        Args:
            session: the session whose grammar is checked.
            output_check: opens a counterexample.
            sharing: writes the bug bundle.
            keep_as_test: adds a test string.
            window: the parent of the dialog.
        """
        super().__init__(window)
        self._session, self._output_check, self._sharing = session, output_check, sharing
        self._keep_as_test, self._window = keep_as_test, window
        self._address = ""
        self._dialog = OneDialog(self._make, lambda _dialog: session.engines.cancel_server_check())
        session.document.replaced.connect(self._dialog.close)

    @command("tests.server", "Ctrl+Shift+F10", place=(3, 3), icon="ph.shield-check")
    def open(self) -> ServerCheckDialog:
        """Open the dialog, or bring the open one to the front."""
        return self._dialog.show()

    def _make(self) -> ServerCheckDialog:
        from app.dialogs.server_dialog import ServerCheckDialog  # start-up time: the dialog is built when first shown

        engines = self._session.engines
        dialog = ServerCheckDialog(self._window)
        attached = self._attached()
        dialog.page.address.setText(attached.address if attached else self._address)
        dialog.page.address.selectAll()
        dialog.page.model_name.setText(attached.model if attached else "")
        dialog.page.wanted.connect(self._ask)
        dialog.page.cancelled.connect(engines.cancel_server_check)
        dialog.output_wanted.connect(self._check_output)
        dialog.test_wanted.connect(self._keep_as_test)
        dialog.bundle_wanted.connect(self._sharing.bundle_with)
        engines.server_checked.connect(dialog.page.show_answer)
        engines.server_check_progressed.connect(dialog.page.show_progress)
        return dialog

    def _ask(self, server: ServerToCheck) -> None:
        self._address = server.address
        compiled = self._session.compiling.request() if server.with_grammar else None
        attached = self._attached()
        tokenizer = attached.tokenizer if attached else self._session.document.content.model.spec
        key = server.key or remembered_key(server.address)
        self._session.engines.check_server(CheckServer(server.address, server.model, key, compiled, tokenizer))

    def _attached(self) -> ServerSpec | None:
        """Return the server whose model is open; None for another model."""
        model = self._session.decoding.view.model
        return ServerSpec.read(model.spec) if model is not None and is_server_address(model.spec) else None

    def _check_output(self, text: str) -> None:
        self._output_check.check_case(FailureCase(output=text.encode("utf-8", "surrogatepass")))
