"""The inputs that the command line names: the grammar, its compile options, the vocabulary, files."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from engine import models
from engine.automata import AUTOMATON_SUFFIXES
from engine.cli.output import MisuseError, print_note
from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.models import LogitSource
from engine.notations import NOTATIONS
from engine.servers.client import is_server_address
from engine.servers.server_spec import ServerSpec
from engine.source import CancelToken, Limits, SourceText
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

STDIN = "-"


def read_grammar(arguments: argparse.Namespace) -> SourceText:
    """Read the grammar's text, with the name that messages use.

    Raises:
        MisuseError: the file cannot be read, or is not UTF-8.
    """
    if arguments.grammar is not None:
        return SourceText(arguments.grammar)
    name = arguments.grammar_file
    if name.lower().endswith(AUTOMATON_SUFFIXES):
        return _read_automaton(arguments, name)
    return SourceText(
        without_last_line_end(as_utf8(read_file(name, stdin=True), name)), "<stdin>" if name == STDIN else name
    )


def _read_automaton(arguments: argparse.Namespace, name: str) -> SourceText:
    """Read an automaton of JFLAP or Graphviz as a grammar.

    Raises:
        MisuseError: it cannot be read, or another notation is requested than what it becomes.
    """
    from engine.export import automaton_files  # start-up time: exports are imported by their own command alone

    if arguments.notation != automaton_files.NOTATION:
        raise MisuseError("cli.file.automaton_notation", name=name, notation=automaton_files.NOTATION)
    try:
        return SourceText(automaton_files.read_automaton_file(read_file(name), Path(name).name), name)
    except automaton_files.AutomatonFileError as error:
        raise MisuseError.of(error) from error


def read_file(name: str, *, stdin: bool = False) -> bytes:
    """Read a file; with `stdin`, the name `-` is the standard input.

    Raises:
        MisuseError: it cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if stdin and name == STDIN else Path(name).read_bytes()
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise MisuseError("cli.file.unreadable", name=name, reason=reason) from error


def as_utf8(data: bytes, name: str) -> str:
    """Decode a UTF-8 text without its byte order mark.

    Raises:
        MisuseError: it is not UTF-8; the message has the name of the file.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeError as error:
        raise MisuseError("cli.file.not_utf8", name=name, reason=error) from error


def notation_of(name: str, text: str) -> str:
    """Return the notation of a file by its suffix, or by its text.

    Raises:
        MisuseError: it is unclear.
    """
    suffix = Path(name).suffix.lower()
    by_suffix = [notation.id for notation in NOTATIONS.values() if suffix and suffix in notation.suffixes]
    if by_suffix:
        return by_suffix[0]
    likely = NOTATIONS.likely(text)
    if likely is None:
        raise MisuseError("cli.reduce.error.notation", name=name)
    return likely.id


def write_file(name: str, text: str) -> None:
    """Write a text to a file, as it is.

    Raises:
        MisuseError: it cannot be written.
    """
    try:
        Path(name).write_text(text, "utf-8", newline="")
    except OSError as error:
        raise MisuseError("cli.file.unwritable", name=name, reason=error.strerror or error) from error


def read_json_file(name: str, form: str = "") -> Any:
    """Read a file with a JSON text; messages may state its form.

    Raises:
        MisuseError: it cannot be read, or is not JSON.
    """
    try:
        return json.loads(as_utf8(read_file(name), name))
    except (ValueError, RecursionError) as error:
        if form:
            raise MisuseError("cli.file.not_of_form", name=name, form=form, reason=error) from error
        raise MisuseError("cli.file.not_json", name=name, reason=error) from error


def limits_of(arguments: argparse.Namespace) -> Limits:
    """Return the limits of the command line, with defaults for the others."""
    return Limits(**dict(arguments.limit))


def compile_options(arguments: argparse.Namespace) -> CompileOptions:
    """Return the compile options of the command line."""
    return CompileOptions(
        dialect=arguments.dialect,
        whitespace=arguments.whitespace,
        escapes=arguments.escapes,
        additional=arguments.additional,
        limits=limits_of(arguments),
    )


def compile_argument(arguments: argparse.Namespace) -> CompiledGrammar:
    """Compile the grammar of the command line."""
    return compile_source(arguments, read_grammar(arguments))


def compile_source(arguments: argparse.Namespace, source: SourceText) -> CompiledGrammar:
    """Compile a text with the options of the command line."""
    return compile_grammar(arguments.notation, source, compile_options(arguments))


def load_vocabulary(arguments: argparse.Namespace, cancel: CancelToken) -> Vocabulary:
    """Load the vocabulary of `--tokenizer` or `--model`."""
    if arguments.tokenizer:
        return Vocabulary.from_tokenizer(Path(arguments.tokenizer))
    return load_source(arguments.model, cancel).vocabulary


def load_source(spec: str, cancel: CancelToken) -> LogitSource:
    """Load the model of `--model`; a note says so if texts leave this machine.

    Raises:
        ModelError: as `load_model`.
    """
    if is_server_address(spec) and (server := ServerSpec.read(spec)).is_remote:
        print_note(catalogue_text("cli.message.remote", address=server.address))
    return models.load_model(spec, cancel=cancel)


def without_last_line_end(text: str) -> str:
    """Remove the line end that editors and `echo` append; it is not part of the grammar."""
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
