"""`share`: a document's trace as one HTML file that replays it in a browser, offline."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from engine.cli.grammar_source import limits_of
from engine.cli.output import CommandError, MisuseError, ProgressLine, complain
from engine.compile import CompiledGrammar, compile_grammar
from engine.diagnosis.share_page.page import page, write_page
from engine.diagnosis.share_page.page_data import build_page_data
from engine.document.codec import decode
from engine.document.content import DocumentFile
from engine.source import CancelToken, GrammarError, Limits, SourceText
from engine.vocabulary import Vocabulary

_STDOUT = "-"


def share(arguments: argparse.Namespace, vocabulary_of: Callable[[argparse.Namespace, CancelToken], Vocabulary]) -> int:
    """Write the page of a document.

    Args:
        arguments: the parsed command line.
        vocabulary_of: loads the requested vocabulary.
    """
    path = Path(arguments.document)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise MisuseError(f"cannot read {path}: {reason or error}") from error
    work = decode(data, path.name)
    with ProgressLine() as cancel:
        vocabulary = vocabulary_of(arguments, cancel) if arguments.model or arguments.tokenizer else None
        if vocabulary is not None:
            _check_vocabulary(work, vocabulary)
        document = build_page_data(
            _titled(work, path), _language(work, vocabulary, limits_of(arguments), cancel), vocabulary, cancel
        )
    text = page(document)
    if arguments.output == _STDOUT:
        print(text, end="", flush=True)
        return 0
    size = write_page(Path(arguments.output), text)
    steps = len(document["steps"])
    complain(f"{arguments.output}: {steps:,} step{'s' if steps != 1 else ''}, {size:,} bytes")
    return 0


def _titled(work: DocumentFile, path: Path) -> DocumentFile:
    import msgspec

    return work if work.title else msgspec.structs.replace(work, title=path.stem)


def _check_vocabulary(work: DocumentFile, vocabulary: Vocabulary) -> None:
    """Refuse the vocabulary of another model: its explanations would be about other tokens."""
    for node in work.trace.nodes:
        step = node.step
        known = 0 <= step.token_id < vocabulary.size
        if not known or (vocabulary.token_bytes(step.token_id) or b"") != (step.token or b""):
            whose = f"; the trace is of {work.model.name or work.model.spec}" if work.model.name else ""
            raise CommandError(f"token #{step.token_id} of the trace is another one in this vocabulary{whose}")


def _language(
    work: DocumentFile, vocabulary: Vocabulary | None, limits: Limits, cancel: CancelToken
) -> CompiledGrammar | None:
    """Return what the output must match; None, with a message, if it cannot be determined."""
    grammar = work.grammar
    options = grammar.options_within(limits)
    try:
        compiled = compile_grammar(grammar.notation, SourceText(grammar.text), options, cancel=cancel)
    except GrammarError as error:
        complain(f"note: nothing is explained, since the grammar does not compile: {error}")
        return None
    if vocabulary is None and compiled.automaton.token_elements:
        complain("note: the grammar names tokens, so nothing is explained without --model or --tokenizer")
    if work.pipeline.zones is None:
        return compiled
    if vocabulary is None:
        complain("note: the grammar rules zones of the output, so nothing is explained without --model or --tokenizer")
        return None
    from engine.decoding.constraints.staged import StagePlan

    return StagePlan(work.pipeline, vocabulary).constraint(compiled, work.max_tokens).grammar
