"""Syntax highlighting of an editor's text with a notation's lexer, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFont, QTextBlock, QTextCharFormat, QTextDocument, QTextLayout
from PySide6.QtWidgets import QPlainTextEdit

from app import theme
from app.panes.editor.offsets import Offsets
from app.theme import Role
from engine.notations.lexing import LineLexer, LineTokens, TokenKind

LONG_TEXT = 30_000  # code points; a longer text is not read from its beginning to highlight a line
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
_POSITIVE = 0x7FFFFFFF
_BOLD = {TokenKind.QUANTIFIER, TokenKind.OPERATOR}


class Highlighter(QObject):
    """Highlights the lines that an editor shows, whatever the length of its text.

    A line keeps its colours while it is out of view, and its `userState` says what they were made from. In a text that
    is longer than `LONG_TEXT`, a line that is shown after others that were not begins in the initial state: right for
    JSON, and for other notations unless a string or a class of several lines begins above.

    Rejected: Qt's own highlighter calls a method for each line of a change, shown or not: half a second for a megabyte.
    """

    def __init__(self, edit: QPlainTextEdit, lexer: LineLexer) -> None:
        super().__init__(edit)
        self._edit = edit
        self._lexer = lexer
        self._formats = _formats()
        self._states = [0]  # in which the first lines begin, as far as they are known
        self._look = 0  # of lexer and colours
        edit.document().contentsChange.connect(self._forget)
        edit.textChanged.connect(self.show_visible)
        edit.verticalScrollBar().valueChanged.connect(self.show_visible)
        edit.viewport().installEventFilter(self)

    def set_lexer(self, lexer: LineLexer) -> None:
        """Highlight another notation."""
        self._lexer, self._states = lexer, [0]
        self._look += 1
        self.show_visible()

    def recolour(self) -> None:
        """Apply the colours of the current theme."""
        self._formats = _formats()
        self._look += 1
        self.show_visible()

    def show_visible(self) -> None:
        """Highlight the lines that are visible now."""
        document = self._edit.document()
        spacing = max(self._edit.fontMetrics().lineSpacing(), 1)
        block = self._edit.firstVisibleBlock()
        state = self._state_before(block)
        for _ in range(self._edit.viewport().height() // spacing + 2):
            if not block.isValid():
                return
            state, below = self._highlight(document, block, state), next_visible(block)
            if below.blockNumber() != block.blockNumber() + 1:
                state = self._state_before(below)
            block = below

    def eventFilter(self, _viewport: QObject, event: QEvent) -> bool:
        """Highlight the lines that another size shows."""
        if event.type() == QEvent.Type.Resize:
            self.show_visible()
        return False

    def _forget(self, position: int) -> None:
        del self._states[max(self._edit.document().findBlock(position).blockNumber(), 0) + 1 :]

    def _state_before(self, block: QTextBlock) -> int:
        """Return the state in which a line begins; the initial one in a long text."""
        document, number = self._edit.document(), block.blockNumber()
        if document.characterCount() > LONG_TEXT:
            return 0
        above = document.findBlockByNumber(len(self._states) - 1)
        while len(self._states) <= number:
            self._states.append(self._lexed(above.text(), self._states[-1]).state)
            above = above.next()
        return self._states[max(number, 0)]

    def _lexed(self, text: str, before: int) -> LineTokens:
        return self._lexer(text, before) if len(text) <= LONGEST_LINE else LineTokens((), before)

    def _highlight(self, document: QTextDocument, block: QTextBlock, before: int) -> int:
        """Highlight one line, and return the state after it."""
        text = block.text()
        result = self._lexed(text, before)
        made_from = hash((text, before, self._look)) & _POSITIVE
        if block.userState() != made_from:
            block.setUserState(made_from)
            if result.tokens or block.layout().formats():
                block.layout().setFormats(list(self._ranges(text, result)))
                document.markContentsDirty(block.position(), block.length())
        return result.state

    def _ranges(self, text: str, result: LineTokens) -> Iterator[QTextLayout.FormatRange]:
        offsets = Offsets(text)
        for token in result.tokens:
            found = QTextLayout.FormatRange()
            found.start = offsets.to_utf16(token.start)
            found.length = offsets.to_utf16(token.end) - found.start
            found.format = self._formats[token.kind]
            yield found


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
