"""Reduction of a grammar in a notation with rules or expressions, by the spans of its parts.

Rules are removed or emptied first, then the parts of their bodies from the outside in, then the operators and brackets
that are left over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final

from engine.diagnosis.reduce.minimise import minimise
from engine.grammar import Empty, Grammar, Node, RuleReference
from engine.grammar.nodes import children
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.lexing import TokenKind
from engine.source import GrammarError, SourceText, Span

_LEFT_OVER: Final = frozenset((TokenKind.OPERATOR, TokenKind.QUANTIFIER, TokenKind.ANCHOR, TokenKind.COMMENT))
_Spans = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class ReducedGrammar:
    """A reduced grammar.

    Attributes:
        text: the text.
        rule: the name of the rule that is guilty; empty if the notation has no rules, or none can be named.
    """

    text: str
    rule: str = ""


def reduce_grammar(
    notation: str, text: str, fails: Callable[[str], bool], options: CompileOptions | None = None
) -> ReducedGrammar:
    """Return a smallest grammar that still fails.

    Args:
        notation: the id of its notation, which has rules or is an expression.
        text: a grammar that fails.
        fails: whether a candidate fails.
        options: the compile options with which it is parsed.
    """
    reduction = _Reduction(notation, fails, options or CompileOptions())
    while True:
        before = text
        text = reduction.with_fewer_rules(text)
        text = reduction.with_smaller_bodies(text)
        text = reduction.with_fewer_tokens(text)
        text = reduction.tidied(text)
        if text == before:
            break
    return ReducedGrammar(text, reduction.guilty_rule(text))


class _Reduction:
    """The steps of one reduction."""

    def __init__(self, notation: str, fails: Callable[[str], bool], options: CompileOptions) -> None:
        self._notation = NOTATIONS[notation]
        self._fails = fails
        self._options = options

    def _parsed(self, text: str) -> Grammar | None:
        """Parse a text; return None if it has an error."""
        try:
            return self._notation.parse(SourceText(text), self._options)[0]
        except GrammarError:
            return None

    def _cut(self, text: str, units: Iterable[_Spans], replacement: str = "") -> str:
        """Remove or replace all units of which a text does without, as far as it still fails."""
        listed = list(units)

        def built(kept: list[_Spans]) -> str:
            stay = set(kept)
            return without(text, chain.from_iterable(unit for unit in listed if unit not in stay), replacement)

        return built(minimise(listed, lambda kept: self._fails(built(kept))))

    def with_fewer_rules(self, text: str) -> str:
        """Remove rules that are not needed, and empty those that are only named."""
        grammar = self._parsed(text)
        if grammar is None or not self._notation.has_named_rules:
            return text
        starts = sorted(rule.span.start for rule in grammar.rules)
        ends = dict(zip(starts, [*starts[1:], len(text)], strict=True))
        text = self._cut(
            text,
            [
                (Span(rule.span.start, ends[rule.span.start]),)
                for rule in grammar.rules
                if rule.name != grammar.start and rule.span.end
            ],
        )
        grammar = self._parsed(text)
        if grammar is None:
            return text
        bodies = [(span,) for rule in grammar.rules if (span := _extent(rule.node)).end and text[_slice(span)] != '""']
        return self._cut(text, bodies, '""')

    def with_smaller_bodies(self, text: str) -> str:
        """Remove parts of the bodies of rules, from the outside in."""
        grammar = self._parsed(text)
        if grammar is None:
            return text
        level: list[Node] = [rule.node for rule in grammar.rules]
        gone: list[Span] = []
        while level:
            below = [child for node in level for child in children(node)]
            spans = {child: _extent(child) for child in below}
            units = list(dict.fromkeys(span for span in spans.values() if span.end > span.start))
            kept = self._needed(text, gone, units)
            gone += [span for span in units if span not in kept]
            level = [child for child in below if spans[child] in kept or not spans[child].end]
        return without(text, gone)

    def _needed(self, text: str, gone: list[Span], units: list[Span]) -> set[Span]:
        """Return the units that a text without the spans `gone` needs."""

        def built(kept: list[Span]) -> str:
            stay = set(kept)
            return without(text, [*gone, *(span for span in units if span not in stay)])

        return set(minimise(units, lambda kept: self._fails(built(kept))))

    def with_fewer_tokens(self, text: str) -> str:
        """Remove operators, quantifiers, comments, and pairs of brackets."""
        units: list[_Spans] = []
        opened: list[Span] = []
        for span, kind, nesting in self._tokens(text):
            if nesting > 0:
                opened.append(span)
            elif nesting < 0 and opened:
                units.append((opened.pop(), span))
            elif kind in _LEFT_OVER and text[_slice(span)] != "::=":
                units.append((span,))
        return self._cut(text, units)

    def _tokens(self, text: str) -> Iterable[tuple[Span, TokenKind, int]]:
        state = offset = 0
        for line in text.split("\n"):
            found = self._notation.lex_line(line, state)
            for token in found.tokens:
                yield Span(offset + token.start, offset + token.end), token.kind, token.nesting
            state = found.state
            offset += len(line) + 1

    def tidied(self, text: str) -> str:
        """Remove blank lines and superfluous spaces."""
        tidy = re.sub(r"[ \t]+(?=\n|\Z)", "", re.sub(r"\n\s*\n", "\n", text)).strip("\n")
        single = re.sub(r"(?<=\S)  +(?=\S)", " ", tidy)
        for candidate in (single, tidy):
            if candidate != text and self._fails(candidate):
                return candidate
        return text

    def guilty_rule(self, text: str) -> str:
        """Return the first rule, from the start, that is more than a reference; the longest rule if it is empty."""
        grammar = self._parsed(text)
        if grammar is None or not self._notation.has_named_rules:
            return ""
        bodies = {rule.name: rule.node for rule in grammar.rules}
        name, seen = grammar.start, set[str]()
        while isinstance(body := bodies[name], RuleReference) and name not in seen:
            seen.add(name)
            name = body.name
        if isinstance(bodies[name], Empty):
            return max(bodies, key=lambda each: _extent(bodies[each]).end - _extent(bodies[each]).start)
        return name


def without(text: str, spans: Iterable[Span], replacement: str = "") -> str:
    """Return a text without some spans, which may overlap.

    Args:
        text: the text.
        spans: the spans to remove.
        replacement: what is written in place of each.
    """
    pieces, at = [], 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.end <= at:
            continue
        if span.start >= at:
            pieces += [text[at : span.start], replacement]
        at = span.end
    return "".join([*pieces, text[at:]])


def _slice(span: Span) -> slice:
    return slice(span.start, span.end)


def _extent(node: Node) -> Span:
    """Return the span of a node, or of all that it contains if it has none of its own."""
    if node.span.end:
        return node.span
    spans = [span for child in children(node) if (span := _extent(child)).end]
    return Span(min(span.start for span in spans), max(span.end for span in spans)) if spans else node.span
