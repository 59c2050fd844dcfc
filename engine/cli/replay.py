"""The verdict on an output: `turnstile replay`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from engine.cli.grammar_source import STDIN
from engine.cli.output import MisuseError, location_of
from engine.compile import CompiledGrammar
from engine.diagnosis.verdicts.replay import TokenSource, replay_ids, replay_saved, replay_text
from engine.diagnosis.verdicts.verdict import CompletionBudget, Failure, Verdict, VerdictOutcome
from engine.document.saved_traces import read_saved_trace
from engine.source import CancelToken, SourceText
from engine.vocabulary import Vocabulary

_LINE_ENDS = (b"\n", b"\r\n")


def check_replay(arguments: argparse.Namespace) -> None:
    """Check what argparse cannot: ids and budgets need a vocabulary."""
    if arguments.model or arguments.tokenizer:
        return
    if arguments.ids is not None:
        arguments.parser.error("--ids needs --model or --tokenizer: whose tokens they are")
    if arguments.budget is not None and arguments.trace is None:
        arguments.parser.error("--budget counts tokens: say whose with --model or --tokenizer")


def token_source(arguments: argparse.Namespace, cancel: CancelToken) -> TokenSource | None:
    """Return the requested vocabulary and its tokenizer."""
    if arguments.tokenizer:
        from engine.models.text_encoder import read_text_encoder

        path = Path(arguments.tokenizer)
        return TokenSource(Vocabulary.from_tokenizer(path), read_text_encoder(path))
    if arguments.model:
        from engine.models import load_model
        from engine.models.text_encoder import text_encoder_of

        model = load_model(arguments.model, cancel=cancel)
        return TokenSource(model.vocabulary, text_encoder_of(model))
    return None


def replayed(
    arguments: argparse.Namespace, grammar: CompiledGrammar, whose: TokenSource | None, cancel: CancelToken
) -> Verdict:
    """Return the verdict on the output of the command line.

    Args:
        arguments: the parsed command line.
        grammar: the compiled grammar.
        whose: the vocabulary, if requested.
        cancel: cancels the replay.

    Raises:
        MisuseError: a file cannot be read.
        EngineError: a file is not a saved trace.
    """
    budget, finish = arguments.budget, arguments.finish or ""
    if arguments.ids is not None:
        assert whose is not None
        return replay_ids(grammar, arguments.ids, whose, budget=budget, finish=finish, cancel=cancel)
    if arguments.trace is not None:
        saved = read_saved_trace(_read(arguments.trace), arguments.trace)
        finish = finish or saved.finish
        return replay_saved(grammar, saved, whose, budget=budget, finish=finish, cancel=cancel)
    data = arguments.text.encode() if arguments.text is not None else _read(arguments.text_file)
    found = replay_text(grammar, data, whose, budget=budget, finish=finish, cancel=cancel)
    if (
        arguments.text_file is not None
        and found.outcome is VerdictOutcome.TEXT_AFTER
        and data[found.legal :] in _LINE_ENDS
    ):
        # The editor appended a line end that was not generated.
        return replay_text(grammar, data[: found.legal], whose, budget=budget, finish=finish, cancel=cancel)
    return found


def in_words(found: Verdict) -> list[str]:
    """Return the sentence, and a line for each note."""
    return [found.sentence, *(f"- {note}" for note in found.notes)]


def as_data(found: Verdict, source: SourceText) -> dict[str, object]:
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
        "circles": [
            {"range": list(one.range), "period": one.period, "blank": one.blank, "at_end": one.at_end}
            for one in found.circles
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


def _read(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise MisuseError(f"cannot read {name}: {error.strerror or error}") from error


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
