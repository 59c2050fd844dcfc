"""A notation of literal texts, one per line: a grammar matches exactly these."""

from __future__ import annotations

from engine.grammar import NEVER, Chars, CharSet, Choice, Empty, Grammar, Node, Rule, Sequence
from engine.grammar.options import CompileOptions
from engine.notations.lexing import LineTokens, Token, TokenKind
from engine.notations.notation import Notation, NotationVariant
from engine.notations.reference import ReferenceGroup, form_entry
from engine.source import Diagnostic, SourceText, Span


class Literals(Notation):
    """Literal texts, one per line; a line that begins with `#` is a comment."""

    id = "literals"
    suffixes = (".literals",)
    ends_with_line = False
    title = "Literal texts"
    placeholder = "yes\nno"
    variants = (NotationVariant("literals", {}, "Literal texts", "One text per line"),)

    def parse(self, text: SourceText, options: CompileOptions) -> tuple[Grammar, tuple[Diagnostic, ...]]:
        nodes: list[Node] = []
        begin = 0
        for line in text.text.split("\n"):
            if not line.startswith("#"):
                nodes.append(_literal(line, begin))
            begin += len(line) + 1
        whole = Span(0, len(text.text))
        body = Choice(tuple(nodes), whole) if len(nodes) > 1 else (nodes or [NEVER])[0]
        return Grammar((Rule("root", body, whole),), "root"), ()

    def lex_line(self, line: str, state: int) -> LineTokens:
        kind = TokenKind.COMMENT if line.startswith("#") else TokenKind.LITERAL
        return LineTokens((Token(0, len(line), kind),) if line else (), state)

    def reference(self, text: str, options: CompileOptions) -> tuple[ReferenceGroup, ...]:
        del text, options
        lines = form_entry("…", "A text", "red", "red"), form_entry("# …", "A comment", "# 1\na", "a")
        return (ReferenceGroup("Lines", lines),)

    def looks_like(self, text: str) -> bool:
        return text.startswith("# literals\n")


def _literal(line: str, begin: int) -> Node:
    span = Span(begin, begin + len(line))
    characters = [Chars(CharSet.chars(char), Span(begin + at, begin + at + 1)) for at, char in enumerate(line)]
    if not characters:
        return Empty(span)
    return Sequence(tuple(characters), span) if len(characters) > 1 else characters[0]


NOTATION = Literals()
