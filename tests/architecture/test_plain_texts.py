"""Texts of grammars, models and files are never read as HTML.

Qt guesses for tool tips, message boxes and labels whether a text is HTML. So a text that is not written in the source
code goes through `plain_text`, and labels are those of `app.theme.labels`, which never guess.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from syntax import parsed

APP = Path(__file__).resolve().parents[2] / "app"
LABELS = APP / "theme" / "labels.py"
TIPS = {"setToolTip": 0, "setStatusTip": 0, "setWhatsThis": 0, "showText": 1, "setInformativeText": 0}
BOXES = {"question": 2, "warning": 2, "information": 2, "critical": 2, "about": 2}
# What returns a text that has gone through `plain_text`, or is HTML that is built by escaping every part.
SAFE = {"plain_text", "with_keys", "tip", "toolTip", "escaped_tip"}


def is_safe(text: ast.expr) -> bool:
    """Return whether an expression can only be a text from the source code, or one that is no HTML."""
    match text:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name.isupper()
        case ast.Subscript(value=ast.Name(id=name)):
            return name.isupper()
        case ast.IfExp(body=body, orelse=orelse):
            return is_safe(body) and is_safe(orelse)
        case ast.BoolOp(values=values):
            return all(map(is_safe, values))
        case ast.Call(func=ast.Name(id="ui_text"), keywords=[]):  # a text of the catalogue, without fields
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in SAFE
        case _:
            return False


def found() -> Iterator[str]:
    """Find calls that hand Qt a text that it could take for HTML."""
    for path in sorted(APP.rglob("*.py")):
        for node in ast.walk(parsed(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and "QLabel" in map(ast.unparse, node.bases) and path != LABELS:
                yield f"{path.relative_to(APP.parent)}:{node.lineno}: derive from app.theme.labels.Label"
            if not isinstance(node, ast.Call):
                continue
            place = f"{path.relative_to(APP.parent)}:{node.lineno}"
            match node.func:
                case ast.Name(id="QLabel"):
                    yield f"{place}: use app.theme.labels.Label"
                case ast.Attribute(attr=name) if name in TIPS and len(node.args) > TIPS[name]:
                    column = len(node.args) - 1 if name == "setToolTip" else TIPS[name]  # items: (column, text)
                    if not is_safe(node.args[column]):
                        yield f"{place}: {name}({ast.unparse(node.args[column])})"
                case ast.Attribute(value=ast.Name(id="QMessageBox"), attr=name) if name in BOXES:
                    if not is_safe(node.args[BOXES[name]]):
                        yield f"{place}: QMessageBox.{name}"
                case ast.Attribute(attr="setItemData") if "ToolTipRole" in ast.unparse(node):
                    if not is_safe(node.args[1]):
                        yield f"{place}: setItemData({ast.unparse(node.args[1])})"


def test_no_text_is_taken_for_html() -> None:
    assert not list(found())
