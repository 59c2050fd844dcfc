"""`turnstile diagnose`: the cause of a failed request, its fix and the evidence."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from engine import models
from engine.cli.arguments import as_count, as_text
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import STDIN, as_utf8, load_source, read_file
from engine.cli.output import MisuseError, ProgressLine, print_json, print_note
from engine.cli.scores import score_lines, scores_data
from engine.cli.zones import add_zone_options, read_zones
from engine.compile import NOTATIONS
from engine.decoding.pipeline_settings import OtherZone
from engine.diagnosis.batch.entries import FINISHES, BatchEntry, given_constraint
from engine.diagnosis.batch.judging import judge_entry
from engine.diagnosis.batch.rows import BatchRow, WorstToken, cause_text
from engine.diagnosis.batch.sources import BatchError, batch_entries, is_batch
from engine.diagnosis.case import FailureCase, RequestConstraint
from engine.diagnosis.failures.diagnose import LIMITS, diagnose
from engine.diagnosis.failures.diagnosis import Cause, Diagnosis, FailurePlace
from engine.diagnosis.failures.examination import AcceptedPrefix, lenient_options
from engine.diagnosis.intake import IntakeError, IntakeRemark, PastedText, TextKind, read_failure, remarks_of
from engine.diagnosis.scores.output_scores import ScoredOutput, score_output
from engine.diagnosis.verdicts.replay import TokenSource
from engine.diagnosis.verdicts.verdict import parse_token_ids
from engine.models.text_encoder import text_encoder_of
from engine.peers.prefixes import EnginePrefix, accepted_prefixes, installed_peers
from engine.source import CancelledError, CancelToken, EngineError
from engine.source.catalogue import catalogue_text

_TABLE_COLUMNS: Final = ("name", "cause", "finish", "mass", "worst", "sentence")
_WIDTHS: Final = (20, 22, 10, 16, 24)
"""The widths of the columns of a table, whose rows are printed as they are judged."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("pasted", nargs="*", metavar="FOLDER|FILE")
    parser.add_argument("--request", metavar="FILE")
    parser.add_argument("--response", metavar="FILE")
    parser.add_argument("--notation", choices=NOTATIONS)
    parser.add_argument("--grammar-file", metavar="FILE")
    parser.add_argument("--output", metavar="FILE")
    parser.add_argument("--ids", metavar="FILE")
    parser.add_argument("--log", metavar="FILE")
    parser.add_argument("--budget", type=as_count, metavar="N")
    parser.add_argument("--finish", choices=tuple(FINISHES))
    add_zone_options(parser)
    parser.add_argument("--target", default="", metavar="NAME[@VERSION]")
    parser.add_argument("--model")
    parser.add_argument("--engines", action="store_true")
    parser.add_argument("--prompt", type=as_text, default="", metavar="TEXT")
    parser.add_argument("--jsonl", metavar="FILE")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the cause of a failure; return 0 if the output is complete, and 4 if no cause is known."""
    _check(arguments)
    with ProgressLine() as cancel:
        model = load_source(arguments.model, cancel) if arguments.model is not None else None
        source = None if model is None else TokenSource(model.vocabulary, text_encoder_of(model))
        if arguments.jsonl is not None or len(arguments.pasted) > 1 or any(map(is_batch, map(Path, arguments.pasted))):
            return _table(arguments, model, source, cancel)
        case = _case(arguments)
        found = _diagnosed(arguments, case, source, cancel)
        engines = _asked_engines(found, cancel) if arguments.engines else ()
        accepted = {
            one.engine: AcceptedPrefix(one.accepted, one.is_complete) for one in engines if one.accepted is not None
        }
        if len(set(accepted.values())) > 1:
            found = _diagnosed(arguments, case, source, cancel, accepted)
        scored = _scored(arguments, case, found, model, cancel)
    remarks = remarks_of(case)
    if arguments.json:
        more = {"remarks": [asdict(one) for one in remarks], "engines": [asdict(one) for one in engines]}
        print_json({**as_data(found), **more, **scores_data(scored)})
    else:
        scores = [] if scored is None else score_lines(scored)
        print("\n".join([*_in_words(found), *_remarks_in_words(remarks), *_engine_lines(engines), *scores]))
    return _exit_code(found)


def _asked_engines(found: Diagnosis, cancel: CancelToken) -> tuple[EnginePrefix, ...]:
    """Return what the installed engines accept of the judged part of an output."""
    constraint, part = found.constraint, found.part
    if constraint is None or part is None or part.is_waiting:
        print_note(catalogue_text("cli.diagnose.message.no_output"))
        return ()
    peers = installed_peers(constraint.notation)
    if len(peers) == 1:
        print_note(catalogue_text("cli.diagnose.message.no_engines"))
    options = lenient_options(constraint.options, LIMITS)
    return accepted_prefixes(peers, constraint.notation, constraint.text, part.data, options=options, cancel=cancel)


def _engine_lines(engines: Sequence[EnginePrefix]) -> list[str]:
    """Return a table of what engines accept."""
    rows = [(one.engine, one.version, one.answer) for one in engines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:2]
    table = ["  ".join([name.ljust(widths[0]), version.ljust(widths[1]), answer]) for name, version, answer in rows]
    return ["", *table] if table else []


def _scored(
    arguments: argparse.Namespace,
    case: FailureCase,
    found: Diagnosis,
    model: models.LogitSource | None,
    cancel: CancelToken,
) -> ScoredOutput | None:
    """Return the scores of the output under a model, or by its response; None if they cannot be computed."""
    has_weights = model is not None and text_encoder_of(model) is not None
    try:
        return score_output(
            case,
            found,
            model if has_weights else None,
            prompt=arguments.prompt,
            vocabulary=None if model is None else model.vocabulary,
            cancel=cancel,
        )
    except CancelledError:
        raise
    except EngineError as error:
        print_note(catalogue_text("cli.diagnose.message.no_scores", reason=error))
        return None


def _exit_code(found: Diagnosis) -> ExitCode:
    return {Cause.COMPLETE: ExitCode.SUCCESS, Cause.UNKNOWN: ExitCode.UNKNOWN}.get(found.cause, ExitCode.NEGATIVE)


def _check(arguments: argparse.Namespace) -> None:
    """Check what argparse cannot."""
    parts = [arguments.request, arguments.response, arguments.output, arguments.ids, arguments.log]
    kinds = [arguments.jsonl is not None, bool(arguments.pasted), any(one is not None for one in parts)]
    if sum(kinds) > 1 or (not any(kinds) and arguments.grammar_file is None):
        arguments.parser.error(catalogue_text("cli.diagnose.error.inputs"))
    if (arguments.notation is None) != (arguments.grammar_file is None):
        arguments.parser.error(catalogue_text("cli.diagnose.error.notation"))
    if arguments.ids is not None and arguments.model is None:
        arguments.parser.error(catalogue_text("cli.diagnose.error.ids"))


def _diagnosed(
    arguments: argparse.Namespace,
    case: FailureCase,
    source: TokenSource | None,
    cancel: CancelToken,
    accepted: Mapping[str, AcceptedPrefix] | None = None,
) -> Diagnosis:
    blanks = arguments.blanks == "allow"

    def judged(one: FailureCase, *triggers: str) -> Diagnosis:
        return diagnose(
            one,
            token_source=source,
            target=arguments.target,
            triggers=[trigger for trigger in triggers if trigger],
            allows_blanks=blanks,
            accepted=accepted,
            cancel=cancel,
        )

    found = judged(case, arguments.after)
    zones = list(read_zones(arguments.zones)) if arguments.zones is not None else []
    for zone in zones:
        inside = _zone_text(case, zone)
        if found.cause in (Cause.COMPLETE, Cause.TRIGGER_NEVER_CAME, Cause.UNKNOWN) and inside is not None:
            constraints = (RequestConstraint(zone.notation, zone.text),)
            other = judged(replace(case, constraints=constraints, output=inside), zone.after)
            found = other if other.cause is not Cause.COMPLETE or found.cause is not Cause.COMPLETE else found
    return found


def _zone_text(case: FailureCase, zone: OtherZone) -> bytes | None:
    """Return an output up to the end of a zone; None if it does not have the zone."""
    output, trigger = case.output or b"", zone.after.encode()
    start = output.find(trigger)
    if not zone.notation or not trigger or start < 0:
        return None
    end = output.find(zone.until.encode(), start + len(trigger)) if zone.until else -1
    return output if end < 0 else output[:end]


# --- cases


def _case(arguments: argparse.Namespace) -> FailureCase:
    """Return the case that the command line describes.

    Raises:
        MisuseError: a file cannot be read.
    """
    texts = [
        PastedText(read_file(name, stdin=True), kind)
        for name, kind in (
            (next(iter(arguments.pasted), None), TextKind.ANY),
            (arguments.request, TextKind.REQUEST),
            (arguments.response, TextKind.RESPONSE),
            (arguments.log, TextKind.LOG),
        )
        if name is not None
    ]
    case = _read(texts)
    constraint = _constraint(arguments)
    if constraint is not None:
        case = replace(case, constraints=(constraint,))
    if arguments.output is not None:
        case = replace(case, output=read_file(arguments.output, stdin=True))
    if arguments.ids is not None:
        try:
            ids = parse_token_ids(as_utf8(read_file(arguments.ids, stdin=True), arguments.ids))
        except EngineError as error:
            raise MisuseError.of(error) from error
        case = replace(case, ids=ids)
    if arguments.budget is not None:
        case = replace(case, max_tokens=arguments.budget)
    if arguments.finish is not None:
        case = replace(case, finish=FINISHES[arguments.finish])
    return case


def _read(texts: Sequence[PastedText]) -> FailureCase:
    """Return the case of texts of known kinds.

    Raises:
        MisuseError: a text cannot be read.
    """
    try:
        return read_failure(texts)
    except IntakeError as error:
        raise MisuseError.of(error) from error


def _constraint(arguments: argparse.Namespace) -> RequestConstraint | None:
    """Return the grammar of the command line; None if there is none.

    Raises:
        MisuseError: its file cannot be read.
    """
    if arguments.grammar_file is None:
        return None
    text = as_utf8(read_file(arguments.grammar_file, stdin=True), arguments.grammar_file)
    return given_constraint(arguments.notation, text)


# --- results


def _table(
    arguments: argparse.Namespace, model: models.LogitSource | None, source: TokenSource | None, cancel: CancelToken
) -> int:
    """Print a row for each request of a batch, and the counts; return 1 if a cause was found, and 4 if all are unknown.

    Raises:
        MisuseError: there is no request, or none can be read.
    """
    scorer = model if source is not None and source.encode is not None else None
    constraint = _constraint(arguments)

    def judge(case: FailureCase) -> Diagnosis:
        return _diagnosed(arguments, case, source, cancel)

    table = _JsonTable() if arguments.json else _TextTable()
    first: BatchRow | None = None
    names: dict[Cause | None, list[str]] = {}
    with _batch(arguments, cancel) as entries:
        for entry in entries:
            row, found = judge_entry(entry, judge, constraint, scorer, cancel)
            table.add(row, found)
            first = first or row
            names.setdefault(row.cause, []).append(row.name)
    table.end(dict(sorted(names.items(), key=lambda pair: -len(pair[1]))))
    if first is None:
        raise MisuseError("cli.diagnose.error.folder", name=arguments.jsonl or ", ".join(arguments.pasted))
    if set(names) == {None}:
        raise MisuseError("cli.diagnose.error.no_case", place=first.place, reason=first.sentence)
    if set(names) == {Cause.COMPLETE}:
        return ExitCode.SUCCESS
    return ExitCode.UNKNOWN if set(names) <= {Cause.COMPLETE, Cause.UNKNOWN, None} else ExitCode.NEGATIVE


class _TextTable:
    """A table whose rows are printed as they are judged, so that its columns have fixed widths."""

    def __init__(self) -> None:
        self._is_empty = True

    def add(self, row: BatchRow, _found: Diagnosis | None) -> None:
        """Print a row, with the titles before the first one."""
        if self._is_empty:
            self._print(*(catalogue_text(f"cli.diagnose.table.{one}") for one in _TABLE_COLUMNS))
            self._is_empty = False
        mass, worst = "" if row.mass is None else row.mass.text, "" if row.worst is None else row.worst.text
        name = row.name if row.cause is not None else row.place
        self._print(name, row.cause_text, str(row.finish), mass, worst, row.sentence)

    def _print(self, *cells: str) -> None:
        padded = [cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=False)]
        print("  ".join([*padded, *cells[len(_WIDTHS) :]]).rstrip().replace("\n", " "))

    def end(self, names: Mapping[Cause | None, Sequence[str]]) -> None:
        """Print the counts of the causes."""
        if not self._is_empty:
            print()
        for cause, cases in names.items():
            print(f"{cause_text(cause):<{_WIDTHS[1]}}  {len(cases):>6,}")


class _JsonTable:
    """A document whose rows are printed as they are judged, so that none is kept."""

    def __init__(self) -> None:
        self._before = '{"cases": ['

    def add(self, row: BatchRow, found: Diagnosis | None) -> None:
        """Print a row."""
        print(self._before, json.dumps(_row_data(row, found), ensure_ascii=False), sep="", end="")
        self._before = ", "

    def end(self, names: Mapping[Cause | None, Sequence[str]]) -> None:
        """Print the counts of the causes."""
        causes = [{"cause": cause, "count": len(cases), "cases": cases} for cause, cases in names.items()]
        start = self._before if self._before != ", " else ""
        print(start, f'], "causes": {json.dumps(causes, ensure_ascii=False)}}}', sep="")


@contextmanager
def _batch(arguments: argparse.Namespace, cancel: CancelToken) -> Iterator[Iterator[BatchEntry]]:
    """Return the requests of the batch of the command line; the standard input is kept in a file meanwhile.

    Raises:
        MisuseError: a file cannot be read.
    """
    paths = [Path(one) for one in ([arguments.jsonl] if arguments.jsonl is not None else arguments.pasted)]
    with TemporaryDirectory() as folder:
        if arguments.jsonl == STDIN:
            paths = [Path(folder) / "stdin.jsonl"]
            with paths[0].open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield batch_entries(paths, as_lines=arguments.jsonl is not None, cancel=cancel)
        except BatchError as error:
            raise MisuseError.of(error) from error


def _row_data(row: BatchRow, found: Diagnosis | None) -> dict[str, object]:
    """Return a row as a part of a document."""
    head: dict[str, object] = {"name": row.name, "place": row.place}
    if found is None:
        return {**head, "cause": None, "sentence": row.sentence}
    return {
        **head,
        **as_data(found),
        "finish": row.finish,
        "z": None if row.mass is None else asdict(row.mass),
        "worst": None if row.worst is None else _worst_data(row.worst),
        "masked": row.is_masked,
        "tokens": row.has_tokens,
    }


def _worst_data(worst: WorstToken) -> dict[str, object]:
    token = worst.data.decode("utf-8", "backslashreplace")
    return {"index": worst.index, "id": worst.token_id, "token": token, "start": worst.start, "p": worst.p}


def _remarks_in_words(remarks: Sequence[IntakeRemark]) -> list[str]:
    """Return the remarks on the texts, each on a line, and their commands on lines of their own, to be copied."""
    lines = []
    for remark in remarks:
        lines.append(catalogue_text("cli.message.note", text=f"{remark.title} {remark.detail}".rstrip()))
        lines += [f"    {remark.command}"] if remark.command else []
    return lines


def as_data(found: Diagnosis) -> dict[str, object]:
    """Return a diagnosis as a document."""
    return {
        "cause": found.cause,
        "detail": found.detail,
        "sentence": found.sentence,
        "fix": found.fix,
        "evidence": list(found.evidence),
        "tool": found.tool,
        "zone": found.zone,
        "target": found.target,
        "places": [_place(place) for place in found.places],
        "others": [{"cause": other.cause, "detail": other.detail} for other in found.others],
        "legal_prefix": {
            "bytes": 0 if found.legal_prefix is None else found.legal_prefix.bytes,
            "tokens": None if found.legal_prefix is None else found.legal_prefix.tokens,
        },
    }


def _place(place: FailurePlace) -> dict[str, object]:
    if place.pointer is not None:
        return {"pointer": place.pointer}
    return {"line": place.line, "column": place.column}


def _in_words(found: Diagnosis) -> list[str]:
    heading = f"{found.cause}: {found.detail}" if found.detail else str(found.cause)
    lines = [found.sentence, heading]
    if found.fix:
        lines.append(catalogue_text("cli.diagnose.message.fix", fix=found.fix.rstrip(".")))
    lines += [f"- {one}" for one in found.evidence]
    lines += [f"- {one.sentence}" for one in found.violations]
    if found.others:
        names = ", ".join(f"{one.cause} ({one.detail})" if one.detail else str(one.cause) for one in found.others)
        lines.append(catalogue_text("cli.diagnose.message.others", names=names))
    return lines
