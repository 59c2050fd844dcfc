"""`turnstile bench`: a comparison of this engine with the installed ones."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from engine import models, peers
from engine.cli.arguments import add_compile_options, add_vocabulary, as_count, as_text, number_between
from engine.cli.inputs import as_utf8, compile_options, load_source, read_file, read_grammar
from engine.cli.output import MisuseError, ProgressLine, print_json
from engine.compile import NOTATIONS, CompiledGrammar, compile_grammar
from engine.decoding.generate import sample_many
from engine.models import LogitSource
from engine.peers import (
    BenchCase,
    CasesError,
    Comparison,
    LabelledText,
    UnknownPeerError,
    compare,
    find_peers,
    read_cases,
)
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

WRITTEN_TEXTS = 3
"""The number of texts that a model generates for a grammar without texts."""

_MAX_TOKENS = 128


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--notation", choices=NOTATIONS)
    grammar = parser.add_mutually_exclusive_group()
    grammar.add_argument("--grammar", type=as_text, metavar="TEXT")
    grammar.add_argument("--grammar-file", metavar="FILE")
    grammar.add_argument("--schemas", metavar="FILE")
    parser.add_argument("--text", type=as_text, action="append", default=[])
    parser.add_argument("--texts", metavar="FILE")
    add_vocabulary(parser, required=False)
    parser.add_argument("--engines", nargs="+", metavar="NAME")
    parser.add_argument("--walks", type=as_count, default=1, metavar="N")
    seconds = number_between(0, math.inf, open_below=True)
    parser.add_argument("--time-limit", type=seconds, default=10.0, metavar="S")
    add_compile_options(parser)
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; the exit code does not depend on the results."""
    _check(arguments)
    try:
        found_peers = find_peers(arguments.engines or ())
    except UnknownPeerError as error:
        raise MisuseError.of(error) from error
    with ProgressLine() as cancel:
        cases, where = _cases(arguments, cancel)
        vocabulary, whose = _vocabulary_and_name(arguments, cancel)
        measured = peers.run_bench(
            found_peers,
            vocabulary,
            cases,
            walks=arguments.walks,
            limit_s=arguments.time_limit,
            options=compile_options(arguments),
            cancel=cancel,
        )
    found = compare(measured, cases)
    if arguments.json:
        print_json(
            {
                "cases": [asdict(case) for case in cases],
                "vocabulary": {"name": whose, "size": vocabulary.size},
                "walks": arguments.walks,
                "engines": [asdict(comparison) for comparison in found],
            }
        )
        return 0
    head = catalogue_text(
        "cli.bench.table.head",
        cases=where,
        grammars=catalogue_text("cli.bench.table.grammars", count=len(cases)),
        texts=catalogue_text("cli.bench.table.texts", count=sum(len(case.texts) for case in cases)),
        vocabulary=whose,
        tokens=catalogue_text("common.count.tokens", count=vocabulary.size),
    )
    print(f"{head}\n")
    print(_table(found))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Check what argparse cannot: a grammar has a notation, and texts belong to a grammar."""
    has_grammar = arguments.grammar is not None or arguments.grammar_file is not None
    if has_grammar != (arguments.notation is not None):
        arguments.parser.error(catalogue_text("cli.bench.error.grammar"))
    if (arguments.text or arguments.texts) and not has_grammar:
        arguments.parser.error(catalogue_text("cli.bench.error.texts"))


def _cases(arguments: argparse.Namespace, cancel: CancelToken) -> tuple[list[BenchCase], str]:
    """Return the cases to measure, and their display name."""
    if arguments.schemas is not None:
        try:
            found = read_cases(as_utf8(read_file(arguments.schemas), arguments.schemas))
        except CasesError as error:
            raise MisuseError("cli.bench.error.cases", name=arguments.schemas, reason=error) from error
        return found, arguments.schemas
    if arguments.notation is None:
        return list(_examples()), catalogue_text("cli.bench.table.examples")
    source = read_grammar(arguments)
    texts = _given_texts(arguments)
    options = compile_options(arguments)
    if not texts:
        texts = _generated(_model(arguments, cancel), compile_grammar(arguments.notation, source, options), cancel)
    else:
        compile_grammar(arguments.notation, source, options)  # reports its errors as other commands do
    return [BenchCase(source.name, arguments.notation, source.text, texts)], source.name


def _given_texts(arguments: argparse.Namespace) -> tuple[LabelledText, ...]:
    texts = [LabelledText(text) for text in arguments.text]
    lines = as_utf8(read_file(arguments.texts), arguments.texts).split("\n") if arguments.texts is not None else []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
            texts.append(LabelledText(given) if isinstance(given, str) else LabelledText(**given))
        except (ValueError, TypeError, RecursionError) as error:
            raise MisuseError("cli.bench.error.text_line", name=arguments.texts, number=number) from error
    return tuple(texts)


def _examples() -> Iterator[BenchCase]:
    """Yield the bundled examples with their test strings."""
    folder = files("resources") / "examples"
    for file in sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name):
        example = json.loads(file.read_text(encoding="utf-8"))
        # Other engines lack our options: under one, the expected results differ.
        is_plain = "whitespace" not in example
        texts = (LabelledText(one["text"], one["accepts"] if is_plain else None) for one in example["test_strings"])
        yield BenchCase(example["title"], example["notation"], example["source"], tuple(texts))


def _generated(model: LogitSource, grammar: CompiledGrammar, cancel: CancelToken) -> tuple[LabelledText, ...]:
    """Generate texts under a grammar with a model; long ones are cut off."""
    outcomes = sample_many(
        grammar,
        model,
        seeds=range(WRITTEN_TEXTS),
        max_tokens=_MAX_TOKENS,
        cancel=cancel,
    )
    # A text that was cut off may end inside a character.
    return tuple(dict.fromkeys(LabelledText(outcome.text.rstrip("\ufffd")) for outcome in outcomes))


def _model(arguments: argparse.Namespace, cancel: CancelToken) -> LogitSource:
    spec = f"uniform:{arguments.tokenizer}" if arguments.tokenizer else arguments.model
    return load_source(spec or "records", cancel)


def _vocabulary_and_name(arguments: argparse.Namespace, cancel: CancelToken) -> tuple[Vocabulary, str]:
    """Return the vocabulary of the masks and its name.

    It is the requested one, else SmolLM2's if available, else the bundled one.
    """
    if arguments.tokenizer:
        return Vocabulary.from_tokenizer(Path(arguments.tokenizer)), arguments.tokenizer
    available = {model.spec for model in models.known_models() if model.available_offline}
    spec = arguments.model or ("smollm2" if "smollm2" in available else "records")
    return load_source(spec, cancel).vocabulary, spec


# ---------------------------------------------------------------------- the table


_SHOWN = 5  # of the cases that an engine did not finish; --json has them all

_COLUMNS = (
    "engine",
    "done",
    "compile",
    "first_mask",
    "first_mask_p99",
    "token",
    "token_p50",
    "token_p99",
    "agrees",
    "errors",
)


def _table(found: Sequence[Comparison]) -> str:
    """Return one row per engine, below it the ratios to this engine, and notes on unfinished cases at the end."""
    rows: list[tuple[str, ...]] = [tuple(catalogue_text(f"cli.bench.column.{column}") for column in _COLUMNS)]
    for comparison in found:
        engine = comparison.engine
        if engine.absent is None:
            rows.append((f"{engine.name} {engine.version}", *_row(comparison)))
            if comparison.ratios is not None:
                ratios = (_number(value, "×") for value in _values(comparison.ratios))
                title = catalogue_text("cli.bench.table.to_ours", cases=comparison.common)
                rows.append((f"  {title}", "", *ratios, "", ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = [
        "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in cells).rstrip()
        for cells in (enumerate(zip(row, widths, strict=True)) for row in rows)
    ]
    notes = [note for comparison in found for note in _notes(comparison)]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _row(comparison: Comparison) -> tuple[str, ...]:
    engine = comparison.engine
    done = sum(case.ending == "done" for case in engine.cases)
    labelled = f"{comparison.false_rejects}+{comparison.false_accepts}" if comparison.labelled else "-"
    return (
        f"{done}/{len(engine.cases)}",
        *(_number(value) for value in _values(comparison.times)),
        f"{comparison.agreed}/{comparison.judged}",
        labelled,
    )


def _values(times: object) -> list[float | None]:
    return [getattr(times, name) for name in times.__dataclass_fields__]  # type: ignore[attr-defined]


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}{unit}" if value >= 100 else f"{value:.3g}{unit}"


def _notes(comparison: Comparison) -> list[str]:
    engine = comparison.engine
    if engine.absent is not None:
        return [f"{engine.name}: {engine.absent}"]
    undone = [case for case in engine.cases if case.ending != "done"]
    notes = [
        catalogue_text(
            "cli.bench.table.unfinished", engine=engine.name, ending=case.ending, case=case.name, reason=case.reason
        )[:200]
        for case in undone[:_SHOWN]
    ]
    if len(undone) > _SHOWN:
        notes.append(catalogue_text("cli.bench.table.more", engine=engine.name, count=len(undone) - _SHOWN))
    return notes
