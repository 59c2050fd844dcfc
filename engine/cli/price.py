"""`turnstile price`: what local masking pays for a grammar, by keyword or rule, and which order of keys costs less."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import Any, Final

from engine.cli.arguments import add_grammar, as_count, as_natural, as_text
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import compile_argument, load_source
from engine.cli.output import CommandError, MisuseError, ProgressLine, print_json
from engine.compile import CompiledGrammar
from engine.decoding.generate import sample_many
from engine.decoding.values import SampleOutcome
from engine.diagnosis.scores.grammar_price import grammar_price
from engine.diagnosis.scores.key_order import KeyOrderError, compare_orders
from engine.diagnosis.scores.price_texts import cause_text, greedy_sentence, nats_text, order_sentence, price_sentence
from engine.diagnosis.scores.price_values import (
    Estimate,
    GrammarPrice,
    KeyPair,
    OrderComparison,
    OrderTrial,
    PricedPart,
)
from engine.diagnosis.test_strings.values import CountedText
from engine.models import LogitSource
from engine.notations.editing import apply_edits
from engine.source import CancelToken
from engine.source.catalogue import capitalised, catalogue_text
from engine.source.number_format import percent
from engine.vocabulary import visible

_MOST_LINES: Final = 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompt", type=as_text, default="")
    parser.add_argument("--samples", type=as_count, default=10, metavar="N")
    parser.add_argument("--seed", type=as_natural, default=0, metavar="S")
    parser.add_argument("--max-tokens", type=as_count, default=256, metavar="N")
    order = parser.add_argument_group("order")
    order.add_argument("--before", nargs=2, type=as_text, metavar=("KEY", "OTHER"))
    order.add_argument("--object", type=as_text, default="", metavar="POINTER")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the price of a grammar, or of two orders of keys."""
    grammar = compile_argument(arguments)
    if grammar.is_empty:
        raise CommandError("cli.sample.error.no_text")
    with ProgressLine() as cancel:
        model = load_source(arguments.model, cancel)
        if arguments.before:
            return _compare(arguments, grammar, model, cancel)
        outcomes = list(
            sample_many(
                grammar,
                model,
                seeds=range(arguments.seed, arguments.seed + arguments.samples),
                prompt=arguments.prompt,
                max_tokens=arguments.max_tokens,
                cancel=cancel,
            )
        )
        texts = [CountedText(one.text.encode(), 1, one.masses) for one in outcomes]
        price = grammar_price(grammar, texts, cancel)
    if arguments.json:
        print_json(_document(price, outcomes))
    else:
        print("\n".join(_lines(price)))
    return ExitCode.SUCCESS


def _compare(arguments: argparse.Namespace, grammar: CompiledGrammar, model: LogitSource, cancel: CancelToken) -> int:
    try:
        found = compare_orders(
            grammar,
            KeyPair(arguments.object.removeprefix("#"), *arguments.before),
            model,
            prompt=arguments.prompt,
            samples=arguments.samples,
            seed=arguments.seed,
            max_tokens=arguments.max_tokens,
            cancel=cancel,
        )
    except KeyOrderError as error:
        raise MisuseError.of(error) from error
    if arguments.json:
        print_json(_order_document(found, grammar.source.text))
    else:
        print("\n".join(_order_lines(found, arguments.max_tokens)))
    return ExitCode.SUCCESS


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value


def _document(price: GrammarPrice, outcomes: list[SampleOutcome]) -> dict[str, Any]:
    return {
        "nats": [price.nats.low, _finite(price.nats.high)],
        "unknown": price.unknown,
        "parts": [_part_data(part, outcomes) for part in price.parts],
        "outputs": [
            {
                "seed": one.seed,
                "text": one.text,
                "finish": one.finish,
                "steps": [
                    [step.nats.low, _finite(step.nats.high)] if step.is_known else None for step in one.masses.unpack()
                ],
            }
            for one in outcomes
        ],
        "sentence": price_sentence(price),
    }


def _part_data(part: PricedPart, outcomes: list[SampleOutcome]) -> dict[str, Any]:
    worst = part.worst
    return {
        "cause": part.cause,
        "name": part.name,
        "span": None if part.span is None else [part.span.start, part.span.end],
        "nats": [part.nats.low, _finite(part.nats.high)],
        "steps": part.steps,
        "worst": {
            "seed": outcomes[worst.output].seed,
            "step": worst.step,
            "nats": [worst.nats.low, _finite(worst.nats.high)],
            "token": worst.token.decode("utf-8", "backslashreplace") or None,
            "p": worst.p if worst.token else None,
            "proved": worst.is_proved,
        },
    }


def _lines(price: GrammarPrice) -> Iterator[str]:
    yield price_sentence(price)
    yield ""
    columns = (catalogue_text(f"cli.price.column.{name}") for name in ("nats", "steps"))
    rest = catalogue_text("cli.price.column.part")
    yield "  ".join([*(f"{name:>16}" for name in columns), rest])
    for part in price.parts[:_MOST_LINES]:
        worst = part.worst
        wanted = f"  {visible(worst.token)} {percent(worst.p)}" if worst.token else ""
        yield f"{nats_text(part.nats):>16}  {part.steps:16,}  {capitalised(cause_text(part))}{wanted}"
    more = len(price.parts) - _MOST_LINES
    if more > 0:
        yield f"  {catalogue_text('cli.message.and_more', count=more)}"
    yield catalogue_text("cli.price.total", nats=nats_text(price.nats), count=price.outputs)
    if price.unknown:
        yield catalogue_text("cli.price.unknown", count=price.unknown)


def _order_document(found: OrderComparison, text: str) -> dict[str, Any]:
    first, second = found.keys.first, found.keys.second
    return {
        "object": f"#{found.keys.pointer}",
        "orders": [
            _trial_data(found.asked, [first, second], is_present=found.is_present),
            _trial_data(found.other, [second, first], is_present=not found.is_present),
        ],
        "difference": _estimate(found.difference),
        "greedy_difference": found.greedy_difference,
        "samples": found.samples,
        "calls": found.calls,
        "schema": apply_edits(text, [found.edit]),
    }


def _trial_data(trial: OrderTrial, order: list[str], *, is_present: bool) -> dict[str, Any]:
    return {
        "order": order,
        "present": is_present,
        "nats": _estimate(trial.price),
        "ended": trial.ended,
        "greedy": trial.greedy,
        "greedy_text": trial.greedy_text.decode("utf-8", "backslashreplace"),
    }


def _estimate(one: Estimate | None) -> dict[str, Any] | None:
    return None if one is None else {"mean": one.mean, "low": one.low, "high": one.high, "count": one.count}


def _order_lines(found: OrderComparison, max_tokens: int) -> Iterator[str]:
    yield order_sentence(found, max_tokens)
    if greedy := greedy_sentence(found):
        yield greedy
    first, second = found.keys.first, found.keys.second
    for trial, order in ((found.asked, (first, second)), (found.other, (second, first))):
        price = "–" if trial.price is None else f"{trial.price.mean:.2f}"
        yield catalogue_text(
            "cli.price.order", order=", ".join(order), nats=price, ended=trial.ended, count=found.samples
        )
    yield catalogue_text("cli.price.calls", count=found.calls)
