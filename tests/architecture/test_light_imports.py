"""What must start fast loads nothing heavy: torch alone takes longer than the first window may."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from syntax import parsed

HEAVY = ("torch", "transformers", "numba", "pygraphviz", "fast_sugiyama", "networkx", "regex")
MESSAGES = (
    "protocol",
    "requests.audit",
    "requests.compile",
    "requests.decode",
    "requests.engines",
    "requests.export",
    "requests.forced",
    "requests.judge",
    "requests.layout",
    "requests.scoring",
    "requests.strategies",
)
QT = ("PySide6", "shiboken6", "pyqtgraph", "qtawesome")


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("engine", (*HEAVY, *QT, "app", "numpy")),
        ("engine.compile", (*HEAVY, *QT, "app", "numpy")),
        ("engine.masking", (*HEAVY, *QT, "app", "numpy")),
        ("engine.vocabulary", (*HEAVY, *QT, "app", "numpy")),
        ("engine.models", (*HEAVY, *QT, "app")),
        ("engine.cli.main", (*HEAVY, *QT, "app", "numpy")),
        *((f"engine.cli.{name}", (*HEAVY, *QT, "app")) for name in ("check", "explain", "generate")),
        ("app.entry", (*HEAVY, *QT, "numpy", "argparse")),
        ("app.main", HEAVY),
        ("app.window.main_window", (*HEAVY, "numpy", "qtpy")),
        *((f"app.workers.{name}", (*HEAVY, *QT, "numpy")) for name in MESSAGES),
    ],
)
def test_an_import_stays_light(module, unwanted):
    code = f"import sys, {module}; print(*(name for name in {unwanted!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr


@pytest.mark.parametrize(
    "package",
    [
        "engine",
        "engine.analysis",
        "engine.compile",
        "engine.decoding",
        "engine.masking",
        "engine.matching",
        "engine.vocabulary",
    ],
)
def test_no_name_of_a_lazy_package_is_a_module_of_it(package):
    """Importing such a module would put it in the place of the function of its name."""
    loaded = importlib.import_module(package)
    modules = {module.name for module in pkgutil.iter_modules(loaded.__path__)}
    tree = parsed(Path(loaded.__file__).read_text("utf-8"))
    imported = {alias.name for line in tree.body if isinstance(line, ast.ImportFrom) for alias in line.names}
    assert (set(loaded.__all__) - imported) & modules == set()
