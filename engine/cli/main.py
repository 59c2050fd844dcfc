"""Runs a subcommand of `turnstile` and turns every failure into a message and an exit code.

The exit codes are in `engine.cli.exit_codes`. A command imports what it needs when it runs: `turnstile check` loads
neither torch nor numba.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from engine.cli.exit_codes import ExitCode
from engine.cli.output import IllegalTextError, MisuseError, complain, have_streams, print_json, use_utf8
from engine.source import CancelledError, EngineError, GrammarError, LimitExceededError
from engine.source.processes import protect_imports


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; `arguments` are those of the process by default."""
    is_process = arguments is None
    if is_process:
        protect_imports()
    given = list(sys.argv[1:] if arguments is None else arguments)
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
