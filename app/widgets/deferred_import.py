"""Imports a slow Qt library when it is first needed, without blocking the event loop.

pyqtgraph takes a third of a second. The libraries without Qt that it needs are imported in a thread, since they are
half of that time. The library itself defines Qt classes, which is not safe outside of the GUI thread in PySide: the
window once crashed in `PySide::MetaObjectBuilder::update`, which the GUI thread ran while another thread defined such
classes. So the GUI thread imports the rest, one statement of the library's `__init__` for each iteration of the event
loop; most of them import one submodule each.

Rejected: importing the submodules alone, since they need names that the `__init__` defines; an import in a thread under
a lock, since the GUI thread would wait for it wherever it creates a Qt object.
"""

from __future__ import annotations
import __future__

import ast
import importlib
import logging
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import CodeType
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

_log = logging.getLogger(__name__)

_LOOK_EVERY_MS: Final = 15
_BATCH: Final = 50  # names


@dataclass(frozen=True, slots=True)
class Library:
    """A library and its imports, in import order.

    Attributes:
        name: of its package.
        without_qt: modules that are imported in a thread. They must not import PySide.
        with_qt: modules that take long by themselves; one iteration of the event loop for each.
        complete: modules of PySide of which the library looks up every name. PySide creates a class when it is first
            looked up, which takes 50 ms for all of them, so that is done a few at a time.
    """

    name: str
    without_qt: tuple[str, ...] = ()
    with_qt: tuple[str, ...] = ()
    complete: tuple[str, ...] = ()


PLOTS: Final = Library(
    "pyqtgraph",
    without_qt=("numpy", "numpy.typing", "colorama", "cProfile", "pydoc", "xml.etree.ElementTree"),
    with_qt=("PySide6.QtSvg", "PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets", "PySide6.QtTest"),
    complete=("PySide6.QtCore", "PySide6.QtGui", "PySide6.QtWidgets"),
)


class _Import:
    """The import of one library, which all `DeferredImport` objects of this process share."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._codes: list[CodeType] = []
        self._steps: deque[Callable[[], object]] | None = None  # None until the thread has ended
        self.error: Exception | None = None
        self._spec = find_spec(library.name)
        self._thread = threading.Thread(target=self._prepare, name="import")
        self._thread.start()

    @property
    def is_waiting(self) -> bool:
        """Return whether the thread is still running."""
        return self._thread.is_alive()

    @property
    def is_done(self) -> bool:
        """Return whether the library is imported."""
        return self.error is None and self._steps is not None and not self._steps

    def advance(self) -> None:
        """Take one step on the GUI thread."""
        try:
            if self.error is None and self._steps is None:
                self._steps = deque(self._make_steps())
            elif self.error is None and self._steps:
                self._steps.popleft()()
        except Exception as error:  # noqa: BLE001 - whatever a library raises, the window continues without it
            self.error = error
        if self.error is not None:
            _log.error("the library %s cannot be imported", self._library.name, exc_info=self.error)
            sys.modules.pop(self._library.name, None)
            _imports.pop(self._library.name, None)

    def _prepare(self) -> None:
        """Import everything without Qt; runs in the thread."""
        try:
            for name in self._library.without_qt:
                importlib.import_module(name)
            self._codes = list(_statements(_source_of(self._spec, self._library.name)))
        except Exception as error:  # noqa: BLE001 - reported by the GUI thread
            self.error = error

    def _make_steps(self) -> Iterator[Callable[[], object]]:
        if self._library.name in sys.modules or self._spec is None:
            return
        module = sys.modules[self._spec.name] = module_from_spec(self._spec)
        for name in self._library.with_qt:
            yield partial(importlib.import_module, name)
        for name in self._library.complete:
            names = dir(importlib.import_module(name))
            for first in range(0, len(names), _BATCH):
                yield partial(_look_up, name, names[first : first + _BATCH])
        for code in self._codes:
            yield partial(exec, code, module.__dict__)  # as the import statement does


_imports: dict[str, _Import] = {}


class DeferredImport(QObject):
    """The deferred import of one library.

    Signals:
        ready(): it is imported.
        failed(reason): it cannot be imported.
    """

    ready = Signal()
    failed = Signal(str)

    def __init__(self, library: Library, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._import: _Import | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._advance)

    @property
    def is_ready(self) -> bool:
        """Return whether it is imported."""
        return self._import is not None and self._import.is_done

    @property
    def has_failed(self) -> bool:
        """Return whether it cannot be imported."""
        return self._import is not None and self._import.error is not None

    def begin(self) -> None:
        """Import it, unless that has begun or failed here; `ready` or `failed` follows."""
        if self._import is None:
            name = self._library.name
            self._import = _imports[name] = _imports.get(name) or _Import(self._library)
            self._timer.start(_LOOK_EVERY_MS)

    def _advance(self) -> None:
        if self._import is None or self._import.is_waiting:
            return
        self._timer.setInterval(0)
        if not self._import.is_done:
            self._import.advance()
        if self._import.error is not None:
            self._timer.stop()
            self.failed.emit(str(self._import.error))
        elif self._import.is_done:
            self._timer.stop()
            self.ready.emit()


def _source_of(spec: ModuleSpec | None, name: str) -> Path:
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return Path(spec.loader.path)


def _look_up(module: str, names: Iterable[str]) -> None:
    for name in names:
        getattr(sys.modules[module], name, None)


def _statements(source: Path) -> Iterator[CodeType]:
    """Compile the statements of a module one by one."""
    flags = 0
    for statement in ast.parse(source.read_bytes(), str(source)).body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                flags |= getattr(__future__, alias.name).compiler_flag
        yield compile(ast.Module([statement], []), str(source), "exec", flags, dont_inherit=True)
