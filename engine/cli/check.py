"""`turnstile check`: the findings of a grammar, what a target does with it, and the plain rules of a GBNF grammar."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from engine.cli.annotations import Annotation, Level, github_commands, sarif_log
from engine.cli.arguments import add_grammar
from engine.cli.inputs import compile_options, compile_source, read_file, read_grammar
from engine.cli.output import MisuseError, print_json, program_version
from engine.compile import CompiledGrammar
from engine.diagnosis.targets.cost import GrammarCost, grammar_cost
from engine.diagnosis.targets.findings import TargetFinding, TargetRewrite
from engine.diagnosis.targets.lint import UnknownTargetError, parse_target
from engine.diagnosis.targets.request_lint import LintedPart, counts, lint_text, request_schemas
from engine.notations import NOTATIONS
from engine.notations.gbnf.plain_rules import Element, PlainRule, plain_rules, text_of
from engine.source import Diagnostic, GrammarError, Severity, SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.source.text import quoted
from engine.targets import Effect, engine_record
from engine.vocabulary.visible import visible

_LEVELS: Final[Mapping[Severity, Level]] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.HINT: "note",
}
_SHOWN_PARTS: Final = 10  # of the cost of a grammar; --json has them all
_SHOWN_COUNTS: Final = 24  # of the stacks along a text


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--target", metavar="NAME[@VERSION]")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--sample", metavar="FILE")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=["text", "github", "sarif"], default="text")
    form.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings of a grammar; return 1 if it has an error, or the target refuses a part of it."""
    source = read_grammar(arguments)
    if arguments.rules and not NOTATIONS[arguments.notation].has_named_rules:
        arguments.parser.error(catalogue_text("cli.check.error.rules"))
    if arguments.sample is not None and not arguments.cost:
        arguments.parser.error(catalogue_text("cli.check.error.sample"))
    target = _target(arguments)
    # With a target, a request is the schemas in it, not a schema itself.
    is_request = (
        target is not None and NOTATIONS[arguments.notation].describes_json and bool(request_schemas(source.text))
    )
    grammar = None
    diagnostics: Sequence[Diagnostic] = ()
    if not is_request:
        try:
            grammar = compile_source(arguments, source)
            diagnostics = grammar.diagnostics
        except GrammarError as error:
            diagnostics = error.diagnostics
    is_ok = is_request or grammar is not None
    document: dict[str, object] = {
        "ok": is_ok,
        "diagnostics": [_finding(diagnostic, source) for diagnostic in diagnostics],
    }
    lines = [diagnostic.render(source) for diagnostic in diagnostics]
    annotations = [_annotation(diagnostic, source, arguments) for diagnostic in diagnostics]
    if target is not None:
        linted = lint_text(arguments.notation, source.text, *target, compile_options(arguments))
        document["target"] = _target_as_data(target, linted, source)
        lines += _target_as_lines(target, linted, source)
        annotations += [_target_annotation(finding, source, arguments) for part in linted for finding in part.findings]
        is_ok = is_ok and not counts(linted).get(Effect.REFUSES)
    if grammar is not None and arguments.cost:
        sample = b"" if arguments.sample is None else read_file(arguments.sample, stdin=True)
        cost = grammar_cost(arguments.notation, source, compile_options(arguments), sample)
        document["cost"] = _cost_as_data(cost, source)
        lines += _cost_as_lines(cost, source)
    if grammar is not None and arguments.rules:
        document["rules"] = _rules_as_data(grammar)
        lines.append(_rules_as_text(grammar))
    if arguments.json:
        print_json(document)
    elif arguments.format == "sarif":
        print_json(sarif_log(annotations, program_version()))
    else:
        lines = github_commands(annotations) if arguments.format == "github" else lines
        print("\n".join(lines), end="\n" if lines else "")
    return 0 if is_ok else 1


def _annotation(found: Diagnostic, source: SourceText, arguments: argparse.Namespace) -> Annotation:
    level = _LEVELS[found.severity]
    message = f"{found.message} ({found.hint})" if found.hint else found.message
    return _located(Annotation(found.code, level, message, arguments.grammar_file or "", 1), found.span, source)


def _target_annotation(found: TargetFinding, source: SourceText, arguments: argparse.Namespace) -> Annotation:
    level: Level = "error" if found.effect is Effect.REFUSES else "warning"
    code = f"target-{found.effect}"
    return _located(Annotation(code, level, found.sentence, arguments.grammar_file or "", 1), found.span, source)


def _located(annotation: Annotation, span: Span, source: SourceText) -> Annotation:
    (line, column), (end_line, end_column) = source.line_column(span.start), source.line_column(span.end)
    return replace(annotation, line=line, column=column, end_line=end_line, end_column=end_column)


def _target(arguments: argparse.Namespace) -> tuple[str, str] | None:
    if arguments.target is None:
        return None
    try:
        return parse_target(arguments.target)
    except UnknownTargetError as error:
        raise MisuseError.of(error) from error


def _target_as_data(target: tuple[str, str], linted: tuple[LintedPart, ...], source: SourceText) -> dict[str, object]:
    name, version = target
    return {
        "name": name,
        "version": version or engine_record(name).version,
        "counts": counts(linted),
        "parts": [
            {
                "tool": part.tool,
                "pointer": part.pointer,
                "counts": counts((part,)),
                "findings": [_target_finding(finding, source) for finding in part.findings],
            }
            for part in linted
        ],
    }


def _target_finding(finding: TargetFinding, source: SourceText) -> dict[str, object]:
    rewrite = finding.rewrite
    return {
        "effect": finding.effect,
        "keyword": finding.keyword,
        "pointer": finding.pointer,
        "sentence": finding.sentence,
        "source": finding.source,
        "examined": finding.examined,
        "examined_version": finding.examined_version,
        "date": finding.date,
        **_places(finding.span, source),
        "rewrite": None if rewrite is None else _rewrite_as_data(rewrite, source),
    }


def _rewrite_as_data(rewrite: TargetRewrite, source: SourceText) -> dict[str, object]:
    edits = [{**_places(edit.span, source), "replacement": edit.replacement} for edit in rewrite.edits]
    return {"title": rewrite.title, "edits": edits}


def _target_as_lines(target: tuple[str, str], linted: tuple[LintedPart, ...], source: SourceText) -> Iterator[str]:
    """Yield a line for each finding, and one with their number for each tool and for all."""
    name, version = target
    shown = " ".join(filter(None, (engine_record(name).engine, version or engine_record(name).version)))
    for part in linted:
        for finding in part.findings:
            line, column = source.line_column(finding.span.start)
            yield catalogue_text(
                "cli.check.target.finding",
                name=source.name,
                line=line,
                column=column,
                effect=finding.effect,
                sentence=finding.sentence,
                pointer=finding.pointer or "/",
                source=catalogue_text(f"cli.check.target.source.{finding.source}"),
            )
            if finding.rewrite is not None:
                yield f"  {catalogue_text('cli.check.target.rewrite', title=finding.rewrite.title)}"
        if part.tool:
            count = _listed_counts(counts((part,)))
            yield catalogue_text("cli.check.target.tool", tool=part.tool, pointer=part.pointer, counts=count)
    yield catalogue_text("cli.check.target.total", target=shown, counts=_listed_counts(counts(linted)))


def _cost_as_data(cost: GrammarCost, source: SourceText) -> dict[str, object]:
    return {
        "compile_ms": round(cost.compile_ms, 3),
        "states": cost.states,
        "is_forecast": cost.is_forecast,
        "parts": [
            {
                "name": part.name,
                "states": part.states,
                "plain_rules": part.plain_rules,
                "stacks": None if part.stacks is None else part.stacks.stacks,
                "parses": None if part.stacks is None else part.stacks.parses,
                "time_ms": None if part.stacks is None else round(part.stacks.time_ms, 3),
                **_places(part.span, source),
            }
            for part in cost.parts
        ],
        "stacks": None
        if cost.growth is None
        else {"text": cost.growth.text, "stacks": cost.growth.stacks, "parses": cost.growth.counts},
        "limits": [
            {
                "engine": one.engine,
                "measure": one.measure,
                "value": one.value,
                "limit": one.limit,
                "part": one.part,
                "is_exceeded": one.is_exceeded,
            }
            for one in cost.limits
        ],
        "rewrites": [_rewrite_as_data(rewrite, source) for rewrite in cost.rewrites],
    }


def _cost_as_lines(cost: GrammarCost, source: SourceText) -> Iterator[str]:
    """Yield a line for each of the most expensive parts, for each exceeded limit and rewrite, and two for all."""
    for part in cost.parts[:_SHOWN_PARTS]:
        line, column = source.line_column(part.span.start)
        stacks = ""
        if part.stacks is not None:
            stacks = catalogue_text(
                "cli.check.cost.stacks",
                count=part.stacks.stacks,
                parses=part.stacks.parses,
                time=f"{part.stacks.time_ms:.2f}",
            )
        yield catalogue_text(
            "cli.check.cost.part",
            name=source.name,
            line=line,
            column=column,
            part=part.name or "/",
            count=part.states,
            stacks=stacks,
        )
    for limit in cost.limits:
        if limit.is_exceeded:
            yield catalogue_text(
                f"cli.check.cost.limit.{limit.measure}",
                engine=engine_record(limit.engine).engine,
                count=limit.value,
                limit=limit.limit,
                part=limit.part or "/",
            )
    for rewrite in cost.rewrites:
        yield catalogue_text("cli.check.target.rewrite", title=rewrite.title)
    if cost.growth is not None:
        counts = ", ".join(f"{one:,}" for one in cost.growth.stacks[:_SHOWN_COUNTS])
        yield catalogue_text(
            "cli.check.cost.growth", counts=counts, text=quoted(visible(cost.growth.text[:_SHOWN_COUNTS].encode()))
        )
    total = "forecast" if cost.is_forecast else "total"
    yield catalogue_text(f"cli.check.cost.{total}", count=cost.states, time=f"{cost.compile_ms:.3g}")


def _listed_counts(found: Mapping[Effect, int]) -> str:
    if not found:
        return catalogue_text("cli.check.target.none")
    return ", ".join(
        catalogue_text(f"cli.check.target.count.{effect}", count=number) for effect, number in found.items()
    )


def _finding(diagnostic: Diagnostic, source: SourceText) -> dict[str, object]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        **_places(diagnostic.span, source),
    }


def _places(span: Span, source: SourceText) -> dict[str, int]:
    line, column = source.line_column(span.start)
    end_line, end_column = source.line_column(span.end)
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def _rules_as_text(grammar: CompiledGrammar) -> str:
    """Return the rules as GBNF without groups and repetitions."""
    assert grammar.grammar is not None
    return text_of(plain_rules(grammar.grammar), grammar.grammar.start).removesuffix("\n")


def _rules_as_data(grammar: CompiledGrammar) -> list[dict[str, object]]:
    """Return the rules as llama.cpp stores them, with their source positions."""
    assert grammar.grammar is not None
    return [_rule(rule, grammar) for rule in plain_rules(grammar.grammar)]


def _rule(rule: PlainRule, grammar: CompiledGrammar) -> dict[str, object]:
    line, column = grammar.source.line_column(rule.span.start)
    return {
        "name": rule.name,
        "origin": rule.origin,
        "line": line,
        "column": column,
        "elements": [_element(element, grammar) for element in rule.elements],
    }


def _element(element: Element, grammar: CompiledGrammar) -> dict[str, object]:
    line, column = grammar.source.line_column(element.span.start)
    return {"type": element.type, "value": element.value, "line": line, "column": column}
