"""Callbacks after a delay."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def delayed(parent: QObject, milliseconds: int, callback: Callable[[], object]) -> QTimer:
    """Return a timer that calls a function once after each start; another start begins the delay anew.

    Args:
        parent: deletes the timer with itself.
        milliseconds: the delay.
        callback: the function.
    """
    timer = QTimer(parent, singleShot=True, interval=milliseconds)
    timer.timeout.connect(callback)
    return timer
