"""`turnstile check`: the findings of a grammar, and the plain rules of a GBNF grammar."""

from __future__ import annotations

import argparse

from engine.cli.arguments import add_grammar
from engine.cli.inputs import compile_source, read_grammar
from engine.cli.output import print_json
from engine.compile import CompiledGrammar
from engine.notations import NOTATIONS
from engine.notations.gbnf.plain_rules import Element, PlainRule, plain_rules, text_of
from engine.source import Diagnostic, GrammarError, SourceText
from engine.source.catalogue import catalogue_text


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings of a grammar; return 1 if it has an error."""
    source = read_grammar(arguments)
    if arguments.rules and not NOTATIONS[arguments.notation].has_named_rules:
        arguments.parser.error(catalogue_text("cli.check.error.rules"))
    grammar = None
    try:
        grammar = compile_source(arguments, source)
        diagnostics = grammar.diagnostics
    except GrammarError as error:
        diagnostics = error.diagnostics
    document: dict[str, object] = {
        "ok": grammar is not None,
        "diagnostics": [_finding(diagnostic, source) for diagnostic in diagnostics],
    }
    lines = [diagnostic.render(source) for diagnostic in diagnostics]
    if grammar is not None and arguments.rules:
        document["rules"] = _rules_as_data(grammar)
        lines.append(_rules_as_text(grammar))
    if arguments.json:
        print_json(document)
    else:
        print("\n".join(lines), end="\n" if lines else "")
    return 1 if grammar is None else 0


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
