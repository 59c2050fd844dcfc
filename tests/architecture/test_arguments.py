"""A public function with three or more parameters describes them: its docstring has `Args:`.

A method that overrides one of a base class is described there. One that implements a protocol may
refer to it ("see `Notation.build`").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6 import QtCore, QtGui, QtWidgets
from syntax import parsed

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "app", "resources", "packaging")
MANY = 3
REFERENCE = "see `"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_described(function: Function) -> bool:
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    docstring = ast.get_docstring(function) or ""
    few = len([name for name in names if name not in ("self", "cls")]) < MANY
    return few or "Args:" in docstring or REFERENCE in docstring


def is_overload(function: Function) -> bool:
    return any(ast.unparse(one).endswith("overload") for one in function.decorator_list)


def inherits(bases: list[str], name: str, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether a base class, of ours or of Qt, has a method of this name."""
    for base in bases:
        own = classes.get(base)
        if own is not None and (
            any(isinstance(one, Function) and one.name == name for one in own.body)
            or inherits(bases_of(own), name, classes)
        ):
            return True
        if own is None and any(hasattr(getattr(module, base, None), name) for module in (QtCore, QtGui, QtWidgets)):
            return True
    return False


def bases_of(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]


def undescribed(tree: ast.Module, classes: dict[str, ast.ClassDef]) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each public function of a module that does not describe its parameters."""
    owners: list[ast.Module | ast.ClassDef] = [tree]
    owners += [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and not one.name.startswith("_")]
    for owner in owners:
        bases = bases_of(owner) if isinstance(owner, ast.ClassDef) else []
        for one in owner.body:
            is_public = isinstance(one, Function) and not one.name.startswith("_") and not is_overload(one)
            if is_public and not is_described(one) and not inherits(bases, one.name, classes):
                yield one.lineno, one.name


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    files = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): parsed(path.read_text("utf-8")) for path in files}


@pytest.fixture(scope="module")
def classes(trees) -> dict[str, ast.ClassDef]:
    return {one.name: one for tree in trees.values() for one in ast.walk(tree) if isinstance(one, ast.ClassDef)}


def test_public_functions_describe_their_parameters(trees, classes):
    found = {path: list(undescribed(tree, classes)) for path, tree in trees.items()}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("planted", "is_found"),
    [
        ("def join(a, b, c):\n    '''Join three.'''", True),
        ("class Table:\n    def fill(self, a, b, *, c):\n        '''Fill it.'''", True),
        ("def join(a, b):\n    '''Join two.'''", False),
        ("def join(a, b, c):\n    '''Join three.\n\n    Args:\n        a: one.\n    '''", False),
        ("def _join(a, b, c):\n    '''Join three.'''", False),
        ("class Cells(QStyledItemDelegate):\n    def paint(self, a, b, c):\n        '''Paint a cell.'''", False),
        ("class Cells(QStyledItemDelegate):\n    def join(self, a, b, c):\n        '''Join three.'''", True),
    ],
)
def test_a_planted_function_is_found(planted, is_found):
    assert bool(list(undescribed(parsed(planted), {}))) == is_found
