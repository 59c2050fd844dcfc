"""The argument parser of every command: layout of help texts, reports of misuse, and what several commands have."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Final, NoReturn

from engine.cli.exit_codes import ExitCode, help_text
from engine.compile import NOTATIONS
from engine.source import Limits
from engine.source.catalogue import catalogue_text, has_text

_LIMITS: Final = tuple(one.name for one in fields(Limits))
_SHARED_FIELDS: Final = {"limit": {"limits": ", ".join(_LIMITS)}}
"""The fields of the help of options that several commands share."""


class HelpFormatter(argparse.HelpFormatter):
    """A formatter that wraps each line of a description or epilog separately, so that tables stay tables."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n".join(
            self._row(line, width) if line.startswith(" ") else fill(line, width, indent) for line in text.split("\n")
        )

    def _row(self, line: str, width: int) -> str:
        """Wrap a row of a table under its second column."""
        margin = len(line) - len(line.lstrip())
        code, _, meaning = line.strip().partition(" ")
        meaning = meaning.lstrip()
        column = margin + 5
        wrapped = self._split_lines(meaning, max(width - column, 11))
        return "\n".join(
            f"{' ' * margin}{code if number == 0 else '':<5}{piece}" for number, piece in enumerate(wrapped)
        )


class ArgumentParser(argparse.ArgumentParser):
    """A parser that reports misuse in one line, with a pointer to the help, instead of the full usage.

    Its options may be declared late, when it is used: those of a command are in the command's module, which is not
    loaded for another command. The parser of a command has no texts in code: they are read from the catalogue by the
    names of command and option when they are shown, since most runs show none.
    """

    def __init__(
        self,
        *arguments: Any,
        command: str = "",
        declare: Callable[[ArgumentParser], None] | None = None,
        **options: Any,
    ) -> None:
        """Create a parser.

        Args:
            arguments: those of `argparse`.
            command: the name of the command in the catalogue of texts; empty if the texts are passed here.
            declare: adds the options of the parser when it is used.
            options: those of `argparse`.
        """
        self._command = command
        self._declare = declare
        options.setdefault("formatter_class", HelpFormatter)
        options.setdefault("allow_abbrev", False)
        super().__init__(*arguments, **options)

    def complete(self) -> None:
        """Add the options that are declared late, and all texts."""
        self._declare_options()
        if self._command and self.description is None:
            self.description = catalogue_text(f"cli.{self._command}.description")
            self.epilog = help_text(self._command)
            for group in self._action_groups[2:]:  # argparse has its own titles for the first two
                group.title = catalogue_text(f"cli.{self._command}.group.{group.title}")
            for action in self._actions:
                self._add_help(action)

    def _declare_options(self) -> None:
        if self._declare is not None:
            declare, self._declare = self._declare, None
            declare(self)

    def _add_help(self, action: argparse.Action) -> None:
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - argparse has no public way to list commands
            for choice in action._choices_actions:  # noqa: SLF001
                choice.help = catalogue_text(f"cli.{choice.dest}.summary")
        elif action.help is None:
            name = option_name(action)
            if has_text(f"cli.{self._command}.option.{name}"):
                action.help = catalogue_text(f"cli.{self._command}.option.{name}")
            else:
                action.help = catalogue_text(f"cli.option.{name}", **_SHARED_FIELDS.get(name, {}))

    def format_help(self) -> str:
        """Return the help with its texts."""
        self.complete()
        return super().format_help()

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse the arguments, as `argparse` does."""
        self._declare_options()
        return super().parse_known_args(args, namespace)

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse the arguments; the command's own parser reports unknown ones."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            message = catalogue_text("cli.argument.unrecognized", arguments=" ".join(unknown))
            getattr(found, "parser", self).error(message)
        return found

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with the code of misuse."""
        line = " ".join(message.split())
        see = catalogue_text("cli.argument.see_help", program=self.prog)
        self.exit(ExitCode.MISUSE, f"{self.prog}: {catalogue_text('cli.argument.error', message=line)}\n{see}\n")


def option_name(action: argparse.Action) -> str:
    """Return the name of an option or a positional argument in the catalogue of texts."""
    return (action.option_strings or [action.dest])[0].lstrip("-").replace("-", "_")


def add_grammar(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the options that give a grammar, and those of its compile."""
    parser.add_argument("--notation", required=required, choices=NOTATIONS)
    add_compile_options(parser)
    grammar = parser.add_mutually_exclusive_group(required=required)
    grammar.add_argument("--grammar", type=as_text, metavar="TEXT")
    grammar.add_argument("--grammar-file", metavar="FILE")


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that compiles a grammar."""
    parser.add_argument("--dialect", choices=["python", "ecma"], default="python")
    parser.add_argument("--whitespace", choices=["compact", "one-space", "flexible", "any"], default="flexible")
    parser.add_argument("--escapes", choices=["shortest", "any"], default="shortest")
    parser.add_argument("--additional", choices=["open", "closed"], default="open")
    add_limits(parser)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add `--limit`."""
    parser.add_argument("--limit", type=_limit, action="append", default=[], metavar="NAME=N")


def add_vocabulary(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the options that name a vocabulary."""
    vocabulary = parser.add_mutually_exclusive_group(required=required)
    vocabulary.add_argument("--model")
    vocabulary.add_argument("--tokenizer", metavar="PATH")


def _limit(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if name not in _LIMITS:
        message = catalogue_text("cli.argument.unknown_limit", name=repr(name), limits=", ".join(_LIMITS))
        raise argparse.ArgumentTypeError(message)
    return name, _integer(value.replace("_", "").replace(",", ""), 1)


def as_text(argument: str) -> str:
    """Return an argument as typed: in an ASCII locale Python passes UTF-8 as escaped bytes."""
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError as error:
        raise argparse.ArgumentTypeError(catalogue_text("cli.argument.not_utf8")) from error


def as_natural(text: str) -> int:
    """Parse a whole number from 0."""
    return _integer(text, 0)


def as_count(text: str) -> int:
    """Parse a whole number from 1."""
    return _integer(text, 1)


def as_integer(text: str) -> int:
    """Parse a whole number."""
    try:
        return int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(catalogue_text("cli.argument.not_integer", text=repr(text))) from error


def _integer(text: str, least: int) -> int:
    number = as_integer(text)
    if number < least:
        raise argparse.ArgumentTypeError(catalogue_text("cli.argument.below", number=number, least=least))
    return number


def number_between(low: float, high: float, *, open_below: bool = False) -> Callable[[str], float]:
    """Return a function that parses a number between two bounds.

    Args:
        low: the lower bound.
        high: the upper bound.
        open_below: whether the lower bound itself is excluded.
    """

    def number(text: str) -> float:
        value = float(text)
        fits = (low < value if open_below else low <= value) and value <= high and math.isfinite(value)
        if not fits:
            bounds = catalogue_text("cli.argument.above" if open_below else "cli.argument.at_least", low=low)
            if high < math.inf:
                bounds = catalogue_text("cli.argument.at_most", bounds=bounds, high=high)
            raise argparse.ArgumentTypeError(catalogue_text("cli.argument.not_between", text=text, bounds=bounds))
        return value

    return number
