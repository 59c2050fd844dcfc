"""`turnstile export`: a target with its options, and the list of targets that fit a grammar."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from engine.cli.arguments import add_grammar, add_vocabulary, as_count
from engine.cli.inputs import STDIN, compile_argument, load_vocabulary, read_json_file
from engine.cli.output import MisuseError, ProgressLine, print_json, print_message, print_note
from engine.compile import CompiledGrammar
from engine.export import NumberSpelling
from engine.export.target import Artifact, ExportJob, ExportOptions, Forecast, OptionName, ServerReport, Target
from engine.export.targets import TARGETS, grouped_targets, target
from engine.export.text.conversion import already_regex
from engine.export.writing import check, export, fits, make, refusal
from engine.source import CancelledError, CancelToken
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_STDOUT = "-"
NOTED_FROM = 1_000_000
"""The size in bytes from which a file is announced before it is written."""
"""Files with more bytes have their size printed before they are written."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--to", choices=TARGETS.names, metavar="TARGET")
    add_grammar(parser, required=False)
    parser.add_argument("--spelling", choices=[way.value for way in NumberSpelling])
    parser.add_argument("--depth", type=as_count, metavar="N")
    parser.add_argument("--name", type=_name)
    add_vocabulary(parser, required=False)
    parser.add_argument("--server-report", metavar="FILE")
    parser.add_argument("--output", metavar="PATH")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--json", action="store_true")


def _name(text: str) -> str:
    if not re.fullmatch("[a-z][a-z0-9_-]{0,59}", text):
        raise argparse.ArgumentTypeError(catalogue_text("cli.export.error.name", text=repr(text)))
    return text


def run(arguments: argparse.Namespace) -> int:
    """Export a grammar, or list the export targets."""
    _check_arguments(arguments)
    if arguments.list and arguments.notation is None:
        entries = _listed(None)
    else:
        grammar = compile_argument(arguments)
        with ProgressLine() as cancel:
            job = _export_job(arguments, grammar, lambda: load_vocabulary(arguments, cancel), cancel)
            if not arguments.list:
                _write(arguments, job)
                return 0
            entries = _listed(job)
    if arguments.json:
        print_json(entries)
    else:
        print("\n".join(_listed_in_words(entries)))
    return 0


def _check_arguments(arguments: argparse.Namespace) -> None:
    """Exit with an error if options contradict each other; no option is silently ignored."""
    fail = arguments.parser.error
    has_grammar = arguments.grammar is not None or arguments.grammar_file is not None
    if arguments.list:
        if arguments.output is not None or arguments.to is not None:
            fail(catalogue_text("cli.export.error.list_writes"))
        if has_grammar != (arguments.notation is not None):
            fail(catalogue_text("cli.export.error.list_grammar"))
        return
    if arguments.json:
        fail(catalogue_text("cli.export.error.json"))
    needed = {
        "--to": arguments.to is not None,
        "--notation": arguments.notation is not None,
        catalogue_text("common.fragment.or", first="--grammar", second="--grammar-file"): has_grammar,
        "--output": arguments.output is not None,
    }
    if missing := [name for name, is_there in needed.items() if not is_there]:
        fail(catalogue_text("cli.argument.required", names=", ".join(missing)))
    chosen = target(arguments.to)
    if chosen.needs_vocabulary and not (arguments.model or arguments.tokenizer):
        fail(_needs_vocabulary(arguments))
    if chosen.is_folder and arguments.output == _STDOUT:
        fail(catalogue_text("cli.export.error.folder", target=arguments.to))


def _needs_vocabulary(arguments: argparse.Namespace) -> str:
    return catalogue_text("cli.export.error.vocabulary", target=arguments.to)


def _export_job(
    arguments: argparse.Namespace,
    grammar: CompiledGrammar,
    vocabulary: Callable[[], Vocabulary],
    cancel: CancelToken,
) -> ExportJob:
    """Return the export job; an option that the target does not support exits with an error.

    Args:
        arguments: the parsed command line.
        grammar: the compiled grammar.
        vocabulary: loads the vocabulary; called only if needed.
        cancel: cancels the export.
    """
    supported: frozenset[OptionName] = (
        frozenset() if arguments.list else target(arguments.to).supported_options(grammar)
    )
    given: dict[OptionName, Any] = {
        "spelling": arguments.spelling and NumberSpelling(arguments.spelling),
        "depth": arguments.depth,
        "name": arguments.name,
        "server_report": arguments.server_report and _server_report(arguments.server_report),
    }
    if not arguments.list:
        for name, value in given.items():
            if value is not None and name not in supported:
                message = catalogue_text("cli.export.error.unused", option=name.replace("_", "-"), target=arguments.to)
                arguments.parser.error(message)
    if "model" in supported and arguments.model:  # the server's name of the model; nothing is loaded
        given["model"] = arguments.model
        has_vocabulary = bool(arguments.tokenizer)
    else:
        has_vocabulary = bool(arguments.model or arguments.tokenizer)
    options = ExportOptions(**{name: value for name, value in given.items() if value is not None})
    found = vocabulary() if has_vocabulary else None
    return ExportJob(
        grammar,
        found,
        options,
        cancel,
        on_forecast=lambda forecast: _warn_or_ask(arguments, forecast),
        on_made=lambda size: _say_size(arguments.output, size),
    )


def _server_report(name: str) -> ServerReport:
    """Return the report of a file.

    Raises:
        MisuseError: it is no report of a server.
    """
    form = catalogue_text("cli.export.fragment.server_report")
    try:
        return msgspec.convert(read_json_file(name, form), ServerReport)
    except msgspec.ValidationError as error:
        raise MisuseError("cli.file.not_of_form", name=name, form=form, reason=str(error)) from error


def _say_size(path: str, size: int) -> None:
    """Print the size of a file over a megabyte before it is written."""
    if size > NOTED_FROM:
        print_note(catalogue_text("cli.export.message.writing", size=size / 1e6, path=path))


def _warn_or_ask(arguments: argparse.Namespace, forecast: Forecast) -> None:
    """Warn that a file will be large before it is created; on a terminal, ask whether to continue.

    Raises:
        CancelledError: the answer is no.
    """
    if not forecast.is_large and forecast.count <= forecast.limit:
        return
    print_note(forecast.sentence)
    if arguments.yes or arguments.grammar_file == STDIN or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    print(catalogue_text("cli.export.message.confirm"), end=" ", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CancelledError


def _write(arguments: argparse.Namespace, job: ExportJob) -> None:
    """Write and check the export; report omissions and the comparison on stderr."""
    chosen = target(arguments.to)
    why_not = refusal(chosen, job)
    if why_not and job.vocabulary is None and not _refusal_with_any_vocabulary(chosen, job):
        arguments.parser.error(_needs_vocabulary(arguments))
    if why_not == already_regex():
        arguments.parser.error(why_not)
    if arguments.output == _STDOUT:
        artifact = make(chosen.name, job)
        checked, notes = check(chosen.name, artifact, job), artifact.notes
        _print(artifact)
    else:
        exported = export(chosen.name, job, Path(arguments.output))
        checked, notes = exported.check, exported.notes
    for note in notes:
        print_note(note)
    print_message(checked.sentence)


def _refusal_with_any_vocabulary(chosen: Target, job: ExportJob) -> str:
    """Return why a target would not fit even with a vocabulary."""
    return chosen.refusal(replace(job, vocabulary=Vocabulary([b"a"], ())))


def _print(artifact: Artifact) -> None:
    try:
        text = artifact.content.decode()
    except UnicodeDecodeError:
        sys.stdout.flush()
        sys.stdout.buffer.write(artifact.content)
        sys.stdout.flush()
        return
    # A regex has no final line end, which would be part of it; only a terminal needs one, for its prompt.
    end = "" if text.endswith("\n") or not sys.stdout.isatty() else "\n"
    print(text, end=end, flush=True)  # flush, so that a closed pipe is detected before the comparison is reported


def _listed(job: ExportJob | None) -> list[dict[str, object]]:
    """Return all targets as data; with a job, also whether each fits."""
    found = []
    verdicts = {fit.target.name: fit.refusal for fit in fits(job)} if job is not None else {}
    for chosen in grouped_targets():
        entry: dict[str, object] = {
            "target": chosen.name,
            "group": chosen.group.heading,
            "title": chosen.title,
            "about": chosen.about,
        }
        if job is not None:
            entry |= {"fits": not verdicts[chosen.name], "reason": verdicts[chosen.name]}
        found.append(entry)
    return found


def _listed_in_words(entries: list[dict[str, object]]) -> Iterator[str]:
    """Yield the same entries as lines, grouped under headings."""
    group = None
    width = max(len(str(entry["target"])) for entry in entries)
    for entry in entries:
        if entry["group"] != group:
            if group is not None:
                yield ""
            group = entry["group"]
            yield catalogue_text("cli.export.message.heading", group=group)
        why_not = entry.get("reason")
        if why_not:
            description = catalogue_text("cli.export.message.refused", reason=why_not)
        else:
            description = catalogue_text("cli.export.message.fits", title=entry["title"], about=entry["about"])
        yield f"  {entry['target']!s:{width}}  {description}"
