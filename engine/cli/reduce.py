"""`turnstile reduce`: the smallest request, schema or grammar that still fails a check, and the part that is guilty."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from engine.cli.arguments import add_compile_options, as_count
from engine.cli.inputs import as_utf8, compile_options, read_file
from engine.cli.output import MisuseError, ProgressLine, print_json, print_note
from engine.diagnosis.reduce.reduction import ReducedText, reduce_text
from engine.notations import NOTATIONS
from engine.notations.json_schema.json_tree import JsonTextError
from engine.source.catalogue import catalogue_text
from engine.source.processes import start_command

_TIMEOUT_S: Final = 60


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--check", required=True, metavar="CMD")
    parser.add_argument("--notation", choices=NOTATIONS)
    add_compile_options(parser)
    parser.add_argument("--output", metavar="PATH")
    parser.add_argument("--timeout", type=as_count, default=_TIMEOUT_S, metavar="SECONDS")
    parser.add_argument("--most-checks", type=as_count, metavar="N")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Reduce a file as far as a command still fails on it."""
    text = as_utf8(read_file(arguments.file), arguments.file)
    notation = arguments.notation or _notation_of(arguments.file, text)
    command = _split(arguments.check)
    if not command:
        arguments.parser.error(catalogue_text("cli.reduce.error.check"))
    with tempfile.TemporaryDirectory(prefix="turnstile-") as folder, ProgressLine() as cancel:
        check = _check_by(command, Path(folder) / Path(arguments.file).name, arguments.timeout)
        try:
            found = reduce_text(
                text,
                notation,
                check,
                options=compile_options(arguments),
                most_checks=arguments.most_checks,
                cancel=cancel,
            )
        except JsonTextError as error:
            raise MisuseError("cli.file.not_json", name=arguments.file, reason=error.diagnostic.message) from error
    if arguments.output:
        _write(arguments.output, found.text)
    if arguments.json:
        print_json(_as_data(found, text))
    else:
        if not arguments.output:
            print(found.text)
        print_note(_summary(found, text))
    return 0


def _notation_of(name: str, text: str) -> str:
    suffix = Path(name).suffix.lower()
    by_suffix = [notation.id for notation in NOTATIONS.values() if suffix and suffix in notation.suffixes]
    if by_suffix:
        return by_suffix[0]
    likely = NOTATIONS.likely(text)
    if likely is None:
        raise MisuseError("cli.reduce.error.notation", name=name)
    return likely.id


def _split(command: str) -> list[str]:
    """Split a command line as the shell of the platform does, without running one."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise MisuseError("cli.reduce.error.quotes", reason=error) from error


def _check_by(command: Sequence[str], candidate: Path, timeout: float) -> Callable[[str], bool]:
    """Return a check that writes a candidate to a file and runs a command on it; exit code 0 means that it still fails.

    Args:
        command: the program and its first arguments; the file is the last.
        candidate: the file.
        timeout: the seconds after which the command is stopped; it then does not count as a failure.
    """

    def check(text: str) -> bool:
        candidate.write_text(text, "utf-8", newline="")
        try:
            process = start_command(
                [*command, str(candidate)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise MisuseError("cli.reduce.error.start", command=command[0], reason=error.strerror or error) from error
        try:
            return process.wait(timeout) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with suppress(OSError):
                process.kill()
            process.wait()

    return check


def _write(name: str, text: str) -> None:
    try:
        Path(name).write_text(text, "utf-8", newline="")
    except OSError as error:
        raise MisuseError("cli.file.unwritable", name=name, reason=error.strerror or error) from error


def _as_data(found: ReducedText, original: str) -> dict[str, object]:
    part = {"pointer": found.pointer} if found.rule is None else {"rule": found.rule}
    return {
        **part,
        "tool": found.tool,
        "size_before": len(original.encode()),
        "size_after": len(found.text.encode()),
        "checks": found.checks,
        "text": found.text,
    }


def _summary(found: ReducedText, original: str) -> str:
    sizes = {"before": len(original.encode()), "after": len(found.text.encode()), "count": found.checks}
    where = ""
    if found.tool:
        where = catalogue_text("cli.reduce.fragment.tool", tool=found.tool, pointer=found.pointer)
    elif found.pointer:
        where = catalogue_text("cli.reduce.fragment.pointer", pointer=found.pointer)
    elif found.rule:
        where = catalogue_text("cli.reduce.fragment.rule", rule=found.rule)
    return catalogue_text("cli.reduce.result_of" if where else "cli.reduce.result", where=where, **sizes)
