"""`turnstile reduce`: the smallest request, schema or grammar that still fails a check, and the part that is guilty.

The check is a command, an installed engine, or a server.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from engine.cli.arguments import add_compile_options, as_count, as_natural
from engine.cli.inputs import as_utf8, compile_options, notation_of, read_file, write_file
from engine.cli.output import MisuseError, ProgressLine, print_json, print_note
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.reduce.engine_check import EngineFailure
from engine.diagnosis.reduce.engine_reduction import ENGINE_LIMIT_S, reduce_by_engine, reduce_by_server
from engine.diagnosis.reduce.reduction import ReducedText, reduce_text
from engine.diagnosis.reduce.server_check import ServerCheck, ServerFailure
from engine.notations import NOTATIONS
from engine.notations.json_schema.json_tree import JsonTextError
from engine.peers import UnknownPeerError, find_peers
from engine.servers import ServerError
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.source.processes import start_command

_TIMEOUT_S: Final = 60
_KEY: Final = "OPENAI_API_KEY"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("file", metavar="FILE")
    check = parser.add_mutually_exclusive_group(required=True)
    check.add_argument("--check", metavar="CMD")
    check.add_argument("--engine", metavar="NAME")
    check.add_argument("--server", metavar="URL")
    parser.add_argument("--example", action="append", default=[], metavar="FILE")
    parser.add_argument("--seed", type=as_natural, default=0, metavar="N")
    parser.add_argument("--model", default="", metavar="NAME")
    parser.add_argument("--key-env", default=_KEY, metavar="NAME")
    parser.add_argument("--notation", choices=NOTATIONS)
    add_compile_options(parser)
    parser.add_argument("--output", metavar="PATH")
    parser.add_argument("--timeout", type=as_count, metavar="SECONDS")
    parser.add_argument("--most-checks", type=as_count, metavar="N")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Reduce a file as far as a command, an engine or a server still fails on it."""
    text = as_utf8(read_file(arguments.file), arguments.file)
    notation = arguments.notation or notation_of(arguments.file, text)
    if NOTATIONS[notation].is_expression:
        text = text.removesuffix("\n").removesuffix("\r")
    failure: EngineFailure | ServerFailure | None = None
    with ProgressLine() as cancel:
        try:
            if arguments.engine is not None:
                found, failure = _by_engine(arguments, text, notation, cancel)
            elif arguments.server is not None:
                found, failure = _by_server(arguments, text, notation, cancel)
            else:
                found = _by_command(arguments, text, notation, cancel)
        except JsonTextError as error:
            raise MisuseError("cli.file.not_json", name=arguments.file, reason=error.diagnostic.message) from error
    if arguments.output:
        write_file(arguments.output, found.text)
    if arguments.json:
        failed = None if failure is None else {"kind": failure.kind, "reason": failure.reason, "text": failure.text}
        print_json({**_as_data(found, text), "failure": failed})
    else:
        if not arguments.output:
            print(found.text)
        if failure is not None:
            print_note(_failure_text(arguments.engine or arguments.server, failure))
        print_note(_summary(found, text))
    return 0


def _by_command(arguments: argparse.Namespace, text: str, notation: str, cancel: CancelToken) -> ReducedText:
    command = split_command(arguments.check)
    if not command:
        arguments.parser.error(catalogue_text("cli.reduce.error.check"))
    with tempfile.TemporaryDirectory(prefix="turnstile-") as folder:
        candidate = Path(folder) / Path(arguments.file).name
        check = check_by(command, candidate, arguments.timeout or _TIMEOUT_S)
        options, most_checks = compile_options(arguments), arguments.most_checks
        return reduce_text(text, notation, check, options=options, most_checks=most_checks, cancel=cancel)


def _by_engine(
    arguments: argparse.Namespace, text: str, notation: str, cancel: CancelToken
) -> tuple[ReducedText, EngineFailure]:
    """Reduce by an installed engine.

    Raises:
        MisuseError: there is no such engine, or it does not read the notation.
        EngineError: the engine does not fail on the file.
    """
    try:
        peer = find_peers([arguments.engine])[-1]
    except UnknownPeerError as error:
        raise MisuseError.of(error) from error
    if notation not in peer.notations:
        raise MisuseError("cli.reduce.error.engine", engine=peer.name, notation=notation)
    return reduce_by_engine(
        peer,
        RequestConstraint(notation, text, compile_options(arguments)),
        examples=[_example(name) for name in arguments.example],
        seed=arguments.seed,
        limit_s=float(arguments.timeout or ENGINE_LIMIT_S),
        most_checks=arguments.most_checks,
        cancel=cancel,
    )


def _example(name: str) -> str:
    text = as_utf8(read_file(name), name)
    return text.removesuffix("\n").removesuffix("\r")


def _by_server(
    arguments: argparse.Namespace, text: str, notation: str, cancel: CancelToken
) -> tuple[ReducedText, ServerFailure]:
    """Reduce by a server.

    Raises:
        MisuseError: the address is none of a server.
        EngineError: no grammar is in force there, or the server does not fail on the file.
    """
    key = os.environ.get(arguments.key_env, "")
    timeout = float(arguments.timeout or _TIMEOUT_S)
    try:
        check = ServerCheck(arguments.server, notation, model=arguments.model, key=key, timeout=timeout, cancel=cancel)
    except ServerError as error:
        raise MisuseError.of(error) from error
    constraint = RequestConstraint(notation, text, compile_options(arguments))
    return reduce_by_server(check, constraint, most_checks=arguments.most_checks, cancel=cancel)


def _failure_text(name: str, failure: EngineFailure | ServerFailure) -> str:
    """Return what an engine or a server does, with the text or the message that shows it."""
    shown = " ".join((failure.reason or repr(failure.text)).split())
    return catalogue_text("cli.reduce.message.failure", name=name, kind=failure.kind, shown=shown)


def split_command(command: str) -> list[str]:
    """Split a command line as the shell of the platform does, without running one."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise MisuseError("cli.reduce.error.quotes", reason=error) from error


def check_by(command: Sequence[str], candidate: Path, timeout: float) -> Callable[[str], bool]:
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
