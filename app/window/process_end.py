"""The process is told to end: by a signal, or since the desktop session ends. Work is kept, and nobody is asked.

Python runs a signal's handler between two of its instructions, and Qt's event loop may run none for minutes. But the
interpreter writes the signal's number to a socket at once (`signal.set_wakeup_fd`), of which the event loop hears.
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
_BEYOND: Final = 128  # what a shell adds to a signal's number to make an exit code


class ProcessEnd(QObject):
    """Hears that the process is to end.

    Args:
        end: is called once with the name of the signal; afterwards the event loop ends.
        prepare: is called whenever the desktop session may be about to end.
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
            if signal.getsignal(number) is not signal.SIG_IGN:  # which `nohup` asks for
                self._before[number] = signal.signal(number, _do_nothing)
        self._prepare = prepare
        # A slot without arguments: nothing here asks the session manager for anything.
        app.commitDataRequest.connect(self._on_session_end)
        app.saveStateRequest.connect(self._on_session_end)

    def stop(self) -> None:
        """Give the signals back to whoever had them."""
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
                    for heard in self._before:
                        signal.signal(heard, signal.SIG_DFL)  # a second one need not wait for us
                    name = signal.Signals(number).name
                    _log.warning("ended by %s", name)
                    try:
                        self._end(name)
                    finally:
                        self._app.exit(_BEYOND + number)
                    return


def _do_nothing(_number: int, _frame: object) -> None:
    """Be a handler, so that the signal does not end the process at once."""
