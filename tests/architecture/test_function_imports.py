"""Modules import their own packages at the top; an import in a function has its reason beside it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from syntax import parsed

ROOT = Path(__file__).resolve().parents[2]
OWN = ("app", "engine", "resources")
REGISTRIES = (  # modules whose head, or that of their package, says that they import what is asked for
    "app/workers/handlers.py",
    "engine/notations/gbnf/__init__.py",
    "engine/notations/json_schema/__init__.py",
    "engine/notations/regex/__init__.py",
)


def without_reason(source: str) -> list[int]:
    """Return the lines of imports of own modules in functions that have no comment."""
    lines = source.splitlines()
    found = set()
    for function in ast.walk(parsed(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom):
                    names = [node.module or ""]
                elif isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                else:
                    continue
                is_own = any(name.partition(".")[0] in OWN for name in names)
                if is_own and not any("#" in line for line in lines[node.lineno - 1 : node.end_lineno]):
                    found.add(node.lineno)
    return sorted(found)


MODULES = sorted(str(path.relative_to(ROOT)) for package in OWN for path in (ROOT / package).rglob("*.py"))


def test_imports_in_functions_have_a_reason():
    found = {name: without_reason((ROOT / name).read_text("utf-8")) for name in MODULES if name not in REGISTRIES}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("statement", "is_found"),
    [
        ("from engine.compile import compile_grammar", True),
        ("import app.theme", True),
        ("from engine.compile import compile_grammar  # start-up time: 30 ms", False),
        ("import json", False),
    ],
)
def test_a_planted_import_is_found(statement, is_found):
    assert without_reason(f"{statement}\n\ndef function():\n    {statement}\n") == ([4] if is_found else [])
