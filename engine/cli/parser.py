"""The options of the command line. Each command names the function that runs it."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version

from engine.cli.arguments import ArgumentParser
from engine.cli.bench import bench
from engine.cli.commands import check, explain, export, generate, mask, replay, share, step
from engine.cli.completion import SHELLS, completion
from engine.cli.exit_codes import help_text
from engine.cli.forced import add_forced
from engine.cli.processors import add_stages
from engine.compile import NOTATIONS
from engine.decoding import SamplerSettings, StopRule
from engine.diagnosis.verdicts.token_ids_text import ids_of
from engine.export import TARGETS, NumberSpelling
from engine.source import Limits

DESCRIPTION = (
    "A debugger for grammar-constrained decoding. Without a command, or with a .turnstile file, it opens a window."
)
DEFAULTS = SamplerSettings()
_LIMITS = tuple(one.name for one in fields(Limits))


class _PrintCompletion(argparse.Action):
    """An action that prints the script and exits, as `--version` does: no command is needed."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: object, values: object, _option: object = None
    ) -> None:
        print(completion(parser, str(values)), end="")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the complete command line."""
    parser = ArgumentParser(prog="turnstile", description=DESCRIPTION, epilog=help_text())
    parser.add_argument("-V", "--version", action="version", version=f"turnstile {_version()}")
    parser.add_argument("--print-completion", action=_PrintCompletion, choices=SHELLS, help="print a completion script")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_generate(
        commands.add_parser("generate", help="write a text that matches a grammar", epilog=help_text("generate"))
    )
    _add_check(commands.add_parser("check", help="say what is wrong with a grammar", epilog=help_text("check")))
    _add_step(commands.add_parser("step", help="say where a match stands after a text", epilog=help_text("step")))
    _add_explain(
        commands.add_parser("explain", help="say why something may not come next", epilog=help_text("explain"))
    )
    _add_replay(commands.add_parser("replay", help="say what is wrong with an output", epilog=help_text("replay")))
    _add_mask(commands.add_parser("mask", help="list the tokens that may come next", epilog=help_text("mask")))
    _add_export(commands.add_parser("export", help="write what a grammar compiles to", epilog=help_text("export")))
    _add_share(
        commands.add_parser("share", help="write a trace as a web page that replays it", epilog=help_text("share"))
    )
    forced = commands.add_parser(
        "forced",
        aliases=["coalesce"],
        help="show the text that is forced, and the calls of the model that this saves",
        epilog=help_text("forced"),
    )
    _add_grammar(forced)
    add_forced(forced, _text, _count, _natural)
    _add_bench(
        commands.add_parser("bench", help="compare speed and verdicts with other engines", epilog=help_text("bench"))
    )
    return parser


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=generate, parser=parser)
    _add_grammar(parser, required=False)
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
    parser.add_argument(
        "--require-complete",
        action="store_true",
        help="print nothing if the text stopped before completion; the exit code is 3 then with or without this option",
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
    add_stages(parser, _text, _natural)


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=check, parser=parser)
    _add_grammar(parser)
    parser.add_argument(
        "--rules", action="store_true", help="print a GBNF grammar's plain rules, as llama.cpp has them"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def _add_step(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=step, parser=parser)
    _add_grammar(parser)
    parser.add_argument("--text", type=_text, default="", help="what was written so far (nothing)")
    parser.add_argument("--stacks", action="store_true", help="list the stacks of rules that the match stands on")
    parser.add_argument("--most-stacks", type=_count, default=20, metavar="N", help="list N of them at most (20)")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=explain, parser=parser)
    _add_grammar(parser)
    parser.add_argument("--text", type=_text, default="", help="what was written so far (nothing)")
    about = parser.add_mutually_exclusive_group()
    about.add_argument("--next", type=_text, metavar="TEXT", help="the text that is asked about")
    about.add_argument("--token", type=_natural, metavar="ID", help="the token that is asked about")
    about.add_argument("--dead-ends", action="store_true", help="list the places that no tokens complete")
    about.add_argument("--tree", action="store_true", help="say what each part of the grammar means")
    _add_vocabulary(parser, required=False)
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=replay, parser=parser)
    parser.description = "Checks an output against a grammar, without a model, and says what went wrong first."
    _add_grammar(parser)
    output = parser.add_mutually_exclusive_group(required=True)
    output.add_argument("--text", type=_text, help="the output itself")
    output.add_argument("--text-file", metavar="FILE", help="a file with the output, - is stdin")
    output.add_argument("--ids", type=_ids, metavar="IDS", help="the output as token ids, such as '[12, 7, 9]'")
    output.add_argument("--trace", metavar="FILE", help="a .turnstile document, or what generate --json printed")
    _add_vocabulary(parser, required=False)
    parser.add_argument("--budget", type=_count, metavar="N", help="how many tokens there were (max_tokens)")
    parser.add_argument("--finish", choices=["stop", "length", "context"], help="why it ended, as the server said")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")


def _add_mask(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=mask, parser=parser)
    _add_grammar(parser)
    parser.add_argument("--text", type=_text, default="", help="what was written so far (nothing)")
    _add_vocabulary(parser, required=True)
    parser.add_argument("--json", action="store_true", help="print all ids, as JSON")


def _add_vocabulary(parser: argparse.ArgumentParser, *, required: bool) -> None:
    vocabulary = parser.add_mutually_exclusive_group(required=required)
    vocabulary.add_argument("--model", help="whose tokens, as for generate")
    vocabulary.add_argument("--tokenizer", metavar="PATH", help="a tokenizer's file or folder, instead of a model")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=export, parser=parser)
    parser.description = (
        "What is written is read back and held against the engine on random walks before the command says that it is "
        "done: what was compared is told on stderr."
    )
    parser.add_argument("--list", action="store_true", help="list the targets; with a grammar, which of them fit it")
    parser.add_argument("--to", choices=TARGETS, metavar="TARGET", help="one of those that --list lists")
    _add_grammar(parser, required=False)
    parser.add_argument(
        "--spelling",
        choices=[way.value for way in NumberSpelling],
        help="of strings and numbers, where a JSON Schema is written as rules or as a regex: the shortest way, or "
        "every way that it is compiled with, see --escapes (plain)",
    )
    parser.add_argument("--depth", type=_count, metavar="N", help="cut recursion at N levels, for a target without it")
    parser.add_argument("--name", type=_name, help="what the grammar is called in packages and requests (grammar)")
    vocabulary = parser.add_mutually_exclusive_group()
    vocabulary.add_argument(
        "--model", help="whose tokens the export is over, as for generate; for requests, the name that they ask for"
    )
    vocabulary.add_argument("--tokenizer", metavar="PATH", help="a tokenizer's file or folder, instead of a model")
    parser.add_argument("--output", metavar="PATH", help="the file or folder to write; - is the terminal")
    parser.add_argument(
        "--yes", action="store_true", help="write large files without a question, which only a terminal is asked"
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def _add_share(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=share, parser=parser)
    parser.description = (
        "Writes one HTML file that needs nothing and loads nothing: it replays the trace of a document step by step, "
        "with its branches, what the model wanted, and why the grammar refused it. No model is asked."
    )
    parser.add_argument("document", metavar="DOCUMENT", help="a .turnstile file")
    _add_limits(parser)
    parser.add_argument("--output", required=True, metavar="PATH", help="the HTML file to write; - is the terminal")
    _add_vocabulary(parser, required=False)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=bench, parser=parser)
    parser.description = (
        "Without a grammar, the examples that come with Turnstile are compared, on their test strings. Engines that "
        "are not installed are left out and named."
    )
    parser.add_argument("--notation", choices=NOTATIONS, help="how the grammar is written")
    grammar = parser.add_mutually_exclusive_group()
    grammar.add_argument("--grammar", type=_text, metavar="TEXT", help="the grammar itself")
    grammar.add_argument("--grammar-file", metavar="FILE", help="a file with the grammar, - is stdin")
    grammar.add_argument("--schemas", metavar="FILE", help="many grammars with texts: JSON lines of MaskBench's form")
    parser.add_argument("--text", type=_text, action="append", default=[], help="a text to follow; may come again")
    parser.add_argument("--texts", metavar="FILE", help="texts to follow, a JSON string a line")
    vocabulary = parser.add_mutually_exclusive_group()
    vocabulary.add_argument("--model", help="whose tokens the masks are over, as for generate (smollm2 if it is here)")
    vocabulary.add_argument("--tokenizer", metavar="PATH", help="a tokenizer's file or folder, instead of a model")
    parser.add_argument("--engines", nargs="+", metavar="NAME", help="only these, and this one (all)")
    parser.add_argument("--walks", type=_count, default=1, metavar="N", help="follow each text N times (1)")
    seconds = _number(0, math.inf, open_below=True)
    parser.add_argument("--time-limit", type=seconds, default=10.0, metavar="S", help="seconds for one grammar (10)")
    _add_compile_options(parser)
    parser.add_argument("--json", action="store_true", help="print all measurements, as JSON")


def _add_grammar(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument("--notation", required=required, choices=NOTATIONS, help="how the grammar is written")
    _add_compile_options(parser)
    grammar = parser.add_mutually_exclusive_group(required=required)
    grammar.add_argument("--grammar", type=_text, metavar="TEXT", help="the grammar itself")
    grammar.add_argument(
        "--grammar-file", metavar="FILE", help="a file with the grammar, - is stdin; its last line end does not count"
    )


def _add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that compiles a grammar."""
    parser.add_argument(
        "--dialect", choices=["python", "ecma"], default="python", help="of a regular expression (python)"
    )
    parser.add_argument(
        "--whitespace",
        choices=["compact", "one-space", "flexible", "any"],
        default="flexible",
        help="of what a JSON Schema describes (flexible)",
    )
    parser.add_argument(
        "--escapes",
        choices=["shortest", "any"],
        default="shortest",
        help="escapes in the strings of a JSON Schema's texts: where JSON requires them, in the shortest form; or all "
        "that JSON has (shortest; replay judges with any)",
    )
    parser.add_argument(
        "--additional",
        choices=["open", "closed"],
        default="open",
        help="whether a JSON Schema's objects may have further properties where it does not say so (open)",
    )
    _add_limits(parser)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        type=_limit,
        action="append",
        default=[],
        metavar="NAME=N",
        help=f"raise or lower a limit; may come again. Names: {', '.join(_LIMITS)}",
    )


def _limit(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if name not in _LIMITS:
        raise argparse.ArgumentTypeError(f"there is no limit {name!r}; there are {', '.join(_LIMITS)}")
    return name, _integer(value.replace("_", "").replace(",", ""), 1)


def _text(argument: str) -> str:
    """Return an argument as typed: in an ASCII locale Python passes UTF-8 as escaped bytes."""
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError as error:
        raise argparse.ArgumentTypeError("it is not UTF-8 text") from error


def _name(text: str) -> str:
    if not re.fullmatch("[a-z][a-z0-9_-]{0,59}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name: small letters, digits, - and _, the first a letter")
    return text


def _ids(text: str) -> tuple[int, ...]:
    try:
        return ids_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _natural(text: str) -> int:
    return _integer(text, 0)


def _count(text: str) -> int:
    return _integer(text, 1)


def _integer(text: str, least: int) -> int:
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
