"""`turnstile diagnose`: the cause of a failed request, its fix and the evidence."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from engine import models
from engine.cli.arguments import as_count, as_text
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import as_utf8, load_source, read_file
from engine.cli.output import MisuseError, ProgressLine, print_json, print_note
from engine.cli.scores import score_lines, scores_data
from engine.cli.zones import add_zone_options, read_zones
from engine.compile import NOTATIONS
from engine.decoding.pipeline_settings import OtherZone
from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
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

_FINISHES: Final = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "context": FinishReason.CONTEXT,
    "tool_calls": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.FILTER,
}
_GRAMMARS: Final = {
    "schema.json": "json_schema",
    "grammar.gbnf": "gbnf",
    "pattern.txt": "regex",
    "choice.txt": "regex",
    "*.schema.json": "json_schema",
    "*.gbnf": "gbnf",
}
"""The files of a folder that have a grammar; the first that is there counts."""
_OUTPUTS: Final = ("output.txt", "out.txt")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("pasted", nargs="?", metavar="FOLDER|FILE")
    parser.add_argument("--request", metavar="FILE")
    parser.add_argument("--response", metavar="FILE")
    parser.add_argument("--notation", choices=NOTATIONS)
    parser.add_argument("--grammar-file", metavar="FILE")
    parser.add_argument("--output", metavar="FILE")
    parser.add_argument("--ids", metavar="FILE")
    parser.add_argument("--log", metavar="FILE")
    parser.add_argument("--budget", type=as_count, metavar="N")
    parser.add_argument("--finish", choices=tuple(_FINISHES))
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
        if arguments.jsonl is not None or (arguments.pasted is not None and Path(arguments.pasted).is_dir()):
            cases = _records(arguments.jsonl) if arguments.jsonl is not None else _folders(Path(arguments.pasted))
            return _table(arguments, list(cases), source, cancel)
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
        return score_output(case, found, model if has_weights else None, prompt=arguments.prompt, cancel=cancel)
    except CancelledError:
        raise
    except EngineError as error:
        print_note(catalogue_text("cli.diagnose.message.no_scores", reason=error))
        return None


def _exit_code(found: Diagnosis) -> ExitCode:
    return {Cause.COMPLETE: ExitCode.SUCCESS, Cause.UNKNOWN: ExitCode.UNKNOWN}.get(found.cause, ExitCode.NEGATIVE)


def _check(arguments: argparse.Namespace) -> None:
    """Check what argparse cannot."""
    batches = [arguments.jsonl, arguments.pasted]
    single = [arguments.request, arguments.response, arguments.grammar_file, arguments.output, arguments.ids]
    single.append(arguments.log)
    if sum(one is not None for one in batches) + any(one is not None for one in single) != 1:
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
            (arguments.pasted, TextKind.ANY),
            (arguments.request, TextKind.REQUEST),
            (arguments.response, TextKind.RESPONSE),
            (arguments.log, TextKind.LOG),
        )
        if name is not None
    ]
    case = _read(texts)
    if arguments.grammar_file is not None:
        text = as_utf8(read_file(arguments.grammar_file, stdin=True), arguments.grammar_file)
        case = _with_grammar(case, arguments.notation, text)
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
        case = replace(case, finish=_FINISHES[arguments.finish])
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


def _with_grammar(case: FailureCase, notation: str, text: str) -> FailureCase:
    """Return a case with a grammar in place of those of its request."""
    if NOTATIONS[notation].is_expression:
        text = text.removesuffix("\n").removesuffix("\r")
    return replace(case, constraints=(RequestConstraint(notation, text),))


def _records(name: str) -> Iterator[tuple[str, FailureCase]]:
    """Yield the cases of a JSONL file with their line numbers.

    Raises:
        MisuseError: the file cannot be read, or a line is no JSON object.
    """
    for number, line in enumerate(as_utf8(read_file(name, stdin=True), name).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise MisuseError("cli.file.not_json", name=f"{name}:{number}", reason=error) from error
        notation = record.get("notation", "json_schema") if isinstance(record, dict) else ""
        if notation not in NOTATIONS:
            raise MisuseError("cli.diagnose.error.record", name=name, number=number)
        yield str(number), _record(record, notation)


def _record(record: dict[str, Any], notation: str) -> FailureCase:
    """Return the case of one line."""
    kinds = {"request": TextKind.REQUEST, "response": TextKind.RESPONSE, "log": TextKind.LOG}
    case = _read(
        [PastedText(_as_text(record[key]), kind) for key, kind in kinds.items() if record.get(key) is not None]
    )
    if record.get("grammar") is not None:
        case = _with_grammar(case, notation, _as_text(record["grammar"]))
    if isinstance(record.get("output"), str):
        case = replace(case, output=record["output"].encode("utf-8", "surrogatepass"))
    if isinstance(record.get("budget"), int):
        case = replace(case, max_tokens=record["budget"])
    if record.get("finish") in _FINISHES:
        case = replace(case, finish=_FINISHES[record["finish"]])
    return case


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _folders(folder: Path) -> Iterator[tuple[str, FailureCase]]:
    """Yield the cases of a folder: the folder itself, or its folders, with the file names of a bundle.

    Raises:
        MisuseError: there is no such folder, or it has no case.
    """
    if not folder.is_dir():
        raise MisuseError("cli.diagnose.error.folder", name=folder)
    inner = sorted(path for path in folder.iterdir() if path.is_dir())
    cases = [(path.name, case) for path in [folder, *inner] if (case := read_folder(path)) is not None]
    if not cases:
        raise MisuseError("cli.diagnose.error.folder", name=folder)
    yield from cases


def read_folder(folder: Path) -> FailureCase | None:
    """Return the case of a folder; None if it has none of the files.

    Raises:
        MisuseError: a file cannot be read.
    """
    kinds = {"request.json": TextKind.REQUEST, "response.json": TextKind.RESPONSE, "server.log": TextKind.LOG}
    texts = [PastedText(read_file(str(folder / one)), kind) for one, kind in kinds.items() if (folder / one).is_file()]
    case, is_found = _read(texts), bool(texts)
    for pattern, notation in _GRAMMARS.items():
        for path in sorted(folder.glob(pattern))[:1] if not case.constraints else ():
            case, is_found = _with_grammar(case, notation, as_utf8(read_file(str(path)), path.name)), True
    for name in _OUTPUTS:
        if case.output is None and (folder / name).is_file():
            case, is_found = replace(case, output=read_file(str(folder / name))), True
    return case if is_found else None


# --- results


def _table(
    arguments: argparse.Namespace,
    cases: list[tuple[str, FailureCase]],
    source: TokenSource | None,
    cancel: CancelToken,
) -> int:
    """Print one table by cause; return 1 if a cause was found, and 4 if all others are unknown."""
    found = [(name, _diagnosed(arguments, case, source, cancel)) for name, case in cases]
    counts = Counter(one.cause for _, one in found)
    if arguments.json:
        causes = [
            {"cause": cause, "count": count, "cases": [name for name, one in found if one.cause is cause]}
            for cause, count in counts.most_common()
        ]
        print_json({"causes": causes, "cases": [{"name": name, **as_data(one)} for name, one in found]})
    else:
        width = max(map(len, counts), default=0)
        for cause, count in counts.most_common():
            names = ", ".join(name for name, one in found if one.cause is cause)
            print(f"{cause:<{width}}  {count:>4}  {names}")
    if set(counts) <= {Cause.COMPLETE}:
        return ExitCode.SUCCESS
    return ExitCode.UNKNOWN if set(counts) <= {Cause.COMPLETE, Cause.UNKNOWN} else ExitCode.NEGATIVE


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
