"""The explanation of a text in any notation; that of rules, one by one, is here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from engine.diagnosis.explanation_tree.nodes import ExplanationWriter
from engine.diagnosis.explanation_tree.phrases import Description, ExplanationEntry, unfold
from engine.diagnosis.explanation_tree.regex import regex_entries
from engine.diagnosis.explanation_tree.schema import schema_entries
from engine.grammar import Chars, Grammar, Node, Rule
from engine.grammar.charset import ANY
from engine.grammar.options import CompileOptions
from engine.matching.explanation_text import quoted
from engine.notations import NOTATIONS
from engine.notations.regex.dialect import Dialect
from engine.source import SourceText, Span
from engine.source.catalogue import catalogue_text


def describe_grammar(notation: str, source: SourceText | str, options: CompileOptions | None = None) -> Description:
    """Explain each part of a grammar's text.

    Args:
        notation: the id of its notation.
        source: the text.
        options: the compile options, which affect the meaning of a text.

    Raises:
        GrammarError: the text does not parse.
        LimitExceededError: it is too long.
    """
    options, kind = options or CompileOptions(), NOTATIONS[notation]
    text = source if isinstance(source, SourceText) else SourceText(source)
    if kind.describes_json:
        return unfold(schema_entries(text, options))
    if kind.is_expression:
        return unfold(regex_entries(text, Dialect(options.dialect), options.limits))
    return unfold(_rule_entries(text, kind.parse(text, options)[0]))


def _rule_entries(source: SourceText, grammar: Grammar) -> Iterator[ExplanationEntry]:
    """Explain each rule, in source order."""
    targets = {rule.name: rule.span for rule in grammar.rules}
    writer = ExplanationWriter(source.text, targets=targets, place=partial(_with_quotes, source.text))
    return (_rule(rule, grammar, writer) for rule in sorted(grammar.rules, key=lambda rule: rule.span))


def _rule(rule: Rule, grammar: Grammar, writer: ExplanationWriter) -> ExplanationEntry:
    body = writer.entry(rule.node)
    is_start = rule.name == grammar.start
    text = catalogue_text(
        "explanation.gbnf.start" if is_start else "explanation.gbnf.rule", name=quoted(rule.name), body=body.text
    )
    span = Span(rule.span.start, max(body.span.end, rule.span.end))
    return ExplanationEntry(text, span, body.inner, body.target)


def _with_quotes(text: str, node: Node) -> Span:
    """Return the span of a node; for the first and last character of a literal it includes the quote."""
    span = node.span
    excerpt = text[span.start : span.end]
    if not isinstance(node, Chars) or (excerpt[:1] == "[" and len(excerpt) > 1) or node.set == ANY:
        return span
    before = text[span.start - 1 : span.start] == '"' and text[span.start - 2 : span.start - 1] != "\\"
    return Span(span.start - before, span.end + (text[span.end : span.end + 1] == '"'))
