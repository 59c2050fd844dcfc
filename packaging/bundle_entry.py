"""The main module of a bundle: Turnstile, and the Python that Turnstile's own child processes ask for.

A bundle has no `python`, so `sys.executable` is the program itself. `multiprocessing` starts its processes with
options that `freeze_support` recognises; `engine.source.processes.start_python` starts the others with `-P`, which is
no option of Turnstile.
"""

from __future__ import annotations

import multiprocessing
import runpy
import sys
from collections.abc import Sequence


def main() -> int:
    """Run a child process, a subcommand or the window, and return the exit code."""
    multiprocessing.freeze_support()
    if sys.argv[1:2] == ["-P"]:
        run_python(sys.argv[2:])
        return 0
    from app.entry import main as run_turnstile

    return run_turnstile()


def run_python(arguments: Sequence[str]) -> None:
    """Do what `python` does with its arguments: `-c CODE`, `-m MODULE` or a script, and the arguments for it."""
    option, *others = arguments
    if option == "-c":
        sys.argv[:] = ["-c", *others[1:]]
        exec(compile(others[0], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - what `python -c` is for
    elif option == "-m":
        sys.argv[:] = others
        runpy.run_module(others[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = [option, *others]
        runpy.run_path(option, run_name="__main__")


if __name__ == "__main__":
    sys.exit(main())
