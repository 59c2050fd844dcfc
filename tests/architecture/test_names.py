"""Names say one thing each: no public class shares its name with another, and no module has a name that says nothing.

Each rule is proved by a planted violation. The runtimes of `engine/export` are exempt: their files are copied to users,
stand alone there, and call the same thing by the same name.
"""

import ast
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from syntax import parsed

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "app", "resources", "packaging")
EXEMPT = "engine/export/runtimes/"
VAGUE_NAMES = frozenset({"spelling", "texts", "table", "places", "reading", "known", "parts"})
STORED_NAMES = frozenset({"engine/decoding/stages/table.py"})  # named as the stage is in documents

Classes = Mapping[str, tuple[str, ...]]  # the public classes of each module, by its path


def public_classes(source: str) -> tuple[str, ...]:
    classes = (node for node in ast.walk(parsed(source)) if isinstance(node, ast.ClassDef))
    return tuple(node.name for node in classes if not node.name.startswith("_"))


def shared_names(classes: Classes) -> dict[str, list[str]]:
    """Return the paths of the modules that define a public class of the same name, by that name."""
    modules = defaultdict(list)
    for path, names in classes.items():
        if not path.startswith(EXEMPT):
            for name in names:
                modules[name].append(path)
    return {name: paths for name, paths in modules.items() if len(paths) > 1}


def vague_modules(classes: Classes) -> list[str]:
    """Return the paths of the modules and packages whose name says nothing."""
    return [
        path for path in classes if path not in STORED_NAMES and VAGUE_NAMES & set(path.removesuffix(".py").split("/"))
    ]


@pytest.fixture(scope="module")
def classes() -> Classes:
    files = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): public_classes(path.read_text("utf-8")) for path in files}


def test_no_two_public_classes_share_a_name(classes):
    assert shared_names(classes) == {}


def test_no_module_has_a_name_that_says_nothing(classes):
    assert vague_modules(classes) == []


@pytest.mark.parametrize("planted", ["engine/planted.py", "app/widgets/planted.py", "packaging/planted.py"])
def test_a_second_class_of_a_name_is_found(classes, planted):
    own = "app/widgets/banner.py"
    source = "class Banner: ...\nclass _Part: ...\n"
    assert shared_names({**classes, planted: public_classes(source)}) == {"Banner": [own, planted]}
    assert shared_names({**classes, f"{EXEMPT}planted.py": public_classes(source)}) == {}


@pytest.mark.parametrize("name", sorted(VAGUE_NAMES))
def test_a_module_or_a_package_of_a_vague_name_is_found(classes, name):
    planted = [f"engine/automata/{name}.py", f"app/{name}/state.py"]
    assert vague_modules({**classes, **dict.fromkeys(planted, ())}) == planted
    assert vague_modules({**classes, f"engine/{name}_of_tokens.py": ()}) == []
