"""Child processes that import no code from the working directory.

Python puts the working directory first on the import path of `python -c` and `python -m`, and so of every process that
`multiprocessing` spawns. A file `json.py` in the folder where Turnstile is started would run there, and a project with
a package `engine` would hide Turnstile's. So this module starts every child, with `-P` (`PYTHONSAFEPATH`), and the
entry points remove the working directory from their own import path, which spawned processes inherit.

The working directory itself does not change, since users name files relative to it.
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

_SAFE_PATH = "PYTHONSAFEPATH"
_PYTHON_PATH = "PYTHONPATH"
_SAFE_PATH_OF_USER = os.environ.get(_SAFE_PATH)
_ROOT = Path(__file__).resolve().parents[2]  # the folder of the packages `engine`, `app` and `resources`


def protect_imports() -> None:
    """Remove the working directory from the import path of this process and of all its future children.

    Entry points call this before they import anything else and before they start a thread.
    """
    sys.path[:] = without_working_directory(sys.path)
    os.environ[_SAFE_PATH] = "1"
    if _PYTHON_PATH in os.environ:
        os.environ[_PYTHON_PATH] = os.pathsep.join(
            without_working_directory(os.environ[_PYTHON_PATH].split(os.pathsep))
        )


def without_working_directory(entries: Sequence[str]) -> list[str]:
    """Return the entries of an import path that are absolute and not the working directory.

    The folders of Turnstile and Python stay, even if one is the working directory.
    """
    absolute = [entry for entry in entries if Path(entry).is_absolute()]
    try:
        here = Path.cwd().resolve()
    except OSError:  # it was removed
        return absolute
    return absolute if here in _own_folders() else [entry for entry in absolute if Path(entry).resolve() != here]


def spawn_context() -> SpawnContext:
    """Return the `multiprocessing` context that creates pipes and processes; `start_process` starts a process."""
    import multiprocessing

    return multiprocessing.get_context("spawn")


def start_process(process: BaseProcess) -> None:
    """Start a process of `multiprocessing`.

    Raises:
        OSError: no process, file descriptor or memory is available.
    """
    # Only the environment can pass the option to the child. Changing it is unsafe while other threads read it in C, so
    # the entry points have set it already; this is for programs that use the engine as a library.
    if not os.environ.get(_SAFE_PATH):
        os.environ[_SAFE_PATH] = "1"
    process.start()


def start_python(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a child process of this Python interpreter.

    Args:
        arguments: the command line after the interpreter.
        environment: the environment of the child; by default that of this process.
        options: keyword arguments of `subprocess.Popen`.

    Raises:
        OSError: the process cannot be started.
    """
    import subprocess

    path = os.pathsep.join(without_working_directory(sys.path))  # Turnstile need not be installed
    return subprocess.Popen(
        [sys.executable, "-P", *arguments],
        env={**(os.environ if environment is None else environment), _SAFE_PATH: "1", _PYTHON_PATH: path},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        **options,
    )


def limit_memory(more: int) -> None:
    """Limit the address space of this process to what it has and a number of bytes; nothing where that is unknown."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (ImportError, OSError):  # not Linux
        return
    limit = pages * resource.getpagesize() + more
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def resident_bytes() -> int | None:
    """Return the memory that this process occupies; None where that is unknown."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (ImportError, OSError):  # not Linux
        return None
    return pages * resource.getpagesize()


def start_command(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program that the user named, in the environment in which the user started Turnstile.

    Args:
        command: the program and its arguments; no shell reads them.
        options: keyword arguments of `subprocess.Popen`.

    Raises:
        OSError: the program cannot be started.
    """
    import subprocess

    environment = dict(os.environ)
    if _SAFE_PATH_OF_USER is None:
        environment.pop(_SAFE_PATH, None)  # it was set to protect Turnstile's own children
    return subprocess.Popen(list(command), env=environment, **options)


def _own_folders() -> set[Path]:
    library = Path(os.__file__).resolve().parent
    packages = (Path(folder).resolve() for folder in (*site.getsitepackages(), site.getusersitepackages()))
    return {_ROOT, library, library / "lib-dynload", *packages}
