"""What the command line takes. Each command names the function that runs it."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from engine.cli.commands import check, export, generate
from engine.compile import NOTATIONS
from engine.decoding import SamplerSettings, StopRule
from engine.export import TARGETS

DESCRIPTION = (
    "A debugger for grammar-constrained decoding. Without a command, or with a .turnstile file, it opens a window."
)
DEFAULTS = SamplerSettings()


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(prog="turnstile", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"turnstile {_version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_generate(commands.add_parser("generate", help="write a text that matches a grammar", allow_abbrev=False))
    _add_check(commands.add_parser("check", help="say what is wrong with a grammar", allow_abbrev=False))
    _add_export(commands.add_parser("export", help="write what a grammar compiles to", allow_abbrev=False))
    return parser


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=generate)
    _add_grammar(parser)
    parser.add_argument(
        "--model",
        required=True,
        help="shakespeare, records, smollm2, a Hub id, or the path of a model folder or GGUF file",
    )
    parser.add_argument(
        "--prompt", type=_text, default="", help="what the model reads first; the grammar starts after it"
    )
    parser.add_argument("--max-tokens", type=_count, default=256, metavar="N", help="stop after N tokens (256)")
    parser.add_argument(
        "--stop",
        choices=[rule.value for rule in StopRule],
        default=StopRule.MAXIMAL.value,
        help="where a model without an end token stops: where nothing may follow, or at the first match (maximal)",
    )
    parser.add_argument("--json", action="store_true", help="print the steps too, as JSON")
    sampler = parser.add_argument_group("sampler")
    sampler.add_argument(
        "--seed", type=_natural, default=DEFAULTS.seed, metavar="N", help="the same gives the same (0)"
    )
    heat = sampler.add_mutually_exclusive_group()
    heat.add_argument("--temperature", type=_number(0, math.inf), default=DEFAULTS.temperature, metavar="T")
    heat.add_argument("--greedy", action="store_const", dest="temperature", const=0.0, help="take the most probable")
    sampler.add_argument("--top-k", type=_natural, default=DEFAULTS.top_k, metavar="K", help="0 is off")
    sampler.add_argument("--top-p", type=_number(0, 1, open_below=True), default=DEFAULTS.top_p, metavar="P")
    sampler.add_argument("--min-p", type=_number(0, 1), default=DEFAULTS.min_p, metavar="P")
    sampler.add_argument(
        "--repetition-penalty",
        type=_number(0, math.inf, open_below=True),
        default=DEFAULTS.repetition_penalty,
        metavar="R",
    )


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=check)
    _add_grammar(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=export, parser=parser)
    parser.add_argument(
        "--to", required=True, choices=TARGETS, help="json: the token index; dot: the automaton for Graphviz"
    )
    _add_grammar(parser)
    vocabulary = parser.add_mutually_exclusive_group()
    vocabulary.add_argument("--model", help="whose tokens the index is over, as for generate")
    vocabulary.add_argument("--tokenizer", metavar="PATH", help="a tokenizer's file or folder, instead of a model")
    parser.add_argument("--output", required=True, metavar="PATH", help="the file to write; - is the terminal")


def _add_grammar(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--notation", required=True, choices=NOTATIONS, help="how the grammar is written")
    parser.add_argument(
        "--dialect", choices=["python", "ecma"], default="python", help="of a regular expression (python)"
    )
    parser.add_argument(
        "--whitespace",
        choices=["compact", "one-space", "flexible", "any"],
        default="flexible",
        help="of what a JSON Schema describes (flexible)",
    )
    grammar = parser.add_mutually_exclusive_group(required=True)
    grammar.add_argument("--grammar", type=_text, metavar="TEXT", help="the grammar itself")
    grammar.add_argument(
        "--grammar-file", metavar="FILE", help="a file with the grammar, - is stdin; its last line end does not count"
    )


def _text(argument: str) -> str:
    """An argument as it was typed: in an ASCII locale Python hands over UTF-8 as escaped bytes."""
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError as error:
        raise argparse.ArgumentTypeError("it is not UTF-8 text") from error


def _natural(text: str) -> int:
    return _whole(text, 0)


def _count(text: str) -> int:
    return _whole(text, 1)


def _whole(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from error
    if number < least:
        raise argparse.ArgumentTypeError(f"{number} is below {least}")
    return number


def _number(low: float, high: float, *, open_below: bool = False) -> Callable[[str], float]:
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


def _version() -> str:
    try:
        return version("token-turnstile")
    except PackageNotFoundError:
        return "(not installed)"
