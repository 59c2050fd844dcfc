"""The exit codes of every command: one table, shown by each `--help` and by the README."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from engine.source.catalogue import catalogue_text


class ExitCode(IntEnum):
    """The exit status of the process."""

    SUCCESS = 0
    NEGATIVE = 1
    MISUSE = 2
    INCOMPLETE = 3
    UNKNOWN = 4
    CANCELLED = 130
    TERMINATED = 143


COMMANDS: Final = (
    "generate",
    "check",
    "step",
    "explain",
    "replay",
    "diagnose",
    "mask",
    "export",
    "share",
    "bundle",
    "forced",
    "sample",
    "price",
    "accuracy",
    "audit",
    "reduce",
    "test",
    "fuzz",
    "refactor",
    "infer",
    "bench",
    "diff",
    "probe-keywords",
    "probe",
)
"""The commands; the module, the texts and the negative answer of each have its name."""

_OTHERS: Final = (
    ExitCode.MISUSE,
    ExitCode.INCOMPLETE,
    ExitCode.UNKNOWN,
    ExitCode.CANCELLED,
    ExitCode.TERMINATED,
)
_ONLY_OF: Final = {ExitCode.INCOMPLETE: ("generate",), ExitCode.UNKNOWN: ("diagnose", "probe", "diff", "refactor")}
"""Codes that only some commands have."""


def help_text(command: str) -> str:
    """Return the table for the `--help` of a command, of the `window`, or of the `program`."""
    rows = [(ExitCode.SUCCESS, catalogue_text("cli.exit.success")), (ExitCode.NEGATIVE, negative_answer(command))]
    rows += [row for row in other_codes() if command in ("program", *_ONLY_OF.get(row[0], (command,)))]
    heading = catalogue_text("cli.exit.heading")
    return f"{heading}:\n" + "\n".join(f"  {code:<5}{meaning}" for code, meaning in rows)


def negative_answer(command: str) -> str:
    """Return the meaning of exit code 1 of a command."""
    answer = catalogue_text(f"cli.{command}.negative")
    return answer if command == "window" else catalogue_text("cli.exit.negative", answer=answer)


def other_codes() -> list[tuple[ExitCode, str]]:
    """Return the codes that mean the same for every command, with their meanings."""
    return [(code, catalogue_text(f"cli.exit.{code.name.lower()}")) for code in _OTHERS]
