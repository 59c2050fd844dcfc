"""`turnstile audit`: what a tokenizer, the files beside it, and a grammar disagree about."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine import models
from engine.cli.arguments import add_grammar, add_vocabulary, as_count
from engine.cli.inputs import compile_argument, load_source
from engine.cli.output import ProgressLine, location_of, print_json
from engine.compile import CompiledGrammar
from engine.diagnosis.tokenizer_audit import TokenizerAudit, audit_lines, audit_tokenizer
from engine.source.catalogue import catalogue_text


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_vocabulary(parser, required=True)
    parser.add_argument("--width", type=as_count, metavar="N")
    add_grammar(parser, required=False)
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings about a tokenizer; return 1 if there are any that need a change."""
    has_grammar = arguments.grammar is not None or arguments.grammar_file is not None
    if has_grammar and arguments.notation is None:
        arguments.parser.error(catalogue_text("cli.audit.error.notation"))
    grammar = compile_argument(arguments) if has_grammar else None
    with ProgressLine() as cancel:
        if arguments.tokenizer:
            found = audit_tokenizer(Path(arguments.tokenizer), grammar=grammar, width=arguments.width)
        else:
            vocabulary = load_source(arguments.model, cancel).vocabulary
            files = models.model_files(arguments.model)
            found = audit_tokenizer(vocabulary, files=files, grammar=grammar, width=arguments.width)
    if arguments.json:
        print_json(_as_data(found, grammar))
    else:
        print("\n".join(audit_lines(found, None if grammar is None else grammar.source)))
    return 1 if any(each.needs_change for each in found.findings) else 0


def _as_data(found: TokenizerAudit, grammar: CompiledGrammar | None) -> dict[str, object]:
    vocabulary, table = found.vocabulary, found.table
    return {
        "size": vocabulary.size,
        "with_bytes": table.n_with_bytes,
        "special": {str(index): name for index, name in sorted(vocabulary.special.items())},
        "holes": len(table.holes),
        "duplicates": len(table.duplicates),
        "logits_width": found.width,
        "ends": sorted(vocabulary.eos_ids),
        "ends_by_file": [{"file": each.file, "field": each.field, "ids": list(each.ids)} for each in found.ends],
        "findings": [
            {
                "code": each.code,
                "sentence": each.sentence,
                "fix": each.fix,
                "ids": list(each.ids),
                "place": None if each.span is None or grammar is None else location_of(each.span, grammar.source),
            }
            for each in found.findings
        ],
    }
