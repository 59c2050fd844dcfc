"""The entry point of `turnstile`: a subcommand runs in `engine.cli`, everything else opens the window.

Importing this module loads neither Qt nor the command line, so that `turnstile check` starts without the one
and the window without the other.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import PurePath

from engine.cli.exit_codes import ExitCode
from engine.source.catalogue import catalogue_text
from engine.source.processes import protect_imports

WINDOW_SUFFIXES = (".turnstile", ".gbnf", ".json", ".regex", ".re", ".txt")
"""A first argument with one of these suffixes is a file for the window."""
COMMAND_LINE_OPTIONS = ("-h", "--help", "-V", "--version", "--print-completion")
"""Options that may come without a subcommand and do not open the window."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand or open the window, and return the exit code.

    Args:
        arguments: The arguments after the program's name; those of the process by default.
    """
    if arguments is None:
        protect_imports()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if opens_window(given):
        return _open_window(given)
    from engine.cli.main import main as run_command  # start-up time: the window does not need it

    return run_command(arguments)


def opens_window(arguments: Sequence[str]) -> bool:
    """Return whether the arguments are for the window: none, a file, or an option that only the window has."""
    if not arguments or PurePath(arguments[0]).suffix.lower() in WINDOW_SUFFIXES:
        return True
    return arguments[0].startswith("-") and arguments[0].partition("=")[0] not in COMMAND_LINE_OPTIONS


def _open_window(arguments: Sequence[str]) -> int:
    try:
        from app.main import main as run_window  # start-up time: subcommands do not need it

        return run_window(arguments)
    except ImportError as error:  # Qt needs system libraries that a server lacks
        if sys.stderr is not None:
            text = catalogue_text("cli.window.no_qt", reason=error)
            print(f"turnstile: {text}", file=sys.stderr, flush=True)  # noqa: T201
        return ExitCode.NEGATIVE
