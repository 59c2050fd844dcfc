"""Registries: objects of one kind, each declared by a module of one package and found by the name of that module.

A package such as `engine.export.targets` has one module for each object and a `Registry`; the name `a-b` is the module
`a_b`. Other distributions add modules to the namespace package `turnstile_extensions`: `turnstile_extensions.targets`
extends `engine.export.targets`. Names come from the folders, so a list of names imports nothing, and a module is
imported when its object is first needed.

Rejected: a tuple of names in code, which is a second edit for each object; entry points, since `importlib.metadata`
reads a file of every installed distribution, which takes 50 ms of the start.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Final, Generic, TypeVar, cast

EXTENSIONS: Final = "turnstile_extensions"
OTHERS: Final = "*"

T = TypeVar("T")


class Registry(Generic[T]):
    """The objects that the modules of a package declare, by name.

    Args:
        package: the package; the last part of its name is the name of the extending package.
        attribute: the name of the object in each module.
        order: the order of the names in lists; `OTHERS` marks where the names that it lacks are, in alphabetical
            order, by default at the end.
    """

    def __init__(self, package: str, attribute: str, order: Sequence[str] = ()) -> None:
        self._packages = package, f"{EXTENSIONS}.{package.rpartition('.')[2]}"
        self._attribute, self._order = attribute, tuple(order)
        self._loaded: dict[str, T] = {}

    @cached_property
    def _modules(self) -> Mapping[str, str]:
        """The modules by the names of their objects, in order; those of the package hide extensions of their name."""
        found: dict[str, str] = {}
        for package in self._packages:
            for name in module_names(package):
                found.setdefault(name.replace("_", "-"), f"{package}.{name}")
        others = sorted(found.keys() - set(self._order))
        at = self._order.index(OTHERS) if OTHERS in self._order else len(self._order)
        ordered = (*self._order[:at], *others, *self._order[at + 1 :])
        return {name: found[name] for name in ordered}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all objects, in order."""
        return tuple(self._modules)

    def find_again(self) -> None:
        """Look for modules again, and for their objects: the import path was changed."""
        vars(self).pop("_modules", None)
        self._loaded.clear()

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __getitem__(self, name: str) -> T:
        """Return an object; its module is imported at the first call.

        Raises:
            KeyError: there is none of that name.
        """
        if name not in self._loaded:
            module = importlib.import_module(self._modules[name])
            self._loaded[name] = cast("T", getattr(module, self._attribute))
        return self._loaded[name]

    def __iter__(self) -> Iterator[T]:
        """Yield all objects, in order."""
        return map(self.__getitem__, self._modules)

    def __len__(self) -> int:
        return len(self._modules)


def extension_objects(kind: str, attribute: str) -> Iterator[Any]:
    """Yield the objects that other distributions add to a list in code.

    Args:
        kind: the package in `turnstile_extensions`.
        attribute: the name of the object in each of its modules.
    """
    for name in sorted(module_names(f"{EXTENSIONS}.{kind}")):
        yield getattr(importlib.import_module(f"{EXTENSIONS}.{kind}.{name}"), attribute)


def module_names(package: str) -> Iterator[str]:
    """Yield the names of the modules in a package's folders; none if there is no such package."""
    yield from (module.name for module in pkgutil.iter_modules(package_folders(package)))


def package_folders(package: str) -> Sequence[str]:
    """Return the folders of a package; none if there is no such package."""
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:  # nor the package around it
        return ()
    return () if spec is None else list(spec.submodule_search_locations or ())
