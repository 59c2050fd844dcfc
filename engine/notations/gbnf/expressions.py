"""The tokens of GBNF as pieces of expressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engine.notations.editing.expressions import ExpressionSyntax, Piece, PieceKind
from engine.notations.gbnf.lexer import CHARACTER, tokens

_KINDS: Final = {
    "name": PieceKind.REFERENCE,
    "defined": PieceKind.RULE,
    "defines": PieceKind.BODY,
    "literal": PieceKind.ATOM,
    "class": PieceKind.ATOM,
    "any": PieceKind.ATOM,
    "element": PieceKind.ATOM,
    "sign": PieceKind.QUANTIFIER,
    "count": PieceKind.QUANTIFIER,
    "bar": PieceKind.BAR,
    "open": PieceKind.OPEN,
    "close": PieceKind.CLOSE,
    "comment": PieceKind.COMMENT,
}


class GbnfExpressions(ExpressionSyntax):
    """GBNF: items are separated by blanks, and a literal is made of characters."""

    gap = " "
    empty = '""'

    def pieces(self, text: str) -> Iterator[Piece]:
        """Yield the pieces of a valid text; see `ExpressionSyntax`."""
        for kind, start, end in tokens(text, ends_at_rules=False):
            if kind in _KINDS:
                yield Piece(_KINDS[kind], start, end)

    def characters(self, item: str) -> tuple[str, ...]:
        """Return the characters of a literal as literals of their own; see `ExpressionSyntax`."""
        if len(item) < 2 or item[0] != '"' or item[-1] != '"':
            return (item,)
        return tuple(f'"{found[0]}"' for found in CHARACTER.finditer(item, 1, len(item) - 1))

    def joined(self, items: Sequence[str]) -> str:
        """Return a sequence of items as text, with neighbouring literals joined; see `ExpressionSyntax`."""
        parts: list[str] = []
        for item in items:
            if parts and parts[-1][0] == parts[-1][-1] == item[0] == item[-1] == '"':
                parts[-1] = f"{parts[-1][:-1]}{item[1:]}"
            else:
                parts.append(item)
        return super().joined(parts)
