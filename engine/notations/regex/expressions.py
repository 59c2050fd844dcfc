"""The tokens of regular expressions as pieces of expressions."""

from __future__ import annotations

from collections.abc import Iterator

from engine.notations.editing.expressions import ExpressionSyntax, Piece, PieceKind
from engine.notations.lexing import Token, TokenKind, lex
from engine.notations.regex.lexer import lex_line


class RegexExpressions(ExpressionSyntax):
    """Regular expressions; those in verbose mode are not read, since white space means nothing there."""

    opening = "(?:"

    def pieces(self, text: str) -> Iterator[Piece]:
        """Yield the pieces of a valid text: each character of a literal is one; see `ExpressionSyntax`."""
        opening: Token | None = None  # of a class
        for token in lex(text, lex_line):
            kind = token.kind
            if kind is TokenKind.CLASS and token.nesting:
                if token.nesting > 0:
                    opening = token
                elif opening is not None:
                    yield Piece(PieceKind.ATOM, opening.start, token.end)
                    opening = None
            elif opening is not None:
                continue
            elif token.nesting:
                yield Piece(PieceKind.OPEN if token.nesting > 0 else PieceKind.CLOSE, token.start, token.end)
            elif kind in {TokenKind.LITERAL, TokenKind.SPACE}:
                for at in range(token.start, token.end):
                    yield Piece(PieceKind.ATOM, at, at + 1)
            elif kind is TokenKind.OPERATOR:
                yield Piece(PieceKind.BAR, token.start, token.end)
            elif kind is TokenKind.QUANTIFIER:
                yield Piece(PieceKind.QUANTIFIER, token.start, token.end)
            elif kind is TokenKind.COMMENT:
                yield Piece(PieceKind.COMMENT, token.start, token.end)
            else:
                yield Piece(PieceKind.ATOM, token.start, token.end)
