"""A fetch as a child process: it shows how far it is, and can be stopped at any byte.

Rejected: fetching in a thread, which nothing can stop once it waits for a server.
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
_POLITE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ChildResult:
    """How a child process ended: its exit status and what it printed, errors included."""

    status: int
    output: str

    def last_line(self, marker: str = "") -> str:
        """The last line printed that contains `marker`; empty where there is none."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip() and marker in line]
        return lines[-1] if lines else ""


def run_child(
    arguments: Sequence[str], environment: Mapping[str, str], cancel: CancelToken, report: Callable[[], None]
) -> ChildResult:
    """Run Python with arguments to its end, calling `report` meanwhile.

    Raises:
        CancelledError: the work was cancelled; the child is gone by then.
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
    """The size of all files below a folder, while others write there."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:  # it went away while we looked
            continue
    return total


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(_POLITE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
