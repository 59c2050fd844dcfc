"""The argument parser of every command: layout of help texts and reports of misuse."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from engine.cli.exit_codes import ExitCode


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
    """A parser that reports misuse in one line, with a pointer to the help, instead of the full usage."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options.setdefault("formatter_class", HelpFormatter)
        options.setdefault("allow_abbrev", False)
        super().__init__(*arguments, **options)

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
