"""The explanation and the diagrams of GBNF rules, whose literals include their quotes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from engine.grammar import Chars, Node
from engine.grammar.charset import ANY
from engine.notations.explanation import ExplanationEntry
from engine.notations.gbnf.parser import parse
from engine.notations.node_explanation import explain_rules
from engine.notations.railroad import Railroad, rule_tracks
from engine.source import Limits, SourceText, Span


def gbnf_entries(source: SourceText, limits: Limits) -> Iterator[ExplanationEntry]:
    """Explain each rule, in source order; see `Notation.explanation_entries`."""
    grammar, _ = parse(source, limits)
    return explain_rules(source.text, grammar, partial(_with_quotes, source.text))


def gbnf_railroad(source: SourceText, limits: Limits) -> Railroad:
    """Return the railroad diagrams of the rules; see `Notation.railroad`."""
    grammar, _ = parse(source, limits)
    return rule_tracks(source.text, grammar, partial(_with_quotes, source.text))


def _with_quotes(text: str, node: Node) -> Span:
    """Return the span of a node; for the first and last character of a literal it includes the quote."""
    span = node.span
    excerpt = text[span.start : span.end]
    if not isinstance(node, Chars) or (excerpt[:1] == "[" and len(excerpt) > 1) or node.set == ANY:
        return span
    before = text[span.start - 1 : span.start] == '"' and text[span.start - 2 : span.start - 1] != "\\"
    return Span(span.start - before, span.end + (text[span.end : span.end + 1] == '"'))
