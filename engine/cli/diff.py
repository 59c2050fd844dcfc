"""`turnstile diff`: the first prefix at which the masks of two engines differ, and all distinct differences.

With `--other-grammar-file`, two grammars of Turnstile are compared instead (`other_grammar`).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Final

from engine.cli.arguments import (
    add_grammar,
    add_vocabulary,
    as_count,
    as_natural,
    as_text,
    number_between,
)
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import compile_options, load_vocabulary, read_grammar
from engine.cli.other_grammar import add_other_grammar, compare_grammars
from engine.cli.output import MisuseError, ProgressLine, after_text, location_of, print_json, print_note
from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.differences import (
    MOST_SERVER_STEPS,
    MOST_STEPS,
    CauseKind,
    Difference,
    DifferenceReport,
    DiffVerdict,
    WalkOptions,
    cause_sentence,
    compare_named,
    nearest_options,
    refusal_sentence,
    verdict_sentence,
)
from engine.peers import PEERS
from engine.peers.adapter import OWN, Peer
from engine.servers.client import is_remote, is_server_address
from engine.servers.keys import KEY_VARIABLE, key_of
from engine.source import SourceText
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary
from engine.vocabulary.visible import visible

_MOST_SHOWN: Final = 12
_MOST_TOKENS: Final = 16  # of a prefix
_EXIT_CODES: Final = {DiffVerdict.EQUAL: ExitCode.SUCCESS, DiffVerdict.UNKNOWN: ExitCode.UNKNOWN}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--engine", action="append", default=[], metavar="NAME")
    parser.add_argument("--key-env", default=KEY_VARIABLE, metavar="NAME")
    add_grammar(parser)
    parser.set_defaults(whitespace=None)
    parser.add_argument("--text", type=as_text, action="append", default=[])
    add_vocabulary(parser, required=False)
    add_other_grammar(parser)
    parser.add_argument("--steps", type=as_count, metavar="N")
    parser.add_argument("--seconds", type=number_between(0, math.inf, open_below=True), metavar="S")
    parser.add_argument("--seed", type=as_natural, default=0, metavar="N")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Compare two engines, or two grammars; return 1 if they differ or one refuses, 4 if nothing is known."""
    if arguments.other_grammar_file is not None:
        return compare_grammars(arguments, read_grammar(arguments))
    names = _names_of_engines(arguments)
    source = read_grammar(arguments)
    options = _options(arguments, [PEERS[name] for name in names if name in PEERS])
    compile_grammar(arguments.notation, source, options)  # reports its errors as other commands do
    texts = tuple(text.encode() for text in arguments.text)
    default = MOST_SERVER_STEPS if any(map(is_server_address, names)) else MOST_STEPS
    first, second = (name if is_server_address(name) else PEERS[name] for name in names)
    with ProgressLine() as cancel:
        report, vocabulary = compare_named(
            (first, second),
            RequestConstraint(arguments.notation, source.text, options),
            WalkOptions(texts, arguments.seed, arguments.steps or default, arguments.seconds),
            vocabulary=load_vocabulary(arguments, cancel) if arguments.model or arguments.tokenizer else None,
            key=partial(key_of, variable=arguments.key_env),
            cancel=cancel,
            show=lambda found: print_note(catalogue_text("cli.diff.first", where=after_text(visible(found.data)))),
        )
    if arguments.json:
        print_json(_as_data(report, vocabulary, source))
    else:
        print("\n".join(_lines(report, vocabulary)))
    return _EXIT_CODES.get(report.verdict, ExitCode.NEGATIVE)


def _names_of_engines(arguments: argparse.Namespace) -> list[str]:
    """Return names or addresses of the two engines of the command line; Turnstile is the first if one is named."""
    names = arguments.engine if len(arguments.engine) != 1 else [OWN, *arguments.engine]
    if len(names) != 2:
        arguments.parser.error(catalogue_text("cli.diff.error.two"))
    for name in names:
        if is_server_address(name):
            if is_remote(name):
                print_note(catalogue_text("cli.message.remote", address=name))
            continue
        if name not in PEERS:
            raise MisuseError("errors.peers.unknown", name=name, names=", ".join(PEERS.names))
        if arguments.notation not in PEERS[name].notations:
            raise MisuseError("cli.diff.error.notation", engine=name, notation=arguments.notation)
    return list(names)


def _options(arguments: argparse.Namespace, peers: Sequence[Peer]) -> CompileOptions:
    """Return the compile options: white space that the command line does not give is that of the other engine."""
    if arguments.whitespace is None:
        arguments.whitespace = nearest_options(CompileOptions(), peers).whitespace
    return compile_options(arguments)


def _as_data(report: DifferenceReport, vocabulary: Vocabulary, source: SourceText) -> dict[str, object]:
    first = report.first
    refusal = next(iter(report.refusals), None)
    data: dict[str, object] = {
        "verdict": report.verdict,
        "prefix": None,
        "gained": [],
        "lost": [],
        "pointer": None if refusal is None else refusal.pointer,
        "text": None,
        **({} if first is None else _difference(first, vocabulary, source)),
        "checked": report.checked,
        "texts": report.texts,
        "stopped": "time" if report.is_cut_by_time else None,
        "engines": [{"name": name, "version": version} for name, version in report.engines],
        "refused": [asdict(one) for one in report.refusals],
        "unexplained": report.unexplained,
        "differences": [_difference(one, vocabulary, source) for one in report.differences],
    }
    return data


def _difference(found: Difference, vocabulary: Vocabulary, source: SourceText) -> dict[str, object]:
    part = {"rule": found.rule} if found.kind is CauseKind.RULE else {"pointer": found.pointer}
    return {
        "kind": found.kind,
        "direction": found.direction,
        "engine": found.engine or None,
        **part,
        "pointers": list(found.pointers),
        "spans": [location_of(span, source) for span in found.spans],
        "effect": found.effect,
        "reason": found.reason or None,
        "prefix": _text(found.prefix),
        "bytes": found.prefix.hex(),
        "gained": _names(found.gained, vocabulary),
        "gained_ids": list(found.gained),
        "lost": _names(found.lost, vocabulary),
        "lost_ids": list(found.lost),
        "text": None if found.text is None else _text(found.text),
        "accepted_by": found.accepted_by or None,
        "prefixes": found.prefixes,
    }


def _names(ids: Sequence[int], vocabulary: Vocabulary) -> list[str]:
    return [_name(token_id, vocabulary, _text) for token_id in ids]


def _name(token_id: int, vocabulary: Vocabulary, spell: Callable[[bytes], str]) -> str:
    data = vocabulary.tokens[token_id]
    return spell(data) if data else vocabulary.special.get(token_id, f"#{token_id}")


def _text(data: bytes) -> str:
    """Decode bytes; escape invalid UTF-8, so that distinct byte strings stay distinct."""
    return data.decode("utf-8", "backslashreplace")


def _lines(report: DifferenceReport, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the verdict, the first difference in detail, and a line for each other."""
    yield verdict_sentence(report)
    yield from (refusal_sentence(refusal) for refusal in report.refusals)
    for found in report.differences[:_MOST_SHOWN]:
        yield from _difference_lines(found, report, vocabulary)
    if len(report.differences) > _MOST_SHOWN:
        yield catalogue_text("cli.message.and_more", count=len(report.differences) - _MOST_SHOWN)
    if not report.refusals:
        yield catalogue_text("cli.diff.report.checked", count=report.checked, texts=report.texts)
    if report.unexplained:
        yield catalogue_text("cli.diff.report.unexplained", count=report.unexplained)
    if report.is_cut_by_time:
        yield catalogue_text("cli.diff.report.stopped")


def _difference_lines(found: Difference, report: DifferenceReport, vocabulary: Vocabulary) -> Iterator[str]:
    yield f"- {cause_sentence(found, report.names)}"
    where = after_text(visible(found.prefix))
    for key, ids in (("gained", found.gained), ("lost", found.lost)):
        if ids:
            names = [_name(token_id, vocabulary, visible) for token_id in ids]
            shown = " ".join(names[:_MOST_TOKENS])
            more = len(names) - _MOST_TOKENS
            shown += f" {catalogue_text('cli.message.and_more', count=more)}" if more > 0 else ""
            yield f"  {catalogue_text(f'cli.diff.tokens.{key}', where=where, tokens=shown)}"
    if found.text is not None:
        yield f"  {catalogue_text('cli.diff.report.text', text=visible(found.text), engine=found.accepted_by)}"
    else:
        yield f"  {catalogue_text('cli.diff.report.no_text')}"
