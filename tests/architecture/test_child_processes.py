"""Every process is started by `engine.source.processes`, which keeps code of the working directory out of it."""

import ast
from pathlib import Path

import pytest
from syntax import parsed

ROOT = Path(__file__).resolve().parents[2]
HELPER = "engine/source/processes.py"
STARTERS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "multiprocessing": {"Process", "Pool", "Manager", "get_context", "set_start_method"},
    "multiprocessing.pool": {"Pool"},
    "concurrent.futures": {"ProcessPoolExecutor"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"},
    "pty": {"fork", "spawn"},
    "PySide6.QtCore": {"QProcess"},
}
PREFIXES = {"os": ("exec", "spawn")}


def is_starter(module: str, name: str) -> bool:
    return name in STARTERS.get(module, ()) or name.startswith(PREFIXES.get(module, ("\0",)))


def starters(source: str) -> list[str]:
    """The calls and imports by which a module starts processes itself."""
    tree, found, modules = parsed(source), [], {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module, names = node.module or "", [alias.name for alias in node.names]
            found += [f"{module}.{name}" for name in names if is_starter(module, name)]
            modules |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            module, name = modules.get(ast.unparse(node.func.value), ""), node.func.attr
            found += [f"{module}.{name}"] if is_starter(module, name) else []
    makes = any(isinstance(node, ast.Attribute) and node.attr == "Process" for node in ast.walk(tree))
    starts = any(isinstance(node, ast.Name) and node.id == "start_process" for node in ast.walk(tree))
    return [*found, *(["Process without start_process"] if makes and not starts else [])]


def test_every_process_is_started_by_the_helper():
    files = [file for package in ("engine", "app", "resources") for file in sorted((ROOT / package).rglob("*.py"))]
    found = {file.relative_to(ROOT).as_posix(): starters(file.read_text("utf-8")) for file in files}
    assert found.pop(HELPER)
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    "planted",
    [
        "import subprocess\nsubprocess.run(['x'])",
        "import subprocess as s\ns.Popen(['x'])",
        "from subprocess import check_output",
        "import os\nos.execv('x', [])",
        "import multiprocessing\nmultiprocessing.get_context('spawn')",
        "from concurrent import futures\nfutures.ProcessPoolExecutor()",
        "from concurrent.futures import ProcessPoolExecutor",
        "from PySide6.QtCore import QProcess",
        "context.Process(target=print).start()",
    ],
)
def test_a_process_that_is_started_elsewhere_is_found(planted):
    assert starters(planted)
