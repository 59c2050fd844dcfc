"""The window fits the screen, frame included, at the first start and later; maximised and full screen come back."""

from __future__ import annotations

from base64 import b64decode

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QMainWindow

from app.settings import Settings
from app.window.placement import LEAST, WANTED, WindowPlacement, fitted

SMALL = QRect(0, 0, 1280, 720)
ON_A_SECOND_SCREEN = (  # at (1700, 80), beside one of 1600x1000
    "AdnQywADAAAAAAaiAAAATgAACikAAAKpAAAGpAAAAFAAAAonAAACpwAAAAEAAAAAB4AAAAakAAAAUAAACicAAAKn"
)


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(tmp_path / "preferences.json")


@pytest.fixture
def opened(qtbot, settings):
    """Open windows one after the other, each with what the one before has left."""
    windows = []

    def open_window(*, size: QSize | None = None) -> tuple[QMainWindow, WindowPlacement]:
        window = QMainWindow()
        placement = WindowPlacement(window, settings)
        placement.restore()
        if size is not None:
            window.resize(size)
        window.show()
        qtbot.addWidget(window)
        qtbot.waitExposed(window)
        windows.append(window)
        return window, placement

    return open_window


def is_on_screen(window: QMainWindow) -> bool:
    return window.screen().availableGeometry().contains(window.frameGeometry())


@pytest.mark.parametrize(
    ("frame", "available", "wanted"),
    [
        (QRect(10, 10, 1000, 600), SMALL, QRect(10, 10, 1000, 600)),
        (QRect(0, 0, 1602, 1025), SMALL, SMALL),
        (QRect(0, 5, 1280, 719), SMALL, QRect(0, 1, 1280, 719)),
        (QRect(900, 300, 1000, 600), SMALL, QRect(280, 120, 1000, 600)),
        (QRect(-50, -20, 1000, 600), SMALL, QRect(0, 0, 1000, 600)),
        (QRect(1500, 0, 2000, 900), QRect(1280, 30, 1600, 970), QRect(1280, 30, 1600, 900)),
    ],
)
def test_a_frame_is_cut_to_the_screen_and_moved_there(frame, available, wanted):
    assert fitted(frame, available) == wanted


@pytest.mark.parametrize("state", ["", "maximised", "full screen"])
def test_a_window_of_a_screen_that_is_gone_comes_back_on_one_that_is_there(opened, settings, qtbot, state):
    settings.change(geometry=b64decode(ON_A_SECOND_SCREEN), window_state=state)
    window, _ = opened()
    qtbot.waitUntil(lambda: window.screen().geometry().intersects(window.frameGeometry()))
    window.showNormal()
    qtbot.waitUntil(lambda: is_on_screen(window))


def test_the_first_window_fits_the_screen(qtbot, opened):
    window, _ = opened()
    screen = window.screen().availableGeometry()
    assert screen.width() < WANTED.width(), "else nothing is tested"
    qtbot.waitUntil(lambda: is_on_screen(window))
    assert window.minimumWidth() <= min(LEAST.width(), screen.width())


def test_a_window_from_a_larger_screen_fits(qtbot, opened, settings):
    window, placement = opened(size=QSize(1500, 900))
    placement.save()
    window.close()
    again, _ = opened()
    qtbot.waitUntil(lambda: is_on_screen(again))


@pytest.mark.parametrize("show", ["showMaximized", "showFullScreen"])
def test_the_state_comes_back(qtbot, opened, settings, show):
    window, placement = opened()
    getattr(window, show)()
    state = window.windowState() & ~Qt.WindowState.WindowActive
    assert state
    placement.save()
    window.close()
    again, _ = opened()
    assert again.windowState() & state


def test_the_state_comes_back_where_qt_refuses_the_geometry(opened, settings):
    """It does so on a screen of quite another width."""
    settings.change(geometry=b"not a geometry", window_state="maximised")
    window, _ = opened()
    assert window.isMaximized()


def test_a_window_that_is_no_longer_maximised_fits(qtbot, opened):
    window, _ = opened(size=QSize(1500, 900))
    window.showMaximized()
    window.showNormal()
    qtbot.waitUntil(lambda: is_on_screen(window))


def test_a_size_that_somebody_gave_it_stays(qtbot, opened):
    window, placement = opened(size=QSize(1500, 900))
    placement.keep_on_screen()
    assert window.size() == QSize(1500, 900)


@pytest.mark.parametrize("points", [9.0, 13.0, 14.0])
def test_the_window_can_be_as_narrow_as_a_small_screen(desk, monkeypatch, qapp, points):
    from app import theme

    def large(offset: float = 0.0) -> QFont:
        font = QFont(qapp.font())
        font.setPointSizeF(points + offset)
        return font

    before = qapp.font()
    monkeypatch.setattr(theme, "ui_font", large)
    theme.apply(qapp, "light")
    try:
        desk.open("a+b")
        desk.window.resize(1280, 690)
        desk.wait(lambda: desk.window.dock_layout.is_narrow)
        assert desk.window.minimumSizeHint().width() <= 1280
        assert desk.window.size() == QSize(1280, 690)
        for pane in (desk.panes.generation, desk.window.toolbar):
            right = pane.mapTo(desk.window, pane.rect().topRight()).x()
            assert right <= 1280
    finally:
        monkeypatch.undo()
        qapp.setFont(before)
        theme.apply(qapp, "light")
