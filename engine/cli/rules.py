"""The plain rules of a GBNF grammar, for `turnstile check --rules`."""

from __future__ import annotations

from engine.compile import CompiledGrammar
from engine.notations.gbnf.plain_rules import Element, PlainRule, plain_rules, text_of


def rules_as_text(grammar: CompiledGrammar) -> str:
    """Return the rules as GBNF without groups and repetitions."""
    assert grammar.grammar is not None
    return text_of(plain_rules(grammar.grammar), grammar.grammar.start).removesuffix("\n")


def rules_as_data(grammar: CompiledGrammar) -> list[dict[str, object]]:
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
