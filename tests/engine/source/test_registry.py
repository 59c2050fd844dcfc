"""Registries: order, extensions, and imports at first use."""

import sys

import pytest

from engine.source.registry import OTHERS, Registry


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A package of three objects, and an extension of it with two modules."""
    for package, modules in {
        "numbers_of": ("one", "two_b", "ten"),
        "turnstile_extensions/numbers_of": ("six", "one"),
    }.items():
        folder = tmp_path / package
        folder.mkdir(parents=True)
        for name in modules:
            (folder / f"{name}.py").write_text(f"NUMBER = {package + '/' + name!r}")
    (tmp_path / "numbers_of/__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield lambda *order: Registry("numbers_of", "NUMBER", order)
    for name in [name for name in sys.modules if "numbers_of" in name or name == "turnstile_extensions"]:
        del sys.modules[name]


def test_names_are_ordered_and_the_others_are_where_they_are_marked(registry):
    assert registry().names == ("one", "six", "ten", "two-b")
    assert registry("two-b", "one").names == ("two-b", "one", "six", "ten")
    assert registry("two-b", OTHERS, "one").names == ("two-b", "six", "ten", "one")


def test_a_module_is_imported_at_its_first_use_and_an_extension_hides_none_of_the_package(registry):
    numbers = registry()
    assert "two-b" in numbers
    assert not {name for name in sys.modules if name.startswith("numbers_of.")}
    assert numbers["two-b"] == "numbers_of/two_b"
    assert "numbers_of.ten" not in sys.modules
    assert sorted(numbers) == [
        "numbers_of/one",
        "numbers_of/ten",
        "numbers_of/two_b",
        "turnstile_extensions/numbers_of/six",
    ]
    with pytest.raises(KeyError):
        numbers["seven"]


def test_modules_that_came_later_are_found_again(registry, tmp_path):
    numbers = registry()
    assert len(numbers) == 4
    (tmp_path / "turnstile_extensions/numbers_of/seven.py").write_text("NUMBER = 7")
    assert "seven" not in numbers
    numbers.find_again()
    assert numbers["seven"] == 7


def test_a_package_without_extensions_has_its_own_modules(registry):
    assert len(Registry("nowhere_at_all", "X")) == 0
