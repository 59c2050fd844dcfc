"""Callbacks after a delay."""

from PySide6.QtCore import QObject

from app.delays import delayed


def test_starts_within_the_delay_are_one_call(qapp, qtbot):
    owner, calls = QObject(), []
    timer = delayed(owner, 20, lambda: calls.append(timer.isActive()))
    assert not timer.isActive()
    timer.start()
    timer.start()
    qtbot.waitUntil(lambda: calls == [False])
