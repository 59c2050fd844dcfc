"""The exit codes of every command: one table, used for each `--help` and the README."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """The exit status of the process."""

    SUCCESS = 0
    NEGATIVE = 1
    MISUSE = 2
    INCOMPLETE = 3
    CANCELLED = 130
    TERMINATED = 143


_NEGATIVE: Final = {
    "generate": "the grammar matches no text, or no token can follow",
    "check": "the grammar has an error",
    "step": "no match begins with the text",
    "explain": "no match begins with the text",
    "replay": "the output is not complete",
    "mask": "no match begins with the text",
    "export": "the grammar does not fit the target, or a limit stopped the export",
    "share": "the document cannot be replayed",
    "forced": "no match begins with the text, or nothing is forced",
    "bench": "there is no grammar to measure",
}
"""For each command, the meaning of its negative answer."""

_WINDOW: Final = "turnstile [FILE]"
_OPENS: Final = "the window cannot open, or without a display, the session cannot be drawn"
_FAILED: Final = "or the grammar, a model or a file is at fault"
_OTHERS: Final[tuple[tuple[ExitCode, str], ...]] = (
    (ExitCode.MISUSE, "misuse: an argument is wrong, or a file that it names cannot be read"),
    (ExitCode.INCOMPLETE, "stopped at --max-tokens, or where the model's context is full, before completion"),
    (ExitCode.CANCELLED, "cancelled (Ctrl+C, SIGINT)"),
    (ExitCode.TERMINATED, "terminated (SIGTERM)"),
)
COMMANDS: Final = tuple(_NEGATIVE)


def help_text(command: str = "") -> str:
    """Return the table for the `--help` of a command, of the `window`, or of the program if nothing is named."""
    rows = [(ExitCode.SUCCESS, "success"), (ExitCode.NEGATIVE, _negative(command))]
    rows += [row for row in _OTHERS if row[0] is not ExitCode.INCOMPLETE or command in ("", "generate")]
    return "exit codes:\n" + "\n".join(f"  {code:<5}{meaning}" for code, meaning in rows)


def _negative(command: str) -> str:
    if command == "window":
        return _OPENS
    return f"{_NEGATIVE[command]}, {_FAILED}" if command else f"a negative answer, {_FAILED}"


def markdown() -> str:
    """Return the table for the README."""
    lines = ["| code | meaning |", "|---|---|", "| 0 | success |", f"| 1 | a negative answer, {_FAILED} |"]
    lines += [f"| {code:d} | {meaning.replace('--max-tokens', '`--max-tokens`')} |" for code, meaning in _OTHERS]
    lines += ["", "| command | its negative answer (1) |", "|---|---|"]
    lines += [f"| `{command}` | {meaning} |" for command, meaning in _NEGATIVE.items()]
    lines.append(f"| `{_WINDOW}` | {_OPENS} |")
    return "\n".join(lines) + "\n"
