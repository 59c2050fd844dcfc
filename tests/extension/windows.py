"""A window with an extension, and the ways to a command in it: menu, keys and palette."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu

from app import theme
from app.commands import DECLARED
from app.dialogs.palette import CommandPalette
from app.document import Autosave, Document
from app.session import Session, WorkerPool
from app.settings import Settings
from app.theme.mnemonics import without_mnemonic
from app.window.main_window import MainWindow

PATIENCE_MS = 120_000


@pytest.fixture
def window(installed, qtbot, qapp, tmp_path):
    """Open a window; what the extension declares is forgotten after the test."""
    declared = dict(DECLARED)
    theme.prepare(qapp, "light")
    session = Session(Document(Autosave(tmp_path / "autosave")), WorkerPool())
    window = MainWindow(session, Settings(tmp_path / "preferences.json"))
    window.show()
    qtbot.waitExposed(window, timeout=PATIENCE_MS)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=PATIENCE_MS)
    yield window
    window.close_without_asking()
    session.close()
    for part in (window, session, session.document):
        part.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    DECLARED.clear()
    DECLARED.update(declared)


def run_by_menu(window: MainWindow, qtbot, command_id: str) -> None:
    """Trigger the entry of a menu."""
    entries = [entry for menu in window.menuBar().findChildren(QMenu) for entry in menu.actions()]
    next(entry for entry in entries if entry.objectName() == command_id).trigger()


def run_by_keys(window: MainWindow, qtbot, command_id: str) -> None:
    """Press the keys."""
    qtbot.keySequence(window.panes.editor.edit, QKeySequence(window.commands[command_id].shortcut()))


def run_by_palette(window: MainWindow, qtbot, command_id: str) -> None:
    """Type the title in the palette and take the first entry."""
    palette = CommandPalette(window.commands, window)
    palette.apply_filter(without_mnemonic(window.commands[command_id].text()))
    palette.accept()
    palette.deleteLater()


RUN: dict[str, Callable[[MainWindow, object, str], None]] = {
    "menu": run_by_menu,
    "keys": run_by_keys,
    "palette": run_by_palette,
}
