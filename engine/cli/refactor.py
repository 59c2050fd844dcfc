"""`turnstile refactor`: a change of a grammar's text that keeps its language, with the proof."""

from __future__ import annotations

import argparse
import re

from engine.analysis.equivalence import compare_languages
from engine.cli.arguments import add_compile_options, as_count
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import STDIN, as_utf8, compile_options, notation_of, read_file, write_file
from engine.cli.output import MisuseError, ProgressLine, print_json, print_note
from engine.compile import compile_grammar
from engine.notations import NOTATIONS
from engine.refactoring import REFACTORINGS
from engine.refactoring.proof import ProofKind, proof_of, proof_sentence
from engine.refactoring.refactoring import GrammarSelection, refactored
from engine.source import SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.vocabulary.visible import visible


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--do", required=True, choices=REFACTORINGS.names)
    parser.add_argument("--at", metavar="LINE:COLUMN", default="1:1")
    parser.add_argument("--to", metavar="LINE:COLUMN")
    parser.add_argument("--name", default="", metavar="NAME")
    parser.add_argument("--notation", choices=NOTATIONS)
    add_compile_options(parser)
    parser.add_argument("--pairs", type=as_count, metavar="N")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Refactor a file; return 1 if that is refused or changes the language, 4 if the proof is bounded."""
    text = as_utf8(read_file(arguments.file, stdin=True), arguments.file)
    notation = arguments.notation or notation_of(arguments.file, text)
    last_line_end = ""
    if not NOTATIONS[notation].ends_with_line:
        body = text.removesuffix("\n").removesuffix("\r")
        text, last_line_end = body, text[len(body) :]
    refactoring, options = REFACTORINGS[arguments.do], compile_options(arguments)
    start = _offset(text, arguments.at)
    selected = Span(start, max(start, _offset(text, arguments.to)) if arguments.to else start)
    selection = GrammarSelection(notation, text, selected, options, arguments.name)
    before = compile_grammar(notation, SourceText(text, arguments.file), options)
    after, rewrite = refactored(refactoring, selection)
    with ProgressLine() as cancel:
        changed = compile_grammar(notation, after, options, cancel=cancel)
        compared = compare_languages(before, changed, effort=arguments.pairs, cancel=cancel)
    keeps_language = refactoring.keeps_language(NOTATIONS[notation])
    kind = proof_of(compared, keeps_language=keeps_language)
    proved = proof_sentence(compared, keeps_language=keeps_language)
    is_written = arguments.write and arguments.file != STDIN and (kind is not ProofKind.DIFFERENT or arguments.force)
    if is_written:
        write_file(arguments.file, after + last_line_end)
    texts = {"only_before": compared.only_first, "only_after": compared.only_second}
    if arguments.json:
        print_json(
            {
                "text": after,
                "proof": kind,
                "bound": compared.length,
                **{name: None if one is None else one.decode() for name, one in texts.items()},
                "notes": rewrite.notes,
                "name": rewrite.name,
                "written": is_written,
            }
        )
    else:
        if not arguments.write:
            print(after, end=last_line_end or ("" if after.endswith("\n") else "\n"))
        for note in (*rewrite.notes, proved):
            print_note(note)
        for name, one in texts.items():
            if one is not None:
                print_note(catalogue_text(f"cli.refactor.message.{name}", text=visible(one) or repr("")))
    if kind is ProofKind.DIFFERENT:
        return ExitCode.NEGATIVE
    return ExitCode.SUCCESS if kind.is_proof else ExitCode.UNKNOWN


def _offset(text: str, position: str) -> int:
    """Return the offset of a line and a column, both counted from 1.

    Raises:
        MisuseError: it is no position of the text.
    """
    found = re.fullmatch(r"([1-9]\d{0,8}):([1-9]\d{0,8})", position)
    lines = text.split("\n")
    if found is not None and int(found[1]) <= len(lines):
        line, column = int(found[1]) - 1, int(found[2]) - 1
        if column <= len(lines[line]):
            return sum(len(one) + 1 for one in lines[:line]) + column
    raise MisuseError("cli.refactor.error.position", position=position)
