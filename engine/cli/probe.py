"""`turnstile probe`: whether a server applies a mask, in which ways of asking, and where it does not."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from engine.cli.arguments import add_grammar
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import compile_options, read_grammar
from engine.cli.output import MisuseError, ProgressLine, print_json, print_note
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.server_probe.probe import UnknownWayError, probe_server
from engine.diagnosis.server_probe.report import MaskState, ProbeReport
from engine.servers import ServerClient, ServerError
from engine.servers.keys import KEY_VARIABLE, key_of
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_CODES: Final = {MaskState.ON: ExitCode.SUCCESS, MaskState.UNKNOWN: ExitCode.UNKNOWN}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("server", metavar="URL")
    add_grammar(parser, required=False)
    parser.add_argument("--tokenizer", metavar="PATH")
    parser.add_argument("--way", action="append", default=[], metavar="NAME")
    parser.add_argument("--server-model", default="", metavar="NAME")
    parser.add_argument("--key-env", default=KEY_VARIABLE, metavar="NAME")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Check a server; return 1 if no mask is on or only a part of one, and 4 if that cannot be known."""
    try:
        client = ServerClient(arguments.server, key=key_of(arguments.server, variable=arguments.key_env))
    except ServerError as error:
        raise MisuseError.of(error) from error
    shown = ""

    def show(report: ProbeReport) -> None:
        nonlocal shown
        if report.ways and not report.is_complete and report.sentence != shown:
            shown = report.sentence
            print_note(shown)

    with client, ProgressLine() as cancel:
        try:
            report = probe_server(
                client,
                model=arguments.server_model,
                ways=arguments.way,
                grammar=_grammar(arguments),
                tokenizer=Vocabulary.from_tokenizer(Path(arguments.tokenizer)) if arguments.tokenizer else None,
                cancel=cancel,
                show=show,
            )
        except UnknownWayError as error:
            raise MisuseError.of(error) from error
    if arguments.json:
        print_json(report.as_data())
    else:
        print("\n".join(_lines(report)))
    return _CODES.get(report.mask, ExitCode.NEGATIVE)


def _grammar(arguments: argparse.Namespace) -> RequestConstraint | None:
    """Return the grammar of the command line; None if there is none.

    Raises:
        MisuseError: there is a grammar without a notation, or the other way round.
    """
    has_text = arguments.grammar is not None or arguments.grammar_file is not None
    if has_text is (arguments.notation is None):
        raise MisuseError("cli.audit.error.notation")
    if not has_text:
        return None
    return RequestConstraint(arguments.notation, read_grammar(arguments).text, compile_options(arguments))


def _lines(report: ProbeReport) -> list[str]:
    """Return the report as lines: the sentence, what the server says of itself, and a table."""
    nothing = catalogue_text("cli.probe.unknown")
    about = catalogue_text(
        "cli.probe.about",
        title=report.title,
        version=report.version or nothing,
        model=report.model or nothing,
    )
    stops = nothing if report.stops is None else ", ".join(map(str, report.stops))
    ends = catalogue_text("cli.probe.ends", stops=stops, vocabulary=report.vocabulary.note)
    rows = [(one.name, str(one.state), one.note) for one in report.ways]
    rows += [(f"{one.construct} ({one.way})", str(one.state), one.note) for one in report.constructs]
    rows += [(one.name, one.state, one.note) for one in report.keywords or ()]
    width = max((len(name) for name, _, _ in rows), default=0)
    return [report.sentence, about, ends, *(f"{name:{width}}  {state:12} {note}" for name, state, note in rows)]
