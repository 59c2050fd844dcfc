"""Languages of strings: patterns, which search, and formats, which match the complete string."""

from __future__ import annotations

from typing import Final

from engine.grammar import Chars, Choice, Lookaround, Node, Repeat, Sequence
from engine.grammar.charset import ANY
from engine.grammar.simplify import matches_empty
from engine.notations.json_schema.findings import SchemaFindings
from engine.notations.json_schema.formats import NAMES, OUTER, format_node, outer_node
from engine.notations.json_schema.json_tree import Json, Key
from engine.notations.regex.parser import parse
from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import Formula
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.language import TextLanguage
from engine.schema_automaton.string_languages.witnesses import Witnesses
from engine.source import GrammarError, Limits, Severity, SourceText

_ANYTHING: Final = Repeat(Chars(ANY), 0, None)


class StringLanguages:
    """Builds string languages, each one once."""

    def __init__(self, arena: Arena, findings: SchemaFindings, limits: Limits) -> None:
        self._arena = arena
        self._findings = findings
        self._limits = limits
        self._nodes: dict[str, Node] = {}
        self._languages: dict[Formula, TextLanguage] = {}
        self._witnesses = Witnesses(limits, Escapes.SHORTEST)

    def pattern(self, text: str, part: Json, key: Key | None = None) -> Formula:
        """Return the strings that contain a match of a pattern; report a malformed pattern.

        Args:
            text: the pattern.
            part: the source location of the pattern.
            key: the key that is the pattern, for `patternProperties`.
        """
        node = self._nodes.get(text)
        if node is None:
            try:
                node, _ = parse(SourceText(text), "ecma", self._limits)
            except GrammarError as error:
                first = next(d for d in error.diagnostics if d.severity is Severity.ERROR)
                self._findings.add("schema-pattern", key or part, what=first.message)
                return self._arena.true
            self._nodes[text] = node
        if matches_empty(node, True, None):  # it matches at the start of every string
            return self._arena.true
        searching = search(node)
        return self._arena.text(lambda: searching, ("pattern", text), key or part)

    def holds(self, formula: Formula, text: str) -> bool:
        """Return whether a string is in a language."""
        language = self._languages.get(formula)
        if language is None:
            language = self._languages[formula] = TextLanguage(formula, self._witnesses)
        return language.holds(text)

    def format(self, name: str, part: Json) -> Formula:
        """Return the strings of a format; all strings, with a hint, if it is unknown."""
        if name not in NAMES:
            self._findings.add("schema-unknown-format", part, what=name)
            return self._arena.true
        inner = self._arena.text(lambda: _known(name), ("format", name), part, shared=True)
        if name not in OUTER:
            return inner
        return self._arena.within(
            inner, self._arena.text(lambda: outer_node(name), ("outer format", name), part, shared=True)
        )


def _known(name: str) -> Node:
    node = format_node(name)
    assert node is not None
    return node


def search(node: Node) -> Node:
    """Return the strings that contain a match of a node, as a full match."""
    if isinstance(node, Choice):
        return Choice(tuple(search(alternative) for alternative in node.alternatives), node.span)
    items = node.items if isinstance(node, Sequence) else (node,)
    if items and _is_edge(items[0], ahead=False):
        return node if _is_edge(items[-1], ahead=True) else Sequence((node, _ANYTHING), node.span)
    if items and _is_edge(items[-1], ahead=True):
        return Sequence((_ANYTHING, node), node.span)
    return Sequence((_ANYTHING, node, _ANYTHING), node.span)


def _is_edge(node: Node, *, ahead: bool) -> bool:
    return (
        isinstance(node, Lookaround)
        and node.ahead is ahead
        and node.negated
        and isinstance(node.node, Chars)
        and node.node.set == ANY
    )
