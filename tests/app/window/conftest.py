"""A whole window with real worker processes and small models."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from event_loop import Watchdog
from model_doubles import decode_handler
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.exceptions import TimeoutError as QtTimeout

from app import theme
from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart
from app.session import Session, WorkerPool
from app.settings import Settings
from app.window.main_window import MainWindow
from app.workers.decode import DecodeHandler

LONGEST_STANDSTILL_MS = 50


class Desk:
    """A window, and what a test waits for in it."""

    def __init__(self, qtbot, tmp_path, qapp: QApplication, handler=decode_handler) -> None:
        self.qtbot = qtbot
        self.settings = Settings(tmp_path / "preferences.json")
        theme.prepare(qapp, "light")
        self.document = Document(Autosave(tmp_path / "autosave"))
        self.session = Session(self.document, WorkerPool(decode_handler=handler))
        self.window = MainWindow(self.session, self.settings)
        self.panes = self.window.panes
        self.window.resize(1600, 1000)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.activate()

    def activate(self) -> None:
        """Make the window the active one, as a window manager does; shortcuts and the focus depend on it."""
        self.window.activateWindow()
        self.wait(self.window.isActiveWindow)

    def open(self, text: str, model: str = "letters", *, notation: str = "regex") -> None:
        """Show a document and wait until a step is possible."""
        self.session.start()
        self.document.replace(DocumentFile(grammar=GrammarPart(notation, text), model=ModelPart(model)))
        self.wait(self.is_ready)

    def is_ready(self) -> bool:
        """Return whether the model of the document is loaded and has read its grammar as it stands."""
        decoding = self.session.decoding
        is_read = decoding.view.grammar_revision == self.document.revision
        return not self.session.step_refusal and not decoding.model_is_loading and is_read

    def wait(self, condition) -> None:
        """Wait until a condition holds; a failure says what the session was waiting for."""
        try:
            self.qtbot.waitUntil(condition)
        except QtTimeout as error:
            raise AssertionError(f"{error}; {self.state()}") from error

    def state(self) -> str:
        """Return what the processes do and why no step is possible."""
        pool, decoding = self.session.worker_pool, self.session.decoding
        return (
            f"refusal {self.session.step_refusal!r}, revision {self.document.revision}, "
            f"compile {pool.compile.pending}, decode {pool.decode.pending}, view {decoding.view}"
        )

    @property
    def output(self) -> bytes | None:
        position = self.session.decoding.view.position
        return position.output if position else None

    def close(self) -> None:
        self.window.close_without_asking()
        self.session.close()
        for part in (self.window, self.session, self.document):  # else every later theme would dress this one too
            part.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def desk(workers, qtbot, tmp_path, qapp) -> Iterator[Desk]:
    desk = Desk(qtbot, tmp_path, qapp)
    yield desk
    desk.close()


@pytest.fixture
def real_desk(workers, qtbot, tmp_path, qapp) -> Iterator[Desk]:
    """A window with the models that are bundled."""
    desk = Desk(qtbot, tmp_path, qapp, DecodeHandler)
    yield desk
    desk.close()


@pytest.fixture
def watchdog(qapp) -> Iterator[Watchdog]:
    """Fails a test in which the event loop stopped for too long.

    The objects of earlier tests are no part of a window, so the garbage collector ignores them.
    """
    gc.collect()
    gc.freeze()
    watchdog = Watchdog()
    watchdog.start()
    yield watchdog
    watchdog.stop()
    gc.unfreeze()
    assert watchdog.longest_ms < LONGEST_STANDSTILL_MS, f"the event loop stopped for {watchdog.longest_ms:.0f} ms"
