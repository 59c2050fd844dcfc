"""The diagnostic log: information about crashes, failed jobs and stalls for a report.

Each run of the window has files of its own in the user's log folder, one for the window and one for each kind of
worker, so that no two processes rotate one file. A file has a bounded size, and only the latest runs are kept.

The log contains no text of the user: the message of an exception may quote a grammar or an output, so it is replaced by
its length and a hash unless its type only names code or parts of the system.

Rejected: one file for all processes behind a lock, which a crash can leave locked; records that workers send to the
window, since the most important one is what a worker wrote just before it died.
"""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import logging
import os
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

import platformdirs

from app.storage import APPLICATION

FILE_BYTES: Final = 512 * 1024  # and as much again in the previous file
RUNS: Final = 10
_COPIED_LINES: Final = 200
_LOGGERS: Final = ("app", "engine")
_PACKAGES: Final = (
    *"token-turnstile PySide6 PySide6-Essentials numpy numba torch transformers pygraphviz pyqtgraph".split(),
)
# Their messages name code or parts of the system, and nothing that a user wrote.
_PLAIN: Final = (ImportError, AttributeError, NameError, MemoryError, RecursionError)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LogFile:
    """The log of one process."""

    path: Path

    def open(self) -> None:
        """Log to it from now on, crashes of native code included.

        Raises:
            OSError: it cannot be written.
        """
        handler = _Handler(self.path, maxBytes=FILE_BYTES, backupCount=1, encoding="utf-8", errors="backslashreplace")
        handler.setFormatter(_Formatter())
        for name in _LOGGERS:
            logger = logging.getLogger(name)
            logger.addHandler(handler)
            logger.setLevel(logging.INFO)
        if sys.stderr is not None:
            _keep_terminal()
        _log.info("%s", " · ".join(versions()))


class _Run:
    """The log of this run of the window, once it has begun."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.name = ""


_run = _Run()


def begin(folder: Path | None = None) -> str:
    """Begin the log of this run of the window.

    Args:
        folder: the folder of the logs; the user's log folder by default.

    Returns:
        why there is none; empty if there is one.
    """
    folder = folder or platformdirs.user_log_path(APPLICATION)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        LogFile(folder / f"{name}-window.log").open()
    except OSError as error:
        return error.strerror or str(error)
    _run.folder, _run.name = folder, name
    _remove_old(folder)
    return ""


def log_of(process: str) -> LogFile | None:
    """Return the log of a worker process of this run; None if there is no log."""
    return LogFile(_run.folder / f"{_run.name}-{process}.log") if _run.folder is not None else None


def folder() -> Path | None:
    """Return the folder of the logs; None if there is no log."""
    return _run.folder


def details() -> str:
    """Return the versions and the last lines of this run's logs, in the order in which they were written."""
    lines: list[str] = []
    if _run.folder is not None:
        for file in sorted(_run.folder.glob(f"{_run.name}-*.log")):
            with contextlib.suppress(OSError):
                process = file.stem.rpartition("-")[2]
                entries = _entries(file.read_text("utf-8", errors="replace").splitlines())
                lines += [entry.replace(" ", f" [{process}] ", 1) for entry in entries]
    lines.sort(key=lambda entry: entry[: len("2000-01-01T00:00:00.000")])
    last = "\n".join(lines).splitlines()[-_COPIED_LINES:]
    return "\n".join((*versions(), "", *last)).rstrip() + "\n"


def versions() -> list[str]:
    """Return the facts about the installation and the machine that a report needs."""
    found = [f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    desktop = os.environ.get("XDG_CURRENT_DESKTOP", "")
    return [*found, f"{system}, {os.cpu_count()} processors", *([f"desktop {desktop}"] if desktop else [])]


def of_text(text: str) -> str:
    """Return the log's replacement for a text that the user wrote: its length and a hash."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{len(text):,} characters, {digest}"


def of_error(error: BaseException) -> str:
    """Return the log's text for an exception."""
    kind = type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        return f"{kind}: {error.strerror}"
    text = str(error)
    if isinstance(error, _PLAIN) or not text:
        return f"{kind}: {text}" if text else kind
    return f"{kind} (message of {of_text(text)})"


class _Formatter(logging.Formatter):
    """Formats each record as one line, and tracebacks without the texts of exceptions."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        plain = logging.makeLogRecord(record.__dict__)
        if isinstance(plain.args, tuple):
            plain.args = tuple(of_error(one) if isinstance(one, BaseException) else one for one in plain.args)
        plain.exc_text = None  # another handler may have formatted it, messages included
        return super().format(plain).replace(str(Path.home()), "~").replace("\n", "\n    ")

    def formatTime(self, record: logging.LogRecord, _datefmt: str | None = None) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(record.created)) + f".{int(record.msecs):03}"

    def formatException(self, ei: object) -> str:
        error = ei[1] if isinstance(ei, tuple) else None
        return "\n".join(_traceback(error)) if isinstance(error, BaseException) else ""


class _Handler(RotatingFileHandler):
    """A rotating file that `faulthandler` also writes to; records that cannot be written are dropped."""

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        faulthandler.enable(stream, all_threads=True)  # it wrote to the previous file, if there was one
        return stream

    def handleError(self, _record: logging.LogRecord) -> None:
        """Do nothing: the disk is full, and the log is less important than the user's work."""


def _keep_terminal() -> None:
    """Keep writing warnings to the terminal, as Python does by default."""
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(terminal)


def _traceback(error: BaseException) -> Iterator[str]:
    """Yield the lines of a traceback, causes first."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _traceback(before)
        yield "followed by"
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        yield f"  {code.co_filename}:{trace.tb_lineno} in {code.co_qualname}"
        trace = trace.tb_next
    yield of_error(error)


def _entries(lines: list[str]) -> list[str]:
    """Join each line of a log with its continuation lines, which are indented or written by `faulthandler`."""
    entries: list[str] = []
    for line in lines:
        if line[:1].isdigit() or not entries:
            entries.append(line)
        else:
            entries[-1] += f"\n{line}"
    return entries


def _remove_old(folder: Path) -> None:
    """Remove the logs of all but the latest runs, and keep those of open windows."""
    runs: dict[str, list[Path]] = {}
    with contextlib.suppress(OSError):
        for file in folder.glob("*.log*"):
            runs.setdefault("-".join(file.name.split("-")[:3]), []).append(file)
    for run in sorted(runs)[:-RUNS]:
        if not _is_alive(run.rpartition("-")[2]):
            for file in runs[run]:
                with contextlib.suppress(OSError):  # Windows keeps files that are open
                    file.unlink()


def _is_alive(pid: str) -> bool:
    if os.name == "nt" or not pid.isdecimal() or len(pid) > 9:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return int(pid) > 0
