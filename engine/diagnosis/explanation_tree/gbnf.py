"""A GBNF grammar in words, rule by rule."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from engine.diagnosis.explanation_tree.nodes import ExplanationWriter
from engine.diagnosis.explanation_tree.phrases import ExplanationEntry
from engine.grammar import Chars, Grammar, Node, Rule
from engine.grammar.charset import ANY
from engine.matching.explanation_text import quoted
from engine.notations.gbnf import parse
from engine.source import Limits, SourceText, Span


def gbnf_entries(source: SourceText, limits: Limits) -> Iterator[ExplanationEntry]:
    """What each rule says, in source order.

    Raises:
        GrammarError: the text is malformed, or a rule is missing.
        LimitExceededError: it is too long.
    """
    grammar, _ = parse(source, limits)
    targets = {rule.name: rule.span for rule in grammar.rules}
    telling = ExplanationWriter(source.text, targets=targets, place=partial(_with_quotes, source.text))
    return (_rule(rule, grammar, telling) for rule in sorted(grammar.rules, key=lambda rule: rule.span))


def _rule(rule: Rule, grammar: Grammar, telling: ExplanationWriter) -> ExplanationEntry:
    body = telling.entry(rule.node)
    begins = ", with which every match begins" if rule.name == grammar.start else ""
    span = Span(rule.span.start, max(body.span.end, rule.span.end))
    return ExplanationEntry(f"rule {quoted(rule.name)}{begins}: {body.text}", span, body.inner, body.target)


def _with_quotes(text: str, node: Node) -> Span:
    """Where a node is written: of the first and the last character of a literal, with the quote beside it."""
    span = node.span
    excerpt = text[span.start : span.end]
    if not isinstance(node, Chars) or (excerpt[:1] == "[" and len(excerpt) > 1) or node.set == ANY:
        return span
    before = text[span.start - 1 : span.start] == '"' and text[span.start - 2 : span.start - 1] != "\\"
    return Span(span.start - before, span.end + (text[span.end : span.end + 1] == '"'))
