"""Loading and caching of the numba kernels, which are compiled once per machine.

Compiled kernels are kept in the user's cache directory and loaded by `load`.
Until then, and if numba cannot run, `reference_mask` computes the same masks.
Loading takes a fraction of a second, the first compile a few seconds.

A process that forks while another thread compiles would inherit locks that are
never released, so a fork waits until the compile is over.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from engine.masking import kernels

_NUMBA_SETTINGS = "numba.core.config"
_NUMBA_FILE = ".numba_config.yaml"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kernels:
    """The compiled functions of `engine.masking.kernels`."""

    walk: Callable[..., int]
    scan_loop: Callable[..., int]
    measure_loop: Callable[..., None]


class _KernelLoader:
    """The kernels of this process, and the lock under which they are compiled."""

    def __init__(self) -> None:
        self.kernels: Kernels | None = None
        self.lock = threading.RLock()
        self.thread: threading.Thread | None = None

    def load(self, then: Callable[[], None]) -> None:
        with self.lock:
            if self.kernels is None:
                self.kernels = _load_kernels()
                then()


_loader = _KernelLoader()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_loader.lock.acquire,
        after_in_parent=_loader.lock.release,
        after_in_child=_loader.lock.release,
    )


def loaded_kernels() -> Kernels | None:
    """Return the kernels, or None if they are not loaded."""
    return _loader.kernels


def load(then: Callable[[], None], *, wait: bool) -> None:
    """Load the kernels unless they are loaded, compiling them if they are not cached.

    Args:
        then: called once after they are loaded, in the same thread.
        wait: whether to return only when that is done; otherwise a thread does it.
    """
    if wait:
        _loader.load(then)
    elif _loader.kernels is None and (_loader.thread is None or not _loader.thread.is_alive()):
        _loader.thread = threading.Thread(target=_loader.load, args=(then,), name="turnstile-kernels")
        _loader.thread.start()


def _load_kernels() -> Kernels:
    directory = _cache_directory()
    if directory is not None:
        try:
            return _compile(directory)
        except (OSError, RuntimeError) as error:  # a full disk, or a cache that another version wrote
            _log.warning("the kernels cannot be cached in %s: %s", directory, error)
    return _compile(None)


def _cache_directory() -> Path | None:
    """Return the directory of compiled kernels; None if it is not writable."""
    import platformdirs

    configured = os.environ.get("NUMBA_CACHE_DIR")
    directory = Path(configured or Path(platformdirs.user_cache_dir("turnstile", appauthor=False)) / "kernels")
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"\0")
    except OSError as error:
        _log.info("the kernels are compiled anew, since %s cannot be written: %s", directory, error)
        return None
    return directory


class _SettingsLoader(SourceFileLoader):
    """A loader of numba's settings that ignores `.numba_config.yaml` in the working directory."""

    def get_code(self, fullname: str) -> CodeType | None:
        code = super().get_code(fullname)
        if code is None:
            return None
        return code.replace(co_consts=tuple(os.devnull if c == _NUMBA_FILE else c for c in code.co_consts))


class _SettingsFinder(MetaPathFinder):
    """An import finder that loads numba's settings with `_SettingsLoader`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _NUMBA_SETTINGS:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _SettingsLoader(spec.loader.name, spec.loader.path)
        return spec


def _import_numba() -> ModuleType:
    finder = _SettingsFinder()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("numba")
    finally:
        sys.meta_path.remove(finder)


def _compile(directory: Path | None) -> Kernels:
    numba: Any = _import_numba()
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload, register_jitable
    from numba.np.numpy_support import carray

    def array(dtype: Any, dimensions: int = 1, *, readonly: bool = False) -> Any:
        return types.Array(dtype, dimensions, "C", readonly=readonly)

    def pointer(_: Any, address: Any) -> Any:
        def cast(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], cgutils.voidptr_t)

        return types.voidptr(address), cast

    def array_at(address: Any, shape: Any, dtype: Any) -> Any:
        del address, shape, dtype  # types at compile time, not values
        return lambda address, shape, dtype: carray(at(address), shape, dtype)

    at: Any = intrinsic(pointer)
    overload(kernels.array_at, strict=False)(array_at)

    ints, bytes_ = array(types.int32, readonly=True), array(types.uint8, readonly=True)
    scratch, words, number = array(types.int32), array(types.uint32), types.int64
    tuple_of: Any = types.Tuple
    trie = tuple_of((bytes_, ints, ints, ints, ints))
    walk = number(array(types.int64))
    scan_loop = number(trie, array(types.int8, 2), number, scratch, scratch, words)
    shorts = array(types.int16)
    measure_loop = types.void(trie, array(types.int8, 2), scratch, scratch, shorts, shorts)

    for helper in (kernels.find_action, kernels.end_lexeme, kernels.walk_arrays, kernels.digest):
        register_jitable(helper)  # so that a kernel may call it
    cache, settings = directory is not None, vars(numba.config)
    previous = settings["CACHE_DIR"]
    settings["CACHE_DIR"] = str(directory or "")  # numba reads it only when a function is decorated
    try:
        return Kernels(
            walk=numba.njit(walk, cache=cache, nogil=True)(kernels.walk),
            scan_loop=numba.njit(scan_loop, cache=cache, nogil=True)(kernels.scan_loop),
            measure_loop=numba.njit(measure_loop, cache=cache, nogil=True)(kernels.measure_loop),
        )
    finally:
        settings["CACHE_DIR"] = previous
