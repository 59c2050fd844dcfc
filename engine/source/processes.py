"""Child processes that import no code from the working directory.

Python puts the working directory first on the import path of `python -c` and `python -m`, and so of every process that
`multiprocessing` spawns. A file `json.py` in the folder where Turnstile is started would run there, and a project that
has a package `engine` would hide ours. So every child is started here, with `-P` (`PYTHONSAFEPATH`), and the entry
points take the working directory off their own import path, which spawned processes inherit.

The working directory itself stays as it is, since users name files relative to it.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess
    from multiprocessing.context import SpawnContext
    from multiprocessing.process import BaseProcess

_SAFE = "PYTHONSAFEPATH"
_PATH = "PYTHONPATH"
_ROOT = Path(__file__).resolve().parents[2]  # where the packages `engine`, `app` and `resources` are


def protect_imports() -> None:
    """Take the working directory off the import path of this process and of all its future children.

    Entry points call this before they import anything else and before there is a second thread.
    """
    sys.path[:] = without_working_directory(sys.path)
    os.environ[_SAFE] = "1"
    if _PATH in os.environ:
        os.environ[_PATH] = os.pathsep.join(without_working_directory(os.environ[_PATH].split(os.pathsep)))


def without_working_directory(entries: Sequence[str]) -> list[str]:
    """Return the entries of an import path that are absolute and do not name the working directory.

    The folder that Turnstile or Python itself is in stays, even if it is the working directory.
    """
    absolute = [entry for entry in entries if Path(entry).is_absolute()]
    try:
        here = Path.cwd().resolve()
    except OSError:  # it was removed
        return absolute
    return absolute if here in _own_folders() else [entry for entry in absolute if Path(entry).resolve() != here]


def spawn_context() -> SpawnContext:
    """Return what makes the pipes and processes of `multiprocessing`; `start_process` starts them."""
    import multiprocessing

    return multiprocessing.get_context("spawn")


def start_process(process: BaseProcess) -> None:
    """Start a process of `multiprocessing`.

    Raises:
        OSError: there is no process, descriptor or memory left to start it with.
    """
    # The environment is the only way to give the child an option. Changing it is not safe beside threads that read it
    # in C, so the entry points have done so already, and this serves where the engine is used as a library.
    if not os.environ.get(_SAFE):
        os.environ[_SAFE] = "1"
    process.start()


def start_python(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start this Python with arguments.

    Args:
        arguments: what follows the interpreter on the command line.
        environment: the child's; this process's by default.
        options: of `subprocess.Popen`.

    Raises:
        OSError: it cannot be started.
    """
    import subprocess

    path = os.pathsep.join(without_working_directory(sys.path))  # Turnstile need not be installed
    return subprocess.Popen(
        [sys.executable, "-P", *arguments],
        env={**(os.environ if environment is None else environment), _SAFE: "1", _PATH: path},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        **options,
    )


def _own_folders() -> set[Path]:
    library = Path(os.__file__).resolve().parent
    packages = (Path(folder).resolve() for folder in (*site.getsitepackages(), site.getusersitepackages()))
    return {_ROOT, library, library / "lib-dynload", *packages}
