"""Starts the window many times, opens every late pane at once, steps, and counts the starts that end in a crash.

    python tests/benchmarks/starts.py [--count 500] [--parallel 2]

Each start is a process of its own, painted offscreen, with real workers and a model that costs nothing. It opens the
panes in another order each time, while the libraries of the plots are still being imported, and ends once both plots
are drawn. In every second start glibc overwrites what is freed (`MALLOC_PERTURB_`), so that the use of a freed object
does not go unnoticed.
"""

# ruff: noqa: T201 - a script for people

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
PANES = (
    "view.timeline",
    "view.probabilities",
    "view.tests",
    "view.breakpoints",
    "view.forced",
    "view.baseline",
    "view.explanation",
    "view.reference",
    "view.gbnf",
)
START = """
import random, sys
from pathlib import Path
sys.path[:0] = [{support!r}]
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

def main():
    from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart
    from app.document.file import write
    from app.jobs import GarbageCollector
    from app.session import Session, WorkerPool
    from app.settings import Settings
    from app.window.main_window import MainWindow
    from app import theme
    from model_doubles import decode_handler

    home = Path({home!r})
    file = home / "start.turnstile"
    write(file, DocumentFile(grammar=GrammarPart("regex", "[a-z]{{3,9}} [0-9]+"), model=ModelPart(spec="letters")))
    app = QApplication([])
    GarbageCollector(app)
    theme.prepare(app, "light")
    session = Session(Document(Autosave(home / "autosave")), WorkerPool(decode_handler=decode_handler))
    window = MainWindow(session, Settings(home / "preferences.json"))
    panes = list({panes!r})
    random.Random({seed}).shuffle(panes)

    def begin():
        window.begin(file)
        session.decoding.step_when_ready(3)
        for pane in panes:
            window.commands[pane].trigger()
        timer.start(10)

    def look():
        # Both plots draw only where they can be seen, and share no place with the baseline and the other tabs.
        timeline, probabilities = window.panes.view("timeline"), window.panes.view("probabilities")
        if session.decoding.view.trace.path:
            for pane, name in ((timeline, "view.timeline"), (probabilities, "view.probabilities")):
                if pane.plot is None and not pane.isVisible():
                    window.commands[name].trigger()
        if timeline.plot is not None and probabilities.plot is not None:
            timer.stop()
            window.close_without_asking()

    timer = QTimer()
    timer.timeout.connect(look)
    window.painted.connect(begin)
    window.show()
    code = app.exec()
    print("drawn", flush=True)
    sys.exit(code)

if __name__ == "__main__":
    main()
"""


def start(number: int) -> str:
    """Start the window once; return "" or what went wrong."""
    with tempfile.TemporaryDirectory(prefix="turnstile-start-", ignore_cleanup_errors=True) as home:
        script = Path(home, "start.py")
        support = str(ROOT / "tests" / "support")
        script.write_text(START.format(support=support, home=home, panes=PANES, seed=number), "utf-8")
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONFAULTHANDLER": "1",
            "QT_QPA_PLATFORM": "offscreen",
            "OMP_NUM_THREADS": "1",
            **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"), home),
        }
        environment.setdefault("XDG_CACHE_HOME", str(Path("~/.cache").expanduser()))  # the kernels, compiled once
        if number % 2:
            environment["MALLOC_PERTURB_"] = str(1 + number % 255)
        try:
            done = subprocess.run(
                [sys.executable, str(script)],
                cwd=home,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"start {number}: not done after {SECONDS} s"
    said = [line for line in done.stderr.splitlines() if line and not line.startswith("Fontconfig warning")]
    if done.returncode or done.stdout.strip() != "drawn" or said:
        return "\n".join((f"start {number}: exit code {done.returncode}", done.stdout[-500:], *said[-60:]))
    return ""


def main() -> int:
    """Run the starts and print what became of them."""
    parser = argparse.ArgumentParser(description="Start the window many times and count the crashes.")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the number of the first start, which seeds its order")
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=0, help="begin no further start after so many; 0 for no end")
    options = parser.parse_args()
    until = time.monotonic() + options.minutes * 60 if options.minutes else float("inf")
    results: Counter[bool] = Counter()
    with ThreadPoolExecutor(options.parallel) as pool:
        for trouble in pool.map(
            lambda number: start(number) if time.monotonic() < until else None,
            range(options.first, options.first + options.count),
        ):
            if trouble is None:
                continue
            results[not trouble] += 1
            if trouble:
                print(trouble, flush=True)
            if results.total() % 25 == 0:
                print(f"… {results.total()} starts, {results[False]} of them failed", flush=True)
    print(f"{results.total()} starts, {results[False]} of them failed")
    return 1 if results[False] else 0


if __name__ == "__main__":
    sys.exit(main())
