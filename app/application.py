"""The composition root: the only module that creates the services of the window.

It is separate from `app.main` because that module is imported again by every worker process, which must not load Qt.
"""

from __future__ import annotations

import argparse
import gc
import logging
import signal
import sys
import tempfile
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path

from PySide6.QtCore import QLoggingCategory, qInstallMessageHandler
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app import diagnostic_log, theme
from app.catalogue import ui_text
from app.document import Autosave, Document, DocumentError, file
from app.jobs import GarbageCollector
from app.session import Notification, Session, WorkerPool
from app.settings import Settings
from app.window.exception_hook import report_uncaught
from app.window.main_window import MainWindow
from app.window.offscreen import play
from app.window.process_end import ProcessEnd
from app.window.stall_watch import StallWatch
from engine.cli.exit_codes import ExitCode

_log = logging.getLogger(__name__)

DEFAULT_SCREENSHOT = Path("turnstile.png")
_QT_MESSAGE = 300  # characters


def run(options: argparse.Namespace, *, is_offscreen: bool) -> int:
    """Open the window, or run the session offscreen and draw it to a file; return the exit code.

    Args:
        options: the options of `app.main`.
        is_offscreen: whether there is no display, or a screenshot was requested.
    """
    if is_offscreen and (why_not := next(filter(None, map(_unreadable, options.documents)), "")):
        # Without a window its message would be invisible, and the session of another document would run.
        _print_error(why_not)
        return ExitCode.MISUSE
    if is_offscreen and options.screenshot is None:
        _print(ui_text("window.start.no_display", path=DEFAULT_SCREENSHOT))
        options.screenshot = DEFAULT_SCREENSHOT
    with ExitStack() as stack:
        return _run(options, stack)


def _unreadable(path: Path) -> str:
    """Return why a file cannot be opened; empty if it can."""
    try:
        _ = file.read_document(path) if file.is_document(path) else file.read_grammar(path)
    except DocumentError as error:
        return str(error)
    return ""


def _run(options: argparse.Namespace, stack: ExitStack) -> int:
    app = _application()
    stack.callback(qInstallMessageHandler, None)  # Qt may log while Python shuts down
    window = _window(app, options, stack)
    if options.screenshot is not None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends it at once: there is no work to keep
        window.resize(*options.size)
        return play(app, window, options.documents, options.screenshot, _print, _print_error)
    ending = ProcessEnd(app, window.end, window.prepare_for_session_end)
    stack.callback(ending.stop)
    window.show()
    if options.exit_after_paint:
        window.painted.connect(lambda: _print("painted"))
        window.painted.connect(window.close_without_asking)
        return app.exec()
    # The workers start after the window's first paint, so that nothing competes with it.
    window.painted.connect(lambda: window.begin(*options.documents))
    # The objects created so far live as long as the window: exempting them from later garbage collections avoids pauses
    # of tens of milliseconds in the event loop.
    window.painted.connect(gc.freeze)
    return app.exec()


def _application() -> QApplication:
    # Tokens are written in forty scripts; a missing system font for some of them is of no interest to the user.
    QLoggingCategory.setFilterRules("qt.text.font.db.warning=false")
    qInstallMessageHandler(_log_qt)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("turnstile")
    app.setApplicationDisplayName(ui_text("window.main.name"))
    app.setDesktopFileName("turnstile")
    app.setWindowIcon(QIcon(str(_icon_path())))
    GarbageCollector(app)
    return app


def _window(app: QApplication, options: argparse.Namespace, stack: ExitStack) -> MainWindow:
    why_no_log = "" if options.screenshot is not None else diagnostic_log.begin()
    scratch: Path | None = None
    if options.screenshot is not None:  # a picture shows a first start, whatever the user's settings are
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="turnstile-")))
    settings = Settings(scratch / "preferences.json" if scratch else None)
    if scratch:
        settings.change(welcomed=True)
    chosen = options.theme or settings.preferences.theme
    theme.choose(settings.preferences.palette, settings.preferences.text_size)
    theme.prepare(app, chosen)
    app.styleHints().colorSchemeChanged.connect(lambda _scheme: theme.apply(app, settings.preferences.theme))
    document = Document(Autosave(scratch / "autosave" if scratch else None), app)
    window = MainWindow(Session(document, WorkerPool(app), app), settings)
    stack.callback(report_uncaught(window.show_notification))
    StallWatch(window)
    if why_no_log:
        text = ui_text("window.start.no_log", reason=why_no_log)
        window.painted.connect(lambda: window.show_notification(Notification("window", text, severity="hint")))
    return window


def _icon_path() -> Path:
    """Return the path of the application's icon; the package is never run from an archive, so the file remains."""
    with as_file(files("resources") / "icons" / "turnstile-256.png") as path:
        return path


def _log_qt(kind: object, _context: object, message: str) -> None:
    """Log a message of Qt."""
    level = {"QtDebugMsg": logging.DEBUG, "QtInfoMsg": logging.INFO, "QtWarningMsg": logging.WARNING}
    _log.log(level.get(getattr(kind, "name", ""), logging.ERROR), "Qt: %s", message[:_QT_MESSAGE])


def _print(text: str) -> None:
    if sys.stdout is not None:  # there is none under pythonw
        print(text, flush=True)  # noqa: T201


def _print_error(text: str) -> None:
    if sys.stderr is not None:
        print(f"turnstile: {text}", file=sys.stderr, flush=True)  # noqa: T201
