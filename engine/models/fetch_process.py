"""Downloads in a child process, with progress, which can be cancelled at any time.

Rejected: downloading in a thread, which cannot be stopped while it waits for a server.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.source import CancelToken
from engine.source.processes import start_python

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
