"""Languages of strings: patterns, which search, and formats, which match as a whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.automata.json.formula import Arena, Formula
from engine.automata.json.strings import TextLanguage
from engine.grammar import Chars, CharSet, Choice, Look, Node, Repeat, Sequence
from engine.notations import regex
from engine.notations.json_schema.dialects import Draft
from engine.notations.json_schema.findings import Findings
from engine.notations.json_schema.formats import format_node
from engine.notations.json_schema.text import Json
from engine.source import GrammarError, Limits, Severity, SourceText, Span

_EVERY: Final = CharSet(((0, 0x10FFFF),))
_ANYTHING: Final = Repeat(Chars(_EVERY), 0, None)


class Texts:
    """Builds languages, and each one once."""

    def __init__(self, arena: Arena, findings: Findings, limits: Limits) -> None:
        self._arena = arena
        self._findings = findings
        self._limits = limits
        self._nodes: dict[str, Node] = {}
        self._languages: dict[Formula, TextLanguage] = {}

    def pattern(self, text: str, part: Json, span: Span | None = None) -> Formula:
        """The strings in which a pattern is found; with a finding where it is malformed."""
        node = self._nodes.get(text)
        span = span or part.span
        if node is None:
            try:
                node, _ = regex.parse(SourceText(text), "ecma", self._limits)
            except GrammarError as error:
                first = next(d for d in error.diagnostics if d.severity is Severity.ERROR)
                self._findings.add("schema-pattern", part, span=span, what=first.message)
                return self._arena.true
            self._nodes[text] = node
        return self._arena.text(respan(search(node), span), ("pattern", text), span)

    def holds(self, formula: Formula, text: str) -> bool:
        """Whether a string is in a language."""
        language = self._languages.get(formula)
        if language is None:
            language = self._languages[formula] = TextLanguage(formula, self._limits)
        return language.holds(text)

    def format(self, name: str, draft: Draft, part: Json) -> Formula:
        """The strings of a format; all of them, with a hint, where it is unknown."""
        node = format_node(name, str(int(draft)))
        if node is None:
            self._findings.add("schema-unknown-format", part, what=name)
            return self._arena.true
        return self._arena.text(respan(node, part.span), ("format", name, draft), part.span)


def search(node: Node) -> Node:
    """The strings that hold a match, as a full match."""
    if isinstance(node, Choice):
        return Choice(tuple(search(alternative) for alternative in node.alternatives), node.span)
    items = node.items if isinstance(node, Sequence) else (node,)
    if items and _is_edge(items[0], ahead=False):
        return node if _is_edge(items[-1], ahead=True) else Sequence((node, _ANYTHING), node.span)
    if items and _is_edge(items[-1], ahead=True):
        return Sequence((_ANYTHING, node), node.span)
    # As a condition: once it is met nothing is left of it.
    return Sequence((Look(Sequence((_ANYTHING, node)), ahead=True, negated=False, span=node.span), _ANYTHING))


def _is_edge(node: Node, *, ahead: bool) -> bool:
    return (
        isinstance(node, Look)
        and node.ahead is ahead
        and node.negated
        and isinstance(node.node, Chars)
        and node.node.set == _EVERY
    )


def respan(node: Node, span: Span) -> Node:
    """The same node, all of it at one place: that of the keyword in the schema."""
    match node:
        case Sequence():
            return Sequence(tuple(respan(item, span) for item in node.items), span)
        case Choice():
            return Choice(tuple(respan(item, span) for item in node.alternatives), span)
        case Repeat() | Look():
            return replace(node, node=respan(node.node, span), span=span)
        case _:
            return replace(node, span=span)
