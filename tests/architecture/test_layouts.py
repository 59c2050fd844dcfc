"""Layouts are filled after they have been added to their parents, and nobody asks them for their items.

PySide makes a Python object of each item that a layout holds when it is added to another, and of each that
`itemAt` gives. It hears nothing of the item's end: Qt deletes an item with its widget. What is next made at
that address then has two Python objects, and its end spoils memory. The random user looks for such objects as it goes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from syntax import parsed

import app

APP = Path(app.__file__).parent
FILLING = {"addWidget", "addLayout", "addStretch", "addSpacing", "addItem", "addRow"}
FILLING |= {name.replace("add", "insert") for name in FILLING}

FILLED_TOO_EARLY = """
def build(self):
    row = QHBoxLayout()
    row.addWidget(self.field)
    column = QVBoxLayout(self)
    column.addLayout(row)
"""
FILLED_IN_TIME = """
def build(self):
    row = QHBoxLayout()
    column = QVBoxLayout(self)
    column.addLayout(row)
    row.addWidget(self.field)
"""


def test_a_nested_layout_is_added_before_it_is_filled():
    wrong = [f"{path.relative_to(APP)}:{line}" for path, tree in modules() for line in filled_too_early(tree)]
    assert not wrong, f"fill these after addLayout, not before: {wrong}"


def test_nobody_asks_a_layout_for_its_items():
    asking = {"itemAt", "itemAtPosition", "takeAt"}
    for path, tree in modules():
        asked = {call.func.attr for call in calls(tree)} & asking
        assert not asked, f"{path.relative_to(APP)} asks for {asked}: keep a list of the widgets"


def test_the_check_tells_right_from_wrong():
    assert list(filled_too_early(parsed(FILLED_TOO_EARLY))) == [6]
    assert not list(filled_too_early(parsed(FILLED_IN_TIME)))


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(APP.rglob("*.py")):
        yield path, parsed(path.read_text(encoding="utf-8"))


def filled_too_early(tree: ast.Module) -> Iterator[int]:
    """The lines that add a layout which the same function has filled already, or which another built."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        here = list(calls(function))
        for call in here:
            if call.func.attr != "addLayout":
                continue
            name = ast.unparse(call.args[0])
            made_elsewhere = not isinstance(call.args[0], ast.Name | ast.Attribute)
            if made_elsewhere or any(
                other.lineno < call.lineno and other.func.attr in FILLING and ast.unparse(other.func.value) == name
                for other in here
            ):
                yield call.lineno


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls of methods."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node
