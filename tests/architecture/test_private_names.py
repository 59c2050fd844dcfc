"""Tests use the product through its public names, so that its insides may change without them.

A private name begins with one underscore. A test may use those that it or another test defines, on `self` and `cls`;
a private name of a module, class or object of `engine`, `app`, `resources` or `packaging` is reached neither as an
attribute nor by import, nor as a string that `monkeypatch` or `getattr` resolves. Each rule is proved by a planted
violation.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pytest
from syntax import parsed

TESTS = Path(__file__).resolve().parents[1]
OF_THE_LIBRARY = {"os._exit"}
BY_NAME = {"getattr", "setattr", "delattr", "hasattr", "object", "attrgetter", "methodcaller"}
PRIVATE_PATH = re.compile(r"(?:engine|app|resources|packaging)(?:\.\w+)*?\.(_[A-Za-z]\w*)(?:\.\w+)*")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name.strip("_") != ""


def private_uses(tree: ast.Module, own: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the private names that a test module uses, with their lines.

    Args:
        tree: the test module.
        own: the private attributes that test classes define; a test may use these on itself.
    """
    for node in ast.walk(tree):
        yield from ((getattr(node, "lineno", 0), name) for name in names_used(node, own) if is_private(name))


def names_used(node: ast.AST, own: Collection[str]) -> list[str]:
    """Return the names of others that a node uses, as far as they may be private."""
    match node:
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if name in own:
            found = []
        case ast.Attribute(attr=name):
            found = [name] if ast.unparse(node) not in OF_THE_LIBRARY else []
        case ast.ImportFrom(module=module, names=names):
            found = private_parts(f"{module}.{alias.name}" for alias in names)
        case ast.Import(names=names):
            found = private_parts(alias.name for alias in names)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in BY_NAME:
            found = [str(argument.value) for argument in node.args if isinstance(argument, ast.Constant)]
        case ast.Constant(value=str(text)):
            found = private_parts([text])
        case _:
            found = []
    return found


def private_parts(paths: Iterable[str]) -> list[str]:
    """Return the first private name in each dotted path into the product."""
    return [found[1] for path in paths if (found := PRIVATE_PATH.fullmatch(path))]


def own_names(tree: ast.Module) -> Iterator[str]:
    """Yield the private attributes that the classes of a test module define."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(body=body):
                for statement in body:
                    match statement:
                        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                            yield name
                        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                            yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    files = sorted(TESTS.rglob("*.py"))
    return {path.relative_to(TESTS).as_posix(): parsed(path.read_text("utf-8")) for path in files}


def test_no_test_uses_a_private_name_of_the_product(modules):
    own = {name for tree in modules.values() for name in own_names(tree)}
    found = [f"{path}:{line} {name}" for path, tree in modules.items() for line, name in private_uses(tree, own)]
    assert found == [], "give the class a public property that a user of it could want, or test what it shows"


@pytest.mark.parametrize(
    ("planted", "name"),
    [
        ("assert dialog._verdict is None", "_verdict"),
        ("Part()._size = 3", "_size"),
        ("super()._draw()", "_draw"),
        ("class Double(Dialog):\n    def show(self): self._verdict = None; self._build()", "_build"),
        ("from app.session.decoding import STOPPED_BY, _LIMIT", "_LIMIT"),
        ("from engine import _kernels", "_kernels"),
        ("import engine._kernels", "_kernels"),
        ("import engine._kernels.masks as masks", "_kernels"),
        ("monkeypatch.setattr('app.jobs.link._CONTEXT', None)", "_CONTEXT"),
        ("with patch('engine.models.hub._cache.read'): pass", "_cache"),
        ("monkeypatch.setattr(hub, '_cached', None)", "_cached"),
        ("getattr(dialog, '_verdict', None)", "_verdict"),
        ("patch.object(hub, '_cached')", "_cached"),
    ],
)
def test_a_private_name_is_found(planted, name):
    tree = parsed(planted)
    assert [found for _, found in private_uses(tree, set(own_names(tree)))] == [name]


@pytest.mark.parametrize(
    "allowed",
    [
        "class Double:\n    _size = 3\n    def _build(self): self._parts = ()\n    def show(self): self._build()",
        "class Double:\n    def show(self): return self._size, self._parts, type(self).__name__",
        "from tests_support import _letters",
        "assert value.__class__.__name__ == '_note'",
        "os._exit(3)",
        "monkeypatch.setattr('app.jobs.link.CONTEXT', None)",
        "getattr(dialog, name, None)",
        "_ = text.partition('_')",
    ],
)
def test_public_names_and_those_of_tests_are_allowed(allowed):
    assert list(private_uses(parsed(allowed), {"_size", "_parts", "_build"})) == []
