"""How long a newcomer waits for the first window: from the start of the process to its first paint, milliseconds.

    python tests/benchmarks/first_window.py [runs]

The first run is cold, if nothing has run before, and is shown apart. The window is painted offscreen, which takes
what it takes on a desktop, less the desktop's own share.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def measure() -> float:
    """One start, in milliseconds."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "app.main", "--exit-after-paint"]
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "painted":
                return (time.perf_counter() - begun) * 1000
    raise RuntimeError("the window did not come up")


def main() -> None:
    """Print the figures."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    first, *warm = (measure() for _ in range(runs + 1))
    print(  # noqa: T201 - a script for people
        f"first {first:.0f} ms · warm median {statistics.median(warm):.0f} ms, worst {max(warm):.0f} ms"
    )


if __name__ == "__main__":
    main()
