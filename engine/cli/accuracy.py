"""`turnstile accuracy`: how often a model answers labelled questions right, with a grammar and without it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from engine.cli.arguments import add_grammar, as_count, as_natural, number_between
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import as_utf8, compile_argument, load_source, read_file
from engine.cli.output import CommandError, MisuseError, ProgressLine, print_json
from engine.decoding.values import SamplerSettings
from engine.diagnosis.accuracy import (
    Accuracy,
    Answered,
    AnswerMatch,
    GrammarEffect,
    QuestionsError,
    answer_questions,
    read_questions,
)
from engine.source.catalogue import catalogue_text
from engine.source.number_format import percent
from engine.vocabulary import visible


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--model", required=True)
    parser.add_argument("--questions", required=True, metavar="FILE")
    parser.add_argument("--match", choices=[match.value for match in AnswerMatch], default=AnswerMatch.EXACT.value)
    parser.add_argument("--temperature", type=number_between(0, 100), default=0.0, metavar="T")
    parser.add_argument("--seed", type=as_natural, default=0, metavar="S")
    parser.add_argument("--max-tokens", type=as_count, default=64, metavar="N")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the accuracy with and without a grammar; return 1 if the grammar makes it worse."""
    grammar = compile_argument(arguments)
    if grammar.is_empty:
        raise CommandError("cli.sample.error.no_text")
    name = arguments.questions
    try:
        questions = read_questions(as_utf8(read_file(name), name))
    except QuestionsError as error:
        raise MisuseError("cli.accuracy.error.file", name=name, reason=str(error)) from error
    with ProgressLine() as cancel:
        answered = list(
            answer_questions(
                grammar,
                load_source(arguments.model, cancel),
                questions,
                match=AnswerMatch(arguments.match),
                sampler=SamplerSettings(temperature=arguments.temperature, seed=arguments.seed),
                max_tokens=arguments.max_tokens,
                cancel=cancel,
            )
        )
    accuracy = Accuracy.of(answered)
    if arguments.json:
        print_json(_document(accuracy, answered))
    else:
        print("\n".join(_lines(accuracy, answered)))
    return ExitCode.NEGATIVE if accuracy.effect is GrammarEffect.HURTS else ExitCode.SUCCESS


def _document(accuracy: Accuracy, answered: Sequence[Answered]) -> dict[str, Any]:
    ways = zip(("with", "without"), accuracy.right, accuracy.intervals, strict=True)
    return {
        "questions": accuracy.total,
        **{way: {"right": right, "interval": list(interval)} for way, right, interval in ways},
        "both": accuracy.both,
        "only_with": accuracy.only_with,
        "only_without": accuracy.only_without,
        "neither": accuracy.neither,
        "p_value": accuracy.p_value,
        "effect": accuracy.effect,
        "answers": [
            {
                "line": one.question.line,
                "with": one.answer,
                "with_right": one.is_right,
                "finish": one.finish,
                "without": one.free,
                "without_right": one.is_free_right,
            }
            for one in answered
        ],
    }


def _lines(accuracy: Accuracy, answered: Sequence[Answered]) -> Iterator[str]:
    for one in answered:
        if one.is_right != one.is_free_right:
            way = "only_with" if one.is_right else "only_without"
            texts = {"answer": visible(one.answer.encode()), "free": visible(one.free.encode())}
            yield catalogue_text(f"cli.accuracy.{way}", line=one.question.line, **texts)
    for way, right, (low, high) in zip(("with", "without"), accuracy.right, accuracy.intervals, strict=True):
        share, bounds = percent(right / accuracy.total), f"{percent(low)}–{percent(high)}"
        yield catalogue_text(f"cli.accuracy.{way}", right=right, count=accuracy.total, share=share, bounds=bounds)
    counts = {"only_with": accuracy.only_with, "only_without": accuracy.only_without}
    yield catalogue_text("cli.accuracy.counts", both=accuracy.both, neither=accuracy.neither, **counts)
    yield catalogue_text(f"cli.accuracy.effect.{accuracy.effect}", p=accuracy.p_value)
