"""The commands. Each takes the parsed arguments and returns an exit code.

Models, masks and their libraries are imported by the commands that need them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from engine.cli.exit_codes import ExitCode
from engine.cli.grammar_source import compile_options, read_grammar
from engine.cli.output import CommandError, ProgressLine, complain, print_json
from engine.compile import CompiledGrammar, compile_grammar
from engine.decoding import Finish, Generation, PipelineSettings, SamplerSettings, Step, Strategy
from engine.source import CancelToken, Diagnostic, GrammarError, SourceText
from engine.vocabulary import Vocabulary, visible


def check(arguments: argparse.Namespace) -> int:
    """Print the findings of a grammar; return 1 if it has an error."""
    source = read_grammar(arguments)
    if arguments.rules and arguments.notation != "gbnf":
        arguments.parser.error("--rules needs --notation gbnf: the others are not made of rules")
    grammar = None
    try:
        grammar = _compile(arguments, source)
        diagnostics = grammar.diagnostics
    except GrammarError as error:
        diagnostics = error.diagnostics
    document: dict[str, object] = {
        "ok": grammar is not None,
        "diagnostics": [_finding(diagnostic, source) for diagnostic in diagnostics],
    }
    lines = [diagnostic.render(source) for diagnostic in diagnostics]
    if grammar is not None and arguments.rules:
        from engine.cli.rules import rules_as_data, rules_as_text

        document["rules"] = rules_as_data(grammar)
        lines.append(rules_as_text(grammar))
    if arguments.json:
        print_json(document)
    else:
        print("\n".join(lines), end="\n" if lines else "")
    return 1 if grammar is None else 0


def step(arguments: argparse.Namespace) -> int:
    """Print the state of a match after a text, and what may come next."""
    from engine.cli.open_stacks import stacks_data, stacks_lines

    grammar = _compile(arguments, read_grammar(arguments))
    most_stacks = arguments.most_stacks if arguments.stacks else 0
    if arguments.json:
        print_json(stacks_data(grammar, arguments.text, most_stacks))
    else:
        print("\n".join(stacks_lines(grammar, arguments.text, most_stacks)))
    return 0


def explain(arguments: argparse.Namespace) -> int:
    """Print why a token or a text may not come next, or what may, and the distance to the end."""
    from engine.cli.analysis import Analysis, chosen

    if arguments.tree:
        return _tree(arguments)
    query = chosen(arguments)
    has_vocabulary = bool(arguments.model or arguments.tokenizer)
    if not has_vocabulary and (arguments.token is not None or arguments.dead_ends):
        arguments.parser.error("--token and --dead-ends need --model or --tokenizer: whose tokens they are about")
    grammar = _compile(arguments, read_grammar(arguments))
    with ProgressLine() as cancel:
        analysis = Analysis(grammar, _vocabulary(arguments, cancel) if has_vocabulary else None, arguments.text)
        if arguments.dead_ends:
            found = analysis.dead_ends(cancel, as_json=arguments.json)
        elif query is not None:
            found = analysis.verdict(query, as_json=arguments.json)
        else:
            found = analysis.position(cancel, as_json=arguments.json)
    _show(found)
    return 0


def _tree(arguments: argparse.Namespace) -> int:
    """Print the meaning of each part of a grammar."""
    from engine.cli.explanation_tree import described

    if arguments.text or arguments.model or arguments.tokenizer:
        arguments.parser.error("--tree is about the grammar alone: leave --text, --model and --tokenizer out")
    grammar = _compile(arguments, read_grammar(arguments))
    with ProgressLine() as cancel:
        found = described(grammar, cancel, as_json=arguments.json)
    _show(found)
    return 0


def replay(arguments: argparse.Namespace) -> int:
    """Print the verdict on an output; return 1 if it is not complete."""
    from engine.cli.replay import as_data, check_replay, in_words, replayed, token_source

    check_replay(arguments)
    grammar = _compile(arguments, read_grammar(arguments))
    with ProgressLine() as cancel:
        found = replayed(arguments, grammar, token_source(arguments, cancel), cancel)
    _show(as_data(found, grammar.source) if arguments.json else in_words(found))
    return 0 if found.is_complete else 1


def mask(arguments: argparse.Namespace) -> int:
    """Print the allowed tokens."""
    from engine.cli.analysis import Analysis

    grammar = _compile(arguments, read_grammar(arguments))
    with ProgressLine() as cancel:
        analysis = Analysis(grammar, _vocabulary(arguments, cancel), arguments.text)
        found = analysis.mask(as_json=arguments.json)
    _show(found)
    return 0


def generate(arguments: argparse.Namespace) -> int:
    """Print a text that matches a grammar or a pattern, or the steps to it."""
    from engine.cli.processors import TOKEN_MACHINES, pipeline_of

    pipeline = pipeline_of(arguments)
    by_tokens = any(getattr(arguments, name) for name in TOKEN_MACHINES)
    has_grammar = arguments.grammar is not None or arguments.grammar_file is not None
    if has_grammar != (arguments.notation is not None):
        arguments.parser.error("a grammar is --notation with --grammar or --grammar-file")
    needs_grammar = pipeline.budget or pipeline.zones is not None or pipeline.forced is not Strategy.NONE
    if not has_grammar and (not by_tokens or needs_grammar):
        arguments.parser.error(
            "--notation is required; --static, --pattern and --table go without, but for zones and --forced"
        )
    grammar = _compile(arguments, read_grammar(arguments)) if has_grammar else None
    if grammar is not None and grammar.is_empty:
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
        generation = generate_text(
            grammar,
            model,
            prompt=arguments.prompt,
            sampler=sampler,
            max_tokens=arguments.max_tokens,
            stop_at=arguments.stop,
            pipeline=pipeline,
            cancel=cancel,
        )
    if generation.finish is Finish.DEAD_END:
        written = f" after `{visible(generation.output)}`" if generation.output else ""
        if pipeline != PipelineSettings():
            raise CommandError(f"nothing can follow{written} with {arguments.model}: {generation.problem}")
        raise CommandError(f"the grammar wants more{written}, but no token of {arguments.model} can follow")
    why_not = _why_incomplete(generation, model.context_length)
    if not why_not or not arguments.require_complete:
        if arguments.json:
            document = {"text": generation.text, "finish": generation.finish, "complete": generation.matches}
            print_json(document | {"steps": [_step(step) for step in generation.steps]})
        else:
            _print_text(generation)
    if not why_not:
        return ExitCode.SUCCESS
    if arguments.require_complete or not arguments.json:
        complain(why_not)
    return ExitCode.INCOMPLETE


def export(arguments: argparse.Namespace) -> int:
    """Export a grammar, or list the export targets."""
    from engine.cli.export import check_arguments, export_job, listed, listed_in_words, write

    check_arguments(arguments)
    if arguments.list and arguments.notation is None:
        entries = listed(None)
    else:
        grammar = _compile(arguments, read_grammar(arguments))
        with ProgressLine() as cancel:
            job = export_job(arguments, grammar, lambda: _vocabulary(arguments, cancel), cancel)
            if not arguments.list:
                write(arguments, job)
                return 0
            entries = listed(job)
    if arguments.json:
        print_json(entries)
    else:
        print("\n".join(listed_in_words(entries)))
    return 0


def share(arguments: argparse.Namespace) -> int:
    """Write a document's trace as one HTML file that replays it."""
    from engine.cli.sharing import share as share_document

    return share_document(arguments, _vocabulary)


def _compile(arguments: argparse.Namespace, source: SourceText) -> CompiledGrammar:
    return compile_grammar(arguments.notation, source, compile_options(arguments))


def _vocabulary(arguments: argparse.Namespace, cancel: CancelToken) -> Vocabulary:
    if arguments.tokenizer:
        return Vocabulary.from_tokenizer(Path(arguments.tokenizer))
    from engine.models import load_model

    return load_model(arguments.model, cancel=cancel).vocabulary


def _show(found: dict[str, object] | list[str]) -> None:
    if isinstance(found, list):
        print("\n".join(found))
    else:
        print_json(found)


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
    # A token may be part of a character: invalid UTF-8 is escaped, so that distinct tokens stay distinct.
    token = step.name if step.token is None else step.token.decode("utf-8", "backslashreplace")
    return {
        "id": step.token_id,
        "token": token,
        "p": step.p if step.was_queried else None,
        "p_masked": step.p_masked if step.was_queried else None,
        "z": step.z if step.was_queried else None,
        "allowed": step.allowed,
        "forced": step.forced,
        "origin": step.origin,
    }


def _print_text(generation: Generation) -> None:
    """Print only the text, with a line end if a terminal would put its prompt after it."""
    ended = generation.text.endswith("\n") or not sys.stdout.isatty()
    print(generation.text, end="" if ended else "\n", flush=True)


def _why_incomplete(generation: Generation, context: int | None) -> str:
    """Return why a generation ended before its text was complete; empty if it is."""
    if generation.matches:
        return ""
    stopped = f"stopped after {len(generation.steps)} tokens"
    if generation.finish is Finish.CONTEXT:
        return f"{stopped}: the model's context of {context:,} tokens is full"
    return f"{stopped}, before the end of the grammar; see --max-tokens"
