"""`turnstile bench`: a comparison of this engine with the installed ones."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.grammar_source import compile_options, read_grammar
from engine.cli.output import MisuseError, ProgressLine, print_json
from engine.compile import CompiledGrammar, compile_grammar
from engine.source import CancelToken
from engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    from engine.models import LogitSource
    from engine.peers import BenchCase, LabelledText

WRITTEN_TEXTS = 3
"""The number of texts that a model generates for a grammar without texts."""

_MAX_TOKENS = 128


def bench(arguments: argparse.Namespace) -> int:
    """Measure and print; the exit code does not depend on the results."""
    from engine.cli.bench_table import table
    from engine.peers import UnknownPeerError, compare, find_peers, run_bench

    _check(arguments)
    try:
        peers = find_peers(arguments.engines or ())
    except UnknownPeerError as error:
        raise MisuseError(str(error)) from error
    with ProgressLine() as cancel:
        cases, where = _cases(arguments, cancel)
        vocabulary, whose = _vocabulary(arguments, cancel)
        measured = run_bench(
            peers,
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
    texts = sum(len(case.texts) for case in cases)
    print(f"{where}: {len(cases):,} grammars, {texts:,} texts; {whose}: {vocabulary.size:,} tokens\n")
    print(table(found))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Check what argparse cannot: a grammar has a notation, and texts belong to a grammar."""
    has_grammar = arguments.grammar is not None or arguments.grammar_file is not None
    if has_grammar != (arguments.notation is not None):
        arguments.parser.error("--notation and --grammar or --grammar-file go together")
    if (arguments.text or arguments.texts) and not has_grammar:
        arguments.parser.error("--text and --texts belong to --grammar or --grammar-file")


def _cases(arguments: argparse.Namespace, cancel: CancelToken) -> tuple[list[BenchCase], str]:
    """Return the cases to measure, and their display name."""
    from engine.peers import BenchCase, CasesError, read_cases

    if arguments.schemas is not None:
        try:
            found = read_cases(_read(arguments.schemas))
        except CasesError as error:
            raise MisuseError(f"{arguments.schemas}: {error}") from error
        return found, arguments.schemas
    if arguments.notation is None:
        return list(_examples()), "the examples that come with Turnstile"
    source = read_grammar(arguments)
    texts = _given_texts(arguments)
    options = compile_options(arguments)
    if not texts:
        texts = _generated(_model(arguments, cancel), compile_grammar(arguments.notation, source, options), cancel)
    else:
        compile_grammar(arguments.notation, source, options)  # reports its errors as other commands do
    return [BenchCase(source.name, arguments.notation, source.text, texts)], source.name


def _given_texts(arguments: argparse.Namespace) -> tuple[LabelledText, ...]:
    from engine.peers import LabelledText

    texts = [LabelledText(text) for text in arguments.text]
    lines = _read(arguments.texts).split("\n") if arguments.texts is not None else []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
            texts.append(LabelledText(given) if isinstance(given, str) else LabelledText(**given))
        except (ValueError, TypeError, RecursionError) as error:
            raise MisuseError(
                f"{arguments.texts}: line {number} is neither a JSON string nor an object of text and valid"
            ) from error
    return tuple(texts)


def _examples() -> Iterator[BenchCase]:
    """Yield the bundled examples with their test strings."""
    from engine.peers import BenchCase, LabelledText

    folder = files("resources") / "examples"
    for file in sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name):
        example = json.loads(file.read_text(encoding="utf-8"))
        # Other engines lack our options: under one, the expected results differ.
        is_plain = "whitespace" not in example
        texts = (LabelledText(one["text"], one["accepts"] if is_plain else None) for one in example["test_strings"])
        yield BenchCase(example["title"], example["notation"], example["source"], tuple(texts))


def _generated(model: LogitSource, grammar: CompiledGrammar, cancel: CancelToken) -> tuple[LabelledText, ...]:
    """Generate texts under a grammar with a model; long ones are cut off."""
    from engine.decoding.generate import sample_many
    from engine.peers import LabelledText

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
    from engine.models import load_model

    spec = f"uniform:{arguments.tokenizer}" if arguments.tokenizer else arguments.model
    return load_model(spec or "records", cancel=cancel)


def _vocabulary(arguments: argparse.Namespace, cancel: CancelToken) -> tuple[Vocabulary, str]:
    """Return the vocabulary of the masks and its name.

    It is the requested one, else SmolLM2's if available, else the bundled one.
    """
    from engine.models import known_models, load_model

    if arguments.tokenizer:
        return Vocabulary.from_tokenizer(Path(arguments.tokenizer)), arguments.tokenizer
    available = {model.spec for model in known_models() if model.available_offline}
    spec = arguments.model or ("smollm2" if "smollm2" in available else "records")
    return load_model(spec, cancel=cancel).vocabulary, spec


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise MisuseError(f"cannot read {name}: {error.strerror or error}") from error
    except ValueError as error:
        raise MisuseError(f"cannot read {name}: it is not UTF-8 text ({error})") from error
