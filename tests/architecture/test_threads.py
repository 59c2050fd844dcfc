"""No class of Qt is defined, and no module of PySide imported, outside the GUI thread."""

import ast
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from import_guard import ImportGuard
from syntax import parsed

from app.widgets.deferred_import import PLOTS

ROOT = Path(__file__).resolve().parents[2]
# file → the functions that threads of the GUI process run. Worker processes have no Qt, which a contract holds.
RUN_BY_THREADS = {
    "app/document/autosave.py": {"self._write", "self._remove", "self._unlock", "self._barrier"},
    "app/jobs/link.py": {"self._read", "self._write"},
    "app/widgets/deferred_import.py": {"self._prepare"},
}
THREADS = {"Thread", "Timer"}
FORBIDDEN = {"QThread", "QRunnable", "QThreadPool", "QtConcurrent"}


def run_by_threads(tree: ast.AST) -> set[str]:
    """What a module hands to threads: targets of `Thread`, and what an executor is given."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in THREADS and any(keyword.arg == "target" for keyword in node.keywords):
            found |= {ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg == "target"}
        if name == "submit" and "writer" in ast.unparse(node.func):
            found.add(ast.unparse(node.args[0]))
        if name in FORBIDDEN:
            found.add(name)
    return found


def imports_of(tree: ast.AST, functions: set[str]) -> list[str]:
    """The imports within some functions of a module."""
    names = {name.rpartition(".")[2] for name in functions}
    bodies = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in names]
    inner = [node for body in bodies for node in ast.walk(body)]
    return [ast.unparse(node) for node in inner if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.fixture(scope="module")
def modules():
    files = [file for file in sorted((ROOT / "app").rglob("*.py")) if "workers" not in file.parts]
    return {file.relative_to(ROOT).as_posix(): parsed(file.read_text("utf-8")) for file in files}


def test_the_functions_that_threads_run_are_known(modules):
    found = {name: run_by_threads(tree) for name, tree in modules.items()}
    assert {name: functions for name, functions in found.items() if functions} == RUN_BY_THREADS


@pytest.mark.parametrize("name", RUN_BY_THREADS)
def test_a_function_that_a_thread_runs_imports_nothing(modules, name):
    assert imports_of(modules[name], RUN_BY_THREADS[name]) == []


def test_what_a_thread_imports_for_the_plots_brings_no_qt():
    code = f"""
import sys
for name in {PLOTS.without_qt!r}: __import__(name)
print(*(name for name in sys.modules if name.partition('.')[0] in ('PySide6', 'shiboken6', 'pyqtgraph')))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("source", ["import PySide6.QtCore", "from PySide6 import QtCore", "import pyqtgraph"])
def test_the_guard_finds_an_import_by_a_thread(source, tmp_path, monkeypatch):
    (tmp_path / "planted_widget.py").write_text(f"if False:\n    {source}\n")
    monkeypatch.syspath_prepend(tmp_path)
    guard = ImportGuard()
    guard.install()
    try:
        thread = threading.Thread(target=__import__, args=("planted_widget",))
        thread.start()
        thread.join()
    finally:
        guard.remove()
        sys.modules.pop("planted_widget", None)
    assert guard.found == [f"planted_widget by thread {thread.name}"]


def test_the_guard_leaves_the_gui_thread_alone(tmp_path, monkeypatch):
    (tmp_path / "planted_widget.py").write_text("if False:\n    import PySide6.QtCore\n")
    monkeypatch.syspath_prepend(tmp_path)
    guard = ImportGuard()
    guard.install()
    try:
        __import__("planted_widget")
    finally:
        guard.remove()
        sys.modules.pop("planted_widget", None)
    assert guard.found == []
