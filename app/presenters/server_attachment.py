"""Attaching to a server: its one dialog, and the servers that documents name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import command
from app.presenters.one_dialog import OneDialog
from app.session import Notification, Session
from app.settings import Settings
from engine.servers.client import is_server_address
from engine.servers.keys import remember_key

if TYPE_CHECKING:
    from app.dialogs.attach_dialog import AttachDialog
    from app.workers.requests.servers import KeepServerKey


class ServerAttachment(QObject):
    """The handler of "Attach to a server…".

    Args:
        session: the session whose model is opened.
        settings: the preferences, which have the servers to which the user attached.
        open_model: opens a model by its spec, and keeps it for later starts.
        window: the parent of the dialog.
    """

    def __init__(
        self, session: Session, settings: Settings, open_model: Callable[[str], object], window: QWidget
    ) -> None:
        super().__init__(window)
        self._session, self._settings, self._open_model, self._window = session, settings, open_model, window
        self._dialog = OneDialog(self._make)
        session.decoding.may_open = self._may_open
        session.decoding.server_named.connect(self._offer)

    @command("run.attach", "Ctrl+R, S", place=(5, 2), icon="ph.link-simple")
    def open(self) -> AttachDialog:
        """Open the dialog, or bring the open one to the front."""
        return self._dialog.show()

    def _make(self) -> AttachDialog:
        from app.dialogs.attach_dialog import AttachDialog  # start-up time: the dialog is built when first shown

        dialog = AttachDialog(self._settings.preferences.servers, self._window)
        engines = self._session.engines
        dialog.asked.connect(engines.identify_server)
        dialog.cancelled.connect(engines.cancel_identification)
        dialog.key_kept.connect(lambda request: engines.keep_key(request, dialog.show_kept_key))
        dialog.key_removed.connect(lambda request: self._remove_key(request, dialog.show_removed_key))
        engines.identified.connect(dialog.show_answer)
        dialog.attached.connect(self._attach)
        return dialog

    def _remove_key(self, request: KeepServerKey, report: Callable[[str], None]) -> None:
        remember_key(request.address, "")
        self._session.engines.keep_key(request, report)

    def _attach(self, spec: str, key: str) -> None:
        remember_key(spec, key)
        self._settings.remember_server(spec)
        self._open_model(spec)

    def _may_open(self, spec: str) -> bool:
        return not is_server_address(spec) or spec in self._settings.preferences.servers

    def _offer(self, spec: str) -> None:
        """Offer to attach to the server of a document; nothing was sent to it."""
        self._session.notification_raised.emit(
            Notification(
                "generation",
                ui_text("session.notification.server_named", spec=spec),
                severity="hint",
                button=ui_text("commands.run.attach.title"),
                action=lambda: self.open().show_server(spec),
            )
        )
