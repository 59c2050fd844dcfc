"""Finds modules that bring or define classes of Qt and are imported by another thread than the GUI's.

PySide builds what Qt knows of a class while the GUI thread may do the same: the window died of that once. The import
itself goes on, since an exception in a thread could be swallowed there; the test that caused it fails.
"""

from __future__ import annotations

import importlib.machinery
import sys
import threading
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

QT = ("PySide6", "shiboken6", "pyqtgraph", "qtawesome", "pytestqt")


class ImportGuard(MetaPathFinder):
    """Notes such imports while it is installed.

    Attributes:
        found: one line for each, with its thread.
    """

    def __init__(self) -> None:
        self.found: list[str] = []

    def install(self) -> None:
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Look at an import, and leave it to the other finders."""
        if threading.current_thread() is not threading.main_thread() and brings_qt(fullname, path):
            self.found.append(f"{fullname} by thread {threading.current_thread().name}")
        return None


def brings_qt(name: str, path: Sequence[str] | None) -> bool:
    """Whether a module is of Qt, or names a library of Qt in its source."""
    if name.partition(".")[0] in QT:
        return True
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        return False
    source = Path(spec.loader.path).read_text("utf-8", errors="replace")
    return any(f"import {library}" in source or f"from {library}" in source for library in QT)
