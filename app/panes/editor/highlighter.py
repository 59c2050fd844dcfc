"""Syntax highlighting of a document with a notation's lexer, line by line."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextBlock, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit

from app import theme
from app.panes.editor.offsets import Offsets
from app.theme import Role
from engine.notations.lexing import LineLexer, TokenKind

LONGEST_LINE = 5_000  # code points; a longer line is not highlighted: it would block the window at every key

_ROLES = {
    TokenKind.LITERAL: Role.SYNTAX_LITERAL,
    TokenKind.CLASS: Role.SYNTAX_CLASS,
    TokenKind.ESCAPE: Role.SYNTAX_ESCAPE,
    TokenKind.QUANTIFIER: Role.SYNTAX_QUANTIFIER,
    TokenKind.GROUP: Role.SYNTAX_GROUP,
    TokenKind.OPERATOR: Role.SYNTAX_OPERATOR,
    TokenKind.ANCHOR: Role.SYNTAX_ANCHOR,
    TokenKind.NAME: Role.SYNTAX_NAME,
    TokenKind.COMMENT: Role.SYNTAX_COMMENT,
    TokenKind.SPACE: Role.DISABLED,
}
_BOLD = {TokenKind.QUANTIFIER, TokenKind.OPERATOR}


class Highlighter(QSyntaxHighlighter):
    """Highlights a document.

    A long text is highlighted where it is visible (`show_lines`), since all lines at once would block the window. A
    line after one that is not highlighted begins in the initial state: right for JSON, and for other notations unless a
    string or a class of several lines begins above.
    """

    def __init__(self, document: QTextDocument, lexer: LineLexer) -> None:
        super().__init__(document)
        self._lexer = lexer
        self._formats = _formats()
        self._visible: Collection[int] | None = None  # the lines to highlight; None for all

    def set_lexer(self, lexer: LineLexer) -> None:
        """Highlight another notation."""
        self._lexer = lexer
        self.rehighlight()

    def recolour(self) -> None:
        """Apply the colours of the current theme."""
        self._formats = _formats()
        self.rehighlight()

    def show_lines(self, visible: Collection[int] | None) -> None:
        """Highlight only these lines from now on; None for all lines."""
        if visible == self._visible:
            return
        before, self._visible = self._visible, visible
        if visible is None:
            self.rehighlight()
            return
        for number in visible:
            if before is None or number not in before:
                self.rehighlightBlock(self.document().findBlockByNumber(number))

    def show_visible(self, edit: QPlainTextEdit) -> None:
        """Highlight only the lines that an editor of the document shows."""
        spacing = max(edit.fontMetrics().lineSpacing(), 1)
        block, shown = edit.firstVisibleBlock(), set[int]()
        while block.isValid() and len(shown) < edit.viewport().height() // spacing + 2:
            shown.add(block.blockNumber())
            block = next_visible(block)
        self.show_lines(frozenset(shown))

    def highlightBlock(self, text: str) -> None:
        """Highlight one line."""
        if self._visible is not None and (not self._visible or self.currentBlock().blockNumber() not in self._visible):
            return
        before = max(self.previousBlockState(), 0)
        if len(text) > LONGEST_LINE:
            self.setCurrentBlockState(before)
            return
        result = self._lexer(text, before)
        offsets = Offsets(text)
        for token in result.tokens:
            start = offsets.to_utf16(token.start)
            self.setFormat(start, offsets.to_utf16(token.end) - start, self._formats[token.kind])
        self.setCurrentBlockState(result.state)


def next_visible(block: QTextBlock) -> QTextBlock:
    """Return the line after a line and after those that are hidden below it; an invalid one after the last."""
    below = block.next()
    if not below.isValid() or below.isVisible():
        return below
    # The number of the first line that a block shows counts no hidden ones: found without reading these.
    below = block.document().findBlockByLineNumber(block.firstLineNumber() + block.lineCount())
    while below.isValid() and not below.isVisible():
        below = below.next()
    return below if below.blockNumber() > block.blockNumber() else QTextBlock()


def _formats() -> dict[TokenKind, QTextCharFormat]:
    formats = {}
    for kind, role in _ROLES.items():
        formats[kind] = QTextCharFormat()
        formats[kind].setForeground(theme.colour(role))
        if kind in _BOLD:
            formats[kind].setFontWeight(QFont.Weight.DemiBold)
        if kind is TokenKind.COMMENT:
            formats[kind].setFontItalic(True)
    return formats
