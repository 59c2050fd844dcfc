"""Errors that a user can read are raised with the key of a text, its values, and nothing else.

The sentence is made where the error is shown (`EngineError.__str__`), so a key is a literal, or an f-string that begins
with one, that the catalogue has; it may be passed on from another error or by a parameter called `key`.
"""

import ast
import pickle
import re
from functools import cache
from pathlib import Path

import pytest
from syntax import parsed

from engine.source import EngineError, InvariantError, LimitExceededError, SourceText, Span
from engine.source.catalogue import CatalogueError, area_texts, catalogue_entry
from engine.source.diagnostics import diagnostic
from engine.source.text import GrammarError

ROOT = Path(__file__).resolve().parents[2]
FILES = [file for package in ("engine", "app") for file in sorted((ROOT / package).rglob("*.py"))]
COPIED_TO_USERS = "engine/export/runtimes/"  # these files run without the catalogue
BASE = "class EngineError:\n    def __init__(self, key, /, **fields): ...\n"


class Errors:
    """`EngineError` and the classes derived from it, found in source texts."""

    def __init__(self, trees: list[ast.Module]) -> None:
        classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        self._classes = {"EngineError": next(one for one in classes if one.name == "EngineError")}
        while more := {one.name: one for one in classes if self._bases(one)}.items() - self._classes.items():
            self._classes.update(more)

    def _bases(self, one: ast.ClassDef) -> list[str]:
        names = (ast.unparse(base).split(".")[-1] for base in one.bases)
        return [name for name in names if name in self._classes]

    def __contains__(self, name: str) -> bool:
        return name in self._classes

    def takes_key(self, name: str) -> bool:
        """Return whether the first argument of a class is a key; else its own constructor has the key."""
        own = self._constructor(name)
        if own is None:
            return all(self.takes_key(base) for base in self._bases(self._classes[name]))
        return [one.arg for one in (*own.args.posonlyargs, *own.args.args)][1:2] == ["key"]

    def _constructor(self, name: str) -> ast.FunctionDef | None:
        body = self._classes[name].body
        return next((one for one in body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)

    def keyless_calls(self, tree: ast.Module) -> list[str]:
        """Return the calls that create an error of the tree with something else than a key, or with other values."""
        inside = {
            id(call): one
            for one in ast.walk(tree)
            if isinstance(one, ast.ClassDef) and one.name in self
            for call in ast.walk(one)
            if isinstance(call, ast.Call)
        }
        return [
            ast.unparse(call)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            and (arguments := self._arguments(call, inside.get(id(call)))) is not None
            and not (arguments and _is_key(arguments[0], call))
        ]

    def _arguments(self, call: ast.Call, inside: ast.ClassDef | None) -> list[ast.expr] | None:
        """Return the arguments, from the key on, of a call of a constructor that takes a key; None for other calls."""
        called = ast.unparse(call.func)
        name, _, method = called.rpartition(".")
        if method in self:
            return call.args if self.takes_key(method) else None
        if inside is not None and called == "super().__init__":
            return call.args if all(self.takes_key(base) for base in self._bases(inside)) else None
        if method == "__init__" and name.split(".")[-1] in self:
            return call.args[1:] if self.takes_key(name.split(".")[-1]) else None
        return call.args if inside is not None and called == "cls" else None


def _is_key(node: ast.expr, call: ast.Call) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_key(node.body, call) and _is_key(node.orelse, call)
    if isinstance(node, ast.Constant):
        return node.value in texts() and _has_fields(node.value, call)
    if isinstance(node, ast.JoinedStr):
        first = node.values[0]
        return isinstance(first, ast.Constant) and re.fullmatch(r"[a-z_-]+\.\S*", str(first.value)) is not None
    return ast.unparse(node) in ("key", "what", "error.key", "self.what", "error.what")


@cache
def texts() -> frozenset[str]:
    areas = [path.stem for path in (ROOT / "resources/texts").glob("*.toml")]
    return frozenset(f"{area}.{name}" for area in areas for name in area_texts(area))


def _has_fields(key: str, call: ast.Call) -> bool:
    given = {keyword.arg for keyword in call.keywords}
    return None in given or given == catalogue_entry(key).fields


def test_errors_have_keys_and_the_values_of_their_texts():
    trees = {file.relative_to(ROOT).as_posix(): parsed(file.read_text("utf-8")) for file in FILES}
    errors = Errors(list(trees.values()))
    for name in ("VocabularyError", "MismatchError", "MisuseError", "UndecidedError", "InvariantError"):
        assert name in errors
        assert errors.takes_key(name)
    assert not errors.takes_key("GrammarError")
    found = {
        name: calls
        for name, tree in trees.items()
        if not name.startswith(COPIED_TO_USERS) and (calls := errors.keyless_calls(tree))
    }
    assert found == {}


@pytest.mark.parametrize(
    "planted",
    [
        "raise EngineError('it failed')",
        "class MyError(EngineError): pass\nraise MyError(f'{name} failed')",
        "raise errors.EngineError('it failed', reason=1)",
        "raise EngineError(str(error)) from error",
        "raise EngineError(catalogue_text('errors.cancelled'))",
        "raise EngineError(message)",
        "raise EngineError('errors.no_such_key')",
        "raise EngineError('errors.unreadable', file=file)",
        "raise EngineError('errors.cancelled', file=file)",
        "raise EngineError()",
        "raise EngineError('errors.cancelled' if x else 'it failed')",
        "class MyError(EngineError):\n    def __init__(self, name):\n        super().__init__(f'{name} failed')",
        "class MyError(EngineError):\n    def __init__(self, name):\n        EngineError.__init__(self, name)",
        "class InvariantError(EngineError): pass\nraise InvariantError('for the developer')",
    ],
)
def test_a_planted_error_without_a_key_is_found(planted):
    tree = parsed(BASE + planted)
    assert len(Errors([tree]).keyless_calls(tree)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "raise EngineError('errors.unreadable', file=file, reason=reason)",
        "raise EngineError('errors.unreadable', **fields)",
        "raise EngineError(f'errors.models.{kind}')",
        "raise EngineError(error.key, **error.fields)",
        "raise ValueError('it failed')",
        """class MyError(EngineError):
    def __init__(self, name):
        super().__init__('errors.cancelled')
raise MyError('a name')""",
    ],
)
def test_an_error_with_a_key_is_none_of_them(code):
    tree = parsed(BASE + code)
    assert Errors([tree]).keyless_calls(tree) == []


@pytest.mark.parametrize("text", ["it failed", "", "failed", "Errors.cancelled", "errors.cancelled: no"])
def test_a_sentence_in_place_of_a_key_is_a_bug_of_the_caller(text):
    with pytest.raises(CatalogueError):
        EngineError(text)


def test_an_error_takes_over_the_text_of_another_one():
    inner = OSError("the disk is full")
    error = EngineError("errors.unreadable", file="a", reason=inner)
    assert error.fields == {"file": "a", "reason": str(inner)}
    other = InvariantError.of(error)
    assert (type(other), other.key, other.fields, str(other)) == (InvariantError, error.key, error.fields, str(error))


@pytest.mark.parametrize(
    "error",
    [
        EngineError("errors.unreadable", file="a", reason="b"),
        LimitExceededError("errors.limit.frames", given=2, limit=1, name="nesting"),
        GrammarError((diagnostic("matches-nothing", Span(0, 1)),), SourceText("a")),
    ],
)
def test_an_error_crosses_to_another_process_with_all_it_has(error):
    other = pickle.loads(pickle.dumps(error))
    assert (type(other), vars(other), str(other)) == (type(error), vars(error), str(error))
