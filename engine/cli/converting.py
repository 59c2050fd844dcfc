"""`export --to gbnf` and `--to regex`: a grammar in another notation."""

from __future__ import annotations

import argparse
from typing import Final

from engine.cli.output import complain
from engine.compile import CompiledGrammar
from engine.export import Spelling, to_gbnf, to_regex
from engine.source import CancelToken

CONVERSIONS: Final = ("gbnf", "regex")


def check_conversion(arguments: argparse.Namespace) -> None:
    """End the command where options contradict each other: none is passed over in silence."""
    if arguments.depth is not None and arguments.to != "regex":
        arguments.parser.error("--depth needs --to regex: the others write recursion as it is")
    if arguments.spelling is not None and (arguments.to == "dot" or arguments.notation != "json_schema"):
        arguments.parser.error("--spelling needs --notation json_schema, and --to json, gbnf or regex")
    if arguments.to == arguments.notation:
        arguments.parser.error(f"the grammar is {arguments.to} already")


def spelling(arguments: argparse.Namespace) -> Spelling:
    """How strings and numbers are to be spelled."""
    return Spelling(arguments.spelling or Spelling.PLAIN)


def converted(arguments: argparse.Namespace, grammar: CompiledGrammar, cancel: CancelToken) -> str:
    """The text, with a last line end; what it leaves out is told on stderr."""
    if arguments.to == "gbnf":
        conversion = to_gbnf(grammar, spelling(arguments), cancel=cancel)
    else:
        conversion = to_regex(
            grammar, spelling(arguments), depth=arguments.depth, dialect=arguments.dialect, cancel=cancel
        )
    for note in conversion.notes:
        complain(f"note: {note}")
    return conversion.text if conversion.text.endswith("\n") else f"{conversion.text}\n"
