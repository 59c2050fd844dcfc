"""`turnstile diff` with two grammars: whether they have the same texts, and a shortest text that only one has."""

from __future__ import annotations

import argparse
from typing import Final

from engine.analysis.equivalence import compare_languages
from engine.analysis.language_comparison import LanguageComparison, Relation
from engine.automata.byte_automaton import DEAD
from engine.cli.arguments import as_count
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import as_utf8, compile_options, read_file, without_last_line_end
from engine.cli.output import ProgressLine, print_json
from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.notations import NOTATIONS
from engine.source import SourceText
from engine.source.catalogue import catalogue_text
from engine.vocabulary.visible import visible

_VERDICTS: Final = {Relation.NARROWER: "looser", Relation.WIDER: "stricter", Relation.UNEQUAL: "different"}
"""The verdict on the second grammar by the relation of the first, where it has another name."""


def add_other_grammar(parser: argparse.ArgumentParser) -> None:
    """Add the options that give a second grammar."""
    parser.add_argument("--other-grammar-file", metavar="FILE")
    parser.add_argument("--other-notation", choices=NOTATIONS)
    parser.add_argument("--pairs", type=as_count, metavar="N")


def compare_grammars(arguments: argparse.Namespace, source: SourceText) -> int:
    """Compare the grammar of the command line with the other one; return 1 if they differ, 4 if that is unknown."""
    if arguments.engine or arguments.text or arguments.model or arguments.tokenizer:
        arguments.parser.error(catalogue_text("cli.diff.error.only_grammars"))
    name = arguments.other_grammar_file
    other = SourceText(without_last_line_end(as_utf8(read_file(name), name)), name)
    arguments.whitespace = arguments.whitespace or CompileOptions().whitespace
    options = compile_options(arguments)
    first = compile_grammar(arguments.notation, source, options)
    second = compile_grammar(arguments.other_notation or arguments.notation, other, options)
    with ProgressLine() as cancel:
        found = compare_languages(first, second, effort=arguments.pairs, cancel=cancel)
    if arguments.json:
        print_json(_as_data(found, first, second))
    else:
        print("\n".join(_lines(found)))
    if found.relation is Relation.EQUAL:
        return ExitCode.SUCCESS
    return ExitCode.UNKNOWN if found.relation is Relation.UNKNOWN else ExitCode.NEGATIVE


def _verdict(found: LanguageComparison) -> str:
    return _VERDICTS.get(found.relation, str(found.relation))


def _as_data(found: LanguageComparison, first: CompiledGrammar, second: CompiledGrammar) -> dict[str, object]:
    texts = [
        (text, side) for side, text in (("first", found.only_first), ("second", found.only_second)) if text is not None
    ]
    text, side = min(texts, key=lambda one: len(one[0]), default=(None, None))
    return {
        "verdict": _verdict(found),
        "exact": found.is_exact,
        "bound": None if found.length is None else {"bytes": found.length, "pairs": found.n_visited},
        "prefix": None if text is None else _common_prefix(text, second if side == "first" else first),
        "text": _decoded(text),
        "accepted_by": side,
        "only_first": _decoded(found.only_first),
        "only_second": _decoded(found.only_second),
        "checked": found.n_visited,
    }


def _common_prefix(text: bytes, other: CompiledGrammar) -> str:
    """Return the part of a text that the grammar that refuses it still allows as a prefix."""
    automaton = other.automaton
    configuration, length = automaton.start, 0
    for byte in text:
        configuration = automaton.run(configuration, bytes((byte,)))
        if configuration == DEAD:
            break
        length += 1
    return text[:length].decode("utf-8", "backslashreplace")


def _decoded(text: bytes | None) -> str | None:
    return None if text is None else text.decode()


def _lines(found: LanguageComparison) -> list[str]:
    lines = [catalogue_text(f"cli.diff.grammars.{_verdict(found)}")]
    for key, text in (("only_first", found.only_first), ("only_second", found.only_second)):
        if text is not None:
            lines.append(f"- {catalogue_text(f'cli.diff.grammars.{key}', text=visible(text) or repr(''))}")
    if found.length is None:
        lines.append(catalogue_text("cli.diff.grammars.exact", count=found.n_visited))
    else:
        lines.append(catalogue_text("cli.diff.grammars.bound", count=found.n_visited, length=found.length))
    return lines
