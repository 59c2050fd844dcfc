"""Handles the end of the process: by a signal, or with the desktop session. Work is kept without a question.

Python runs a signal handler between two of its instructions, and Qt's event loop may execute none for minutes. But the
interpreter writes the signal's number to a socket at once (`signal.set_wakeup_fd`), which wakes the event loop.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier
from PySide6.QtGui import QGuiApplication

_log = logging.getLogger(__name__)

_NAMES: Final = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")  # the last is a console window that closes, on Windows
_EXIT_CODE_BASE: Final = 128  # a shell adds this to a signal's number for the exit code


class ProcessEnd(QObject):
    """Detects that the process is about to end.

    Args:
        end: called once with the name of the signal; afterwards the event loop ends.
        prepare: called whenever the desktop session may be about to end.
    """

    def __init__(self, app: QGuiApplication, end: Callable[[str], object], prepare: Callable[[], object]) -> None:
        super().__init__(app)
        self._app = app
        self._end = end
        self._before: dict[signal.Signals, object] = {}
        self._ours, self._theirs = socket.socketpair()
        for one in (self._ours, self._theirs):
            one.setblocking(False)
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)
        self._wakeup = signal.set_wakeup_fd(self._theirs.fileno(), warn_on_full_buffer=False)
        for number in (signal.Signals[name] for name in _NAMES if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as set by `nohup`
                self._before[number] = signal.signal(number, _do_nothing)
        self._prepare = prepare
        # A slot without arguments: nothing here needs the session manager.
        for ends in (app.commitDataRequest, app.saveStateRequest):
            ends.connect(self._on_session_end)

    def stop(self) -> None:
        """Restore the previous signal handlers."""
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type] # it is what `signal.signal` returned
        self._notifier.setEnabled(False)
        self._ours.close()
        self._theirs.close()

    def _on_session_end(self) -> None:
        self._prepare()

    def _on_signal(self) -> None:
        with contextlib.suppress(OSError):
            for number in self._ours.recv(64):
                if number in self._before:
                    self._notifier.setEnabled(False)
                    for handled in self._before:
                        signal.signal(handled, signal.SIG_DFL)  # a second signal ends the process at once
                    name = signal.Signals(number).name
                    _log.warning("ended by %s", name)
                    try:
                        self._end(name)
                    finally:
                        self._app.exit(_EXIT_CODE_BASE + number)
                    return


def _do_nothing(_number: int, _frame: object) -> None:
    """Do nothing, but prevent the signal from ending the process at once."""
