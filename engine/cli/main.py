"""Runs a subcommand of `turnstile` and turns every failure into a message and an exit code.

The exit codes are in `engine.cli.exit_codes`. The module of a command is imported when it runs, so `turnstile check`
loads neither torch nor numba, and `turnstile --version` not even numpy.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Final, NoReturn

from engine.cli.arguments import ArgumentParser
from engine.cli.completion import SHELLS, completion_script
from engine.cli.exit_codes import COMMANDS, ExitCode
from engine.cli.output import (
    IllegalTextError,
    MisuseError,
    print_json,
    print_message,
    program_version,
    replace_closed_streams,
    use_utf8,
)
from engine.source import CancelledError, EngineError, GrammarError, LimitExceededError
from engine.source.catalogue import catalogue_text
from engine.source.processes import protect_imports

_ALIASES: Final = {"forced": ["coalesce"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; `arguments` are those of the process by default."""
    is_process = arguments is None
    if is_process:
        protect_imports()
    given = list(sys.argv[1:] if arguments is None else arguments)
    replace_closed_streams()
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
        print_message(catalogue_text("cli.message.cancelled"))
        return ExitCode.CANCELLED
    return code


def _terminate(_number: int, _frame: object) -> NoReturn:
    """Exit by an exception, so that partly written files are removed."""
    print_message(catalogue_text("cli.message.terminated"))
    raise SystemExit(int(ExitCode.TERMINATED))


def _run(given: Sequence[str]) -> int:
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
            print_message(str(error))
        return ExitCode.NEGATIVE
    except EngineError as error:
        remedy = error.remedy if isinstance(error, LimitExceededError) else ""
        print_message(catalogue_text("cli.message.remedy", message=error, remedy=remedy) if remedy else str(error))
        return ExitCode.MISUSE if isinstance(error, MisuseError) else ExitCode.NEGATIVE
    return code


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the complete command line; a command declares its options when they are needed."""
    parser = ArgumentParser(prog="turnstile", command="program")
    parser.add_argument("-V", "--version", action="version", version=f"turnstile {program_version()}")
    parser.add_argument("--print-completion", action=_PrintCompletion, choices=SHELLS)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        declare = partial(_declare, name)
        commands.add_parser(name, aliases=_ALIASES.get(name, ()), help="", command=name, declare=declare)
    return parser


def _declare(command: str, parser: argparse.ArgumentParser) -> None:
    module = import_module(f"engine.cli.{command.replace('-', '_')}")
    parser.set_defaults(run=module.run, parser=parser)
    module.add_options(parser)


class _PrintCompletion(argparse.Action):
    """An action that prints the script and exits, as `--version` does: no command is needed."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: object, values: object, _option: object = None
    ) -> None:
        print(completion_script(parser, str(values)), end="")
        parser.exit()
