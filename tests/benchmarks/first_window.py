"""How long a newcomer waits for the first window: from the start of the process to its first paint, milliseconds.

    python tests/benchmarks/first_window.py [runs]

The first run is cold, if nothing has run before, and is shown apart; it writes the bytecode, which an installation has
and this machine may be told not to write. The window is painted offscreen, which takes what it takes on a desktop, less
the desktop's own share. Beside the wait stands the processor's time, which says more on a machine that others use too.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Start(NamedTuple):
    """One start, in milliseconds."""

    wait: float
    processor: float


def measure(bytecode: str) -> Start:
    """Start once; the folder keeps the bytecode."""
    command = [sys.executable, "-m", "app.main", "--exit-after-paint"]
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", PYTHONPYCACHEPREFIX=bytecode)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, begun = _processor_ms(), time.perf_counter()
    wait = None
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "painted":
                wait = (time.perf_counter() - begun) * 1000
    if wait is None:
        raise RuntimeError("the window did not come up")
    return Start(wait, _processor_ms() - before)


def _processor_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def starts(runs: int) -> tuple[Start, list[Start]]:
    """The first start, and those that follow."""
    with tempfile.TemporaryDirectory() as bytecode:
        first, *warm = (measure(bytecode) for _ in range(runs + 1))
    return first, warm


def main() -> None:
    """Print the figures."""
    first, warm = starts(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
    waits, processor = [start.wait for start in warm], [start.processor for start in warm]
    print(  # noqa: T201 - a script for people
        f"first {first.wait:.0f} ms · warm median {statistics.median(waits):.0f} ms, worst {max(waits):.0f} ms"
        f" · processor median {statistics.median(processor):.0f} ms, least {min(processor):.0f} ms"
    )


if __name__ == "__main__":
    main()
