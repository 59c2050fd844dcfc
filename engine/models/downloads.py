"""Downloads in a child process, with progress, and the cache folder of downloaded models.

A download can be cancelled at any time. It is prepared in a temporary folder beside its final location and then
renamed, so a reader sees all of it or nothing, even after an interruption.

Rejected: downloading in a thread, which cannot be stopped while it waits for a server.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.models.source import ModelError
from engine.source import CancelToken
from engine.source.processes import start_python

VARIABLE = "TURNSTILE_CACHE"
_PARTIAL = ".partial-"
_STALE_SECONDS = 24 * 3600


def cache_folder() -> Path:
    """Return the folder of downloaded models: in `TURNSTILE_CACHE`, or in the user's cache folder of the platform."""
    chosen = os.environ.get(VARIABLE)
    root = Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("turnstile", appauthor=False)
    return root / "models"


@contextmanager
def temporary_folder(needed_bytes: int) -> Iterator[Path]:
    """Create an empty folder on the disk of the cache, which is removed at the end in any case.

    Args:
        needed_bytes: the largest amount that will be written.

    Raises:
        ModelError: the cache is not writable, the disk has less free space than needed, or it is full during the work.
    """
    root = cache_folder()
    with _disk_errors(root, needed_bytes):
        root.mkdir(parents=True, exist_ok=True)
        _remove_stale(root)
        free = shutil.disk_usage(root).free
        if free < needed_bytes:
            raise ModelError(
                "errors.models.little_space",
                folder=root,
                free=free / 1000000.0,
                needed=needed_bytes / 1000000.0,
                variable=VARIABLE,
            )
        folder = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=root))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def install(source: Path, final: Path) -> None:
    """Move a finished folder to its final location, unless another process was first."""
    try:
        source.replace(final)
    except OSError:
        if not final.is_dir():
            raise


@contextmanager
def _disk_errors(root: Path, needed_bytes: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(
            "errors.models.not_writable",
            folder=root,
            reason=error.strerror or str(error),
            needed=needed_bytes / 1000000.0,
            variable=VARIABLE,
        ) from error


def _remove_stale(root: Path) -> None:
    """Remove folders that killed processes left; recent ones stay, since a process may still use them."""
    for leftover in root.glob(_PARTIAL + "*"):
        if time.time() - leftover.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(leftover, ignore_errors=True)


_POLL_SECONDS = 0.1
_TERMINATE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ChildResult:
    """The result of a child process: its exit status, and its output including stderr."""

    status: int
    output: str

    def last_line(self, marker: str = "") -> str:
        """Return the last line of the output that contains `marker`; empty if there is none."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip() and marker in line]
        return lines[-1] if lines else ""


def run_child(
    arguments: Sequence[str], environment: Mapping[str, str], cancel: CancelToken, report: Callable[[], None]
) -> ChildResult:
    """Run a child process of Python to its end, calling `report` several times a second.

    Args:
        arguments: the command line after the interpreter.
        environment: the environment of the child.
        cancel: checked several times a second.
        report: reports progress.

    Raises:
        CancelledError: the work was cancelled, and the child has ended.
    """
    with tempfile.TemporaryFile() as output:
        with start_python(
            arguments, environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        ) as child:
            try:
                while True:
                    try:
                        child.wait(_POLL_SECONDS)
                        break
                    except subprocess.TimeoutExpired:
                        report()
                        cancel.check()
            finally:
                _end(child)
        output.seek(0)
        return ChildResult(child.returncode, output.read().decode("utf-8", errors="replace"))


def bytes_under(folder: Path) -> int:
    """Return the size of all files in a folder, to which other processes may write at the same time."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:  # the file was removed meanwhile
            continue
    return total


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(_TERMINATE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
