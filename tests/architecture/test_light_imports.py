"""What must start fast loads nothing heavy: torch alone takes longer than the first window may."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "numba", "pygraphviz", "fast_sugiyama", "networkx", "regex")
QT = ("PySide6", "shiboken6", "pyqtgraph", "qtawesome")


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("engine", (*HEAVY, *QT, "app", "numpy")),
        ("engine.compile", (*HEAVY, *QT, "app", "numpy")),
        ("engine.masking", (*HEAVY, *QT, "app", "numpy")),
        ("engine.vocabulary", (*HEAVY, *QT, "app", "numpy")),
        ("engine.models", (*HEAVY, *QT, "app")),
        ("engine.cli.main", (*HEAVY, *QT, "app")),
        ("app.main", HEAVY),
        ("app.window.main_window", (*HEAVY, "numpy", "qtpy")),
        ("app.workers.messages", (*HEAVY, *QT, "numpy")),
    ],
)
def test_an_import_stays_light(module, unwanted):
    code = f"import sys, {module}; print(*(name for name in {unwanted!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr
