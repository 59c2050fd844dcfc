"""The argument parser of every command: layout of help texts, reports of misuse, and what several commands have."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Final, NoReturn

from engine.cli.exit_codes import ExitCode
from engine.compile import NOTATIONS
from engine.source import Limits

_LIMITS: Final = tuple(one.name for one in fields(Limits))


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
    loaded for another command.
    """

    def __init__(
        self, *arguments: Any, declare: Callable[[ArgumentParser], None] | None = None, **options: Any
    ) -> None:
        self._declare = declare
        options.setdefault("formatter_class", HelpFormatter)
        options.setdefault("allow_abbrev", False)
        super().__init__(*arguments, **options)

    def declare_options(self) -> None:
        """Add the options that are declared late."""
        if self._declare is not None:
            declare, self._declare = self._declare, None
            declare(self)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse the arguments, as `argparse` does."""
        self.declare_options()
        return super().parse_known_args(args, namespace)

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse the arguments; the command's own parser reports unknown ones."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            getattr(found, "parser", self).error(f"unrecognized arguments: {' '.join(unknown)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with the code of misuse."""
        line = " ".join(message.split())
        self.exit(ExitCode.MISUSE, f"{self.prog}: error: {line}\nSee `{self.prog} --help`.\n")


def add_grammar(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the options that give a grammar, and those of its compile."""
    parser.add_argument("--notation", required=required, choices=NOTATIONS, help="notation of the grammar")
    add_compile_options(parser)
    grammar = parser.add_mutually_exclusive_group(required=required)
    grammar.add_argument("--grammar", type=as_text, metavar="TEXT", help="the grammar itself")
    grammar.add_argument(
        "--grammar-file", metavar="FILE", help="a file with the grammar, - is stdin; its last line end does not count"
    )


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that compiles a grammar."""
    parser.add_argument(
        "--dialect", choices=["python", "ecma"], default="python", help="dialect of a regular expression (python)"
    )
    parser.add_argument(
        "--whitespace",
        choices=["compact", "one-space", "flexible", "any"],
        default="flexible",
        help="white space in the texts of a JSON Schema (flexible)",
    )
    parser.add_argument(
        "--escapes",
        choices=["shortest", "any"],
        default="shortest",
        help="escapes in the strings of a JSON Schema's texts: where JSON requires them, in the shortest form; or all "
        "that JSON has (shortest; replay judges with any)",
    )
    parser.add_argument(
        "--additional",
        choices=["open", "closed"],
        default="open",
        help="whether a JSON Schema's objects may have further properties where it does not say so (open)",
    )
    add_limits(parser)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add `--limit`."""
    parser.add_argument(
        "--limit",
        type=_limit,
        action="append",
        default=[],
        metavar="NAME=N",
        help=f"raise or lower a limit; may come again. Names: {', '.join(_LIMITS)}",
    )


def add_vocabulary(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the options that name a vocabulary."""
    vocabulary = parser.add_mutually_exclusive_group(required=required)
    vocabulary.add_argument("--model", help="the model whose vocabulary is used, as for generate")
    vocabulary.add_argument("--tokenizer", metavar="PATH", help="the file or folder of a tokenizer, instead of a model")


def _limit(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if name not in _LIMITS:
        raise argparse.ArgumentTypeError(f"there is no limit {name!r}; there are {', '.join(_LIMITS)}")
    return name, _integer(value.replace("_", "").replace(",", ""), 1)


def as_text(argument: str) -> str:
    """Return an argument as typed: in an ASCII locale Python passes UTF-8 as escaped bytes."""
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError as error:
        raise argparse.ArgumentTypeError("it is not UTF-8 text") from error


def as_natural(text: str) -> int:
    """Parse a whole number from 0."""
    return _integer(text, 0)


def as_count(text: str) -> int:
    """Parse a whole number from 1."""
    return _integer(text, 1)


def _integer(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from error
    if number < least:
        raise argparse.ArgumentTypeError(f"{number} is below {least}")
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
            bounds = f"above {low}" if open_below else f"at least {low}"
            raise argparse.ArgumentTypeError(
                f"{text} is not {bounds}" + (f" and at most {high}" if high < math.inf else "")
            )
        return value

    return number
