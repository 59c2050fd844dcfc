"""The composition root: the only module that creates services, and the entry point of `turnstile` without a subcommand.

Importing this module must stay cheap and free of Qt: a spawned worker imports the main module again before it does
anything else.
"""

from __future__ import annotations

import argparse
import gc
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from app import diagnostic_log
from app.catalogue import ui_text
from engine.cli.arguments import ArgumentParser
from engine.cli.exit_codes import ExitCode, help_text
from engine.source.processes import protect_imports

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.window.main_window import MainWindow

_log = logging.getLogger(__name__)

_QT_MESSAGE = 300  # characters

DEFAULT_SCREENSHOT = "turnstile.png"


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window; without a display, run the session offscreen. Return the exit code."""
    multiprocessing.freeze_support()
    options = _parser().parse_args(sys.argv[1:] if argv is None else argv)
    plays = options.screenshot is not None or not has_display()
    if plays and options.document is not None and (why_not := _unreadable(options.document)):
        # Without a window its message would be invisible, and the session of another document would run.
        _complain(why_not)
        return ExitCode.MISUSE
    if options.screenshot is None and not has_display():
        _say(ui_text("window.start.no_display", path=DEFAULT_SCREENSHOT))
        options.screenshot = Path(DEFAULT_SCREENSHOT)
    if options.screenshot is not None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with ExitStack() as stack:
        return _run(options, stack)


def has_display() -> bool:
    """Return whether a window can be shown; only X11 and Wayland desktops can lack a display."""
    if os.name == "nt" or sys.platform == "darwin":
        return True
    named = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return any(os.environ.get(name) for name in named)


def _unreadable(path: Path) -> str:
    """Return why a file cannot be opened; empty if it can."""
    from app.document import DocumentError, file

    try:
        _ = file.read_document(path) if file.is_document(path) else file.read_grammar(path)
    except DocumentError as error:
        return str(error)
    return ""


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser("turnstile", description=ui_text("window.start.about"), epilog=help_text("window"))
    parser.add_argument("document", nargs="?", type=Path, help=ui_text("window.start.fragment.document"))
    parser.add_argument(
        "--screenshot",
        type=Path,
        metavar="PATH",
        help=ui_text("window.start.fragment.screenshot"),
    )
    parser.add_argument("--theme", choices=("system", "light", "dark"), help=ui_text("window.start.fragment.theme"))
    parser.add_argument(
        "--size", type=_size, default=(1600, 1000), metavar="SIZE", help=ui_text("window.start.fragment.size")
    )
    parser.add_argument("-session", help=argparse.SUPPRESS)  # added by Qt when an X11 session manager restarts it
    parser.add_argument("--exit-after-paint", action="store_true", help=argparse.SUPPRESS)  # for the start benchmark
    return parser


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) > 0 and int(height) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT")
    return int(width), int(height)


def _run(options: argparse.Namespace, stack: ExitStack) -> int:
    app = _application()
    stack.callback(_forget_qt)  # Qt may log while Python shuts down
    window = _window(app, options, stack)
    if options.screenshot is not None:
        from app.window.offscreen import play

        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends it at once: there is no work to keep
        window.resize(*options.size)
        return play(app, window, options.document, options.screenshot, _say, _complain)
    from app.window.process_end import ProcessEnd

    ending = ProcessEnd(app, window.end, window.prepare_for_session_end)
    stack.callback(ending.stop)
    window.show()
    if options.exit_after_paint:
        window.painted.connect(lambda: _say("painted"))
        window.painted.connect(window.close_without_asking)
        return app.exec()
    # The workers start after the window's first paint, so that nothing competes with it.
    window.painted.connect(lambda: window.begin(options.document))
    # The objects created so far live as long as the window: exempting them from later garbage collections avoids pauses
    # of tens of milliseconds in the event loop.
    window.painted.connect(gc.freeze)
    return app.exec()


def _application() -> QApplication:
    from PySide6.QtCore import QLoggingCategory, qInstallMessageHandler
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QApplication

    from app.jobs import GarbageCollector

    # Tokens are written in forty scripts; a missing system font for some of them is of no interest to the user.
    QLoggingCategory.setFilterRules("qt.text.font.db.warning=false")
    qInstallMessageHandler(_log_qt)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("turnstile")
    app.setApplicationDisplayName("Turnstile")
    app.setDesktopFileName("turnstile")
    app.setWindowIcon(QIcon(str(_icon_path())))
    GarbageCollector(app)
    return app


def _window(app: QApplication, options: argparse.Namespace, stack: ExitStack) -> MainWindow:
    from app import theme
    from app.document import Autosave, Document
    from app.session import Notification, Session, WorkerPool
    from app.settings import Settings
    from app.window.exception_hook import report_uncaught
    from app.window.main_window import MainWindow
    from app.window.stall_watch import StallWatch

    why_no_log = "" if options.screenshot is not None else diagnostic_log.begin()
    scratch: Path | None = None
    if options.screenshot is not None:  # a picture shows a first start, whatever the user's settings are
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="turnstile-")))
    settings = Settings(scratch / "preferences.json" if scratch else None)
    chosen = options.theme or settings.preferences.theme
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


def _complain(text: str) -> None:
    if sys.stderr is not None:
        print(f"turnstile: {text}", file=sys.stderr, flush=True)  # noqa: T201


def _log_qt(kind: object, _context: object, message: str) -> None:
    """Log a message of Qt."""
    level = {"QtDebugMsg": logging.DEBUG, "QtInfoMsg": logging.INFO, "QtWarningMsg": logging.WARNING}
    _log.log(level.get(getattr(kind, "name", ""), logging.ERROR), "Qt: %s", message[:_QT_MESSAGE])


def _forget_qt() -> None:
    from PySide6.QtCore import qInstallMessageHandler

    qInstallMessageHandler(None)


def _say(text: str) -> None:
    if sys.stdout is not None:  # there is none under pythonw
        print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    protect_imports()
    sys.exit(main())
