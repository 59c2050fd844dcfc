"""The entry point: dispatch of commands, and the handling of every failure.

The exit codes are in `engine.cli.exit_codes`. Heavy modules are imported only when needed: `turnstile` alone opens the
window directly, and `turnstile check` loads neither torch nor numba nor Qt.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import NoReturn

from engine.cli.exit_codes import ExitCode
from engine.cli.output import IllegalTextError, MisuseError, complain, have_streams, print_json, use_utf8
from engine.source import CancelledError, EngineError, GrammarError, LimitExceededError
from engine.source.processes import protect_imports

OPENED = (".turnstile", ".gbnf", ".json", ".regex", ".re", ".txt")
"""The suffixes of files that the window opens."""
OWN_OPTIONS = ("-h", "--help", "-V", "--version", "--print-completion")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; `arguments` are those of the process by default."""
    is_process = arguments is None
    if is_process:
        protect_imports()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if _is_for_the_window(given):
        return _open_window(given)
    have_streams()
    use_utf8()
    if is_process:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        code = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe. Python flushes once more on exit: redirect that to /dev/null.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.NEGATIVE
    except (KeyboardInterrupt, CancelledError):
        complain("cancelled")
        return ExitCode.CANCELLED
    return code


def _terminate(_number: int, _frame: object) -> NoReturn:
    """Exit by an exception, so that partly written files are removed."""
    complain("terminated")
    raise SystemExit(int(ExitCode.TERMINATED))


def _is_for_the_window(given: Sequence[str]) -> bool:
    """Return whether the arguments open the window: none, a file, or an option of the window.

    Options of commands come after a command.
    """
    if not given or PurePath(given[0]).suffix.lower() in OPENED:
        return True
    return given[0].startswith("-") and given[0].partition("=")[0] not in OWN_OPTIONS


def _run(given: Sequence[str]) -> int:
    from engine.cli.parser import build_parser

    as_json = False
    try:
        arguments = build_parser().parse_args(given)
        as_json = getattr(arguments, "json", False)
        code: int = arguments.run(arguments)
    except GrammarError as error:
        print(error, file=sys.stderr)
        return ExitCode.NEGATIVE
    except CancelledError:
        raise  # it is an EngineError too, but has its own code
    except IllegalTextError as error:
        if as_json:
            print_json(error.document)
        else:
            complain(str(error))
        return ExitCode.NEGATIVE
    except EngineError as error:
        remedy = error.remedy if isinstance(error, LimitExceededError) else ""
        complain(f"{error}{remedy and f'; {remedy}'}")
        return ExitCode.MISUSE if isinstance(error, MisuseError) else ExitCode.NEGATIVE
    return code


def _open_window(given: Sequence[str]) -> int:
    """Open the window, a separate program that shares this command; the engine must not depend on it."""
    try:
        # Qt is imported here, since it needs system libraries that a server lacks.
        return int(importlib.import_module("app.main").main(given) or 0)
    except ImportError as error:
        complain(f"the window cannot open: {error}; `turnstile --help` lists the commands that need no window")
        return ExitCode.NEGATIVE
