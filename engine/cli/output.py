"""Output of commands: results to stdout, everything else to stderr."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import BinaryIO

from engine.source import CancelToken, EngineError, SourceText, Span
from engine.source.catalogue import catalogue_text

PAUSE_S = 0.1


class CommandError(EngineError):
    """A command cannot do what was requested; the text says what and why."""


@dataclass(frozen=True, slots=True)
class IllegalVerdict:
    """Where a text stops to be the beginning of a match.

    Attributes:
        offset: the number of bytes before that.
        expected: the ranges of bytes that may come there.
        spans: the parts of the grammar that are being matched there, in the form of documents.
    """

    offset: int = 0
    expected: Sequence[tuple[int, int]] = ()
    spans: object = ()


class IllegalTextError(CommandError):
    """No match begins with the text of a command.

    Attributes:
        document: the verdict, for `--json`.
    """

    def __init__(self, key: str, verdict: IllegalVerdict = IllegalVerdict(), /, **fields: object) -> None:
        super().__init__(key, **fields)
        self.document: dict[str, object] = {
            "legal": False,
            "offset": verdict.offset,
            "expected": [list(pair) for pair in verdict.expected],
            "spans": verdict.spans,
            "message": str(self),
        }


class MisuseError(CommandError):
    """The command line requests something impossible, such as reading a missing file."""


class _Closed(io.TextIOBase):
    """A replacement for a closed standard output: writing to it is an error."""

    def write(self, text: str) -> int:
        if text:
            raise CommandError("cli.message.closed_output")
        return 0

    @property
    def buffer(self) -> BinaryIO:
        raise CommandError("cli.message.closed_output")


class _Dropped(io.TextIOBase):
    """A replacement for a closed standard error: it discards its input."""

    def write(self, text: str) -> int:
        return len(text)


def replace_closed_streams() -> None:
    """Replace standard streams that Python omits because their descriptors are closed."""
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = _Dropped()


def use_utf8() -> None:
    """Set results to UTF-8 with `\\n` on every system, whatever the terminal's code page."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")


def print_message(message: str) -> None:
    """Print one line on stderr."""
    print("turnstile:", " ".join(message.split("\n")), file=sys.stderr)


def print_note(text: str) -> None:
    """Print a note on stderr."""
    print_message(catalogue_text("cli.message.note", text=text))


def print_json(document: object) -> None:
    """Print one line of JSON on stdout."""
    print(json.dumps(document, ensure_ascii=False, allow_nan=False))


def show(found: dict[str, object] | list[str]) -> None:
    """Print a document as JSON, or lines of text."""
    if isinstance(found, list):
        print("\n".join(found))
    else:
        print_json(found)


def location_of(span: Span, source: SourceText) -> dict[str, object]:
    """Return a source position in the form of documents."""
    line, column = source.line_column(span.start)
    return {"text": source.excerpt(span), "line": line, "column": column}


def after_text(text: str) -> str:
    """Return the words for the position after a text."""
    return catalogue_text("cli.message.after", text=text) if text else catalogue_text("cli.message.at_start")


def program_version() -> str:
    """Return the version of Turnstile, or words that say that it is not installed."""
    try:
        return version("token-turnstile")
    except PackageNotFoundError:
        return catalogue_text("cli.message.no_version")


class ProgressLine:
    """A progress line on stderr that is overwritten on a terminal, and omitted elsewhere."""

    def __init__(self) -> None:
        self._shown_at = 0.0
        self.cancel = CancelToken(self._show if sys.stderr.isatty() else None)

    def __enter__(self) -> CancelToken:
        return self.cancel

    def __exit__(self, *_: object) -> None:
        if self._shown_at:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _show(self, what: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._shown_at < PAUSE_S:
            return
        self._shown_at = time.monotonic()
        if total:
            line = catalogue_text("cli.message.progress_of", what=what, done=done, total=total)
        else:
            line = catalogue_text("cli.message.progress", what=what, done=done)
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
