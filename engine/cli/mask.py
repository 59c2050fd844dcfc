"""`turnstile mask`: the tokens that may come next."""

from __future__ import annotations

import argparse

from engine.cli.arguments import add_grammar, add_vocabulary, as_text
from engine.cli.explain import Analysis
from engine.cli.inputs import compile_argument, load_vocabulary
from engine.cli.output import ProgressLine, show


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--text", type=as_text, default="")
    add_vocabulary(parser, required=True)
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the allowed tokens."""
    grammar = compile_argument(arguments)
    with ProgressLine() as cancel:
        analysis = Analysis(grammar, load_vocabulary(arguments, cancel), arguments.text)
        found = analysis.mask(as_json=arguments.json)
    show(found)
    return 0
