"""`turnstile replay`: the verdict on an output."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from engine.cli.arguments import add_grammar, add_vocabulary, as_count, as_text
from engine.cli.inputs import compile_argument, load_source, read_file
from engine.cli.output import ProgressLine, location_of, show
from engine.cli.zones import add_zone_options, has_zones, zoned_grammar
from engine.compile import CompiledGrammar, compile_grammar
from engine.diagnosis.intake import IntakeError, PastedText, TextKind, read_failure
from engine.diagnosis.scores.recorded_tokens import recorded_saved_trace
from engine.diagnosis.verdicts.replay import TokenSource, replay_ids, replay_saved, replay_text
from engine.diagnosis.verdicts.verdict import CompletionBudget, Failure, Verdict, VerdictOutcome, parse_token_ids
from engine.document.saved_traces import SavedTrace, read_saved_trace
from engine.models.text_encoder import read_text_encoder, text_encoder_of
from engine.source import CancelToken, EngineError, SourceText
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_LINE_ENDS = (b"\n", b"\r\n")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    output = parser.add_mutually_exclusive_group(required=True)
    output.add_argument("--text", type=as_text)
    output.add_argument("--text-file", metavar="FILE")
    output.add_argument("--ids", type=_ids, metavar="IDS")
    output.add_argument("--trace", metavar="FILE")
    add_vocabulary(parser, required=False)
    parser.add_argument("--budget", type=as_count, metavar="N")
    add_zone_options(parser)
    parser.add_argument("--finish", choices=["stop", "length", "context"])
    parser.add_argument("--json", action="store_true")


def _ids(text: str) -> tuple[int, ...]:
    try:
        return parse_token_ids(text)
    except EngineError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict on an output; return 1 if it is not complete."""
    _check(arguments)
    grammar = compile_argument(arguments)
    with ProgressLine() as cancel:
        source = _token_source(arguments, cancel)
        if has_zones(arguments):
            options = replace(grammar.options, escapes="any", numbers="any")
            inner = compile_grammar(grammar.notation, grammar.source, options, cancel=cancel)
            is_ids = arguments.ids is not None and source is not None
            grammar = zoned_grammar(arguments, inner, source.vocabulary if is_ids and source is not None else None)
        found = _replayed(arguments, grammar, source, cancel)
    show(_as_data(found, grammar.source) if arguments.json else _in_words(found))
    return 0 if found.is_complete else 1


def _check(arguments: argparse.Namespace) -> None:
    """Check what argparse cannot: ids and budgets need a vocabulary."""
    if arguments.model or arguments.tokenizer:
        return
    if arguments.ids is not None:
        arguments.parser.error(catalogue_text("cli.replay.error.ids"))
    if arguments.budget is not None and arguments.trace is None:
        arguments.parser.error(catalogue_text("cli.replay.error.budget"))


def _token_source(arguments: argparse.Namespace, cancel: CancelToken) -> TokenSource | None:
    """Return the requested vocabulary and its tokenizer."""
    if arguments.tokenizer:
        path = Path(arguments.tokenizer)
        return TokenSource(Vocabulary.from_tokenizer(path), read_text_encoder(path))
    if arguments.model:
        model = load_source(arguments.model, cancel)
        return TokenSource(model.vocabulary, text_encoder_of(model))
    return None


def _replayed(
    arguments: argparse.Namespace, grammar: CompiledGrammar, token_source: TokenSource | None, cancel: CancelToken
) -> Verdict:
    """Return the verdict on the output of the command line.

    Args:
        arguments: the parsed command line.
        grammar: the compiled grammar.
        token_source: the vocabulary, if requested.
        cancel: cancels the replay.

    Raises:
        MisuseError: a file cannot be read.
        EngineError: a file is not a saved trace.
    """
    budget, finish, advise = arguments.budget, arguments.finish or "", not has_zones(arguments)
    if arguments.ids is not None:
        assert token_source is not None
        return replay_ids(
            grammar, arguments.ids, token_source, budget=budget, finish=finish, advise=advise, cancel=cancel
        )
    if arguments.trace is not None:
        saved = _saved_trace(read_file(arguments.trace, stdin=True), arguments.trace, token_source)
        finish = finish or saved.finish
        return replay_saved(grammar, saved, token_source, budget=budget, finish=finish, cancel=cancel)
    data = arguments.text.encode() if arguments.text is not None else read_file(arguments.text_file, stdin=True)
    found = replay_text(grammar, data, token_source, budget=budget, finish=finish, advise=advise, cancel=cancel)
    if (
        arguments.text_file is not None
        and found.outcome is VerdictOutcome.TEXT_AFTER
        and data[found.legal :] in _LINE_ENDS
    ):
        # The editor appended a line end that was not generated.
        data = data[: found.legal]
        return replay_text(grammar, data, token_source, budget=budget, finish=finish, advise=advise, cancel=cancel)
    return found


def _saved_trace(data: bytes, name: str, token_source: TokenSource | None) -> SavedTrace:
    """Return the tokens of a document, of a saved generation, or of the response of a server.

    Raises:
        EngineError: the file is none of these, or its tokens are not known.
    """
    try:
        return read_saved_trace(data, name)
    except EngineError as no_trace:
        try:
            case = read_failure([PastedText(data, TextKind.RESPONSE)])
        except IntakeError:
            raise no_trace from None
        if not case.ids and not case.scores:
            raise no_trace from None
    return recorded_saved_trace(case, None if token_source is None else token_source.vocabulary)


def _in_words(found: Verdict) -> list[str]:
    """Return the sentence, and a line for each note."""
    return [found.sentence, *(f"- {note}" for note in found.notes)]


def _as_data(found: Verdict, source: SourceText) -> dict[str, object]:
    """Return the verdict as a document."""
    return {
        "outcome": found.outcome,
        "sentence": found.sentence,
        "notes": list(found.notes),
        "bytes": len(found.data),
        "legal": found.legal,
        "prefix": found.is_prefix,
        "complete": found.is_complete,
        "failure": None if found.failure is None else _failure(found.failure, source),
        "ending": None if found.ending is None else _ending(found.ending),
        "tokens": [
            {
                "id": token.token_id,
                "token": token.name or _text(token.data),
                "start": token.start,
                "state": token.state,
                "forced": token.forced,
            }
            for token in found.tokens
        ],
        "spelled": found.spelled,
        "canonical": found.is_canonical,
        "divergence": None
        if found.divergence is None
        else {
            "token": found.divergence.token,
            "byte": found.divergence.byte,
            "given": _text(found.divergence.given),
            "own": _text(found.divergence.own),
        },
        "forced": [list(pair) for pair in found.forced],
        "loops": [
            {"range": list(one.range), "period": one.period, "blank": one.blank, "at_end": one.at_end}
            for one in found.loops
        ],
        "judged": None if found.skipped is None else list(found.skipped),
        "cut_character": found.cut_character,
        "cut_escape": found.cut_escape,
    }


def _failure(failure: Failure, source: SourceText) -> dict[str, object]:
    return {
        **asdict(failure.place),
        "expected": [list(pair) for pair in failure.expected],
        "tokens": list(failure.elements),
        "accepting": failure.accepting,
        "missing": list(failure.missing),
        "spans": [location_of(span, source) for span in failure.spans],
        "rules": list(dict.fromkeys(name for stack in failure.stacks for name in stack.rules[:1])),
        "properties": list(dict.fromkeys(name for stack in failure.stacks for name in stack.properties)),
    }


def _ending(ending: CompletionBudget) -> dict[str, object]:
    text = ending.in_bytes.text
    return {
        "bytes": {"at_least": ending.in_bytes.at_least, "at_most": ending.in_bytes.at_most},
        "text": None if text is None else _text(text),
        "tokens": {"at_least": ending.least_tokens, "at_most": ending.most_tokens},
        "ids": None if ending.token_ids is None else list(ending.token_ids),
        "dead_end": ending.is_dead_end,
        "used": ending.used,
        "budget": ending.budget,
        "left": ending.left,
        "late_at": ending.late_at,
        "late_needs": ending.late_needs,
    }


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
