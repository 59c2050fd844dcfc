"""Logs uncaught exceptions in the GUI process and shows them as a banner.

PySide passes an exception in a slot to `sys.excepthook` and continues, so the window survives; the user should know
that something failed.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal

from app.catalogue import ui_text
from app.session import Notification

_log = logging.getLogger(__name__)


class _Relay(QObject):
    """Passes a notification from any thread to the GUI thread."""

    raised = Signal(Notification)


def report_uncaught(show: Callable[[Notification], None]) -> Callable[[], None]:
    """Show uncaught exceptions; return a function that restores the old hooks."""
    relay = _Relay()
    relay.raised.connect(show, Qt.ConnectionType.QueuedConnection)
    before, before_in_threads = sys.excepthook, threading.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            before(kind, error, trace)
            return
        details = "".join(traceback.format_exception(kind, error, trace))
        _log.error("uncaught in the window", exc_info=(kind, error, trace))
        text = ui_text("window.main.error_continues", kind=kind.__name__, error=error)
        relay.raised.emit(Notification("window", text, details))

    def thread_hook(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            hook(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)

    def undo() -> None:
        sys.excepthook, threading.excepthook = before, before_in_threads
        relay.raised.disconnect()

    sys.excepthook, threading.excepthook = hook, thread_hook
    return undo
