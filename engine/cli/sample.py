"""`turnstile sample`: texts of a model under a grammar by a decoding strategy, beside the exact distribution.

With `--tree`, no strategy draws: all outputs above a mass are searched. With `--continuation`, one text is priced.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, Final

from engine.cli.arguments import add_grammar, as_count, as_natural, as_text, number_between
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import compile_argument, load_source
from engine.cli.output import CommandError, ProgressLine, print_json
from engine.compile import CompiledGrammar
from engine.decoding import StopRule
from engine.decoding.strategies.continuation import MOST_CALLS, any_text, find_continuation
from engine.decoding.strategies.decoders import DECODERS
from engine.decoding.strategies.exact import MOST_TEXTS, enumerate_texts
from engine.decoding.strategies.found_texts import FoundText, FoundTexts, Measure
from engine.decoding.strategies.prefix_tree import Inquiry, PrefixTree
from engine.decoding.strategies.probability_tree import ProbabilityTree
from engine.decoding.strategies.sampling import (
    MOST_TRIES,
    DrawnText,
    RunEnd,
    StrategyReport,
    report_of,
    run_strategy,
)
from engine.matching import Matcher
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.source.number_format import percent_between
from engine.vocabulary import visible

_MOST_LINES: Final = 40


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompt", type=as_text, default="")
    about = catalogue_text("cli.sample.option.strategy", names=", ".join(DECODERS.names))
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--strategy", choices=DECODERS.names, help=about, metavar="NAME")
    kind.add_argument("--tree", type=number_between(0, 1, open_below=True), metavar="MASS")
    kind.add_argument("--continuation", type=as_text, metavar="TEXT")
    parser.add_argument("--measure", choices=[measure.value for measure in Measure], default=Measure.GIVEN.value)
    parser.add_argument("--samples", type=as_count, default=20, metavar="N")
    parser.add_argument("--seed", type=as_natural, default=0, metavar="S")
    parser.add_argument("--runs", type=as_count, default=1, metavar="N")
    parser.add_argument("--max-calls", type=as_count, metavar="N")
    parser.add_argument("--max-tries", type=as_count, default=MOST_TRIES, metavar="N")
    parser.add_argument("--max-tokens", type=as_count, default=256, metavar="N")
    parser.add_argument("--stop", choices=[rule.value for rule in StopRule], default=StopRule.MAXIMAL.value)
    exact = catalogue_text("cli.sample.option.exact", texts=MOST_TEXTS)
    parser.add_argument("--exact", action="store_true", help=exact)
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the texts of a strategy; return 1 if there are none."""
    grammar = compile_argument(arguments)
    if grammar.is_empty:
        raise CommandError("cli.sample.error.no_text")
    if arguments.continuation is not None:
        return _continue(grammar, arguments)
    strategy = None if arguments.strategy is None else DECODERS[arguments.strategy]
    with ProgressLine() as cancel:
        tree = PrefixTree(
            grammar,
            load_source(arguments.model, cancel),
            prompt=arguments.prompt,
            max_tokens=arguments.max_tokens,
            stop_at=arguments.stop,
            keeps_rows=strategy is not None and strategy.needs_rows,
        )
        if strategy is None:
            return _search(tree, arguments, cancel)
        runs = [
            run_strategy(
                strategy,
                tree,
                arguments.samples,
                arguments.seed + number,
                most_calls=arguments.max_calls,
                most_tries=arguments.max_tries,
                cancel=cancel,
            )
            for number in range(arguments.runs)
        ]
        report = report_of(runs, enumerate_texts(tree, cancel) if arguments.exact else None)
    if arguments.json:
        print_json(_document(report))
    elif report.texts:
        print("\n".join(_lines(report, is_exact=arguments.exact)))
    if not report.texts:
        limits = {
            RunEnd.DONE: {"tokens": arguments.max_tokens},
            RunEnd.CALLS: {"calls": arguments.max_calls},
            RunEnd.TRIES: {"tries": arguments.max_tries},
        }
        raise CommandError(f"cli.sample.error.none_drawn.{report.end}", **limits[report.end])
    return ExitCode.SUCCESS


def _continue(grammar: CompiledGrammar, arguments: argparse.Namespace) -> int:
    """Print the probability that the output begins with a text."""
    with ProgressLine() as cancel:
        model = load_source(arguments.model, cancel)
        tree = PrefixTree(any_text(), model, prompt=arguments.prompt, max_tokens=arguments.max_tokens, keeps_rows=True)
        inquiry = Inquiry(tree, arguments.max_calls or MOST_CALLS, cancel)
        found = find_continuation(inquiry, arguments.continuation.encode(), Matcher(grammar, model.vocabulary))
    assert found.masked is not None
    masses = {"alone": found.alone, "masked": found.masked}
    if arguments.json:
        document: dict[str, Any] = {"text": arguments.continuation}
        for name, mass in masses.items():
            document[name] = {"written_bounds": list(mass.written), "begins_bounds": list(mass.begins)}
        print_json(document | {"spellings": found.spellings, "calls": found.calls})
        return ExitCode.SUCCESS
    for name, mass in masses.items():
        written, begins = percent_between(*mass.written), percent_between(*mass.begins)
        print(catalogue_text(f"cli.sample.continuation.{name}", written=written, begins=begins))
    print(catalogue_text("cli.sample.continuation.cost", spellings=found.spellings, calls=found.calls))
    return ExitCode.SUCCESS


def _search(tree: PrefixTree, arguments: argparse.Namespace, cancel: CancelToken) -> int:
    """Print all outputs above a mass; return 1 if there are none."""
    search = ProbabilityTree(Inquiry(tree, arguments.max_calls, cancel), Measure(arguments.measure), arguments.tree)
    while search.advance():
        pass
    found = search.report()
    if arguments.json:
        texts = [_found_data(one) for one in found.texts]
        print_json(
            {
                "texts": texts,
                "measure": arguments.measure,
                "p_grammar_bounds": list(found.p_grammar),
                "left": found.left,
                "calls": found.calls,
                "is_complete": found.is_complete,
            }
        )
    elif found.texts:
        print("\n".join(_found_lines(found)))
    if not found.texts:
        if found.is_complete:
            raise CommandError("cli.sample.error.none_found", mass=arguments.tree)
        raise CommandError("cli.sample.error.none_drawn.calls", calls=found.calls)
    return ExitCode.SUCCESS


def _found_data(one: FoundText) -> dict[str, Any]:
    return {
        "text": one.text.decode("utf-8", "backslashreplace"),
        "p": one.p,
        "p_local": one.p_local,
        "p_given_grammar_bounds": list(one.p_given),
        "spellings": one.spellings,
        "ids": list(one.ids),
    }


def _found_lines(found: FoundTexts) -> Iterator[str]:
    titles = (f"{_heading(name):>{width}}" for name, width in (("bounds", 17), ("local", 9), ("p", 9)))
    yield "  ".join([*titles, _heading("text")])
    for one in found.texts:
        low, high = (f"{bound:.5f}" for bound in one.p_given)
        given = low if low == high else f"{low}–{high}"
        yield f"{given:>17}  {one.p_local:9.5f}  {one.p:9.3g}  {visible(one.text)}"
    ending = "complete" if found.is_complete else "stopped"
    yield catalogue_text(f"cli.sample.found.{ending}", left=found.left, calls=found.calls)
    low, high = (f"{bound:.4g}" for bound in found.p_grammar)
    yield catalogue_text("cli.sample.p_grammar.bounds", low=low, high=high)


def _document(report: StrategyReport) -> dict[str, Any]:
    return {
        "texts": [_text_data(one) for one in report.texts],
        "p_grammar": report.p_grammar,
        "p_grammar_bounds": list(report.p_grammar_bounds),
        "kl": report.kl,
        "tv": report.tv,
        "compared": "strategy" if report.is_of_strategy else "texts",
        "calls": report.calls,
        "checks": report.checks,
        "tries": report.tries,
        "accepted": report.accepted,
        "end": report.end,
    }


def _text_data(one: DrawnText) -> dict[str, Any]:
    return {
        "text": one.text.decode("utf-8", "backslashreplace"),
        "p": one.p,
        "weight": one.weight,
        "count": one.count,
        "p_given_grammar": one.p_given_grammar,
    }


def _lines(report: StrategyReport, *, is_exact: bool) -> Iterator[str]:
    columns = ("weight", "given", "p", "count") if is_exact else ("weight", "p", "count")
    yield "  ".join([*(f"{catalogue_text(f'cli.sample.column.{name}'):>9}" for name in columns), _heading("text")])
    for one in report.texts[:_MOST_LINES]:
        given = [] if one.p_given_grammar is None else [f"{one.p_given_grammar:9.5f}"]
        yield "  ".join([f"{one.weight:9.5f}", *given, f"{one.p:9.3g}", f"{one.count:9,}", visible(one.text)])
    more = len(report.texts) - _MOST_LINES
    if more > 0:
        yield f"  {catalogue_text('cli.message.and_more', count=more)}"
    checks = catalogue_text("cli.sample.checks", count=report.checks) if report.checks else ""
    yield catalogue_text(
        "cli.sample.summary_line", accepted=report.accepted, tries=report.tries, calls=report.calls, checks=checks
    )
    yield _p_grammar(report, is_exact=is_exact)
    if report.tv is not None:
        kind = "strategy" if report.is_of_strategy else "texts"
        yield catalogue_text(f"cli.sample.distance.{kind}", kl=_kl(report.kl), tv=report.tv)
    if report.end is not RunEnd.DONE:
        yield catalogue_text(f"cli.sample.stopped.{report.end}")


def _heading(name: str) -> str:
    return catalogue_text(f"cli.sample.column.{name}")


def _kl(value: float | None) -> str:
    if value is None:
        return catalogue_text("cli.sample.fragment.infinite")
    return catalogue_text("cli.sample.fragment.kl", value=value)


def _p_grammar(report: StrategyReport, *, is_exact: bool) -> str:
    low, high = (f"{bound:.3g}" for bound in report.p_grammar_bounds)
    if report.p_grammar is None:
        return catalogue_text("cli.sample.p_grammar.bounds", low=low, high=high)
    kind = "exact" if is_exact else "estimate"
    fields = {} if is_exact else {"low": low, "high": high}
    return catalogue_text(f"cli.sample.p_grammar.{kind}", p=f"{report.p_grammar:.4g}", **fields)
