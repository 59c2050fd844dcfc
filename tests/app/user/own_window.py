"""The window of a random user: real worker processes, small models, and a home that outlives it.

No file dialog opens: one that is asked for answers by itself, as a user at random
would. What nobody caught is kept, and fails the walk at once.
"""

from __future__ import annotations

import random
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model_doubles import decode_handler
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QDesktopServices, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog, QMessageBox, QWidget

from app import theme
from app.document import Autosave, Document
from app.session import Session, WorkerPool
from app.settings import Settings
from app.window.main_window import MainWindow

PATIENCE_MS = 120_000


class OwnWindow:
    """A window that can be closed and opened again.

    Attributes:
        home: where preferences, autosaves and documents lie.
        uncaught: the exceptions that reached nobody, as text.
    """

    window: MainWindow
    session: Session
    document: Document

    def __init__(self, qtbot: Any, qtlog: Any, home: Path, rng: random.Random, monkeypatch: Any) -> None:
        self.qtbot, self.home, self._rng, self._log = qtbot, home, rng, qtlog
        self.uncaught: list[str] = []
        self._read = 0
        self._answer_dialogs(monkeypatch)
        monkeypatch.setattr(sys, "excepthook", self._on_uncaught)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, "light")
        self.open()

    def open(self, path: Path | None = None) -> None:
        """Open the window, on a document or on the first example."""
        self.document = Document(Autosave(self.home / "autosave"))
        self.groups = WorkerPool(decode_handler=decode_handler)
        self.session = Session(self.document, self.groups)
        self.window = MainWindow(self.session, Settings(self.home / "preferences.json"))
        self.window.resize(1600, 1000)
        self.window.show()
        self.qtbot.waitExposed(self.window)
        self.window.activateWindow()
        self.wait(self.window.isActiveWindow, "the window is active")
        self.window.begin(path)

    def close(self) -> None:
        """Close it, as Quit does; unsaved work is lost."""
        self.window.close_without_asking()
        self.session.close()
        for part in (self.window, self.session, self.document, self.groups):
            part.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    # --- waiting -----------------------------------------------------------------------------------------------------

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something holds; fails with what was waited for."""
        try:
            self.qtbot.waitUntil(lambda: condition() or bool(self.uncaught), timeout=PATIENCE_MS)
        except Exception as error:
            raise AssertionError(f"waited in vain until {what}; {self.state()}") from error

    def settle(self) -> None:
        """Wait until nothing is asked of the worker processes, and what was typed has been compiled."""
        self.wait(self._is_settled, "everything has settled")

    def _is_settled(self) -> bool:
        compiling, decoding = self.session.compiling, self.session.decoding
        is_current = compiling.last_good is not None and compiling.last_good.request.revision == self.document.revision
        return (
            not decoding.is_running
            and not any(group.pending for group in self.session.worker_pool)
            and not compiling.awaits_edits
            and (bool(compiling.stale_reason) or is_current)
        )

    def state(self) -> str:
        """Where the session stands, for a failure."""
        pending = {group.name: group.pending for group in self.session.worker_pool if group.pending}
        grammar = self.document.content.grammar
        return (
            f"pending {str(pending)[:300]}, running {self.session.decoding.is_running}, grammar {grammar}, "
            f"stale {self.session.compiling.stale_reason!r}, refusal {self.session.step_refusal!r}"
        )

    def warnings(self) -> list[str]:
        """What Qt warned of since this was asked last."""
        fresh, self._read = self._log.records[self._read :], len(self._log.records)
        return [one.message for one in fresh if not one.ignored and one.log_type_name != "QtDebugMsg"]

    # --- a user's hands ----------------------------------------------------------------------------------------------

    def click(self, widget: QWidget, place: Any = None) -> bool:
        """Click a widget, if it is there to be clicked."""
        if not widget.isVisible() or not widget.isEnabled():
            return False
        where = widget.rect().center() if place is None else place
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)
        return True

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the keys go."""
        QTest.keyClick(self.who_has_the_keys(), key, modifiers)

    def who_has_the_keys(self) -> QWidget:
        """Who gets what is typed; without a window manager, nobody says that a dialog that opened is active."""
        dialogs = [top for top in QApplication.topLevelWidgets() if isinstance(top, QDialog) and top.isVisible()]
        if dialogs:
            return dialogs[-1].focusWidget() or dialogs[-1]
        return QApplication.focusWidget() or self.window

    def type_in(self, widget: QWidget, text: str) -> None:
        """Type a text of any characters; `QTest.keyClicks` ends the process at one that is not in Latin-1."""
        for character in text:
            for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
                event = QKeyEvent(kind, 0, Qt.KeyboardModifier.NoModifier, character)
                QCoreApplication.sendEvent(widget, event)

    # --- dialogs that block ------------------------------------------------------------------------------------------

    @property
    def file(self) -> Path:
        """Where the user saves to."""
        return self.home / "walk.turnstile"

    def _answer_dialogs(self, monkeypatch: Any) -> None:
        existing = lambda *_args, **_named: (str(self.file) if self.file.exists() else "", "")  # noqa: E731
        chosen = lambda *_args, **_named: (self._rng.choice([str(self.file), ""]), "")  # noqa: E731
        buttons = QMessageBox.StandardButton
        monkeypatch.setattr(QFileDialog, "getOpenFileName", existing)
        monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_args, **_named: ([], ""))
        monkeypatch.setattr(QFileDialog, "getSaveFileName", chosen)
        monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args, **_named: "")
        monkeypatch.setattr(QDesktopServices, "openUrl", lambda *_args: True)
        monkeypatch.setattr(QInputDialog, "getText", lambda *_args, **_named: ("", False))
        answers = (buttons.Save, buttons.Discard, buttons.Discard, buttons.Cancel)
        monkeypatch.setattr(QMessageBox, "question", lambda *_args, **_named: self._rng.choice(answers))

    def _on_uncaught(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        self.uncaught.append("".join(traceback.format_exception(kind, error, trace)))
