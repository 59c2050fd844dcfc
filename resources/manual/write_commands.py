"""The manual's reference of all subcommands, from their parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Final

from engine.cli.arguments import ArgumentParser
from engine.cli.exit_codes import COMMANDS, ExitCode, negative_answer, other_codes
from engine.cli.main import build_parser
from engine.source.catalogue import catalogue_text
from resources.manual.markdown import code, table

_OPENING: Final = """# Command reference

All subcommands with their options, as `turnstile COMMAND --help` prints them. [The command line](command-line.md) has
examples.

Written by `python -m resources.manual commands` from the parsers; not edited by hand.

## Exit codes

The same for every command:
"""


def commands_page() -> str:
    """Return the page, in Markdown."""
    subparsers = _subparsers(build_parser())
    sections = (line for name in COMMANDS for line in _section(name, subparsers[name]))
    return "\n".join([_OPENING, *_exit_codes(), "", *sections])


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list commands
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    raise LookupError


def _exit_codes() -> Iterator[str]:
    codes = [
        (ExitCode.SUCCESS, catalogue_text("cli.exit.success")),
        (ExitCode.NEGATIVE, negative_answer("program")),
        *other_codes(),
    ]
    yield from table(("code", "meaning"), ((str(int(number)), _text(meaning)) for number, meaning in codes))
    yield ""
    negatives = [(code(name), _text(catalogue_text(f"cli.{name}.negative"))) for name in COMMANDS]
    window = (code("turnstile [FILE]"), _text(catalogue_text("cli.window.negative")))
    yield from table(("command", "its negative answer (1)"), [*negatives, window])


def _section(name: str, parser: ArgumentParser) -> Iterator[str]:
    parser.complete()
    yield f"## {name}"
    yield ""
    yield _text(parser.description or "")
    yield ""
    formatter = parser._get_formatter()  # noqa: SLF001 - what fills in `%(default)s` has no public name
    for group in parser._action_groups:  # noqa: SLF001 - the groups of the help have no public name either
        actions = [action for action in group._group_actions if "--help" not in action.option_strings]  # noqa: SLF001
        if not actions:
            continue
        yield from table(
            (group.title or "", "meaning"),
            ((_form(action), _text(formatter._expand_help(action))) for action in actions),  # noqa: SLF001
        )
        yield ""


def _form(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else (action.dest.upper() if action.nargs != 0 else "")
    if action.choices is not None and action.nargs != 0 and action.metavar is None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    names = ", ".join(action.option_strings)
    return code(f"{names} {value}".strip())


def _text(text: str) -> str:
    """Return a text of the catalogue as Markdown in one cell: options as code, bars and angle brackets escaped."""
    return re.sub(r"(?<![`\w-])--[a-z][a-z-]*", r"`\g<0>`", text).replace("|", r"\|").replace("<", r"\<")
