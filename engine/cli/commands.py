"""The commands. Each takes the parsed arguments and returns an exit code.

Models, masks and their libraries are imported by the command that needs them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from engine.cli.output import CommandError, ProgressLine, complain, print_json
from engine.cli.reading import read_grammar
from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.decoding import Finish, Generation, SamplerSettings, Step
from engine.source import CancelToken, Diagnostic, GrammarError, SourceText
from engine.vocabulary import Vocabulary, visible


def check(arguments: argparse.Namespace) -> int:
    """Print what is wrong with a grammar; 1 where there is an error in it."""
    source = read_grammar(arguments)
    try:
        diagnostics, ok = _compile(arguments, source).diagnostics, True
    except GrammarError as error:
        diagnostics, ok = error.diagnostics, False
    if arguments.json:
        print_json({"ok": ok, "diagnostics": [_finding(diagnostic, source) for diagnostic in diagnostics]})
    else:
        for diagnostic in diagnostics:
            print(diagnostic.render(source))
    return 0 if ok else 1


def generate(arguments: argparse.Namespace) -> int:
    """Print a text that matches a grammar, or the steps to it."""
    grammar = _compile(arguments, read_grammar(arguments))
    if grammar.is_empty:
        raise CommandError("no text matches this grammar, so there is nothing to write")
    sampler = SamplerSettings(
        repetition_penalty=arguments.repetition_penalty,
        temperature=arguments.temperature,
        top_k=arguments.top_k,
        top_p=arguments.top_p,
        min_p=arguments.min_p,
        seed=arguments.seed,
    )
    from engine.decoding.generate import generate as generate_text
    from engine.models import load_model

    with ProgressLine() as cancel:
        model = load_model(arguments.model, cancel=cancel)
        made = generate_text(
            grammar,
            model,
            prompt=arguments.prompt,
            sampler=sampler,
            max_tokens=arguments.max_tokens,
            stop_at=arguments.stop,
            cancel=cancel,
        )
    if made.finish is Finish.DEAD_END:
        written = f" after `{visible(made.output)}`" if made.output else ""
        raise CommandError(f"the grammar wants more{written}, but no token of {arguments.model} can follow")
    if arguments.json:
        print_json({"text": made.text, "finish": made.finish, "steps": [_step(step) for step in made.steps]})
    else:
        _print_text(made)
    return 0


def export(arguments: argparse.Namespace) -> int:
    """Write what a grammar compiles to."""
    from engine.export import build_token_index, to_dot, to_json
    from engine.export.dot import MOST_STATES

    needs_vocabulary = arguments.to == "json"
    if needs_vocabulary and not (arguments.model or arguments.tokenizer):
        arguments.parser.error("--to json needs --model or --tokenizer: whose tokens the index is over")
    grammar = _compile(arguments, read_grammar(arguments))
    with ProgressLine() as cancel:
        if needs_vocabulary:
            vocabulary = _vocabulary(arguments, cancel)
            text = to_json(build_token_index(grammar, vocabulary, cancel=cancel), grammar, vocabulary)
        else:
            text = to_dot(grammar.materialise(MOST_STATES, cancel=cancel), grammar.source)
    _write(text, arguments.output)
    return 0


def _compile(arguments: argparse.Namespace, source: SourceText) -> CompiledGrammar:
    options = CompileOptions(dialect=arguments.dialect, whitespace=arguments.whitespace)
    return compile_grammar(arguments.notation, source, options)


def _vocabulary(arguments: argparse.Namespace, cancel: CancelToken) -> Vocabulary:
    if arguments.tokenizer:
        return Vocabulary.from_tokenizer(Path(arguments.tokenizer))
    from engine.models import load_model

    return load_model(arguments.model, cancel=cancel).vocabulary


def _finding(diagnostic: Diagnostic, source: SourceText) -> dict[str, object]:
    line, column = source.line_column(diagnostic.span.start)
    end_line, end_column = source.line_column(diagnostic.span.end)
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


def _step(step: Step) -> dict[str, object]:
    # A token may be part of a character: what is no UTF-8 is escaped, so that no two tokens look alike.
    token = step.name if step.token is None else step.token.decode("utf-8", "backslashreplace")
    return {
        "id": step.token_id,
        "token": token,
        "p": step.p,
        "p_masked": step.p_masked,
        "z": step.z,
        "allowed": step.allowed,
        "forced": step.forced,
    }


def _print_text(made: Generation) -> None:
    """The text and nothing else, unless a terminal would put its prompt behind it."""
    ended = made.text.endswith("\n") or not sys.stdout.isatty()
    print(made.text, end="" if ended else "\n", flush=True)
    if made.finish is Finish.LENGTH:
        complain(f"stopped after {len(made.steps)} tokens, before the end of the grammar; see --max-tokens")


def _write(text: str, output: str) -> None:
    if output == "-":
        print(text, end="")
        return
    try:
        Path(output).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CommandError(f"cannot write {output}: {error.strerror or error}") from error
