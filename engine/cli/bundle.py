"""`turnstile bundle`: a zip with all that reproduces a document's trace, without secrets and paths."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from engine.cli.arguments import add_limits, add_vocabulary
from engine.cli.inputs import limits_of, load_vocabulary, read_file, read_json_file
from engine.cli.output import ProgressLine, print_message, print_note
from engine.cli.reduce import check_by, split_command
from engine.cli.share import check_vocabulary, language_of, titled
from engine.diagnosis.bundle import bundle_parts, write_bundle
from engine.document.codec import decode
from engine.source.catalogue import catalogue_text

_TIMEOUT_S = 60


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("document", metavar="DOCUMENT")
    add_limits(parser)
    parser.add_argument("--output", required=True, metavar="PATH")
    parser.add_argument("--check", metavar="CMD")
    parser.add_argument("--server-report", metavar="FILE")
    add_vocabulary(parser, required=False)


def run(arguments: argparse.Namespace) -> int:
    """Write a bundle, and say what was left out of it."""
    path = Path(arguments.document)
    work = decode(read_file(arguments.document), path.name)
    command = split_command(arguments.check) if arguments.check else []
    with tempfile.TemporaryDirectory(prefix="turnstile-") as folder, ProgressLine() as cancel:
        vocabulary = load_vocabulary(arguments, cancel) if arguments.model or arguments.tokenizer else None
        if vocabulary is not None:
            check_vocabulary(work, vocabulary)
        check = check_by(command, Path(folder) / "candidate", _TIMEOUT_S) if command else None
        language = language_of(work, vocabulary, limits_of(arguments), cancel)
        report = json.dumps(read_json_file(arguments.server_report), indent=2) if arguments.server_report else ""
        parts = bundle_parts(titled(work, path), language, vocabulary, check=check, server_report=report, cancel=cancel)
    size = write_bundle(Path(arguments.output), parts)
    for name, reason in parts.left_out.items():
        print_note(catalogue_text("cli.bundle.left_out", name=name, reason=reason))
    counts = {"count": len(parts.files), "size": size, "secrets": parts.removed_secrets}
    print_message(catalogue_text("cli.bundle.written", path=arguments.output, **counts))
    return 0
