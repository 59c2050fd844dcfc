"""`turnstile fuzz`: texts of a schema's grammar and mutants of them, judged by `jsonschema` too."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Final

from engine.cli.arguments import add_compile_options, as_count, as_natural
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import as_utf8, compile_options, read_file
from engine.cli.output import ProgressLine, print_json
from engine.diagnosis.test_strings.schema_fuzz import FuzzDifference, fuzz_schema
from engine.source.catalogue import catalogue_text

_MOST_SHOWN: Final = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("schema", metavar="SCHEMA")
    parser.add_argument("--texts", type=as_count, default=100, metavar="N")
    parser.add_argument("--seed", type=as_natural, default=0, metavar="N")
    add_compile_options(parser)
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Fuzz a schema both ways; return 1 if our grammar and `jsonschema` differ on a text."""
    schema = as_utf8(read_file(arguments.schema, stdin=True), arguments.schema)
    with ProgressLine() as cancel:
        report = fuzz_schema(schema, arguments.texts, arguments.seed, compile_options(arguments), cancel)
    if arguments.json:
        print_json(asdict(report))
    else:
        for one in report.differences[:_MOST_SHOWN]:
            print(_line(one))
        rest = len(report.differences) - _MOST_SHOWN
        if rest > 0:
            print(catalogue_text("cli.fuzz.more", count=rest))
        fields = {"legal": report.legal, "mutants": report.mutants, "refused": report.refused}
        print(
            catalogue_text("cli.fuzz.summary_line", **fields, unjudged=report.unjudged, count=len(report.differences))
        )
    return ExitCode.NEGATIVE if report.differences else ExitCode.SUCCESS


def _line(one: FuzzDifference) -> str:
    if one.is_accepted:
        return catalogue_text("cli.fuzz.difference.accepted", text=one.text, reason=one.reason)
    return catalogue_text("cli.fuzz.difference.refused", text=one.text)
