"""An error that a user can read has the key of its text: no sentence is written where the error is raised."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [file for package in ("engine", "app") for file in sorted((ROOT / package).rglob("*.py"))]
FOR_DEVELOPERS = {"InvariantError"}  # mistakes of the calling code
COPIED_TO_USERS = "engine/export/runtimes/"  # these files run without the catalogue


def error_names(trees: list[ast.Module]) -> set[str]:
    """The names of `EngineError` and of the classes derived from it."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    names = {"EngineError"}
    while True:
        more = {one.name for one in classes if any(ast.unparse(base).split(".")[-1] in names for base in one.bases)}
        if more <= names:
            return names - FOR_DEVELOPERS
        names |= more


def sentences(tree: ast.Module, names: set[str]) -> list[str]:
    """The texts with a blank that are passed to errors in place of a key."""
    return [
        ast.unparse(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).split(".")[-1] in names
        for first in [node.args[0]]
        if (isinstance(first, ast.Constant) and isinstance(first.value, str) and " " in first.value)
        or (isinstance(first, ast.JoinedStr) and not ast.unparse(first)[2:].startswith("errors."))
    ]


def test_errors_have_keys():
    trees = {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text("utf-8")) for file in FILES}
    names = error_names(list(trees.values()))
    assert {"VocabularyError", "MismatchError", "MisuseError", "UndecidedError"} <= names
    found = {
        name: texts
        for name, tree in trees.items()
        if not name.startswith(COPIED_TO_USERS) and (texts := sentences(tree, names))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("planted", "count"),
    [
        ("raise EngineError('it failed')", 1),
        ("class MyError(EngineError): pass\nraise MyError(f'{name} failed')", 1),
        ("raise errors.EngineError('it failed', reason=1)", 1),
        ("raise EngineError('errors.a.b', name=name)", 0),
        ("raise EngineError(f'errors.a.{kind}')", 0),
        ("raise ValueError('it failed')", 0),
    ],
)
def test_a_planted_sentence_is_found(planted, count):
    tree = ast.parse(planted)
    assert len(sentences(tree, error_names([tree]))) == count
