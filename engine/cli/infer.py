"""`turnstile infer`: a grammar that accepts all samples of a file."""

from __future__ import annotations

import argparse

from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import as_utf8, read_file
from engine.cli.output import ProgressLine, print_json, print_note
from engine.inference.infer import infer, likely_notation
from engine.inference.samples import SampleForm, read_samples
from engine.notations import NOTATIONS
from engine.source.catalogue import catalogue_text


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("samples", metavar="FILE")
    parser.add_argument("--to", choices=NOTATIONS)
    parser.add_argument("--form", choices=[str(form) for form in SampleForm], default=str(SampleForm.AUTO))
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Infer a grammar, which accepts every sample."""
    text = as_utf8(read_file(arguments.samples, stdin=True), arguments.samples)
    samples = read_samples(text, SampleForm(arguments.form))
    with ProgressLine() as cancel:
        found = infer(arguments.to or likely_notation(samples), samples, cancel=cancel)
    if arguments.json:
        print_json({"notation": found.notation, "text": found.text, "samples": found.count, "notes": found.notes})
    else:
        print(found.text, end="" if found.text.endswith("\n") else "\n")
        for note in (*found.notes, catalogue_text("inference.note.accepted", count=found.count)):
            print_note(note)
    return ExitCode.SUCCESS
