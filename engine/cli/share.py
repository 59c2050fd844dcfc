"""`turnstile share`: a document's trace as one HTML file that replays it in a browser, offline."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from engine.cli.arguments import add_limits, add_vocabulary
from engine.cli.inputs import limits_of, load_vocabulary, read_file
from engine.cli.output import CommandError, ProgressLine, print_message, print_note
from engine.compile import CompiledGrammar, compile_grammar
from engine.decoding.constraints.staged import StagePlan
from engine.diagnosis.share_page.page import page, write_page
from engine.diagnosis.share_page.page_data import build_page_data
from engine.document.codec import decode
from engine.document.content import DocumentFile
from engine.source import CancelToken, GrammarError, Limits, SourceText
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_STDOUT = "-"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("document", metavar="DOCUMENT")
    add_limits(parser)
    parser.add_argument("--output", required=True, metavar="PATH")
    add_vocabulary(parser, required=False)


def run(arguments: argparse.Namespace) -> int:
    """Write a document's trace as one HTML file that replays it."""
    path = Path(arguments.document)
    work = decode(read_file(arguments.document), path.name)
    with ProgressLine() as cancel:
        vocabulary = load_vocabulary(arguments, cancel) if arguments.model or arguments.tokenizer else None
        if vocabulary is not None:
            check_vocabulary(work, vocabulary)
        document = build_page_data(
            titled(work, path), language_of(work, vocabulary, limits_of(arguments), cancel), vocabulary, cancel
        )
    text = page(document)
    if arguments.output == _STDOUT:
        print(text, end="", flush=True)
        return 0
    size = write_page(Path(arguments.output), text)
    steps = len(document["steps"])
    print_message(catalogue_text("cli.share.written", path=arguments.output, count=steps, size=size))
    return 0


def titled(work: DocumentFile, path: Path) -> DocumentFile:
    """Return a document that has a title: by default the name of its file."""
    return work if work.title else msgspec.structs.replace(work, title=path.stem)


def check_vocabulary(work: DocumentFile, vocabulary: Vocabulary) -> None:
    """Refuse the vocabulary of another model: its explanations would be about other tokens."""
    for node in work.trace.nodes:
        step = node.step
        known = 0 <= step.token_id < vocabulary.size
        if not known or (vocabulary.token_bytes(step.token_id) or b"") != (step.token or b""):
            if work.model.name:
                raise CommandError("cli.share.other_token_of", token=step.token_id, model=work.model.name)
            raise CommandError("cli.share.other_token", token=step.token_id)


def language_of(
    work: DocumentFile, vocabulary: Vocabulary | None, limits: Limits, cancel: CancelToken
) -> CompiledGrammar | None:
    """Return what the output must match; None, with a message, if it cannot be determined.

    Args:
        work: the document.
        vocabulary: the vocabulary; None if it is unknown.
        limits: the limits of the compile.
        cancel: cancels the compile.
    """
    grammar = work.grammar
    options = grammar.options_within(limits)
    try:
        compiled = compile_grammar(grammar.notation, SourceText(grammar.text), options, cancel=cancel)
    except GrammarError as error:
        print_note(catalogue_text("cli.share.not_compiled", reason=error))
        return None
    if vocabulary is None and compiled.automaton.token_elements:
        print_note(catalogue_text("cli.share.names_tokens"))
    if work.pipeline.zones is None:
        return compiled
    if vocabulary is None:
        print_note(catalogue_text("cli.share.zones"))
        return None
    return StagePlan(work.pipeline, vocabulary).constraint(compiled, work.max_tokens).grammar
