"""Only `engine.notations` compares the names of notations; all other code asks their objects what differs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from syntax import parsed

from engine.notations import NOTATIONS

ROOT = Path(__file__).resolve().parents[2]
OTHER_WORDS = {  # the same words with another meaning
    "engine/export/targets/requests.py",  # the kinds of grammars in request bodies
    "engine/diagnosis/intake/request_reader.py",  # the same
    "engine/diagnosis/intake/servers.py",  # the names of their fields
    "engine/export/text/print_lark.py",  # the kinds of Lark's tokens
}


def compared(source: str) -> list[int]:
    """Return the lines that compare a value with the name of a notation."""
    return sorted({node.lineno for node in constants(parsed(source)) if node.value in NOTATIONS})


def constants(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the constant strings in comparisons and in the cases of `match`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.MatchValue):
            yield from (
                part for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )


MODULES = sorted(
    name
    for package in ("app", "engine")
    for path in (ROOT / package).rglob("*.py")
    if not (name := str(path.relative_to(ROOT))).startswith("engine/notations/") and name not in OTHER_WORDS
)


def test_no_module_compares_the_name_of_a_notation():
    found = {name: compared((ROOT / name).read_text("utf-8")) for name in MODULES}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("statement", "is_found"),
    [
        ('if notation == "regex": pass', True),
        ('x = grammar.notation not in ("gbnf", "json_schema")', True),
        ('match notation:\n    case "gbnf": pass', True),
        ('compile_grammar("gbnf", text)', False),
        ('x = {"gbnf": 1}[notation]', False),
    ],
)
def test_a_planted_comparison_is_found(statement, is_found):
    assert bool(compared(statement)) is is_found
