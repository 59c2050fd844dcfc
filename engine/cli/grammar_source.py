"""The grammar's text and compile options from the command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from engine.cli.output import MisuseError
from engine.compile import CompileOptions
from engine.source import Limits, SourceText

STDIN = "-"


def read_grammar(arguments: argparse.Namespace) -> SourceText:
    """Read the grammar's text, with the name that messages use.

    Raises:
        MisuseError: the file cannot be read, or is not UTF-8.
    """
    if arguments.grammar is not None:
        return SourceText(arguments.grammar)
    name = arguments.grammar_file
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise MisuseError(f"cannot read {name}: {error.strerror or error}") from error
    except ValueError as error:
        raise MisuseError(f"cannot read {name}: it is not UTF-8 text ({error})") from error
    return SourceText(_without_last_line_end(text), "<stdin>" if name == STDIN else name)


def limits_of(arguments: argparse.Namespace) -> Limits:
    """Return the limits of the command line, with defaults for the others."""
    return Limits(**dict(arguments.limit))


def compile_options(arguments: argparse.Namespace) -> CompileOptions:
    """Return the compile options of the command line."""
    return CompileOptions(
        dialect=arguments.dialect,
        whitespace=arguments.whitespace,
        escapes=arguments.escapes,
        additional=arguments.additional,
        limits=limits_of(arguments),
    )


def _without_last_line_end(text: str) -> str:
    """Remove the line end that editors and `echo` append; it is not part of the grammar."""
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
